"""The chunks of the arrays that a step reads together, and one round over them where they are read in pieces."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.chunked import Chunked, library_of
from vecdist.graph.leaves import readable
from vecdist.runtime.base import length_of
from vecdist.runtime.chunks.progress import Progress
from vecdist.runtime.chunks.work import Parts, Read, Said, Tree, Work

OF_THEIR_OWN = {"h5py", "zarr", "vecdist"}  # libraries whose slices nobody writes to; others are copied, and so loaded


@final
@dataclass(frozen=True)
class Rows:
    """Arrays, by their slots, that are cut alike, into chunks of ``counts`` rows."""

    counts: tuple[int, ...]
    arrays: Mapping[int, Chunked]

    @property
    def streams(self) -> bool:
        """Whether they are read in pieces."""
        return any(array.streams for array in self.arrays.values())

    @property
    def devices(self) -> Any:
        """The devices that compute of their pieces; ``None`` for the processor, or where Dask says who does."""
        return next(array.devices for array in self.arrays.values())

    @property
    def resident(self) -> bool:
        """Whether the pieces lie on these devices."""
        return any(hasattr(array.source, "group") for array in self.arrays.values())

    @property
    def chunks(self) -> list[tuple[int, int] | None]:
        """The first row and the number of rows of each chunk; nothing of one without rows, where others have any."""
        each = zip(itertools.accumulate((0, *self.counts)), self.counts, strict=False)
        return [chunk if chunk[1] or not any(self.counts) else None for chunk in each]

    def in_chunks(self, counts: Sequence[int]) -> Rows:
        """The same arrays in other pieces."""
        return Rows(tuple(counts), {slot: array.in_chunks(counts) for slot, array in self.arrays.items()})

    @staticmethod
    def of(arrays: Mapping[int, Chunked]) -> Rows:
        """Arrays along whose rows others stand; ``ValueError``, naming two, where they are not cut alike."""
        _check_devices(arrays)
        if all(array.streams and not hasattr(array.source, "group") for array in arrays.values()):
            arrays = _in_fewest(arrays)
        first, *others = arrays
        kind = arrays[first].streams, arrays[first].counts
        other = next((slot for slot in others if (arrays[slot].streams, arrays[slot].counts) != kind), None)
        if other is not None:
            raise ValueError(
                f"the chunks of {arrays[first]} and {arrays[other]} are not aligned: the one has "
                f"{_told(arrays[first])}, the other {_told(arrays[other])}; cut one as the other, by x.rechunk"
            )
        return Rows(arrays[first].counts, arrays)


def _check_devices(arrays: Mapping[int, Chunked]) -> None:
    """Raise ``ValueError``, naming two, where arrays are not on the same devices, or only some of them stay there."""
    kinds = {(getattr(array.devices, "numbers", None), hasattr(array.source, "group")): array
             for array in arrays.values()}  # fmt: skip
    if len(kinds) > 1:
        first, second, *_ = kinds.values()
        raise ValueError(
            f"{first} and {second} do not lie on the same devices: shard both by one vecdist.devices, or give both "
            "to it as chunked(x, device=...)"
        )


def _told(array: Chunked) -> str:
    some = ", ".join(map(str, array.counts[:4])) + (", ..." if len(array.counts) > 4 else "")
    return f"{'pieces of a file' if array.streams else 'Dask chunks'} of {some} rows"


def streamed(work: Work, rows: Rows, known: Mapping[int, Any], into: Mapping[int, Any]) -> Parts:
    """What a step gives for all pieces, each read while a kernel runs on the one before.

    What is joined is written to the arrays ``into``, by slot, where they are given.
    """
    step, lengths = work.step, dict(work.lengths)
    joined = {
        fill: into[fill].reshape(shape) if fill in into else np.empty(shape, root.dtype)
        for root, fill, join in zip(step.roots, step.fills, step.joins, strict=True) if isinstance(join, int)
        for shape in [[length_of(dim, lengths) for dim in root.shape]]
    }  # fmt: skip
    tree, bar = Tree(step.joins), Progress(sum(rows.counts))
    with contextlib.closing(bar), contextlib.closing(ahead(work, rows, known)) as pieces:
        for (first, count), given in pieces:
            found = work(given, first, count)
            tree.add(tuple(part for part, join in zip(found, step.joins, strict=True) if isinstance(join, str)))
            for fill, part, join in zip(step.fills, found, step.joins, strict=True):
                if isinstance(join, int):
                    joined[fill][(*[slice(None)] * (part.ndim + join), slice(first, first + count))] = part
            bar.show(first + count)
    return together(work, tree.total(), joined)


def together(work: Work, folded: Parts, joined: Mapping[int, Any]) -> Parts:
    """What fills the slots of a step: of parts what they fold to, in the dtype of the value, and what is joined."""
    parts = iter(folded)
    return tuple(
        next(parts).astype(root.dtype) if isinstance(join, str) else joined[fill]
        for root, fill, join in zip(work.step.roots, work.step.fills, work.step.joins, strict=True)
    )


def ahead(
    work: Work, rows: Rows, known: Mapping[int, Any]
) -> Generator[tuple[tuple[int, int], dict[int, Any]], None, None]:
    """What fills the slots for each chunk with rows, the next one being read meanwhile."""
    reads = work.reads
    chunks = [chunk for chunk in rows.chunks if chunk is not None]
    whole = {read.slot: work.shaped(read, known[read.slot]) for read in reads if read.axis is None}

    def read(first: int, count: int) -> dict[int, Any]:
        return {each.slot: piece_of(work, each, rows, known, first, count) for each in reads if each.axis is not None}

    with ThreadPoolExecutor(1, thread_name_prefix="vecdist-reader") as reader:
        coming = reader.submit(read, *chunks[0])
        try:
            for place, chunk in enumerate(chunks):
                pieces = coming.result()
                if place + 1 < len(chunks):
                    coming = reader.submit(read, *chunks[place + 1])
                yield chunk, whole | pieces
        finally:
            coming.cancel()


def piece_of(
    work: Work, read: Read, rows: Rows, known: Mapping[int, Any], first: int, count: int, loads: bool = True
) -> Any:
    """The rows of a chunk, read from where they lie; with ``loads`` they are in memory then."""
    array = rows.arrays.get(read.slot)
    if array is None:
        whole = work.shaped(read, known[read.slot])
        return whole[(*[slice(None)] * (read.axis or 0), slice(first, first + count))]
    try:
        piece = readable(array.rows(first, count))
        piece = np.array(piece) if loads and library_of(array.source) not in OF_THEIR_OWN else piece
        return work.fitting(read, piece, Said(repr(array), (), array.shape[1:]), first, count)
    except BaseException as error:
        error.add_note(f"while the rows {first} to {first + count - 1} of {array} were read")
        raise


def _in_fewest(arrays: Mapping[int, Chunked]) -> dict[int, Chunked]:
    """Arrays in files, each in the pieces of the one whose largest piece has fewest rows."""
    counts = min((array.counts for array in arrays.values()), key=max)
    return {slot: array.in_chunks(counts) for slot, array in arrays.items()}
