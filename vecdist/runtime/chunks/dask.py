"""Rounds by Dask: a task for each chunk, and a tree of sums, run by the scheduler or client that is active."""

from __future__ import annotations

import contextlib
import importlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import array_kind
from vecdist.runtime import pipeline
from vecdist.runtime.base import length_of
from vecdist.runtime.chunks.devices import here
from vecdist.runtime.chunks.rounds import Rows
from vecdist.runtime.chunks.work import Parts, Said, Tree, Work
from vecdist.runtime.libraries import LIBRARY

TOGETHER = 8  # parts that a task folds, a power of two: then the tree is that of pairs


@final
@dataclass(frozen=True)
class Shared:
    """What all chunks of a round have in common, sent once: whole values, places of chunks, and flags to look at."""

    work: Work
    whole: Mapping[int, Any]
    chunks: Sequence[Any]
    sources: Sequence[int]
    said: Mapping[int, Said]
    flags: Sequence[int] = ()

    def __call__(self, place: int, pieces: Sequence[Any]) -> Parts | None:
        """The parts of a chunk; ``None`` of one without rows."""
        if self.chunks[place] is None:
            return None
        first, count = self.chunks[place]
        by_slot = dict(zip(self.sources, map(_alone, pieces), strict=True))
        given = {
            read.slot: self.work.fitting(read, by_slot[read.slot], self.said[read.slot], first, count)
            for read in self.work.reads if read.axis is not None
        }  # fmt: skip
        with _beside(given.values()):
            found = _there(self.work(given | {slot: here(array) for slot, array in self.whole.items()}, first, count))
            failed = any(bool(found[flag].any()) for flag in self.flags)
        if failed:
            raise pipeline.InvalidParameter(
                f"a parameter or an index is invalid in the rows {first} to {first + count - 1} of arrays in chunks; "
                "np.asarray of the expression, or the value of its sum, says which"
            )
        return found


def summed(work: Work, rows: Rows, known: Mapping[int, Any]) -> Parts:
    """What the parts of all chunks fold to, computed now."""
    dask = importlib.import_module("dask")
    parts = list(_mapped(work, rows, known, ()).to_delayed())
    folded = dask.delayed(_folded, pure=False)
    while len(parts) > 1:
        parts = [folded(parts[at : at + TOGETHER], work.step.joins) for at in range(0, len(parts), TOGETHER)]
    return tuple(map(here, dask.compute(parts[0])[0]))


def joined(work: Work, rows: Rows, known: Mapping[int, Any], flags: Sequence[int]) -> dict[int, Any]:
    """What is joined along rows, by slot: Dask arrays, nothing of which is computed yet."""
    mapped, lengths = _mapped(work, rows, known, flags), dict(work.lengths)
    found = {}
    for place, (root, fill, join) in enumerate(zip(work.step.roots, work.step.fills, work.step.joins, strict=True)):
        if isinstance(join, int):
            axes = tuple(range(root.ndim))
            shape = [length_of(dim, lengths) for dim in root.shape]
            empty = tuple(0 if axis - root.ndim == join else length for axis, length in enumerate(shape))
            others = {axis: shape[axis] for axis in axes if axis - root.ndim != join}
            found[fill] = _array().blockwise(
                _part, axes, mapped, (root.ndim + join,), place=place, empty=empty, kind=work.kind, new_axes=others,
                adjust_chunks={root.ndim + join: rows.counts},
                dtype=root.dtype, meta=_library(work.kind).empty((0,) * root.ndim, root.dtype), align_arrays=False,
            )  # fmt: skip
    return found


def _mapped(work: Work, rows: Rows, known: Mapping[int, Any], flags: Sequence[int]) -> Any:
    """A Dask array whose chunks are the parts of chunks."""
    dask, array = importlib.import_module("dask"), _array()
    cut = [read for read in work.reads if read.axis is not None]
    whole = {read.slot: work.shaped(read, known[read.slot]) for read in work.reads if read.axis is None}
    numbers = itertools.count(1)
    said: dict[int, Said] = {}
    pairs: list[Any] = [array.from_array(np.arange(len(rows.counts)), chunks=1), (0,)]
    for read in cut:
        there = rows.arrays.get(read.slot)
        axis = there.axis if there is not None else read.axis or 0
        source = _sliced(work.shaped(read, known[read.slot]), axis, rows) if there is None else there.source
        said[read.slot] = Said(repr(there), source.shape[:axis], source.shape[axis + 1 :])
        pairs += [source, tuple(0 if place == axis else next(numbers) for place in range(source.ndim))]
    slots = [read.slot for read in cut]
    shared = Shared(work, whole, rows.chunks, slots, said, flags)
    sent = dask.delayed(shared, pure=False, traverse=False)
    return array.blockwise(
        _of_chunk, (0,), *pairs, shared=sent, dtype=object, meta=np.empty(0, object), align_arrays=False,
        concatenate=None,
    )  # fmt: skip


def _sliced(whole: Any, axis: int, rows: Rows) -> Any:
    """An array in memory, cut as the others."""
    return _array().from_array(whole, chunks=tuple(rows.counts if at == axis else -1 for at in range(whole.ndim)))


def _array() -> Any:
    return importlib.import_module("dask.array")


def _of_chunk(place: Any, *pieces: Any, shared: Shared) -> Parts | None:
    return shared(int(place[0]), pieces)


def _alone(piece: Any) -> Any:
    """The only block of an array along the axes that are no rows."""
    while isinstance(piece, list):
        (piece,) = piece
    return piece


def _folded(parts: Sequence[Parts | None], joins: Sequence[str | int]) -> Parts | None:
    tree = Tree(joins)
    with _beside(itertools.chain.from_iterable(each for each in parts if each is not None)):
        for each in parts:
            if each is not None:
                tree.add(tuple(map(here, each)))
        return _there(tree.total()) if tree.branches else None


def _part(parts: Parts | None, place: int, empty: tuple[int, ...], kind: str) -> Any:
    """One result of a chunk; of one without rows, an array that has none."""
    return _library(kind).empty(empty) if parts is None else parts[place]


def _library(kind: str) -> Any:
    return importlib.import_module(LIBRARY[kind])


def _beside(arrays: Iterable[Any]) -> contextlib.AbstractContextManager[Any]:
    """Inside, the GPU of the first array that lies on one is the current one: chunks are computed of where they lie."""
    found = next((array for array in arrays if array_kind(array) == "cupy"), None)
    return contextlib.nullcontext() if found is None else found.device


def _there(parts: Parts) -> Parts:
    """Parts, when they are there: other threads may read them, on streams of their own."""
    if any(array_kind(part) == "cupy" for part in parts):
        importlib.import_module("cupy").cuda.get_current_stream().synchronize()
    return parts
