"""Elements in other places: NumPy's functions that turn, roll, repeat, pad and pick from the diagonals of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from vecdist.graph.leaves import number
from vecdist.graph.node import Node, cast, const
from vecdist.lazy.array import LazyArray, as_lazy, where
from vecdist.lazy.joining import along, concatenate, joined
from vecdist.lazy.on_device import beside
from vecdist.lazy.views import broadcast_view
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.indexing import gather
from vecdist.primitives.structure import pad

BY_PLACE = ("edge", "reflect", "symmetric", "wrap")
"""The modes of ``np.pad`` whose elements are the array's own."""


def picked(array: LazyArray, places: np.ndarray, axis: int) -> LazyArray:
    """The elements at known ``places`` along ``axis``: slices of it, joined, whose derivatives are slices too."""
    before, parts, start = [slice(None)] * axis, [], 0
    while start < len(places):
        end = _run(places, start)
        step, first, last = int(places[end - 1] - places[end - 2]) if end - start > 1 else 1, *places[[start, end - 1]]
        if step:
            stop = int(last) + step
            part = array[(*before, slice(int(first), stop if stop >= 0 else None, step))]
        else:
            part = array[(*before, slice(int(first), int(first) + 1))]
            shape = (*part.shape[:axis], end - start, *part.shape[axis + 1 :])
            part = LazyArray(broadcast_view(part.node, shape))
        parts.append(part.node)
        start = end
    return LazyArray(joined(parts, axis)) if parts else array[(*before, slice(0, 0))]


def _run(places: np.ndarray, start: int) -> int:
    """Where the places that follow each other with one step, 1, -1 or 0, end."""
    end = start + 1
    while end < len(places) and abs(step := int(places[end] - places[end - 1])) <= 1:
        if end - start > 1 and step != places[end - 1] - places[end - 2]:
            break
        end += 1
    return end


def _flip(m: Any, axis: Any = None) -> LazyArray:
    m = as_lazy(m)
    turned = range(m.ndim) if axis is None else normalize_axis_tuple(axis, m.ndim)
    return m[tuple(slice(None, None, -1) if place in turned else slice(None) for place in range(m.ndim))]


def _flipped(axis: int, name: str) -> Callable[..., LazyArray]:
    def flip(m: Any) -> LazyArray:
        if np.ndim(m) <= axis:
            raise ValueError(f"{name} of an array of shape {np.shape(m)}: it wants {axis + 1} axes or more")
        return _flip(m, axis)

    return flip


def _roll(a: Any, shift: Any, axis: Any = None) -> LazyArray:
    a = as_lazy(a)
    if axis is None:
        return _roll(a.ravel(), np.sum(shift), 0).reshape(a.shape)
    places = normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
    for each, place in np.broadcast(shift, places):
        a = picked(a, np.roll(np.arange(a.shape[place]), int(each)), int(place))
    return a


def _repeat(a: Any, repeats: Any, axis: int | None = None) -> LazyArray:
    a = as_lazy(a)
    if isinstance(repeats, LazyArray):
        raise TypeError("np.repeat of a lazy array wants repeats that are known: how long the result is depends on it")
    if axis is None:
        a, axis = a.ravel(), 0
    axis = normalize_axis_index(axis, a.ndim)
    length, counts = a.shape[axis], np.asarray(repeats)
    if counts.size == 1:
        count = int(counts.reshape(()))
        if count < 0:
            raise ValueError(f"np.repeat was asked for {count} of each element")
        shape = (*a.shape[: axis + 1], count, *a.shape[axis + 1 :])
        each = a[(*[slice(None)] * (axis + 1), None)]
        return LazyArray(broadcast_view(each.node, shape)).reshape(*shape[:axis], length * count, *shape[axis + 2 :])
    if counts.shape != (length,):
        raise ValueError(f"np.repeat: repeats of shape {counts.shape} do not fit axis {axis} of shape {a.shape}")
    return a.take(beside((a.node,), np.repeat(np.arange(length), counts)), axis)


