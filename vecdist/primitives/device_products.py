"""Products of matrices by cuBLAS, called by its name: a fraction of what ``a @ b`` of CuPy's arrays costs the host."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np


def product(a: Any, b: Any) -> Any:
    """A B of CuPy's arrays, in their own precision."""
    ways = _way(a), _way(b)
    if a.dtype != b.dtype or a.dtype.kind != "f" or None in ways or not (a.size and b.size):
        return a @ b
    return _by_gemm(a, b, *ways)


def _way(a: Any) -> bool | None:
    """Whether a matrix lies by columns, not by rows; ``None`` where it is none, or does neither."""
    if a.ndim != 2:
        return None
    return False if a.flags.c_contiguous else True if a.flags.f_contiguous else None


def _by_gemm(a: Any, b: Any, a_by_columns: bool, b_by_columns: bool) -> Any:
    """What is B' A' for cuBLAS, which has columns where an array has rows."""
    import cupy

    gemm, one, zero, letters = _gemm(a.dtype.char)
    (rows, between), columns = a.shape, b.shape[1]
    result = cupy.empty((rows, columns), a.dtype)
    right = b.data.ptr, between if b_by_columns else columns
    left = a.data.ptr, rows if a_by_columns else between
    ways = letters[b_by_columns], letters[a_by_columns]
    handle = cupy.cuda.device.get_cublas_handle()
    gemm(handle, *ways, columns, rows, between, one, *right, *left, zero, result.data.ptr, columns)
    return result


@cache
def _gemm(kind: str) -> tuple[Any, int, int, tuple[int, int]]:
    """The function of a precision, where a one and a zero lie, and what says that a matrix is as it is, or turned."""
    from cupy_backends.cuda.libs import cublas

    numbers = np.array([1.0, 0.0], kind)
    _numbers.append(numbers)
    one = numbers.ctypes.data
    ways = cublas.CUBLAS_OP_N, cublas.CUBLAS_OP_T
    return getattr(cublas, {"f": "sgemm", "d": "dgemm"}[kind]), one, one + numbers.itemsize, ways


_numbers: list[np.ndarray] = []  # which cuBLAS reads from the host
