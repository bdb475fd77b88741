"""Rows in a straight line: short loops in each other are written out where rows add to elements of columns.

A compiler takes neighbouring rows in a vector where nothing is added in memory: these sums wait in registers for all
rows of a strip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vecdist.codegen.collapsing import loops_in
from vecdist.codegen.cpu.fission import Phase, Rows
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.cpu.reductions import F4, beginning, is_narrow, narrowed, reduced
from vecdist.codegen.cpu.unrolling import STATEMENTS, UNROLLED, unrolled
from vecdist.kernel.code import For, let
from vecdist.kernel.expressions import Constant, Name
from vecdist.kernel.ir import Block, Loop, Output
from vecdist.kernel.statements import Accumulate, Assign, Load, Scatter, Store, Total


def is_straight(inner: Loop, rows: Loop, fixed: Mapping[str, int]) -> bool:
    """Whether short loops add to elements of columns, the same for all rows, and nowhere else."""
    every, items = [inner, *loops_in(inner)], [item for item in inner.body.walk() if not isinstance(item, Loop)]
    if any(each.sequential or not 0 < fixed.get(each.dim, UNROLLED + 1) <= UNROLLED for each in every):
        return False
    around = [block.index for block in rows.body.chain()][1:-1]
    same = {Name(index) for index in (*around, *(each.index for each in every))}
    scatters = [item for item in items if isinstance(item, Scatter)]
    plain = all(isinstance(item, Assign | Load | Accumulate | Total | Store | Scatter) for item in items)
    alike = all(isinstance(at, Constant) or at in same for item in scatters for at in item.indices)
    return bool(scatters) and plain and alike and _count(inner, fixed) <= STATEMENTS


def _count(loop: Loop, fixed: Mapping[str, int]) -> int:
    """The statements of a loop that is written out."""
    each = [_count(item, fixed) if isinstance(item, Loop) else 1 for _, item in loop.body.items]
    return fixed[loop.dim] * sum(each)


def straight_rows(rows: Rows, phase: Phase, home: Block, fixed: Mapping[str, int], outputs: Sequence[Output]) -> Items:
    """A phase of such loops: what all rows of a strip add to an element is added at once."""
    assert phase.loop is not None
    lines = _written_out(phase.loop, home, fixed)
    inside = {home, *(each.body for each in (phase.loop, *loops_in(phase.loop)))}
    elsewhere = {item.name: item for item in lines if isinstance(item, Accumulate) and item.home not in inside}
    scatters = {(item.output, item.indices): item for item in lines if isinstance(item, Scatter)}
    sums = {
        place: Accumulate(f"t{number}", item.value, home, outputs[item.output].dtype)
        for number, (place, item) in enumerate(scatters.items())
    }
    body = tuple([
        replace(sums[item.output, item.indices], value=item.value) if isinstance(item, Scatter) else item
        for item in lines
    ])  # fmt: skip
    return (
        *[let(item.name, F4(0) if is_narrow(item) else beginning(item)) for item in sums.values()],
        *narrowed((rows.expanded(phase, (*body, *phase.items)),), [*elsewhere.values()]),
        *[replace(item, value=Name(sums[place].name)) for place, item in scatters.items()],
    )


def _written_out(loop: Loop, home: Block, fixed: Mapping[str, int]) -> Items:
    """All turns of a loop, and of those in it, one after another, with the sums that they are all of."""
    body: list[Item] = []
    for level in loop.body.levels:
        body += loop.body.statements(level)
        for each in loop.body.loops(level):
            body += _written_out(each, loop.body, fixed)
    return reduced(unrolled(For(loop.index, loop.length, tuple(body)), fixed[loop.dim]), loop.sums(home))
