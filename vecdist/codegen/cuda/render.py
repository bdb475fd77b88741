"""Source for numba-cuda: the whole kernel is one launch.

Outermost loops are shared by all threads of the grid.  A loop over rows gives each row to one *team* of ``lanes``
threads (1 to 32, or a block, chosen at launch) that share its inner loops.  Sums over everything end in a partial sum
per block, which the last block to finish adds up in a fixed order; where a later loop needs a sum, the whole grid waits
for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vecdist.codegen.cuda.cooperative_groups import TeamLines
from vecdist.codegen.cuda.grid import THREADS, WARPS, combined, counters
from vecdist.codegen.cuda.tiles import is_team_loop, needs_grid_barrier, picked, tiled, workspace
from vecdist.codegen.inline import inlined
from vecdist.codegen.rows import named
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

TYPED = {"floor", "fmod", "rint", "sqrt", "bits", "from_bits"}  # functions of libdevice, of one type each


def render(kernel: Kernel) -> Source:
    """The source of ``kernel`` for CUDA."""
    lines, routines = inlined(_Renderer(kernel).module())
    return Source("\n".join(lines) + "\n", kernel, routines)


class _Renderer(TeamLines):
    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.nests = kernel.nests()
        self.sums = [s for _, loop in self.nests for s in loop.sums(kernel.root)]
        self.early = before_loops(kernel)

    def module(self) -> Iterator[str]:
        yield "from vecdist.runtime.cuda.language import *"
        yield f"\n\ndef kernel({', '.join(parameters(self.kernel))}):"
        yield from self.grid.known_lengths()
        yield "    thread = cuda.threadIdx.x"
        yield "    block = cuda.blockIdx.x"
        yield "    blocks = cuda.gridDim.x"
        yield f"    first = block * {THREADS} + thread"
        yield f"    step = blocks * {THREADS}"
        if self.sums:
            yield f"    shared = cuda.shared.array({WARPS * len(self.sums)}, f8)"
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
                    if item in self.early:
                        yield INDENT + self.statement(item)
            kept = [loop for loop in root.loops(level) if self.kernel.is_kept(loop)]
            for loop in kept:
                yield f"    for {loop.index} in range(thread, {loop.dim}, {THREADS}):"
                yield from self.serial(loop.body, 2)
            if kept:
                yield "    cuda.syncthreads()"
            loops = [loop for loop in root.loops(level) if loop not in kept]
            for loop in loops:
                yield from self.grid.known_lanes(loop)
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
        if not is_team_loop(loop):
            yield from self.tiles(loop)
        elif self.apart and tiled(loop):
            yield from self.row_tiles(loop)
        else:
            yield from self.team_nest(loop)

    def guarded(self, text: str, item: Statement, pad: str) -> Iterator[str]:
        if isinstance(item, Flag):
            yield f"{pad}if {text}:\n{pad}    flag[0] = 1"
        else:
            yield pad + text

    def serial(self, block: Block, depth: int) -> Iterator[str]:
        """A body that one thread runs alone: what it reads comes first, so that loads are on their way together."""
        pad = INDENT * depth
        for level in block.levels:
            items = block.statements(level)
            loads = [item for item in items if isinstance(item, Load) and not picked(item, block)]
            for item in (*loads, *(item for item in items if item not in loads)):
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
        """What no loop needs: by one thread alone."""
        root = self.kernel.root
        yield f"{pad}pass"
        for level in root.levels:
            for item in root.statements(level):
                if item not in self.early:
                    yield from self.guarded(self.statement(item), item, pad)

    def statement(self, item: Statement) -> str:
        match item:
            case Assign(name, op, args, dtype) if op in TYPED:
                width = {"from_bits": f"i{dtype.itemsize}"}
                return f"{name} = {op}_{width.get(op, f'f{dtype.itemsize}')}({', '.join(args)})"
            case Assign(name, "where" | "seldom", (condition, yes, no), dtype) if dtype.kind != "b":
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
            return f"s_{name} = {combined(item.op, kind, f's_{name}', item.value)}"
        value = f"{ACCUMULATOR[kind]}({item.value})"
        return f"{name} = {name} + {value}" if item.op == "sum" else f"{name} = {combined(item.op, kind, name, value)}"

    def scatter(self, item: Scatter) -> str:
        """Add to an element: in a register or slot of the thread's own, or by an atomic addition."""
        if item in self.grid.keeper:
            slots = self.grid.keeper[item]
            place = slots.place(item)
            return f"{place} = {place} + {slots.word if slots.registers else 'f8'}({item.value})"
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


def before_loops(kernel: Kernel) -> set[Statement]:
    """The statements of the outermost block whose values loops read, or other such statements."""
    root, found = kernel.root, set()
    read = {name for loop in root.every_loop() for name in mentioned(loop.body)}
    for item in reversed([item for level in root.levels for item in root.statements(level)]):
        if isinstance(item, Assign | Load | Total) and item.name in read:
            found.add(item)
            read.update(named(item))
    return found


def mentioned(block: Block) -> Iterator[str]:
    """The values that a block reads, its own among them."""
    for _, item in block.items:
        match item:
            case Loop():
                yield from mentioned(item.body)
            case Cases(condition, short, long):
                yield condition
                yield from mentioned(short)
                yield from mentioned(long)
            case _:
                yield from named(item)


def parameters(kernel: Kernel) -> list[str]:
    """The names of the kernel's arguments, in order."""
    names = []
    for slot in kernel.slots:
        names.append(f"x{slot.index}")
        if slot.layout == "strided":
            names += [f"x{slot.index}_s{axis}" for axis in slot.axes]
    names += [f"o{number}" for number in range(len(kernel.outputs))]
    names += ["flag"] if kernel.flagged else []
    return [*names, *kernel.lengths, *workspace(kernel)]
