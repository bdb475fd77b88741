"""NumPy's medians, quantiles and percentiles: interpolations between sorted elements.

The methods are those of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages", The American
Statistician 50 (1996), and NumPy's own.  Each says where in the sorted elements a quantile stands, and perhaps the
weight of what is behind it.  Places are computed from how many elements there are, by the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vecdist.graph.leaves import number
from vecdist.lazy.array import LazyArray, as_lazy, where
from vecdist.lazy.on_device import beside
from vecdist.lazy.sorting import at, in_order
from vecdist.lazy.statistics import count, fitted, without_nan
from vecdist.lazy.views import broadcast_view
from vecdist.primitives.orders import order

Place = Callable[[Any, Any], Any]


class Method(NamedTuple):
    """The place of a quantile among ``n`` elements, and, if not all of it counts, the weight of the next element."""

    place: Place
    weight: Place | None = None
    whole: bool = False


def _between(alpha: float, beta: float) -> Method:
    return Method(lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1)


def _at_step(shift: float, here: Place) -> Place:
    """The element behind a place, or the one at it, where ``here`` says so of what is left and of the place."""

    def place(n: LazyArray, q: LazyArray) -> Any:
        index = n * q - 1 - shift
        before = np.floor(index)
        return where(here(index - before, before), before, before + 1)

    return place


METHODS = {
    "inverted_cdf": Method(_at_step(0.0, lambda rest, before: rest == 0), whole=True),
    "averaged_inverted_cdf": Method(lambda n, q: n * q - 1, lambda rest, index: where(rest == 0, 0.5, 1.0)),
    "closest_observation": Method(_at_step(0.5, lambda rest, before: (rest == 0) & (before % 2 == 1)), whole=True),
    "interpolated_inverted_cdf": _between(0, 1),
    "hazen": _between(0.5, 0.5),
    "weibull": _between(0, 0),
    "linear": Method(lambda n, q: (n - 1) * q),
    "median_unbiased": _between(1 / 3, 1 / 3),
    "normal_unbiased": _between(3 / 8, 3 / 8),
    "lower": Method(lambda n, q: np.floor((n - 1) * q), whole=True),
    "higher": Method(lambda n, q: np.ceil((n - 1) * q), whole=True),
    "midpoint": Method(lambda n, q: 0.5 * (np.floor((n - 1) * q) + np.ceil((n - 1) * q)),
                       lambda rest, index: where(index % 1 == 0, 0.0, 0.5)),
    "nearest": Method(lambda n, q: np.rint((n - 1) * q), whole=True),
}  # fmt: skip


def _rows(a: LazyArray, axis: Any) -> LazyArray:
    """An array with the axes that are summarised as its last."""
    over = sorted(each % a.ndim for each in a.axes(axis))
    rest = [each for each in range(a.ndim) if each not in over]
    moved = a.transpose([*rest, *over])
    shape = (*(a.shape[each] for each in rest), math.prod(a.shape[each] for each in over))
    return moved if len(over) == 1 else moved.reshape(shape)


def _some(rows: LazyArray) -> LazyArray:
    """Rows as they are; of no elements, of one NaN."""
    if rows.shape[-1]:
        return rows
    dtype = rows.dtype if rows.dtype.kind == "f" else np.dtype(np.float64)
    return LazyArray(broadcast_view(number(np.nan, dtype), (*rows.shape[:-1], 1)))


def _counts(rows: LazyArray, leave_out: bool, dtype: Any) -> LazyArray:
    """How many elements each row has, or how many numbers."""
    if leave_out and rows.dtype.kind == "f":
        return (~np.isnan(rows)).sum(-1, keepdims=True).astype(dtype)
    return count(rows, -1, dtype)


def _at(rows: LazyArray, places: Any, n: LazyArray) -> LazyArray:
    """Sorted elements at places, of which those beyond the ends are the ends."""
    inside = as_lazy(np.clip(places, 0, np.maximum(n - 1, 0)).astype(np.int64))
    return at(rows, inside if inside.ndim else inside[None])


def _nan_where_any(found: LazyArray, rows: LazyArray) -> LazyArray:
    """NaN where an element of a row is, of which the last stands last."""
    return where(np.isnan(rows[..., -1:]), np.nan, found) if rows.dtype.kind == "f" else found


def _kept(found: LazyArray, a: LazyArray, axis: Any, ahead: int) -> LazyArray:
    """Results of which ``ahead`` axes are those of quantiles, with axes of length 1 for those summarised."""
    over = {each % a.ndim for each in a.axes(axis)}
    return found[(*[slice(None)] * ahead, *(None if each in over else slice(None) for each in range(a.ndim)))]


def _median(leave_out: bool) -> Callable[..., LazyArray]:
    def median(a: Any, axis: Any = None, *, keepdims: bool = False) -> LazyArray:
        a = without_nan(as_lazy(a), np.nan)  # chosen: what made it has no derivative
        rows = _some(_rows(a, axis))
        rows = in_order(rows if rows.dtype.kind == "f" else rows.astype(np.float64))
        n = _counts(rows, leave_out, np.float64)
        low, high = _at(rows, np.floor((n - 1) / 2), n), _at(rows, np.floor(n / 2), n)
        found = where(n % 2 == 1, low, (low + high) / 2)
        found = (found if leave_out else _nan_where_any(found, rows))[..., 0]
        return _kept(found, a, axis, 0) if keepdims else found

    return median


def _quantile(name: str, percent: bool, leave_out: bool) -> Callable[..., LazyArray]:
    def quantile(
        a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False, weights: Any = None
    ) -> LazyArray:
        a, shares = without_nan(as_lazy(a), np.nan), q if isinstance(q, LazyArray) else np.asarray(q)
        if percent:
            shares = shares / (a.dtype.type(100) if a.dtype.kind == "f" else 100)
        _check(name, shares, method, weights)
        rows, flat = _rows(a, axis), as_lazy(beside((a.node,), shares)).ravel()
        if not rows.shape[-1] and not leave_out:
            raise IndexError(f"{name} over axis {axis} of an array of shape {a.shape} is one of no elements")
        if weights is not None:
            found = _weighed(_some(rows), _rows(fitted(as_lazy(weights), a, axis), axis), flat, leave_out)
        else:
            found = _interpolated(_some(rows), flat, method, leave_out, type(q) in (int, float))
        if isinstance(q, LazyArray):  # of those that are known it has been seen
            found = where((flat >= 0) & (flat <= 1), found, np.nan)
        found = np.moveaxis(found, -1, 0) if shares.ndim else found[..., 0]  # type: ignore[call-overload]
        found = found.reshape(shares.shape + found.shape[1:]) if shares.ndim > 1 else found
        return _kept(found, a, axis, shares.ndim) if keepdims else found

    return quantile


def _check(name: str, q: Any, method: str, weights: Any) -> None:
    if not isinstance(q, LazyArray) and not ((q >= 0) & (q <= 1)).all():
        raise ValueError(f"{name} wants shares in the range [0, {100 if 'percent' in name else 1}]")
    if np.ndim(q) > 2:
        raise ValueError(f"{name} wants a number or numbers along one axis, given shape {np.shape(q)}")
    if method not in METHODS:
        raise ValueError(f"{name} has the methods {', '.join(METHODS)}, given {method!r}")
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"{name} has weights by the method inverted_cdf alone, given {method}")


def _interpolated(rows: LazyArray, q: LazyArray, method: str, leave_out: bool, weak: bool) -> LazyArray:
    """The quantiles of each row; ``weak`` ones take the dtype of its elements."""
    whole = METHODS[method].whole or (method == "linear" and q.dtype.kind in "iu")
    q = q if q.dtype.kind == "f" else q.astype(np.float64)
    n, rows = _counts(rows, leave_out, q.dtype), in_order(rows)
    index = METHODS[method].place(n, q)
    before = np.floor(index)
    found = _at(rows, before, n)
    if not whole:
        weight = METHODS[method].weight
        rest = index - before if weight is None else weight(index - before, index)
        kind = rows.dtype if weak and rows.dtype.kind == "f" else q.dtype
        after = _at(rows, before + 1, n)
        apart = after - found
        found = where(rest >= 0.5, after - apart * (1 - rest).astype(kind), found + apart * rest.astype(kind))
    return found if leave_out else _nan_where_any(found, rows)


def _weighed(rows: LazyArray, weights: LazyArray, q: LazyArray, leave_out: bool) -> LazyArray:
    """The first of the sorted elements at which so large a share of the weights stands or before."""
    if leave_out and rows.dtype.kind == "f":
        weights = where(np.isnan(rows), 0, weights)
    places = LazyArray(order(rows.node))
    ranked, sums = at(rows, places), at(weights, places).cumsum(-1, np.float64)
    shares = (sums / sums[..., -1:]).astype(q.dtype if q.dtype.kind == "f" else np.float64)
    passed = (where(shares == 0, -1, shares)[..., None, :] < q[:, None]).sum(-1)
    found = at(ranked, np.minimum(passed, ranked.shape[-1] - 1))
    return found if leave_out else _nan_where_any(found, ranked)


QUANTILES: dict[str, Callable[..., Any]] = {
    "median": _median(leave_out=False),
    "nanmedian": _median(leave_out=True),
    "nanpercentile": _quantile("np.nanpercentile", percent=True, leave_out=True),
    "nanquantile": _quantile("np.nanquantile", percent=False, leave_out=True),
    "percentile": _quantile("np.percentile", percent=True, leave_out=False),
    "quantile": _quantile("np.quantile", percent=False, leave_out=False),
}
