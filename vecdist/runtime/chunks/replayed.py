"""A step over pieces that stay on GPUs: the launches of each GPU are one CUDA graph, and one kernel folds all parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import array_kind
from vecdist.graph.node import Node, cast
from vecdist.passes.partition import Step
from vecdist.primitives.reductions import reduced
from vecdist.runtime.base import length_of
from vecdist.runtime.chunks.devices import copy_to
from vecdist.runtime.chunks.rounds import Rows
from vecdist.runtime.chunks.work import Parts, Read, Work

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
    """The launches of all pieces, with the arrays that they read and write; for arguments of one layout."""

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
        self.fold: Work = folding(work, len(self.chunks))
        self.shares: list[Share] = [Share(self, work, rows, given, place) for place in range(len(self.group))]
        self.capturable: bool = all(share.capturable for share in self.shares)

    def __call__(self, given: Mapping[int, Any]) -> Parts | None:
        """What the parts of all pieces fold to, for these arguments."""
        if not self.capturable:
            return None
        with self.group.in_order() as join:
            for share in self.shares:
                share(given)
            join()
            found = self.fold(dict(enumerate(self.parts)))
            return tuple(part.reshape(shape) for part, shape in zip(found, self.shapes, strict=True))


@final
class Share:
    """The launches of one GPU, on pieces of its own: those of the first write to where parts are folded."""

    def __init__(self, whole: Replayed, work: Work, rows: Rows, given: Mapping[int, Any], place: int) -> None:
        import cupy

        self.group, self.place = whole.group, place
        group, own = whole.group, _source(rows).of(place)
        spans = [n for n, (at, _) in enumerate(whole.chunks) if at in own]
        apart = group.numbers[place] != group.numbers[0]
        self.stream: Any = group.stream(place)
        self.graph: Any = None
        self.targets: list[Any] = [parts[spans[0] : spans[-1] + 1] if spans else parts[:0] for parts in whole.parts]
        with group.on(place):
            self.own: list[Any] = [cupy.empty_like(target) if apart else target for target in self.targets]
            self.inputs: dict[int, Any] = {
                slot: array if array_kind(array) == "number" else cupy.empty(array.shape, array.dtype)
                for slot, array in given.items()
            }
            self.calls: list[tuple[Any, list[Any], list[Any]]] = [
                (*self._prepared(work, rows, *whole.chunks[n]), [part[n - spans[0]] for part in self.own])
                for n in spans
            ]

    def _prepared(self, work: Work, rows: Rows, at: int, chunk: tuple[int, int]) -> tuple[Any, list[Any]]:
        """The launch on a piece, and what it is given."""
        known = self.inputs | {slot: array.source.pieces[at] for slot, array in rows.arrays.items()}
        arrays = [known.get(slot) for slot in range(work.slots)]
        if work.first is not None:
            arrays[work.first] = np.int64(chunk[0])
        return work.prepared(chunk[1], arrays), arrays

    @property
    def capturable(self) -> bool:
        """Whether its launches may be a graph."""
        return all(getattr(run, "capturable", True) for run, *_ in self.calls)

    def __call__(self, given: Mapping[int, Any]) -> None:
        """Launch all on the stream of the GPU, from any thread: a graph is launched sooner than a thread is woken."""
        for slot, array in given.items():
            if array_kind(array) == "cupy":
                copy_to(self.inputs[slot], array, self.stream)
        if self.graph is None:
            with self.group.on(self.place):
                self._launch()  # what a first launch makes cannot be made inside a capture
                self._capture()
        else:
            with self.group.there(self.place):
                self.graph.launch(self.stream)
        for target, own in zip(self.targets, self.own, strict=True):
            if own is not target and own.size:
                copy_to(target, own, self.stream)

    def _launch(self) -> None:
        for run, arrays, out in self.calls:
            run(arrays, out)

    def _capture(self) -> None:
        self.stream.begin_capture()
        try:
            self._launch()
        finally:
            self.graph = self.stream.end_capture()


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
