"""How the partial results of a CUDA grid become whole: by trees in a block, in fixed order over blocks.

Reductions leave one partial result per block.  Scattered outputs are added up in two ways: where each thread meets the
same elements again and again, in *slots* of its own in shared memory; elsewhere by atomic additions to one array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from vecdist.codegen.statements import ACCUMULATOR, INDENT, element_count, start, type_name
from vecdist.kernel import Accumulate, Kernel, Loop, Scatter
from vecdist.shapes import Shape

THREADS = 256  # threads of a block: eight warps, of which eight blocks fill a multiprocessor
SIZE = 8  # bytes of a sum
TEAM = 32  # the most lanes of a row, one warp, where there are rows enough
ELEMENTS_OF_LANE = 8  # of a row: enough loads in flight, and little work that the lanes of a team all repeat
BLOCKS = 512  # of rows that run at once, a few for each multiprocessor
MEETING = 40  # what it costs a block to find the result of a row, in elements of a lane: by rows of 3000 on an H200
REGISTERS = 32  # sums of one output that a thread may hold in registers
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


def slotted(kernel: Kernel) -> dict[Scatter, Loop]:
    """The scatters of a nest whose indices are inner loops, with the loop over rows: their threads keep slots."""
    found = {}
    for _, loop in kernel.nests():
        inner = {item.index for item in loop.body.walk() if isinstance(item, Loop)}
        for item in loop.body.walk():
            if isinstance(item, Scatter) and item.indices and set(item.indices) <= inner:
                found[item] = loop
    return found


def split_index(loop: Loop) -> set[str]:
    """The indices of the loops that the lanes of a team share."""
    return {item.index for _, item in loop.body.items if isinstance(item, Loop)}


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
        self.slots = slotted(kernel)
        self.fixed = dict(kernel.fixed)
        known = kernel.inner_dims() <= set(self.fixed)
        self.lanes = team(max((self.fixed[dim] for dim in kernel.row_dims()), default=1)) if known else None
        self.registers = {item for item, loop in self.slots.items() if 0 < self.register_count(item, loop) <= REGISTERS}
        self.kept_outputs = [number for number, output in enumerate(kernel.outputs) if output.kept]
        self.slot_outputs = sorted({item.output for item in self.slots})
        items = [item for _, loop in kernel.nests() for item in loop.body.walk() if isinstance(item, Scatter)]
        self.atomic_outputs = sorted({item.output for item in items if item not in self.slots})

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
            if self.scatters(loop):
                yield "    shift = 0"
                yield "    while (1 << shift) < lanes:"
                yield "        shift = shift + 1"

    def takes_blocks(self, loop: Loop) -> bool:
        """Whether a row of a nest may be a whole block's: some loop is long, and no thread has slots for all of it."""
        long = [inner for inner in loop.body.every_loop() if not inner.sequential and inner.dim not in self.fixed]
        return self.lanes is None and bool(long) and not self.scatters(loop)

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

    def slot_places(self, loop: Loop) -> Iterator[str]:
        """The slots of each thread for the scatters of a nest, all of them zero."""
        place = "0"
        for item in self.scatters(loop):
            yield f"    slot_o{item.output} = {place}"
            place = f"slot_o{item.output} + {self.slot_count(item, loop)}"
        if place != "0":
            yield f"    for place in range(thread, ({place}) * {THREADS}, {THREADS}):"
            yield "        slots[slot_base + place] = 0.0"
        for item in self.scatters(loop):
            if item in self.registers:
                size = self.register_count(item, loop)
                yield f"    sums_o{item.output} = cuda.local.array({size}, memory_{self.register_type(item)})"
                yield f"    for place in range({size}):"
                yield f"        sums_o{item.output}[place] = {self.register_type(item)}(0)"
        if any(item in self.registers for item in self.scatters(loop)):
            yield "    turns = 0"

    def flushes(self, loop: Loop) -> Iterator[str]:
        """After each row: what was added up in float32 goes to the slots from time to time."""
        short = [item for item in self.scatters(loop) if item in self.registers and self.register_type(item) == "f4"]
        if short:
            yield "        turns = turns + 1"
            yield f"        if turns == {FLUSH}:"
            yield "            turns = 0"
            yield from self.flush(loop, short, INDENT * 3)

    def flush(self, loop: Loop, items: Sequence[Scatter], pad: str) -> Iterator[str]:
        """Add the registers of a thread to its slots."""
        for item in items:
            yield f"{pad}for place in range({self.register_count(item, loop)}):"
            target = f"slots[slot_base + (slot_o{item.output} + place) * {THREADS} + thread]"
            yield f"{pad}    {target} = {target} + f8(sums_o{item.output}[place])"
            yield f"{pad}    sums_o{item.output}[place] = {self.register_type(item)}(0)"

    def register_type(self, item: Scatter) -> str:
        return "f4" if self.kernel.outputs[item.output].dtype == np.float32 else "f8"

    def register_count(self, item: Scatter, loop: Loop) -> int:
        """The registers of a thread for the elements that its lane meets; 0 where lengths are not known."""
        if self.lanes is None:
            return 0
        first, *rest = (int(self.fixed.get(dim, 0)) for dim in self.dims(item))
        return math.prod((-(-first // self.lanes) if item.indices[0] in split_index(loop) else first, *rest))

    def scatters(self, loop: Loop) -> list[Scatter]:
        return [item for item, own in self.slots.items() if own is loop]

    def slot_count(self, item: Scatter, loop: Loop) -> str:
        """The slots of one thread: the elements that its lane meets."""
        dims = self.dims(item)
        if item.indices[0] in split_index(loop):
            dims = [f"(({dims[0]} + lanes - 1) // lanes)", *dims[1:]]
        return " * ".join(dims)

    def dims(self, item: Scatter) -> list[str]:
        return [str(dim) for dim in self.kernel.outputs[item.output].shape if dim != 1]

    def slot(self, item: Scatter) -> str:
        """The slot of the element that a scatter adds to."""
        loop, (first, *rest) = self.slots[item], item.indices
        place = f"({first} >> shift)" if first in split_index(loop) else first
        for index, dim in zip(rest, self.dims(item)[1:], strict=True):
            place = f"({place} * {dim} + {index})"
        return f"slots[slot_base + (slot_o{item.output} + {place}) * {THREADS} + thread]"

    def shared_bytes(self, lengths: Mapping[str, int], lanes: Mapping[Loop, int]) -> int:
        """The shared memory of a block: what is kept, and the slots of its threads, of the nest that has most."""
        kept = sum(elements(self.kernel.outputs[output].shape, lengths) for output in self.kept_outputs)
        most = 0
        for _, loop in self.kernel.nests():
            counts = []
            for item in self.scatters(loop):
                first, *rest = (int(lengths.get(dim, dim)) for dim in self.dims(item))
                own = -(-first // lanes[loop]) if item.indices[0] in split_index(loop) else first
                counts.append(math.prod((own, *rest)))
            most = max(most, sum(counts))
        return (kept + most * THREADS) * SIZE

    def sum_places(self, lengths: Mapping[str, int], blocks: int) -> int:
        """The elements of the array of sums of scattered outputs."""
        places = 1
        for outputs, rows in ((self.atomic_outputs, 1), (self.slot_outputs, blocks)):
            places += rows * sum(elements(self.kernel.outputs[output].shape, lengths) for output in outputs)
        return places

    def register(self, item: Scatter) -> str:
        """The register of the element that a scatter adds to, where all inner loops are written out."""
        first, *rest = item.indices
        place = f"turn_{first}" if first in split_index(self.slots[item]) else first
        for index, dim in zip(rest, self.dims(item)[1:], strict=True):
            place = f"({place} * {dim} + {index})"
        return f"sums_o{item.output}[{place}]"

    def block_slots(self, loop: Loop, first: set[int]) -> Iterator[str]:
        """Add the slots of a block that hold the same element; ``first`` are outputs that nothing was added to yet."""
        scatters = self.scatters(loop)
        yield from self.flush(loop, [item for item in scatters if item in self.registers], INDENT)
        if scatters:
            yield "    cuda.syncthreads()"
        for item in scatters:
            split = item.indices[0] in split_index(loop)
            rest = " * ".join(self.dims(item)[1:]) or "1"
            yield f"    for element in range(thread, {self.count(item.output)}, {THREADS}):"
            yield "        whole = f8(0)"
            if split:
                yield f"        row = element // ({rest})"
                yield f"        place = slot_o{item.output} + (row // lanes) * ({rest}) + element % ({rest})"
                yield f"        for other in range(row % lanes, {THREADS}, lanes):"
            else:
                yield f"        place = slot_o{item.output} + element"
                yield f"        for other in range({THREADS}):"
            yield f"            whole = whole + slots[slot_base + place * {THREADS} + other]"
            target = f"sums[part_o{item.output} + element * blocks + block]"
            yield f"        {target} = {'whole' if item.output in first else f'{target} + whole'}"
            first.discard(item.output)
        if scatters:
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
