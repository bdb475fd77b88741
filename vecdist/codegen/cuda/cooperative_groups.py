"""Cooperative groups: each row is given to a group of threads, its *lanes*, that share its inner loops.

A group is one thread, a part of a warp, a warp, or a block, whose warps leave their results in shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import WARP, WARPS, Grid
from vecdist.codegen.cuda.narrow_sums import by_one_lane, narrowed
from vecdist.codegen.cuda.prefix_sums import is_scan, scan, shared_words
from vecdist.codegen.cuda.reductions import begun, of_warps, over_lanes, to_shared
from vecdist.codegen.cuda.tiling import Tile, sequential, tiled, unrolling
from vecdist.codegen.cuda.unroll_and_jam import jammed
from vecdist.codegen.statements import Item, Items
from vecdist.kernel.code import Code, For, If, let
from vecdist.kernel.expressions import ZERO, Choice, Constant, Expr, Name, joined
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Accumulate, Flag, Scatter, Store, Total


def group(rows: Loop, takes_blocks: bool) -> Iterator[Code]:
    """The lane of a thread, and those that it shares rows with; memory for what their warps leave each other."""
    yield from lane_of(takes_blocks)
    if not takes_blocks:
        return
    if any(isinstance(item, Total) for _, item in rows.body.items):
        yield cuda.shared_array("of_row", WARPS, "f8")
    for loop in rows.body.every_loop():
        if is_scan(loop):
            yield cuda.shared_array(f"of_{loop.index}", shared_words(loop), "f8")


def lane_of(takes_blocks: bool) -> Iterator[Code]:
    """The lane of a thread, and those of its warp that it shares rows with."""
    yield let("lane", cuda.THREAD % cuda.LANES)
    if takes_blocks:
        yield let("mask", cuda.lanes_mask(cuda.lowest(cuda.LANES, WARP), cuda.LANE % WARP))
    else:
        yield let("mask", cuda.lanes_mask(cuda.LANES))


def over_groups(rows: Loop, bodies: Mapping[Loop, Items], grid: Grid) -> Items:
    """The body of a loop over rows, its inner loops shared by lanes; ``bodies`` are those that were changed."""
    block = rows.body
    found: list[Item] = []
    for level in block.levels:
        for item in block.statements(level):
            if isinstance(item, Total):
                found += _combined_over_lanes(item, rows, grid)
            by_one = isinstance(item, Store | Flag | Accumulate | Scatter)
            found.append(If(_alone(rows, grid), (item,)) if by_one else item)
        for case in block.cases(level):
            found += sequential(case.long)
        for loop in block.loops(level):
            body = bodies.get(loop) or _of_each_lane(loop, rows, grid)
            found += (*begun(loop.sums(block)), *_shared(loop, rows, body, grid))
    return tuple(found)


def _alone(rows: Loop, grid: Grid) -> Expr:
    """Whether a thread is the one that speaks for its row."""
    first = cuda.LANE.equals(0)
    return joined("and", [first, cuda.STRIP.equals(0)]) if grid.is_cut_into_strips(rows) else first


def _of_each_lane(loop: Loop, rows: Loop, grid: Grid) -> Items:
    """What is done for each element of a loop; of loops inside it whose length is known a few elements at a time."""
    if rows not in grid.lanes:
        return sequential(loop.body)
    return sequential(loop.body, lambda loop, home, body: by_one_lane(loop, home, grid.fixed[loop.dim], body))


def _shared(loop: Loop, rows: Loop, body: Items, grid: Grid) -> Items:
    """A loop along a row, shared by lanes; one of fixed length is written out by the compiler.

    One that may be long is taken in tiles, so that several loads are in flight; so is one in order, as a scan, or else
    the first lane runs it alone.
    """
    if is_scan(loop):
        return scan(loop, rows, grid)
    if loop.sequential:
        return (For(loop.index, Choice(cuda.LANE.equals(0), loop.length, ZERO), body),)
    if rows in grid.lanes:
        return _fixed(loop, rows, body, grid)
    tile = Tile(loop, unrolling(loop), cuda.LANE, cuda.LANES, cuda.MASK)
    if tile.copies > 1 and loop.dim not in grid.fixed:
        return (For("base", loop.length, tiled(tile, jammed(tile)), ZERO, tile.width),)
    return (For(loop.index, loop.length, body, cuda.LANE, cuda.LANES),)


def _fixed(loop: Loop, rows: Loop, body: Items, grid: Grid) -> Items:
    """A loop whose length is known: a lane takes few elements, and adds up those in float32 first."""
    turn = Name(f"turn_{loop.index}")
    starts, body, ends = narrowed(loop, rows.body, body)
    body = (If(Name(loop.index) < loop.length, body),) if grid.may_end(loop, rows) else body
    body = let(loop.index, grid.element(loop, rows, turn)), *body
    return *starts, For(turn.id, Constant(grid.turns(loop, rows)), body), *ends


def _combined_over_lanes(item: Total, rows: Loop, grid: Grid) -> Iterator[Item]:
    """Combine the lanes' results pairwise, so that each lane has the same one."""
    block = rows.body
    sums = [found for loop in block.every_loop() for found in loop.sums(block) if found.name == item.accumulator]
    (taken,) = {found.op: found for found in sums}.values()
    if taken.op == "last":
        return  # the first lane has it, and stores it
    blocks = grid.takes_blocks(rows)
    lanes = Constant(grid.lanes[rows]) if rows in grid.lanes else cuda.LANES
    yield from over_lanes(taken, cuda.lowest(lanes, WARP) if blocks else lanes, cuda.MASK)
    if blocks:
        of_row = Name("of_row")
        warps = to_shared(taken, of_row[cuda.THREAD // WARP]), cuda.SYNC, *of_warps(taken, of_row, 0), cuda.SYNC
        yield If(cuda.LANES > WARP, warps)
