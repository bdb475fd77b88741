"""A block per chain: loop nests over the same chains are one loop over these, each of which is a block's (loop fusion).

Nests of a grid meet where one needs what another leaves, and everything that they leave goes through memory.  A block
that takes one chain through all nests waits for its own threads alone, and finds what they have left in its cache.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import final

from vecdist.codegen.collapsing import has_pieces
from vecdist.codegen.cuda.grid import LINE, THREADS, WARP, Grid, elements, one_by_one, statements
from vecdist.codegen.statements import lies_along
from vecdist.graph.memo import cached_property
from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import Expr, Name
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.statements import Assign, Load, Made, Statement, Store, Temp, Total, reads

CHAINS = 128  # from which on most multiprocessors have one
AT_ONCE = 256  # blocks that run together
WAIT = 250  # statements that a block computes while it waits for what it has left itself
MEET = 800  # statements that the blocks of a grid compute in the time that they take to meet
BYTES = 25  # that come from memory for a block, of as many as there are, in the time of a statement
ALONE = 0.7  # of the time that a block takes which shares its multiprocessor with others
GAIN = 1.1  # times as fast, at least
TOGETHER = 8  # lanes that read what lies apart in the time of a statement
HOP, OF_BLOCK = 6, 120  # statements in the time that lanes of a warp take to add two results up, and warps of a block


def by_blocks(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel whose last nests are over chains that blocks take; itself where none are, or no block would be busy."""
    for dim in dict.fromkeys(loop.first_dim for _, loop in kernel.shared_nests()):
        chains = Chains(kernel, dim)
        if chains.are_many(lengths) and chains.are_apart() and chains.are_faster(lengths):
            return chains.in_blocks()
    return kernel


def of_blocks(kernel: Kernel, lengths: Mapping[str, int]) -> Mapping[str, int]:
    """The lengths by which nests are planned: those of as many chains as there are blocks at once."""
    return {**lengths, kernel.by_block: min(AT_ONCE, lengths[kernel.by_block])} if kernel.by_block else lengths


