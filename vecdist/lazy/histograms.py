"""NumPy's histograms of lazy arrays: which interval each element is in, and what falls into each."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.graph.leaves import number
from vecdist.lazy.array import LazyArray, as_lazy, where
from vecdist.lazy.joining import stack
from vecdist.lazy.known import is_known, known
from vecdist.lazy.on_device import beside
from vecdist.lazy.searching import searchsorted
from vecdist.lazy.views import broadcast_view
from vecdist.primitives.indexing import scatter


def _digitize(x: Any, bins: Any, right: bool = False) -> LazyArray:
    edges, side = known("np.digitize", "edges", bins), "left" if right else "right"
    rises, falls = ((edges[:-1] <= edges[1:]).all(), (edges[:-1] >= edges[1:]).all()) if edges.ndim == 1 else (0, 0)
    if not (rises or falls):
        raise ValueError(f"np.digitize wants edges along one axis that rise or fall, given shape {edges.shape}")
    x = as_lazy(x)
    found = searchsorted(beside((x.node,), edges if rises else edges[::-1].copy()), x, side)
    return found if rises else len(edges) - found


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


def _edges(a: LazyArray, bins: Any, span: Any, dtype: Any) -> LazyArray:
    if isinstance(bins, str):
        raise TypeError(f"np.histogram of a lazy array has no bins {bins!r}: how many depends on the elements")
    if np.ndim(bins) == 0:
        count = int(bins)
        if count < 1:
            raise ValueError(f"np.histogram wants one bin or more, given {count}")
        return np.linspace(*_span(a, span), count + 1, dtype=dtype)  # type: ignore[call-overload, return-value]
    if np.ndim(bins) != 1:
        raise ValueError(f"np.histogram wants edges along one axis, given shape {np.shape(bins)}")
    if is_known(bins):
        edges = known("np.histogram", "edges", bins)
        if (edges[:-1] > edges[1:]).any():
            raise ValueError("np.histogram wants edges that rise")
        bins = beside((a.node,), edges)
    return as_lazy(bins)


def _nothing(shape: tuple[int, ...], like: LazyArray) -> LazyArray:
    return LazyArray(broadcast_view(number(0, like.dtype), shape))


def _counts(columns: Sequence[LazyArray], edges: Sequence[LazyArray], density: Any, weights: Any) -> LazyArray:
    """What is in each box; what is beyond the edges is in none, and the last intervals hold their ends."""
    heavy = as_lazy(1) if weights is None else as_lazy(weights).ravel()
    if weights is not None and heavy.shape != columns[0].shape:
        raise ValueError(f"np.histogram: {heavy.size} weights do not fit {columns[0].size} elements")
    inside, places = as_lazy(True), []
    for x, own in zip(columns, edges, strict=True):
        place = where(x == own[-1], len(own) - 1, searchsorted(own, x, "right"))
        inside = inside & (place >= 1) & (place <= len(own) - 1)
        places.append(place - 1)
    shape = tuple(len(own) - 1 for own in edges)
    values = where(inside, heavy, heavy * 0)
    indices = [where(inside, place, 0).node for place in places]
    found = _nothing(shape, values) if 0 in shape else LazyArray(scatter(values.node, indices, 0, shape))
    if not density:
        return found
    total = found.sum()
    for axis, own in enumerate(edges):
        found = found / np.diff(own)[(slice(None), *[None] * (len(edges) - 1 - axis))]
    return as_lazy(found / total)


def _histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None  # noqa: A002
) -> tuple[LazyArray, LazyArray]:
    x = as_lazy(a)
    if weights is not None and np.shape(weights) != x.shape:
        raise ValueError(f"np.histogram: weights of shape {np.shape(weights)} do not fit an array of shape {x.shape}")
    edges = _bin_edges(a, bins, range)
    return _counts([x.ravel()], [edges], density, weights), edges


def _histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None  # noqa: A002
) -> tuple[LazyArray, tuple[LazyArray, ...]]:
    """Counts are floats, as NumPy has them; a sequence of arrays is one of coordinates."""
    points = stack([as_lazy(each) for each in sample], 1) if isinstance(sample, list | tuple) else as_lazy(sample)
    points = points if points.ndim == 2 else points[:, None]
    columns = [points[:, axis] for axis in builtins.range(points.shape[1])]
    several = [bins] * len(columns) if np.isscalar(bins) else bins
    spans = [None] * len(columns) if range is None else range
    if not len(columns) == len(several) == len(spans):
        raise ValueError(f"np.histogramdd: {len(several)} bins and {len(spans)} ranges of {len(columns)} coordinates")
    edges = tuple(_edges(*each, None) for each in zip(columns, several, spans, strict=True))
    found = _counts(columns, edges, density, weights)
    return found.astype(np.result_type(found.dtype, np.float64)), edges


def _histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None  # noqa: A002
) -> tuple[LazyArray, LazyArray, LazyArray]:
    """Edges in one array are those of both coordinates."""
    both = not isinstance(bins, list | tuple) and np.ndim(bins) == 1
    found, (first, second) = _histogramdd((x, y), [bins, bins] if both else bins, range, density, weights)
    return found, first, second


def _bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> LazyArray:  # noqa: A002
    x = as_lazy(a).ravel()
    return _edges(x, bins, range, x.dtype if x.dtype.kind == "f" else np.float64)


HISTOGRAMS: dict[str, Callable[..., Any]] = {
    "digitize": _digitize,
    "histogram": _histogram,
    "histogram2d": _histogram2d,
    "histogram_bin_edges": _bin_edges,
    "histogramdd": _histogramdd,
}
