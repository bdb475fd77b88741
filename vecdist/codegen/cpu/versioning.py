"""Loop versioning: a block by loops of vectors without seldom values, and again with them if any was wanted."""

from __future__ import annotations

from collections.abc import Iterable

from vecdist.codegen.cpu.mixed import Add, Item, Items
from vecdist.codegen.statements import is_seldom
from vecdist.kernel.code import If, expressions, let, replaced, walk
from vecdist.kernel.expressions import FALSE, Expr, Name, names
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Scatter, Store, Total

SELDOM = Name("seldom")


def versioned(items: Items, pruned: bool) -> Items:
    """A block in two versions, where it has seldom values.

    What is scattered cannot be taken back: a version that finds out comes first, in which nothing is.
    """
    if not any(map(is_seldom, walk(items))):
        return items
    unneeded = seldom_needed(items) if pruned else set()
    usual = usually(items, unneeded)
    found_out = replaced(usual, lambda item: () if isinstance(item, Scatter) else None)
    again = () if found_out == usual else usual
    return let("seldom", FALSE), *found_out, If(SELDOM, items, again)


def usually(items: Items, unneeded: set[str]) -> Items:
    """Statements without seldom values, which find out whether one was wanted."""

    def rule(item: Item) -> Items | None:
        match item:
            case Assign(name) | Load(name) if name in unneeded:
                return ()
            case Assign(name, _, (condition, *_, usual)) if is_seldom(item):
                return let(name, usual), let("seldom", SELDOM | condition)
        return None

    return replaced(items, rule)


def seldom_needed(items: Items) -> set[str]:
    """The values that nothing but seldom values need."""
    found = list(walk(items))
    own = {item.name: item for item in found if isinstance(item, Assign | Load)}
    waiting = [item for item in found if not isinstance(item, Assign | Load)]
    left = set(own)
    while waiting:
        read = left & set(names(*_usual_reads(waiting.pop())))
        waiting += [own[name] for name in read]
        left -= read
    return left


def _usual_reads(item: Item) -> Iterable[Expr]:
    match item:
        case Assign(_, _, (condition, *_, usual)) if is_seldom(item):
            return condition, usual
        case Load() | Assign() | Accumulate() | Total() | Store() | Scatter() | Flag():
            return item.expressions()
        case Add(target, value):
            return target, value
    return expressions(item)
