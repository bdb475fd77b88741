"""What a CUDA grid is made of: its blocks, the lanes that share a row, and where sums of scattered outputs are kept."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from vecdist.codegen.collapsing import has_pieces, loops_in
from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.privatisation import REGISTERS, Private, private_sums
from vecdist.codegen.statements import lies_along
from vecdist.graph.shapes import Shape
from vecdist.kernel.expressions import Constant, Expr, names
from vecdist.kernel.ir import Block, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load, Scatter, Temp
from vecdist.passes.few_rows import JAMMED

THREADS = 256  # threads of a block: eight warps, of which eight blocks fill a multiprocessor
SIZE = 8  # bytes of a sum
GROUP = 32  # the most lanes of a row, one warp, where there are rows enough
SCARCE = 2048  # rows of so many lanes that leave threads of a GPU without any
ELEMENTS_OF_LANE = 8  # of a row: enough loads in flight, and little work that the lanes of a group all repeat
WIDE = 1024  # elements of a row of known length from which on it is a block's: a warp need not wait for others
PIECES = 256  # of rows that are cut, in all: as many blocks as run at once
PIECES_ACROSS = 2**16  # of those across memory, each of which is a thread's
PIECES_OF_ROW = 4096  # of these, which a block goes through
LEAST = 4096  # elements of a piece
LEAST_ACROSS = 64
BLOCKS = 512  # of rows that run at once, a few for each multiprocessor
STATEMENTS = 32  # of an element, from which on it takes longer
APART = 4.0  # times as long as others an element takes whose neighbours in memory belong to others
MEETING = 40  # what it costs a block to find the result of a row, in elements of a lane: by rows of 3000 on an H200
ASSOCIATIVE = {"sum", "prod", "max", "min", "linear"}  # what running results are made by that lanes can share
WARP = 32
LINE = 16  # lanes that read a whole line of memory, in numbers of 8 bytes
WARPS = THREADS // WARP


def group(longest: int) -> int:
    """The lanes that share a row: a power of two."""
    lanes = 1
    while lanes < GROUP and lanes * ELEMENTS_OF_LANE < longest:
        lanes *= 2
    return lanes


def worth_a_block(rows: int, loops: Sequence[Loop], lengths: Mapping[str, int]) -> bool:
    """Whether rows are few enough, and long enough, for a block each, whose lanes share these loops.

    A lane then goes through fewer elements, which take longer where they have many statements, or loops of their own.
    """
    each = [(loop.turns(lengths), inner_work(loop, lengths)) for loop in loops if not one_by_one(loop)]
    by_block, by_warp = (sum(max(1.0, turns / lanes) * work for turns, work in each) for lanes in (THREADS, GROUP))
    return max(1.0, rows / BLOCKS) * (by_block + MEETING) < by_warp


def inner_work(loop: Loop, lengths: Mapping[str, int]) -> float:
    """How long an element takes: with those of loops of its own, as many as have few statements.

    Partial results of a column lie apart in memory.
    """
    inside = math.prod(elements((dim,), lengths) for dim in loop.dims()[1:])
    return inside * (APART if loop.dim.isdigit() else max(1.0, len(loop.body.items) / STATEMENTS))


def statements(block: Block, lengths: Mapping[str, int]) -> int:
    """The statements of one turn of a loop that a lane goes through alone."""
    loops = block.every_loop()
    own = len(block.items) - len(loops)
    return own + sum(loop.turns(lengths) * statements(loop.body, lengths) for loop in loops)


def one_by_one(loop: Loop) -> bool:
    """Whether one thread must run a loop in order: what its elements do to results has no associative law."""
    if not loop.sequential or loop.body.parent is None:
        return False
    found = {item.op for item in loop.sums(loop.body.parent)}
    return not found or not found <= ASSOCIATIVE


def is_across(rows: Loop) -> bool:
    """Whether neighbours in memory belong to different rows of results that run along these."""
    inner = rows.body.every_loop()
    along = [found for each in inner for found in lies_along(each, rows)]
    return all(each.sequential for each in inner) and bool(along) and not any(along)


def are_columns(loops: Sequence[Loop], rows: Loop) -> bool:
    """Whether neighbours in memory are those of other rows, wherever these loops read or write."""
    along = [found for each in loops for found in lies_along(each, rows)]
    return bool(along) and not any(along)


def _backward(kernel: Kernel) -> set[Loop]:
    """The nests that go through arrays from the last element on: what the nest before read last is in the cache."""
    found, last = set(), dict[object, bool]()
    for _, loop in kernel.shared_nests():
        loads = [item for item in loop.body.walk() if isinstance(item, Load)]
        read = {item.source for item in loads if not isinstance(item.source, Temp)}
        if any(last.get(source) is False for source in read):
            found.add(loop)
        last |= dict.fromkeys(read, loop in found)
    return found


def _lanes_of_pieces(rows: Loop) -> int:
    """The lanes of a row: those of a warp where it is a piece whose elements lie side by side."""
    steps = [each for each in loops_in(rows) if each.step > 1]
    read = [(each.index, item.indices) for each in steps for item in each.body.walk() if isinstance(item, Load)]
    along = [index in names(indices[-1]) for index, indices in read if index in names(*indices)]
    return WARP if along and all(along) else 1


def elements(shape: Shape, lengths: Mapping[str, int]) -> int:
    """The number of elements of an array, or of turns of a loop, whose length may be the product of several."""
    return math.prod(int(lengths.get(each, each)) for dim in shape for each in str(dim).split("*"))


def _known(kernel: Kernel) -> dict[str, int]:
    """The lengths of inner loops that are known, products among them."""
    fixed = dict(kernel.fixed)
    products = [dim.split("*") for dim in kernel.inner_dims() if "*" in dim] if kernel.spread else []
    known = [each for each in products if fixed.keys() >= {*each}]
    return fixed | {"*".join(each): math.prod(fixed[dim] for dim in each) for each in known}


class Grid:
    """What is decided for all nests of a kernel at once."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.strips: dict[str, int] = dict(kernel.strips)
        self.fixed: dict[str, int] = {**_known(kernel), **self.strips}  # what is known of a thread's loops
        known = dict(kernel.block_lanes)
        self.by_block: dict[Loop, int] = {loop: known.get(loop.index, WARP) for loop in kernel.block_nests()}
        columns = [loop for _, loop in kernel.shared_nests() if self._is_of_columns(loop)]
        self.columns: dict[Loop, int] = {loop: _lanes_of_pieces(loop) for loop in columns}
        nests = [loop for _, loop in kernel.shared_nests() if self._is_known(loop) and loop not in self.columns]
        self.lanes: dict[Loop, int] = {loop: self._lanes_of(loop) for loop in nests}  # of rows that the program knows
        self.private: list[Private] = private_sums(kernel, self.lanes, THREADS)
        self.kept_outputs: list[int] = [number for number, output in enumerate(kernel.outputs) if output.kept]
        self.private_outputs: list[int] = sorted({*(each.number for each in self.private), *kernel.near})
        self.strip_outputs: set[int] = {each.number for each in self.private if each.strips}
        own = {item for each in self.private for item in each.items}
        items = [item for _, loop in kernel.nests() for item in loop.body.walk() if isinstance(item, Scatter)]
        self.atomic_outputs: list[int] = sorted({item.output for item in items if item not in own} - {*kernel.near})
        self.sums: list[Accumulate] = [item for _, loop in kernel.nests() for item in loop.sums(kernel.root)]
        self.cut: list[Loop] = [loop for _, loop in kernel.shared_nests() if self._is_cut(loop)]
        self.piece_parts: dict[str, int] = {}  # of changes that pieces leave: where they begin
        self.piece_places: int = 0
        for loop in self.cut:
            for item in (item for inner in loop.body.every_loop() for item in inner.sums(loop.body)):
                for part in parts(item, "whole"):
                    self.piece_parts[part] = self.piece_places
                    self.piece_places += PIECES_ACROSS if is_across(loop) else PIECES
        levels = {level for level, _ in kernel.shared_nests()}
        apart = {level for level, loop in kernel.shared_nests() if loop not in self.by_block}
        self.ends: list[int] = kernel.finished(max(levels, default=0))  # outputs that no later loop reads
        # whether a loop needs what the whole grid has found before
        self.waits: bool = len(apart) + bool(self.by_block) > 1 or bool(self.cut)
        self.backward: set[Loop] = _backward(kernel) if self.waits else set()
        # whether blocks leave nothing to each other, so that there may be as many as there is work
        self.apart: bool = not (self.sums or self.waits or self.together())

    def together(self) -> bool:
        """Whether blocks keep or add up something: then it is best done by as many as run at once."""
        return bool(self.kept_outputs or self.private_outputs or self.atomic_outputs)

    def known_lanes(self, loop: Loop) -> int | None:
        """The lanes of a group of a nest, where its program knows them."""
        return self.columns.get(loop) or self.by_block.get(loop) or self.lanes.get(loop)

    def shared(self, block: Block) -> list[Loop]:
        """The loops in a row that lanes share: its own, and those inside of others that all go through together."""
        inner = [self.shared(each.body) if self.is_deep(each) else [each] for each in block.every_loop()]
        return [loop for loops in inner for loop in loops]

    def is_deep(self, loop: Loop) -> bool:
        """Whether all lanes go through a loop of a row together."""
        return loop.index in self.kernel.deep

    def private_to(self, loop: Loop) -> list[Private]:
        """What the threads of a nest add up for themselves."""
        return [each for each in self.private if each.loop is loop]

    def is_cut_into_strips(self, loop: Loop) -> bool:
        """Whether blocks take strips of the inner loops of a nest."""
        return any(inner.dim in self.strips for inner in loop.body.every_loop())

    def rows_of_block(self, loop: Loop) -> tuple[Expr, Expr]:
        """The first row that a block has of its chain in a nest, and the one behind its last."""
        first = cuda.CHAIN * loop.length_behind
        return first, first + loop.length_behind

    def rows_of_group(self, loop: Loop) -> tuple[Expr, Expr]:
        """The first row of a group of lanes, and how far it is to its next one."""
        if loop in self.by_block:
            return self.rows_of_block(loop)[0] + cuda.THREAD // cuda.LANES, Constant(THREADS) // cuda.LANES
        if not self.is_cut_into_strips(loop):
            return cuda.FIRST // cuda.LANES, cuda.STEP // cuda.LANES
        first = cuda.MEMBER * THREADS + cuda.THREAD
        return first // cuda.LANES, cuda.MEMBERS * THREADS // cuda.LANES

    def strip_count(self, lengths: Mapping[str, int]) -> int:
        """How many strips there are; 1 where nothing is cut."""
        return max((-(-lengths[dim] // width) for dim, width in self.strips.items()), default=1)

    def parts(self, output: int) -> Expr:
        """How many blocks find sums for each element of an output."""
        return cuda.MEMBERS if output in self.strip_outputs else cuda.BLOCKS

    def takes_blocks(self, loop: Loop) -> bool:
        """Whether a row of a nest may be a whole block's: some loop is long."""
        if loop in self.by_block:
            return self.by_block[loop] == THREADS
        if loop in self.columns:
            return False
        several = [inner for inner in self.shared(loop.body) if not one_by_one(inner)]
        long = [inner for inner in several if inner.dim not in self.fixed or self.is_deep(loop)]
        return self.lanes.get(loop) == THREADS or (loop not in self.lanes and bool(long) and not self.has_steps(loop))

    def has_steps(self, loop: Loop) -> bool:
        """Whether lanes go through steps of a row together, between which those of a warp wait for each other."""
        inside = [item for item in loop.body.walk() if isinstance(item, Loop)]
        return any(inner.sequential and self.is_deep(inner) for inner in inside)

    def _is_cut(self, loop: Loop) -> bool:
        """Whether rows of a nest may be cut into pieces: nothing is made of them but running results."""
        inner, others = loop.body.every_loop(), [item for _, item in loop.body.items if not isinstance(item, Loop)]
        in_order = len(inner) == 1 and inner[0].sequential and not one_by_one(inner[0])
        several = self.takes_blocks(loop) and loop not in self.by_block
        return in_order and several and all(isinstance(item, Assign | Load) for item in others)

    def _is_of_columns(self, loop: Loop) -> bool:
        """Whether each row of a nest is a column, one thread's: neighbours in memory belong to others, which are many.

        Pieces are such rows too, though those that lie along memory are a warp's.
        """
        if has_pieces(loop):
            return True
        inner = loops_in(loop)
        short = all(self.fixed.get(each.dim, GROUP + 1) <= GROUP for each in inner)  # which lie in registers
        return bool(inner) and not short and loop.dim in self.kernel.ample and are_columns(inner, loop)

    def _is_known(self, loop: Loop) -> bool:
        """Whether the lengths of all loops in a nest are known, and lanes share those that stand in its rows."""
        inner = [each for each in loop.body.walk() if isinstance(each, Loop)]
        return all(each.dim in self.fixed for each in inner) and not any(map(self.is_deep, (loop, *inner)))

    def _lanes_of(self, loop: Loop) -> int:
        """The lanes of a row of known length: more where loops in each other leave a lane too many sums."""
        if loop in self.by_block:
            return self.by_block[loop]
        inner = loop.body.every_loop()
        longest = max((self.fixed[each.dim] for each in inner), default=1)
        if longest > WIDE:
            return THREADS
        alone = self.is_jammed(loop) or loop.dim in self.kernel.ample
        lanes, room = 1 if alone else self._group_of(inner), JAMMED if self.is_jammed(loop) else REGISTERS
        sums = private_sums(self.kernel, {}, THREADS) if self._has_many_sums(loop) else []
        own = [each for each in sums if each.loop is loop]
        scarce = bool(own) and loop.dim in self.kernel.scarce
        while lanes < min(longest, GROUP) and (scarce or sum(each.size(self.fixed, lanes) for each in own) > room):
            lanes *= 2
        return lanes

    def _group_of(self, inner: Sequence[Loop]) -> int:
        """The lanes that share these loops: more where these have loops of their own, but no more than elements."""
        lanes = 1
        for each in inner:
            all_of_it, own = math.prod(self.fixed[dim] for dim in each.dims()), self.fixed[each.dim]
            lanes = max(lanes, group(own), min(group(all_of_it), 1 << max(1, own).bit_length() - 1))
        return lanes

    def scarce(self, lengths: Mapping[str, int]) -> tuple[str, ...]:
        """The lengths of rows that lanes share and add up for themselves, where these are too few for all threads."""
        loops = {each.loop for each in self.private if each.loop in self.lanes and self._has_many_sums(each.loop)}
        return tuple(sorted({loop.dim for loop in loops if loop.turns(lengths) <= SCARCE}))

    def _has_many_sums(self, rows: Loop) -> bool:
        """Whether a lane adds up more than one thing for each element: there are loops in each other, or chains."""
        return self.is_jammed(rows) or any(each.body.every_loop() for each in rows.body.every_loop())

    def is_jammed(self, rows: Loop) -> bool:
        """Whether the chains of a nest are written out, each of which adds to places of its own."""
        added = [item for loop in rows.body.every_loop() for item in loop.body.walk() if isinstance(item, Scatter)]
        return any(isinstance(index, Constant) for item in added for index in item.indices)

    def element(self, loop: Loop, rows: Loop, turn: Expr) -> Expr:
        """The element of an inner loop of known length that a lane takes in one of its turns."""
        first = cuda.LANE + Constant(self.lanes[rows]) * turn
        return cuda.STRIP * self.strips[loop.dim] + first if loop.dim in self.strips else first

    def may_end(self, loop: Loop, rows: Loop) -> bool:
        """Whether a lane may have no element in its last turn."""
        length = self.fixed[loop.dim]
        return loop.dim in self.strips or not length or length % self.lanes[rows] != 0

    def turns(self, loop: Loop, rows: Loop) -> int:
        """How many elements of an inner loop of known length a lane takes: one at least, which it may skip."""
        return max(1, -(-self.fixed[loop.dim] // self.lanes.get(rows, 1)))

    def shared_bytes(self, lengths: Mapping[str, int], lanes: Mapping[Loop, int]) -> int:
        """The shared memory of a block: what is kept, its own sums, and slots of its threads, of the nest with most."""
        in_blocks = *self.kept_outputs, *self.kernel.near
        kept = sum(elements(self.kernel.outputs[output].shape, lengths) for output in in_blocks)
        most = 0
        for _, loop in self.kernel.nests():
            most = max(most, sum(each.size(lengths, lanes[loop]) for each in self.private_to(loop)))
        return (kept + most * THREADS) * SIZE

    def sum_places(self, lengths: Mapping[str, int], blocks: int) -> int:
        """The elements of the array of sums of scattered outputs."""
        members = blocks // self.strip_count(lengths)
        parts = [(output, 1) for output in self.atomic_outputs]
        parts += [(output, members if output in self.strip_outputs else blocks) for output in self.private_outputs]
        return 1 + sum(each * elements(self.kernel.outputs[output].shape, lengths) for output, each in parts)


def needs_grid_barrier(kernel: Kernel) -> bool:
    """Whether a loop needs a sum, a temporary array or results of pieces of an earlier loop of the whole grid."""
    return Grid(kernel).waits


def counters(kernel: Kernel) -> int:
    """The arrival counters of a kernel: one for the end, two for each level, one or two for each nest of cut rows."""
    return 1 + 2 * len(kernel.root.levels) + sum(map(meetings, Grid(kernel).cut))


def partial_places(grid: Grid, blocks: int) -> int:
    """The partial results of a kernel: one of each block for each sum, and of each piece of a row that is cut."""
    return max(1, len(grid.sums) * blocks + grid.piece_places)


def cut_counter(grid: Grid, loop: Loop) -> int:
    """The first counter of a nest whose rows are cut."""
    earlier = grid.cut[: grid.cut.index(loop)]
    return 1 + 2 * len(grid.kernel.root.levels) + sum(map(meetings, earlier))


def meetings(rows: Loop) -> int:
    """How often all blocks meet where rows are cut."""
    return 2 if is_across(rows) else 1


def parts(item: Accumulate, kind: str) -> tuple[str, ...]:
    """The names of what elements do to a running result: of a value, and of a factor where they multiply first."""
    return (f"{kind}_{item.name}", *([] if item.factor is None else [f"{kind}_by_{item.name}"]))
