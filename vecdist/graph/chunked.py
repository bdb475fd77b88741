"""Arrays in chunks along one axis, of which few are in memory at a time: Dask's, and those that lie in files."""

from __future__ import annotations

import itertools
import math
import mmap
import types
from collections.abc import Sequence
from typing import Any, ClassVar, final

import numpy as np

BY_PLACES = {"numpy", "dask", "h5py", "zarr"}  # libraries whose arrays give rows by an array of places in their order
PIECE = 64 * 2**20  # bytes of a piece of an array that is streamed: read in milliseconds, and beyond all caches


@final
class Chunked:
    """What a leaf holds of such an array: all but its elements.

    ``counts`` are the rows of its chunks along ``axis``, ``library`` is the one that the chunks belong to.  What
    ``streams`` is read in pieces by whoever needs them; else ``source`` is a Dask array.  ``devices`` are those that
    compute of pieces, where others than the processor do.
    """

    __slots__ = ("axis", "counts", "devices", "dtype", "library", "name", "shape", "source", "streams")
    flags: ClassVar[Any] = types.SimpleNamespace(c_contiguous=True)  # as its chunks are given to kernels
    strides: ClassVar[None] = None

    def __init__(
        self, source: Any, dtype: np.dtype, axis: int, counts: Sequence[int], library: str, streams: bool,
        devices: Any = None,
    ) -> None:
        self.source: Any = source
        self.shape: tuple[int, ...] = tuple(int(length) for length in source.shape)
        self.dtype: np.dtype = dtype.newbyteorder("=")
        self.axis: int = axis
        self.counts: tuple[int, ...] = tuple(int(count) for count in counts)
        self.library: str = library
        self.streams: bool = streams
        self.devices: Any = devices
        self.name: str | None = None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def device(self) -> Any:
        """Where sums over all chunks are, as an array says it: on the first of its devices."""
        number = self.devices.numbers[0] if self.devices is not None else None
        return types.SimpleNamespace(id=number or 0)

    def __repr__(self) -> str:
        return self.name or f"{self.dtype}{list(self.shape)} in {len(self.counts)} chunks"

    def in_chunks(self, counts: Sequence[int]) -> Chunked:
        """The same array in other chunks."""
        found = Chunked(self.source, self.dtype, self.axis, counts, self.library, self.streams, self.devices)
        found.name = self.name
        return found

    def on(self, devices: Any) -> Chunked:
        """The same array, its pieces computed of by these devices."""
        library = "cupy" if devices.kind == "cuda" else "numpy"
        found = Chunked(self.source, self.dtype, self.axis, self.counts, library, self.streams, devices)
        found.name = self.name
        return found

    def rows(self, first: int, count: int) -> Any:
        """Some rows of an array that is streamed, read now."""
        check_length(self.source)
        return self.source[(*[slice(None)] * self.axis, slice(first, first + count))]

    def at(self, places: np.ndarray) -> Any:
        """The rows at ascending places along the first axis, in slices where these are all; Dask's are not computed."""
        if hasattr(self.source, "groups"):
            raise TypeError(
                f"a batch reads rows by their places, but {self} is of a Parquet file, which is read by row groups; "
                "take all rows, batch=None, or write its columns to a np.memmap or to Zarr before"
            )
        check_length(self.source)
        if library_of(self.source) in BY_PLACES:
            return self.source[places]
        ends = np.flatnonzero(np.diff(places, prepend=-2, append=self.shape[0] + 1) != 1)
        return np.concatenate([self.source[places[a] : places[b - 1] + 1] for a, b in itertools.pairwise(ends)])


def library_of(source: Any) -> str:
    """The library that an array, or what is read as one, is of."""
    return type(source).__module__.partition(".")[0]


def check_length(array: Any) -> None:
    """Raise ``ValueError`` where the file that an array is mapped to is too short by now: to read it would be fatal."""
    while isinstance(array, np.ndarray):
        held: Any = array.base
        if isinstance(held, mmap.mmap) and isinstance(array, np.memmap):
            ends, there = array.offset + array.nbytes, held.size()
            if there < ends:
                name = array.filename or "a file"
                raise ValueError(f"{name} has become shorter: it has {there:,} bytes, and the array ends at {ends:,}")
        array = held


def of_dask(array: Any) -> Chunked:
    """A Dask array; ``ValueError`` where lengths of chunks are unknown, or two axes are cut."""
    if any(math.isnan(count) for counts in array.chunks for count in counts):
        raise ValueError(
            f"a Dask array of shape {array.shape} has chunks of unknown lengths, and so an unknown shape; learn them "
            "by x.compute_chunk_sizes()"
        )
    cut = [axis for axis, counts in enumerate(array.chunks) if len(counts) > 1]
    if len(cut) > 1:
        whole = ", ".join(f"{axis}: -1" for axis in cut[1:])
        raise ValueError(
            f"a Dask array of shape {array.shape} is cut along axes {', '.join(map(str, cut))}, but what is computed "
            f"of its rows wants them whole; cut it along one axis, as x.rechunk({{{whole}}})"
        )
    axis = cut[0] if cut else 0
    library = "cupy" if type(array._meta).__module__.partition(".")[0] == "cupy" else "numpy"
    return Chunked(array, array.dtype, axis, array.chunks[axis] if array.ndim else (1,), library, streams=False)


def of_file(array: Any, rows: int | None) -> Chunked:
    """An array of anything that has a shape, a dtype and slices, in pieces of so many rows."""
    shape, dtype = tuple(array.shape), np.dtype(array.dtype)
    if not shape:
        raise ValueError("an array that is read in pieces has an axis of rows, and this one has no axis")
    row = max(1, math.prod(shape[1:]) * dtype.itemsize)
    each = max(1, PIECE // row) if rows is None else rows
    natural = rows is None and hasattr(array, "pieces")
    return Chunked(array, dtype, 0, array.pieces() if natural else counts_of(shape[0], each), "numpy", streams=True)


def counts_of(length: int, rows: int) -> tuple[int, ...]:
    """The lengths of pieces of so many rows each, the last perhaps shorter."""
    return tuple(min(rows, length - first) for first in range(0, length, rows)) or (0,)


def laid_out(array: Any) -> Any:
    """What a structure depends on of how an array lies: the axis along which it is cut, or whether it is contiguous."""
    if isinstance(array, Chunked):
        return array.axis, array.streams, array.streams or len(array.counts) > 1
    return array.flags.c_contiguous
