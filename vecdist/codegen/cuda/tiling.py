"""Tiling, unroll and jam: a thread takes a few elements of a loop in one turn, those of a *tile*.

Loads of a whole tile are in flight together, neighbours in one vector load.  The next tile is loaded while one is
computed, as far as registers go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import THREADS
from vecdist.codegen.cuda.reductions import begun, combined
from vecdist.codegen.routines import is_routine
from vecdist.codegen.statements import Item, Items, is_seldom, load_offset, store_offset, typed_zero
from vecdist.kernel.code import Do, For, If, Note, Set, While, let
from vecdist.kernel.expressions import (
    FALSE,
    TRUE,
    ZERO,
    Constant,
    Expr,
    Name,
    Several,
    joined,
    operation,
    substituted,
    word,
)
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.statements import (
    Accumulate,
    Assign,
    Flag,
    Load,
    Made,
    Scatter,
    Statement,
    Store,
    Temp,
    array_name,
    reads,
    renamed,
)

BASE, AHEAD, COPY, DONE = map(Name, ("base", "ahead", "copy", "done"))
TURN, SPLIT = Name("turn"), Name("split")

# Elements that a thread computes in one turn, by the statements of a body: loads in flight fill the memory system, but
# the registers of a long body leave room for fewer of them.
COPIES = ((80, 8), (130, 4), (300, 2))
VECTOR = 16  # bytes that a thread loads, or stores, in one instruction
WORD = 4  # bytes of the narrowest elements that are worth it


def unrolling(loop: Loop) -> int:
    """How many elements a thread computes in one turn of a loop."""
    if has_rows(loop) or has_routines(loop):
        return 1
    short = [case.short for level in loop.body.levels for case in loop.body.cases(level)]
    length = len(loop.body.items) + sum(len(block.items) for block in short)
    copies = next((copies for longest, copies in COPIES if length <= longest), 1)
    wide = any(isinstance(item, Load) and item.dtype.itemsize == 8 for _, item in loop.body.items)
    return max(1, copies // 2) if wide else copies


def has_routines(loop: Loop) -> bool:
    """Whether a body has loops and branches of functions in it, which are long."""
    return any(isinstance(item, Assign) and is_routine(item.op) and not is_seldom(item) for item in loop.body.walk())


def has_rows(loop: Loop) -> bool:
    """Whether the iterations of an outermost loop are rows with loops of their own."""
    return any(isinstance(item, Loop) for _, item in loop.body.items)


def is_flat(loop: Loop) -> bool:
    """Whether the rows of a loop are nothing but elements side by side, which any thread may take."""
    inner = loop.body.every_loop()
    rows = [item for _, item in loop.body.items if not isinstance(item, Loop)]
    if len(inner) != 1 or inner[0].sequential or any(isinstance(item, Loop) for _, item in inner[0].body.items):
        return False
    if any(isinstance(item, Cases | Store | Flag) for item in rows) or has_routines(loop):
        return False
    return not any(isinstance(item, Accumulate | Scatter) for item in loop.body.walk())


def splits(rows: Loop, length: int, lanes: int) -> int:
    """The binary logarithm of the number of tiles that a row of this length is cut into."""
    (inner,) = rows.body.every_loop()
    split = 0
    while (lanes * unrolling(inner)) << split < length:
        split += 1
    return split


def is_picked(item: Load, body: Block) -> bool:
    """Whether a load needs a value that its body computes: an index that is data."""
    return not reads(item).isdisjoint(found.name for found in body.walk() if isinstance(found, Made))


@final
@dataclass(frozen=True)
class Tile:
    """Where the elements of a tile lie: ``copies`` for a thread, ``stride`` apart, from ``base`` and ``place`` on.

    As many of them as are ``together`` are neighbours; ``vectors`` are the arrays of what loads, or stores, those.
    """

    loop: Loop
    copies: int
    place: Expr = cuda.THREAD
    stride: Expr = field(default_factory=lambda: Constant(THREADS))
    mask: Expr = cuda.EVERY_LANE
    together: int = 1
    vectors: Mapping[Statement, str] = field(default_factory=dict)

    @property
    def ahead(self) -> bool:
        """Whether the next tile is loaded while one is computed, which wants loops over whole tiles."""
        return self.copies > 1 and self.place == cuda.THREAD and bool(self.loads())

    @property
    def width(self) -> Expr:
        return Constant(self.copies) * self.stride if self.copies > 1 else self.stride

    @property
    def end(self) -> Expr:
        """Up to where tiles may be whole."""
        return Name(f"end_{self.loop.index}") if self.vectors else self.loop.length

    def element(self, base: Expr, number: int) -> Expr:
        turn, beside = divmod(number, self.together)
        found = base + (self.place if self.together == 1 else Constant(self.together) * self.place)
        found = found + Constant(turn * self.together) * self.stride if turn else found
        return found + beside if beside else found

    def own(self, number: Expr) -> Expr:
        """As ``element``, where the number is known to the kernel alone."""
        if self.together == self.copies:
            return BASE + Constant(self.together) * self.place + number
        turn, beside = number // self.together, number % self.together
        return BASE + Constant(self.together) * (self.place + turn * self.stride) + beside

    def loads(self) -> list[Load]:
        """The loads that can be made before anything is computed."""
        body = self.loop.body
        return [item for item in body.statements(0) if isinstance(item, Load) and not is_picked(item, body)]


def sequential(block: Block) -> Items:
    """A body that one thread runs alone: what it reads comes first, so that loads are on their way together."""
    found: list[Item] = []
    for level in block.levels:
        items = block.statements(level)
        loads = [item for item in items if isinstance(item, Load) and not is_picked(item, block)]
        found += (*loads, *(item for item in items if item not in loads))
        for case in block.cases(level):
            found += sequential(case.long)
        for loop in block.loops(level):
            found += (*begun(loop.sums(block)), For(loop.index, loop.length, sequential(loop.body)))
    return tuple(found)


def elementwise(loop: Loop, kernel: Kernel, apart: bool) -> Items:
    """An outermost loop without rows, in tiles where blocks stand apart or a thread takes several elements."""
    tile = vectorised(Tile(loop, unrolling(loop)), kernel)
    if tile.copies == 1 and (not apart or has_routines(loop)):
        return (For(loop.index, loop.length, sequential(loop.body), cuda.FIRST, cuda.STEP),)
    found: list[Item] = []
    if tile.vectors:
        aligned = joined("and", [word("aligned")(Name(array)) for array in sorted(set(tile.vectors.values()))])
        found += let(str(tile.end), loop.length), If(operation("not", aligned), (let(str(tile.end), ZERO),))
    if tile.ahead:
        for item in tile.loads():
            found += [let(fetched(item, number), typed_zero(item.dtype)) for number in range(tile.copies)]
        found += fetch(tile, cuda.BLOCK * tile.width)
    return *found, For("base", loop.length, tiled(tile), cuda.BLOCK * tile.width, cuda.BLOCKS * tile.width)


def vectorised(tile: Tile, kernel: Kernel) -> Tile:
    """A tile with neighbours together where arrays of a wide dtype are read, or written, side by side."""
    vectors: dict[Statement, str] = {}
    widest = 0
    for item in tile.loop.body.walk():
        if isinstance(item, Load | Store):
            dtype = item.dtype if isinstance(item, Load) else kernel.outputs[item.output].dtype
            if dtype.kind != "b" and dtype.itemsize >= WORD and is_beside(item, tile.loop, kernel):
                vectors[item] = array_name(item.source) if isinstance(item, Load) else f"o{item.output}"
                widest = max(widest, dtype.itemsize)
    together = min(tile.copies, VECTOR // (widest or VECTOR))
    return replace(tile, together=together, vectors=vectors) if together > 1 else tile


def is_beside(item: Load | Store, loop: Loop, kernel: Kernel) -> bool:
    """Whether the elements that neighbouring turns of a loop read, or write, lie beside each other in memory."""
    if isinstance(item, Store):
        return store_offset(item, kernel) == Name(loop.index) and not kernel.outputs[item.output].kept
    kept = isinstance(item.source, Temp) and kernel.outputs[item.source.output].kept
    is_number = not item.indices
    return not (kept or is_number or item.guard) and load_offset(item, kernel) == Name(loop.index)


def flat_rows(loop: Loop) -> Items:
    """Rows of elements side by side: each is cut into a power of two of tiles, which groups of lanes share out."""
    (inner,) = loop.body.every_loop()
    tile = Tile(inner, unrolling(inner), cuda.LANE, cuda.LANES, cuda.MASK)
    row = Name(loop.index)
    body = *_in_order(loop.body), *tiled(tile)
    turn = (
        let(loop.index, TURN >> SPLIT),
        let("base", (TURN - (row << SPLIT)) * tile.width),
        If(operation("<", BASE, inner.length), body),
    )
    return (
        let("lane", cuda.THREAD % cuda.LANES),
        let("mates", cuda.lanes_mask(cuda.LANES)),
        let("split", ZERO),
        While(tile.width << SPLIT < inner.length, (let("split", SPLIT + 1),)),
        For("turn", loop.length << SPLIT, turn, cuda.FIRST // cuda.LANES, cuda.STEP // cuda.LANES),
    )


def _in_order(block: Block) -> list[Statement]:
    return [item for level in block.levels for item in block.statements(level)]


def tiled(tile: Tile) -> Items:
    """One tile from ``base`` on: all elements of a thread together, or one by one where some are missing."""
    loop, end = tile.loop, BASE + tile.width
    if tile.vectors:
        place = let(loop.index, tile.own(COPY))
        beside = If(end > tile.end, (let(loop.index, BASE + tile.place + COPY * tile.stride),))
        body = place, beside, If(Name(loop.index) < loop.length, sequential(loop.body))
        few = For("copy", Constant(tile.copies), body)
    else:
        few = For(loop.index, cuda.lowest(end, loop.length), sequential(loop.body), BASE + tile.place, tile.stride)
    return let("done", FALSE), If(end <= tile.end, jammed(tile)), If(operation("not", DONE), (few,))


def fetched(item: Load, number: int) -> str:
    """The name of an element that was loaded ahead."""
    return f"f_{item.name}_{number}"


def fetch(tile: Tile, base: Expr) -> Items:
    """Load the elements of a whole tile ahead of their use: loads of one tile run beside work on another."""
    found: list[Item] = []
    for item in tile.loads():
        for number in range(0, tile.copies, tile.together if item in tile.vectors else 1):
            place = tile.element(AHEAD, number)
            if item in tile.vectors:
                few = [Name(fetched(item, number + beside)) for beside in range(tile.together)]
                load = word(f"load_{tile.together}")(Name(tile.vectors[item]), place)
                found.append(Set(Several(tuple(few)), load))
            else:
                found.append(renamed(item, {item.name: Name(fetched(item, number)), tile.loop.index: place}))
    return let("ahead", base), If(AHEAD + tile.width <= tile.end, tuple(found))


def jammed(tile: Tile) -> Items:
    """Several copies of a body, step by step; where it has cases, the short ones, if all elements allow that."""
    loop, body, loads = tile.loop, tile.loop.body, tile.loads()
    own = {loop.index, *(item.name for item in body.walk() if isinstance(item, Made))}
    copies = [{name: Name(f"{name}_{number}") for name in own} for number in range(tile.copies)]
    found: list[Item] = []
    for number, names in enumerate(copies):
        found.append(let(f"{loop.index}_{number}", tile.element(BASE, number)))
        for item in loads:
            known = let(f"{item.name}_{number}", Name(fetched(item, number)))
            found.append(known if tile.ahead else renamed(item, names))
    if tile.ahead:
        found += fetch(tile, BASE + cuda.BLOCKS * tile.width)
    else:
        found += Note("so that no load waits for what is computed"), Do(word("cuda.syncwarp")(tile.mask))
    every = _in_order(body)
    late = [item for item in every if isinstance(item, Accumulate | Scatter)]  # added once
    rest: Items = *_copied(tile, late, copies), let("done", TRUE)
    for level in reversed(body.levels):
        for case in reversed(body.cases(level)):
            test = joined("and", [substituted(case.condition, names) for names in copies])
            rest = (If(test, (*_copied(tile, _in_order(case.short), copies), *rest)),)
        now = [item for item in body.statements(level) if item not in late and item not in loads]
        rest = (*_copied(tile, now, copies), *rest)
    return *found, *rest


def _copied(tile: Tile, items: Sequence[Statement], copies: Sequence[Mapping[str, Name]]) -> Items:
    """Statements for each element of a tile; neighbours are stored together, and sums added up together."""
    found: list[Item] = []
    stores = [item for item in items if isinstance(item, Store) and item in tile.vectors]
    for number, names in enumerate(copies, 1):
        found += [renamed(item, names) for item in items if not isinstance(item, Accumulate) and item not in stores]
        if number % tile.together == 0:
            few = copies[number - tile.together : number]
            for item in stores:
                values = [substituted(item.value, names) for names in few]
                place = Name(tile.vectors[item]), few[0][tile.loop.index]
                found.append(Do(word(f"store_{tile.together}")(*place, *values)))
    for item in items:
        if isinstance(item, Accumulate):
            found += _added(item, [substituted(item.value, names) for names in copies])
    return tuple(found)


def _added(item: Accumulate, values: Sequence[Expr]) -> list[Accumulate]:
    """Add neighbours in their own precision first, which costs one conversion for all of them."""
    if item.op in {"sum", "prod"}:
        while len(values) > 1:
            values = [combined(item.op, "f", a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
    return [replace(item, value=value) for value in values]
