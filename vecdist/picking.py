"""Indexing by arrays of whole numbers: elements picked as NumPy picks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecdist.expr import Node, cast, where
from vecdist.leaves import leaf
from vecdist.primitives.indexing import INDEXING, gather
from vecdist.primitives.structure import view
from vecdist.shapes import BroadcastError, broadcast
from vecdist.views import complete_key, index_view, transpose_view


def picks(key: Any) -> bool:
    """Whether an index holds an array, or a list."""
    return any(_is_array(item) for item in (key if isinstance(key, tuple) else (key,)))


def _is_array(item: Any) -> bool:
    return isinstance(item, list) or (getattr(item, "ndim", None) is not None and not isinstance(item, np.generic))


def pick(x: Node, key: Any) -> Node:
    """``x[key]`` where the key holds index arrays, beside slices, integers, ``...`` and ``None``.

    The index arrays broadcast together; their axes stand where the first of them stood, or in front where a slice
    parts them, as in NumPy.  Negative indices count from the end.  Raises ``IndexError`` for an index of another dtype;
    one out of range is found by the kernel.
    """
    keys = complete_key(key if isinstance(key, tuple) else (key,), x.ndim)
    arrays = [_index_node(item) for item in keys if _is_array(item)]
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
    return _checked_gather(x, arrays, picked, start)


def _index_node(item: Any) -> Node:
    node = item.node if hasattr(item, "node") else leaf(np.asarray(item, np.int64) if isinstance(item, list) else item)
    if node.dtype.kind == "b":
        raise IndexError(
            "an array of booleans picks a number of elements that is not known yet; use np.where(mask, x, otherwise)"
        )
    if node.dtype.kind not in "iu":
        raise IndexError(f"an index array holds whole numbers; this one is of dtype {node.dtype}")
    return node


def _array_axes(keys: Sequence[Any]) -> list[int]:
    """The axes of the index arrays among those that basic indexing leaves."""
    left = [item for item in keys if item is None or isinstance(item, slice) or _is_array(item)]
    return [axis for axis, item in enumerate(left) if _is_array(item)]


def _together(keys: Sequence[Any]) -> bool:
    """Whether no slice and no new axis stands between the indices that are arrays or, beside those, integers."""
    places = [place for place, item in enumerate(keys) if item is not None and not isinstance(item, slice)]
    return places == list(range(places[0], places[-1] + 1))


def _checked_gather(x: Node, arrays: Sequence[Node], picked: tuple, start: int) -> Node:
    """The gather of indices made safe, with a check of each."""
    safe: list[Node] = []
    checks: list[Node] = []
    labels: list[tuple[str, str, str]] = []
    for place, index in enumerate(arrays):
        axis = start + place
        extent = Node("extent", (x,), ((axis - x.ndim,),), (), np.dtype(np.float64))
        count, given = cast(extent, np.int64), cast(index, np.int64)
        counted = given if index.dtype.kind == "u" else where(given < 0, given + count, given)
        valid = (counted >= 0) & (counted < count)
        safe.append(where(valid, counted, 0))
        checks += [valid, index]
        length = int(x.shape[axis])
        labels.append((f"{INDEXING} axis {axis} of length {length}", "index", f"{-length} to {length - 1}"))
    value = gather(x, safe, picked, start)
    after = x.ndim - start - len(arrays)
    for valid in checks[::2]:
        behind = view(valid, [(axis, 0, 1) for axis in range(valid.ndim)], valid.shape + (1,) * after)
        value = where(behind, value, np.nan if value.dtype.kind == "f" else 0)
    return Node("checked", (value, *checks), tuple(labels), value.shape, value.dtype)
