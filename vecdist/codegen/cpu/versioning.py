"""Loop versioning: turns by loops of vectors without seldom values, and again with them if any was wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vecdist.codegen.collapsing import loops_in
from vecdist.codegen.cpu.mixed import Add, Item, Items, Pack, Product, scatters
from vecdist.codegen.statements import is_seldom
from vecdist.kernel.code import If, expressions, let, replaced, walk
from vecdist.kernel.expressions import FALSE, Expr, Name, names
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Statement, Store, Temp

SELDOM = Name("seldom")
SELDOM_FIRST: Item = let("seldom", FALSE)


def versioned(items: Items, loop: Loop) -> Items:
    """Turns of a loop in two versions, where they have seldom values: sums are for the second as they were before.

    What is scattered cannot be taken back: a version that finds out comes first, in which nothing is.  What is changed
    in place is there no more for another version: then there is one alone, with seldom values; and so where a loop in
    these turns is in versions itself.
    """
    found = list(walk(items))
    if not any(map(is_seldom, found)) or _changes_in_place(found) or SELDOM_FIRST in found:
        return items
    changed = sorted(_changed(loop))
    kept = [let(f"before_{name}", Name(name)) for name in changed]
    items = (*[let(name, Name(f"before_{name}")) for name in changed], *items)
    usual = without_seldom(items)
    found_out = replaced(usual, lambda item: () if scatters(item) else None)
    return *kept, SELDOM_FIRST, *found_out, If(SELDOM, items, usual if any(map(scatters, found)) else ())


def _changed(loop: Loop) -> set[str]:
    """What the turns of a loop change beside values of their own: sums, and whether a parameter is invalid."""
    inside = {loop.body, *(each.body for each in loops_in(loop))}
    sums = {item.name for item in loop.body.walk() if isinstance(item, Accumulate) and item.home not in inside}
    return sums | {"bad" for item in loop.body.walk() if isinstance(item, Flag)}


def _changes_in_place(found: Sequence[Item]) -> bool:
    """Whether outputs are read where they are stored to, as by recurrences."""
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
    return item.expressions() if isinstance(item, Statement | Add | Product | Pack) else expressions(item)
