"""Sums by index of few elements: each block adds them up in its own memory, where no other block is in the way.

Many rows that add to few elements of one array of the whole grid wait for each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import THREADS, Grid
from vecdist.codegen.cuda.privatisation import ELEMENT, PLACE, SLOTS, privatisable, scatters
from vecdist.codegen.statements import element_count
from vecdist.kernel.code import Code, For, Set
from vecdist.kernel.expressions import Constant, Name, names
from vecdist.kernel.ir import Kernel, Loop, Output

MOST = 8192  # elements in all: 64 KiB of a block, which leaves room for two others
WAITING = 64  # rows for each element, from which on they wait


def near(output: int) -> Name:
    """Where the sums of an output begin in the memory of a block."""
    return Name(f"near_o{output}")


def contended(kernel: Kernel, lengths: Mapping[str, int]) -> tuple[int, ...]:
    """The outputs of few elements for many rows, to which these add by an index that is computed."""
    kept, room, found = {item.output for item in privatisable(kernel)}, MOST, list[int]()
    sizes = {number: _count(output, lengths) for number, output in enumerate(kernel.outputs) if output.summed}
    for number, size in sorted(sizes.items(), key=lambda each: each[1]):
        rows = max(_turns(loop, number, lengths) for _, loop in kernel.nests())
        if size <= room and rows >= max(1, WAITING * size) and number not in kept:
            found.append(number)
            room -= size
    return tuple(sorted(found))


def _count(output: Output, lengths: Mapping[str, int]) -> int:
    return math.prod(int(lengths.get(str(dim), dim)) for dim in output.shape)


def _turns(loop: Loop, output: int, lengths: Mapping[str, int]) -> int:
    """How often a nest adds to an output by an index that is computed."""
    inner = [loop, *(item for item in loop.body.walk() if isinstance(item, Loop))]
    known = {each.index for each in inner} | {*lengths}
    computed = [item for item in scatters(loop) if item.output == output and not known.issuperset(names(*item.indices))]
    return math.prod(lengths.get(dim, 1) for dim in loop.dims()) if computed else 0


def emptied(grid: Grid) -> Iterator[Code]:
    """The sums of a block, all of them zero."""
    for output in grid.kernel.near:
        count = element_count(grid.kernel.outputs[output].shape)
        body = (Set(SLOTS[near(output) + PLACE], Constant(0.0)),)
        yield For("place", count, body, cuda.THREAD, Constant(THREADS))
    if grid.kernel.near:
        yield cuda.SYNC


def left_by_block(grid: Grid, level: int) -> Iterator[Code]:
    """The sums of a block where others find them, once no loop adds to them any more."""
    ready = [output for output in grid.kernel.near if output in grid.kernel.finished(level)]
    if ready:
        yield cuda.SYNC
    for output in ready:
        target = cuda.SUMS[Name(f"part_o{output}") + ELEMENT * cuda.BLOCKS + cuda.BLOCK]
        count = element_count(grid.kernel.outputs[output].shape)
        yield For("element", count, (Set(target, SLOTS[near(output) + ELEMENT]),), cuda.THREAD, Constant(THREADS))
