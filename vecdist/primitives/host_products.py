"""Products of matrices of NumPy's arrays by BLAS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vecdist.primitives.host_library import FEW, NUMPY, quiet, routine

SMALL, SHORT = 2**18, 2**13
"""Multiplications up to which OpenBLAS takes no threads: by a matrix, and by a vector."""


def product(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """The products of matrices in the last two axes, which may be written to ``out``."""
    rows, inner, columns = *a.shape[-2:], b.shape[-1]
    work = rows * inner * columns
    if work <= (SMALL if min(rows, columns) > 1 else SHORT):
        return np.matmul(a, b, out=out)
    multiply = routine("blas.gemm", a.dtype) if work > FEW and a.dtype == b.dtype else None
    if multiply is None:
        with quiet(NUMPY):
            return np.matmul(a, b, out=out)
    found = np.empty((*a.shape[:-1], b.shape[-1]), a.dtype) if out is None else out
    for each in np.ndindex(a.shape[:-2]):
        if _is_square_of(a[each], b[each]):
            _multiply_by_itself(a[each], found[each])
        else:
            _multiply(multiply, a[each], b[each], found[each])
    return found


def _laid(a: np.ndarray) -> tuple[np.ndarray, bool, int]:
    """A matrix whose rows, or whose columns (``True``), follow one another, and how long they are."""
    if a.flags.f_contiguous:
        return a, True, a.shape[0]
    return np.ascontiguousarray(a), False, a.shape[1]


def _multiply(multiply: Callable[..., None], a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """C' = B' A', for what has rows here has columns there."""
    (left, a_turned, a_step), (right, b_turned, b_step) = _laid(a), _laid(b)
    (rows, inner), columns = a.shape, b.shape[1]
    ways = (b"T" if turned else b"N" for turned in (b_turned, a_turned))
    multiply(*ways, columns, rows, inner, 1.0, right, b_step, left, a_step, 0.0, out, columns)


def _is_square_of(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether b is a', in the same memory."""
    return a.ctypes.data == b.ctypes.data and a.shape == b.shape[::-1] and a.strides == b.strides[::-1]


def _multiply_by_itself(a: np.ndarray, out: np.ndarray) -> None:
    """A A', of which one half is computed."""
    (rows, inner), (given, turned, step) = a.shape, _laid(a)
    half = routine("blas.syrk", a.dtype)
    assert half is not None
    half(b"U", b"N" if turned else b"T", rows, inner, 1.0, given, step, 0.0, out, rows)
    np.copyto(out, out.T, where=np.tri(rows, k=-1, dtype=bool).T)
