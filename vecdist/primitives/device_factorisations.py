"""Cholesky factors on a GPU without waiting for it: what cuSOLVER says of a matrix stays on the device."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from vecdist.primitives.device_systems import places_of


def factored(a: Any) -> Any:
    """Cholesky factors of CuPy's matrices, NaN where one is not positive definite."""
    import cupy

    if not a.size:
        return a
    if a.ndim == 2:
        factor, state = _factored(a)
        return _masked()(factor.T, state, a.shape[-1])
    flat = a.reshape(-1, *a.shape[-2:])
    factors, states = _each_factored(flat)
    return _masked()(factors, cupy.broadcast_to(states[:, None, None], flat.shape), a.shape[-1]).reshape(a.shape)


def _factored(a: Any) -> tuple[Any, Any]:
    """The array that holds the transposed factor of a matrix, and what is not 0 where there is none.

    cuSOLVER has columns where an array has rows.  It takes half of the time for lower triangles, so that it is given
    the columns of the matrix.
    """
    import cupy
    from cupy_backends.cuda.libs import cublas, cusolver

    count, letter = a.shape[-1], _letter(a.dtype)
    handle, factor, state = cupy.cuda.device.get_cusolver_handle(), a.T.copy(), cupy.empty(1, np.int32)
    lower, place = cublas.CUBLAS_FILL_MODE_LOWER, factor.data.ptr
    size = getattr(cusolver, f"{letter}potrf_bufferSize")(handle, lower, count, place, count)
    room = cupy.empty(size, a.dtype)
    potrf = getattr(cusolver, f"{letter}potrf")
    potrf(handle, lower, count, place, count, room.data.ptr, size, state.data.ptr)
    return factor, state


def _each_factored(a: Any) -> tuple[Any, Any]:
    """The arrays that hold the factors of many matrices, and what is not 0 where there is none.

    What cuSOLVER calls the upper triangle is the lower one.
    """
    import cupy
    from cupy_backends.cuda.libs import cublas, cusolver

    many, count = a.shape[:2]
    handle, factors, states = cupy.cuda.device.get_cusolver_handle(), a.copy(), cupy.empty(many, np.int32)
    places = places_of(factors, many)
    potrf = getattr(cusolver, f"{_letter(a.dtype)}potrfBatched")
    potrf(handle, cublas.CUBLAS_FILL_MODE_UPPER, count, places.data.ptr, count, states.data.ptr, many)
    return factors, states


def _letter(dtype: np.dtype) -> str:
    return {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}[dtype]


@cache
def _masked() -> Any:
    """The lower triangles of what holds factors, NaN where there is none."""
    import cupy

    return cupy.ElementwiseKernel(
        "T factor, int32 state, int64 count", "T lower",
        "lower = state != 0 ? (T)nan(\"\") : (i % count <= i / count % count ? factor : (T)0)", "lower_or_nan",
    )
