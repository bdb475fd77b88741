"""What a kernel costs, and why: how much runs at each depth, the memory it touches, and what was decided for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import final

import numpy as np

from vecdist.codegen.cpu import plan as cpu_plan
from vecdist.codegen.cpu.blocking import STRIP
from vecdist.codegen.cpu.fission import has_phases, phases
from vecdist.codegen.cuda import plan as cuda_plan
from vecdist.codegen.cuda.grid import THREADS, needs_grid_barrier
from vecdist.codegen.cuda.privatisation import privatisable
from vecdist.codegen.cuda.tiling import has_rows
from vecdist.inspect.diagram import shape_text
from vecdist.kernel.code import If, walk
from vecdist.kernel.expressions import Expr, Name, names, substituted
from vecdist.kernel.ir import Block, Kernel, Loop
from vecdist.kernel.statements import Accumulate, Assign, Load, Scatter, Statement, Temp, Total, array_name
from vecdist.passes.bind import Bound
from vecdist.runtime.batched import Batched
from vecdist.runtime.pipeline import Plan

TAKEN = {
    "sum": "add to sum", "prod": "multiply into product", "max": "keep largest", "min": "keep smallest",
    "linear": "step of recurrence", "last": "carry of a step",
}  # fmt: skip


def placement(kernel: Kernel) -> dict[str, dict[str, int]]:
    """How many operations of each kind run at each depth, the outermost first."""
    found: dict[str, Counter[str]] = {}

    def visit(block: Block, dims: tuple[str, ...]) -> None:
        place = f"per {', '.join(dims)}" if dims else "once"
        for level in block.levels:
            for item in block.statements(level):
                found.setdefault(place, Counter())[_kind(item)] += 1
            for loop in block.loops(level):
                visit(loop.body, (*dims, loop.dim))

    visit(kernel.root, ())
    return {place: dict(found[place]) for place in sorted(found, key=lambda place: (place != "once", place.count(",")))}


def _kind(item: Statement) -> str:
    match item:
        case Assign(_, op):
            return str(op)
        case Accumulate(op=op):
            return TAKEN[op]
        case Load() if by_index(item):
            return "gather"
        case Scatter():
            return "add by index" if by_index(item) else "add to element"
    return type(item).__name__.lower()


def by_index(item: Load | Scatter) -> bool:
    """Whether the element is named by data, rather than by the loops around it."""
    return any(name.startswith("v") for name in names(*item.indices))


def traffic(kernel: Kernel, bound: Bound, device: str) -> tuple[int, int]:
    """The bytes that a kernel reads and writes, each element counted once.

    Loads of a slot at different indices are different elements, as far as the array has that many; so are those that
    index arrays name.  What stays close to the processor is not counted: partial sums, and on a GPU what is kept.
    """
    numbers = {slot.index for slot in kernel.slots if slot.layout == "number"}
    close = {number for number, output in enumerate(kernel.outputs) if output.kept and device != "cpu"}
    read = sum(
        min(sum(places.values()), _elements(kernel, source, bound)) * _itemsize(kernel, source)
        for source, places in _Reads(kernel, bound.lengths).places.items()
        if not (source.output in close if isinstance(source, Temp) else source in numbers)
    )
    filled = [output for number, output in enumerate(kernel.outputs) if number not in close]
    written = sum(_count(output.shape, bound.lengths) * output.dtype.itemsize for output in filled)
    return read, written


@final
class _Reads:
    """How many elements are read at each index of each slot, and of each temporary output, at most.

    Expressions that stand for the same index count once, so names go by what they are: loops by their lengths, values
    by how they are computed.
    """

    def __init__(self, kernel: Kernel, lengths: Mapping[str, int]) -> None:
        self.places: dict[int | Temp, dict[tuple[Expr, ...], int]] = {}
        self.meaning: dict[str, Expr] = {}
        self.loops: dict[str, frozenset[str]] = {}  # those along which a name varies
        self.known: dict[tuple[object, *tuple[Expr, ...]], Expr] = {}
        turns: dict[str, int] = {}
        for item in kernel.root.walk():
            match item:
                case Loop():
                    turns[item.index] = item.turns(lengths)
                    self.meaning[item.index] = item.length
                    self.loops[item.index] = frozenset((item.index, *self.varies([item.start])))
                case Load(name, source, indices):
                    count = math.prod(turns[loop] for loop in self.varies(indices))
                    places, place = self.places.setdefault(source, {}), self.same(indices)
                    places[place] = max(count, places.get(place, 0))
                    self.define(name, array_name(source), indices)
                case Assign(name, op, args):
                    self.define(name, op, args)
                case Accumulate(name, _, home):
                    self.loops[name] = frozenset(block.index for block in home.chain() if block.index)
                case Total(name, accumulator):
                    self.define(name, "total", (Name(accumulator),))

    def define(self, name: str, op: object, args: Sequence[Expr]) -> None:
        self.loops[name] = self.varies(args)
        self.meaning[name] = self.known.setdefault((op, *self.same(args)), Name(name))

    def same(self, found: Sequence[Expr]) -> tuple[Expr, ...]:
        return tuple(substituted(each, self.meaning) for each in found)

    def varies(self, found: Sequence[Expr]) -> frozenset[str]:
        return frozenset(loop for name in names(*found) for loop in self.loops.get(name, ()))


def _elements(kernel: Kernel, source: int | Temp, bound: Bound) -> int:
    """The elements that an array has in memory: axes of stride 0 repeat them."""
    if isinstance(source, Temp):
        return _count(kernel.outputs[source.output].shape, bound.lengths)
    if source >= len(bound.leaves):
        return _count(next(found.shape for found in kernel.slots if found.index == source), bound.lengths)
    array = bound.leaves[source].array
    repeated = [stride == 0 and length > 0 for length, stride in zip(array.shape, array.strides, strict=True)]
    return _count([1 if again else n for again, n in zip(repeated, array.shape, strict=True)], bound.lengths)


def _itemsize(kernel: Kernel, source: int | Temp) -> int:
    if isinstance(source, Temp):
        return kernel.outputs[source.output].dtype.itemsize
    return next(found.dtype.itemsize for found in kernel.slots if found.index == source)


def _count(shape: Sequence[int | str], lengths: Mapping[str, int]) -> int:
    return int(np.prod([lengths[str(dim)] if str(dim) in lengths else int(dim) for dim in shape], dtype=np.int64))


def notes(plan: Plan, bound: Bound, results: Sequence[str], device: str) -> tuple[str, ...]:
    """What was decided for a kernel, in a sentence each; outputs go by their numbers in its loop nest."""
    return tuple(dict.fromkeys(_Notes(plan, bound, results, device != "cpu").sentences()))


@final
class _Notes:
    """The sentences on one kernel."""

    def __init__(self, plan: Plan, bound: Bound, results: Sequence[str], on_gpu: bool) -> None:
        self.plan, self.bound, self.on_gpu = plan, bound, on_gpu
        self.kernel = plan.kernel
        told = (number for number, output in enumerate(self.kernel.outputs) if not output.temporary)
        self.results = dict(zip(told, results, strict=True))
        self.nests = [loop for _, loop in self.kernel.nests()]

    def sentences(self) -> Iterator[str]:
        yield from self.constants()
        yield from self.groups()
        yield from self.order()
        yield from self.batches()
        yield from self.temporaries()
        yield from self.gathers()
        yield from self.branches()
        for loop in self.nests:
            yield from self.scatters(loop)
            yield from self.rows(loop)

    def name(self, source: int | Temp) -> str:
        """An array of a user, or an output."""
        text = array_name(source)
        if isinstance(source, Temp):
            return f"{text} ({self.results.get(source.output, shape_text(self.kernel.outputs[source.output]))})"
        name = self.bound.leaves[source].name if source < len(self.bound.leaves) else None
        return f"{text} ({name})" if name else text

    def constants(self) -> Iterator[str]:
        """What stands for data that never change."""
        computed = _listed(self.name(slot.index) for slot in self.kernel.slots if slot.index >= len(self.bound.leaves))
        if computed and self.plan.constants:
            instead = "; where one of the data lies outside a support, a kernel that computes each element runs instead"
            yield f"computed once from data that never change: {computed}{instead if self.plan.conditions else ''}"

    def groups(self) -> Iterator[str]:
        """The rows that are read in the order of their groups."""
        for sorting in self.plan.sortings:
            if not set(sorting.widths) & set(self.kernel.lengths):
                continue
            shapes = [[self.bound.lengths[name] for name in sorting.names(level)] for level in range(sorting.levels)]
            pieces = _listed(f"{_number(count, 'piece')} of at most {_number(width, 'row')}" for count, width in shapes)
            again = ", and the sums of those again" if sorting.levels > 1 else ""
            yield (
                f"the rows along {sorting.grouping.dim} are sorted by groups that never change, once for their data, "
                f"and cut into {pieces}{again}: sums by group need no atomic additions, and are the same in every run"
            )

    def order(self) -> Iterator[str]:
        """The loops that wait for others."""
        working = self.kernel.shared_nests()
        levels = sorted({level for level, _ in working})
        if len(levels) > 1:
            loops = [_listed(sorted(loop.dim for at, loop in working if at == level)) for level in levels]
            yield (
                f"{len(levels)} loops run one after another (over {', then '.join(loops)}): each needs results that "
                f"those before it have finished{self.meeting() if self.on_gpu else ''}"
            )

    def meeting(self) -> str:
        """Who waits for whom between loops of a launch."""
        chains, barrier = self.kernel.by_block, needs_grid_barrier(self.kernel)
        each = f"; a block takes each element of {chains} through those over it, where its own threads alone wait"
        all_of_it = "; they are one launch, where all blocks of the grid wait for each other at a barrier in between"
        return f"{each if chains else ''}{all_of_it if barrier else ''}"

    def batches(self) -> Iterator[str]:
        """The part of an axis that each launch takes."""
        if isinstance(self.plan.program, Batched):
            batch = self.plan.program.batch
            count = self.plan.program.launches(self.bound.lengths)
            yield (
                f"{batch.dim} is taken in {count} batches of {batch.size:,}, a launch each: what loops leave "
                "to each other of one stays in the cache"
            )

    def temporaries(self) -> Iterator[str]:
        """The arrays that one loop fills and later ones read."""
        place = "in the shared memory of each block" if self.on_gpu else "across it"
        for number, output in enumerate(self.kernel.outputs):
            if output.temporary:
                readers = _listed(loop.dim for loop in self.nests if self.loads(loop, Temp(number)))
                count = _count(output.shape, self.bound.lengths)
                kept = f"values that the loop over {readers} would compute in every turn, kept {place}"
                why = kept if output.kept else f"results that the loop over {readers} reads in another order"
                why = f"values that the loop over {readers} would compute again" if output.common else why
                yield f"{self.name(Temp(number))} is a temporary array of {_number(count, 'element')}: {why}"

    def loads(self, loop: Loop, source: int | Temp) -> list[Load]:
        return [item for item in loop.body.walk() if isinstance(item, Load) and item.source == source]

    def gathers(self) -> Iterator[str]:
        """The arrays that are read where index arrays say."""
        items = [item for item in self.kernel.root.walk() if isinstance(item, Load) and by_index(item)]
        for source in dict.fromkeys(item.source for item in items):
            loops = _listed(loop.dim for loop in self.nests if any(map(by_index, self.loads(loop, source))))
            where = f"the loop over {loops} reads" if loops else "the kernel reads"
            yield f"{self.name(source)} is gathered: {where} those elements that are named by index"

    def branches(self) -> Iterator[str]:
        """The choices that are branches, for one side is dear, and those that are not."""
        plan = cuda_plan.planned if self.on_gpu else cpu_plan.planned
        tests = [item.test for nest in plan(self.kernel) for item in walk(nest.items) if isinstance(item, If)]
        asked = {name.partition("_")[0] for name in names(*tests)}  # copies of a tile have numbers
        found = [item.args[0] for item in self.kernel.root.walk() if isinstance(item, Assign) and item.op == "where"]
        choices = dict.fromkeys(map(str, found))
        branches, others = [each for each in choices if each in asked], [each for each in choices if each not in asked]
        if branches:
            rest = f"; those by {_number(len(others), 'other condition')} compute both" if others else ""
            yield f"choices by {_listed(branches)} are branches, where what one side needs is dear{rest}"

    def scatters(self, loop: Loop) -> Iterator[str]:
        """The outputs that a loop adds to, other than once to each element."""
        found = [item for item in loop.body.walk() if isinstance(item, Scatter)]
        for number in loop.scatters():
            own = [item for item in found if item.output == number]
            if any(map(by_index, own)):
                how = self.how([item for item in own if by_index(item)])
                yield f"the loop over {loop.dim} adds to {self.name(Temp(number))} by index, {how}"
        rows = [item for item in found if Name(loop.index) not in item.indices and not by_index(item)]
        if rows:
            outputs = sorted({item.output for item in rows})
            shapes = [self.kernel.outputs[number].shape for number in outputs]
            count = _number(sum(_count(shape, self.bound.lengths) for shape in shapes), "sum")
            names = _listed(self.name(Temp(number)) for number in outputs)
            yield (
                f"{count}, {names}, are added up row by row, so that the loop over {loop.dim} reads its arrays once, "
                f"not once for each sum: {self.how(rows)}"
            )

    def how(self, items: Sequence[Scatter]) -> str:
        """How the threads that add to the same elements come together."""
        if not self.on_gpu:
            return "in stripes with sums of their own, which are added up in a fixed order"
        if all(item in privatisable(self.kernel) for item in items):
            return "each thread in slots of its own, close to the processor, which are added up in a fixed order"
        return "by atomic additions in float64, whose order, and with it the last bits, may change from run to run"

    def rows(self, loop: Loop) -> Iterator[str]:
        """How a loop with inner loops is shared out."""
        if self.on_gpu and has_rows(loop):
            lanes = self.plan.program.lanes(loop, self.bound.lengths)
            share = "1 thread takes" if lanes == 1 else f"{lanes} threads share"
            share = "a block of threads takes" if lanes == THREADS else share
            yield f"{share} each row of the loop over {loop.dim}"
        elif not self.on_gpu and has_phases(loop, dict(self.kernel.fixed)) and len(phases(loop)) > 1:
            parts = len(phases(loop))
            yield f"the loop over {loop.dim} takes {STRIP} rows at a time through {parts} phases, for vectors of rows"
            for dim in dict.fromkeys(inner.dim for inner in loop.body.every_loop() if inner.size == "long"):
                yield f"each row of the loop over {loop.dim} takes {STRIP} of its {dim} elements at a time"
        elif not self.on_gpu and loop.body.every_loop():
            yield f"the inner loops of the loop over {loop.dim} are written out, for vectors of rows"


def _listed(texts: Iterable[str]) -> str:
    *first, last = dict.fromkeys(texts) or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
