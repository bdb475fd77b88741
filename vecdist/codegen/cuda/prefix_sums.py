"""Prefix sums: a loop in order whose steps are associative is shared by the lanes of a row, tile by tile.

A tile has a few elements for each lane.  Lanes read neighbours, and compute what is asked of each element, side by
side; through shared memory they then give each other what is run up, so that each has some that follow one another.
It runs these up by itself.  By shuffles it learns what pairs, fours and so on of lanes come to, and what comes before
its own elements; warps of a block learn it from shared memory.  The results go back the same way.  The order depends
on nothing but lengths, and so do the bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import THREADS, WARP, WARPS, Grid, one_by_one
from vecdist.codegen.cuda.reductions import HOP, OTHER
from vecdist.codegen.cuda.running_results import Change, Lane, as_number, of_number
from vecdist.codegen.cuda.tiling import BASE, Tile, sequential, unrolling
from vecdist.codegen.statements import ACCUMULATOR, Item, Items
from vecdist.kernel.code import For, If, Set, While, let, walk
from vecdist.kernel.expressions import ONE, ZERO, Choice, Constant, Element, Expr, Name, operation, substituted
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Accumulate, Made, Scatter, Statement, Store, Total, renamed

DEEP = 8  # numbers of a lane in a tile: the more, the less lanes have to tell each other, and the more code there is
BASE_LANE = BASE + cuda.LANE
WARP_OF = cuda.THREAD // WARP  # the number of a thread's warp in its block
STAGED, BESIDE, ROOM = map(Name, ("staged", "beside", "room"))


def shared_words(loop: Loop) -> int:
    """How many numbers the warps of a block leave each other."""
    return WARPS * _numbers(loop)


def staged_words(kernel: Kernel) -> int:
    """How many numbers the lanes of a block give each other at once."""
    scans = [loop for _, rows in kernel.shared_nests() for loop in rows.body.every_loop() if is_scan(loop)]
    return max((THREADS * _numbers(loop) * (depth(loop) + 1) for loop in scans if depth(loop) > 1), default=0)


def is_scan(loop: Loop) -> bool:
    """Whether lanes share a loop in order."""
    return loop.sequential and not one_by_one(loop)


def depth(loop: Loop) -> int:
    """How many elements of a tile a lane takes: one, where a body has loops or branches of its own."""
    if not all(isinstance(item, Statement) for _, item in loop.body.items):
        return 1
    most = 1
    while 2 * most * _numbers(loop) <= DEEP:
        most *= 2
    return min(most, unrolling(loop))


def _numbers(loop: Loop) -> int:
    """How many numbers say what elements do to the running results of a loop."""
    assert loop.body.parent is not None
    return sum(len(item.expressions()) for item in loop.sums(loop.body.parent))


def scan(loop: Loop, rows: Loop, grid: Grid, start: Expr = ZERO, stop: Expr | None = None) -> Items:
    """A loop along a row, or from ``start`` to before ``stop`` on it, of which running results are stored.

    They begin with what the names of its sums hold.
    """
    carried = [let(f"c_{item.name}", Name(item.name)) for item in loop.sums(rows.body)]
    return *carried, *_tiles(loop, rows, grid, True, start, stop or loop.length)


def totals(loop: Loop, rows: Loop, grid: Grid, start: Expr, stop: Expr) -> Items:
    """The same loop where only what all of its elements do is asked for: ``whole``."""
    begun = [item for each in loop.sums(rows.body) for item in whole(each).set(whole(each).none)]
    return *begun, *_tiles(loop, rows, grid, False, start, stop)


def whole(item: Accumulate) -> Change:
    """What all elements between two places of a row make of a result."""
    return Change(item, "whole")


def changed(
    places: Mapping[Accumulate, Sequence[Element]], count: Expr, rows: Loop, index: str, grid: Grid, each: bool = False
) -> Items:
    """Results that change in order as ``count`` changes in memory say; ``places`` hold the parts of a lane's one.

    Where ``each`` is asked for, what a result is before a change is left in the first of its places.
    """
    lanes = [Lane(item) for item in places]
    none = [item for lane in lanes for item in lane.all.set(lane.all.none)]
    loads = [item for lane in lanes for item in lane.all.from_memory(places[lane.item])]
    left, ends = list[Item](), list[Item]()
    for lane in lanes:
        item, (place, *_) = lane.item, places[lane.item]
        left.append(Set(place, as_number(item, lane.before.after([Name(item.name)])[0])))
        ends.append(let(item.name, lane.all.after([Name(item.name)])[0]))
    inside = count > BASE_LANE
    body = *none, If(inside, tuple(loads)), *_met(lanes, rows, index, grid)
    body = *body, *([If(inside, tuple(left))] if each else []), *ends
    return (For("base", count, body, ZERO, cuda.LANES),)


def _tiles(loop: Loop, rows: Loop, grid: Grid, stored: bool, start: Expr, stop: Expr) -> Items:
    """A loop over tiles, of which each result is ``stored``, or what they come to is found."""
    tile = Tile(loop, depth(loop), mask=cuda.MASK)
    width = Constant(tile.copies) * cuda.LANES if tile.copies > 1 else cuda.LANES
    lanes = [Lane(item) for item in loop.sums(rows.body)]
    in_order = stored or any(lane.item.factor is not None for lane in lanes)
    body = (
        *_elements(tile, lanes, width, stop),
        *(_run_up(lanes, tile) if in_order else _added_up(lanes, tile)),
        *_met(lanes, rows, loop.index, grid),
        *(_results(tile, lanes, stop) if stored else _taken_in(lanes)),
    )
    return *_layout(tile, in_order), For("base", stop, body, start, width)


def _layout(tile: Tile, in_order: bool) -> Iterator[Item]:
    """Where the first element is that a lane reads, how far it is to its next, and where it leaves what is of them."""
    deep, lane = tile.copies, cuda.LANE % WARP
    yield let("beside", cuda.lowest(cuda.LANES, WARP))
    within = cuda.LANE // WARP * (WARP * deep) + lane
    yield from (let(f"offset{number}", _narrow(within + BESIDE * number)) for number in range(deep))
    if deep > 1 and in_order:  # nobody meets anybody in a bank of shared memory
        first = (cuda.THREAD - lane) * (deep + 1)
        for number in range(deep):
            yield let("place", BESIDE * number + lane)
            yield let(f"left{number}", first + Name("place") + Name("place") // deep)


def _met(lanes: Sequence[Lane], rows: Loop, index: str, grid: Grid) -> Iterator[Item]:
    """What lanes learn of each other, and the warps of a block."""
    yield from _over_lanes(lanes)
    if grid.takes_blocks(rows):
        yield If(cuda.LANES > WARP, tuple(_over_warps(lanes, Name(f"of_{index}"))))


def _taken_in(lanes: Sequence[Lane]) -> Iterator[Item]:
    for lane in lanes:
        so_far = whole(lane.item)
        yield from so_far.set(lane.all.after(so_far.parts))


def _elements(tile: Tile, lanes: Sequence[Lane], width: Expr, stop: Expr) -> Iterator[Item]:
    """What elements do to results; where a tile has more places than are left of the row, the last one, and nothing.

    So loads need no branches, and are on their way together.
    """
    names = _names(tile)
    running = {lane.item.name for lane in lanes}
    items = [item for item in sequential(tile.loop.body) if not _is_last(item, running)]
    loads = [item for item in items if item in tile.loads()]
    rest = [item for item in items if item not in loads]
    yield let("room", _narrow(cuda.lowest(stop - BASE, width)))
    yield let("final", _narrow(ROOM - 1))
    for number in range(tile.copies):
        offset = Name(f"offset{number}")
        yield let(_inside(number).id, operation("<", offset, ROOM))
        yield let(_place(tile, number).id, BASE + _wide(cuda.lowest(offset, Name("final"))))
    yield from (item for own in names for item in _renamed(loads, own))
    for number, own in enumerate(names):
        for item in _renamed(rest, own):
            yield If(_inside(number), (item,)) if any(isinstance(each, Scatter) for each in walk((item,))) else item
        for lane in lanes:
            wide, change = Name(ACCUMULATOR[lane.item.dtype.kind]), lane.read(number)
            found = [wide(substituted(part, own)) for part in lane.item.expressions()]
            pairs = zip(found, change.none, strict=True)
            yield from change.set([Choice(_inside(number), part, none) for part, none in pairs])


def _narrow(place: Expr) -> Expr:
    """A place in a tile as int32: so many of them fit in registers, and take few instructions."""
    return Name("i4")(place)


def _wide(place: Expr) -> Expr:
    return Name("i8")(place)


def _inside(number: int) -> Name:
    """Whether an element belongs to the row."""
    return Name(f"inside{number}")


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


def _added_up(lanes: Sequence[Lane], tile: Tile) -> Iterator[Item]:
    """What the elements come to that a lane has read, where their order does not matter."""
    for lane in lanes:
        yield from lane.all.set(lane.read(0).parts)
        for number in range(1, tile.copies):
            yield from lane.all.set(lane.read(number).after(lane.all.parts))


def _run_up(lanes: Sequence[Lane], tile: Tile) -> Iterator[Item]:
    """What elements that follow one another do to results, each with those of the lane before it, and all of them."""
    numbers = range(tile.copies)
    for number in numbers:
        for lane in lanes:
            yield from lane.own(number).set(lane.read(number).parts)
    yield from _exchanged(tile, _parts(lanes, tile, slice(None)), to_run=True)
    for lane in lanes:
        for number in numbers[1:]:
            yield from lane.own(number).set(lane.own(number).after(lane.own(number - 1).parts))
        yield from lane.all.set(lane.own(tile.copies - 1).parts)


def _parts(lanes: Sequence[Lane], tile: Tile, chosen: slice) -> list[Exchanged]:
    """The numbers that say what the elements of a lane do to results: all, or values alone."""
    found, size = [], THREADS * (tile.copies + 1)
    for lane in lanes:
        names = [lane.own(number).parts[chosen] for number in range(tile.copies)]
        for each in zip(*names, strict=True):
            found.append(Exchanged(lane.item, each, Constant(len(found) * size)))
    return found


@final
@dataclass(frozen=True)
class Exchanged:
    """A number of each of a lane's elements that it gives to another lane, from a ``place`` in shared memory on."""

    item: Accumulate
    names: tuple[Name, ...]
    place: Expr


