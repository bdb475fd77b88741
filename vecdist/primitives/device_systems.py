"""Triangular systems and inverses on a GPU by cuBLAS, of matrices as they lie: none is turned into columns before.

cuBLAS has columns where an array has rows: what it calls X' L' = B' is L X = B, and rows of L are an upper triangle.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from vecdist.primitives.device_products import product


def solved(factor: Any, b: Any, transposed: bool = False) -> Any:
    """L^-1 B of CuPy's arrays, or L'^-1 B; what is above the diagonal of L is not read."""
    import cupy

    found = b.astype(factor.dtype, order="C")
    _solve(cupy.ascontiguousarray(factor), found, transposed)
    return found


def inverted(factor: Any) -> Any:
    """(L L')^-1, a product of L^-1."""
    inverse = _unit()(factor, factor.shape[-1])
    _solve(factor, inverse, transposed=False)
    return product(inverse.T, inverse)


def _solve(factor: Any, b: Any, transposed: bool) -> None:
    """Put a solution in the place of its right side."""
    import cupy
    from cupy_backends.cuda.libs import cublas

    (rows, columns), one = b.shape, _one(factor.dtype.char)
    if not b.size:
        return
    handle, trsm = cupy.cuda.device.get_cublas_handle(), {"f": cublas.strsm, "d": cublas.dtrsm}[factor.dtype.char]
    way = cublas.CUBLAS_OP_T if transposed else cublas.CUBLAS_OP_N
    how = cublas.CUBLAS_SIDE_RIGHT, cublas.CUBLAS_FILL_MODE_UPPER, way, cublas.CUBLAS_DIAG_NON_UNIT
    trsm(handle, *how, columns, rows, one.ctypes.data, factor.data.ptr, rows, b.data.ptr, columns)


@cache
def _one(kind: str) -> np.ndarray:
    return np.ones((), kind)


@cache
def _unit() -> Any:
    """Matrices with ones on their diagonals, as large as another."""
    import cupy

    return cupy.ElementwiseKernel(
        "T like, int64 count", "T unit", "unit = i / count == i % count ? (T)1 : (T)0", "unit_matrix"
    )
