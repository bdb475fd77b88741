"""How loop nests run on a GPU: the passes that make statements of them, in order.

A loop without rows is tiled, unrolled and jammed.  Rows go to cooperative groups: what their loops compute twice is
kept in local memory, inner loops are shared by lanes, and loads are made a row ahead.  What a thread meets again and
again it adds up for itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.cooperative_groups import group, over_groups
from vecdist.codegen.cuda.cut_rows import cut_rows, known_cut
from vecdist.codegen.cuda.grid import THREADS, Grid
from vecdist.codegen.cuda.prefetching import loads_ahead, prefetched, tile_ahead
from vecdist.codegen.cuda.privatisation import begun as begun_private
from vecdist.codegen.cuda.privatisation import ended, flushed_at_times, privatised
from vecdist.codegen.cuda.reductions import begun
from vecdist.codegen.cuda.row_stores import stored_together
from vecdist.codegen.cuda.sums_of_rows import in_registers, sums_of_rows
from vecdist.codegen.cuda.tiling import (
    Tile,
    copies,
    has_routines,
    has_rows,
    in_flat_tiles,
    sequential,
    takes_tiles,
    tiled,
)
from vecdist.codegen.cuda.unroll_and_jam import is_short, jammed, masked, work
from vecdist.codegen.cuda.value_reuse import reused
from vecdist.codegen.cuda.vectorisation import aligned, vectorised, with_neighbours
from vecdist.codegen.reverse_if_conversion import branched
from vecdist.codegen.statements import Item, Items
from vecdist.kernel.code import Code, For, While, let
from vecdist.kernel.expressions import ONE, ZERO, Constant, Name
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Assign

MASKED = 64  # statements of an element of rows, up to which those of a tile that has not all are written out, too
DEAR = 250  # steps of a side from which threads branch: up to 400, branches neither saved nor cost time on an H200
REUSED = 64  # registers of a thread for what the loops of a row leave to each other


@final
@dataclass(frozen=True, eq=False)
class Nest:
    """An outermost loop as statements."""

    level: int
    loop: Loop
    items: Items


def planned(kernel: Kernel) -> list[Nest]:
    """The outermost loops of a kernel as they run, in order."""
    return nests_of(Grid(kernel))


def nests_of(grid: Grid) -> list[Nest]:
    return [Nest(level, loop, branched(_planned(loop, grid), DEAR)) for level, loop in grid.kernel.nests()]


def over_chains(nests: Sequence[Nest], kernel: Kernel) -> Iterator[Item]:
    """The loop over the chains of a block, which takes each through these nests."""
    for nest in nests:
        yield from begun(nest.loop.sums(kernel.root))
    levels = [[item for nest in nests if nest.level == level for item in nest.items] for level in _levels(nests)]
    body = [*levels[0], *(item for level in levels[1:] for item in (cuda.SYNC, *level))]
    yield For(cuda.CHAIN.id, Name(kernel.by_block), tuple(body), cuda.BLOCK, cuda.BLOCKS)


def _levels(nests: Sequence[Nest]) -> list[int]:
    return sorted({nest.level for nest in nests})


def _planned(loop: Loop, grid: Grid) -> Items:
    kernel = grid.kernel
    if kernel.is_kept(loop):
        return (For(loop.index, loop.length, sequential(loop.body), cuda.THREAD, Constant(THREADS)),)
    own, loops = grid.private_to(loop), [each for _, each in kernel.nests()]
    earlier = [each for each in grid.private if loops.index(each.loop) < loops.index(loop)]
    if not has_rows(loop):
        items = _elements(loop, grid)
    elif loop in grid.cut:
        items = cut_rows(loop, grid)
    elif takes_tiles(loop, grid):
        items = _flat_rows(loop, grid)
    else:
        items = _rows(loop, grid)
    sums = [] if loop in grid.by_block else loop.sums(kernel.root)  # which those over all chains begin with
    starts = *_known_lanes(loop, grid), *begun_private(own), *begun(sums)
    return *starts, *privatised(items, own), *ended(own, earlier)


def _elements(loop: Loop, grid: Grid) -> Items:
    """A loop without rows: in tiles, where a thread takes several elements or blocks stand apart."""
    if loop in grid.by_block:
        first, end = grid.rows_of_block(loop)
        return (For(loop.index, end, sequential(loop.body), first + cuda.THREAD, Constant(THREADS)),)
    tile = with_neighbours(Tile(loop, copies(loop, grid), backward=loop in grid.backward), grid.kernel)
    if tile.copies == 1 and (not grid.apart or has_routines(loop)):
        return (For(loop.index, loop.length, sequential(loop.body), cuda.FIRST, cuda.STEP),)
    before, whole = (), jammed(tile)
    if tile.copies > 1 and tile.loads():
        before, now = tile_ahead(tile)
        whole = *now, *work(tile)
    turns = tile.in_turn(tiled(tile, whole), cuda.BLOCK * tile.width, cuda.BLOCKS * tile.width)
    return vectorised((*aligned(tile), *tile.top, *before, turns), tile, grid.kernel)


def _flat_rows(loop: Loop, grid: Grid) -> Items:
    """Rows of elements side by side, in tiles of a group."""
    (inner,) = loop.body.every_loop()
    tile = Tile(inner, copies(inner, grid), cuda.LANE, cuda.LANES, cuda.MASK)
    rest = masked(tile) if tile.copies > 1 and is_short(inner, MASKED) else ()
    return *group(loop, grid, takes_blocks=False), *in_flat_tiles(loop, tile, jammed(tile), rest)


def _rows(loop: Loop, grid: Grid) -> Items:
    """A loop over rows, each a group's."""
    reuse = reused(loop.body, _room(loop, grid))
    arrays = reuse.arrays.items()
    kept = [cuda.local_array(name, grid.turns(inner, loop), cuda.memory_type(dtype)) for name, (dtype, inner) in arrays]
    row = over_groups(loop, reuse.bodies, grid)
    before, row = prefetched(row, loads_ahead(loop, reuse.bodies, grid), loop, grid)
    body = *stored_together(row, loop, grid), *flushed_at_times(grid.private_to(loop))
    body = in_registers(body, sums_of_rows(loop, grid))
    end = grid.rows_of_block(loop)[1] if loop in grid.by_block else loop.length
    turns = For(loop.index, end, body, *grid.rows_of_group(loop))
    return *group(loop, grid, grid.takes_blocks(loop)), *kept, *before, turns


def _room(loop: Loop, grid: Grid) -> dict[str, int]:
    """How many values inner loops may keep for each other, by their lengths; none where these are not known."""
    if loop not in grid.lanes:
        return {}
    wide = any(isinstance(item, Assign) and item.dtype == np.float64 for item in loop.body.walk())
    return {each.dim: REUSED // (grid.turns(each, loop) * (2 if wide else 1)) for each in loop.body.every_loop()}


def _known_lanes(loop: Loop, grid: Grid) -> Iterator[Code]:
    """The lanes of a group of a nest as a power of two: known, or chosen at launch."""
    if loop in grid.cut:
        yield from known_cut(loop)
    elif has_rows(loop) and (lanes := grid.known_lanes(loop)):
        yield let("lanes", Constant(lanes))
        yield let("shift", Constant(lanes.bit_length() - 1))
    elif has_rows(loop):
        yield let("lanes", Name(f"lanes_{loop.index}"))
        if grid.private_to(loop):
            shift = Name("shift")
            yield let("shift", ZERO)
            yield While((ONE << shift) < cuda.LANES, (let("shift", shift + 1),))
