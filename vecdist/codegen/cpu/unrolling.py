"""Full unrolling: the turns of a short inner loop of known length, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.kernel.code import For, Set
from vecdist.kernel.expressions import Constant, Name, substituted
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Made, Scatter, Statement, renamed

UNROLLED = 16  # elements of a row, at most: so many are gathered from rows that lie behind each other
STATEMENTS = 512  # of a row, at most


def is_unrolled(inner: Loop, fixed: Mapping[str, int]) -> bool:
    """Whether an inner loop is unrolled."""
    length, items = fixed.get(inner.dim, UNROLLED + 1), [item for _, item in inner.body.items]
    if length > UNROLLED or length * len(items) > STATEMENTS or inner.sequential:
        return False
    return not any(isinstance(item, Loop | Scatter) for item in items)


def unrolled(loop: For[Item], count: int) -> Items:
    """The turns of a loop, each with names of its own."""
    return tuple([item for turn in range(count) for item in _turn(loop, turn)])


def _turn(loop: For[Item], turn: int) -> Iterator[Item]:
    """The statements of one turn, and what sums of its own begin and end with."""
    own = {item.name: Name(f"{item.name}_{turn}") for item in loop.body if isinstance(item, Made)}
    meanings = {loop.index: Constant(turn), **own}
    for item in loop.body:
        if isinstance(item, Statement):
            yield renamed(item, meanings)
        elif isinstance(item, Set):
            yield replace(item, value=substituted(item.value, meanings))
