"""The programs of an expression of arrays in chunks, as one program: rounds over the chunks, and what lies between."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np

from vecdist.codegen.source import Source
from vecdist.graph.chunked import Chunked, laid_out
from vecdist.graph.leaves import entered, is_dask
from vecdist.graph.node import Node, topological
from vecdist.passes.bind import Bound
from vecdist.passes.checks import split_checks
from vecdist.passes.derivations import Derivation
from vecdist.passes.order import ON_VALUES, passed
from vecdist.passes.partial_evaluation import without_constants
from vecdist.passes.partition import Partition, Step, partition
from vecdist.runtime import pipeline
from vecdist.runtime.base import Feed, Program, Runner, length_of
from vecdist.runtime.chunks import statistics
from vecdist.runtime.chunks.moments import in_one_round
from vecdist.runtime.chunks.rounds import Rows, streamed, together
from vecdist.runtime.chunks.work import Parts, Work
from vecdist.runtime.libraries import loaded


def chunked(
    bound: Bound, derivation: Derivation, kind: str, errors: str, dropped: tuple[int, ...] = ()
) -> tuple[pipeline.Plan, Bound]:
    """The plan for a structure of which some arrays are in chunks, and what fills its slots."""
    rows = frozenset(cuts(bound).values())
    asked = pipeline.structured(bound, derivation, kind, errors, bound.constant, dropped, rows=rows)
    known = statistics.known(asked, bound, kind) if bound.constant else None
    if known is None:
        plain, failures = split_checks(bound.roots)
        graph = derivation(passed(plain, ON_VALUES))
        value, *others = graph
        value = without_constants(value, dropped) if dropped else value
        return chunked_plan((value, *others), failures if errors == "raise" else (), bound, kind), bound
    found, filled = known
    if not pipeline.reads_chunks(found.all, bound):
        return pipeline.planned(bound, kind, asked), statistics.in_memory(filled)
    plan = chunked_plan(found.roots, found.flags, filled, kind)
    return replace(plan, graph=found.graph, constants=found.constants, conditions=found.conditions), filled


def chunked_plan(roots: Sequence[Node], flags: Sequence[Node], bound: Bound, kind: str) -> pipeline.Plan:
    """The plan for what has been derived already."""
    cut = partition(roots, flags, frozenset(cuts(bound).values()), len(bound.leaves))
    program = ChunkedProgram(cut, kind, bound)
    first = program.plans[0]
    return pipeline.Plan(tuple(roots), first.kernel, program, primitives=first.primitives, lowered=first.lowered)


def computed(bound: Bound, kind: str) -> list[Any]:
    """The values of roots that depend on data alone: arrays, and numbers of the host."""
    kept = statistics.Kept.of(bound)
    names = dict(zip(bound.roots, kept.named(bound), strict=True))
    missing = tuple(root for root, name in names.items() if name not in kept.values)
    if missing:
        asked, moments = in_one_round(Bound(missing, bound.leaves, bound.lengths))
        program = chunked_plan(asked.roots, (), asked, kind).program
        found = dict(zip(asked.roots, pipeline.results(program, asked), strict=True))
        for each in moments:
            found |= each.values(found)
        kept.values.update({names[root]: found[root] for root in missing})
    return [kept.values[names[root]] for root in bound.roots]


def cuts(bound: Bound) -> dict[int, str]:
    """The slots that are read chunk by chunk, and the lengths along which: those of one chunk only if all have one."""
    slots = {node.attrs[0]: node for node in topological(bound.roots) if node.op == "slot"}
    each = [(place, bound.leaves[place].array) for place in sorted(slots) if place < len(bound.leaves)]
    each = [(place, array) for place, array in each if isinstance(array, Chunked)]
    dims = {place: slots[place].shape[array.axis] for place, array in each if array.ndim}
    several = {dims[place] for place, array in each if place in dims and (array.streams or len(array.counts) > 1)}
    return {place: str(dim) for place, dim in dims.items() if dim != 1 and (dim in several or not several)}


@final
class ChunkedProgram(Program):
    """Runs the steps of a partition in turn; values that are whole lie in memory between them."""

    def __init__(self, cut: Partition, kind: str, bound: Bound) -> None:
        self.cut: Partition = cut
        self.kind: str = kind
        self.slots: int = len(bound.leaves)
        self.cuts: dict[int, str] = cuts(bound)
        self.plans: list[pipeline.Plan] = [self.work(step, bound.lengths).plan() for step in cut.steps]
        self.source: Source = self.plans[0].program.source

    def __reduce__(self) -> Any:
        raise TypeError("what runs over chunks is pickled as the expression that it is made of")

    def resources(self) -> dict[str, Any]:
        """What the compiler says of the first program."""
        return self.plans[0].program.resources()

    def work(self, step: Step, lengths: Mapping[str, int]) -> Work:
        """A step at these lengths."""
        first = self.cut.firsts.get(step.rows) if step.rows else None
        return Work(step, self.kind, tuple(lengths.items()), self.cut.slots, first)

    def prepared(
        self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]], feeds: Sequence[Feed], pooled: bool = True
    ) -> Runner:
        """A function that runs all rounds; results with rows are Dask arrays where the arrays in chunks are."""
        works = [self.work(step, lengths) for step in self.cut.steps]
        numbers = {slot: float(math.prod(length_of(dim, lengths) for dim in dims))
                   for slot, dims in self.cut.lengths.items()}  # fmt: skip
        kinds = [(laid_out(feed.array), feed.array.dtype) for feed in feeds]
        names = [getattr(feed.array, "name", None) for feed in feeds]
        feeds = [feed if feed.place is None else Feed(feed.place, None) for feed in feeds]
        fixed = None if any(feeds[slot].place is not None for slot in self.cuts) else self.rows(
            [feed.array for feed in feeds]
        )

        def run(arrays: Sequence[Any], out: Any = None) -> tuple[Sequence[Any], Any]:
            given = [feed.array if feed.place is None else _as_chunked(arrays[feed.place]) for feed in feeds]
            if [(laid_out(array), array.dtype) for array in given] != kinds:
                raise TypeError("a program for arrays of other dtypes, or that lie in another way")
            for array, name in zip(given, names, strict=True):
                if isinstance(array, Chunked):
                    array.name = array.name or name
            rows = self.rows(given) if fixed is None else fixed
            there = {slot for each in rows.values() for slot in each.arrays}
            known = {slot: a if slot in there else loaded(a) for slot, a in enumerate(given)} | numbers
            into = {} if out is None else dict(zip(self.cut.results, out, strict=True))
            with _leading(rows) as moved:
                known = known if moved is None else {slot: moved(array) for slot, array in known.items()}
                for work in works:
                    known.update(zip(work.step.fills, self.ran(work, rows, known, into), strict=True))
            results = tuple(_shaped(known[slot], shape) for slot, shape in zip(self.cut.results, shapes, strict=True))
            if out is not None:
                for target, value in zip(out, results, strict=True):
                    target[...] = value
            failed = any(known[slot] is not None and bool(np.any(known[slot])) for slot in self.cut.flags)
            return results if out is None else tuple(out), failed

        run.capturable = False
        return run

    def rows(self, given: Sequence[Any]) -> dict[str, Rows]:
        """The arrays that are cut, by the length along which they are."""
        by_rows: dict[str, dict[int, Chunked]] = {}
        for slot, dim in self.cuts.items():
            by_rows.setdefault(dim, {})[slot] = given[slot]
        return {dim: Rows.of(arrays) for dim, arrays in by_rows.items()}

    def ran(self, work: Work, rows: Mapping[str, Rows], known: Mapping[int, Any], into: Mapping[int, Any]) -> Parts:
        """What fills the slots of a step."""
        step = work.step
        if step.rows is None:
            return work({read.slot: work.shaped(read, known[read.slot]) for read in work.reads})
        if rows[step.rows].devices is not None:
            from vecdist.runtime.chunks import sharded, streaming

            return (sharded.sharded if rows[step.rows].resident else streaming.streamed)(
                work, rows[step.rows], known, into
            )
        if rows[step.rows].streams:
            return streamed(work, rows[step.rows], known, into)
        from vecdist.runtime.chunks import dask

        flags = [place for place, fill in enumerate(step.fills) if fill in self.cut.flags]
        if any(isinstance(join, str) and at not in flags for at, join in enumerate(step.joins)):
            folds, joins = (replace(work, step=step.only(split)) for split in (False, True))
            parts = dask.summed(folds, rows[step.rows], known)
            return together(work, parts, dask.joined(joins, rows[step.rows], known, ()) if joins.step.roots else {})
        found = dask.joined(work, rows[step.rows], known, flags)
        return tuple(found.get(fill) for fill in step.fills)


def _leading(rows: Mapping[str, Rows]) -> contextlib.AbstractContextManager[Any]:
    """Inside, what is whole is computed on the first of the devices that rows are on, moved there by what is given."""
    groups = [each.devices for each in rows.values() if each.devices is not None]
    return groups[0].leading() if groups else contextlib.nullcontext()


def _as_chunked(array: Any) -> Any:
    """An array in chunks as expressions hold it; any other as it is."""
    return entered(array)[1] if is_dask(array) or hasattr(array, "node") else array


def _shaped(value: Any, shape: Sequence[int]) -> Any:
    """A result with its shape, a scalar where that has no axes."""
    value = value if value.shape == tuple(shape) else value.reshape(tuple(shape))
    return value if value.ndim else value[()]
