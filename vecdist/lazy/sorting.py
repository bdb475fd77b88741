"""NumPy's functions that put elements in order, between kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.primitives import orders
from vecdist.primitives.indexing import gather

KINDS = (None, "quicksort", "heapsort", "mergesort", "stable", "introselect")


def in_order(rows: LazyArray) -> LazyArray:
    """The elements along the last axis, ascending, NaN last; derivatives go with them."""
    return LazyArray(orders.in_order(rows.node))


def at(rows: LazyArray, places: Any) -> LazyArray:
    """The elements along the last axis at places that are there."""
    return LazyArray(gather(rows.node, [places.node], places.shape[-1:], rows.ndim - 1))


def _along(work: Callable[[LazyArray], LazyArray], a: LazyArray, axis: int | None) -> LazyArray:
    """What is done along the last axis, done along another; of all elements in order where it is none."""
    if axis is None:
        return work(a.ravel())
    axis = normalize_axis_index(axis, a.ndim)
    return np.moveaxis(work(np.moveaxis(a, axis, -1)), -1, axis)  # type: ignore[call-overload, return-value]


def _places(rows: LazyArray) -> LazyArray:
    return LazyArray(orders.order(rows.node))


def _sorted(name: str, work: Callable[[LazyArray], LazyArray]) -> Callable[..., LazyArray]:
    """Every order is the stable one, as each kind may be."""

    def arranged(a: Any, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None) -> LazyArray:
        if kind not in KINDS[:-1]:
            raise ValueError(f"{name} has the kinds {', '.join(map(str, KINDS[:-1]))}, given {kind!r}")
        return _along(work, as_lazy(a), axis)

    return arranged


def _parted(name: str, work: Callable[[LazyArray], LazyArray]) -> Callable[..., LazyArray]:
    """What is in order is parted at every place."""

    def parted(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect") -> LazyArray:
        a, places = as_lazy(a), np.asarray(kth)
        if kind != "introselect":
            raise ValueError(f"{name} has the kind introselect, given {kind!r}")
        if places.dtype.kind not in "iu":
            raise TypeError(f"{name} wants whole numbers as places, given dtype {places.dtype}")
        length = a.size if axis is None else a.shape[normalize_axis_index(axis, a.ndim)]
        if ((places < -length) | (places >= length)).any():
            raise ValueError(f"{name}: a place of {places.tolist()} is out of bounds of {length} elements")
        return _along(work, a, axis)

    return parted


def _lexsort(keys: Any, axis: int = -1) -> LazyArray:
    """By the last key, among equals by the one before, and so on: one stable order after another."""
    every = [as_lazy(key) for key in keys]
    if not every:
        raise TypeError("np.lexsort wants a key or more")
    if any(key.shape != every[0].shape for key in every):
        raise ValueError(f"np.lexsort wants keys of one shape, given {', '.join(str(key.shape) for key in every)}")
    axis = normalize_axis_index(axis, every[0].ndim)
    first, *others = (np.moveaxis(key, axis, -1) for key in every)  # type: ignore[call-overload]
    found = _places(first)
    for key in others:
        found = at(found, _places(at(key, found)))
    return np.moveaxis(found, -1, axis)  # type: ignore[call-overload, return-value]


SORTING: dict[str, Callable[..., Any]] = {
    "argpartition": _parted("np.argpartition", _places),
    "argsort": _sorted("np.argsort", _places),
    "lexsort": _lexsort,
    "partition": _parted("np.partition", in_order),
    "sort": _sorted("np.sort", in_order),
}
