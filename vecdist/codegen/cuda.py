"""Source for numba-cuda: the whole kernel is one launch.

Outermost loops are shared by all threads of the grid.  A loop over rows gives each row to one *team* of ``lanes``
threads (1 or 32, chosen at launch) that share its inner loops.  Sums over everything end in a partial sum per block,
which the last block to finish adds up in a fixed order; where a later loop needs a sum, the whole grid waits for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vecdist.codegen.grid import SHARED_SUMS, THREADS, Grid, combined, counters
from vecdist.codegen.source import Source
from vecdist.codegen.statements import (
    ACCUMULATOR,
    INDENT,
    array_name,
    assignment,
    dense_offset,
    slot_of,
    start,
    typed_zero,
    varying,
)
from vecdist.codegen.teams import TeamLines, picked
from vecdist.kernel import Accumulate, Assign, Block, Flag, Kernel, Load, Loop, Scatter, Statement, Store, Total

# Elements that a thread computes in one turn, by the statements of a body: loads in flight fill the memory system, but
# the registers of a long body leave room for fewer of them.
COPIES = ((80, 8), (130, 4), (300, 2))
TYPED = {"floor", "fmod", "rint", "sqrt", "bits", "from_bits"}  # functions of libdevice, of one type each


def unrolling(loop: Loop) -> int:
    """How many elements a thread computes in one turn of an outermost loop."""
    if any(isinstance(item, Loop) for _, item in loop.body.items):
        return 1
    short = [case.short for level in loop.body.levels for case in loop.body.cases(level)]
    length = len(loop.body.items) + sum(len(block.items) for block in short)
    copies = next((copies for longest, copies in COPIES if length <= longest), 1)
    wide = any(isinstance(item, Load) and item.dtype.itemsize == 8 for _, item in loop.body.items)
    return max(1, copies // 2) if wide else copies


def is_team_loop(loop: Loop) -> bool:
    """Whether the iterations of an outermost loop are rows with loops of their own."""
    return any(isinstance(item, Loop) for _, item in loop.body.items)


def needs_grid_barrier(kernel: Kernel) -> bool:
    """Whether a loop needs a sum, or a temporary array, of an earlier loop of the whole grid."""
    return len({level for level, _ in kernel.shared_nests()}) > 1


def render(kernel: Kernel) -> Source:
    """The source of ``kernel`` for CUDA."""
    return Source("\n".join(_Renderer(kernel).module()) + "\n", kernel)


class _Renderer(TeamLines):
    def __init__(self, kernel: Kernel) -> None:
        super().__init__(Grid(kernel))
        self.kernel = kernel
        self.nests = kernel.nests()
        self.sums = [s for _, loop in self.nests for s in loop.sums(kernel.root)]

    def module(self) -> Iterator[str]:
        yield "from vecdist.backends.cuda_language import *"
        yield f"\n\ndef kernel({', '.join(parameters(self.kernel))}):"
        yield from self.grid.known_lengths()
        yield "    thread = cuda.threadIdx.x"
        yield "    block = cuda.blockIdx.x"
        yield "    blocks = cuda.gridDim.x"
        yield f"    first = block * {THREADS} + thread"
        yield f"    step = blocks * {THREADS}"
        if self.sums:
            yield f"    shared = cuda.shared.array({THREADS * min(SHARED_SUMS, len(self.sums))}, f8)"
        yield from self.grid.kept_places()
        yield from self.grid.places()
        yield from self.body()

    def body(self) -> Iterator[str]:
        root, done = self.kernel.root, 0
        last = max((level for level, _ in self.nests), default=-1)
        added_to = set(self.grid.slot_outputs)
        for level in root.levels:
            if level <= last:
                for item in root.statements(level):
                    if not isinstance(item, Store | Flag):
                        yield INDENT + self.statement(item)
            kept = [loop for loop in root.loops(level) if self.kernel.is_kept(loop)]
            for loop in kept:
                yield f"    for {loop.index} in range(thread, {loop.dim}, {THREADS}):"
                yield from self.serial(loop.body, 2)
            if kept:
                yield "    cuda.syncthreads()"
            loops = [loop for loop in root.loops(level) if loop not in kept]
            for loop in loops:
                yield from self.grid.slot_places(loop)
                yield from self.nest(loop)
                yield from self.grid.block_slots(loop, added_to)
            sums = [s for loop in loops for s in loop.sums(root)]
            yield from self.grid.block_results(sums, done)
            if loops and level < last:
                yield from self.together(level, sums, done)
            elif level == last:
                yield from self.ending(level, sums, done)
            done += len(sums)
        if last < 0:
            yield from self.ending(-1, [], 0)

    def together(self, level: int, sums: Sequence[Accumulate], done: int) -> Iterator[str]:
        """Wait for the whole grid, and make known what later loops need."""
        yield from self.grid.barrier(1 + 2 * level)
        yield from self.grid.totals(sums, done, INDENT)
        if self.kernel.finished(level):
            yield from self.grid.whole_outputs(level, INDENT, ("first", "step"))
            yield from self.grid.barrier(2 + 2 * level)

    def nest(self, loop: Loop) -> Iterator[str]:
        for item in loop.sums(self.kernel.root):
            yield f"    {item.name} = {start(item)}"
        if is_team_loop(loop):
            yield from self.team_nest(loop)
            return
        copies = unrolling(loop)
        if copies == 1:
            yield f"    for {loop.index} in range(first, {loop.dim}, step):"
            yield from self.serial(loop.body, 2)
            return
        tile = THREADS * copies
        loads = [item for item in loop.body.statements(0) if isinstance(item, Load) and not picked(item, loop.body)]
        for item in loads:
            for number in range(copies):
                yield f"    f_{item.name}_{number} = {typed_zero(item.dtype)}"
        yield from self.fetched(loop, loads, copies, f"block * {tile}", INDENT)
        yield f"    for base in range(block * {tile}, {loop.dim}, blocks * {tile}):"
        yield "        done = False"
        yield f"        if base + {tile} <= {loop.dim}:"
        yield from self.unrolled(loop, loads, copies)
        yield "        if not done:"
        yield f"            for {loop.index} in range(base + thread, min(base + {tile}, {loop.dim}), {THREADS}):"
        yield from self.serial(loop.body, 4)

    def fetched(self, loop: Loop, loads: Sequence[Load], copies: int, base: str, pad: str) -> Iterator[str]:
        """Load the elements of a whole tile ahead of their use: loads of one tile run beside work on another."""
        yield f"{pad}ahead = {base}"
        yield f"{pad}if ahead + {THREADS * copies} <= {loop.dim}:"
        for item in loads:
            for number in range(copies):
                text = self.statement(item).replace(f"{item.name} = ", f"f_{item.name}_{number} = ", 1)
                yield pad + INDENT + re.sub(rf"\b{loop.index}\b", f"(ahead + thread + {THREADS * number})", text)

    def unrolled(self, loop: Loop, loads: Sequence[Load], copies: int) -> Iterator[str]:
        """Several copies of a body; where it has cases, the short ones, if all elements allow that."""
        body, pad = loop.body, INDENT * 3
        names = {loop.index, *(item.name for item in body.walk() if isinstance(item, Assign | Load | Total))}

        def copy(text: str, number: int) -> str:
            return re.sub(r"\b[iv]\d+\b", lambda m: f"{m[0]}_{number}" if m[0] in names else m[0], text)

        def written(items: Sequence[Statement], pad: str) -> Iterator[str]:
            for number in range(copies):
                for item in items:
                    if not isinstance(item, Accumulate) and item not in loads:
                        yield from self.guarded(copy(self.statement(item), number), item, pad)
            for item in items:
                if isinstance(item, Accumulate):
                    yield pad + self.accumulate(item, [copy(item.value, number) for number in range(copies)])

        for number in range(copies):
            yield f"{pad}{loop.index}_{number} = base + thread + {THREADS * number}"
            yield from (f"{pad}{item.name}_{number} = f_{item.name}_{number}" for item in loads)
        yield from self.fetched(loop, loads, copies, f"base + blocks * {THREADS * copies}", pad)
        for level in body.levels:
            yield from written(body.statements(level), pad)
            for case in body.cases(level):
                yield f"{pad}if {' and '.join(copy(case.condition, number) for number in range(copies))}:"
                pad += INDENT
                for inner in case.short.levels:
                    yield from written(case.short.statements(inner), pad)
        yield f"{pad}done = True"

    def accumulate(self, item: Accumulate, values: Sequence[str]) -> str:
        """Add neighbours in their own precision first, which costs one conversion for all of them."""
        if item.op in {"sum", "prod"}:
            while len(values) > 1:
                values = [combined(item.op, "f", a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
        lines = [self.statement(replace(item, value=value)) for value in values]
        return "; ".join(lines)

    def guarded(self, text: str, item: Statement, pad: str) -> Iterator[str]:
        if isinstance(item, Flag):
            yield f"{pad}if {text}:\n{pad}    flag[0] = 1"
        else:
            yield pad + text

    def serial(self, block: Block, depth: int) -> Iterator[str]:
        """A body that one thread runs alone."""
        pad = INDENT * depth
        for level in block.levels:
            for item in block.statements(level):
                yield from self.guarded(self.statement(item), item, pad)
            for case in block.cases(level):
                yield from self.serial(case.long, depth)
            for loop in block.loops(level):
                for item in loop.sums(block):
                    yield f"{pad}{item.name} = {start(item)}"
                yield f"{pad}for {loop.index} in range({loop.dim}):"
                yield from self.serial(loop.body, depth + 1)

    def ending(self, level: int, sums: Sequence[Accumulate], done: int) -> Iterator[str]:
        """What is left when every loop is done: by the last block to finish, where it needs them all."""
        needed = bool(self.sums or self.kernel.finished(level)) or needs_grid_barrier(self.kernel)
        if needed:
            yield "    last = cuda.shared.array(1, i4)"
            yield "    if thread == 0:"
            yield "        cuda.threadfence()"
            yield "        last[0] = 1 if cuda.atomic.add(arrivals, 0, 1) == blocks - 1 else 0"
            yield "    cuda.syncthreads()"
            yield "    if last[0] == 1:"
            yield "        cuda.threadfence()"
            yield from self.grid.totals(sums, done, INDENT * 2)
            yield from self.grid.whole_outputs(level, INDENT * 2, ("thread", str(THREADS)))
            yield "        if thread == 0:"
            yield from (f"            arrivals[{counter}] = 0" for counter in range(counters(self.kernel)))
        else:
            yield "    if first == 0:"
        yield from self.final_statements(INDENT * 3 if needed else INDENT * 2)

    def final_statements(self, pad: str) -> Iterator[str]:
        root = self.kernel.root
        last = max((level for level, _ in self.nests), default=-1)
        yield f"{pad}pass"
        for level in root.levels:
            for item in root.statements(level):
                if level > last or isinstance(item, Store | Flag):
                    yield from self.guarded(self.statement(item), item, pad)

    def statement(self, item: Statement) -> str:
        match item:
            case Assign(name, op, args, dtype) if op in TYPED:
                width = {"from_bits": f"i{dtype.itemsize}"}
                return f"{name} = {op}_{width.get(op, f'f{dtype.itemsize}')}({', '.join(args)})"
            case Assign(name, "where", (condition, yes, no), dtype) if dtype.kind != "b":
                return f"{name} = cuda.selp({condition}, {yes}, {no})"
            case Assign(name, "where", (condition, yes, no)):
                return f"{name} = {yes} if {condition} else {no}"
            case Assign():
                return assignment(item)
            case Load():
                return self.loaded(item)
            case Accumulate():
                return self.taken(item)
            case Scatter():
                return self.scatter(item)
            case Total(name, accumulator, dtype):
                return f"{name} = {dtype.kind}{dtype.itemsize}({accumulator})"
            case Store(output, indices, value) if self.kernel.outputs[output].kept:
                place = dense_offset(indices, varying(self.kernel.outputs[output].shape))
                return f"{self.grid.kept_element(output, place)} = {value}"
            case Store(output, indices, value):
                dims = varying(self.kernel.outputs[output].shape)
                return f"o{output}[{dense_offset(indices, dims)}] = {value}"
            case Flag(value):
                return value

    def taken(self, item: Accumulate) -> str:
        """Take a value into a reduction, in float32 where a loop is short."""
        name, kind = item.name, item.dtype.kind
        if name in self.short:
            return f"s_{name} = s_{name} + {item.value}"
        value = f"{ACCUMULATOR[kind]}({item.value})"
        return f"{name} = {name} + {value}" if item.op == "sum" else f"{name} = {combined(item.op, kind, name, value)}"

    def scatter(self, item: Scatter) -> str:
        """Add to an element: in a register or slot of the thread's own, or by an atomic addition."""
        if item in self.grid.registers:
            place = self.grid.register(item)
            return f"{place} = {place} + {self.grid.register_type(item)}({item.value})"
        if item in self.grid.slots:
            slot = self.grid.slot(item)
            return f"{slot} = {slot} + f8({item.value})"
        dims = varying(self.kernel.outputs[item.output].shape)
        place = f"at_o{item.output} + {dense_offset(item.indices, dims)}"
        return f"cuda.atomic.add(sums, {place}, f8({item.value}))"

    def load(self, item: Load) -> str:
        slot = slot_of(self.kernel, item.slot)
        array = array_name(item.slot)
        if slot.layout == "number":
            return f"{item.name} = {array}"
        if slot.layout == "strided":
            dims = [axis for axis, dim in enumerate(slot.shape) if dim != 1]
            terms = [f"({i}) * {array}_s{slot.axes[d]}" for i, d in zip(item.indices, dims, strict=True)]
            offset = " + ".join(terms) or "0"
        else:
            offset = dense_offset(item.indices, varying(slot.shape))
        kept = item.slot < 0 and self.kernel.outputs[-1 - item.slot].kept
        text = self.grid.kept_element(-1 - item.slot, offset) if kept else f"{array}[{offset}]"
        if slot.dtype.kind == "b":
            text = f"({text} != 0)"
        if item.guard:
            text = f"({text} if {item.guard} else {typed_zero(item.dtype)})"
        return f"{item.name} = {text}"


def parameters(kernel: Kernel) -> list[str]:
    """The names of the kernel's arguments, in order."""
    names = []
    for slot in kernel.slots:
        names.append(f"x{slot.index}")
        if slot.layout == "strided":
            names += [f"x{slot.index}_s{axis}" for axis in slot.axes]
    names += [f"o{number}" for number in range(len(kernel.outputs))]
    names += ["flag"] if kernel.flagged else []
    return [*names, *kernel.lengths, "partials", "sums", "arrivals", "lanes"]
