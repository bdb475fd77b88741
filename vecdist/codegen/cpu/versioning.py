"""Loop versioning: a block by loops of vectors without seldom values, and again with them if any was wanted."""

from __future__ import annotations

from collections.abc import Iterable

from vecdist.codegen.cpu.mixed import Add, Item, Items
from vecdist.codegen.statements import is_seldom
from vecdist.kernel.code import If, expressions, let, replaced, walk
from vecdist.kernel.expressions import FALSE, Expr, Name, names
from vecdist.kernel.statements import Assign, Load, Scatter, Statement, Store, Temp

SELDOM = Name("seldom")


def versioned(items: Items) -> Items:
    """A block in two versions, where it has seldom values.

    What is scattered cannot be taken back: a version that finds out comes first, in which nothing is.  What is changed
    in place is there no more for another version: then there is one alone, with seldom values.
    """
    if not any(map(is_seldom, walk(items))) or _changes_in_place(items):
        return items
    usual = without_seldom(items)
    found_out = replaced(usual, lambda item: () if isinstance(item, Scatter) else None)
    scatters = any(isinstance(item, Scatter) for item in walk(items))
    return let("seldom", FALSE), *found_out, If(SELDOM, items, usual if scatters else ())


def _changes_in_place(items: Items) -> bool:
    """Whether outputs are read where they are stored to, as by recurrences."""
    found = list(walk(items))
    read = {item.source.output for item in found if isinstance(item, Load) and isinstance(item.source, Temp)}
    return any(isinstance(item, Store) and item.output in read for item in found)


def without_seldom(items: Items) -> Items:
    """Statements without seldom values and what those alone need, which find out whether one was wanted."""
    unneeded = seldom_needed(items)

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
    read: set[str] = set()
    for item in reversed(found):
        if not isinstance(item, Assign | Load) or item.name in read:
            read.update(names(*_usual_reads(item)))
    return {item.name for item in found if isinstance(item, Assign | Load)} - read


def _usual_reads(item: Item) -> Iterable[Expr]:
    if isinstance(item, Assign) and is_seldom(item):
        return item.args[0], item.args[-1]
    return item.expressions() if isinstance(item, Statement | Add) else expressions(item)
