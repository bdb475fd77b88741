"""Elements picked by arrays of whole numbers, and added back to where they came from.

``gather`` takes axes ``start`` to ``start + count`` of its source, of shape (*before, *indexed, *after), by ``count``
index arrays that broadcast to (*before, *picked): the result has shape (*before, *picked, *after).  ``scatter`` is its
adjoint.  Indices are within range and not negative; ``where`` takes care of that before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecdist.graph.node import Node, where
from vecdist.graph.shapes import Shape
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.structure import STRUCTURE, Structural, full, position

INDEXING = "indexing"  # what the checks of indices begin with


def gather(x: Node, indices: Sequence[Node], picked: Shape, start: int = 0) -> Node:
    """The elements of ``x`` at ``indices``, in place of whose axes the result has axes of shape ``picked``."""
    shape = (*x.shape[:start], *picked, *x.shape[start + len(indices) :])
    return Node("gather", (x, *indices), (start, len(indices)), shape, x.dtype)


def scatter(values: Node, indices: Sequence[Node], start: int, shape: Shape) -> Node:
    """The array of ``shape`` that holds the sum of all ``values`` with the same index."""
    return Node("scatter", (values, *indices), (start, len(indices)), shape, values.dtype)


def _places(indices: Sequence[np.ndarray], start: int, shape: Sequence[int]) -> tuple[np.ndarray, ...]:
    """Index arrays for every axis before the indexed ones, and those, of the common shape ``shape``."""
    before = np.indices(shape, sparse=True)[:start]
    return tuple(np.broadcast_to(index, shape) for index in (*before, *indices))


def _gather_meaning(x: np.ndarray, *rest: Any) -> np.ndarray:
    *indices, node, length = rest
    start, count = node.attrs
    shape = [length(dim) for dim in node.shape[: node.ndim - (x.ndim - start - count)]]
    return x[_places(indices, start, shape)]


def _scatter_meaning(values: np.ndarray, *rest: Any) -> np.ndarray:
    *indices, node, length = rest
    start, count = node.attrs
    after = len(node.shape) - start - count
    result = np.zeros([length(dim) for dim in node.shape], "f8" if node.dtype.kind == "f" else node.dtype)
    np.add.at(result, _places(indices, start, values.shape[: values.ndim - after]), values)
    return result.astype(node.dtype)


def picks_one(node: Node) -> bool:
    """Whether ``node`` picks one element of the last axis for each row of its first argument."""
    start, count = node.attrs if node.op == "gather" else (0, 0)
    return count == 1 and node.args[0].ndim == start + 1 and node.shape[start:] == (1,)


def _adjoint_of_gather(cotangent: Node, node: Node) -> Node:
    """What is picked, one element of each row, is chosen there again; the rest is added up by index."""
    (x, *indices), (start, _) = node.args, node.attrs
    if picks_one(node):
        return where(eq(position(x.shape[start]), indices[0]), full(cotangent, node.shape), 0.0)
    return scatter(full(cotangent, node.shape), indices, start, x.shape)


def _regather(values: Node, node: Node) -> Node:
    return Node("gather", (full(values, node.shape), *node.args[1:]), node.attrs, node.args[0].shape, values.dtype)


STRUCTURE |= {
    "gather": Structural(
        moves=True,
        meaning=_gather_meaning,
        adjoint=_adjoint_of_gather,
        tangent=lambda node, dot: Node("gather", (dot, *node.args[1:]), node.attrs, node.shape, dot.dtype),
    ),
    "scatter": Structural(
        meaning=_scatter_meaning,
        adjoint=_regather,
        tangent=lambda node, dot: Node("scatter", (dot, *node.args[1:]), node.attrs, node.shape, dot.dtype),
    ),
}

