"""Rows on a GPU: each is given to a team of threads, its *lanes*, that share its inner loops.

A team is one thread, a part of a warp, a warp, or a block, whose warps leave their results in shared memory.

What the next row reads is on its way while a row is computed: loads that no value of the row names are made one row
ahead, and what does not vary with the row is loaded once, where all of that fits in registers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from vecdist.codegen.cuda.grid import WARP, WARPS, combined, memory_type, to_partial
from vecdist.codegen.cuda.memory import Memory, remembered
from vecdist.codegen.cuda.tiles import Tile, TileLines, unrolling
from vecdist.codegen.statements import INDENT, start, typed_zero
from vecdist.kernel.ir import Accumulate, Assign, Block, Flag, Kernel, Load, Loop, Scatter, Store, Total

NEUTRAL = {"sum": "0", "max": "-np.inf", "min": "np.inf"}  # where reductions of short rows in float32 begin
WORDS = 40  # registers of a thread for what is loaded ahead
REMEMBERED = 64  # and for what the loops of a row leave to each other


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


class TeamLines(TileLines):
    """The text of a loop over rows."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.short: set[str] = set()  # sums that a loop adds up in float32
        self.ahead: dict[Load, Ahead] = {}
        self.memory = Memory()

    def team_nest(self, loop: Loop) -> Iterator[str]:
        """The loop over rows, each a team's."""
        self.memory = remembered(loop.body, self.room(loop))
        self.ahead = {each.item: each for each in self.loads_ahead(loop)}
        first = [each for each in self.ahead.values() if each.name == each.item.name]
        moving = [each for each in first if each.moves]
        yield "    lane = thread % lanes"
        if self.grid.takes_blocks(loop):
            yield f"    mates = u4(((1 << min(lanes, {WARP})) - 1) << (thread % {WARP} - lane % {WARP}))"
            if any(isinstance(item, Total) for _, item in loop.body.items):
                yield f"    of_row = cuda.shared.array({WARPS}, f8)"
        else:
            yield f"    mates = u4(((1 << lanes) - 1) << (thread % {WARP} - lane))"
        for name, (dtype, inner) in self.memory.arrays.items():
            yield f"    {name} = cuda.local.array({self.turns(inner)}, memory_{memory_type(dtype)})"
        for each in first:
            yield from self.place_for(each)
        for each in first:
            if not each.moves:
                yield from self.fetch(each, loop, INDENT)
        if moving:
            yield from self.fetch_row(moving, loop, "first // lanes", INDENT)
        yield f"    for {loop.index} in range(first // lanes, {loop.dim}, step // lanes):"
        for each in moving:
            yield from self.arrived(each)
        if moving:
            yield from self.fetch_row(moving, loop, f"{loop.index} + step // lanes", INDENT * 2)
        yield from self.rows(loop)
        yield from self.grid.flushes(loop)
        self.ahead = {}
        self.memory: Memory = Memory()

    def inner_body(self, loop: Loop) -> Block:
        """What an inner loop does, beside what it remembers."""
        return self.memory.bodies.get(loop, loop.body)

    def turns(self, loop: Loop) -> int:
        """How many elements of an inner loop of known length a lane takes."""
        return -(-self.grid.fixed[loop.dim] // (self.grid.lanes or 1))

    def room(self, loop: Loop) -> dict[str, int]:
        """How many values inner loops may remember, by their lengths; none where these are not known."""
        if self.grid.lanes is None:
            return {}
        wide = any(isinstance(item, Assign) and item.dtype == np.float64 for item in loop.body.walk())
        return {each.dim: REMEMBERED // (self.turns(each) * (2 if wide else 1)) for each in loop.body.every_loop()}

    def loads_ahead(self, loop: Loop) -> list[Ahead]:
        """The loads of a row that can be made before it begins, as far as registers go."""
        if self.grid.lanes is None:
            return []
        found = [Ahead(item, None, 1, True, item.name) for item in self.free_loads(loop.body, {loop.index})]
        same: dict[tuple, str] = {}
        for inner in loop.body.every_loop():
            if not inner.sequential:
                turns = self.turns(inner)
                for item in self.free_loads(self.inner_body(inner), {loop.index, inner.index}):
                    places = tuple(re.sub(rf"\b{inner.index}\b", inner.dim, index) for index in item.indices)
                    name = same.setdefault((item.slot, places), item.name)
                    found.append(Ahead(item, inner, turns, loop.index in names(item), name))
        room, kept = WORDS, {}
        for each in sorted(found, key=lambda each: (not each.moves, each.loop is None)):
            if each.name in kept or each.words <= room:
                room -= 0 if each.name in kept else each.words
                kept.setdefault(each.name, []).append(each)
        return [each for group in kept.values() for each in group]

    def free_loads(self, body: Block, known: set[str]) -> list[Load]:
        """The loads of a body whose places depend on loops in ``known`` alone."""
        items = [item for _, item in body.items if isinstance(item, Load) and item.slot >= 0 and item.indices]
        return [item for item in items if names(item) <= known and not item.guard and item.dtype.kind != "b"]

    def place_for(self, each: Ahead) -> Iterator[str]:
        """The registers of a load."""
        item = each.item
        if each.loop is None:
            yield f"    f_{item.name} = {typed_zero(item.dtype)}"
            return
        for prefix in "fg" if each.moves else "g":
            yield f"    {prefix}_{item.name} = cuda.local.array({each.turns}, memory_{memory_type(item.dtype)})"

    def fetch_row(self, moving: Sequence[Ahead], loop: Loop, row: str, pad: str) -> Iterator[str]:
        """The loads of a later row, if there is one."""
        yield f"{pad}ahead = {row}"
        yield f"{pad}if ahead < {loop.dim}:"
        for each in moving:
            yield from self.fetch(each, loop, pad + INDENT)

    def fetch(self, each: Ahead, loop: Loop, pad: str) -> Iterator[str]:
        """The load for each turn of a lane, into registers."""
        text = self.load(each.item).partition(" = ")[2]
        text = re.sub(rf"\b{loop.index}\b", "ahead", text)
        if each.loop is None:
            yield f"{pad}f_{each.item.name} = {text}"
            return
        text = re.sub(rf"\b{each.loop.index}\b", f"(lane + {self.grid.lanes} * turn)", text)
        length = self.grid.fixed[each.loop.dim]
        yield f"{pad}for turn in range({each.turns}):"
        if length % (self.grid.lanes or 1):
            yield f"{pad}    if lane + {self.grid.lanes} * turn < {length}:"
            pad += INDENT
        yield f"{pad}    {'f' if each.moves else 'g'}_{each.item.name}[turn] = {text}"

    def loaded(self, item: Load) -> str:
        """A load where it stands, which may have been made ahead."""
        each = self.ahead.get(item)
        if each is None or each.loop is None:
            return self.load(item)
        return f"{item.name} = g_{each.name}[turn_{each.loop.index}]"

    def arrived(self, each: Ahead) -> Iterator[str]:
        """What was loaded ahead is that of the row that begins."""
        name = each.item.name
        if each.loop is None:
            yield f"        {name} = f_{name}"
            return
        yield f"        for turn in range({each.turns}):"
        yield f"            g_{name}[turn] = f_{name}[turn]"

    def rows(self, nest: Loop) -> Iterator[str]:
        """The body of a loop over rows: its inner loops are shared by the lanes of a team."""
        block, pad = nest.body, INDENT * 2
        for level in block.levels:
            for item in block.statements(level):
                if item in self.ahead:
                    continue
                if isinstance(item, Total):
                    yield from self.team_result(item, nest, pad)
                if isinstance(item, Store | Flag | Accumulate | Scatter):
                    yield f"{pad}if lane == 0:"
                    yield from self.guarded(self.statement(item), item, pad + INDENT)
                else:
                    yield pad + self.statement(item)
            for case in block.cases(level):
                yield from self.serial(case.long, 2)
            for loop in block.loops(level):
                yield from self.shared_loop(loop, nest, pad)

    def shared_loop(self, loop: Loop, nest: Loop, pad: str) -> Iterator[str]:
        """A loop along a row, shared by the lanes of a team; one of fixed length is written out by the compiler.

        Then a lane takes few elements, and adds up those in float32 before it goes on in float64.  One that may be long
        is taken in tiles, so that several loads are in flight; a sequential one is run by the first lane alone.
        """
        sums, lanes = loop.sums(nest.body), self.grid.lanes
        yield from (f"{pad}{item.name} = {start(item)}" for item in sums)
        if loop.sequential:
            yield f"{pad}for {loop.index} in range({loop.dim} if lane == 0 else 0):"
            yield from self.serial(loop.body, 3)
            return
        if lanes is None:
            tile = Tile(loop, unrolling(loop), "lane", "lanes", "mates")
            if tile.copies > 1 and loop.dim not in self.grid.fixed and self.grid.takes_blocks(nest):
                yield f"{pad}for base in range(0, {loop.dim}, {tile.width}):"
                yield from self.tile(tile, pad + INDENT)
                return
            yield f"{pad}for {loop.index} in range(lane, {loop.dim}, lanes):"
            yield from self.serial(loop.body, 3)
            return
        others = [s for s in loop.body.walk() if isinstance(s, Accumulate) and s not in sums]
        of_row = [] if loop.dims()[1:] else [s for s in (*sums, *others) if s.dtype == "f4" and s.op in NEUTRAL]
        short = list({item.name: item for item in of_row}.values())
        yield from (f"{pad}s_{item.name} = f4({NEUTRAL[item.op]})" for item in short)
        length = self.grid.fixed[loop.dim]
        yield f"{pad}for turn_{loop.index} in range({self.turns(loop)}):"
        yield f"{pad}    {loop.index} = lane + {lanes} * turn_{loop.index}"
        if length % lanes:
            yield f"{pad}    if {loop.index} < {length}:"
        self.short = {item.name for item in short}
        yield from self.serial(self.inner_body(loop), 4 if length % lanes else 3)
        self.short = set()
        for item in short:
            found = f"f8(s_{item.name})"
            yield f"{pad}{item.name} = {found if item in sums else combined(item.op, 'f', item.name, found)}"

    def team_result(self, item: Total, nest: Loop, pad: str) -> Iterator[str]:
        """Combine the lanes' results pairwise, so that each lane has the same one."""
        name, block = item.accumulator, nest.body
        (taken,) = {s.op: s for loop in block.every_loop() for s in loop.sums(block) if s.name == name}.values()
        if self.grid.lanes is not None:
            for hop in (16, 8, 4, 2, 1):
                if hop < self.grid.lanes:
                    yield f"{pad}found = cuda.shfl_xor_sync(mates, {name}, {hop})"
                    yield f"{pad}{name} = {combined(taken.op, taken.dtype.kind, name, 'found')}"
            return
        blocks = self.grid.takes_blocks(nest)
        yield f"{pad}hop = {f'min(lanes, {WARP})' if blocks else 'lanes'} // 2"
        yield f"{pad}while hop > 0:"
        yield f"{pad}    found = cuda.shfl_xor_sync(mates, {name}, hop)"
        yield f"{pad}    {name} = {combined(taken.op, taken.dtype.kind, name, 'found')}"
        yield f"{pad}    hop = hop // 2"
        if blocks:
            yield from self.block_result(taken, pad)

    def block_result(self, taken: Accumulate, pad: str) -> Iterator[str]:
        """Combine the results of the warps of a block, all of whose threads come here for the same row."""
        name = taken.name
        yield f"{pad}if lanes > {WARP}:"
        yield f"{pad}    if thread % {WARP} == 0:"
        yield f"{pad}        of_row[thread // {WARP}] = {to_partial(taken, name)}"
        yield f"{pad}    cuda.syncthreads()"
        yield from self.grid.of_block("of_row", 0, taken, pad + INDENT)
        yield f"{pad}    cuda.syncthreads()"


def names(item: Load) -> set[str]:
    """The loops and values that say where a load reads."""
    return set(re.findall(r"\b[iv]\d+\b", " ".join(item.indices)))
