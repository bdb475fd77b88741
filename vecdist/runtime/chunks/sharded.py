"""Rows that lie in pieces on several devices: each computes of its own, and the parts are folded in one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import array_kind, check_dtype, in_memory, readable
from vecdist.graph.memo import Memo
from vecdist.runtime.base import length_of
from vecdist.runtime.chunks.devices import Group, here
from vecdist.runtime.chunks.rounds import Rows, together
from vecdist.runtime.chunks.work import Parts, Tree, Work

KEPT = 16  # rounds of which all launches are kept, as graphs, with the arrays that they read


@final
class Sharded:
    """An array whose rows lie in pieces on devices, placed once; its slices are copies in the memory of the host."""

    def __init__(self, group: Group, shape: Sequence[int], dtype: np.dtype, pieces: Sequence[Any]) -> None:
        self.group: Group = group
        self.shape: tuple[int, ...] = tuple(shape)
        self.dtype: np.dtype = dtype
        self.pieces: tuple[Any, ...] = tuple(pieces)
        self.rounds: Memo[Any] = Memo(KEPT)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.group, self[0 : self.shape[0]], len(self.pieces))

    def __getitem__(self, key: Any) -> np.ndarray:
        rows = range(self.shape[0])[key[0] if isinstance(key, tuple) else key]
        found, first = np.empty((len(rows), *self.shape[1:]), self.dtype), 0
        for piece in self.pieces:
            start, stop = max(rows.start, first), min(rows.stop, first + len(piece))
            if start < stop:
                part = piece[start - first : stop - first]
                found[start - rows.start : stop - rows.start] = part.get() if array_kind(part) == "cupy" else part
            first += len(piece)
        return found

    def of(self, place: int) -> range:
        """The pieces that lie on the device at ``place``."""
        return places_of(len(self.pieces), len(self.group), place)


def places_of(pieces: int, devices: int, place: int) -> range:
    """Which pieces one of several devices has: as many as the others, or one more or less, and side by side."""
    return range(-(-place * pieces // devices), -(-(place + 1) * pieces // devices))


def shard(group: Group, array: Any, pieces: int) -> Chunked:
    """An array of anything that has a shape, a dtype and slices, on the devices of a group."""
    array = array if hasattr(array, "shape") and hasattr(array, "dtype") else in_memory(array)
    if not array.shape:
        raise ValueError("an array whose rows are shared by devices has an axis of rows, and this one has no axis")
    dtype = np.dtype(array.dtype).newbyteorder("=")
    check_dtype(dtype)
    counts = counts_of(array.shape[0], pieces)
    firsts = np.cumsum([0, *counts]).tolist()

    def placed(place: int) -> list[Any]:
        own = places_of(pieces, len(group), place)
        found = [_placed(array[firsts[at] : firsts[at + 1]], group.kind) for at in own]
        if group.kind == "cuda":
            group.stream(place).synchronize()
        return found

    with group.in_order():
        found = [piece for each in group.each(placed) for piece in each]
    library = "cupy" if group.kind == "cuda" else "numpy"
    return Chunked(Sharded(group, array.shape, dtype, found), dtype, 0, counts, library, True, group)


def counts_of(rows: int, pieces: int) -> list[int]:
    """The rows of each piece, of two lengths at most."""
    each, more = divmod(rows, pieces)
    return [each + (at < more) for at in range(pieces)]


def _again(group: Group, array: np.ndarray, pieces: int) -> Sharded:
    return shard(group, array, pieces).source


def _placed(rows: Any, kind: str) -> Any:
    """A copy of rows on the current device."""
    if kind == "cpu":
        return np.array(readable(rows.get() if array_kind(rows) == "cupy" else rows), order="C")
    import cupy

    if array_kind(rows) == "cupy":
        moved = here(rows)
        return cupy.ascontiguousarray(moved) if moved is not rows else rows.copy(order="C")
    return cupy.asarray(np.ascontiguousarray(readable(rows)))


def sharded(work: Work, rows: Rows, known: Mapping[int, Any], into: Mapping[int, Any]) -> Parts:
    """What a step gives for all pieces, each computed where it lies; what is whole lies on the first device."""
    group = rows.devices
    source = next(iter(rows.arrays.values())).source
    if group.kind == "cuda" and not any(isinstance(join, int) for join in work.step.joins):
        from vecdist.runtime.chunks import replayed

        found = replayed.replayed(work, rows, known)
        if found is not None:
            return found
    whole = {read.slot: work.shaped(read, known[read.slot]) for read in work.reads if read.slot not in rows.arrays}

    def parts(place: int) -> list[tuple[tuple[int, int], Parts]]:
        there = {slot: here(array) for slot, array in whole.items()}
        pieces = [(at, rows.chunks[at]) for at in source.of(place)]
        return [(chunk, work(_given(work, rows, at, chunk, there), *chunk)) for at, chunk in pieces if chunk]

    with group.in_order() as join:
        found = [part for each in group.each(parts) for part in each]
        join()
        return folded(work, found, into)


def _given(work: Work, rows: Rows, at: int, chunk: tuple[int, int], whole: Mapping[int, Any]) -> dict[int, Any]:
    """What fills the slots for a piece: that of each array, and rows of what is whole."""
    first, count = chunk
    given = {}
    for read in work.reads:
        if read.slot in rows.arrays:
            given[read.slot] = rows.arrays[read.slot].source.pieces[at]
        else:
            key = () if read.axis is None else (*[slice(None)] * read.axis, slice(first, first + count))
            given[read.slot] = whole[read.slot][key] if key else whole[read.slot]
    return given


def folded(
    work: Work, found: Sequence[tuple[tuple[int, int], Parts]], into: Mapping[int, Any]
) -> Parts:
    """What the parts of all pieces, in their order, fold to or make when joined, on the current device."""
    step, tree = work.step, Tree(work.step.joins)
    joined = joined_arrays(work, into)
    for chunk, computed in found:
        parts = tuple(map(here, computed))
        tree.add(tuple(part for part, join in zip(parts, step.joins, strict=True) if isinstance(join, str)))
        write(work, joined, parts, chunk)
    return together(work, tree.total(), joined)


def joined_arrays(work: Work, into: Mapping[int, Any]) -> dict[int, Any]:
    """The arrays that what is joined is written to, by slot: those of ``into``, or new ones of the current device."""
    library = np
    if work.kind == "cuda":
        import cupy as library
    lengths, step = dict(work.lengths), work.step
    return {
        fill: into[fill].reshape(shape) if fill in into else library.empty(shape, root.dtype)
        for root, fill, join in zip(step.roots, step.fills, step.joins, strict=True) if isinstance(join, int)
        for shape in [[length_of(dim, lengths) for dim in root.shape]]
    }  # fmt: skip


def write(work: Work, joined: Mapping[int, Any], parts: Parts, chunk: tuple[int, int]) -> None:
    """Write the parts of a piece that are joined to their rows."""
    first, count = chunk
    for fill, part, join in zip(work.step.fills, parts, work.step.joins, strict=True):
        if isinstance(join, int):
            joined[fill][(*[slice(None)] * (part.ndim + join), slice(first, first + count))] = part
