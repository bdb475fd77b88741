"""Full unrolling: the turns of a short inner loop of known length, one after another."""

from __future__ import annotations

from collections.abc import Mapping

from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.kernel.code import For
from vecdist.kernel.expressions import Constant, Name
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Assign, Load, Scatter, Statement, renamed

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
    own = [item.name for item in loop.body if isinstance(item, Assign | Load)]
    return tuple(
        [
            renamed(item, {loop.index: Constant(turn), **{name: Name(f"{name}_{turn}") for name in own}})
            for turn in range(count)
            for item in loop.body
            if isinstance(item, Statement)
        ]
    )
