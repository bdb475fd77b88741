"""Indexing, transposing and broadcasting as views: where each axis goes, with a start and a step."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from numpy.lib.array_utils import normalize_axis_tuple

from vecdist.graph.node import Node
from vecdist.primitives.structure import Entry, joined, view


def index_view(x: Node, key: Any) -> Node:
    """``x[key]`` for basic indices: integers, slices, ``...`` and ``None``.

    Raises ``IndexError`` for an index that is out of range, too long, or of another kind.
    """
    keys = complete_key(key if isinstance(key, tuple) else (key,), x.ndim)
    entries: list[Entry] = []
    shape: list[int] = []
    source = 0
    for item in keys:
        if item is None:
            shape.append(1)
            continue
        length = int(x.shape[source])
        if isinstance(item, slice):
            start, stop, step = item.indices(length)
            count = len(range(start, stop, step))
            entries.append((len(shape), start if count else 0, step) if count else (len(shape), 0, 1))
            shape.append(count)
        else:
            entries.append((None, _position(item, length, source), 1))
        source += 1
    found = view(x, entries, tuple(shape))
    return x.args[0] if x.op == "view" and joined(found) is x.args[0] else found  # turned around, and back


def complete_key(keys: tuple[Any, ...], ndim: int) -> list[Any]:
    """The keys with ``...`` spelled out and missing axes taken whole."""
    used = sum(1 for key in keys if key is not None and key is not Ellipsis)
    if used > ndim:
        raise IndexError(f"{used} indices for an array of {ndim} axes")
    missing = [slice(None)] * (ndim - used)
    places = [place for place, key in enumerate(keys) if key is Ellipsis]
    if len(places) > 1:
        raise IndexError("an index holds more than one ...")
    at = places[0] if places else len(keys)
    return [*keys[:at], *missing, *keys[at + 1 :]]


def _position(item: Any, length: int, axis: int) -> int:
    try:
        position = operator.index(item)
    except TypeError:
        position = None
    if position is None or isinstance(item, bool):
        raise IndexError(f"a lazy array takes integers, slices, ... and None as indices, not {type(item).__name__}")
    if not -length <= position < length:
        raise IndexError(f"index {position} is out of range for axis {axis} of length {length}")
    return position % length


def transpose_view(x: Node, order: Sequence[int] | None = None) -> Node:
    """``x`` with its axes in the given order; reversed where none is given."""
    order = tuple(range(x.ndim))[::-1] if order is None else normalize_axis_tuple(order, x.ndim)
    if len(order) != x.ndim:
        raise ValueError(f"axes {order} are no permutation of the {x.ndim} axes")
    entries = [(order.index(axis), 0, 1) for axis in range(x.ndim)]
    return view(x, entries, tuple(x.shape[axis] for axis in order))


def broadcast_view(x: Node, shape: Sequence[int]) -> Node:
    """``x`` repeated until it has ``shape``."""
    shape = tuple(int(length) for length in shape)
    new = len(shape) - x.ndim
    entries: list[Entry] = []
    for axis, length in enumerate(x.shape):
        if new < 0 or length not in (1, shape[axis + new]):
            raise ValueError(f"an array of shape {x.shape} does not broadcast to {shape}")
        entries.append((None, 0, 1) if length == 1 and shape[axis + new] != 1 else (axis + new, 0, 1))
    return view(x, entries, shape)
