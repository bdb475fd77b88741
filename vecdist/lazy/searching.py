"""NumPy's functions that choose, look up and search: which element, and the elements at computed places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from vecdist.graph.node import Node, cast
from vecdist.lazy.array import LazyArray, as_lazy, operands, where
from vecdist.lazy.indexing import pick_along
from vecdist.lazy.joining import along
from vecdist.lazy.ufuncs import check_shapes
from vecdist.primitives.indexing import gather

NONE = np.iinfo(np.int64).max
"""The place of what is nowhere."""


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> LazyArray:
    tests, choices = list(condlist), list(choicelist)
    if len(tests) != len(choices) or not tests:
        raise ValueError(f"np.select wants a choice for each condition: {len(tests)} and {len(choices)} were given")
    nodes = operands(*choices, default)
    dtype = np.result_type(*(node.dtype for node in nodes))
    conditions = [as_lazy(test) for test in tests]
    for condition in conditions:
        if condition.dtype.kind != "b":
            raise TypeError(f"np.select chooses by booleans, and was given a condition of dtype {condition.dtype}")
    check_shapes("np.select", [*(condition.node for condition in conditions), *nodes])
    *cases, found = (LazyArray(cast(node, dtype)) for node in nodes)
    for condition, case in zip(reversed(conditions), reversed(cases), strict=True):
        found = where(condition, case, found)
    return found


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> LazyArray:
    a, places = as_lazy(arr), as_lazy(indices)
    if axis is None:
        a, axis = a.ravel(), 0
    if a.ndim != places.ndim:
        raise ValueError(f"np.take_along_axis of shape {a.shape} wants indices of as many axes, given {places.shape}")
    return LazyArray(pick_along(a.node, places.node, normalize_axis_index(axis, a.ndim)))


def _place(name: str) -> Callable[..., LazyArray]:
    """Where the first of the extremes along an axis is; NaN is one, as in NumPy."""

    def place(a: Any, axis: Any = None, *, keepdims: bool = False) -> LazyArray:
        a = as_lazy(a)
        if axis is None:
            found = place(a.ravel(), 0)
            return found.reshape((1,) * a.ndim) if keepdims else found
        axis = normalize_axis_index(axis, a.ndim)
        first = a == getattr(a, name)(axis, keepdims=True)
        first = first | np.isnan(a) if a.dtype.kind == "f" else first
        at = LazyArray(along(axis, a.shape[axis], a.ndim))
        return where(first, at, NONE).min(axis, keepdims)

    return place


def _place_of_numbers(name: str, least: float) -> Callable[..., LazyArray]:
    """Where the first of the extremes of what is not NaN is, of which each row must have one."""

    def place(a: Any, axis: Any = None, *, keepdims: bool = False) -> LazyArray:
        a = as_lazy(a)
        found = _place(name)(where(np.isnan(a), least, a) if a.dtype.kind == "f" else a, axis, keepdims=keepdims)
        if a.dtype.kind != "f":
            return found
        there, most = ~np.isnan(a).all(axis, keepdims), as_lazy(np.nan_to_num(a)).max(axis, keepdims)
        label = (f"np.nanarg{name}", "the largest of a row", "a number beside NaN")
        return LazyArray(Node("checked", (found.node, there.node, most.node), (label,), found.shape, found.dtype))

    return place


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> LazyArray:
    a, v = as_lazy(a), as_lazy(v)
    if side not in {"left", "right"}:
        raise ValueError(f"np.searchsorted has the sides 'left' and 'right', given {side!r}")
    if a.ndim != 1:
        raise ValueError(f"np.searchsorted wants sorted numbers along one axis, given shape {a.shape}")
    a = a if sorter is None else a.take(sorter)
    found = as_lazy(np.zeros_like(v, dtype=np.int64))  # so many are known to stand before
    for bit in reversed(range(len(a).bit_length())):
        step = 1 << bit
        further = found + step
        last = at_places(a, np.minimum(further, len(a)) - 1)
        beyond = _before(last, v) if side == "left" else ~_before(v, last)
        found = where((further <= len(a)) & beyond, further, found)
    return found


def at_places(a: LazyArray, places: Any) -> LazyArray:
    """The elements at places that are there."""
    return LazyArray(gather(a.node, [places.node], places.shape))


def _before(x: LazyArray, y: LazyArray) -> LazyArray:
    """Whether ``x`` stands before ``y`` in order, behind all others of which stands NaN."""
    return (x < y) | (np.isnan(y) & ~np.isnan(x)) if y.dtype.kind == "f" else x < y


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> LazyArray:
    x, xp, fp = (as_lazy(each).astype(np.float64) for each in (x, xp, fp))
    if xp.ndim != 1 or xp.shape != fp.shape or not len(xp):
        raise ValueError(f"np.interp wants points and values along one axis, given shapes {xp.shape} and {fp.shape}")
    found = fp[0]
    if len(xp) > 1:
        after = np.clip(searchsorted(xp, x, "right"), 1, len(xp) - 1)
        (x0, y0), (x1, y1) = ((at_places(xp, at), at_places(fp, at)) for at in (after - 1, after))
        found = where(np.isnan(x), x, (y1 - y0) / (x1 - x0) * (x - x0) + y0)
    found = where(x < xp[0], fp[0] if left is None else left, found)
    return where(x > xp[-1], fp[-1] if right is None else right, where(x == xp[-1], fp[-1], found))


SEARCHING: dict[str, Callable[..., Any]] = {
    "argmax": _place("max"),
    "argmin": _place("min"),
    "interp": _interp,
    "nanargmax": _place_of_numbers("max", -np.inf),
    "nanargmin": _place_of_numbers("min", np.inf),
    "searchsorted": searchsorted,
    "select": _select,
    "take_along_axis": take_along_axis,
}
