"""Operations that change which element stands where: sums, views and their adjoints.

A *view* maps each axis of its source either to one axis of the result, with a start and a step, or to one fixed index;
axes of the result that no source axis maps to are repeated.  Transposes, slices, new axes and broadcasts are all views,
and their adjoint is a *pad*: the values in place, zero elsewhere.  ``reshape`` keeps the row-major order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.node import Node, cast
from vecdist.graph.shapes import Dim, Shape, broadcast, broadcast_axes

Entry = tuple[int | None, Dim, int]


def summed(x: Node, axes: tuple[int, ...], dtype: Any = None) -> Node:
    """The sum over ``axes`` (negative), each kept with length 1.  Booleans and integers add up as int64."""
    if dtype is None:
        dtype = np.int64 if x.dtype.kind in "biu" else x.dtype
    x = cast(x, dtype)
    kept = tuple(1 if axis in axes else x.shape[axis] for axis in range(-x.ndim, 0))
    return Node("sum", (x,), (axes,), kept, x.dtype)


def view(x: Node, entries: Sequence[Entry], shape: Shape) -> Node:
    """The elements of ``x`` that ``entries`` select, as an array of ``shape``."""
    entries = tuple(entries)
    if shape == x.shape and entries == tuple((axis, 0, 1) for axis in range(x.ndim)):
        return x
    return Node("view", (x,), (entries,), tuple(shape), x.dtype)


def joined(node: Node) -> Node:
    """A view of views as one view; itself where a start that is named would have to be computed."""
    while node.op == "view" and node.args[0].op == "view":
        inner = node.args[0]
        entries = [entry for each in inner.attrs[0] if (entry := _joined(each, node.attrs[0])) is not None]
        if len(entries) < inner.args[0].ndim:
            break
        node = view(inner.args[0], entries, node.shape)
    return node


def _joined(inner: Entry, outer: Sequence[Entry]) -> Entry | None:
    """An entry of a view of a view."""
    axis, start, step = inner
    if axis is None:
        return inner
    at, more, stride = outer[axis]
    if more == 0:
        return at, start, step * stride
    if (start, step) == (0, 1):
        return at, more, stride
    if isinstance(start, int) and isinstance(more, int):
        return at, start + step * more, step * stride
    return None


def turned_around(node: Node, axis: int) -> bool:
    """Whether ``node`` is a view of all elements, in the other order along one axis (negative)."""
    if node.op != "view" or node.shape != node.args[0].shape:
        return False
    (entries,), size, at = node.attrs, node.shape[axis], node.ndim + axis
    whole = [(place, 0, 1) for place in range(node.ndim)]
    return isinstance(size, int) and entries == (*whole[:at], (at, size - 1, -1), *whole[at + 1 :])


def pad(x: Node, entries: Sequence[Entry], shape: Shape) -> Node:
    """The array of ``shape`` whose view by ``entries`` is ``x``, and which is zero elsewhere."""
    entries = tuple(entries)
    if all(_whole(entry, size, x.shape) for entry, size in zip(entries, shape, strict=True)):
        return view(x, _inverse(entries, x.ndim), shape)
    return Node("pad", (x,), (entries,), tuple(shape), x.dtype)


def _whole(entry: Entry, size: Dim, shape: Shape) -> bool:
    """Whether an entry takes the whole of a source axis of length ``size``."""
    axis, start, step = entry
    return size == 1 if axis is None else (start, step) == (0, 1) and shape[axis] == size


def _inverse(entries: Sequence[Entry], ndim: int) -> tuple[Entry, ...]:
    source = {axis: place for place, (axis, _, _) in enumerate(entries) if axis is not None}
    return tuple((source.get(axis), 0, 1) for axis in range(ndim))


def reshape(x: Node, shape: Shape) -> Node:
    """``x`` in row-major order with another shape; a view where only axes of length 1 come or go."""
    if tuple(shape) == x.shape:
        return x
    if [d for d in shape if d != 1] == [d for d in x.shape if d != 1]:
        varying = iter(axis for axis, size in enumerate(shape) if size != 1)
        return view(x, [(None if d == 1 else next(varying), 0, 1) for d in x.shape], shape)
    return Node("reshape", (x,), (), tuple(shape), x.dtype)


def drop_axes(x: Node, axes: tuple[int, ...]) -> Node:
    """``x`` without ``axes`` (negative), which have length 1."""
    left = [axis for axis in range(x.ndim) if axis - x.ndim not in axes]
    entries = [(left.index(a) if a in left else None, 0, 1) for a in range(x.ndim)]
    return view(x, entries, tuple(x.shape[axis] for axis in left))


def align(x: Node, shape: Shape) -> Node:
    """``x`` with axes of length 1 dropped or put in front, until it has the rank of ``shape``."""
    if x.ndim > len(shape):
        return drop_axes(x, tuple(range(-x.ndim, -len(shape))))
    new = len(shape) - x.ndim
    return view(x, [(axis + new, 0, 1) for axis in range(x.ndim)], (1,) * new + x.shape)


def extent(dims: Sequence[Dim]) -> Node:
    """The number of elements along ``dims``, as a float64."""
    return Node("extent", (), (tuple(dims),), (), np.dtype(np.float64))


def position(*shape: Dim) -> Node:
    """The place of each element of an array of ``shape`` in row-major order, as an int64."""
    return Node("position", (), (), shape, np.dtype(np.int64))


def sum_to(x: Node, full: Shape, shape: Shape) -> Node:
    """The adjoint of broadcasting ``shape`` to ``full``, applied to ``x``, which may itself vary on fewer axes."""
    axes = broadcast_axes(shape, into=full)
    x = align(x, full)
    constant = [full[axis] for axis in axes if x.shape[axis] == 1]
    if len(constant) < len(axes):
        x = summed(x, tuple(axis for axis in axes if x.shape[axis] != 1))
    if constant:
        x = x * cast(extent(constant), x.dtype)
    return align(x, shape)


@final
@dataclass(frozen=True)
class Structural:
    """An operation that moves or reduces the elements of its first argument: its value in NumPy and its derivative.

    ``meaning(*values, node, length)`` computes, ``length`` giving the number that a dimension or start stands for;
    ``adjoint(cotangent, node)`` carries a cotangent of the result back to the first argument, ``tangent(node, dot)`` a
    tangent of the first argument to the result.  Arguments after the first are whole numbers, without derivative.
    ``moves`` says that its elements are those of the first argument, or zeros; ``reduces`` that it has one attribute,
    the axes that it leaves with length 1; ``along`` that it has one, the axes along which it works without changing a
    length.  ``expand`` gives an expression of other operations, where neither target has code.
    """

    adjoint: Callable[[Node, Node], Node]
    tangent: Callable[[Node, Node], Node]
    meaning: Callable[..., np.ndarray] | None = None
    second: tuple[Callable[[Node, Node], Node], Callable[[Node, Node], Node]] | None = None
    """Adjoint and tangent of the second argument, where that has derivatives too."""
    moves: bool = False
    reduces: bool = False
    along: bool = False
    expand: Callable[..., Node] | None = None


def _sum_meaning(x: np.ndarray, node: Node, length: Callable[[Dim], int]) -> np.ndarray:
    wide = np.float64 if x.dtype.kind == "f" else None
    return np.sum(x, axis=node.attrs[0], keepdims=True, dtype=wide).astype(node.dtype)


def _select(x: np.ndarray, entries: Sequence[Entry], shape: Sequence[int], length: Callable[[Dim], int]) -> np.ndarray:
    """The view of ``x`` as NumPy makes it, writable where ``x`` is."""
    index: list[Any] = []
    for axis, start, step in entries:
        first = length(start)
        if axis is None:
            index.append(first)
        elif shape[axis] == 0:
            index.append(slice(0, 0))
        else:
            last = first + step * (shape[axis] - 1)
            index.append(slice(first, last + 1 if step > 0 else (None if last == 0 else last - 1), step))
    kept = [axis for axis, _, _ in entries if axis is not None]
    picked = x[(*index, ...)]  # with an ellipsis it is a view even where every index is a number
    new = tuple(slice(None) if axis in kept else None for axis in range(len(shape)))
    return np.asarray(picked).transpose(np.argsort(kept).astype(int).tolist())[new or ...]


def _view_meaning(x: np.ndarray, node: Node, length: Callable[[Dim], int]) -> np.ndarray:
    shape = [length(dim) for dim in node.shape]
    return np.broadcast_to(_select(x, node.attrs[0], shape, length), shape)


def _pad_meaning(x: np.ndarray, node: Node, length: Callable[[Dim], int]) -> np.ndarray:
    result = np.zeros([length(dim) for dim in node.shape], x.dtype)
    target = _select(result, node.attrs[0], x.shape, length)
    target[...] = x
    return result


def _view_adjoint(cotangent: Node, node: Node) -> Node:
    (source,) = node.args
    (entries,) = node.attrs
    repeated = set(range(node.ndim)) - {axis for axis, _, _ in entries}
    whole = all(_whole(e, d, node.shape) for e, d in zip(entries, source.shape, strict=True))
    if not cotangent.shape and whole and not any(node.shape[axis] != 1 for axis in repeated):
        return cotangent
    once = tuple(1 if axis in repeated else dim for axis, dim in enumerate(node.shape))
    cotangent = full(sum_to(cotangent, node.shape, once), once)
    return pad(cotangent, entries, source.shape)


def full(x: Node, shape: Shape) -> Node:
    """``x`` repeated until it has ``shape``."""
    x = align(x, shape)
    if x.shape == shape:
        return x
    entries = [(None if dim == 1 else axis, 0, 1) for axis, dim in enumerate(x.shape)]
    return view(x, entries, shape)


def is_along(node: Node) -> bool:
    """Whether ``node`` works along the axes of its one attribute, and keeps its shape."""
    return node.op in STRUCTURE and STRUCTURE[node.op].along


def is_moved(node: Node) -> bool:
    """Whether ``node`` has nothing but elements of its first argument, or zeros, in other places."""
    return node.op in STRUCTURE and STRUCTURE[node.op].moves


def is_reduction(node: Node) -> bool:
    """Whether ``node`` reduces the axes of its one attribute."""
    return node.op in STRUCTURE and STRUCTURE[node.op].reduces


def rebuilt(node: Node, args: tuple[Node, ...]) -> Node:
    """The same operation on other arguments; an elementwise one has the shape that they broadcast to."""
    if args == node.args:
        return node
    if node.op in STRUCTURE or node.op == "extent":
        shape = node.shape
    else:  # what is checked has the shape of its value: checks need not broadcast into it
        shape = args[0].shape if node.op == "checked" else broadcast(arg.shape for arg in args)
    return Node(node.op, args, node.attrs, shape, node.dtype)


STRUCTURE: dict[str, Structural] = {
    "sum": Structural(
        meaning=_sum_meaning,
        reduces=True,
        adjoint=lambda cotangent, node: cotangent,
        tangent=lambda node, arg: summed(arg, node.attrs[0]),
    ),
    "view": Structural(
        meaning=_view_meaning,
        moves=True,
        adjoint=_view_adjoint,
        tangent=lambda node, arg: view(arg, node.attrs[0], node.shape),
    ),
    "pad": Structural(
        meaning=_pad_meaning,
        moves=True,
        adjoint=lambda cotangent, node: view(
            full(cotangent, node.shape), node.attrs[0], node.args[0].shape
        ),
        tangent=lambda node, arg: pad(arg, node.attrs[0], node.shape),
    ),
    "kept": Structural(
        meaning=lambda x, node, length: x,
        adjoint=lambda cotangent, node: cotangent,
        tangent=lambda node, dot: dot,
    ),
    "reshape": Structural(
        meaning=lambda x, node, length: x.reshape([length(dim) for dim in node.shape]),
        moves=True,
        adjoint=lambda cotangent, node: reshape(full(cotangent, node.shape), node.args[0].shape),
        tangent=lambda node, arg: reshape(arg, node.shape),
    ),
}
