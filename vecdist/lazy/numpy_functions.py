"""NumPy functions on lazy arrays, by NumPy's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from vecdist.graph.leaves import number, on_host
from vecdist.lazy.array import LazyArray, as_lazy, matmul, where
from vecdist.lazy.einsum import einsum
from vecdist.lazy.joining import JOINING
from vecdist.lazy.rearranging import REARRANGING
from vecdist.lazy.searching import SEARCHING
from vecdist.lazy.statistics import STATISTICS
from vecdist.lazy.views import broadcast_view


def _sum(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> LazyArray:
    return as_lazy(a).sum(axis, dtype, keepdims)


def _mean(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> LazyArray:
    return as_lazy(a).mean(axis, dtype, keepdims)


def _broadcast_to(array: Any, shape: Any) -> LazyArray:
    return LazyArray(broadcast_view(as_lazy(array).node, tuple(shape) if isinstance(shape, Iterable) else (shape,)))


def _expand_dims(a: Any, axis: Any) -> LazyArray:
    ndim = np.ndim(a) + (len(tuple(axis)) if isinstance(axis, Iterable) else 1)
    new = normalize_axis_tuple(axis, ndim)
    return as_lazy(a)[tuple(None if position in new else slice(None) for position in range(ndim))]


def _squeeze(a: Any, axis: Any = None) -> LazyArray:
    shape = np.shape(a)
    ones = [position for position, length in enumerate(shape) if length == 1]
    dropped = ones if axis is None else normalize_axis_tuple(axis, len(shape))
    wrong = [position for position in dropped if position not in ones]
    if wrong:
        raise ValueError(f"axis {wrong[0]} of an array of shape {shape} has a length other than 1")
    return as_lazy(a)[tuple(0 if position in dropped else slice(None) for position in range(len(shape)))]


def _moveaxis(a: Any, source: Any, destination: Any) -> LazyArray:
    ndim = np.ndim(a)
    moved = normalize_axis_tuple(source, ndim)
    places = normalize_axis_tuple(destination, ndim)
    if len(moved) != len(places):
        raise ValueError(f"np.moveaxis moves {len(moved)} axes to {len(places)} places")
    order = [axis for axis in range(ndim) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return as_lazy(a).transpose(order)


def _swapaxes(a: Any, axis1: int, axis2: int) -> LazyArray:
    first, second = (normalize_axis_index(axis, np.ndim(a)) for axis in (axis1, axis2))
    order = list(range(np.ndim(a)))
    order[first], order[second] = second, first
    return as_lazy(a).transpose(order)


def _where(condition: Any, *choices: Any) -> LazyArray:
    if len(choices) != 2:
        raise TypeError("np.where of a lazy array wants three arguments: which elements are true is not known yet")
    return where(condition, *choices)


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> LazyArray:  # noqa: A002
    low, high = a_min if min is None else min, a_max if max is None else max
    a = as_lazy(a)
    a = a if low is None else np.maximum(a, low)
    return a if high is None else np.minimum(a, high)


def _result_type(*values: Any) -> np.dtype:
    return np.result_type(*(value.dtype if isinstance(value, LazyArray) else value for value in values))


def _filled(value: int) -> Callable[..., LazyArray]:
    def fill(a: Any, dtype: Any = None) -> LazyArray:
        return LazyArray(broadcast_view(number(value, np.dtype(dtype or a.dtype)), np.shape(a)))

    return fill


def _computed(function: Callable[..., bool]) -> Callable[..., bool]:
    """A function whose answer is a plain boolean, so that its arguments must be computed."""
    return lambda a, b, **keywords: function(_value(a), _value(b), **keywords)


def _value(a: Any) -> Any:
    return on_host(a.compute()) if isinstance(a, LazyArray) else a


def _extreme(name: str) -> Callable[..., LazyArray]:
    def extreme(a: Any, axis: Any = None, *, keepdims: bool = False) -> LazyArray:
        return getattr(as_lazy(a), name)(axis, keepdims)

    return extreme


def _prod(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: bool = False) -> LazyArray:
    return as_lazy(a).prod(axis, dtype, keepdims)


def _running(name: str) -> Callable[..., LazyArray]:
    def scan(a: Any, axis: Any = None, dtype: Any = None) -> LazyArray:
        return getattr(as_lazy(a), name)(axis, dtype)

    return scan


def _outer(a: Any, b: Any) -> LazyArray:
    return as_lazy(a).ravel()[:, None] * as_lazy(b).ravel()


def _inner(a: Any, b: Any) -> LazyArray:
    a, b = as_lazy(a), as_lazy(b)
    if not a.ndim or not b.ndim:
        return a * b
    return matmul(a, b.transpose() if b.ndim > 1 else b)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **JOINING,
    **REARRANGING,
    **SEARCHING,
    **STATISTICS,
    "all": _extreme("all"),
    "allclose": _computed(np.allclose),
    "amax": _extreme("max"),
    "amin": _extreme("min"),
    "any": _extreme("any"),
    "array_equal": _computed(np.array_equal),
    "broadcast_to": _broadcast_to,
    "clip": _clip,
    "cumprod": _running("cumprod"),
    "cumsum": _running("cumsum"),
    "dot": matmul,
    "einsum": einsum,
    "expand_dims": _expand_dims,
    "inner": _inner,
    "matmul": matmul,
    "max": _extreme("max"),
    "mean": _mean,
    "min": _extreme("min"),
    "moveaxis": _moveaxis,
    "ndim": lambda a: a.ndim,
    "ones_like": _filled(1),
    "outer": _outer,
    "prod": _prod,
    "ravel": lambda a: as_lazy(a).ravel(),
    "reshape": lambda a, shape: as_lazy(a).reshape(shape),
    "result_type": _result_type,
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[axis],
    "squeeze": _squeeze,
    "sum": _sum,
    "swapaxes": _swapaxes,
    "take": lambda a, indices, axis=None: as_lazy(a).take(indices, axis),
    "transpose": lambda a, axes=None: as_lazy(a).transpose(axes),
    "where": _where,
    "zeros_like": _filled(0),
}
