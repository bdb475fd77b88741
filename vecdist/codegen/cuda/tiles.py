"""Loops whose elements stand alone on a GPU: a thread takes a few of them in one turn, the elements of a *tile*.

Loads of a whole tile are in flight together.  The next tile is loaded while one is computed, as far as registers go.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from vecdist.codegen.cuda.grid import THREADS, Grid, combined, elements, team, worth_a_block
from vecdist.codegen.routines import is_routine
from vecdist.codegen.statements import INDENT, is_seldom, typed_zero
from vecdist.kernel.ir import (
    Accumulate,
    Assign,
    Block,
    Cases,
    Flag,
    Kernel,
    Load,
    Loop,
    Scatter,
    Statement,
    Store,
    Total,
)

# Elements that a thread computes in one turn, by the statements of a body: loads in flight fill the memory system, but
# the registers of a long body leave room for fewer of them.
COPIES = ((80, 8), (130, 4), (300, 2))
VECTOR = 16  # bytes that a thread loads, or stores, in one instruction
WORD = 4  # bytes of the narrowest elements that are worth it


def unrolling(loop: Loop) -> int:
    """How many elements a thread computes in one turn of a loop."""
    if is_team_loop(loop) or has_routines(loop):
        return 1
    short = [case.short for level in loop.body.levels for case in loop.body.cases(level)]
    length = len(loop.body.items) + sum(len(block.items) for block in short)
    copies = next((copies for longest, copies in COPIES if length <= longest), 1)
    wide = any(isinstance(item, Load) and item.dtype.itemsize == 8 for _, item in loop.body.items)
    return max(1, copies // 2) if wide else copies


def has_routines(loop: Loop) -> bool:
    """Whether a body has loops and branches of functions in it, which are long."""
    return any(isinstance(item, Assign) and is_routine(item.op) and not is_seldom(item) for item in loop.body.walk())


def is_team_loop(loop: Loop) -> bool:
    """Whether the iterations of an outermost loop are rows with loops of their own."""
    return any(isinstance(item, Loop) for _, item in loop.body.items)


def tiled(loop: Loop) -> bool:
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


def lanes_of(loop: Loop, grid: Grid, apart: bool, lengths: Mapping[str, int]) -> int:
    """The threads that share a row: each takes some eight of its elements, or more where a block shares it.

    Rows that are cut into tiles need no block.
    """
    if grid.lanes is not None:
        return grid.lanes
    inner = {each: elements((each.dim,), lengths) for each in loop.body.every_loop()}
    shared = max((length for each, length in inner.items() if not each.sequential), default=0)
    few = grid.takes_blocks(loop) and worth_a_block(elements((loop.dim,), lengths), shared)
    return THREADS if few and not (apart and tiled(loop)) else team(max(inner.values()))


def needs_grid_barrier(kernel: Kernel) -> bool:
    """Whether a loop needs a sum, or a temporary array, of an earlier loop of the whole grid."""
    return len({level for level, _ in kernel.shared_nests()}) > 1


def workspace(kernel: Kernel) -> tuple[str, ...]:
    """The last arguments of a kernel, which hold what its blocks share: those of them that it has a use for."""
    grid = Grid(kernel)
    nests = [loop for _, loop in kernel.nests()]
    used = {
        "partials": any(loop.sums(kernel.root) for loop in nests),
        "sums": bool(grid.slot_outputs or grid.atomic_outputs),
    }
    used["arrivals"] = used["partials"] or used["sums"] or needs_grid_barrier(kernel)
    teams = [loop for _, loop in kernel.shared_nests() if is_team_loop(loop) and grid.lanes is None]
    named = tuple(name for name in ("partials", "sums", "arrivals") if used[name])
    return (*named, *(f"lanes_{loop.index}" for loop in teams))


def stands_apart(kernel: Kernel, grid: Grid) -> bool:
    """Whether blocks leave nothing to each other, so that there may be as many as there is work."""
    sums = any(loop.sums(kernel.root) for _, loop in kernel.nests())
    return not (sums or needs_grid_barrier(kernel) or grid.together())


def picked(item: Load, body: Block) -> bool:
    """Whether a load needs a value that its body computes: an index that is data."""
    computed = {found.name for found in body.walk() if isinstance(found, Assign | Load | Total)}
    return not computed.isdisjoint(re.findall(r"\bv\d+\b", " ".join((*item.indices, item.guard or ""))))


@final
@dataclass(frozen=True)
class Tile:
    """Where the elements of a tile lie: ``copies`` for a thread, ``stride`` apart, from ``base`` and ``place`` on.

    As many of them as are ``together`` are neighbours; ``vectors`` are the arrays of what loads, or stores, those.
    """

    loop: Loop
    copies: int
    place: str = "thread"
    stride: str = field(default_factory=lambda: str(THREADS))
    mates: str = "0xFFFFFFFF"
    together: int = 1
    vectors: Mapping[Statement, str] = field(default_factory=dict)

    @property
    def ahead(self) -> bool:
        """Whether the next tile is loaded while one is computed, which wants loops over whole tiles."""
        return self.copies > 1 and self.place == "thread" and bool(self.loads())

    @property
    def width(self) -> str:
        return f"{self.copies} * {self.stride}" if self.copies > 1 else self.stride

    @property
    def end(self) -> str:
        """Up to where tiles may be whole."""
        return f"end_{self.loop.index}" if self.vectors else self.loop.dim

    def element(self, base: str, number: int) -> str:
        turn, beside = divmod(number, self.together)
        place = self.place if self.together == 1 else f"{self.together} * {self.place}"
        far = f" + {turn * self.together} * {self.stride}" if turn else ""
        return f"{base} + {place}{far}" + (f" + {beside}" if beside else "")

    def own(self, base: str, number: str) -> str:
        """As ``element``, where the number is known to the kernel alone."""
        if self.together == self.copies:
            return f"{base} + {self.together} * {self.place} + {number}"
        turn, beside = f"{number} // {self.together}", f"{number} % {self.together}"
        return f"{base} + {self.together} * ({self.place} + {turn} * {self.stride}) + {beside}"

    def loads(self) -> list[Load]:
        """The loads that can be made before anything is computed."""
        body = self.loop.body
        return [item for item in body.statements(0) if isinstance(item, Load) and not picked(item, body)]


class TileLines(ABC):
    """The text of loops in tiles."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.grid: Grid = Grid(kernel)
        self.apart: bool = stands_apart(kernel, self.grid)

    @abstractmethod
    def statement(self, item: Statement) -> str:
        """One statement."""

    @abstractmethod
    def load(self, item: Load) -> str:
        """A load from memory."""

    @abstractmethod
    def serial(self, block: Block, depth: int) -> Iterator[str]:
        """A body that one thread runs alone."""

    @abstractmethod
    def guarded(self, text: str, item: Statement, pad: str) -> Iterator[str]:
        """A statement, or the flag where its condition holds."""

    def tiles(self, loop: Loop) -> Iterator[str]:
        """An outermost loop."""
        tile = self.with_vectors(loop)
        if tile.copies == 1 and (not self.apart or has_routines(loop)):
            yield f"    for {loop.index} in range(first, {loop.dim}, step):"
            yield from self.serial(loop.body, 2)
            return
        if tile.vectors:
            yield f"    {tile.end} = {loop.dim}"
            yield f"    if not ({' and '.join(f'aligned({array})' for array in sorted(set(tile.vectors.values())))}):"
            yield f"        {tile.end} = 0"
        if tile.ahead:
            for item in tile.loads():
                for number in range(tile.copies):
                    yield f"    f_{item.name}_{number} = {typed_zero(item.dtype)}"
            yield from self.fetched(tile, f"block * ({tile.width})", INDENT)
        yield f"    for base in range(block * ({tile.width}), {loop.dim}, blocks * ({tile.width})):"
        yield from self.tile(tile, INDENT * 2)

    def with_vectors(self, loop: Loop) -> Tile:
        """The tiles of a loop, neighbours together where arrays of a wide dtype are read, or written, side by side."""
        copies, vectors = unrolling(loop), {}
        for item in loop.body.walk():
            if isinstance(item, Load | Store) and (dtype := self.moved(item)).kind != "b" and dtype.itemsize >= WORD:
                text = self.load(item) if isinstance(item, Load) else self.statement(item)
                found = re.fullmatch(rf"(?:\w+ = )?([xo]\d+)\[\(?{loop.index}\)?\](?: = .+)?", text)
                if found:
                    vectors[item] = found[1]
        together = min(copies, VECTOR // max((self.moved(item).itemsize for item in vectors), default=VECTOR))
        return Tile(loop, copies, together=together, vectors=vectors) if together > 1 else Tile(loop, copies)

    def moved(self, item: Load | Store) -> np.dtype:
        """The dtype of what is loaded or stored."""
        return item.dtype if isinstance(item, Load) else self.kernel.outputs[item.output].dtype

    def row_tiles(self, loop: Loop) -> Iterator[str]:
        """Rows of elements side by side: each is cut into a power of two of tiles, which teams of lanes share out."""
        (inner,) = loop.body.every_loop()
        tile = Tile(inner, unrolling(inner), "lane", "lanes", "mates")
        yield "    lane = thread % lanes"
        yield "    mates = u4(((1 << lanes) - 1) << (thread % 32 - lane))"
        yield "    split = 0"
        yield f"    while ({tile.width}) << split < {inner.dim}:"
        yield "        split = split + 1"
        yield f"    for turn in range(first // lanes, {loop.dim} << split, step // lanes):"
        yield f"        {loop.index} = turn >> split"
        yield f"        base = (turn - ({loop.index} << split)) * ({tile.width})"
        yield f"        if base < {inner.dim}:"
        for level in loop.body.levels:
            for item in loop.body.statements(level):
                yield f"            {self.statement(item)}"
        yield from self.tile(tile, INDENT * 3)

    def tile(self, tile: Tile, pad: str) -> Iterator[str]:
        """One tile from ``base`` on: all elements of a thread together, or one by one where some are missing."""
        loop = tile.loop
        yield f"{pad}done = False"
        yield f"{pad}if base + {tile.width} <= {tile.end}:"
        yield from self.unrolled(tile, pad + INDENT)
        yield f"{pad}if not done:"
        pad += INDENT
        if not tile.vectors:
            places = f"base + {tile.place}, min(base + {tile.width}, {loop.dim}), {tile.stride}"
            yield f"{pad}for {loop.index} in range({places}):"
            yield from self.serial(loop.body, len(pad) // len(INDENT) + 1)
            return
        yield f"{pad}for copy in range({tile.copies}):"
        yield f"{pad}    {loop.index} = {tile.own('base', 'copy')}"
        yield f"{pad}    if base + {tile.width} > {tile.end}:"
        yield f"{pad}        {loop.index} = base + {tile.place} + copy * {tile.stride}"
        yield f"{pad}    if {loop.index} < {loop.dim}:"
        yield from self.serial(loop.body, len(pad) // len(INDENT) + 2)

    def fetched(self, tile: Tile, base: str, pad: str) -> Iterator[str]:
        """Load the elements of a whole tile ahead of their use: loads of one tile run beside work on another."""
        yield f"{pad}ahead = {base}"
        yield f"{pad}if ahead + {tile.width} <= {tile.end}:"
        for item in tile.loads():
            for number in range(0, tile.copies, tile.together if item in tile.vectors else 1):
                place, names = tile.element("ahead", number), f"f_{item.name}_{number}"
                if item in tile.vectors:
                    names = ", ".join(f"f_{item.name}_{number + beside}" for beside in range(tile.together))
                    yield f"{pad}    {names} = load_{tile.together}({tile.vectors[item]}, {place})"
                else:
                    text = self.load(item).replace(f"{item.name} = ", f"{names} = ", 1)
                    yield pad + INDENT + re.sub(rf"\b{tile.loop.index}\b", f"({place})", text)

    def unrolled(self, tile: Tile, pad: str) -> Iterator[str]:
        """Several copies of a body; where it has cases, the short ones, if all elements allow that."""
        body, copies, loads = tile.loop.body, tile.copies, tile.loads()
        names = {tile.loop.index, *(item.name for item in body.walk() if isinstance(item, Assign | Load | Total))}

        def copy(text: str, number: int) -> str:
            return re.sub(r"\b[iv]\d+\b", lambda m: f"{m[0]}_{number}" if m[0] in names else m[0], text)

        def written(items: Sequence[Statement], pad: str) -> Iterator[str]:
            stores = [item for item in items if isinstance(item, Store) and item in tile.vectors]
            for number in range(copies):
                for item in items:
                    if not isinstance(item, Accumulate) and item not in loads and item not in stores:
                        yield from self.guarded(copy(self.statement(item), number), item, pad)
                if (number + 1) % tile.together == 0:
                    yield from (pad + self.stored(tile, item, number, copy) for item in stores)
            for item in items:
                if isinstance(item, Accumulate):
                    yield pad + self.accumulate(item, [copy(item.value, number) for number in range(copies)])

        for number in range(copies):
            yield f"{pad}{tile.loop.index}_{number} = {tile.element('base', number)}"
            for item in loads:
                known = f"{item.name}_{number} = f_{item.name}_{number}"
                yield pad + (known if tile.ahead else copy(self.load(item), number))
        if not tile.ahead:
            yield f"{pad}cuda.syncwarp({tile.mates})  # so that no load waits for what is computed"
        else:
            yield from self.fetched(tile, f"base + blocks * ({tile.width})", pad)
        every = [(level, item) for level in body.levels for item in body.statements(level)]
        late = [item for _, item in every if isinstance(item, Accumulate | Scatter)]  # added once
        for level in body.levels:
            yield from written([item for at, item in every if at == level and item not in late], pad)
            for case in body.cases(level):
                yield f"{pad}if {' and '.join(copy(case.condition, number) for number in range(copies))}:"
                pad += INDENT
                for inner in case.short.levels:
                    yield from written(case.short.statements(inner), pad)
        yield from written(late, pad)
        yield f"{pad}done = True"

    def stored(self, tile: Tile, item: Store, last: int, copy: Callable[[str, int], str]) -> str:
        """A store of neighbours, of which this is the last one."""
        value, first = self.statement(item).partition(" = ")[2], last + 1 - tile.together
        values = ", ".join(copy(value, number) for number in range(first, last + 1))
        return f"store_{tile.together}({tile.vectors[item]}, {tile.loop.index}_{first}, {values})"

    def accumulate(self, item: Accumulate, values: Sequence[str]) -> str:
        """Add neighbours in their own precision first, which costs one conversion for all of them."""
        if item.op in {"sum", "prod"}:
            while len(values) > 1:
                values = [combined(item.op, "f", a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
        lines = [self.statement(replace(item, value=value)) for value in values]
        return "; ".join(lines)
