"""Event axes: the last ones, of which an event is made."""

from __future__ import annotations

import numpy as np

from vecdist.graph.node import Node, cast, where
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import LazyArray
from vecdist.lazy.views import index_view
from vecdist.primitives.indexing import gather
from vecdist.primitives.scans import running
from vecdist.primitives.structure import drop_axes, full, summed


def over_event(x: Node, axes: int = 1) -> Node:
    """The sum over the last axes."""
    last = tuple(range(-axes, 0))
    return drop_axes(summed(x, last), last)


def every(holds: Node, axes: int = 1) -> Node:
    """Whether a condition holds everywhere in the last axes."""
    return LazyArray(holds).all(tuple(range(-axes, 0))).node if axes else holds


def some(holds: Node, axes: int = 1) -> Node:
    """Whether a condition holds somewhere in the last axes."""
    return LazyArray(holds).any(tuple(range(-axes, 0))).node


def event_length(x: Node) -> int:
    """The length of the last axis."""
    return int(x.shape[-1])


def length(x: Node) -> Node:
    """The number of elements along the last axis, in the dtype of ``x``."""
    return cast(Node("extent", (x,), ((-1,),), (), np.dtype(np.float64)), x.dtype)


def between(low: float, high: float, x: Node, otherwise: float) -> Node:
    """``x`` where it lies between two numbers, another number elsewhere, so that no term of a sum is infinite or NaN.

    The cotangent of a sum whose value is not chosen is 0, which a derivative of a term multiplies.  A NaN stays.
    """
    return where((x < low) | (x > high), otherwise, x)


def each_of(x: Node) -> Node:
    """A number for each event as one for each of its elements: with an axis of length 1 behind."""
    return index_view(x, (..., None))


def place_of(u: Node, weights: Node) -> Node:
    """A place along the last axis of ``weights``, as probable as its weight is large, by a uniform number."""
    running_sum = running("cumsum", weights, -1)
    target = each_of(u) * index_view(running_sum, (..., slice(-1, None)))
    return over_event(cast(running_sum < target, weights.dtype))


def chosen(table: Node, index: Node) -> Node:
    """The element of the last axis of ``table`` at ``index``, the first one where that is out of range."""
    place = cast(where((index >= 0) & (index <= event_length(table) - 1), index, 0), np.int64)
    if table.ndim == 1:
        return gather(table, (place,), place.shape)
    batch = broadcast((table.shape[:-1], place.shape))
    rows, places = full(table, (*batch, table.shape[-1])), each_of(full(place, batch))
    return index_view(gather(rows, (places,), (1,), len(batch)), (..., 0))
