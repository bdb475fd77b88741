"""NumPy functions on lazy arrays, by NumPy's names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.array import LazyArray, lazy, matmul, where
from vecdist.views import broadcast_view


def _expand_dims(a: Any, axis: Any) -> LazyArray:
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    ndim = np.ndim(a) + len(axes)
    new = {position % ndim for position in axes}
    return lazy(a)[tuple(None if position in new else slice(None) for position in range(ndim))]


def _squeeze(a: Any, axis: Any = None) -> LazyArray:
    shape = np.shape(a)
    axes = range(len(shape)) if axis is None else [axis] if isinstance(axis, int) else axis
    dropped = {position % len(shape) for position in axes if shape[position] == 1 or axis is not None}
    wrong = [position for position in dropped if shape[position] != 1]
    if wrong:
        raise ValueError(f"axis {wrong[0]} of an array of shape {shape} has a length other than 1")
    return lazy(a)[tuple(0 if position in dropped else slice(None) for position in range(len(shape)))]


def _moveaxis(a: Any, source: int, destination: int) -> LazyArray:
    order = [axis for axis in range(np.ndim(a)) if axis != source % np.ndim(a)]
    order.insert(destination % np.ndim(a), source % np.ndim(a))
    return lazy(a).transpose(order)


def _swapaxes(a: Any, axis1: int, axis2: int) -> LazyArray:
    order = list(range(np.ndim(a)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return lazy(a).transpose(order)


def _where(condition: Any, *choices: Any) -> LazyArray:
    if len(choices) != 2:
        raise TypeError("np.where of a lazy array wants three arguments: which elements are true is not known yet")
    return where(condition, *choices)


def _clip(a: Any, a_min: Any = None, a_max: Any = None) -> LazyArray:
    a = lazy(a)
    a = a if a_min is None else np.maximum(a, a_min)
    return a if a_max is None else np.minimum(a, a_max)


def _result_type(*values: Any) -> np.dtype:
    return np.result_type(*(value.dtype if isinstance(value, LazyArray) else value for value in values))


def _filled(value: float) -> Callable[..., np.ndarray]:
    return lambda a, dtype=None, **_: np.full(np.shape(a), value, dtype or a.dtype)


def _computed(function: Callable[..., bool]) -> Callable[..., bool]:
    """A function whose answer is a plain boolean, so that its arguments must be computed."""
    return lambda a, b, **keywords: function(np.asarray(a), np.asarray(b), **keywords)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "allclose": _computed(np.allclose),
    "array_equal": _computed(np.array_equal),
    "broadcast_to": lambda array, shape: LazyArray(
        broadcast_view(lazy(array).node, (shape,) if isinstance(shape, int) else shape)
    ),
    "clip": _clip,
    "dot": matmul,
    "expand_dims": _expand_dims,
    "matmul": matmul,
    "mean": lambda a, axis=None, dtype=None, keepdims=False: lazy(a).mean(axis, dtype, keepdims),
    "moveaxis": _moveaxis,
    "ndim": lambda a: a.ndim,
    "ones_like": _filled(1),
    "ravel": lambda a: lazy(a).ravel(),
    "reshape": lambda a, shape: lazy(a).reshape(shape),
    "result_type": _result_type,
    "shape": lambda a: a.shape,
    "size": lambda a: a.size,
    "squeeze": _squeeze,
    "sum": lambda a, axis=None, dtype=None, keepdims=False: lazy(a).sum(axis, dtype, keepdims),
    "swapaxes": _swapaxes,
    "transpose": lambda a, axes=None: lazy(a).transpose(axes),
    "where": _where,
    "zeros_like": _filled(0),
}
