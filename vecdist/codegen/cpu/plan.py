"""How loop nests run on the CPU: the passes that make statements of them, in order.

Inner loops are unrolled, or run in strips; loops over rows are strip-mined and divided into phases, where inner loops
may be interchanged; a block may have a version without seldom values; blocks are shared by threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import final

import numpy as np

from vecdist.codegen.cpu import column_sums, own_sums, vector_sums
from vecdist.codegen.cpu.blocking import (
    FIRST,
    MIN,
    STRIP,
    block_size,
    blocked,
    is_interchanged,
    is_shared,
    strip_mined,
    takes_columns,
    turns_of,
)
from vecdist.codegen.cpu.column_sums import adds_columns, together
from vecdist.codegen.cpu.fission import Phase, Rows, declared, has_phases, passed, phases, scatters_alone
from vecdist.codegen.cpu.interchange import expanded_sums, interchanged, narrow_columns, tiled
from vecdist.codegen.cpu.lanes import Lanes, apart, has_lanes, runs
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.cpu.products import products
from vecdist.codegen.cpu.reductions import begun, in_narrow_strips, narrowed, reduced
from vecdist.codegen.cpu.sharing import exchanged, packed, tiles
from vecdist.codegen.cpu.straight_rows import is_straight, straight_rows
from vecdist.codegen.cpu.unrolling import is_unrolled, unrolled
from vecdist.codegen.cpu.vector_sums import is_vector_sum, vector_sum
from vecdist.codegen.cpu.versioning import versioned
from vecdist.codegen.reverse_if_conversion import branched
from vecdist.codegen.routines import is_routine
from vecdist.codegen.statements import is_seldom
from vecdist.kernel.code import For, If, Set, let
from vecdist.kernel.expressions import FALSE, ONE, ZERO, Constant, Name
from vecdist.kernel.ir import Block, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Flag

AGAIN = 1024  # turns that are run again where one of them wants a seldom value
WRITTEN_OUT = 65  # statements of loops in an interchanged one, with which they are a loop again
RAISED = Set(Name("flag")[ZERO], ONE)  # the kernel's flag


@final
@dataclass(frozen=True)
class Nest:
    """An outermost loop as statements, and the dtypes of the buffers that they use."""

    loop: Loop
    items: Items
    buffers: Mapping[str, np.dtype]


def planned(kernel: Kernel) -> list[Nest]:
    """The outermost loops of a kernel as they run, in order."""
    return [_planned(kernel, loop) for _, loop in kernel.nests()]


def _planned(kernel: Kernel, loop: Loop) -> Nest:
    sums, flagged = loop.sums(kernel.root), any(isinstance(item, Flag) for item in loop.body.walk())
    whole = adds_columns(kernel, loop)
    rows, buffers = _rows(kernel, loop, whole)
    buffers = buffers | vector_sums.buffers(loop, dict(kernel.fixed))
    starts = (*map(begun, sums), *([let("bad", FALSE)] if flagged else []))
    end = () if whole else (let("end", MIN(FIRST + Name("size"), loop.length)),)
    block = (*starts, *end, *own_sums.begun(kernel, loop), *rows)
    ends = (*own_sums.ended(kernel, loop), *map(_partial, sums), *([If(Name("bad"), (RAISED,))] if flagged else []))
    blocks = blocked(kernel, loop, (*block, *ends), whole)
    made = let("size", block_size(loop)), *declared(buffers), *own_sums.made(kernel, loop), *tiles(blocks)
    items = branched((*made, *blocks), is_scalar=is_scalar)
    return Nest(loop, items, buffers)


def is_scalar(run: Sequence[Item], outer: bool) -> bool:
    """Whether no vectors compute a run of statements: there are loops in functions that it calls, or beside it."""
    return outer or any(isinstance(item, Assign) and is_routine(item.op) and not is_seldom(item) for item in run)


def _rows(kernel: Kernel, loop: Loop, whole: bool) -> tuple[Items, dict[str, np.dtype]]:
    """The turns of a block, or of a ``whole`` stripe, in strips where that pays, and the buffers that they use."""
    fixed = dict(kernel.fixed)
    rows = For(loop.index, Name("end"), (), Name("begin") if whole else FIRST)
    if not (has_phases(loop, fixed) or has_lanes(loop)):
        rows, sums = replace(rows, body=sequence(loop.body, fixed)), loop.sums(kernel.root)
        if not any(map(is_seldom, rows.body)):
            return (in_narrow_strips(rows, sums, "start", "stop"),), {}
        return (strip_mined(rows, AGAIN, "begin", "until", partial(_versions, loop, sums)),), {}
    width = column_sums.STRIP if whole else STRIP
    return (_in_phases(kernel, loop, rows, "start", "stop", width),), _buffers(kernel, loop)


def _versions(loop: Loop, sums: Sequence[Accumulate], turns: For[Item]) -> Items:
    """Some turns in two versions."""
    return versioned((in_narrow_strips(turns, sums, "start", "stop"),), loop)


def _in_phases(
    kernel: Kernel, loop: Loop, rows: For[Item], first: str, last: str, width: int = STRIP
) -> For[Item]:
    """A loop in strips, of which each phase is a loop; what is added to elements that data choose needs no versions."""
    return strip_mined(rows, width, first, last, lambda strip: _strip(kernel, loop, Rows(strip, {})))


def _strip(kernel: Kernel, loop: Loop, rows: Rows) -> Items:
    """A loop over the rows of a strip for each phase, beside buffers that are there already."""
    parts = apart(phases(loop))
    own = passed(parts) | {name: each for part in parts for name, each in _expanded(kernel, loop, part).items()}
    rows = replace(rows, buffers={**rows.buffers, **own})
    found = [(phase, _phase(kernel, loop, phase, rows)) for phase in parts]
    last = found.pop() if scatters_alone(found[-1][0]) else (None, ())
    return *versioned(tuple([item for _, items in found for item in items]), loop), *last[1]


def _shared(kernel: Kernel, loop: Loop, phase: Phase, rows: Rows) -> Items:
    """The turns of an inner loop that rows share, each for all of a strip."""
    assert phase.loop is not None
    outer = exchanged(phase.loop, loop, phase.again, kernel.outputs)
    (inner,) = outer.body.every_loop()
    starts, ends = [*map(begun, inner.sums(outer.body))], outer.body.statements(1)
    most = MIN(STRIP, Name("size") if loop.body.parent is kernel.root else loop.length)
    copies, turn = packed((*starts, *_strip(kernel, inner, rows), *ends), outer, most)
    return *copies, For(outer.index, outer.length, turn)


def _partial(item: Accumulate) -> Set:
    """The sum of a block, kept."""
    return Set(Name(f"p_{item.name}")[Name("block")], Name(item.name))


def _buffers(kernel: Kernel, loop: Loop) -> dict[str, np.dtype]:
    """What waits in buffers: names that pass from one phase to a later one, and sums that are not finished."""
    parts = apart(phases(loop))
    found = passed(parts)
    for part in parts:
        found |= _expanded(kernel, loop, part)
        if part.loop is None or runs(part):
            continue
        if in_strips(part.loop, kernel):
            found |= _buffers(kernel, part.loop)
        elif is_shared(part.loop, loop) and not is_straight(part.loop, loop, dict(kernel.fixed)):
            found |= _buffers(kernel, exchanged(part.loop, loop, part.again, kernel.outputs).body.every_loop()[0])
    return found


def _expanded(kernel: Kernel, loop: Loop, part: Phase) -> dict[str, np.dtype]:
    """The buffers of a phase itself: what loops of elements carry, or the sums of an inner loop."""
    if runs(part):
        return Lanes(part).buffers
    if part.loop is None or in_strips(part.loop, kernel) or is_shared(part.loop, loop):
        return {}
    if is_straight(part.loop, loop, dict(kernel.fixed)):
        return {}
    return expanded_sums(part.loop, loop, kernel.outputs)


def in_strips(inner: Loop, kernel: Kernel) -> bool:
    """Whether the elements of an inner loop, more than a few, take its loops together: in lanes, or interchanged."""
    fixed = dict(kernel.fixed)
    if inner.size == "long" or inner.sequential or is_unrolled(inner, fixed):
        return inner.size == "long"
    return has_lanes(inner) or takes_columns(inner, fixed)


def _phase(kernel: Kernel, loop: Loop, phase: Phase, rows: Rows) -> Items:
    inner, fixed = phase.loop, dict(kernel.fixed)
    if runs(phase):
        return Lanes(phase).items(rows)
    if inner is None:
        return narrowed((rows.expanded(phase, phase.items),), phase.items)
    if found := products(kernel, loop, phase, rows):
        return found
    if in_strips(inner, kernel):
        columns = turns_of(inner, masked=True)
        strips = _in_phases(kernel, inner, columns, f"first_{inner.index}", f"stop_{inner.index}")
        return (rows.expanded(phase, (*map(begun, inner.sums(loop.body)), strips, *phase.items)),)
    if is_straight(inner, loop, fixed):
        return straight_rows(rows, phase, loop.body, fixed, kernel.outputs)
    if is_shared(inner, loop):
        return _shared(kernel, loop, phase, rows)
    if is_interchanged(inner, loop):
        return interchanged(rows, phase, nested(inner, fixed), inner.sums(loop.body), kernel.outputs)
    if columns := narrow_columns(inner, loop, kernel.outputs):
        return (tiled(rows, phase, turns(inner, fixed), columns),)
    if loop.body.parent is kernel.root and adds_columns(kernel, loop):
        return together(rows, turns(inner, fixed))
    return (rows.expanded(phase, (*inner_loop(inner, loop.body, fixed), *phase.items)),)


def turns(loop: Loop, fixed: Mapping[str, int]) -> For[Item]:
    """The turns of an inner loop as they stand, which may be few."""
    return turns_of(loop, sequence(loop.body, fixed), masked=True)


def nested(loop: Loop, fixed: Mapping[str, int]) -> For[Item]:
    """As ``turns``, where loops stand in each other alone: the last ones are written out where they are short."""
    if not loop.body.every_loop():
        return turns(loop, fixed)
    (inner,) = loop.body.every_loop()
    found, count = nested(inner, fixed), fixed.get(inner.dim, WRITTEN_OUT)
    if count * len(found.body) < WRITTEN_OUT and not any(isinstance(item, For) for item in found.body):
        return turns_of(loop, unrolled(found, count))
    known = replace(found, stop=Constant(count)) if inner.dim in fixed else found
    return turns_of(loop, (known,))


def inner_loop(loop: Loop, home: Block, fixed: Mapping[str, int]) -> Items:
    """An inner loop with its sums: unrolled, or in strips where it adds up float32."""
    if is_vector_sum(loop, home, fixed):
        return vector_sum(loop, loop.sums(home), fixed)
    sums, found = loop.sums(home), turns(loop, fixed)
    if is_unrolled(loop, fixed):
        return reduced(unrolled(found, fixed[loop.dim]), sums)
    if not loop.body.every_loop():
        found = in_narrow_strips(found, found.body, f"first_{loop.index}")
    return (*map(begun, sums), found)


def sequence(block: Block, fixed: Mapping[str, int]) -> Items:
    """A block as it stands: the statements of each level, then its loops."""
    found: list[Item] = []
    for level in block.levels:
        found += block.statements(level)
        found += [item for loop in block.loops(level) for item in inner_loop(loop, block, fixed)]
    return tuple(found)
