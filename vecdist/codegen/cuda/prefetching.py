"""Software prefetch: what the next tile, or the next row, reads is on its way while one is computed.

Loads that no value of a row names are made one row ahead, and what does not vary with the row is loaded once, where
all of that fits in registers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import ELEMENTS_OF_LANE, Grid
from vecdist.codegen.cuda.spelling import loaded
from vecdist.codegen.cuda.tiling import AHEAD, BASE, BEHIND, Tile
from vecdist.codegen.cuda.unroll_and_jam import loads
from vecdist.codegen.cuda.vectorisation import VECTOR, WORD
from vecdist.codegen.statements import Item, Items, dense_offset, load_offset, typed_zero
from vecdist.kernel.code import For, If, Set, let, replaced
from vecdist.kernel.expressions import ZERO, Constant, Expr, Name, Several, joined, names, operation, substituted, word
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Load, array_name, renamed

TURN = Name("turn")
WORDS = 40  # registers of a thread for what is loaded ahead
WORDS_OF_WIDE = 80  # the same where rows are so wide that most of a lane's registers are for them
WORDS_OF_DEEP = 160  # the same where there are loops inside those that lanes share, each element of which is used often


def tile_ahead(tile: Tile) -> tuple[Items, Items]:
    """What comes before a loop over tiles, and in the place of a tile's loads: what is known, and the next one's."""
    copies = range(tile.copies)
    zeros = [let(f"f_{item.name}_{copy}", typed_zero(item.dtype)) for item in tile.loads() for copy in copies]

    def fetch(turn: Expr) -> Items:
        found = [
            renamed(item, {item.name: Name(f"f_{item.name}_{copy}"), tile.loop.index: tile.element(AHEAD, copy)})
            for item in tile.loads()
            for copy in copies
        ]
        there = AHEAD + tile.width <= tile.end
        there = joined("and", [there, turn < tile.loop.length]) if tile.backward else there
        return let("ahead", tile.begins(turn)), If(there, tuple(found))

    def known(item: Item) -> Items | None:
        return (let(item.name, Name(f"f_{item.name}")),) if isinstance(item, Load) else None

    now, turn = replaced(loads(tile), known), BEHIND if tile.backward else BASE
    return (*zeros, *fetch(cuda.BLOCK * tile.width)), (*now, *fetch(turn + cuda.BLOCKS * tile.width))


@final
@dataclass(frozen=True)
class Along:
    """A loop of a row, and how many elements of it a lane takes: a share, or all where it lies inside another."""

    loop: Loop
    count: int
    shared: bool

    @property
    def number(self) -> Name:
        """Which of these elements is the current one."""
        return Name(f"turn_{self.loop.index}" if self.shared else self.loop.index)

    def fetched(self, rows: Loop, grid: Grid, body: Items, loop: str, step: int) -> Items:
        """What fetches an element, for these, every so many; ``loop`` is the name of their number."""
        if self.shared and grid.may_end(self.loop, rows):
            body = (If(self.place(rows, loop, grid) < self.loop.length, body),)
        return (For(loop, Constant(self.count), body, ZERO, Constant(step) if step > 1 else None),)

    def place(self, rows: Loop, loop: str, grid: Grid) -> Expr:
        """The index of an element of this number."""
        return grid.element(self.loop, rows, Name(loop)) if self.shared else Name(loop)


@final
@dataclass(frozen=True)
class Ahead:
    """A load made before its row begins: of one element, or of those of a lane along loops, each inside the one before.

    It ``moves`` where it varies with the row; ``name`` is that of the first load of the same elements.
    """

    item: Load
    along: tuple[Along, ...]
    moves: bool
    name: str

    @property
    def count(self) -> int:
        return math.prod(each.count for each in self.along)

    @property
    def words(self) -> int:
        return self.count * max(1, self.item.dtype.itemsize // 4) * (2 if self.moves else 1)

    @property
    def fetched(self) -> str:
        """The name of what was loaded ahead."""
        return f"{'f' if self.moves else 'g'}_{self.name}"

    @property
    def known(self) -> Name:
        """What was loaded, of the row that is computed."""
        return Name(f"g_{self.name}")

    @property
    def aligned(self) -> Name:
        """Whether neighbours can be loaded in one instruction."""
        return Name(f"whole_{self.name}")

    def neighbours(self, rows: Loop, grid: Grid) -> int:
        """How many elements that lie side by side, in memory and in registers, are loaded in one instruction."""
        item, last = self.item, self.along[-1] if self.along else None
        slot = grid.kernel.slot_of(item.source)
        if last is None or slot.layout != "dense" or item.indices[-1] != Name(last.loop.index):
            return 1
        if slot.shape[-1] != last.loop.dim:
            return 1  # rows of the array are longer than those of the loop, and may begin anywhere
        if last.shared and (grid.lanes[rows] > 1 or grid.may_end(last.loop, rows)):
            return 1
        return math.gcd(last.count, VECTOR // item.dtype.itemsize) if item.dtype.itemsize >= WORD else 1

    def register(self, numbers: Sequence[Name]) -> Expr:
        """Where the element of these numbers is kept."""
        return dense_offset(numbers, [Constant(each.count) for each in self.along])


def loads_ahead(rows: Loop, bodies: Mapping[Loop, Items], grid: Grid) -> list[Ahead]:
    """The loads of a row that can be made before it begins, as far as registers go."""
    if rows not in grid.lanes or rows in grid.by_block:
        return []
    found = [
        Ahead(item, (), True, item.name) for item in _free([item for _, item in rows.body.items], {rows.index}, grid)
    ]
    same: dict[tuple, str] = {}
    deep = False
    for inner in rows.body.every_loop():
        if not inner.sequential:
            along = (Along(inner, grid.turns(inner, rows), True),)
            found += _along(bodies.get(inner) or _items(inner), along, rows, same, grid)
            for each in inner.body.every_loop():
                if not each.sequential:
                    deep = True
                    inside = (*along, Along(each, grid.fixed[each.dim], False))
                    found += _along(_items(each), inside, rows, same, grid)
    wide = any(grid.turns(inner, rows) > ELEMENTS_OF_LANE for inner in rows.body.every_loop()) or grid.is_jammed(rows)
    return _fitting(found, WORDS_OF_DEEP if deep else WORDS_OF_WIDE if wide else WORDS)


def _items(loop: Loop) -> list[object]:
    return [item for _, item in loop.body.items]


def _along(
    items: Sequence[object], along: tuple[Along, ...], rows: Loop, same: dict[tuple, str], grid: Grid
) -> Iterator[Ahead]:
    """The loads of a body whose places depend on its row and on these loops alone; ``same`` are known ones."""
    known = {each.loop.index: Name(f"{each.loop.dim} {'shared' if each.shared else 'whole'}") for each in along}
    for item in _free(items, {rows.index, *known}, grid):
        used = set(names(*item.indices))
        varying = tuple([each for each in along if each.loop.index in used]) if along[1:] else along
        places = tuple([substituted(index, known) for index in item.indices])
        key = item.source, places, tuple([(each.loop.dim, each.shared) for each in varying])
        name = same.setdefault(key, item.name)
        yield Ahead(item, varying, rows.index in used, name)


def _free(items: Sequence[object], known: set[str], grid: Grid) -> list[Load]:
    """The loads whose places depend on loops in ``known`` alone."""
    found = [item for item in items if isinstance(item, Load) and isinstance(item.source, int) and item.indices]
    given = known.union(grid.kernel.lengths)
    return [
        item for item in found if given.issuperset(names(*item.indices)) and not item.guard and item.dtype.kind != "b"
    ]


def _fitting(found: Sequence[Ahead], room: int) -> list[Ahead]:
    """As many as there are registers for, those of rows to come first."""
    kept = dict[str, list[Ahead]]()
    for each in sorted(found, key=lambda each: (not each.moves, not each.along)):
        if each.name in kept or each.words <= room:
            room -= 0 if each.name in kept else each.words
            kept.setdefault(each.name, []).append(each)
    return [each for few in kept.values() for each in few]


def prefetched(row: Items, found: Sequence[Ahead], rows: Loop, grid: Grid) -> tuple[Items, Items]:
    """What comes before the loop over rows, and the body of that, which loads for the next row."""
    first = [each for each in found if each.name == each.item.name]
    moving = [each for each in first if each.moves]
    before = [item for each in first for item in _registers(each, rows, grid)]
    before += [item for each in first if not each.moves for item in _fetch(each, rows, grid)]
    arrived = [_arrived(each) for each in moving]
    first_row, step = grid.rows_of_group(rows)
    next_row = first_row, Name(rows.index) + step
    now, later = (_fetch_row(moving, rows, row, grid) if moving else () for row in next_row)
    return (*before, *now), (*arrived, *later, *_known(row, found))


def _known(row: Items, found: Sequence[Ahead]) -> Items:
    """The statements of a row with what was loaded ahead in the place of loads."""
    ahead = {each.item: each for each in found}

    def rule(item: Item) -> Items | None:
        if not (isinstance(item, Load) and item in ahead):
            return None
        each = ahead[item]
        if not each.along:
            found = Name(each.name if each.moves else each.fetched)
            return () if found.id == item.name else (let(item.name, found),)
        return (let(item.name, each.known[each.register([along.number for along in each.along])]),)

    return replaced(row, rule)


def _registers(each: Ahead, rows: Loop, grid: Grid) -> Iterator[Set]:
    """The registers of a load, and whether it may be of neighbours."""
    if each.neighbours(rows, grid) > 1:
        yield let(each.aligned.id, word("aligned")(Name(array_name(each.item.source))))
    if not each.along:
        yield let(each.fetched, typed_zero(each.item.dtype))
        return
    for name in dict.fromkeys((each.fetched, each.known.id)):
        yield cuda.local_array(name, each.count, cuda.memory_type(each.item.dtype))


def _fetch_row(moving: Sequence[Ahead], rows: Loop, row: Expr, grid: Grid) -> Items:
    """The loads of a later row, if there is one."""
    fetched = tuple([item for each in moving for item in _fetch(each, rows, grid)])
    return let("ahead", row), If(operation("<", AHEAD, rows.length), fetched)


def _fetch(each: Ahead, rows: Loop, grid: Grid) -> Items:
    """The load for each element of a lane, into registers."""
    item = each.item
    if not each.along:
        return (renamed(item, {rows.index: AHEAD, item.name: Name(each.fetched)}),)
    numbers = ["turn", "turn_inside"][: len(each.along)]
    pairs = [*zip(each.along, numbers, strict=True)]
    meanings = {along.loop.index: along.place(rows, name, grid) for along, name in pairs}
    load = item.mapped(lambda index: substituted(index, {rows.index: AHEAD, **meanings}))
    place = each.register([*map(Name, numbers)])
    whole: Items = (Set(Name(each.fetched)[place], loaded(load, grid.kernel)),)
    found = _in_loops(each, numbers, whole, 1, rows, grid)
    count = each.neighbours(rows, grid)
    if count == 1:
        return found
    targets = tuple([Name(each.fetched)[place + beside] for beside in range(count)])
    vector = word(f"load_{count}")(Name(array_name(item.source)), load_offset(load, grid.kernel))
    few: Items = (Set(Several(targets), vector),)
    return (If(each.aligned, _in_loops(each, numbers, few, count, rows, grid), found),)


def _in_loops(each: Ahead, numbers: Sequence[str], body: Items, step: int, rows: Loop, grid: Grid) -> Items:
    """What is done for the elements of a lane, of the innermost loop every so many of them."""
    for along, name in reversed([*zip(each.along, numbers, strict=True)]):
        body = along.fetched(rows, grid, body, name, step)
        step = 1
    return body


def _arrived(each: Ahead) -> Item:
    """What was loaded ahead is that of the row that begins."""
    if not each.along:
        return let(each.item.name, Name(each.fetched))
    return For("turn", Constant(each.count), (Set(each.known[TURN], Name(each.fetched)[TURN]),))
