"""Full unrolling: the turns of a short inner loop of known length, one after another."""

from __future__ import annotations

from collections.abc import Mapping

from vecdist.codegen.cpu.mixed import Items
from vecdist.codegen.cpu.reductions import F8, begun, is_narrow, narrow, narrow_begun, renamed_sums
from vecdist.kernel.code import let
from vecdist.kernel.expressions import Constant, Name
from vecdist.kernel.ir import Block, Cases, Loop
from vecdist.kernel.statements import Assign, Load, Scatter, renamed

UNROLLED = 16  # elements of a row, at most: so many are gathered from rows that lie behind each other
STATEMENTS = 512  # of a row, at most


def is_unrolled(inner: Loop, fixed: Mapping[str, int]) -> bool:
    """Whether an inner loop is unrolled."""
    length, items = fixed.get(inner.dim, UNROLLED + 1), [item for _, item in inner.body.items]
    if length > UNROLLED or length * len(items) > STATEMENTS or inner.sequential:
        return False
    return not any(isinstance(item, Loop | Cases | Scatter) for item in items)


def unrolled(loop: Loop, home: Block, count: int) -> Items:
    """The turns of an inner loop; its sums of float32 are taken in float32."""
    items = [item for level in loop.body.levels for item in loop.body.statements(level)]
    own = [item.name for item in items if isinstance(item, Assign | Load)]
    sums = loop.sums(home)
    turns = [
        renamed(item, {loop.index: Constant(turn), **{name: Name(f"{name}_{turn}") for name in own}})
        for turn in range(count)
        for item in items
    ]
    return (
        *[narrow_begun(item) if is_narrow(item) else begun(item) for item in sums],
        *renamed_sums(turns, sums),
        *[let(item.name, F8(Name(narrow(item)))) for item in sums if is_narrow(item)],
    )
