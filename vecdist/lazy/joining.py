"""Arrays put beside each other: NumPy's functions that join arrays, along an axis that is there or a new one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from vecdist.graph.leaves import number
from vecdist.graph.node import Node, cast
from vecdist.graph.node import where as choose
from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.primitives.structure import Entry, pad, position, view


def along(axis: int, length: int, ndim: int) -> Node:
    """The index along ``axis`` of an array of ``ndim`` axes, with length 1 along all others."""
    shape = tuple(length if place == axis else 1 for place in range(ndim))
    return view(position(length), [(None if length == 1 else axis, 0, 1)], shape)


def joined(parts: Sequence[Node], axis: int) -> Node:
    """``parts`` of one dtype one after another along ``axis``, of which each element is chosen by where it stands.

    No part is added to another's zeros: what is infinite, NaN or -0.0 stays so, and so do derivatives.
    """
    parts = [part for part in parts if part.shape[axis] != 0] or parts[:1]
    starts = np.cumsum([0, *(int(part.shape[axis]) for part in parts)]).tolist()
    shape = (*parts[0].shape[:axis], starts[-1], *parts[0].shape[axis + 1 :])
    at = along(axis, starts[-1], len(shape))
    result: Node | None = None
    for part, start, end in reversed(list(zip(parts, starts, starts[1:], strict=False))):
        entries: list[Entry] = [(place, start if place == axis else 0, 1) for place in range(len(shape))]
        here = pad(part, entries, shape)
        result = here if result is None else choose(at < number(end, np.dtype(np.int64)), here, result)
    assert result is not None
    return result


def concatenate(arrays: Any, axis: int | None = 0, *, dtype: Any = None) -> LazyArray:
    parts = _parts("np.concatenate", arrays)
    if axis is None:
        parts, axis = [part.ravel() for part in parts], 0
    shapes = [part.shape for part in parts]
    if not shapes[0]:
        raise ValueError("np.concatenate joins arrays along an axis that they have, and was given numbers: np.stack")
    axis = normalize_axis_index(axis, len(shapes[0]))
    rest = [(*shape[:axis], *shape[axis + 1 :]) for shape in shapes]
    for shape, other in zip(shapes, rest, strict=True):
        if len(shape) != len(shapes[0]) or other != rest[0]:
            raise ValueError(f"arrays of shapes {shapes[0]} and {shape} cannot be joined along axis {axis}")
    found = np.result_type(*(part.dtype for part in parts))
    wanted = found if dtype is None else np.dtype(dtype)
    if not np.can_cast(found, wanted, "same_kind"):
        raise TypeError(f"np.concatenate would lose digits from {found} to {wanted}; convert with .astype first")
    return LazyArray(joined([cast(part.node, wanted) for part in parts], axis))


def stack(arrays: Any, axis: int = 0, *, dtype: Any = None) -> LazyArray:
    parts = _parts("np.stack", arrays)
    for part in parts:
        if part.shape != parts[0].shape:
            raise ValueError(f"arrays of shapes {parts[0].shape} and {part.shape} cannot be stacked")
    axis = normalize_axis_index(axis, parts[0].ndim + 1)
    new = (*[slice(None)] * axis, None)
    return concatenate([part[new] for part in parts], axis, dtype=dtype)


def _parts(name: str, arrays: Any) -> list[LazyArray]:
    parts = [as_lazy(array) for array in arrays]
    if not parts:
        raise ValueError(f"{name} was given no arrays")
    return parts


def _at_least(ndim: int, array: Any) -> LazyArray:
    """An array with new axes where NumPy's ``atleast`` functions have them."""
    array = as_lazy(array)
    if ndim == 3 and array.ndim in {1, 2}:
        return array[None, :, None] if array.ndim == 1 else array[:, :, None]
    return array[(None,) * (ndim - array.ndim)] if array.ndim < ndim else array


def _each_at_least(ndim: int) -> Callable[..., Any]:
    def at_least(*arys: Any) -> Any:
        found = tuple(_at_least(ndim, each) for each in arys)
        return found[0] if len(found) == 1 else found

    return at_least


def _hstack(tup: Any, *, dtype: Any = None) -> LazyArray:
    parts = [_at_least(1, each) for each in tup]
    return concatenate(parts, 0 if not parts or parts[0].ndim == 1 else 1, dtype=dtype)


def _vstack(tup: Any, *, dtype: Any = None) -> LazyArray:
    return concatenate([_at_least(2, each) for each in tup], 0, dtype=dtype)


