"""The methods of NumPy's ufuncs of two numbers: ``reduce``, ``accumulate``, ``outer`` and sums by ``reduceat``.

What has a reduction of its own is that; all else is taken together from the first element on, step by step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from vecdist.graph.leaves import number
from vecdist.lazy.accumulating import folded, logcumsumexp
from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.lazy.numpy_functions import FUNCTIONS
from vecdist.lazy.scattering import add_at
from vecdist.lazy.ufuncs import apply
from vecdist.lazy.views import broadcast_view
from vecdist.primitives.reductions import reduced
from vecdist.primitives.scans import running
from vecdist.primitives.structure import drop_axes

_INSTEAD = {"add": "a = vecdist.add_at(a, indices, b)", "subtract": "a = vecdist.add_at(a, indices, -b)"}


def method_of(ufunc: np.ufunc, method: str) -> Callable[..., LazyArray]:
    """A method as a function with NumPy's parameters.

    Raises ``TypeError`` for one that has no lazy form, with what to write instead.
    """
    name = ufunc.__name__
    if method == "at":
        instead = _INSTEAD.get(name, "vecdist.add_at adds, np.where(condition, a, b) chooses, and both give another")
        raise TypeError(f"np.{name}.at writes into an array, and a lazy one does not change: {instead}")
    if method == "reduceat" and name != "add":
        raise TypeError(
            f"np.{name}.reduceat has no lazy form, np.add.reduceat has; write np.stack of np.{name}.reduce(x[i:j]), ..."
        )
    return _OWN.get((name, method)) or _GENERAL[method](ufunc)


def _reduce(ufunc: np.ufunc) -> Callable[..., LazyArray]:
    def reduce(array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False) -> LazyArray:
        x = _of_dtype(ufunc, as_lazy(array), dtype)
        ufunc.reduce(np.ones((1,) * x.ndim, x.dtype), axis)  # NumPy says which axes it may have
        places = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim)
        others = [place for place in range(x.ndim) if place not in places]
        left, count = [x.shape[place] for place in others], math.prod(x.shape[place] for place in places)
        if not count:
            found = _filled(ufunc.reduce(np.empty(0, x.dtype)).item(), left, x.dtype)
        else:
            rows = x.transpose([*places, *others]).reshape([count, *left])
            found = folded(_operation(ufunc), rows, 0, every=False)
        return found.reshape([1 if p in places else n for p, n in enumerate(x.shape)]) if keepdims else found

    return reduce


def _accumulate(ufunc: np.ufunc) -> Callable[..., LazyArray]:
    def accumulate(array: Any, axis: int = 0, dtype: Any = None) -> LazyArray:
        x = _of_dtype(ufunc, as_lazy(array), dtype)
        (place,) = normalize_axis_tuple(axis, x.ndim)
        return folded(_operation(ufunc), x, place, every=True)

    return accumulate


def _outer(ufunc: np.ufunc) -> Callable[..., LazyArray]:
    def outer(A: Any, B: Any) -> LazyArray:  # noqa: N803 (NumPy's names)
        a = as_lazy(A)
        return as_lazy(ufunc(a.reshape((*a.shape, *(1,) * np.ndim(B))), B))

    return outer


def _reduceat(ufunc: np.ufunc) -> Callable[..., LazyArray]:
    def reduceat(array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> LazyArray:
        """Sums from each index to the next, or of one element where that is no larger."""
        x = _of_dtype(np.add, as_lazy(array), dtype)
        (place,) = normalize_axis_tuple(axis, x.ndim)
        if isinstance(indices, LazyArray):
            raise TypeError("np.add.reduceat wants indices that are known; vecdist.add_at takes lazy ones")
        starts = np.asarray(indices)
        ends = np.append(starts[1:], x.shape[place])
        lengths = np.maximum(ends - starts, 1)
        of_piece = np.repeat(np.arange(len(starts)), lengths)
        inside = np.arange(len(of_piece)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        picked: Any = np.moveaxis(x, place, 0)[np.repeat(starts, lengths) + inside]  # type: ignore[call-overload]
        sums: Any = add_at(_filled(0, (len(starts), *picked.shape[1:]), x.dtype), of_piece, picked)
        return np.moveaxis(sums, 0, place)  # type: ignore[return-value]

    return reduceat


def _filled(value: Any, shape: Sequence[int], dtype: np.dtype) -> LazyArray:
    return LazyArray(broadcast_view(number(value, dtype), tuple(shape)))


def _of_dtype(ufunc: np.ufunc, x: LazyArray, dtype: Any) -> LazyArray:
    """An array in the dtype in which NumPy takes its elements together."""
    kept, *_ = ufunc.resolve_dtypes((None, np.dtype(dtype or x.dtype), None), reduction=True)  # type: ignore[arg-type]
    return x.astype(np.float32 if kept == np.float16 else kept)


def _operation(ufunc: np.ufunc) -> Callable[[LazyArray, LazyArray], LazyArray]:
    return lambda x, y: LazyArray(apply(ufunc, x.node, y.node))


def _logsumexp(array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False) -> LazyArray:
    x = _of_dtype(np.logaddexp, as_lazy(array), dtype)
    axes = x.axes(axis)
    found = LazyArray(reduced("logsumexp", x.node, axes)) if x.size else x.sum(axes, keepdims=True) - np.inf
    return found if keepdims else LazyArray(drop_axes(found.node, axes))


def _running(op: str, ufunc: np.ufunc) -> Callable[..., LazyArray]:
    def accumulate(array: Any, axis: int = 0, dtype: Any = None) -> LazyArray:
        x = _of_dtype(ufunc, as_lazy(array), dtype)
        (place,) = x.axes(axis)
        return LazyArray(running(op, x.node, place))

    return accumulate


def _logcumsumexp(array: Any, axis: int = 0, dtype: Any = None) -> LazyArray:
    return logcumsumexp(_of_dtype(np.logaddexp, as_lazy(array), dtype), axis)


_GENERAL = {"reduce": _reduce, "accumulate": _accumulate, "outer": _outer, "reduceat": _reduceat}
_OWN: dict[tuple[str, str], Callable[..., LazyArray]] = {
    ("add", "accumulate"): FUNCTIONS["cumsum"],
    ("add", "reduce"): FUNCTIONS["sum"],
    ("logaddexp", "accumulate"): _logcumsumexp,
    ("logaddexp", "reduce"): _logsumexp,
    ("logical_and", "reduce"): FUNCTIONS["all"],
    ("logical_or", "reduce"): FUNCTIONS["any"],
    ("maximum", "accumulate"): _running("cummax", np.maximum),
    ("maximum", "reduce"): FUNCTIONS["max"],
    ("minimum", "accumulate"): _running("cummin", np.minimum),
    ("minimum", "reduce"): FUNCTIONS["min"],
    ("multiply", "accumulate"): FUNCTIONS["cumprod"],
    ("multiply", "reduce"): FUNCTIONS["prod"],
}
