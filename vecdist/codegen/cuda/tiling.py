"""Tiling: a thread takes a few elements of a loop in one turn, those of a *tile*, and loads them together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import THREADS, Grid
from vecdist.codegen.cuda.reductions import begun
from vecdist.codegen.routines import is_routine
from vecdist.codegen.statements import Item, Items, is_seldom
from vecdist.kernel.code import For, If, While, let
from vecdist.kernel.expressions import (
    FALSE,
    ZERO,
    Choice,
    Constant,
    Expr,
    Name,
    joined,
    operation,
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
    reads,
)

BASE, TOP, BEHIND, AHEAD, COPY, DONE = map(Name, ("base", "top", "behind", "ahead", "copy", "done"))
TURN, SPLIT = Name("turn"), Name("split")

# Elements that a thread computes in one turn, by the statements of a body: loads in flight fill the memory system, but
# the registers of a long body leave room for fewer of them, and short grids for fewer threads.
COPIES = ((80, 8), (240, 4), (400, 2))
LOADED = 12  # words of elements of rows that a lane loads together


def unrolling(loop: Loop, wide: bool = True) -> int:
    """How many elements a thread computes in one turn of a loop; of float64 half as many, if that is ``wide``."""
    if has_rows(loop) or has_routines(loop):
        return 1
    short = [case.short for level in loop.body.levels for case in loop.body.cases(level)]
    length = len(loop.body.items) + sum(len(block.items) for block in short)
    copies = next((copies for longest, copies in COPIES if length <= longest), 1)
    halved = wide and any(isinstance(item, Load) and item.dtype.itemsize == 8 for _, item in loop.body.items)
    return max(1, copies // 2) if halved else copies


def copies(loop: Loop, grid: Grid) -> int:
    """How many elements of a loop without loops inside a thread takes in one turn: few where nests of a grid wait.

    All of them run with the registers that one needs, in as many blocks as there is room for.  What others found along
    axes is read when it is used.
    """
    found = unrolling(loop)
    loads = [item for _, item in loop.body.items if isinstance(item, Load) and not _is_shared(item, loop, grid.kernel)]
    words = sum(max(1, item.dtype.itemsize // 4) for item in loads)
    while grid.waits and found > 1 and found * words > LOADED:
        found //= 2
    return found


def _is_shared(item: Load, loop: Loop, kernel: Kernel) -> bool:
    """Whether what is loaded was found before, one for several elements of a loop."""
    if not isinstance(item.source, Temp):
        return False
    return "*".join(str(dim) for dim in kernel.outputs[item.source.output].shape if dim != 1) != loop.dim


def has_routines(loop: Loop) -> bool:
    """Whether a body has loops and branches of functions in it, which are long."""
    return any(isinstance(item, Assign) and is_routine(item.op) and not is_seldom(item) for item in loop.body.walk())


def has_rows(loop: Loop) -> bool:
    """Whether the iterations of an outermost loop are rows with loops of their own."""
    return any(isinstance(item, Loop) for _, item in loop.body.items)


def takes_tiles(loop: Loop, grid: Grid) -> bool:
    """Whether a nest goes tile by tile, however long its rows are; rows of known length lie in registers instead."""
    return is_flat(loop) and (grid.apart or loop not in grid.lanes) and loop not in grid.by_block


def is_flat(loop: Loop) -> bool:
    """Whether the rows of a loop are nothing but elements side by side, which any thread may take.

    What they add to may be sums of all rows.
    """
    inner = loop.body.every_loop()
    rows = [item for _, item in loop.body.items if not isinstance(item, Loop)]
    if len(inner) != 1 or inner[0].sequential or any(isinstance(item, Loop) for _, item in inner[0].body.items):
        return False
    if any(isinstance(item, Cases | Store | Flag) for item in rows) or has_routines(loop):
        return False
    added = [item for item in loop.body.walk() if isinstance(item, Accumulate | Scatter)]
    return not any(isinstance(item, Scatter) or item.home is not loop.body.parent for item in added)


def splits(rows: Loop, length: int, lanes: int, grid: Grid) -> int:
    """The binary logarithm of the number of tiles that a row of this length is cut into."""
    (inner,) = rows.body.every_loop()
    split = 0
    while (lanes * copies(inner, grid)) << split < length:
        split += 1
    return split


def ready(items: Sequence[Statement], body: Block) -> list[Load]:
    """The loads that need no value that their body computes, as an index that is data is."""
    made = {found.name for found in body.walk() if isinstance(found, Made)}
    return [item for item in items if isinstance(item, Load) and made.isdisjoint(reads(item))]


@final
@dataclass(frozen=True)
class Tile:
    """Where the elements of a tile lie: ``copies`` for a thread, ``stride`` apart, from ``base`` and ``place`` on.

    As many of them as are ``together`` are neighbours; ``vectors`` are the arrays of what loads, or stores, those.
    Where tiles go ``backward``, the first ones come last.
    """

    loop: Loop
    copies: int
    place: Expr = cuda.THREAD
    stride: Expr = field(default_factory=lambda: Constant(THREADS))
    mask: Expr = cuda.EVERY_LANE
    together: int = 1
    vectors: Mapping[Statement, str] = field(default_factory=dict)
    backward: bool = False

    @property
    def width(self) -> Expr:
        return Constant(self.copies) * self.stride if self.copies > 1 else self.stride

    @property
    def end(self) -> Expr:
        """Up to where tiles may be whole."""
        return Name(f"end_{self.loop.index}") if self.vectors else self.loop.length

    @property
    def top(self) -> Items:
        """Where the last tile begins, for what goes backward."""
        return (let(TOP.id, (self.loop.length - 1) // self.width * self.width),) if self.backward else ()

    def begins(self, turn: Expr) -> Expr:
        """Where a tile begins, so many elements behind the first one of a loop: the last, of few, comes last anyway."""
        return Choice(turn < TOP, TOP - self.width - turn, TOP) if self.backward else turn

    def in_turn(self, body: Items, first: Expr, step: Expr) -> For[Item]:
        """The tiles of a thread one after another."""
        if not self.backward:
            return For("base", self.loop.length, body, first, step)
        return For("behind", self.loop.length, (let("base", self.begins(BEHIND)), *body), first, step)

    def element(self, base: Expr, number: int) -> Expr:
        turn, beside = divmod(number, self.together)
        found = base + (self.place if self.together == 1 else Constant(self.together) * self.place)
        found = found + Constant(turn * self.together) * self.stride if turn else found
        return found + beside if beside else found

    def own(self, number: Expr) -> Expr:
        """As ``element``, where the number is known to the kernel alone."""
        turn, beside = number // self.together, number % self.together
        return BASE + Constant(self.together) * (self.place + turn * self.stride) + beside

    def loads(self) -> list[Load]:
        """The loads that can be made before anything is computed."""
        return ready(self.loop.body.statements(0), self.loop.body)


def looped(loop: Loop, home: Block, body: Items) -> Items:
    """A loop of a block that one thread runs alone, behind what its sums begin with."""
    return *begun(loop.sums(home)), in_turn(loop, body)


def in_turn(loop: Loop, body: Items) -> For[Item]:
    """The turns of a loop one after another."""
    if loop.step == 1:
        return For(loop.index, loop.length, body)
    return For(loop.index, loop.length, body, loop.start, Constant(loop.step))


def sequential(block: Block, written: Callable[[Loop, Block, Items], Items] = looped) -> Items:
    """A body that one thread runs alone: what it reads comes first, so that loads are on their way together."""
    found: list[Item] = []
    for level in block.levels:
        items = block.statements(level)
        loads = ready(items, block)
        first = set(map(id, loads))
        found += (*loads, *(item for item in items if id(item) not in first))
        for case in block.cases(level):
            found += sequential(case.long, written)
        for loop in block.loops(level):
            found += written(loop, block, sequential(loop.body, written))
    return tuple(found)


def in_flat_tiles(loop: Loop, tile: Tile, whole: Items, rest: Items = ()) -> Items:
    """Rows of elements side by side: each is cut into a power of two of tiles, which groups of lanes share out.

    What a row itself adds to sums of all rows, one lane of its first tile does, even where it has no elements.
    """
    length, own = tile.loop.length, in_order(loop.body)
    place = let(loop.index, TURN >> SPLIT), let("base", (TURN - (Name(loop.index) << SPLIT)) * tile.width)
    added = tuple([item for item in own if isinstance(item, Accumulate)])
    if added:
        others = [item for item in own if not isinstance(item, Accumulate)]
        once = If(joined("and", [cuda.LANE.equals(0), BASE.equals(0)]), added)
        turn = *place, *others, once, If(operation("<", BASE, length), tiled(tile, whole, rest))
    else:
        turn = *place, If(operation("<", BASE, length), (*own, *tiled(tile, whole, rest)))
    split = let("split", ZERO), While(tile.width << SPLIT < length, (let("split", SPLIT + 1),))
    return *split, For("turn", loop.length << SPLIT, turn, cuda.FIRST // cuda.LANES, cuda.STEP // cuda.LANES)


def in_order(block: Block) -> list[Statement]:
    """The statements of a block itself."""
    return [item for level in block.levels for item in block.statements(level)]


def tiled(tile: Tile, whole: Items, masked: Items = ()) -> Items:
    """One tile from ``base`` on: all elements of a thread together.

    Where some are missing it is ``masked``, or its elements one by one.
    """
    end = BASE + tile.width
    return let("done", FALSE), If(end <= tile.end, whole), If(operation("not", DONE), masked or _one_by_one(tile, end))


def _one_by_one(tile: Tile, end: Expr) -> Items:
    """The elements of a tile that are there, one after another."""
    loop = tile.loop
    if not tile.vectors:
        return (For(loop.index, cuda.lowest(end, loop.length), sequential(loop.body), BASE + tile.place, tile.stride),)
    place = let(loop.index, tile.own(COPY))
    beside = If(end > tile.end, (let(loop.index, BASE + tile.place + COPY * tile.stride),))
    body = place, beside, If(Name(loop.index) < loop.length, sequential(loop.body))
    return (For("copy", Constant(tile.copies), body),)
