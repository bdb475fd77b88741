"""What is read of arrays in chunks, round by round, what each step is given, and how long all chunks will take."""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf
from vecdist.graph.node import topological
from vecdist.inspect import stopwatch
from vecdist.inspect.notebook import quantity
from vecdist.passes.bind import Bound
from vecdist.runtime import pipeline
from vecdist.runtime.base import Feed, length_of
from vecdist.runtime.chunks.program import ChunkedProgram
from vecdist.runtime.chunks.rounds import Rows
from vecdist.runtime.chunks.work import Work
from vecdist.runtime.libraries import LIBRARY, loaded

MORE = 8  # times as many chunks as are in work at once: by how much longer they take, all others are predicted


@final
@dataclass(frozen=True)
class Round:
    """A round over all chunks: ``chunks`` are the rows of each, ``bytes_read`` is what lies in these.

    ``kernels`` are the places, among those of the explanation, of the ones that run on every chunk that has rows.
    """

    chunks: tuple[int, ...]
    bytes_read: int
    streams: bool
    kernels: tuple[int, ...]

    @property
    def rows(self) -> int:
        """The rows of all chunks."""
        return sum(self.chunks)

    def __str__(self) -> str:
        some = ", ".join(f"{count:,}" for count in self.chunks[:4]) + (", ..." if len(self.chunks) > 4 else "")
        pieces = "piece" if self.streams else "Dask chunk"
        many = f"{len(self.chunks):,} {pieces}{'' if len(self.chunks) == 1 else 's'}"
        which = f"kernel{'s' if len(self.kernels) > 1 else ''} {', '.join(map(str, self.kernels))}"
        return f"{self.rows:,} rows in {many} of {some}; {quantity(self.bytes_read)} read, by {which}"


@final
@dataclass(frozen=True, eq=False)
class Part:
    """A step of a program over chunks, as kernels see it: its plan, and what fills its slots for chunks of each size.

    ``number`` is that of its round, ``None`` for a step of whole values; ``sizes`` says how many chunks have so many
    rows.
    """

    plan: pipeline.Plan
    results: tuple[str, ...]
    number: int | None
    sizes: Mapping[int, int]
    rows: Rows | None
    bound: Callable[[int], Bound]

    @property
    def told(self) -> str:
        """When the kernels of the step run."""
        if self.number is None:
            return "it runs once, on what is whole, between rounds"
        return f"it runs on each chunk of round {self.number}, and what it adds up is folded in a tree of chunks"

    @property
    def bytes_read(self) -> int:
        """What lies in the chunks that the step reads."""
        slots = {node.attrs[0] for node in topological(self.plan.graph) if node.op == "slot"}
        arrays = self.rows.arrays.items() if self.rows else ()
        return sum(math.prod(array.shape) * array.itemsize for slot, array in arrays if slot in slots)


def parts(plan: pipeline.Plan, bound: Bound, results: Sequence[str]) -> Iterator[Part]:
    """The steps of a program, in turn."""
    program = _program(plan)
    each = program.rows([leaf.array for leaf in bound.leaves])
    known = _known(program, bound, len(plan.constants))
    named, number = dict(zip(program.cut.results, results, strict=False)), 0
    for step, own in zip(program.cut.steps, program.plans, strict=True):
        work = program.work(step, bound.lengths)
        rows = each[step.rows] if step.rows else None
        number += rows is not None
        counts = [chunk[1] for chunk in rows.chunks if chunk] if rows else [0]
        sizes = {count: counts.count(count) for count in sorted(set(counts), reverse=True)}
        names = tuple(named.get(fill, "for what follows") for fill in step.fills)
        yield Part(own, names, number if rows else None, sizes, rows, _filled(work, known, len(bound.leaves)))


def _known(program: ChunkedProgram, bound: Bound, constants: int) -> list[Leaf]:
    """What fills the slots that are known before any step: those of users, of constants of data, and of lengths."""
    leaves = list(bound.leaves)
    for place in range(len(leaves) - constants, len(leaves)):
        if leaves[place].kind != "number":
            leaves[place] = Leaf(None, leaves[place].array, leaves[place].kind, "computed once from data")
    leaves += [Leaf(None, np.zeros(()), "number")] * (program.cut.slots - len(leaves))
    for slot, dims in program.cut.lengths.items():
        leaves[slot] = Leaf(None, np.asarray(math.prod(length_of(dim, bound.lengths) for dim in dims)), "number")
    return leaves


