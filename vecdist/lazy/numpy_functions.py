"""NumPy functions on lazy arrays, by NumPy's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from vecdist.graph.leaves import number, on_host
from vecdist.lazy.array import LazyArray, as_lazy, matmul, where
from vecdist.lazy.convolution import CONVOLUTIONS
from vecdist.lazy.einsum import einsum
from vecdist.lazy.histograms import HISTOGRAMS
from vecdist.lazy.joining import JOINING, concatenate
from vecdist.lazy.polynomials import POLYNOMIALS
from vecdist.lazy.quantiles import QUANTILES
from vecdist.lazy.rearranging import REARRANGING
from vecdist.lazy.searching import SEARCHING
from vecdist.lazy.selecting import SELECTING
from vecdist.lazy.sorting import SORTING
from vecdist.lazy.statistics import STATISTICS
from vecdist.lazy.steps import STEPS
from vecdist.lazy.tensor_products import TENSOR_PRODUCTS
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


def _on(a: LazyArray, device: str | None) -> LazyArray:
    """An array that is asked for on a device, or on its own."""
    return a if device is None else a.to_device(device)


def _filled(value: int) -> Callable[..., LazyArray]:
    def fill(a: Any, dtype: Any = None, *, device: str | None = None) -> LazyArray:
        a = _on(a, device)
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


def _round(a: Any, decimals: int = 0) -> LazyArray:
    a, power = as_lazy(a), 10.0 ** abs(int(decimals))
    if a.dtype.kind in "iu":
        return a if decimals >= 0 else (np.rint(a / power) * power).astype(a.dtype)
    scaled = np.rint(a) if not decimals else np.rint(a * power) if decimals > 0 else np.rint(a / power)
    return as_lazy(scaled if not decimals else scaled / power if decimals > 0 else scaled * power)


def _nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> LazyArray:
    x = as_lazy(x)
    if not copy:
        raise TypeError("np.nan_to_num(copy=False) would change a lazy array, which cannot be")
    if x.dtype.kind != "f":
        return x
    most = float(np.finfo(x.dtype).max)
    ends = ((np.inf, most if posinf is None else posinf), (-np.inf, -most if neginf is None else neginf))
    found = where(np.isnan(x), nan, x)
    for end, value in ends:
        found = where(x == end, value, found)
    return found.astype(x.dtype)


def _isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> LazyArray:
    a, b = as_lazy(a), as_lazy(b)
    near = (abs(a - b) <= atol + rtol * abs(b)) & np.isfinite(b) | (a == b)
    return near | (np.isnan(a) & np.isnan(b)) if equal_nan else near


def _infinite(end: float) -> Callable[..., LazyArray]:
    return lambda x: as_lazy(x) == end


def _full_like(a: Any, fill_value: Any, dtype: Any = None, *, device: str | None = None) -> LazyArray:
    a = _on(as_lazy(a), device)
    return LazyArray(broadcast_view(as_lazy(fill_value).astype(dtype or a.dtype).node, np.shape(a)))


def _astype(x: Any, dtype: Any, /, *, copy: bool = True, device: str | None = None) -> LazyArray:
    return _on(as_lazy(x), device).astype(dtype)


def _broadcast_arrays(*args: Any) -> tuple[LazyArray, ...]:
    shape = np.broadcast_shapes(*map(np.shape, args))
    return tuple(_broadcast_to(each, shape) for each in args)


def _cumulative(name: str, first: int) -> Callable[..., LazyArray]:
    """A running sum or product in the words of the array API."""

    def scan(x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> LazyArray:
        x = as_lazy(x)
        if axis is None and x.ndim > 1:
            raise ValueError(f"a running result of an array of shape {x.shape} wants an axis")
        found = getattr(x, name)(0 if axis is None else axis, dtype)
        if not include_initial:
            return found
        (place,) = normalize_axis_tuple(0 if axis is None else axis, x.ndim)
        start = (*found.shape[:place], 1, *found.shape[place + 1 :])
        return concatenate([LazyArray(broadcast_view(number(first, found.dtype), start)), found], place)

    return scan


def _angle(z: Any, deg: bool = False) -> LazyArray:
    """That of a real number: 0, or pi where it is below 0."""
    z = as_lazy(z)
    found = np.arctan2(0.0, z if z.dtype.kind == "f" else z.astype(np.float64))
    return as_lazy(np.degrees(found) if deg else found)


def _ix(*args: Any) -> tuple[LazyArray, ...]:
    parts = [as_lazy(each) for each in args]
    for part in parts:
        if part.ndim != 1 or part.dtype.kind not in "iu":
            raise ValueError(f"np.ix_ takes whole numbers along one axis, given shape {part.shape} of {part.dtype}")
    return tuple(part[tuple(slice(None) if place == own else None for place in range(len(parts)))]
                 for own, part in enumerate(parts))  # fmt: skip


def _indices_of(make: Callable[..., Any]) -> Callable[..., Any]:
    """Places that are known from a shape alone."""
    return lambda arr, k=0: make(arr.shape[-2], k, arr.shape[-1])


def _can_cast(from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(from_.dtype, to, casting)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> LazyArray:
    y = _moveaxis(y, axis, -1)
    widths = dx if x is None else np.diff(as_lazy(x) if np.ndim(x) == 1 else _moveaxis(x, axis, -1))
    return as_lazy((widths * (y[..., 1:] + y[..., :-1]) / 2.0).sum(-1))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **CONVOLUTIONS,
    **HISTOGRAMS,
    **JOINING,
    **POLYNOMIALS,
    **QUANTILES,
    **REARRANGING,
    **SEARCHING,
    **SELECTING,
    **SORTING,
    **STATISTICS,
    **STEPS,
    **TENSOR_PRODUCTS,
    "all": _extreme("all"),
    "allclose": _computed(np.allclose),
    "amax": _extreme("max"),
    "amin": _extreme("min"),
    "angle": _angle,
    "any": _extreme("any"),
    "around": _round,
    "array_equal": _computed(np.array_equal),
    "array_equiv": _computed(np.array_equiv),
    "astype": _astype,
    "broadcast_arrays": _broadcast_arrays,
    "broadcast_to": _broadcast_to,
    "can_cast": _can_cast,
    "clip": _clip,
    "common_type": lambda *arrays: np.common_type(*(np.empty(0, each.dtype) for each in arrays)),
    "copy": as_lazy,
    "cumprod": _running("cumprod"),
    "cumsum": _running("cumsum"),
    "cumulative_prod": _cumulative("cumprod", 1),
    "cumulative_sum": _cumulative("cumsum", 0),
    "diag_indices_from": lambda arr: np.diag_indices(arr.shape[0], arr.ndim),
    "einsum": einsum,
    "empty_like": _filled(0),
    "expand_dims": _expand_dims,
    "fix": lambda x: as_lazy(np.trunc(as_lazy(x))),
    "full_like": _full_like,
    "imag": lambda val: _filled(0)(as_lazy(val)),
    "inner": _inner,
    "isclose": _isclose,
    "iscomplex": lambda x: _filled(0)(as_lazy(x), bool),
    "iscomplexobj": lambda x: False,
    "isneginf": _infinite(-np.inf),
    "isposinf": _infinite(np.inf),
    "isreal": lambda x: _filled(1)(as_lazy(x), bool),
    "isrealobj": lambda x: True,
    "ix_": _ix,
    "matrix_transpose": lambda x: _swapaxes(x, -1, -2),
    "max": _extreme("max"),
    "mean": _mean,
    "min": _extreme("min"),
    "moveaxis": _moveaxis,
    "nan_to_num": _nan_to_num,
    "ndim": lambda a: a.ndim,
    "ones_like": _filled(1),
    "outer": _outer,
    "prod": _prod,
    "ravel": lambda a: as_lazy(a).ravel(),
    "real": as_lazy,
    "real_if_close": lambda a, tol=100: as_lazy(a),
    "reshape": lambda a, shape, *, copy=None: as_lazy(a).reshape(shape),
    "result_type": _result_type,
    "round": _round,
    "shape": lambda a: a.shape,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[axis],
    "squeeze": _squeeze,
    "sum": _sum,
    "swapaxes": _swapaxes,
    "take": lambda a, indices, axis=None: as_lazy(a).take(indices, axis),
    "transpose": lambda a, axes=None: as_lazy(a).transpose(axes),
    "trapezoid": _trapezoid,
    "tril_indices_from": _indices_of(np.tril_indices),
    "triu_indices_from": _indices_of(np.triu_indices),
    "vdot": lambda a, b: matmul(as_lazy(a).ravel(), as_lazy(b).ravel()),
    "where": _where,
    "zeros_like": _filled(0),
}
