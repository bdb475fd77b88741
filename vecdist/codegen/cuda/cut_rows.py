"""Cut rows: a few long rows of running results are cut into pieces, each for a block, in two passes of one launch.

In the first pass blocks find what their piece does to a result; when all have, each takes in the pieces before its own,
and stores the results.  The cuts depend on nothing but lengths, and so do the bits.
"""

from __future__ import annotations

from collections.abc import Iterator

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.cooperative_groups import group
from vecdist.codegen.cuda.grid import PIECES, THREADS, Grid, cut_counter
from vecdist.codegen.cuda.prefix_sums import BASE_LANE, changed, scan, stretches, totals, whole
from vecdist.codegen.cuda.reductions import PARTIALS, barrier, begun
from vecdist.codegen.cuda.tiling import in_order
from vecdist.codegen.statements import Item, Items
from vecdist.kernel.code import Code, For, If, Set, let
from vecdist.kernel.expressions import Constant, Element, Expr, Name, word
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Accumulate

PIECE, CUT, WIDTH, START, STOP = map(Name, ("piece", "cut", "width", "start", "stop"))


def known_cut(threads: Name) -> Iterator[Code]:
    """The lanes of a row, and into how many pieces it is cut: as many as blocks share it."""
    yield let("cut", word("max")(threads // THREADS, 1))
    yield let("lanes", cuda.lowest(threads, THREADS))


def cut_rows(rows: Loop, grid: Grid) -> Items:
    """A loop over rows that are nothing but one loop of running results."""
    (along,) = rows.body.every_loop()
    sums, tile = along.sums(rows.body), CUT * stretches(along) * cuda.LANES
    left = [Set(place, part) for item in sums for place, part in _left(item, PIECE, grid)]
    first = *totals(along, rows, grid, START, STOP), If(cuda.LANE.equals(0), tuple(left))
    behind = {item: [place for place, _ in _left(item, Name(rows.index) * CUT + BASE_LANE, grid)] for item in sums}
    earlier = changed(behind, PIECE - Name(rows.index) * CUT, rows, along.index, grid)
    second = *begun(sums), *earlier, *scan(along, rows, grid, START, STOP)
    return (
        *group(rows, takes_blocks=True),
        let("width", (along.length + tile - 1) // tile * (tile // CUT)),
        If(CUT > 1, (_pieces(rows, along, first), *barrier(cut_counter(grid, rows)))),
        _pieces(rows, along, second),
    )


def _pieces(rows: Loop, along: Loop, body: Items) -> For[Item]:
    """The pieces of all rows, each a group's."""
    row = Name(rows.index)
    start = let(row.id, PIECE // CUT), let("start", (PIECE - row * CUT) * WIDTH)
    stop = let("stop", cuda.lowest(START + WIDTH, along.length))
    turn = *start, stop, *in_order(rows.body), *body
    return For("piece", rows.length * CUT, turn, cuda.FIRST // cuda.LANES, cuda.STEP // cuda.LANES)


def _left(item: Accumulate, piece: Expr, grid: Grid) -> Iterator[tuple[Element, Expr]]:
    """Where a piece leaves what it does to a result, behind the partial results of blocks, and that."""
    change = whole(item)
    for name, part in zip(change.parts, change.to_memory(), strict=True):
        place = Constant(PIECES * grid.piece_parts.index(name.id)) + piece
        yield PARTIALS[Constant(len(grid.sums)) * cuda.BLOCKS + place], part