def _filled(work: Work, known: Sequence[Leaf], given: int) -> Callable[[int], Bound]:
    """What fills the slots of a step for a chunk of so many rows: arrays like those that it will be given."""

    def filled(count: int) -> Bound:
        lengths, leaves = work.at(count), list(known)
        for read in work.reads:
            if read.layout != "number" and (read.axis is not None or read.slot >= given):
                like = np.empty([length_of(dim, lengths) for dim in read.shape], read.dtype)
                name = known[read.slot].name if read.slot < given else "of another step"
                leaves[read.slot] = Leaf(None, like, LIBRARY[work.kind], name)
        return Bound(work.step.roots, tuple(leaves), lengths)

    return filled


def rounds(found: Sequence[tuple[Part, int]]) -> tuple[Round, ...]:
    """The rounds of steps, each with the number of its kernels."""
    ends = itertools.accumulate(count for _, count in found)
    return tuple(
        Round(part.rows.counts, part.bytes_read, part.rows.streams, tuple(range(end - count, end)))
        for (part, count), end in zip(found, ends, strict=True) if part.rows is not None
    )  # fmt: skip


def predicted(plan: pipeline.Plan, bound: Bound) -> float:
    """The seconds that all chunks will take, by those of the first few and of some more."""
    given = _program(plan).rows([leaf.array for leaf in bound.leaves])
    total = max(len(rows.counts) for rows in given.values())
    together = 1 if all(rows.streams for rows in given.values()) else min(total, workers())
    more = min(total, MORE * together)
    some = stopwatch.of_rounds(_begun(plan, bound, given, more))
    if more == total:
        return some
    few = stopwatch.of_rounds(_begun(plan, bound, given, together))
    return some + (total - more) * max(0.0, some - few) / (more - together)


def _begun(plan: pipeline.Plan, bound: Bound, given: Mapping[str, Rows], count: int) -> Callable[[], Any]:
    """The program, run on the first chunks alone."""
    program = _program(plan)
    ends = {dim: sum(rows.counts[:count]) for dim, rows in given.items()}
    leaves = list(bound.leaves)
    for step in program.cut.steps:
        work = program.work(step, bound.lengths)
        for read in work.reads:
            if read.axis is not None and step.rows is not None and read.slot < len(leaves):
                there, held = given[step.rows].arrays.get(read.slot), bound.leaves[read.slot]
                key = (*[slice(None)] * read.axis, slice(ends[step.rows]))
                array = work.shaped(read, held.array)[key] if there is None else _first(there, count)
                leaves[read.slot] = Leaf(None, array, held.kind, held.name)
    return runner(plan, Bound(bound.roots, tuple(leaves), bound.lengths | ends))


def _first(array: Chunked, count: int) -> Chunked:
    """The first chunks of an array."""
    counts, before = array.counts[:count], array.shape[: array.axis]
    found = array.in_chunks(counts)
    found.source = array.source if array.streams else array.source[(*map(slice, before), slice(sum(counts)))]
    found.shape = (*before, sum(counts), *array.shape[array.axis + 1 :])
    return found


def runner(plan: pipeline.Plan, bound: Bound) -> Callable[[], Any]:
    """A function that computes all results, those of Dask too."""
    shapes = [[length_of(dim, bound.lengths) for dim in root.shape] for root in plan.graph]
    prepared = plan.program.prepared(bound.lengths, shapes, Feed.each(bound.leaves, {}))
    return lambda: [loaded(value) for value in prepared(())[0]]


def _program(plan: pipeline.Plan) -> ChunkedProgram:
    assert isinstance(plan.program, ChunkedProgram)
    return plan.program


def workers() -> int:
    """The chunks that Dask computes at once: the threads of the client that is active, or of this machine."""
    distributed = sys.modules.get("distributed")
    try:
        client = distributed.get_client() if distributed else None
    except ValueError:
        client = None
    if client is not None:
        return max(1, sum(client.nthreads().values()))
    dask = importlib.import_module("dask")
    alone = dask.config.get("scheduler", None) in ("synchronous", "sync", "single-threaded")
    return 1 if alone else int(dask.config.get("num_workers", None) or importlib.import_module("dask.system").CPU_COUNT)
