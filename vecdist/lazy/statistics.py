"""NumPy's statistics of the elements along axes, and its reductions that leave NaN out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from vecdist.graph.node import Node, cast
from vecdist.lazy.array import LazyArray, as_lazy, where
from vecdist.primitives.indexing import scatter


def count(a: LazyArray, axis: Any, dtype: Any) -> LazyArray:
    """How many elements are along ``axis``."""
    return LazyArray(cast(Node("extent", (a.node,), (a.axes(axis),), (), np.dtype(np.float64)), dtype))


def _floating(a: Any, dtype: Any) -> LazyArray:
    """An array in the dtype of its mean."""
    a = as_lazy(a)
    return a.astype(dtype or (a.dtype if a.dtype.kind == "f" else np.float64))


def _root(squares: LazyArray) -> LazyArray:
    """The square root of a mean of squares, whose derivative is 0 where all of them are, as that of ``abs`` is."""
    none = squares == 0
    return where(none, squares, np.sqrt(where(none, squares + 1, squares)))


def _var(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False, correction: Any = None
) -> LazyArray:
    a = _floating(a, dtype)
    apart = a - a.mean(axis, keepdims=True)
    divisor = np.maximum(count(a, axis, a.dtype) - (ddof if correction is None else correction), 0)
    return (apart * apart).sum(axis, keepdims=keepdims) / divisor


def _std(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False, correction: Any = None
) -> LazyArray:
    return _root(_var(a, axis, dtype, ddof=ddof, keepdims=keepdims, correction=correction))


def _ptp(a: Any, axis: Any = None, *, keepdims: bool = False) -> LazyArray:
    a = as_lazy(a)
    return a.max(axis, keepdims) - a.min(axis, keepdims)


def _average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    a = as_lazy(a)
    if weights is None:
        found = a.mean(axis, keepdims=keepdims)
        total = count(a, axis, found.dtype)
    else:
        weights = fitted(as_lazy(weights), a, axis)
        dtype = np.result_type(a.dtype, weights.dtype, *([np.float64] if a.dtype.kind in "biu" else []))
        total = weights.astype(dtype).sum(axis, keepdims=keepdims)
        found = (a.astype(dtype) * weights).sum(axis, keepdims=keepdims) / total
    return (found, np.broadcast_to(total, found.shape)) if returned else found


def fitted(weights: LazyArray, a: LazyArray, axis: Any) -> LazyArray:
    """Weights of the whole array, or along ``axis``, with the axes of the array."""
    if weights.shape == a.shape:
        return weights
    axes = () if axis is None else normalize_axis_tuple(axis, a.ndim)
    if not axes or weights.shape != tuple(a.shape[each] for each in axes):
        raise ValueError(f"np.average: weights of shape {weights.shape} do not fit axis {axis} of shape {a.shape}")
    weights = weights.transpose(np.argsort(axes).tolist())
    spread = weights[tuple(slice(None) if place in axes else None for place in range(a.ndim))]
    return np.broadcast_to(spread, a.shape)  # type: ignore[return-value]


def without_nan(a: LazyArray, value: float) -> LazyArray:
    """An array with ``value`` in the place of NaN."""
    return where(np.isnan(a), value, a) if a.dtype.kind == "f" else a


def _counted(a: LazyArray, axis: Any, keepdims: bool) -> LazyArray:
    """How many elements along ``axis`` are numbers."""
    return (~np.isnan(a)).sum(axis, keepdims=keepdims)


def _nansum(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> LazyArray:
    return without_nan(as_lazy(a), 0.0).sum(axis, dtype, keepdims)


def _nanprod(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> LazyArray:
    return without_nan(as_lazy(a), 1.0).prod(axis, dtype, keepdims)


def _nanmean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> LazyArray:
    a = _floating(a, dtype)
    return without_nan(a, 0.0).sum(axis, keepdims=keepdims) / _counted(a, axis, keepdims).astype(a.dtype)


def _nanvar(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False, correction: Any = None
) -> LazyArray:
    a = _floating(a, dtype)
    apart = without_nan(a - _nanmean(a, axis, keepdims=True), 0.0) if a.size else a
    apart = where(np.isinf(a), np.nan, apart)  # what is infinite has no variance, and is not left out
    left = _counted(a, axis, keepdims).astype(a.dtype) - (ddof if correction is None else correction)
    squares = (apart * apart).sum(axis, keepdims=keepdims)
    return where(left > 0, squares / left, np.nan)


def _nanstd(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: float = 0, keepdims: bool = False, correction: Any = None
) -> LazyArray:
    return _root(_nanvar(a, axis, dtype, ddof=ddof, keepdims=keepdims, correction=correction))


def _nan_extreme(name: str, least: float) -> Callable[..., LazyArray]:
    def extreme(a: Any, axis: Any = None, *, keepdims: bool = False) -> LazyArray:
        a = as_lazy(a)
        found = getattr(without_nan(a, least), name)(axis, keepdims=keepdims)
        if a.dtype.kind != "f":
            return found
        return where(np.isnan(a).all(axis, keepdims), np.nan, found)

    return extreme


def _nan_running(name: str, value: float) -> Callable[..., LazyArray]:
    def scan(a: Any, axis: Any = None, dtype: Any = None) -> LazyArray:
        return getattr(without_nan(as_lazy(a), value), name)(axis, dtype)

    return scan


def _count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> LazyArray:
    return (as_lazy(a) != 0).sum(axis, keepdims=keepdims)


def _bincount(x: Any, weights: Any = None, minlength: int = 0) -> LazyArray:
    """The sums of the weights of each whole number: of groups, whose numbers are known."""
    if isinstance(x, LazyArray) or weights is None:
        raise TypeError("np.bincount of lazy numbers has no length yet; give an array of NumPy's, and lazy weights")
    places, weights = as_lazy(x), as_lazy(weights).astype(np.float64)
    groups = places.node.attrs[0].array  # of NumPy or CuPy
    if groups.ndim != 1 or weights.shape != groups.shape:
        raise ValueError(f"np.bincount wants a weight for each number, given shapes {groups.shape} and {weights.shape}")
    if groups.dtype.kind not in "iu" or (groups.size and int(groups.min()) < 0):
        raise ValueError("np.bincount counts whole numbers from 0 on")
    length = max(int(minlength), int(groups.max()) + 1 if groups.size else 0)
    there = (places >= 0) & (places < length)  # also if the array is changed before it is read
    indices, values = where(there, places, 0).astype(np.int64), where(there, weights, 0.0)
    return LazyArray(scatter(values.node, [indices.node], 0, (length,)))


STATISTICS: dict[str, Callable[..., Any]] = {
    "average": _average,
    "bincount": _bincount,
    "count_nonzero": _count_nonzero,
    "nancumprod": _nan_running("cumprod", 1.0),
    "nancumsum": _nan_running("cumsum", 0.0),
    "nanmax": _nan_extreme("max", -np.inf),
    "nanmean": _nanmean,
    "nanmin": _nan_extreme("min", np.inf),
    "nanprod": _nanprod,
    "nanstd": _nanstd,
    "nansum": _nansum,
    "nanvar": _nanvar,
    "ptp": _ptp,
    "std": _std,
    "var": _var,
}
