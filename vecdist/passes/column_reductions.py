"""Sums over the rows of tall arrays, as sums that are scattered: the array is read once, in order.

The gradient of a regression is one: ``sum(X * r[:, None], axis=0)`` for X of many rows.  Column by column it would read
X again for each column, and compute again what a row needs; row by row, each element is added to the sum of its column.
An array may be one of several in a batch, along axes before its rows; there it pays where a row is more than it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vecdist.graph.node import Node, below, rewrite, topological
from vecdist.graph.shapes import Shape
from vecdist.primitives.indexing import scatter
from vecdist.primitives.structure import is_reduction, rebuilt, summed, view

LONG = 64  # rows of an array of a batch that are many


def candidates(roots: Sequence[Node]) -> tuple[Node, ...]:
    """The sums that read their array row by row where it is tall."""
    sums = [node for node in topological(roots) if node.op == "sum"]
    return tuple(node for node in sums if (batch := _batch(node)) == 0 or (batch and _needs_rows(node)))


def _needs_rows(node: Node) -> bool:
    """Whether each element that is summed needs a reduction of its row."""
    (source,), (axes,) = node.args, node.attrs
    rows = {source.shape[axis] for axis in axes} - {1}
    below = topological((source,), lambda each: () if is_reduction(each) else each.args)
    return any(is_reduction(each) and not rows.isdisjoint(each.shape) for each in below)


def _batch(node: Node) -> int | None:
    """How many axes are before those that a sum is over, where it leaves later ones; ``None`` where it leaves none."""
    (source,), (axes,) = node.args, node.attrs
    varying = [axis for axis in range(-source.ndim, 0) if source.shape[axis] != 1]
    over = [axis for axis in varying if axis in axes]
    if not over or over[-1] == varying[-1]:
        return None
    if over == varying[: len(over)]:
        return 0
    return source.ndim + over[0] if sorted(axes) == list(range(over[0], over[-1] + 1)) else None


def tall_sums(sums: Sequence[Node], lengths: Mapping[str, int], widest: int | None) -> tuple[Node, ...]:
    """Those of ``sums`` whose arrays have at least as many rows as columns, and together at most ``widest`` columns.

    All of them where there is no limit, but for batches of arrays of few rows.
    """
    if widest is None:
        return tuple(node for node in sums if not _batch(node) or _extents(node, lengths)[0] >= LONG)
    found, left = [], widest
    for node in sums:
        rows, columns = _extents(node, lengths)
        if columns <= min(rows, left) and not _batch(node):
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
    last, batch = max(axis for axis in axes if source.shape[axis] != 1), _batch(node) or 0
    after = source.ndim + last + 1
    total = scatter(source, (), batch, (*source.shape[:batch], *source.shape[after:]))
    return view(total, [(axis, 0, 1) for axis in (*range(batch), *range(after, node.ndim))], node.shape)


def _varying(shape: Shape) -> bool:
    return any(dim != 1 for dim in shape)