def _dstack(tup: Any) -> LazyArray:
    return concatenate([_at_least(3, each) for each in tup], 2)


def _column_stack(tup: Any) -> LazyArray:
    parts = [as_lazy(each) for each in tup]
    return concatenate([part if part.ndim > 1 else part.reshape(-1, 1) for part in parts], 1)


def _append(arr: Any, values: Any, axis: int | None = None) -> LazyArray:
    return concatenate([arr, values], axis)


def _block(arrays: Any) -> LazyArray:
    depth = _depth(arrays)
    ndim = max(depth, *(as_lazy(each).ndim for each in _innermost(arrays)))
    return _blocks(arrays, depth, ndim)


def _blocks(arrays: Any, depth: int, ndim: int) -> LazyArray:
    """A block of ``depth`` nested lists, the innermost of which are joined along the last axis."""
    if not depth:
        array = as_lazy(arrays)
        return array[(None,) * (ndim - array.ndim)] if array.ndim < ndim else array
    return concatenate([_blocks(each, depth - 1, ndim) for each in arrays], ndim - depth)


def _depth(arrays: Any) -> int:
    """How many lists stand in each other."""
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(each) for each in arrays}
    if len(depths) != 1:
        raise ValueError(f"np.block wants lists that are not empty and equally deep, given {sorted(depths)} levels")
    return 1 + depths.pop()


def _innermost(arrays: Any) -> list[Any]:
    return [each for inner in arrays for each in _innermost(inner)] if isinstance(arrays, list) else [arrays]


def _split(*, evenly: bool) -> Callable[..., list[LazyArray]]:
    def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[LazyArray]:
        array = as_lazy(ary)
        axis = normalize_axis_index(axis, array.ndim)
        length = array.shape[axis]
        if np.ndim(indices_or_sections):
            places = [int(place) for place in indices_or_sections]
        else:
            sections = int(indices_or_sections)
            if sections < 1 or (evenly and length % sections):
                raise ValueError(f"an axis of length {length} cannot be divided into {sections} equal parts")
            sizes = [length // sections + (part < length % sections) for part in range(sections)]
            places = np.cumsum(sizes)[:-1].tolist()
        ends = zip([0, *places], [*places, length], strict=True)
        return [array[(*[slice(None)] * axis, slice(start, end))] for start, end in ends]

    return split


def _split_along(axis: int, least: int) -> Callable[..., list[LazyArray]]:
    """A division of arrays of ``least`` axes or more along ``axis``, or along their last where they have it not."""

    def split(ary: Any, indices_or_sections: Any) -> list[LazyArray]:
        array = as_lazy(ary)
        if array.ndim < least:
            raise ValueError(f"an array of shape {array.shape} has not the {least} axes along which it is divided")
        return _split(evenly=True)(array, indices_or_sections, min(axis, array.ndim - 1))

    return split


def _unstack(x: Any, /, *, axis: int = 0) -> tuple[LazyArray, ...]:
    x = as_lazy(x)
    before = [slice(None)] * normalize_axis_index(axis, x.ndim)
    return tuple(x[(*before, place)] for place in range(x.shape[axis]))


def _meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[LazyArray, ...]:
    if indexing not in {"xy", "ij"}:
        raise ValueError(f"np.meshgrid has the indexings 'xy' and 'ij', given {indexing!r}")
    order = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        order[:2] = 1, 0
    parts = [as_lazy(each).ravel() for each in xi]
    found = [part[tuple(slice(None) if place == own else None for place in range(len(xi)))]
             for part, own in zip(parts, order, strict=True)]
    return tuple(found) if sparse else tuple(np.broadcast_arrays(*found))  # type: ignore[return-value]


JOINING: dict[str, Callable[..., Any]] = {
    "append": _append,
    "array_split": _split(evenly=False),
    "atleast_1d": _each_at_least(1),
    "atleast_2d": _each_at_least(2),
    "atleast_3d": _each_at_least(3),
    "block": _block,
    "column_stack": _column_stack,
    "concatenate": concatenate,
    "dsplit": _split_along(2, 3),
    "dstack": _dstack,
    "hsplit": _split_along(1, 1),
    "hstack": _hstack,
    "meshgrid": _meshgrid,
    "split": _split(evenly=True),
    "stack": stack,
    "unstack": _unstack,
    "vsplit": _split_along(0, 2),
    "vstack": _vstack,
}
