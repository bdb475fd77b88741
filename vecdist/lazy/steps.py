"""Slopes and differences along axes, and numbers at even steps, as NumPy has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from vecdist.graph.node import cast
from vecdist.lazy.array import LazyArray, as_lazy, operands, where
from vecdist.lazy.joining import along, concatenate


def _gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """The slopes of parabolas through neighbours, and at the ends of lines or parabolas."""
    f = as_lazy(f)
    axes = tuple(range(f.ndim)) if axis is None else normalize_axis_tuple(axis, f.ndim)
    if edge_order not in {1, 2}:
        raise ValueError(f"np.gradient has the edge orders 1 and 2, given {edge_order}")
    if len(varargs) not in {0, 1, len(axes)} or (len(varargs) == 1 < len(axes) and np.ndim(varargs[0])):
        raise TypeError(f"np.gradient over {len(axes)} axes was given {len(varargs)} spacings")
    given = list(varargs) * len(axes) if len(varargs) == 1 != len(axes) else list(varargs) or [1.0] * len(axes)
    f = f if f.dtype.kind in "fb" else f.astype(np.float64)
    found = [_along(f, place, spacing, edge_order) for place, spacing in zip(axes, given, strict=True)]
    return found[0] if len(axes) == 1 else tuple(found)


def _along(f: LazyArray, axis: int, spacing: Any, edge_order: int) -> LazyArray:
    """The slopes along one axis, whose points are even steps apart or at places."""
    y, length = np.moveaxis(f, axis, -1), f.shape[axis]  # type: ignore[call-overload]
    if length < edge_order + 1:
        raise ValueError(f"np.gradient wants {edge_order + 1} elements or more along axis {axis} of shape {f.shape}")
    if np.ndim(spacing) and np.shape(spacing) != (length,):
        raise ValueError(f"np.gradient: {np.shape(spacing)} places do not fit axis {axis} of shape {f.shape}")
    if np.ndim(spacing):
        steps: Any = np.diff(as_lazy(spacing).astype(np.float64))
        first, second, ends = steps[:-1], steps[1:], (steps[:2], steps[-2:])
        before, here, behind = _weights(first, second, 1)
        inner = before * y[..., :-2] + here * y[..., 1:-1] + behind * y[..., 2:]
    else:
        ends = ((spacing, spacing),) * 2
        inner = (y[..., 2:] - y[..., :-2]) / (2.0 * spacing)
    if edge_order == 1:
        outer = [(y[..., 1:2] - y[..., :1]) / ends[0][0], (y[..., -1:] - y[..., -2:-1]) / ends[1][-1]]
    else:
        sides = (*ends[0], 0, y[..., :3]), (*ends[1], 2, y[..., -3:])
        outer = [sum(weight * part[..., at : at + 1] for at, weight in enumerate(_weights(first, second, place)))
                 for first, second, place, part in sides]  # fmt: skip
    found = concatenate([outer[0], inner, outer[1]], -1).astype(f.dtype if f.dtype.kind == "f" else np.float64)
    return np.moveaxis(found, -1, axis)  # type: ignore[call-overload, return-value]


def _weights(first: Any, second: Any, place: int) -> tuple[Any, Any, Any]:
    """What three points count in the slope of their parabola at one of them; so far apart are they."""
    both = first + second
    return (
        (-(first + both) / (first * both), both / (first * second), -first / (second * both)),
        (-second / (first * both), (second - first) / (first * second), first / (second * both)),
        (second / (first * both), -both / (first * second), (second + both) / (second * both)),
    )[place]


def _ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> LazyArray:
    a = as_lazy(ary).ravel()
    parts = [None if each is None else as_lazy(each).ravel() for each in (to_begin, to_end)]
    for part in parts:
        if part is not None and not np.can_cast(part.dtype, a.dtype, "same_kind"):
            raise TypeError(f"np.ediff1d cannot join differences of dtype {a.dtype} with {part.dtype}")
    every = [parts[0], a[1:] - a[:-1], parts[1]]
    return concatenate([part.astype(a.dtype) for part in every if part is not None])


def _unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi) -> LazyArray:
    p = as_lazy(p)
    axis = normalize_axis_index(axis, p.ndim)
    apart = np.diff(p, axis=axis)
    dtype = np.result_type(apart, period)
    half, odd = divmod(period, 2) if dtype.kind in "iu" else (period / 2, 0)
    turned = np.mod(apart + half, period) - half
    if not odd:
        turned = where((turned == -half) & (apart > 0), half, turned)
    jumps = where(abs(apart) < (half if discont is None else discont), 0, turned - apart)
    first = p[(*[slice(None)] * axis, slice(0, 1))]
    return concatenate([first * 0, jumps.cumsum(axis)], axis).astype(dtype) + p.astype(dtype)


def _ends(start: Any, stop: Any) -> tuple[LazyArray, LazyArray]:
    """Both ends as floats of the dtype that they have in common."""
    nodes = operands(start, stop)
    found = np.result_type(*(node.dtype for node in nodes))
    dtype = found if found.kind == "f" else np.dtype(np.float64)
    first, last = (LazyArray(cast(node, dtype)) for node in nodes)
    return first, last


def _even(start: LazyArray, stop: LazyArray, num: int, endpoint: bool) -> tuple[LazyArray, Any]:
    """So many numbers along a first axis, and the step between them."""
    if num < 0:
        raise ValueError(f"a range of {num} numbers")
    apart = as_lazy(np.subtract(stop, start))
    steps = num - 1 if endpoint else num
    step: Any = apart / steps if steps > 0 else as_lazy(np.nan)
    at = LazyArray(along(0, num, 1 + apart.ndim)).astype(apart.dtype)
    found = at * step + start if steps > 0 else at * apart + start
    return where(at == steps, stop, found) if endpoint and steps > 0 else found, step


def _placed(found: Any, dtype: Any, axis: int) -> LazyArray:
    if dtype is not None:
        found = np.floor(found) if np.dtype(dtype).kind in "iu" else found
        found = as_lazy(found).astype(dtype)
    return np.moveaxis(found, 0, axis) if axis else found


def _linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: str | None = None,
) -> Any:
    found, step = _even(*_ends(start, stop), num, endpoint)
    found = _placed(found if device is None else found.to_device(device), dtype, axis)
    return (found, step) if retstep else found


def _logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> LazyArray:
    if np.ndim(base):
        raise TypeError("np.logspace of a lazy array takes one number as base")
    found, _ = _even(*_ends(start, stop), num, endpoint)
    return _placed(np.power(base, found), dtype, axis)


def _geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> LazyArray:
    """Of numbers of one sign; NaN between others, and the ends as they are."""
    first, last = (end.astype(np.float64) for end in _ends(start, stop))
    low, high = (as_lazy(np.log10(abs(end))) for end in (first, last))
    sizes, _ = _even(low, high, num, endpoint)
    inner = where(np.sign(first) == np.sign(last), np.sign(first) * np.power(10.0, sizes), np.nan)
    at = LazyArray(along(0, num, inner.ndim))
    found = where(at == 0, first, inner)
    found = where(at == num - 1, last, found) if endpoint and num > 1 else found
    return _placed(found, dtype, axis)


STEPS: dict[str, Callable[..., Any]] = {
    "ediff1d": _ediff1d,
    "geomspace": _geomspace,
    "gradient": _gradient,
    "linspace": _linspace,
    "logspace": _logspace,
    "unwrap": _unwrap,
}
