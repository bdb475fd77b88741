"""Prefix sums: a loop in order whose steps are associative is shared by the lanes of a row, tile by tile.

A tile is a few stretches of as many elements as there are lanes.  By shuffles each lane learns what pairs, fours and so
on of a stretch come to, and what comes before its own element; warps of a block learn it from shared memory; then the
stretches are taken in one after another.  The order depends on nothing but lengths, and so do the bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import WARP, WARPS, Grid, parts
from vecdist.codegen.cuda.reductions import HOP, OTHER, combined
from vecdist.codegen.cuda.tiling import BASE, Tile, sequential, unrolling
from vecdist.codegen.statements import ACCUMULATOR, Item, Items, start
from vecdist.kernel.code import For, If, Set, While, let
from vecdist.kernel.expressions import ONE, ZERO, Choice, Constant, Expr, Name, operation, substituted, word
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Accumulate, Made, Statement, Store, Total, renamed

EXCHANGED = 4  # numbers that lanes tell each other at once: loads in flight, as far as registers go
INFINITY = word("np.inf")
BASE_LANE = BASE + cuda.LANE
WARP_OF = cuda.THREAD // WARP  # the number of a thread's warp in its block


@final
@dataclass(frozen=True)
class Change:
    """What some elements make of a running result: they add a value, which they multiply by a factor first if linear.

    Its parts, the value and the factor, have names that begin with ``kind``.
    """

    item: Accumulate
    kind: str

    @property
    def parts(self) -> tuple[Name, ...]:
        return tuple(map(Name, parts(self.item, self.kind)))

    @property
    def none(self) -> tuple[Expr, ...]:
        """The parts of what changes nothing."""
        return (start(self.item), Constant(1.0))[: len(self.parts)]

    def set(self, parts: Sequence[Expr]) -> Items:
        """Give it these parts."""
        return tuple([Set(name, part) for name, part in zip(self.parts, parts, strict=True)])

    def after(self, before: Sequence[Expr]) -> tuple[Expr, ...]:
        """The parts of this change behind another one, or the value of a result that is changed."""
        value, *factor = self.parts
        if not factor:
            return (combined(self.item.op, self.item.dtype.kind, before[0], value),)
        found = _times(factor[0], before[0], _gone(before[0], factor[0])) + value
        either = (operation("or", _gone(each, factor[0]), _gone(factor[0], each)) for each in before[1:])
        return found, *(_times(factor[0], *each) for each in zip(before[1:], either, strict=True))

    def to_memory(self) -> list[Expr]:
        """Its parts as shuffles and shared memory take them, which is as float64."""
        whole = self.item.dtype.kind != "f"
        return [word("as_f8")(word("i8")(part)) if whole else part for part in self.parts]

    def from_memory(self, found: Sequence[Expr]) -> Items:
        whole = None if self.item.dtype.kind == "f" else Name(ACCUMULATOR[self.item.dtype.kind])
        return self.set(found if whole is None else [whole(word("as_i8")(part)) for part in found])


def _times(factor: Expr, other: Expr, gone: Expr) -> Expr:
    """A factor of some elements times what comes before; 0 where that is ``gone``."""
    return Choice(gone, Constant(0.0), factor * other)


def _gone(zero: Expr, factor: Expr) -> Expr:
    """Whether a factor is infinite, perhaps as a product that overflows, of what is 0."""
    infinite = operation("or", factor.equals(INFINITY), factor.equals(operation("neg", INFINITY)))
    return operation("and", zero.equals(0), infinite)


@final
@dataclass(frozen=True)
class Stretch:
    """One stretch of a tile, for one running result: all of it, a lane's share of it, and what another lane knows."""

    item: Accumulate
    number: int

    @property
    def all(self) -> Change:
        return Change(self.item, f"all{self.number}")

    @property
    def own(self) -> Change:
        """What the elements up to and with a lane's own one make of a result."""
        return Change(self.item, f"own{self.number}")

    @property
    def other(self) -> Change:
        return Change(self.item, f"other{self.number}")


def shared_words(loop: Loop) -> int:
    """How many numbers the warps of a block leave each other."""
    return WARPS * stretches(loop) * _numbers(loop)