def _tile(A: Any, reps: Any) -> LazyArray:  # noqa: N803 (NumPy's name)
    a, counts = as_lazy(A), [int(each) for each in reps] if isinstance(reps, Iterable) else [int(reps)]
    ndim = max(a.ndim, len(counts))
    a, counts = a[(None,) * (ndim - a.ndim)], [1] * (ndim - len(counts)) + counts
    spread = a[tuple(key for _ in range(ndim) for key in (None, slice(None)))]
    shape = [each for pair in zip(counts, a.shape, strict=True) for each in pair]
    return LazyArray(broadcast_view(spread.node, shape)).reshape([c * n for c, n in zip(counts, a.shape, strict=True)])


def _pad(array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> LazyArray:
    array = as_lazy(array)
    if mode != "constant" and mode not in BY_PLACE:
        raise TypeError(f"np.pad of a lazy array has no mode {mode!r}; it has constant, {', '.join(BY_PLACE)}")
    widths = np.broadcast_to(_by_axis(pad_width, array.ndim), (array.ndim, 2)).tolist()
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError(f"np.pad was given a width below 0: {pad_width}")
    if mode == "constant":
        for axis, width in enumerate(widths):
            array = _between(array, width, constant_values, axis)
        return array
    padded = [axis for axis, width in enumerate(widths) if sum(width)]
    for axis in padded:
        if not array.shape[axis]:
            raise ValueError(f"np.pad by {mode} has no elements of axis {axis} of an array of shape {array.shape}")
    sources = [np.pad(np.arange(n), w, mode=mode) for n, w in zip(array.shape, widths, strict=True)]  # type: ignore[call-overload]
    if len(padded) > 1:  # slices of slices would be as many as their product
        return array[tuple(beside((array.node,), each) for each in np.ix_(*sources))]
    return picked(array, sources[padded[0]], padded[0]) if padded else array


def _by_axis(pad_width: Any, ndim: int) -> np.ndarray:
    if isinstance(pad_width, dict):
        pairs = {axis % ndim: np.broadcast_to(each, (2,)) for axis, each in pad_width.items()}
        return np.array([pairs.get(axis, (0, 0)) for axis in range(ndim)])
    return np.asarray(pad_width)


def _between(array: LazyArray, width: Sequence[int], constant_values: Any, axis: int) -> LazyArray:
    """An array with constants before and behind it along an axis."""
    parts = [array.node]
    for side, count in enumerate(width):
        value = _side(constant_values, array.ndim, axis, side)
        shape = (*array.shape[:axis], count, *array.shape[axis + 1 :])
        # as a constant, which is known to be 0 wherever it is padded to
        plain = not isinstance(value, LazyArray) and value == 0 and not np.signbit(value)
        given = const(0, array.dtype) if plain else cast(as_lazy(value).node, array.dtype)
        parts.insert(side * len(parts), broadcast_view(given, shape))
    return LazyArray(joined(parts, axis))


def _side(values: Any, ndim: int, axis: int, side: int) -> Any:
    """The constant of one side of an axis."""
    if isinstance(values, LazyArray) and not values.ndim:
        return values
    return np.broadcast_to(values, (ndim, 2))[axis, side]


def zeros_around(array: LazyArray, widths: Sequence[Sequence[int]]) -> LazyArray:
    """An array with so many zeros before and behind it along each of its axes."""
    entries = [(axis, before, 1) for axis, (before, _) in enumerate(widths)]
    shape = tuple(length + sum(pair) for length, pair in zip(array.shape, widths, strict=True))
    return LazyArray(pad(array.node, entries, shape))


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> LazyArray:
    if n < 0:
        raise ValueError(f"np.diff wants an order of 0 or more, given {n}")
    a = as_lazy(a)
    if not a.ndim:
        raise ValueError("np.diff wants an array of one axis or more, and was given a number")
    axis = normalize_axis_index(axis, a.ndim)
    if n and (prepend is not None or append is not None):
        one = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
        ends = [as_lazy(end) if end is not None else None for end in (prepend, append)]
        given = [LazyArray(broadcast_view(end.node, one)) if end is not None and not end.ndim else end for end in ends]
        a = concatenate([part for part in (given[0], a, given[1]) if part is not None], axis)
    for _ in range(n):
        before = [slice(None)] * axis
        later, sooner = a[(*before, slice(1, None))], a[(*before, slice(None, -1))]
        a = later != sooner if a.dtype.kind == "b" else later - sooner
    return a


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> LazyArray:
    a = as_lazy(a)
    if a.ndim < 2:
        raise ValueError(f"a diagonal wants an array of two axes or more, given one of shape {a.shape}")
    first, second = normalize_axis_index(axis1, a.ndim), normalize_axis_index(axis2, a.ndim)
    if first == second:
        raise ValueError(f"a diagonal wants two different axes, given {axis1} and {axis2}")
    rest = [axis for axis in range(a.ndim) if axis not in {first, second}]
    rows, columns = a.shape[first], a.shape[second]
    row, column = max(0, -offset), max(0, offset)
    length = max(0, min(rows - row, columns - column))
    a = a.transpose([*rest, first, second])[..., row : row + length, column : column + length]
    at = along(0, length, 1)
    return LazyArray(gather(a.node, [at, at], (length,), len(rest)))


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> LazyArray:
    return diagonal(a, offset, axis1, axis2).sum(axis=-1, dtype=dtype)


def _diag(v: Any, k: int = 0) -> LazyArray:
    v = as_lazy(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ValueError(f"np.diag takes an array of one or two axes, given one of shape {v.shape}")
    rows = _between(v, (max(0, -k), max(0, k)), 0, 0)[:, None]
    square = LazyArray(broadcast_view(rows.node, (len(rows), len(rows))))
    return where(_offset(square.shape, eq, k), square, zero(v))


def _diagflat(v: Any, k: int = 0) -> LazyArray:
    return _diag(as_lazy(v).ravel(), k)


def zero(like: LazyArray) -> LazyArray:
    """0 of the dtype of an array."""
    return LazyArray(number(0, like.dtype))


def _offset(shape: Sequence[int], compare: Callable[[Node, Node], Node], k: int) -> LazyArray:
    """How the distance of each element from the diagonal, to the right, compares with ``k``."""
    *_, rows, columns = shape
    return LazyArray(compare(along(1, columns, 2) - along(0, rows, 2), number(int(k), np.dtype(np.int64))))


def _triangle(name: str, compare: Callable[[Node, Node], Node]) -> Callable[..., LazyArray]:
    def triangle(m: Any, k: int = 0) -> LazyArray:
        m = as_lazy(m)
        if not m.ndim:
            raise ValueError(f"{name} wants an array of one axis or more, and was given a number")
        m = m if m.ndim > 1 else LazyArray(broadcast_view(m.node, (*m.shape, *m.shape)))
        return where(_offset(m.shape, compare, k), m, zero(m))

    return triangle


def _rollaxis(a: Any, axis: int, start: int = 0) -> LazyArray:
    a = as_lazy(a)
    axis = normalize_axis_index(axis, a.ndim)
    order = [place for place in range(a.ndim) if place != axis]
    place = normalize_axis_index(start, a.ndim + 1)
    order.insert(place - (axis < place), axis)
    return a.transpose(order)


def _rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> LazyArray:
    m = as_lazy(m)
    first, second = normalize_axis_tuple(axes, m.ndim)
    order = list(range(m.ndim))
    order[first], order[second] = second, first
    quarters = int(k) % 4
    turned = _flip(m, (first, second)) if quarters == 2 else _flip(m, second) if quarters == 1 else m
    if quarters % 2:
        turned = turned.transpose(order)
    return _flip(turned, second) if quarters == 3 else turned


REARRANGING: dict[str, Callable[..., Any]] = {
    "diag": _diag,
    "diagflat": _diagflat,
    "diagonal": diagonal,
    "diff": _diff,
    "flip": _flip,
    "fliplr": _flipped(1, "np.fliplr"),
    "flipud": _flipped(0, "np.flipud"),
    "pad": _pad,
    "repeat": _repeat,
    "roll": _roll,
    "rollaxis": _rollaxis,
    "rot90": _rot90,
    "tile": _tile,
    "trace": _trace,
    "tril": _triangle("np.tril", lambda column, k: column <= k),
    "triu": _triangle("np.triu", lambda column, k: column >= k),
}
