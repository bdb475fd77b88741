"""Arrays that lie in files, or anywhere out of memory, as lazy arrays that are read in pieces."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from vecdist.graph.chunked import of_file
from vecdist.graph.leaves import check_dtype
from vecdist.graph.leaves import chunked as leaf
from vecdist.lazy.array import LazyArray
from vecdist.lazy.devices import Devices, device_group
from vecdist.runtime.chunks.parquet import Columns


def chunked(
    array: Any, rows: int | None = None, name: str | None = None, *, columns: str | Sequence[str] | None = None,
    device: int | str | Devices | None = None,
) -> LazyArray:
    """An array that is not in memory as a lazy array, read in pieces of ``rows`` of its first axis.

    ``array`` is anything with a shape, a dtype and slices that give NumPy arrays: an ``np.memmap``, an array of Zarr, a
    dataset of HDF5.  What is computed of it reads each piece while a kernel runs on the one before; pieces have 64 MiB
    where ``rows`` is left out.  Several of them, and arrays in memory, stand beside each other row by row.

    With ``columns`` it is the path of a Parquet file, or of a directory of them, or a dataset of pyarrow, which must be
    installed: a name gives that column, (n,), names give a table (n, k) of their common dtype.  What is read is whole
    row groups, some of which make a piece where ``rows`` is left out.

    With a ``device``, ``"cuda"``, the number of a GPU or ``devices``, pieces are sent there while kernels run, by
    pinned memory until many passes have locked an array's pages; parameters are CuPy arrays.  Pieces are halved where
    three do not fit into a GPU's memory, and a ``RuntimeWarning`` says so: last digits of sums may then be others.

    Raises ``ValueError`` for an array without axes, ``rows`` below 1, columns that are not there, and for a Dask array,
    which needs no mark; ``TypeError`` for other dtypes than those of other arrays.  A row of Parquet without a value
    raises ``ValueError`` when it is read, by its place among all rows.

    >>> import numpy as np, tempfile, vecdist
    >>> from vecdist.distributions import Normal
    >>> file = tempfile.TemporaryFile()
    >>> _ = file.write(np.arange(1000.0).tobytes())
    >>> x = vecdist.chunked(np.memmap(file, np.float64), rows=300)
    >>> file.close()
    >>> mu = np.array(500.0)
    >>> value, slope = vecdist.value_and_grad(vecdist.logpdf(Normal(mu, 100.0), x).sum(), wrt=mu)
    >>> round(float(value), 3), round(float(slope), 6)
    (-9690.784, -0.05)
    """
    _check(array, rows, columns)
    held = of_file(array if columns is None else Columns(array, columns), rows)
    check_dtype(held.dtype)
    group = device_group(device)
    held = held if group is None else held.on(group)
    name = name or (columns if isinstance(columns, str) else None)
    return LazyArray(leaf(held, name))


def _check(array: Any, rows: int | None, columns: str | Sequence[str] | None) -> None:
    """Raise ``ValueError`` for what cannot be read in pieces of ``rows``."""
    if hasattr(array, "__dask_graph__"):
        raise ValueError("a Dask array has chunks of its own, and is taken as it is")
    if rows is not None and rows < 1:
        raise ValueError(f"pieces have 1 row or more, given rows={rows}")
    if isinstance(array, str | os.PathLike) and columns is None:
        raise ValueError(f"which columns of {os.fspath(array)}? name them, as columns='y' or columns=['x', 'z']")
