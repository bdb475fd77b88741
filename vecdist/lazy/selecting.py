"""NumPy's functions that keep, leave out, put in or choose elements, at places that are known or by tests of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from vecdist.lazy.array import LazyArray, as_lazy, where
from vecdist.lazy.joining import concatenate, stack
from vecdist.lazy.known import known
from vecdist.lazy.on_device import beside
from vecdist.lazy.rearranging import picked
from vecdist.lazy.searching import at_places, searchsorted, take_along_axis
from vecdist.lazy.sorting import in_order

FEW = 8  # slices that are joined sooner than elements are looked up


def _kept(a: LazyArray, places: np.ndarray, axis: int) -> LazyArray:
    """The elements at known places along an axis: slices of it, or one by one where these would be many."""
    if np.count_nonzero(np.diff(places) != 1) < FEW:
        return picked(a, places, axis)
    return a.take(beside((a.node,), places), axis)


def _on_axis(a: Any, axis: int | None) -> tuple[LazyArray, int]:
    """An array and one of its axes; all elements in order where it is none."""
    a = as_lazy(a)
    return (a.ravel(), 0) if axis is None else (a, normalize_axis_index(axis, a.ndim))


def _places(name: str, obj: Any) -> np.ndarray:
    """Known places; an empty list is one of whole numbers."""
    found = known(name, "places", obj)
    return found if found.size or found.dtype.kind == "b" else found.astype(np.int64)


def _delete(arr: Any, obj: Any, axis: int | None = None) -> LazyArray:
    a, axis = _on_axis(arr, axis)
    gone = obj if isinstance(obj, slice | int) else _places("np.delete", obj)
    return _kept(a, np.delete(np.arange(a.shape[axis]), gone), axis)


def _insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> LazyArray:
    """Places of the array and of the values behind it, as NumPy puts them in order."""
    a, axis = _on_axis(arr, axis)
    length = a.shape[axis]
    at: Any = np.arange(length)[obj] if isinstance(obj, slice) else _places("np.insert", obj)
    if at.dtype.kind == "b" or at.ndim > 1:
        if at.ndim != 1:
            raise ValueError(f"np.insert wants places along one axis, given shape {at.shape}")
        at = np.flatnonzero(at)
    given = as_lazy(values)
    if at.size == 1:
        given = given[(None,) * (a.ndim - given.ndim)]
        given = given if at.ndim else np.moveaxis(given, 0, axis)  # type: ignore[call-overload]
        at, count = at.item(), given.shape[axis]
    else:
        count = len(at)
    part = np.broadcast_to(given.astype(a.dtype), (*a.shape[:axis], count, *a.shape[axis + 1 :]))
    places = np.insert(np.arange(length), at, np.arange(length, length + count))
    return _kept(concatenate([a, part], axis), places, axis)


def _compress(condition: Any, a: Any, axis: int | None = None) -> LazyArray:
    a, axis = _on_axis(a, axis)
    test = known("np.compress", "conditions", condition)
    if test.ndim != 1:
        raise ValueError(f"np.compress wants conditions along one axis, given shape {test.shape}")
    return _kept(a, np.arange(a.shape[axis])[np.flatnonzero(test)], axis)


def _extract(condition: Any, arr: Any) -> LazyArray:
    test = known("np.extract", "conditions", condition)
    return _compress(test.ravel(), arr)


def _choose(a: Any, choices: Any, *, mode: str = "raise") -> LazyArray:
    if mode not in {"raise", "wrap", "clip"}:
        raise ValueError(f"np.choose has the modes raise, wrap and clip, given {mode!r}")
    every = np.broadcast_arrays(as_lazy(a), *map(as_lazy, choices))
    place, count = as_lazy(every[0]), len(every) - 1
    if place.dtype.kind not in "biu":
        raise TypeError(f"np.choose chooses by whole numbers, given dtype {place.dtype}")
    place = place.astype(np.int64)
    place = {"raise": where(place < 0, count, place), "wrap": place % count, "clip": np.clip(place, 0, count - 1)}[mode]
    return take_along_axis(stack(every[1:]), place[None], 0)[0]


def _isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None
) -> LazyArray:
    """By a search among the tests, in order, of which there may be any number."""
    a = as_lazy(element)
    tests = as_lazy(beside((a.node,), test_elements)).ravel()
    if not len(tests):
        found = as_lazy(np.zeros_like(a, dtype=bool))
    else:
        ranked = in_order(tests)
        place = np.minimum(searchsorted(ranked, a), len(tests) - 1)
        found = at_places(ranked, place) == a
    return ~found if invert else found


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> LazyArray:
    """Functions of all elements, of which each is chosen where its condition holds; 0 where none does."""
    x = as_lazy(x)
    several = isinstance(condlist, list | tuple) or np.ndim(condlist) > min(x.ndim, 1)
    single = not several or (x.ndim > 0 and np.ndim(condlist[0]) == 0)
    tests = [as_lazy(test) != 0 for test in ([condlist] if single else condlist)]
    if len(funclist) not in {len(tests), len(tests) + 1}:
        raise ValueError(f"np.piecewise: {len(funclist)} functions do not fit {len(tests)} conditions")
    cases: list[Any] = [each(x, *args, **kw) if callable(each) else each for each in funclist]
    last = cases.pop() if len(cases) > len(tests) else 0
    found = np.broadcast_to(as_lazy(last).astype(x.dtype), x.shape)
    for test, case in zip(tests, cases, strict=True):
        found = where(test, as_lazy(case).astype(x.dtype), found)
    return as_lazy(found)


SELECTING: dict[str, Callable[..., Any]] = {
    "choose": _choose,
    "compress": _compress,
    "delete": _delete,
    "extract": _extract,
    "insert": _insert,
    "isin": _isin,
    "piecewise": _piecewise,
}
