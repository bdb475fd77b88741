"""How a loop nest runs on the CPU: the passes that make it, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from vecdist.codegen.cpu.blocking import STRIP, block_size, blocked, lowest, strip_mined
from vecdist.codegen.cpu.fission import Phase, Rows, declared, has_phases, passed, phases
from vecdist.codegen.cpu.interchange import expanded_sums, interchanged, is_interchanged, narrow_columns, tiled
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.cpu.reductions import begun, is_narrow, narrowed
from vecdist.codegen.cpu.unrolling import is_unrolled, unrolled
from vecdist.codegen.cpu.versioning import versioned
from vecdist.kernel.code import For, If, Set, let
from vecdist.kernel.expressions import FALSE, ONE, ZERO, Name
from vecdist.kernel.ir import Block, Kernel, Loop, Output
from vecdist.kernel.statements import Flag


@final
@dataclass(frozen=True)
class Nest:
    """An outermost loop as statements, with the buffers that they use."""

    loop: Loop
    items: Items
    buffers: Mapping[str, np.dtype]


def planned(kernel: Kernel) -> list[Nest]:
    """The outermost loops of a kernel, in order, as they run."""
    return [_nest(kernel, loop) for _, loop in kernel.nests()]


def _nest(kernel: Kernel, loop: Loop) -> Nest:
    fixed = dict(kernel.fixed)
    phased = has_phases(loop, fixed)
    sums = loop.sums(kernel.root)
    buffers = _buffers(loop, kernel.outputs) if phased else {}
    first = Name("block") * Name("size")
    if phased:
        turns = _fissioned(For(loop.index, Name("end"), (), first), loop, buffers, kernel)
    else:
        turns = narrow_strips(For(loop.index, Name("end"), sequence(loop.body, fixed), first), sums, "start", "stop")
    flagged = any(isinstance(item, Flag) for item in loop.body.walk())
    limit = let("end", lowest(first + Name("size"), loop.length))
    block = (*map(begun, sums), *([let("bad", FALSE)] if flagged else []), limit, turns)
    ends = [Set(Name(f"p_{item.name}")[Name("block")], Name(item.name)) for item in sums]
    raises = [If(Name("bad"), (raised(),))] if flagged else []
    runs = blocked(kernel, loop, (*versioned(block, not phased), *ends, *raises))
    return Nest(loop, (let("size", block_size(loop)), *declared(buffers), *runs), buffers)


def _buffers(loop: Loop, outputs: Sequence[Output]) -> dict[str, np.dtype]:
    """What waits in buffers: the names that pass from one phase to a later one, and sums that are not finished."""
    parts = phases(loop)
    found = passed(parts)
    for part in parts:
        if part.loop is not None:
            found |= expanded_sums(part.loop, loop, outputs)
    return found


def _fissioned(turns: For[Item], loop: Loop, buffers: Mapping[str, np.dtype], kernel: Kernel) -> For[Item]:
    """A loop over rows in strips, phase by phase."""
    strip, rows = strip_mined(turns, STRIP, "start", "stop"), Rows(loop.index, buffers)
    parts = [item for phase in phases(loop) for item in _phase(rows, phase, loop, kernel)]
    return replace(strip, body=(strip.body[0], *parts))


def _phase(rows: Rows, phase: Phase, loop: Loop, kernel: Kernel) -> Items:
    inner = phase.loop
    if inner is None:
        return narrowed((rows.expanded(phase, phase.items),), phase.items)
    if is_interchanged(inner, loop):
        return interchanged(rows, phase, inner, loop, kernel.outputs)
    if columns := narrow_columns(inner, loop, kernel.outputs):
        return tiled(rows, phase, inner, columns)
    turns = inner_loop(inner, loop.body, dict(kernel.fixed))
    return (rows.expanded(phase, (*turns, *phase.items)),)


def narrow_strips(loop: For[Item], sums: Sequence[Item], first: str, last: str = "") -> For[Item]:
    """A loop in strips, where it adds up float32."""
    if not any(map(is_narrow, sums)):
        return loop
    strip = strip_mined(loop, STRIP, first, last)
    *head, turns = strip.body
    return replace(strip, body=(*head, *narrowed((turns,), sums)))


def sequence(block: Block, fixed: Mapping[str, int]) -> Items:
    """A block as it stands: the statements of each level, then its loops."""
    found: list[Item] = []
    for level in block.levels:
        found += block.statements(level)
        found += [item for loop in block.loops(level) for item in inner_loop(loop, block, fixed)]
    return tuple(found)


def inner_loop(loop: Loop, home: Block, fixed: Mapping[str, int]) -> Items:
    """A loop in a row: unrolled, or in strips where it adds up float32."""
    if is_unrolled(loop, fixed):
        return unrolled(loop, home, fixed[loop.dim])
    turns = For(loop.index, loop.length, sequence(loop.body, fixed))
    if not loop.body.every_loop():
        turns = narrow_strips(turns, turns.body, f"first_{loop.index}")
    return (*map(begun, loop.sums(home)), turns)


def raised() -> Set:
    """The kernel's flag, raised."""
    return Set(Name("flag")[ZERO], ONE)
