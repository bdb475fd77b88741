"""Products of arrays of any number of axes, and covariances, as NumPy has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from vecdist.lazy.array import LazyArray, as_lazy, matmul
from vecdist.lazy.joining import concatenate, stack
from vecdist.primitives.boundary import held


def dot(a: Any, b: Any) -> LazyArray:
    a, b = as_lazy(a), as_lazy(b)
    if not a.ndim or not b.ndim:
        return a * b
    return matmul(a, b) if a.ndim <= 2 and b.ndim <= 2 else tensordot(a, b, ([-1], [max(-2, -b.ndim)]))


def tensordot(a: Any, b: Any, axes: Any = 2) -> LazyArray:
    """One product of matrices, whose inner axis is all that are summed over."""
    a, b = as_lazy(a), as_lazy(b)
    if isinstance(axes, Iterable):
        given = [list(each) if isinstance(each, Iterable) else [each] for each in axes]
    else:
        given = [list(range(a.ndim - int(axes), a.ndim)), list(range(int(axes)))]
    inner, outer = normalize_axis_tuple(given[0], a.ndim), normalize_axis_tuple(given[1], b.ndim)
    shape = tuple(a.shape[axis] for axis in inner)
    if shape != tuple(b.shape[axis] for axis in outer):
        raise ValueError(f"lengths differ in np.tensordot over axes {inner} and {outer} of shapes {a.shape}, {b.shape}")
    rows, columns = ([axis for axis in range(x.ndim) if axis not in y] for x, y in ((a, inner), (b, outer)))
    result = (*(a.shape[axis] for axis in rows), *(b.shape[axis] for axis in columns))
    length = math.prod(shape)
    left = a.transpose([*rows, *inner]).reshape(math.prod(a.shape[axis] for axis in rows), length)
    right = b.transpose([*outer, *columns]).reshape(length, math.prod(b.shape[axis] for axis in columns))
    return matmul(left, right).reshape(result)


def _kron(a: Any, b: Any) -> LazyArray:
    a, b = as_lazy(a), as_lazy(b)
    ndim = max(a.ndim, b.ndim)
    a, b = (x[(None,) * (ndim - x.ndim)] for x in (a, b))
    spread = a[(slice(None), None) * ndim] * b[(None, slice(None)) * ndim]
    return spread.reshape([n * m for n, m in zip(a.shape, b.shape, strict=True)])


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> LazyArray:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = (_last(as_lazy(x), place) for x, place in ((a, axisa), (b, axisb)))
    if a.shape[-1:] != (3,) or b.shape[-1:] != (3,):
        raise ValueError(f"np.cross wants vectors of three elements, given shapes {a.shape} and {b.shape}")
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return stack(parts, axisc if axisc >= 0 or parts[0].ndim else 0)


def _last(x: LazyArray, axis: int) -> LazyArray:
    """An array with one of its axes as the last."""
    (place,) = normalize_axis_tuple(axis, x.ndim)
    return x.transpose([*(other for other in range(x.ndim) if other != place), place])


def vecdot(x1: Any, x2: Any, axis: int = -1) -> LazyArray:
    """The sums of products along an axis of both."""
    a, b = (_last(as_lazy(x), axis) for x in (x1, x2))
    return _summed("np.vecdot", a, b, a.shape[-1], b.shape[-1], -1)


def matvec(x1: Any, x2: Any) -> LazyArray:
    """The products of matrices and vectors."""
    a, b = as_lazy(x1), as_lazy(x2)
    if a.ndim < 2 or not b.ndim:
        raise ValueError(f"np.matvec wants matrices and vectors, given shapes {a.shape} and {b.shape}")
    return _summed("np.matvec", a, b[..., None, :], a.shape[-1], b.shape[-1], -1)


def vecmat(x1: Any, x2: Any) -> LazyArray:
    """The products of vectors and matrices."""
    a, b = as_lazy(x1), as_lazy(x2)
    if not a.ndim or b.ndim < 2:
        raise ValueError(f"np.vecmat wants vectors and matrices, given shapes {a.shape} and {b.shape}")
    return _summed("np.vecmat", a[..., None], b, a.shape[-1], b.shape[-2], -2)


def _summed(name: str, a: LazyArray, b: LazyArray, length: int, other: int, axis: int) -> LazyArray:
    """The sum of products over an axis of both, in the dtype that they have in common."""
    if length != other:
        raise ValueError(f"{name}: the vectors have {length} and {other} elements")
    return (a * b).sum(axis).astype(np.result_type(a.dtype, b.dtype))


def _cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: float | None = None, *, dtype: Any = None
) -> LazyArray:
    parts = [_variables(each, rowvar) for each in (m, y) if each is not None]
    kind = dtype or np.result_type(*(part.dtype for part in parts), np.float64)
    x = (concatenate(parts) if len(parts) > 1 else parts[0]).astype(kind)
    x = x - x.mean(1, keepdims=True)
    divisor = max(x.shape[1] - (ddof if ddof is not None else 0 if bias else 1), 0)
    found = matmul(x, x.T) / np.asarray(divisor, x.dtype).item()
    return found.reshape(()) if found.size == 1 else found


def _variables(m: Any, rowvar: bool) -> LazyArray:
    """An array with a row for each variable."""
    m = as_lazy(m)
    if m.ndim > 2:
        raise ValueError(f"covariances are of arrays of one or two axes, given one of shape {m.shape}")
    return m[(None,) * (2 - m.ndim)] if m.ndim < 2 or rowvar else m.T


def _corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> LazyArray:
    found = _cov(x, y, rowvar, dtype=dtype)
    if not found.ndim:
        return found / found
    deviations = np.sqrt(np.diagonal(found))
    found = found / deviations[:, None] / deviations
    return found + held(np.clip(found, -1.0, 1.0) - found)  # what is rounded beyond 1 has derivatives that cancel


TENSOR_PRODUCTS: dict[str, Callable[..., Any]] = {
    "corrcoef": _corrcoef,
    "cov": _cov,
    "cross": cross,
    "dot": dot,
    "kron": _kron,
    "tensordot": tensordot,
}
