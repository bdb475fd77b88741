"""How the partial results of a CUDA grid become whole: by trees in a block, in fixed order over blocks.

Reductions leave one partial result per block.  Scattered outputs are added up in two ways: where each thread meets the
same elements again and again, in *slots* of its own in shared memory; elsewhere by atomic additions to one array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from vecdist.codegen.cuda.slots import Slots, kept_slots
from vecdist.codegen.statements import ACCUMULATOR, INDENT, element_count, start, type_name
from vecdist.graph.shapes import Shape
from vecdist.kernel.ir import Accumulate, Kernel, Loop, Scatter

THREADS = 256  # threads of a block: eight warps, of which eight blocks fill a multiprocessor
SIZE = 8  # bytes of a sum
TEAM = 32  # the most lanes of a row, one warp, where there are rows enough
ELEMENTS_OF_LANE = 8  # of a row: enough loads in flight, and little work that the lanes of a team all repeat
BLOCKS = 512  # of rows that run at once, a few for each multiprocessor
MEETING = 40  # what it costs a block to find the result of a row, in elements of a lane: by rows of 3000 on an H200
FLUSH = 16  # rows whose float32 parts are added up in float32
WARP = 32
WARPS = THREADS // WARP
TOGETHER = 8  # results whose partial ones are read in one loop: as many loads in flight, in as many registers


def combined(op: str, kind: str, a: str, b: str) -> str:
    """Two results of a reduction as one; NaN is larger, and smaller, than any number."""
    if op in {"sum", "prod"}:
        return f"({a} {'+' if op == 'sum' else '*'} {b})"
    better = f"{a} {'>=' if op == 'max' else '<='} {b}"
    return f"({a} if {better}{f' or {a} != {a}' if kind == 'f' else ''} else {b})"


def team(longest: int) -> int:
    """The lanes that share a row: a power of two."""
    lanes = 1
    while lanes < TEAM and lanes * ELEMENTS_OF_LANE < longest:
        lanes *= 2
    return lanes


def worth_a_block(rows: int, longest: int) -> bool:
    """Whether rows are few enough, and long enough, for a block each: then a lane goes through fewer elements."""
    turns = max(1.0, rows / BLOCKS)
    return turns * (longest / THREADS + MEETING) < longest / TEAM


def elements(shape: Shape, lengths: Mapping[str, int]) -> int:
    """The number of elements of an array."""
    return math.prod(int(lengths.get(str(dim), dim)) for dim in shape)


def memory_type(dtype: np.dtype) -> str:
    """The name of the type in which shared memory holds a dtype: booleans are bytes."""
    return "u1" if dtype.kind == "b" else type_name(dtype)


class Grid:
    """The text of what threads, blocks and the grid do together."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.fixed: dict[str, int] = dict(kernel.fixed)
        known = kernel.inner_dims() <= set(self.fixed)
        self.lanes: int | None = team(max((self.fixed[dim] for dim in kernel.row_dims()), default=1)) if known else None
        self.slots: list[Slots] = kept_slots(kernel, self.lanes, THREADS)
        self.keeper: dict[Scatter, Slots] = {item: slots for slots in self.slots for item in slots.items}
        self.kept_outputs: list[int] = [number for number, output in enumerate(kernel.outputs) if output.kept]
        self.slot_outputs: list[int] = sorted({slots.number for slots in self.slots})
        items = [item for _, loop in kernel.nests() for item in loop.body.walk() if isinstance(item, Scatter)]
        self.atomic_outputs: list[int] = sorted({item.output for item in items if item not in self.keeper})

    def together(self) -> bool:
        """Whether blocks keep or add up something: then it is best done by as many as run at once."""
        return bool(self.kept_outputs or self.slot_outputs or self.atomic_outputs)

    def kept_places(self) -> Iterator[str]:
        """Where in shared memory each kept array begins, and the slots behind them, in units of eight bytes."""
        place = "0"
        for output in self.kept_outputs:
            yield f"    keep_o{output} = {place}"
            place = f"keep_o{output} + {self.count(output)}"
        for dtype in dict.fromkeys(self.kernel.outputs[output].dtype for output in self.kept_outputs):
            yield f"    kept_{memory_type(dtype)} = cuda.shared.array(0, memory_{memory_type(dtype)})"
        if self.slots:
            yield "    slots = cuda.shared.array(0, memory_f8)"
            yield f"    slot_base = {place}"

    def kept_element(self, output: int, offset: str) -> str:
        """An element of a kept array."""
        name = memory_type(self.kernel.outputs[output].dtype)
        return f"kept_{name}[{SIZE // int(name[1:])} * keep_o{output} + {offset}]"

    def known_lengths(self) -> Iterator[str]:
        """The lengths that are part of the program, and the lanes of a team, as a power of two."""
        yield from (f"    {dim} = {length}" for dim, length in self.kernel.fixed)
        if self.lanes is not None:
            yield f"    lanes = {self.lanes}"
            yield f"    shift = {self.lanes.bit_length() - 1}"

    def known_lanes(self, loop: Loop) -> Iterator[str]:
        """The lanes of a team of a nest, which are chosen at launch, as a power of two."""
        if self.lanes is None and loop.body.every_loop():
            yield f"    lanes = lanes_{loop.index}"
            if self.slots_of(loop):
                yield "    shift = 0"
                yield "    while (1 << shift) < lanes:"
                yield "        shift = shift + 1"

    def takes_blocks(self, loop: Loop) -> bool:
        """Whether a row of a nest may be a whole block's: some loop is long, and no thread has slots for all of it."""
        long = [inner for inner in loop.body.every_loop() if not inner.sequential and inner.dim not in self.fixed]
        return self.lanes is None and bool(long) and not self.slots_of(loop)

    def places(self) -> Iterator[str]:
        """Where the sums of each scattered output begin: one array for atomics, one row per element for blocks."""
        place = "0"
        for output in self.atomic_outputs:
            yield f"    at_o{output} = {place}"
            place = f"at_o{output} + {self.count(output)}"
        for output in self.slot_outputs:
            yield f"    part_o{output} = {place}"
            place = f"part_o{output} + blocks * ({self.count(output)})"

    def count(self, output: int) -> str:
        return element_count(self.kernel.outputs[output].shape)

    def slots_of(self, loop: Loop) -> list[Slots]:
        """What the threads of a nest keep."""
        return [slots for slots in self.slots if slots.loop is loop]

    def slot_places(self, loop: Loop) -> Iterator[str]:
        """The slots of each thread for a nest, all of them zero."""
        own, place = self.slots_of(loop), "0"
        for slots in own:
            yield f"    slot_o{slots.number} = {place}"
            place = f"slot_o{slots.number} + {slots.count}"
        if own:
            yield f"    for place in range(thread, ({place}) * {THREADS}, {THREADS}):"
            yield "        slots[slot_base + place] = 0.0"
        for slots in own:
            yield from slots.empty()
        if any(slots.registers for slots in own):
            yield "    turns = 0"

    def flushes(self, loop: Loop) -> Iterator[str]:
        """After each row: what was added up in float32 goes to the slots from time to time."""
        short = [slots for slots in self.slots_of(loop) if slots.registers and slots.word == "f4"]
        if short:
            yield "        turns = turns + 1"
            yield f"        if turns == {FLUSH}:"
            yield "            turns = 0"
        for slots in short:
            yield from slots.flush(INDENT * 3)

    def shared_bytes(self, lengths: Mapping[str, int], lanes: Mapping[Loop, int]) -> int:
        """The shared memory of a block: what is kept, and the slots of its threads, of the nest that has most."""
        kept = sum(elements(self.kernel.outputs[output].shape, lengths) for output in self.kept_outputs)
        most = 0
        for _, loop in self.kernel.nests():
            most = max(most, sum(slots.size(lengths, lanes[loop]) for slots in self.slots_of(loop)))
        return (kept + most * THREADS) * SIZE

    def sum_places(self, lengths: Mapping[str, int], blocks: int) -> int:
        """The elements of the array of sums of scattered outputs."""
        places = 1
        for outputs, rows in ((self.atomic_outputs, 1), (self.slot_outputs, blocks)):
            places += rows * sum(elements(self.kernel.outputs[output].shape, lengths) for output in outputs)
        return places

    def block_slots(self, loop: Loop, first: set[int]) -> Iterator[str]:
        """Add the slots of a block that hold the same element; ``first`` are outputs that nothing was added to yet."""
        own = self.slots_of(loop)
        for slots in own:
            yield from slots.flush(INDENT)
        if own:
            yield "    cuda.syncthreads()"
        for slots in own:
            yield from slots.of_block(slots.number in first)
            first.discard(slots.number)
        if own:
            yield "    cuda.syncthreads()"

    def whole_outputs(self, level: int, pad: str, share: tuple[str, str]) -> Iterator[str]:
        """Fill the outputs that no later loop adds to, ``share`` giving the first element and the step of a thread.

        A warp adds up what blocks found for an element, in an order that depends on nothing but their number.
        """
        for output in self.kernel.finished(level):
            slots = output in self.slot_outputs
            first, step = (f"{text} // 32" if slots else text for text in share)
            yield f"{pad}for element in range({first}, {self.count(output)}, {step}):"
            yield f"{pad}    whole = f8(0)"
            if slots:
                yield f"{pad}    for other in range(thread % 32, blocks, 32):"
                yield f"{pad}        whole = whole + sums[part_o{output} + element * blocks + other]"
                for hop in (16, 8, 4, 2, 1):
                    yield f"{pad}    whole = whole + cuda.shfl_xor_sync(u4(0xFFFFFFFF), whole, {hop})"
            yield f"{pad}    if {'thread % 32 == 0' if slots else 'True'}:"
            if output in self.atomic_outputs:
                yield f"{pad}        whole = whole + sums[at_o{output} + element]"
                yield f"{pad}        sums[at_o{output} + element] = 0.0"
            yield f"{pad}        o{output}[element] = {type_name(self.kernel.outputs[output].dtype)}(whole)"

    def block_results(self, sums: Sequence[Accumulate], done: int) -> Iterator[str]:
        """The results of a block to their places among the partial results."""
        if not sums:
            return
        yield from self.of_warps(sums, INDENT)
        for number, item in enumerate(sums):
            yield f"    if thread == {number % WARPS * WARP + number // WARPS}:"
            yield from self.of_block("shared", number, item, INDENT * 2)
            yield f"        partials[{done + number} * blocks + block] = {to_partial(item, item.name)}"
        yield "    cuda.syncthreads()"

    def of_warps(self, sums: Sequence[Accumulate], pad: str) -> Iterator[str]:
        """The results of each warp, pairwise, to shared memory."""
        for number, item in enumerate(sums):
            for hop in (16, 8, 4, 2, 1):
                found = f"cuda.shfl_xor_sync(u4(0xFFFFFFFF), {to_partial(item, item.name)}, {hop})"
                yield f"{pad}found = {from_partial(item, found)}"
                yield f"{pad}{item.name} = {combined(item.op, item.dtype.kind, item.name, 'found')}"
            yield f"{pad}if thread % {WARP} == 0:"
            yield f"{pad}    shared[{number * WARPS} + thread // {WARP}] = {to_partial(item, item.name)}"
        yield f"{pad}cuda.syncthreads()"

    def of_block(self, shared: str, number: int, item: Accumulate, pad: str) -> Iterator[str]:
        """The result of the warps, one after another."""
        yield f"{pad}{item.name} = {from_partial(item, f'{shared}[{number * WARPS}]')}"
        for warp in range(1, WARPS):
            yield f"{pad}found = {from_partial(item, f'{shared}[{number * WARPS + warp}]')}"
            yield f"{pad}{item.name} = {combined(item.op, item.dtype.kind, item.name, 'found')}"

    def totals(self, sums: Sequence[Accumulate], done: int, pad: str) -> Iterator[str]:
        """The partial results of all blocks combined in a fixed order, by all threads of a block together."""
        for begin in range(0, len(sums), TOGETHER):
            group = sums[begin : begin + TOGETHER]
            yield from (f"{pad}{item.name} = {start(item)}" for item in group)
            yield f"{pad}for other in range(thread, blocks, {THREADS}):"
            for number, item in enumerate(group, done + begin):
                found = from_partial(item, f"partials[{number} * blocks + other]")
                yield f"{pad}    found_{item.name} = {found}"
            for item in group:
                both = combined(item.op, item.dtype.kind, item.name, f"found_{item.name}")
                yield f"{pad}    {item.name} = {both}"
        if sums:
            yield from self.of_warps(sums, pad)
            for number, item in enumerate(sums):
                yield from self.of_block("shared", number, item, pad)
            yield f"{pad}cuda.syncthreads()"

    def barrier(self, counter: int) -> Iterator[str]:
        """Wait until every block has come here; the launch is cooperative, so all of them run at once."""
        yield "    cuda.syncthreads()"
        yield "    if thread == 0:"
        yield "        cuda.threadfence()"
        yield f"        cuda.atomic.add(arrivals, {counter}, 1)"
        yield f"        while cuda.atomic.add(arrivals, {counter}, 0) < blocks:"
        yield "            pass"
        yield "        cuda.threadfence()"
        yield "    cuda.syncthreads()"


def counters(kernel: Kernel) -> int:
    """The arrival counters of a kernel: one for the end, two for each level."""
    return 1 + 2 * len(kernel.root.levels)


def to_partial(item: Accumulate, text: str) -> str:
    return text if item.dtype.kind == "f" else f"as_f8(i8({text}))"


def from_partial(item: Accumulate, text: str) -> str:
    return text if item.dtype.kind == "f" else f"{ACCUMULATOR[item.dtype.kind]}(as_i8({text}))"