def with_lanes(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel that knows how many lanes of a block share each row of its chain."""
    grid = Grid(kernel)
    found = [(loop.index, _lanes(loop, grid, lengths)) for loop in grid.by_block if loop.body.every_loop()]
    return replace(kernel, block_lanes=tuple(found)) if found else kernel


def _lanes(rows: Loop, grid: Grid, lengths: Mapping[str, int]) -> int:
    """The lanes that take the least time for all rows of a chain."""
    count, shared = rows.turns(lengths) // lengths[grid.kernel.by_block], grid.shared(rows.body)
    along = any(any(lies_along(loop, rows)) for loop in shared)
    least = LINE if along and max((loop.turns(lengths) for loop in shared), default=0) >= LINE else 1
    several = [1 << power for power in range(6) if 1 << power >= least]
    several += [] if grid.has_steps(rows) else [THREADS]
    return min(several, key=lambda lanes: _time(rows, grid, lengths, lanes) * -(-count * lanes // THREADS))


def _time(rows: Loop, grid: Grid, lengths: Mapping[str, int], lanes: int) -> float:
    """The statements that a lane has time for in a row, where so many share it."""
    meeting = HOP * min(lanes.bit_length() - 1, 5) + (OF_BLOCK if lanes == THREADS else 0)
    apart = min(lanes, WARP) / TOGETHER  # statements in the time that lanes take to read what lies apart

    def of(block: Block) -> float:
        loops = block.every_loop()
        time = float(len(block.items) - len(loops))
        time += meeting if any(isinstance(item, Total) for _, item in block.items) else 0
        for loop in loops:
            turns = loop.turns(lengths)
            if grid.is_deep(loop):
                time += turns * of(loop.body)
            else:
                each = statements(loop.body, lengths) + apart * lies_along(loop, rows).count(False)
                time += (turns if one_by_one(loop) else -(-turns // lanes)) * each
        return time

    return of(rows.body)


@final
class Chains:
    """The nests of a kernel over chains, which are the rows of this length."""

    def __init__(self, kernel: Kernel, dim: str) -> None:
        self.kernel, self.dim = kernel, dim
        shared = kernel.shared_nests()
        self.nests: list[tuple[int, Loop]] = [(level, loop) for level, loop in shared if loop.first_dim == dim]
        self.others: list[tuple[int, Loop]] = [(level, loop) for level, loop in shared if loop.first_dim != dim]

    @cached_property
    def before(self) -> int:
        """How many levels there are of other nests."""
        return 1 + max((level for level, _ in self.others), default=-1)

    @cached_property
    def first(self) -> int:
        return min(level for level, _ in self.nests)

    def are_many(self, lengths: Mapping[str, int]) -> bool:
        """Whether blocks that take a chain each keep a GPU busy."""
        return lengths.get(self.dim, 0) >= CHAINS

    def are_apart(self) -> bool:
        """Whether chains need nothing of each other, no other nest anything of them, and their own nests must wait."""
        levels, loops = {level for level, _ in self.nests}, [loop for _, loop in self.nests]
        kept = any(loop.sequential or loop.scatters() for loop in loops) or self._needs_sums()
        filled = {item.output for loop in loops for item in loop.body.walk() if isinstance(item, Store)}
        stranger = any(not filled.isdisjoint(_others(loop)) for _, loop in self.others)
        if len(levels) == 1 or kept or stranger or self.kernel.near or any(map(has_pieces, loops)):
            return False  # pieces are for the threads of a grid
        return all(self._is_own(loop, filled) for loop in loops)

    @cached_property
    def _added(self) -> set[str]:
        """What is added up over all chains, and what is made of that."""
        root = self.kernel.root
        found = {item.name for _, loop in self.nests for item in loop.sums(root)}
        for item in [item for level in root.levels for item in root.statements(level)]:
            found |= {item.name} if isinstance(item, Made) and self.is_of_all(item, found) else set()
        return found

    def is_of_all(self, item: Statement, added: set[str] | None = None) -> bool:
        """Whether a statement needs what is added up over all chains."""
        return not reads(item).isdisjoint(self._added if added is None else added)

    def _needs_sums(self) -> bool:
        """Whether any nest needs what has been added up over all chains."""
        every = (*self.nests, *self.others)
        inside = [item for _, loop in every for item in loop.body.walk() if not isinstance(item, Loop)]
        return any(map(self.is_of_all, inside))

    def _is_own(self, loop: Loop, filled: set[int]) -> bool:
        """Whether a nest reads, and fills, nothing but the rows of its own chain."""
        chain = self._chain(loop)
        read = [index for output, indices in _others(loop).items() if output in filled for index in indices]
        stored = [item.indices[0] for item in loop.body.walk() if isinstance(item, Store) and item.indices]
        return chain is not None and all(index == chain for index in (*read, *stored))

    def _chain(self, loop: Loop) -> Name | None:
        """The index of the chain in a nest."""
        if loop.dim == self.dim:
            return Name(loop.index)
        found = [item for _, item in loop.body.items if isinstance(item, Assign) and item.op == "index"]
        of_first = bool(found) and found[0].args[0] == Name(loop.index) // loop.length_behind
        return Name(found[0].name) if of_first else None

    def in_blocks(self) -> Kernel:
        """The kernel whose blocks take a chain each."""
        root = _Behind(self).block(self.kernel.root)
        return replace(self.kernel, root=root, by_block=self.dim, block_level=self.before)

    def are_faster(self, lengths: Mapping[str, int]) -> bool:
        """Whether blocks that take a chain each need less time than a grid that goes through one nest after another."""
        return GAIN * self.by_block(lengths) < self.by_grid(lengths)

    def by_block(self, lengths: Mapping[str, int]) -> float:
        """The time, in statements that a block computes one after another, where blocks take a chain each."""
        of_chain = sum(block for block, _ in self._times(lengths)) * self._size / 4 + self._levels * WAIT
        return max(ALONE, lengths[self.dim] / AT_ONCE) * of_chain

    def by_grid(self, lengths: Mapping[str, int]) -> float:
        """The same of a grid that goes through one nest after another."""
        work = sum(work for _, work in self._times(lengths)) / THREADS * self._size / 4
        return lengths[self.dim] / AT_ONCE * work + self._bytes(lengths) / AT_ONCE / BYTES + self._levels * MEET

    @cached_property
    def _levels(self) -> int:
        return len({level for level, _ in self.nests})

    @cached_property
    def _size(self) -> int:
        """The bytes of the widest number that is loaded."""
        inside = [item for _, loop in self.nests for item in loop.body.walk()]
        return max((item.dtype.itemsize for item in inside if isinstance(item, Load)), default=8)

    def _times(self, lengths: Mapping[str, int]) -> list[tuple[int, int]]:
        return [_times(loop.body, lengths, loop.turns(lengths) // lengths[self.dim]) for _, loop in self.nests]

    def _bytes(self, lengths: Mapping[str, int]) -> int:
        """What nests read, and write, of what they leave to each other."""
        found = [self.kernel.outputs[number] for _, loop in self.nests for number in _left(loop)]
        return sum(elements(output.shape, lengths) * output.dtype.itemsize for output in found if output.temporary)


def _left(loop: Loop) -> set[int]:
    """The arrays that a nest fills, or that others have filled for it."""
    return {*(item.output for item in loop.body.walk() if isinstance(item, Store)), *_others(loop)}


def _times(block: Block, lengths: Mapping[str, int], count: int) -> tuple[int, int]:
    """The statements that a block's threads compute one after another for so many turns, and those of all of them."""
    loops = block.every_loop()
    own = len(block.items) - len(loops)
    time, work = -(-count // THREADS) * own, count * own
    for loop in loops:
        turns = loop.turns(lengths)
        if loop.sequential:
            one, all_of_it = _times(loop.body, lengths, count)
            found = turns * one, turns * all_of_it
        else:
            found = _times(loop.body, lengths, count * turns)
        time, work = time + found[0], work + found[1]
    return time, work


def _others(loop: Loop) -> dict[int, list[Expr]]:
    """The arrays that others leave to a nest, with the first indices that it reads of each."""
    found: dict[int, list[Expr]] = {}
    for item in loop.body.walk():
        if isinstance(item, Load) and isinstance(item.source, Temp):
            found.setdefault(item.source.output, []).extend(item.indices[:1])
    return found


@final
class _Behind(Copy):
    """The loop nests of a kernel again, those over chains behind all others, and behind them what needs their sums."""

    def __init__(self, chains: Chains) -> None:
        super().__init__()
        self.chains = chains
        self.own: set[object] = {loop for _, loop in chains.nests}

    def block(self, old: Block, parent: Block | None = None) -> Block:
        new = super().block(old, parent)
        if parent is None:
            items = zip(old.items, new.items, strict=True)
            new.items = [(self._level(level, was), item) for (level, was), (_, item) in items]
        return new

    def _level(self, level: int, item: Statement | Loop | Cases) -> int:
        moved = item in self.own or (isinstance(item, Statement) and self.chains.is_of_all(item))
        return self.chains.before + level - self.chains.first if moved else level
