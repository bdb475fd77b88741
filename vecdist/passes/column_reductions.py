"""Sums over the leading axes of tall arrays, as sums that are scattered: the array is read once, in order.

The gradient of a regression is one: ``sum(X * r[:, None], axis=0)`` for X of many rows.  Column by column it would read
X again for each column, and compute again what a row needs; row by row, each element is added to the sum of its column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vecdist.graph.node import Node, below, rewrite, topological
from vecdist.graph.shapes import Shape
from vecdist.primitives.indexing import scatter
from vecdist.primitives.structure import rebuilt, summed, view


def candidates(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The sums that read their array row by row where it is tall."""
    return tuple(node for node in topological(roots) if node.op == "sum" and _leading(node))


def _leading(node: Node) -> bool:
    """Whether a sum is over the first axes of its argument, and leaves later ones."""
    (source,), (axes,) = node.args, node.attrs
    varying = [axis for axis in range(-source.ndim, 0) if source.shape[axis] != 1]
    over = [axis for axis in varying if axis in axes]
    return 0 < len(over) < len(varying) and varying[: len(over)] == over


def tall_sums(sums: Sequence[Node], lengths: Mapping[str, int], widest: int | None) -> tuple[Node, ...]:
    """Those of ``sums`` whose arrays have at least as many rows as columns, and together at most ``widest`` columns.

    All of them where there is no limit: then no other lengths ask for another program.
    """
    if widest is None:
        return tuple(sums)
    found, left = [], widest
    for node in sums:
        rows, columns = _extents(node, lengths)
        if columns <= min(rows, left):
            found.append(node)
            left -= columns
    return tuple(found)


def _extents(node: Node, lengths: Mapping[str, int]) -> tuple[int, int]:
    """How many elements are summed for each result, and how many results there are."""
    (source,), (axes,) = node.args, node.attrs
    rows = columns = 1
    for axis in range(-source.ndim, 0):
        dim = source.shape[axis]
        length = lengths[dim] if isinstance(dim, str) else dim
        rows, columns = (rows * length, columns) if axis in axes else (rows, columns * length)
    return rows, columns


def scattered(roots: Sequence[Node], tall: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with the sums in ``tall`` scattered, and scatters to a single element summed."""
    if not tall and not any(node.op == "scatter" for node in below(roots)):
        return tuple(roots)
    return rewrite(roots, lambda node, args: _scattered(rebuilt(node, args), node in tall))


def _scattered(node: Node, tall: bool) -> Node:
    if node.op == "scatter" and not _varying(node.shape):
        (values, *_) = node.args
        varying = tuple(axis for axis in range(-values.ndim, 0) if values.shape[axis] != 1)
        total = summed(values, varying) if varying else values
        return view(total, [(None, 0, 1)] * values.ndim, node.shape)
    if not tall:
        return node
    (source,), (axes,) = node.args, node.attrs
    last = max(axis for axis in axes if source.shape[axis] != 1)
    kept = source.shape[source.ndim + last + 1 :]
    total = scatter(source, (), 0, kept)
    return view(total, [(axis + node.ndim - len(kept), 0, 1) for axis in range(len(kept))], node.shape)


def _varying(shape: Shape) -> bool:
    return any(dim != 1 for dim in shape)
