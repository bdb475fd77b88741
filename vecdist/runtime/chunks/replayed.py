"""A step over pieces that stay on GPUs: the launches of all are one CUDA graph, and one kernel folds their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import array_kind
from vecdist.graph.node import Node, cast
from vecdist.passes.partition import Step
from vecdist.primitives.reductions import reduced
from vecdist.runtime.base import length_of
from vecdist.runtime.chunks.devices import copy_to, recorded
from vecdist.runtime.chunks.rounds import Rows
from vecdist.runtime.chunks.work import Parts, Read, Work
from vecdist.runtime.cuda.graphs import captured, is_plain, is_replayable, own_memory

PIECES = "p0"  # the length along which parts lie side by side


def replayed(work: Work, rows: Rows, known: Mapping[int, Any]) -> Parts | None:
    """What the pieces give, folded; ``None`` where launches are not captured.

    That is where arrays in memory stand beside pieces row by row, and where calls between kernels are not captured.
    """
    beside = [read for read in work.reads if read.slot not in rows.arrays]
    if any(read.axis is not None for read in beside) or sum(map(bool, rows.counts)) < 2:
        return None
    given = {read.slot: _dense(work.shaped(read, known[read.slot])) for read in beside}
    fixed = tuple((slot, _fixed(array)) for slot, array in given.items())
    key = work.step, work.lengths, fixed, tuple((slot, id(array.source)) for slot, array in rows.arrays.items())
    return _source(rows).rounds(key, lambda: Replayed(work, rows, given, beside))(given)


def _source(rows: Rows) -> Any:
    """The first of the arrays, by which all others lie."""
    return next(iter(rows.arrays.values())).source


def _fixed(array: Any) -> Any:
    """What of an argument is part of a graph: a number, or how an array lies."""
    return np.asarray(array).tobytes() if array_kind(array) == "number" else (array.shape, array.dtype)


@final
class Replayed:
    """The launches of all pieces as one graph over all GPUs, with the arrays that they read and write.

    For arguments of one layout: they are copied to where the graph reads them.
    """

    def __init__(self, work: Work, rows: Rows, given: Mapping[int, Any], beside: Sequence[Read]) -> None:
        import cupy

        self.group: Any = rows.devices
        self.others: list[Any] = [array.source for array in rows.arrays.values() if array.source is not _source(rows)]
        self.chunks: list[tuple[int, tuple[int, int]]] = [(at, each) for at, each in enumerate(rows.chunks) if each]
        lengths = dict(work.lengths)
        shapes = [tuple(length_of(dim, lengths) for dim in root.shape) for root in work.step.roots]
        self.shapes: list[tuple[int, ...]] = shapes
        with self.group.leading():
            self.parts: list[Any] = [
                cupy.empty((len(self.chunks), *shape), root.dtype)
                for shape, root in zip(shapes, work.step.roots, strict=True)
            ]
            self.inputs: dict[int, Any] = _like(given)
        self.fold: Work = folding(work, len(self.chunks))
        self.shares: list[Share] = [Share(self, work, rows, place) for place in range(len(self.group))]
        self.capturable: bool = all(share.capturable for share in self.shares)
        self.graph: Any = None

    def __call__(self, given: Mapping[int, Any]) -> Parts | None:
        """What the parts of all pieces fold to, for these arguments."""
        if not self.capturable:
            return None
        with self.group.in_line() as stream:
            for slot, array in given.items():
                if array_kind(array) == "cupy":
                    copy_to(self.inputs[slot], array, stream)
            if self.graph is None:
                self.graph = self._captured()
                self.capturable = self.graph is not None
            if not self.capturable:
                return None
            self.graph.launch(stream)
            found = self.fold(dict(enumerate(self.parts)))
            return tuple(part.reshape(shape) for part, shape in zip(found, self.shapes, strict=True))

    def _captured(self) -> Any:
        """Launch all once, for what a first launch makes cannot be made inside a capture; and then as a graph."""
        origin = self.group.stream(0)
        with self.group.in_order():
            self._ask(origin)
        origin.synchronize()
        return captured(origin, lambda: self._ask(origin))

    def _ask(self, origin: Any) -> None:
        """Ask all GPUs for their shares, behind what a stream of the first was asked for, which goes on after them."""
        with self.group.there(0):
            begun = recorded(origin)
        ended = [share.ask(begun) for share in self.shares]
        with self.group.there(0):
            for each in ended:
                origin.wait_event(each)


@final
class Share:
    """The launches of one GPU, on pieces of its own, in turns on two streams: one ends while the next begins.

    Where there are calls of libraries between kernels, whose memory is one for all, they are on one stream.  Those of
    the first GPU read arguments, and write parts, where they lie; for others they are copied.
    """

    def __init__(self, whole: Replayed, work: Work, rows: Rows, place: int) -> None:
        import cupy

        self.group, self.place, self.given = whole.group, place, whole.inputs
        group, own = whole.group, _source(rows).of(place)
        spans = [n for n, (at, _) in enumerate(whole.chunks) if at in own]
        self.apart: bool = group.numbers[place] != group.numbers[0]
        self.streams: list[Any] = [group.stream(place), group.stream(place, "computes beside")]
        self.targets: list[Any] = [parts[spans[0] : spans[-1] + 1] if spans else parts[:0] for parts in whole.parts]
        with group.on(place):
            self.own: list[Any] = [cupy.empty_like(target) if self.apart else target for target in self.targets]
            self.inputs: dict[int, Any] = _like(whole.inputs) if self.apart else whole.inputs
            self.calls: list[tuple[Any, list[Any], list[Any]]] = [
                (*self._prepared(work, rows, *whole.chunks[n]), [part[n - spans[0]] for part in self.own])
                for n in spans
            ]
        self.runs: list[Any] = [run for run, *_ in self.calls]
        self.ways: int = 2 if all(map(is_plain, self.runs)) else 1
        self.memory: Any = None

    def _prepared(self, work: Work, rows: Rows, at: int, chunk: tuple[int, int]) -> tuple[Any, list[Any]]:
        """The launch on a piece, and what it is given."""
        known = self.inputs | {slot: array.source.pieces[at] for slot, array in rows.arrays.items()}
        arrays = [known.get(slot) for slot in range(work.slots)]
        if work.first is not None:
            arrays[work.first] = np.int64(chunk[0])
        return work.prepared(chunk[1], arrays), arrays

    @property
    def capturable(self) -> bool:
        """Whether its launches may be part of a graph."""
        return all(map(is_replayable, self.runs))

    def ask(self, begun: Any) -> Any:
        """Ask for all launches behind an event; given is an event behind them."""
        first, second = self.streams
        with self.group.there(self.place):
            first.wait_event(begun)
            self._fetch(first)
            second.wait_event(recorded(first))
        with self.group.there(self.place), own_memory(self.runs, self.memory) as self.memory:
            for number, (run, arrays, out) in enumerate(self.calls):
                with self.streams[number % self.ways]:
                    run(arrays, out)
        with self.group.there(self.place):
            first.wait_event(recorded(second))
            for target, own in zip(self.targets, self.own, strict=True):
                if own is not target and own.size:
                    copy_to(target, own, first)
            return recorded(first)

    def _fetch(self, stream: Any) -> None:
        if self.apart:
            for slot, array in self.inputs.items():
                if array_kind(array) == "cupy":
                    copy_to(array, self.given[slot], stream)


def _like(given: Mapping[int, Any]) -> dict[int, Any]:
    """Arrays of the current device as these, and numbers as they are."""
    import cupy

    return {
        slot: array if array_kind(array) == "number" else cupy.empty(array.shape, array.dtype)
        for slot, array in given.items()
    }


def folding(work: Work, count: int) -> Work:
    """The kernel that folds parts which lie side by side, in their order; those that are added in float64."""
    roots = []
    for place, (root, join) in enumerate(zip(work.step.roots, work.step.joins, strict=True)):
        parts = Node("slot", (), (place, "dense", ()), (PIECES, *root.shape), root.dtype)
        wide = root.dtype == np.float32 and join in ("sum", "prod", "logsumexp")
        assert isinstance(join, str)
        roots.append(cast(reduced(join, cast(parts, np.float64) if wide else parts, (-parts.ndim,)), root.dtype))
    lengths = (*work.lengths, (PIECES, count))
    return Work(Step(tuple(roots), tuple(range(len(roots)))), work.kind, lengths, len(roots))


def _dense(array: Any) -> Any:
    """An array in one piece, or a number as it is."""
    import cupy

    return array if array_kind(array) == "number" else cupy.ascontiguousarray(array)