def _exchanged(tile: Tile, given: Sequence[Exchanged], to_run: bool) -> Iterator[Item]:
    """Numbers of what lanes have read become those of what they run up, or the other way.

    No two lanes that run up meet in a bank of shared memory.
    """
    deep = tile.copies
    if deep == 1:
        return
    read = [Name(f"left{number}") for number in range(deep)]
    run = [cuda.THREAD * (deep + 1) + number for number in range(deep)]
    before, after = (read, run) if to_run else (run, read)
    left: list[Item] = [
        Set(STAGED[each.place + place], as_number(each.item, name))
        for each in given
        for name, place in zip(each.names, before, strict=True)
    ]
    found: list[Item] = [
        Set(name, of_number(each.item, STAGED[each.place + place]))
        for each in given
        for name, place in zip(each.names, after, strict=True)
    ]
    wait = cuda.synchronised(tile.mask)
    yield If(cuda.LANES > 1, (*left, wait, *found, *(() if to_run else (wait,))))


def _over_lanes(lanes: Sequence[Lane]) -> Iterator[Item]:
    """What the lanes of a group, or of each of its warps, make of a result, and those before each of them.

    Lanes learn from neighbours, then pairs from pairs, and so on; the later of two takes in what comes before it.
    """
    exchanged: list[Item] = []
    later: list[Item] = []
    earlier: list[Item] = []
    for lane in lanes:
        yield from lane.before.set(lane.before.none)
        found = [cuda.shuffled(cuda.MASK, part, HOP) for part in lane.all.to_memory()]
        exchanged += lane.other.from_memory(found)
        later += lane.before.set(lane.before.after(lane.other.parts))
        later += lane.all.set(lane.all.after(lane.other.parts))
        earlier += lane.all.set(lane.other.after(lane.all.parts))
    taken = If((cuda.LANE & HOP) > 0, tuple(later), tuple(earlier))
    yield let("hop", ONE)
    yield While(cuda.lowest(cuda.LANES, WARP) > HOP, (*exchanged, taken, let("hop", HOP * 2)))


