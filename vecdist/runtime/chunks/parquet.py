"""Columns of Parquet files as an array of rows, read by pyarrow, row group by row group."""

from __future__ import annotations

import bisect
import importlib
import itertools
import os
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from vecdist.graph.chunked import PIECE
from vecdist.graph.leaves import check_dtype


@final
class Columns:
    """One column, of shape (n,), or several, (n, k), of all row groups of a Parquet file, or of those of a directory.

    The group that was read last is kept: neighbouring slices read each group once.
    """

    def __init__(self, source: Any, columns: str | Sequence[str]) -> None:
        self.names: tuple[str, ...] = (columns,) if isinstance(columns, str) else tuple(columns)
        fragments = list(_dataset(source).get_fragments())
        dtypes = [_dtype(fragment, name) for fragment in fragments for name in self.names]
        if not dtypes:
            raise ValueError(f"no columns are named, or {source} has no Parquet files")
        self.dtype: np.dtype = np.result_type(*dtypes)
        self.groups: list[tuple[Any, int]] = [(each, group.id) for each in fragments for group in each.row_groups]
        counts = [group.num_rows for each in fragments for group in each.row_groups]
        self.ends: list[int] = list(itertools.accumulate(counts))
        total = self.ends[-1] if self.ends else 0
        self.shape: tuple[int, ...] = (total,) if isinstance(columns, str) else (total, len(self.names))
        self._last: tuple[int, np.ndarray] = (-1, np.empty(0))

    def __repr__(self) -> str:
        return f"{', '.join(self.names)} of {len(self.groups)} row groups"

    def pieces(self) -> tuple[int, ...]:
        """Rows of neighbouring groups together, as many as are one piece of memory."""
        size, found, first = self.dtype.itemsize * len(self.names), [], 0
        for place, end in enumerate(self.ends):
            if (end - first) * size >= PIECE or place + 1 == len(self.ends):
                found.append(end - first)
                first = end
        return tuple(found) or (0,)

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Some rows, which lie in one group or in several."""
        first, stop, _ = (rows[0] if isinstance(rows, tuple) else rows).indices(self.shape[0])
        parts = []
        place = bisect.bisect_right(self.ends, first)
        while first < stop:
            begin, end = self.ends[place] - self._count(place), min(stop, self.ends[place])
            parts.append(self._group(place, begin)[first - begin : end - begin])
            first, place = end, place + 1
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([np.empty((0, *self.shape[1:]), self.dtype), *parts])

    def _count(self, place: int) -> int:
        return self.ends[place] - (self.ends[place - 1] if place else 0)

    def _group(self, place: int, begin: int) -> np.ndarray:
        known, array = self._last
        if known != place:
            array = self._read(place, begin)
            self._last = place, array
        return array

    def _read(self, place: int, begin: int) -> np.ndarray:
        fragment, number = self.groups[place]
        with fragment.open() as opened:
            file = importlib.import_module("pyarrow.parquet").ParquetFile(opened)
            there = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
            if there[number : number + 1] != [self._count(place)]:
                raise ValueError(f"{fragment.path} has changed: its row group {number} had {self._count(place)} rows")
            table = file.read_row_group(number, list(dict.fromkeys(self.names)))
        columns = [self._column(table, name, begin) for name in self.names]
        return columns[0] if len(self.shape) == 1 else np.stack(columns, axis=1)

    def _column(self, table: Any, name: str, begin: int) -> np.ndarray:
        """One column of a row group that begins with this row: without a copy where it has the dtype of all."""
        column = table.column(name)
        if column.null_count:
            wrong = begin + column.is_null().index(True).as_py()
            raise ValueError(f"{name}[{wrong}] has no value; fill it, or leave out such rows, before")
        return column.to_numpy().astype(self.dtype, copy=False)


def _dataset(source: Any) -> Any:
    """The dataset of pyarrow that is given, or of a path."""
    if not isinstance(source, str | os.PathLike):
        return source
    try:
        dataset = importlib.import_module("pyarrow.dataset")
    except ImportError:
        raise ImportError(
            "columns of Parquet files are read by pyarrow, which is not installed: pip install pyarrow"
        ) from None
    return dataset.dataset(os.fspath(source), format="parquet")


def _dtype(fragment: Any, name: str) -> np.dtype:
    """The dtype of a column of a file; an error that names it for what is no column of numbers."""
    schema = fragment.physical_schema
    if name not in schema.names:
        raise ValueError(f"{fragment.path} has no column {name!r}; it has {', '.join(schema.names)}")
    kind = schema.field(name).type
    try:
        found = np.dtype(kind.to_pandas_dtype())
    except NotImplementedError:
        found = np.dtype(object)
    try:
        check_dtype(found)
    except TypeError as error:
        raise TypeError(f"the column {name!r} of {fragment.path} is of type {kind}: {error}") from None
    return found
