"""NumPy's histograms of lazy arrays: which interval each element is in, and what falls into each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.lazy.array import LazyArray, as_lazy, where
from vecdist.lazy.known import is_known, known
from vecdist.lazy.searching import searchsorted
from vecdist.primitives.indexing import scatter


def _digitize(x: Any, bins: Any, right: bool = False) -> LazyArray:
    edges, side = known("np.digitize", "edges", bins), "left" if right else "right"
    rises, falls = ((edges[:-1] <= edges[1:]).all(), (edges[:-1] >= edges[1:]).all()) if edges.ndim == 1 else (0, 0)
    if not (rises or falls):
        raise ValueError(f"np.digitize wants edges along one axis that rise or fall, given shape {edges.shape}")
    if rises:
        return searchsorted(edges, x, side)
    return len(edges) - searchsorted(edges[::-1], x, side)


def _span(a: LazyArray, span: Any) -> tuple[Any, Any]:
    """Between what intervals of one length are; around a point, 1/2 on either side."""
    if span is not None:
        first, last = span
        if is_known(first) and is_known(last) and not (np.isfinite(first) and np.isfinite(last) and first <= last):
            raise ValueError(f"np.histogram: the range from {first} to {last} is none of finite numbers that rise")
    else:
        first, last = (a.min(), a.max()) if a.size else (0.0, 1.0)
    first, last = (end if isinstance(end, LazyArray) else as_lazy(np.float64(end)) for end in (first, last))
    point = as_lazy(first == last)
    return where(point, first - 0.5, first), where(point, last + 0.5, last)


def _edges(a: LazyArray, bins: Any, span: Any) -> LazyArray:
    if isinstance(bins, str):
        raise TypeError(f"np.histogram of a lazy array has no bins {bins!r}: how many depends on the elements")
    if np.ndim(bins) == 0:
        count = int(bins)
        if count < 1:
            raise ValueError(f"np.histogram wants one bin or more, given {count}")
        dtype = a.dtype if a.dtype.kind == "f" else np.dtype(np.float64)
        return np.linspace(*_span(a, span), count + 1, dtype=dtype)  # type: ignore[call-overload, return-value]
    if np.ndim(bins) != 1:
        raise ValueError(f"np.histogram wants edges along one axis, given shape {np.shape(bins)}")
    if is_known(bins):
        edges = known("np.histogram", "edges", bins)
        if (edges[:-1] > edges[1:]).any():
            raise ValueError("np.histogram wants edges that rise")
    return as_lazy(bins)


def _histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None  # noqa: A002
) -> tuple[LazyArray, LazyArray]:
    """What is beyond the edges is in no interval; the last holds its end."""
    a = as_lazy(a)
    if weights is not None and np.shape(weights) != a.shape:
        raise ValueError(f"np.histogram: weights of shape {np.shape(weights)} do not fit an array of shape {a.shape}")
    a, heavy = a.ravel(), as_lazy(np.array(1)) if weights is None else as_lazy(weights).ravel()
    edges = _edges(a, bins, range)
    count = len(edges) - 1
    place = where(a == edges[-1], count, searchsorted(edges, a, "right"))
    inside = (place >= 1) & (place <= count)
    values = where(inside, heavy, heavy * 0)
    at = where(inside, place - 1, 0)
    found = LazyArray(scatter(values.node, [at.node], 0, (count,))) if count else values[:0]
    if density:
        found = found / np.diff(edges) / found.sum()
    return found, edges


def _bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> LazyArray:  # noqa: A002
    return _edges(as_lazy(a).ravel(), bins, range)


HISTOGRAMS: dict[str, Callable[..., Any]] = {
    "digitize": _digitize,
    "histogram": _histogram,
    "histogram_bin_edges": _bin_edges,
}