def _over_warps(lanes: Sequence[Lane], shared: Name) -> Iterator[Item]:
    """The same for the warps of a block, one after another."""
    places = [number * WARPS for number in range(sum(len(lane.all.parts) for lane in lanes))]
    left = [part for lane in lanes for part in lane.all.to_memory()]
    stored = tuple([Set(shared[place + WARP_OF], part) for place, part in zip(places, left, strict=True)])
    yield If((cuda.THREAD % WARP).equals(0), stored)
    yield cuda.SYNC
    ahead = [Change(lane.item, "ahead") for lane in lanes]
    for change in (*ahead, *(lane.all for lane in lanes)):
        yield from change.set(change.none)
    found, before, behind = list[Item](), list[Item](), list[Item]()
    for lane, change in zip(lanes, ahead, strict=True):
        own, places = places[: len(change.parts)], places[len(change.parts) :]
        found += lane.other.from_memory([shared[place + OTHER] for place in own])
        before += change.set(lane.other.after(change.parts))
        behind += lane.all.set(lane.other.after(lane.all.parts))
    yield For("other", Constant(WARPS), (*found, If(OTHER < WARP_OF, tuple(before)), *behind))
    for lane, change in zip(lanes, ahead, strict=True):
        yield from lane.before.set(lane.before.after(change.parts))
    yield cuda.SYNC


def _results(tile: Tile, lanes: Sequence[Lane], stop: Expr) -> Iterator[Item]:
    """The results of the elements that a lane has read, and of the whole tile."""
    numbers = range(tile.copies)
    for lane in lanes:
        carried = Name(f"c_{lane.item.name}")
        yield let(lane.item.name, lane.before.after([carried])[0])
        yield let(carried.id, lane.all.after([carried])[0])
        for number in numbers:
            own = lane.own(number)
            yield Set(own.parts[0], own.after([Name(lane.item.name)])[0])
    yield from _exchanged(tile, _parts(lanes, tile, slice(1)), to_run=False)
    running = {lane.item.name for lane in lanes}
    last = [item for item in sequential(tile.loop.body) if _is_last(item, running) and not isinstance(item, Accumulate)]
    for number in numbers:
        yield from (let(lane.item.name, lane.own(number).parts[0]) for lane in lanes)
        yield If(_inside(number), _renamed(last, _names(tile)[number]))
