"""Triangular systems and inverses on a GPU by cuBLAS, of matrices as they lie: none is turned into columns before.

cuBLAS has columns where an array has rows: what it calls X' L' = B' is L X = B, and rows of L are an upper triangle.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from vecdist.primitives.device_products import product


def solved(factor: Any, b: Any, transposed: bool = False) -> Any:
    """L^-1 B of CuPy's arrays, or L'^-1 B, with the same leading axes; what is above the diagonal of L is not read."""
    import cupy

    found = b.astype(factor.dtype, order="C")
    _solve(cupy.ascontiguousarray(factor), found, transposed)
    return found


def inverted(factor: Any) -> Any:
    """(L L')^-1, a product of L^-1."""
    import cupy

    factor = cupy.ascontiguousarray(factor)
    inverse = _unit()(factor, factor.shape[-1])
    _solve(factor, inverse, transposed=False)
    return product(inverse.T, inverse) if factor.ndim == 2 else inverse.swapaxes(-1, -2) @ inverse


def _solve(factor: Any, b: Any, transposed: bool) -> None:
    """Put solutions in the place of their right sides; a single one is a column to cuBLAS, too, which is sooner."""
    import cupy
    from cupy_backends.cuda.libs import cublas

    (rows, columns), one, kind = b.shape[-2:], _one(factor.dtype.char), factor.dtype.char
    if not b.size:
        return
    alone = columns == 1 and b.ndim == 2
    side, shape = (cublas.CUBLAS_SIDE_LEFT, (rows, 1)) if alone else (cublas.CUBLAS_SIDE_RIGHT, (columns, rows))
    way = cublas.CUBLAS_OP_T if transposed != alone else cublas.CUBLAS_OP_N
    how = side, cublas.CUBLAS_FILL_MODE_UPPER, way, cublas.CUBLAS_DIAG_NON_UNIT
    given = cupy.cuda.device.get_cublas_handle(), *how, *shape, one.ctypes.data
    if b.ndim == 2:
        trsm = {"f": cublas.strsm, "d": cublas.dtrsm}[kind]
        trsm(*given, factor.data.ptr, rows, b.data.ptr, shape[0])
        return
    trsm, many = {"f": cublas.strsmBatched, "d": cublas.dtrsmBatched}[kind], b.size // (rows * columns)
    lefts, rights = places_of(factor, many), places_of(b, many)
    trsm(*given, lefts.data.ptr, rows, rights.data.ptr, columns, many)


def places_of(a: Any, many: int) -> Any:
    """Where each of many matrices lies that lie one after another, on the GPU."""
    import cupy

    return cupy.arange(a.data.ptr, a.data.ptr + a.nbytes, a.nbytes // many, dtype=np.uintp)


@cache
def _one(kind: str) -> np.ndarray:
    return np.ones((), kind)


@cache
def _unit() -> Any:
    """Matrices with ones on their diagonals, as large as another."""
    import cupy

    return cupy.ElementwiseKernel(
        "T like, int64 count", "T unit", "unit = i / count % count == i % count ? (T)1 : (T)0", "unit_matrix"
    )
