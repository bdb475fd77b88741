"""Indexing by arrays of whole numbers: elements picked as NumPy picks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecdist.graph.leaves import leaf
from vecdist.graph.node import Node, cast, const, where
from vecdist.graph.shapes import BroadcastError, broadcast
from vecdist.lazy.on_device import beside
from vecdist.lazy.views import complete_key, index_view, transpose_view
from vecdist.primitives.indexing import INDEXING, gather
from vecdist.primitives.structure import full, view

SEQUENCES = (list, tuple, range)  # that an item of a key may be, as in NumPy


def picks(key: Any) -> bool:
    """Whether an index holds an array, or a list of numbers, or another sequence."""
    return any(_is_array(item) for item in (key if isinstance(key, tuple) else (key,)))


def _is_array(item: Any) -> bool:
    return isinstance(item, SEQUENCES) or (getattr(item, "ndim", None) is not None and not isinstance(item, np.generic))


def pick(x: Node, key: Any) -> Node:
    """``x[key]`` where the key holds index arrays, beside slices, integers, ``...`` and ``None``.

    The index arrays broadcast together; their axes stand where the first of them stood, or in front where a slice
    parts them, as in NumPy.  Negative indices count from the end.  Raises ``IndexError`` for an index of another dtype;
    one out of range is found by the kernel.
    """
    keys = complete_key(_without_masks(key if isinstance(key, tuple) else (key,), x), x.ndim)
    arrays = [_index_node(item, x) for item in keys if _is_array(item)]
    try:
        picked = broadcast(index.shape for index in arrays)
    except BroadcastError:
        shapes = ", ".join(str(index.shape) for index in arrays)
        raise IndexError(f"the shapes of the index arrays, {shapes}, do not broadcast") from None
    x = index_view(x, tuple(slice(None) if _is_array(item) else item for item in keys))
    axes = _array_axes(keys)
    start = axes[0] if _together(keys) else 0
    others = [axis for axis in range(x.ndim) if axis not in axes]
    x = transpose_view(x, [*others[:start], *axes, *others[start:]])
    return _checked_gather(x, arrays, picked, start, _given_axes(keys))


def _without_masks(keys: Sequence[Any], x: Node) -> tuple[Any, ...]:
    """A key with the places of what is true for each array of booleans that is known, or list of them."""
    found: list[Any] = []
    for at, item in enumerate(keys):
        mask = _known_mask(item)
        if mask is None:
            found.append(item)
            continue
        start = sum(_width(each) for each in found)
        if any(each is Ellipsis for each in found):
            start = x.ndim - mask.ndim - sum(_width(each) for each in keys[at + 1 :])
        if mask.shape != x.shape[start : start + mask.ndim]:
            raise IndexError(f"a mask of shape {mask.shape} does not fit axis {start} of an array of shape {x.shape}")
        found += mask.nonzero()
    return tuple(found)


def _width(item: Any) -> int:
    """How many axes of the array an item of a key takes."""
    mask = _known_mask(item)
    return mask.ndim if mask is not None else int(item is not None)


def _known_mask(item: Any) -> Any:
    """The booleans of an item of a key, if it is an array of them that is there: NumPy's or CuPy's, or ``data``."""
    if isinstance(item, SEQUENCES):
        item = np.asarray(item)
    held = getattr(item, "node", None)
    if held is not None:
        item = held.attrs[0].array if held.op == "leaf" and held.attrs[0].constant else None
    there = _is_array(item) and item.dtype.kind == "b" and item.ndim
    return item if there else None


def pick_along(x: Node, index: Node, axis: int) -> Node:
    """The elements of ``x`` at ``index`` along ``axis``, beside each other along all others, which broadcast."""
    _check_index(index)
    last = [*(place for place in range(x.ndim) if place != axis), axis]
    shape, given = x.shape, index.shape
    x, index = transpose_view(x, last), transpose_view(index, last)
    try:
        before = broadcast((x.shape[:-1], index.shape[:-1]))
    except BroadcastError:
        raise ValueError(f"indices of shape {given} along axis {axis} do not fit an array of shape {shape}") from None
    x = full(x, (*before, x.shape[-1]))
    found = _checked_gather(x, [index], index.shape[-1:], x.ndim - 1, [axis])
    return transpose_view(found, [last.index(place) for place in range(x.ndim)])


def _index_node(item: Any, x: Node) -> Node:
    if isinstance(item, SEQUENCES):
        item = np.asarray(item, None if len(item) else np.int64)
    node = item.node if hasattr(item, "node") else leaf(beside((x,), item))
    _check_index(node)
    return node


def _check_index(node: Node) -> None:
    if node.dtype.kind == "b":
        raise IndexError(
            "an array of booleans that is not known yet picks a number of elements that is not either; use "
            "np.where(mask, x, otherwise)"
        )
    if node.dtype.kind not in "iu":
        raise IndexError(f"an index array holds whole numbers; this one is of dtype {node.dtype}")


def _array_axes(keys: Sequence[Any]) -> list[int]:
    """The axes of the index arrays among those that basic indexing leaves."""
    left = [item for item in keys if item is None or isinstance(item, slice) or _is_array(item)]
    return [axis for axis, item in enumerate(left) if _is_array(item)]


def _given_axes(keys: Sequence[Any]) -> list[int]:
    """The axes of the array, as the user counts them, that index arrays take."""
    places = [item for item in keys if item is not None]
    return [axis for axis, item in enumerate(places) if _is_array(item)]


def _together(keys: Sequence[Any]) -> bool:
    """Whether no slice and no new axis stands between the indices that are arrays or, beside those, integers."""
    places = [place for place, item in enumerate(keys) if item is not None and not isinstance(item, slice)]
    return places == list(range(places[0], places[-1] + 1))


def _checked_gather(x: Node, arrays: Sequence[Node], picked: tuple, start: int, given: Sequence[int]) -> Node:
    """The gather of indices made safe, with a check of each; ``given`` are their axes, for whoever reads the error."""
    safe: list[Node] = []
    checks: list[Node] = []
    labels: list[tuple[str, str, str]] = []
    for axis, (index, named) in enumerate(zip(arrays, given, strict=True), start):
        length = int(x.shape[axis])
        if not length and 0 not in picked:
            raise IndexError(f"axis {named} has length 0: no index of it is within range")
        extent = Node("extent", (x,), ((axis - x.ndim,),), (), np.dtype(np.float64))
        count, whole = cast(extent, np.int64), cast(index, np.int64)
        counted = whole if index.dtype.kind == "u" else where(whole < 0, whole + count, whole)
        valid = (counted >= 0) & (counted < count)
        safe.append(where(valid, counted, 0))
        checks += [valid, index]
        labels.append((f"{INDEXING} axis {named} of length {length}", "index", f"{-length} to {length - 1}"))
    value = gather(x, safe, picked, start)
    after = x.ndim - start - len(arrays)
    missing = const(np.nan if value.dtype.kind == "f" else 0, value.dtype)
    for valid in checks[::2]:
        behind = view(valid, [(axis, 0, 1) for axis in range(valid.ndim)], valid.shape + (1,) * after)
        value = where(behind, value, missing)
    return Node("checked", (value, *checks), tuple(labels), value.shape, value.dtype)
