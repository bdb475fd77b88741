"""Cooperative groups: each row is given to a group of threads, its *lanes*, that share its inner loops.

A group is one thread, a part of a warp, a warp, or a block, whose warps leave their results in shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from vecdist.codegen.collapsing import has_pieces
from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import WARP, WARPS, Grid
from vecdist.codegen.cuda.narrow_sums import by_one_lane, narrowed
from vecdist.codegen.cuda.prefix_sums import is_scan, scan, shared_words
from vecdist.codegen.cuda.reductions import begun, of_warps, over_lanes, to_shared
from vecdist.codegen.cuda.tiling import BASE, Tile, in_turn, looped, sequential, tiled, unrolling
from vecdist.codegen.cuda.unroll_and_jam import is_short, jammed, masked
from vecdist.codegen.statements import Item, Items
from vecdist.kernel.code import Code, For, If, let
from vecdist.kernel.expressions import ZERO, Choice, Constant, Expr, Name, joined
from vecdist.kernel.ir import Block, Loop
from vecdist.kernel.statements import Accumulate, Flag, Load, Scatter, Store, Temp, Total

SHORT = 16  # turns of a loop that one lane goes through, up to which they are written out
SEVERAL = 4  # sums that elements are added to, from which on these have few registers
LOADED = 48  # words that a lane loads together then
FEW = 16  # words of columns, or of a piece, that a thread loads together
AT_END = 8  # elements that a lane takes together where some are missing, at most
BRIEF = 20  # statements of an element of a piece, up to which it loads as many as that


def group(rows: Loop, grid: Grid, takes_blocks: bool) -> Iterator[Code]:
    """The lane of a thread, and those that it shares rows with; memory for what their warps leave each other."""
    yield from lane_of(takes_blocks)
    if not takes_blocks:
        return
    if results := _most_results(rows.body, grid):
        yield cuda.shared_array("of_row", WARPS * results, "f8")
    for loop in rows.body.every_loop():
        if is_scan(loop):
            yield cuda.shared_array(f"of_{loop.index}", shared_words(loop), "f8")


def _most_results(block: Block, grid: Grid) -> int:
    """How many results lanes find together at most, in a block or in loops that all of them go through."""
    deep = [loop for loop in block.every_loop() if grid.is_deep(loop)]
    own = [sum(isinstance(item, Total) for item in block.statements(level)) for level in block.levels]
    return max([*own, *(_most_results(loop.body, grid) for loop in deep)])


def lane_of(takes_blocks: bool) -> Iterator[Code]:
    """The lane of a thread, and those of its warp that it shares rows with."""
    yield let("lane", cuda.THREAD % cuda.LANES)
    if takes_blocks:
        yield let("mask", cuda.lanes_mask(cuda.lowest(cuda.LANES, WARP), cuda.LANE % WARP))
    else:
        yield let("mask", cuda.lanes_mask(cuda.LANES))


def over_groups(rows: Loop, bodies: Mapping[Loop, Items], grid: Grid) -> Items:
    """The body of a loop over rows, its inner loops shared by lanes; ``bodies`` are those that were changed."""
    return _together(rows, rows, bodies, grid, in_order=False)


def _together(around: Loop, rows: Loop, bodies: Mapping[Loop, Items], grid: Grid, in_order: bool) -> Items:
    """The body of a loop that all lanes of a group go through, who share its loops, or go on together in them.

    Of steps in order each lane has the running results; in these lanes wait for what others leave in memory.
    """
    block, running = around.body, around.sequential
    found: list[Item] = []
    for level in block.levels:
        found += _combined_over_lanes(block, level, rows, grid)
        for item in block.statements(level):
            by_one = isinstance(item, Store | Flag | Scatter) or (isinstance(item, Accumulate) and not running)
            found.append(If(_alone(rows, grid), (item,)) if by_one else item)
        for case in block.cases(level):
            found += sequential(case.long)
        for loop in block.loops(level):
            found += begun(loop.sums(block))
            if grid.is_deep(loop):
                body = _together(loop, rows, bodies, grid, loop.sequential or in_order)
                found.append(in_turn(loop, body))
            else:
                found += _shared(loop, rows, bodies.get(loop) or _of_each_lane(loop, rows, grid), grid)
        found += [cuda.synchronised(cuda.MASK)] if in_order and _leaves(block, level) else []
    last = block.levels[-1]  # behind which others may still read what the next step writes to
    waits = running and not _leaves(block, last) and any(_leaves(block, level) for level in block.levels)
    return (*found, cuda.synchronised(cuda.MASK)) if waits else tuple(found)


def _leaves(block: Block, level: int) -> bool:
    """Whether what one lane leaves in memory at a level of a block may be read by others."""
    items = (*block.statements(level), *(item for loop in block.loops(level) for item in loop.body.walk()))
    return any(isinstance(item, Store) for item in items)


def _alone(rows: Loop, grid: Grid) -> Expr:
    """Whether a thread is the one that speaks for its row."""
    first = cuda.LANE.equals(0)
    return joined("and", [first, cuda.STRIP.equals(0)]) if grid.is_cut_into_strips(rows) else first


def _of_each_lane(loop: Loop, rows: Loop, grid: Grid) -> Items:
    """What is done for each element of a loop; of loops inside it whose length is known a few elements at a time."""

    def written(inner: Loop, home: Block, body: Items) -> Items:
        if inner.step > 1:
            return *begun(inner.sums(home)), *_in_tiles(inner, rows, body, grid)
        length = grid.fixed.get(inner.dim, 0)
        known = rows in grid.lanes or 0 < length <= SHORT
        return by_one_lane(inner, home, length, body) if known else looped(inner, home, body)

    return sequential(loop.body, written)


def _shared(loop: Loop, rows: Loop, body: Items, grid: Grid) -> Items:
    """A loop along a row, shared by lanes; one of fixed length is written out by the compiler.

    One that may be long is taken in tiles, so that several loads are in flight; so is one in order, as a scan, or else
    the first lane runs it alone.  All go through one that has loops over pieces in it, which they share.
    """
    if has_pieces(loop):
        return (For(loop.index, loop.length, body),)
    if is_scan(loop):
        return scan(loop, rows, grid)
    if loop.sequential:
        return (For(loop.index, Choice(cuda.LANE.equals(0), loop.length, ZERO), body),)
    return _fixed(loop, rows, body, grid) if rows in grid.lanes else _in_tiles(loop, rows, body, grid)


def _in_tiles(loop: Loop, rows: Loop, body: Items, grid: Grid) -> Items:
    """A loop of which a lane takes a few elements in one turn, if it may be long."""
    short = is_short(loop)
    first, step = (cuda.LANE, cuda.LANES) if loop.step == 1 else _piece(loop)
    of_columns = rows in grid.columns or (grid.waits and _is_of_results(loop))
    copies = _copies_of_columns(loop) if of_columns else _copies(loop, short)
    tile = Tile(loop, copies, first, step, cuda.MASK, backward=rows in grid.backward and loop.step > 1)
    if tile.copies > 1 and (loop.dim not in grid.fixed or rows in grid.columns):
        turn = tiled(tile, jammed(tile), _rest(tile) if short else ())
        return *tile.top, tile.in_turn(turn, ZERO, tile.width)
    return (For(loop.index, loop.length, body, first, step),)


def _rest(tile: Tile) -> Items:
    """The last elements of a loop, some of which a tile misses; no more at a time than there are registers for."""
    if tile.copies <= AT_END:
        return masked(tile)
    few = replace(tile, copies=AT_END, backward=False)
    return (For("base", cuda.lowest(BASE + tile.width, tile.loop.length), masked(few), BASE, few.width),)


def _is_of_results(loop: Loop) -> bool:
    """Whether a loop reads nothing but what others have found."""
    return all(isinstance(item.source, Temp) for item in loop.body.walk() if isinstance(item, Load))


def _piece(loop: Loop) -> tuple[Expr, Expr]:
    """The first element of a lane where a loop goes through a piece of a length, and how far it is to its next one."""
    return loop.start * cuda.LANES + cuda.LANE, cuda.LANES * loop.step


def _copies(loop: Loop, short: bool) -> int:
    """The elements of a loop that a lane takes in one turn: fewer where many sums are in registers beside them."""
    copies, items = unrolling(loop, wide=not short), [item for _, item in loop.body.items]
    words = sum(item.dtype.itemsize // 4 for item in items if isinstance(item, Load))
    several = sum(isinstance(item, Accumulate) for item in items) >= SEVERAL
    while several and copies > 1 and copies * words > LOADED:
        copies //= 2
    return copies


def _copies_of_columns(loop: Loop) -> int:
    """The same where columns are reduced: each thread has its own, and must have many loads under way.

    Partial results are for few threads, which should not need more registers than those that find them.
    """
    items = [item for _, item in loop.body.items]
    words = sum(max(1, item.dtype.itemsize // 4) for item in items if isinstance(item, Load))
    copies = unrolling(loop)
    if loop.step > 1 and copies > 1 and words and len(items) <= BRIEF:
        return max(copies, FEW // words)
    while copies > 1 and copies * words > FEW:
        copies //= 2
    return copies


def _fixed(loop: Loop, rows: Loop, body: Items, grid: Grid) -> Items:
    """A loop whose length is known: a lane takes few elements, and adds up those in float32 first."""
    turn = Name(f"turn_{loop.index}")
    starts, body, ends = narrowed(loop, rows.body, body)
    body = (If(Name(loop.index) < loop.length, body),) if grid.may_end(loop, rows) else body
    body = let(loop.index, grid.element(loop, rows, turn)), *body
    return *starts, For(turn.id, Constant(grid.turns(loop, rows)), body), *ends


def _combined_over_lanes(block: Block, level: int, rows: Loop, grid: Grid) -> Iterator[Item]:
    """Combine the lanes' results of a level pairwise, all in one go, so that each lane has the same ones."""
    taken = list(_taken(block, level, grid))
    if not taken:
        return
    blocks = grid.takes_blocks(rows)
    known = grid.columns.get(rows) or grid.lanes.get(rows)
    lanes = Constant(known) if known else cuda.LANES
    yield from over_lanes(taken, cuda.lowest(lanes, WARP) if blocks else lanes, cuda.MASK)
    if blocks:
        of_row, warp = Name("of_row"), cuda.THREAD // WARP
        places = [warp, *(warp + number * WARPS for number in range(1, len(taken)))]
        left = [to_shared(each, of_row[place]) for each, place in zip(taken, places, strict=True)]
        found = [item for place, each in enumerate(taken) for item in of_warps(each, of_row, place)]
        yield If(cuda.LANES > WARP, (*left, cuda.SYNC, *found, cuda.SYNC))


def _taken(block: Block, level: int, grid: Grid) -> Iterator[Accumulate]:
    """What lanes combine of the results of a level: each has a last one, or the first lane, which stores it."""
    loops = [loop for loop in block.every_loop() if not (loop.sequential and grid.is_deep(loop))]
    for item in block.statements(level):
        name = item.accumulator if isinstance(item, Total) else None
        own = {sums.op: sums for loop in loops for sums in loop.sums(block) if sums.name == name}
        if own and "last" not in own:
            (one,) = own.values()
            yield one
