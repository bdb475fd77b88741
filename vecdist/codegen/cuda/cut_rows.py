"""Cut rows: a few long rows of running results are cut into pieces, each for a block, in two passes of one launch.

In the first it is found what a piece does to a result; in the second each takes in the pieces before its own, and its
results are stored.  Rows across memory, whose neighbours lie side by side, are cut into pieces of a thread each: these
are too many to be taken in again by each, so that a block for each row does so in between.  The cuts depend on nothing
but lengths, and so do the bits.
"""

from __future__ import annotations

from collections.abc import Iterator

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.cooperative_groups import group, lane_of
from vecdist.codegen.cuda.grid import THREADS, Grid, cut_counter, is_across
from vecdist.codegen.cuda.prefix_sums import BASE_LANE, changed, depth, scan, totals, whole
from vecdist.codegen.cuda.reductions import PARTIALS, barrier, begun
from vecdist.codegen.cuda.running_results import of_number
from vecdist.codegen.cuda.tiling import in_order
from vecdist.codegen.statements import Item, Items
from vecdist.kernel.code import Code, For, If, Set, let
from vecdist.kernel.expressions import Constant, Element, Expr, Name
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Accumulate

PIECE, CUT, WIDTH, START, STOP = map(Name, ("piece", "cut", "width", "start", "stop"))


def known_cut(loop: Loop) -> Iterator[Code]:
    """Into how many pieces a row is cut, and the lanes of one."""
    yield let("cut", Name(f"cut_{loop.index}"))
    yield let("lanes", Name(f"lanes_{loop.index}") // CUT)


def cut_rows(rows: Loop, grid: Grid) -> Items:
    """A loop over rows that are nothing but one loop of running results."""
    (along,) = rows.body.every_loop()
    sums, tile = along.sums(rows.body), CUT * depth(along) * cuda.LANES
    left = [Set(place, part) for item in sums for place, part in _left(item, PIECE, grid)]
    first = *totals(along, rows, grid, START, STOP), If(cuda.LANE.equals(0), tuple(left))
    counter = cut_counter(grid, rows)
    between = (*_each_row(rows, along, grid), *barrier(counter + 1)) if is_across(rows) else ()
    second = *_before(rows, along, grid), *scan(along, rows, grid, START, STOP)
    return (
        *group(rows, grid, takes_blocks=True),
        let("width", (along.length + tile - 1) // tile * (tile // CUT)),
        If(CUT > 1, (_pieces(rows, along, first), *barrier(counter), *between)),
        _pieces(rows, along, second),
    )


def _before(rows: Loop, along: Loop, grid: Grid) -> Iterator[Item]:
    """What results are before a piece."""
    sums = along.sums(rows.body)
    yield from begun(sums)
    if is_across(rows):
        places = [next(_left(item, PIECE, grid))[0] for item in sums]
        pairs = zip(sums, places, strict=True)
        yield If(CUT > 1, tuple([let(item.name, of_number(item, place)) for item, place in pairs]))
    else:
        yield from changed(_places(rows, along, grid), PIECE // rows.length, rows, along.index, grid)


def _places(rows: Loop, along: Loop, grid: Grid) -> dict[Accumulate, list[Element]]:
    """Where the pieces of a row have left what they do to results: of each lane one."""
    piece = BASE_LANE * rows.length + Name(rows.index)
    return {item: [place for place, _ in _left(item, piece, grid)] for item in along.sums(rows.body)}


def _each_row(rows: Loop, along: Loop, grid: Grid) -> Iterator[Item]:
    """A block for each row finds what results are before each of its pieces."""
    sums = along.sums(rows.body)
    body = *begun(sums), *changed(_places(rows, along, grid), CUT, rows, along.index, grid, each=True)
    yield from (let("lanes", Constant(THREADS)), *lane_of(takes_blocks=True))
    yield For(rows.index, rows.length, body, cuda.BLOCK, cuda.BLOCKS)
    yield from (*known_cut(rows), *lane_of(takes_blocks=True))


def _pieces(rows: Loop, along: Loop, body: Items) -> For[Item]:
    """The pieces of all rows, each a group's: first ones first."""
    row = let(rows.index, PIECE % rows.length)
    start, stop = let("start", PIECE // rows.length * WIDTH), let("stop", cuda.lowest(START + WIDTH, along.length))
    turn = row, start, stop, *in_order(rows.body), *body
    return For("piece", rows.length * CUT, turn, cuda.FIRST // cuda.LANES, cuda.STEP // cuda.LANES)


def _left(item: Accumulate, piece: Expr, grid: Grid) -> Iterator[tuple[Element, Expr]]:
    """Where a piece leaves what it does to a result, behind the partial results of blocks, and that."""
    change = whole(item)
    for name, part in zip(change.parts, change.to_memory(), strict=True):
        place = Constant(grid.piece_parts[name.id]) + piece
        yield PARTIALS[Constant(len(grid.sums)) * cuda.BLOCKS + place], part