def stretches(loop: Loop) -> int:
    """How many stretches a tile has: one, where a body has loops or branches of its own."""
    plain = all(isinstance(item, Statement) for _, item in loop.body.items)
    return min(max(1, EXCHANGED // _numbers(loop)), unrolling(loop)) if plain else 1


def _numbers(loop: Loop) -> int:
    """How many numbers say what elements do to the running results of a loop."""
    assert loop.body.parent is not None
    return sum(len(item.expressions()) for item in loop.sums(loop.body.parent))


def scan(loop: Loop, rows: Loop, grid: Grid, start: Expr = ZERO, stop: Expr | None = None) -> Items:
    """A loop along a row, or from ``start`` to before ``stop`` on it, of which running results are stored.

    They begin with what the names of its sums hold.
    """
    carried = [let(f"c_{item.name}", Name(item.name)) for item in loop.sums(rows.body)]
    return *carried, _tiles(loop, rows, grid, _results, start, stop or loop.length)


def totals(loop: Loop, rows: Loop, grid: Grid, start: Expr, stop: Expr) -> Items:
    """The same loop where only what all of its elements do is asked for: ``whole``."""
    begun = [item for each in loop.sums(rows.body) for item in whole(each).set(whole(each).none)]
    return *begun, _tiles(loop, rows, grid, lambda tile, every, stop: _added(every), start, stop)


def whole(item: Accumulate) -> Change:
    """What all elements between two places of a row make of a result."""
    return Change(item, "whole")


def changed(
    places: Mapping[Accumulate, Sequence[Expr]], count: Expr, rows: Loop, index: str, grid: Grid
) -> Items:
    """Results that change in order as ``count`` changes in memory say; ``places`` hold the parts of a lane's one."""
    every = [Stretch(item, 0) for item in places]
    none = [item for stretch in every for item in stretch.all.set(stretch.all.none)]
    loads = [item for stretch in every for item in stretch.all.from_memory(places[stretch.item])]
    ends = [let(each.item.name, each.all.after([Name(each.item.name)])[0]) for each in every]
    body = *none, If(count > BASE_LANE, tuple(loads)), *_met(every, rows, index, grid), *ends
    return (For("base", count, body, ZERO, cuda.LANES),)


Ends = Callable[[Tile, Sequence[Stretch], Expr], Iterable[Item]]


def _tiles(loop: Loop, rows: Loop, grid: Grid, ends: Ends, start: Expr, stop: Expr) -> For[Item]:
    tile = Tile(loop, stretches(loop), cuda.LANE, cuda.LANES, cuda.MASK)
    every = [Stretch(item, number) for number in range(tile.copies) for item in loop.sums(rows.body)]
    body = *_elements(tile, every, stop), *_met(every, rows, loop.index, grid), *ends(tile, every, stop)
    return For("base", stop, body, start, tile.width)


def _met(every: Sequence[Stretch], rows: Loop, index: str, grid: Grid) -> Iterator[Item]:
    """What lanes learn of each other, and the warps of a block."""
    yield from _over_lanes(every)
    if grid.takes_blocks(rows):
        yield If(cuda.LANES > WARP, tuple(_over_warps(every, Name(f"of_{index}"))))


def _added(every: Sequence[Stretch]) -> Iterator[Item]:
    for stretch in every:
        so_far = whole(stretch.item)
        yield from so_far.set(stretch.all.after(so_far.parts))


def _elements(tile: Tile, every: Sequence[Stretch], stop: Expr) -> Iterator[Item]:
    """What a lane's own elements make of results: nothing, where a tile has more places than are left of the row."""
    names = _names(tile)
    running = {stretch.item.name for stretch in every}
    items = [item for item in sequential(tile.loop.body) if not _is_last(item, running)]
    loads = [item for item in items if item in tile.loads()]
    rest = [item for item in items if item not in loads]
    yield from (let(_place(tile, number).id, tile.element(BASE, number)) for number in range(tile.copies))
    full: list[Item] = [item for own in names for item in _renamed(loads, own)]
    full += [item for own in names for item in _renamed(rest, own)]
    full += [item for stretch in every for item in _taken(stretch, names)]
    few: list[Item] = [item for stretch in every for item in stretch.all.set(stretch.all.none)]
    for number, own in enumerate(names):
        mine = [item for stretch in every if stretch.number == number for item in _taken(stretch, names)]
        few.append(If(_place(tile, number) < stop, (*_renamed([*loads, *rest], own), *mine)))
    yield If(BASE + tile.width <= stop, tuple(full), tuple(few))


def _is_last(item: Item, running: set[str]) -> bool:
    """Whether a statement belongs to the running results themselves, not to what they are of."""
    if isinstance(item, Accumulate):
        return item.name in running
    return isinstance(item, Store) or (isinstance(item, Total) and item.accumulator in running)


def _names(tile: Tile) -> list[dict[str, Name]]:
    """The names of each element of a lane; those of the statements where it has one."""
    if tile.copies == 1:
        return [{}]
    own = {tile.loop.index, *(item.name for item in tile.loop.body.walk() if isinstance(item, Made))}
    return [{name: Name(f"{name}_{number}") for name in own} for number in range(tile.copies)]


def _place(tile: Tile, number: int) -> Name:
    return _names(tile)[number].get(tile.loop.index, Name(tile.loop.index))


def _renamed(items: Sequence[Item], names: dict[str, Name]) -> Items:
    return tuple([renamed(item, names) if isinstance(item, Statement) else item for item in items])


def _taken(stretch: Stretch, names: Sequence[dict[str, Name]]) -> Items:
    """What a lane's own element makes of a result."""
    item, wide = stretch.item, Name(ACCUMULATOR[stretch.item.dtype.kind])
    return stretch.all.set([wide(substituted(part, names[stretch.number])) for part in item.expressions()])


def _over_lanes(every: Sequence[Stretch]) -> Iterator[Item]:
    """What the lanes of a group, or of each of its warps, make of a result, and those up to each of them.

    Lanes learn from neighbours, then pairs from pairs, and so on; the later of two takes in what comes before it.
    """
    for stretch in every:
        yield from stretch.own.set(stretch.all.parts)
    exchanged: list[Item] = []
    later: list[Item] = []
    earlier: list[Item] = []
    for stretch in every:
        found = [cuda.shuffled(cuda.MASK, part, HOP) for part in stretch.all.to_memory()]
        exchanged += stretch.other.from_memory(found)
        later += stretch.own.set(stretch.own.after(stretch.other.parts))
        later += stretch.all.set(stretch.all.after(stretch.other.parts))
        earlier += stretch.all.set(stretch.other.after(stretch.all.parts))
    taken = If((cuda.LANE & HOP) > 0, tuple(later), tuple(earlier))
    yield let("hop", ONE)
    yield While(cuda.lowest(cuda.LANES, WARP) > HOP, (*exchanged, taken, let("hop", HOP * 2)))


def _over_warps(every: Sequence[Stretch], shared: Name) -> Iterator[Item]:
    """The same for the warps of a block, one after another."""
    places = [number * WARPS for number in range(sum(len(stretch.all.parts) for stretch in every))]
    left = [part for stretch in every for part in stretch.all.to_memory()]
    stored = tuple([Set(shared[place + WARP_OF], part) for place, part in zip(places, left, strict=True)])
    yield If((cuda.THREAD % WARP).equals(0), stored)
    yield cuda.SYNC
    ahead = [Change(stretch.item, f"ahead{stretch.number}") for stretch in every]
    for change in (*ahead, *(stretch.all for stretch in every)):
        yield from change.set(change.none)
    found, before, behind = list[Item](), list[Item](), list[Item]()
    for stretch, change in zip(every, ahead, strict=True):
        own, places = places[: len(change.parts)], places[len(change.parts) :]
        found += stretch.other.from_memory([shared[place + OTHER] for place in own])
        before += change.set(stretch.other.after(change.parts))
        behind += stretch.all.set(stretch.other.after(stretch.all.parts))
    yield For("other", Constant(WARPS), (*found, If(OTHER < WARP_OF, tuple(before)), *behind))
    for stretch, change in zip(every, ahead, strict=True):
        yield from stretch.own.set(stretch.own.after(change.parts))
    yield cuda.SYNC


def _results(tile: Tile, every: Sequence[Stretch], stop: Expr) -> Iterator[Item]:
    """The results of a lane's own elements, and of the whole tile."""
    names, running = _names(tile), {stretch.item.name for stretch in every}
    last = [item for item in sequential(tile.loop.body) if _is_last(item, running) and not isinstance(item, Accumulate)]
    for number in range(tile.copies):
        for stretch in every:
            if stretch.number == number:
                carried = Name(f"c_{stretch.item.name}")
                yield let(stretch.item.name, stretch.own.after([carried])[0])
                yield let(carried.id, stretch.all.after([carried])[0])
        yield If(_place(tile, number) < stop, _renamed(last, names[number]))
