"""Software prefetch: what the next tile, or the next row, reads is on its way while one is computed.

Loads that no value of a row names are made one row ahead, and what does not vary with the row is loaded once, where
all of that fits in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import Grid
from vecdist.codegen.cuda.spelling import loaded
from vecdist.codegen.cuda.tiling import AHEAD, BASE, Tile
from vecdist.codegen.cuda.unroll_and_jam import loads
from vecdist.codegen.statements import Item, Items, typed_zero
from vecdist.kernel.code import For, If, Set, let, replaced
from vecdist.kernel.expressions import Constant, Expr, Name, names, operation, substituted
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Load, renamed

TURN = Name("turn")
WORDS = 40  # registers of a thread for what is loaded ahead


def tile_ahead(tile: Tile) -> tuple[Items, Items]:
    """What comes before a loop over tiles, and in the place of a tile's loads: what is known, and the next one's."""
    copies = range(tile.copies)
    zeros = [let(f"f_{item.name}_{copy}", typed_zero(item.dtype)) for item in tile.loads() for copy in copies]

    def fetch(base: Expr) -> Items:
        found = [
            renamed(item, {item.name: Name(f"f_{item.name}_{copy}"), tile.loop.index: tile.element(AHEAD, copy)})
            for item in tile.loads()
            for copy in copies
        ]
        return let("ahead", base), If(AHEAD + tile.width <= tile.end, tuple(found))

    def known(item: Item) -> Items | None:
        return (let(item.name, Name(f"f_{item.name}")),) if isinstance(item, Load) else None

    now = replaced(loads(tile), known)
    return (*zeros, *fetch(cuda.BLOCK * tile.width)), (*now, *fetch(BASE + cuda.BLOCKS * tile.width))


@final
@dataclass(frozen=True)
class Ahead:
    """A load made before its row begins: of one element, or of those of a lane along an inner loop.

    It ``moves`` where it varies with the row; ``name`` is that of the first load of the same elements.
    """

    item: Load
    loop: Loop | None
    turns: int
    moves: bool
    name: str

    @property
    def words(self) -> int:
        return self.turns * max(1, self.item.dtype.itemsize // 4) * (2 if self.moves else 1)

    @property
    def fetched(self) -> str:
        """The name of what was loaded ahead."""
        return f"{'f' if self.moves else 'g'}_{self.name}"

    @property
    def known(self) -> Name:
        """What was loaded, of the row that is computed."""
        return Name(f"g_{self.name}")


def loads_ahead(rows: Loop, bodies: Mapping[Loop, Items], grid: Grid) -> list[Ahead]:
    """The loads of a row that can be made before it begins, as far as registers go."""
    if rows not in grid.lanes:
        return []
    found = [
        Ahead(item, None, 1, True, item.name)
        for item in _free([item for _, item in rows.body.items], {rows.index}, grid)
    ]
    same: dict[tuple, str] = {}
    for inner in rows.body.every_loop():
        if not inner.sequential:
            items = bodies.get(inner) or [item for _, item in inner.body.items]
            for item in _free(items, {rows.index, inner.index}, grid):
                places = tuple([substituted(index, {inner.index: Name(inner.dim)}) for index in item.indices])
                name = same.setdefault((item.source, places), item.name)
                moves = rows.index in names(*item.indices)
                found.append(Ahead(item, inner, grid.turns(inner, rows), moves, name))
    return _fitting(found)


def _free(items: Sequence[object], known: set[str], grid: Grid) -> list[Load]:
    """The loads whose places depend on loops in ``known`` alone."""
    found = [item for item in items if isinstance(item, Load) and isinstance(item.source, int) and item.indices]
    given = known.union(grid.kernel.lengths)
    return [
        item for item in found if given.issuperset(names(*item.indices)) and not item.guard and item.dtype.kind != "b"
    ]


def _fitting(found: Sequence[Ahead]) -> list[Ahead]:
    """As many as there are registers for, those of rows to come first."""
    room, kept = WORDS, dict[str, list[Ahead]]()
    for each in sorted(found, key=lambda each: (not each.moves, each.loop is None)):
        if each.name in kept or each.words <= room:
            room -= 0 if each.name in kept else each.words
            kept.setdefault(each.name, []).append(each)
    return [each for few in kept.values() for each in few]


def prefetched(row: Items, found: Sequence[Ahead], rows: Loop, grid: Grid) -> tuple[Items, Items]:
    """What comes before the loop over rows, and the body of that, which loads for the next row."""
    first = [each for each in found if each.name == each.item.name]
    moving = [each for each in first if each.moves]
    before = [item for each in first for item in _registers(each)]
    before += [item for each in first if not each.moves for item in _fetch(each, rows, grid)]
    arrived = [_arrived(each) for each in moving]
    next_row = cuda.FIRST // cuda.LANES, Name(rows.index) + cuda.STEP // cuda.LANES
    now, later = (_fetch_row(moving, rows, row, grid) if moving else () for row in next_row)
    return (*before, *now), (*arrived, *later, *_known(row, found))


def _known(row: Items, found: Sequence[Ahead]) -> Items:
    """The statements of a row with what was loaded ahead in the place of loads."""
    ahead = {each.item: each for each in found}

    def rule(item: Item) -> Items | None:
        if not (isinstance(item, Load) and item in ahead):
            return None
        loop = ahead[item].loop
        return () if loop is None else (let(item.name, ahead[item].known[Name(f"turn_{loop.index}")]),)

    return replaced(row, rule)


def _registers(each: Ahead) -> Iterator[Set]:
    """The registers of a load."""
    if each.loop is None:
        yield let(each.fetched, typed_zero(each.item.dtype))
        return
    for name in dict.fromkeys((each.fetched, each.known.id)):
        yield cuda.local_array(name, each.turns, cuda.memory_type(each.item.dtype))


def _fetch_row(moving: Sequence[Ahead], rows: Loop, row: Expr, grid: Grid) -> Items:
    """The loads of a later row, if there is one."""
    fetched = tuple([item for each in moving for item in _fetch(each, rows, grid)])
    return let("ahead", row), If(operation("<", AHEAD, rows.length), fetched)


def _fetch(each: Ahead, rows: Loop, grid: Grid) -> Items:
    """The load for each turn of a lane, into registers."""
    item = each.item
    if each.loop is None:
        return (renamed(item, {rows.index: AHEAD, item.name: Name(each.fetched)}),)
    place, length = cuda.LANE + Constant(grid.lanes[rows]) * TURN, grid.fixed[each.loop.dim]
    meanings = {rows.index: AHEAD, each.loop.index: place}
    load = item.mapped(lambda index: substituted(index, meanings))
    body: Items = (Set(Name(each.fetched)[TURN], loaded(load, grid.kernel)),)
    return (For("turn", Constant(each.turns), (If(place < length, body),) if length % grid.lanes[rows] else body),)


def _arrived(each: Ahead) -> Item:
    """What was loaded ahead is that of the row that begins."""
    if each.loop is None:
        return let(each.item.name, Name(each.fetched))
    return For("turn", Constant(each.turns), (Set(each.known[TURN], Name(each.fetched)[TURN]),))
