"""Windows that move along axes, and their adjoint, which puts each element back where windows took it from.

Each *move* names two axes (negative), a step and a spacing: ``windows`` makes of x an array whose element at i along
``axis`` and j along ``places`` is x at step i + spacing j along ``axis``; ``overlaps`` has at a and j the element that
x has at i = (a - spacing j) / step and j, and 0 where there is no such i.  Along ``places`` what windows are taken of
has length 1, where they share it, or the length of a window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.graph.node import Node
from vecdist.graph.shapes import Dim, Shape
from vecdist.primitives.structure import STRUCTURE, Structural, full, summed

Move = tuple[int, int, int, int]
"""The axis along which a window moves, that of the places in it, the step and the spacing."""
OVERLAPPING = {"windows", "overlaps"}


def windows(x: Node, moves: Sequence[Move], counts: Sequence[Dim], widths: Sequence[Dim]) -> Node:
    """So many windows of these widths, for each of the ``moves``."""
    lengths = dict(zip([axis for axis, *_ in moves], counts, strict=True))
    lengths |= zip([places for _, places, *_ in moves], widths, strict=True)
    return Node("windows", (x,), (tuple(moves),), _with(x.shape, lengths), x.dtype)


def overlaps(x: Node, moves: Sequence[Move], lengths: Sequence[Dim]) -> Node:
    """The elements of windows where they came from, along axes of these lengths.

    Sums of windows are sums of what these overlap to: an outer one then takes all in one nest of loops.
    """
    axes = {axis for axis, *_ in moves}
    if x.op == "sum" and not axes & set(x.attrs[0]) and x.dtype == x.args[0].dtype:
        return summed(overlaps(x.args[0], moves, lengths), x.attrs[0])
    shape = _with(x.shape, dict(zip([axis for axis, *_ in moves], lengths, strict=True)))
    return Node("overlaps", (x,), (tuple(moves),), shape, x.dtype)


def _with(shape: Shape, lengths: dict[int, Dim]) -> Shape:
    return tuple(lengths.get(axis, shape[axis]) for axis in range(-len(shape), 0))


def _windows_meaning(x: np.ndarray, node: Node, length: Callable[[Dim], int]) -> np.ndarray:
    at = list(np.indices([length(dim) for dim in node.shape], sparse=True))
    for axis, places, step, spacing in node.attrs[0]:
        at[axis] = step * at[axis] + spacing * at[places]
    at = [each * 0 if size == 1 else each for each, size in zip(at, x.shape, strict=True)]
    return x[tuple(np.broadcast_arrays(*at))]


def _overlaps_meaning(x: np.ndarray, node: Node, length: Callable[[Dim], int]) -> np.ndarray:
    shape = [length(dim) for dim in node.shape]
    at, there = list(np.indices(shape, sparse=True)), np.ones(shape, bool)
    for axis, places, step, spacing in node.attrs[0]:
        offset = at[axis] - spacing * at[places]
        inside = (offset >= 0) & (offset < step * x.shape[axis]) & (offset % step == 0)
        at[axis], there = np.where(inside, offset // step, 0), there & inside
    if not there.any():
        return np.zeros(shape, x.dtype)
    at = [each * 0 if size == 1 else each for each, size in zip(at, x.shape, strict=True)]
    return np.where(there, x[tuple(np.broadcast_arrays(*at))], x.dtype.type(0))


def _adjoint_of_windows(cotangent: Node, node: Node) -> Node:
    (source,), (moves,) = node.args, node.attrs
    found = overlaps(full(cotangent, node.shape), moves, [source.shape[axis] for axis, *_ in moves])
    shared = [places for _, places, *_ in moves if source.shape[places] != node.shape[places]]
    if shared and found.op == "sum" and found.dtype == found.args[0].dtype:  # over other axes: one nest adds up all
        return summed(found.args[0], tuple(sorted([*shared, *found.attrs[0]])))
    return summed(found, tuple(sorted(shared))) if shared else found


def _adjoint_of_overlaps(cotangent: Node, node: Node) -> Node:
    return _again("windows", full(cotangent, node.shape), node, node.args[0].shape)


def _again(op: str, x: Node, node: Node, shape: Shape) -> Node:
    return Node(op, (x,), node.attrs, shape, x.dtype)


def _tangent(node: Node, dot: Any) -> Node:
    return _again(node.op, full(dot, node.args[0].shape), node, node.shape)


STRUCTURE |= {
    "windows": Structural(_adjoint_of_windows, _tangent, _windows_meaning, moves=True),
    "overlaps": Structural(_adjoint_of_overlaps, _tangent, _overlaps_meaning, moves=True),
}
