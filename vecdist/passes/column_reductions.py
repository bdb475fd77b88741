"""Sums over the rows of tall arrays, as sums that are scattered: the array is read once, in order.

The gradient of a regression is one: ``sum(X * r[:, None], axis=0)`` for X of many rows.  Column by column it would read
X again for each column, and compute again what a row needs; row by row, each element is added to the sum of its column.
An array may be one of several in a batch, along axes before its rows; there it pays where elements are dear to compute,
for they need reductions of their rows, or share most of what they need with those of other sums.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from vecdist.graph.node import Node, below, rewrite, topological
from vecdist.graph.shapes import Dim, Shape, length_in
from vecdist.passes.split_reductions import Split, split
from vecdist.primitives.indexing import scatter
from vecdist.primitives.structure import is_reduction, rebuilt, summed, view

FEW = 12  # columns that do not fill vectors
CHAINS = 4096  # arrays of a batch that are enough for all threads, though those of a warp share each
LONG = 64  # rows of an array of a batch that are many, for elements that are dear
DEAR = 5  # steps that two sums share, from which on they are better computed once


def candidates(roots: Sequence[Node]) -> dict[Node, bool]:
    """The sums that read their array row by row where it is tall, and of each whether it does so however wide it is."""
    sums = {node: _batch(node) for node in topological(roots) if node.op == "sum"}
    steps = {node: _steps(node) for node in sums} if any(sums.values()) else {}
    return {node: not batch or _is_dear(node, steps) for node, batch in sums.items() if batch is not None}


def _steps(node: Node) -> set[Node]:
    """What computes the elements of a sum, and the reductions that they need."""
    source = node.args[0]
    found = topological((source,), lambda each: () if is_reduction(each) else each.args)
    return {each for each in found if is_reduction(each) or (each.args and each.shape == source.shape)}


def _is_dear(node: Node, steps: Mapping[Node, set[Node]]) -> bool:
    """Whether elements that are summed need a reduction of their row, or share many steps with those of another sum."""
    (source,), (axes,), own = node.args, node.attrs, steps[node]
    rows = {source.shape[axis] for axis in axes} - {1}
    if any(is_reduction(each) and not rows.isdisjoint(each.shape) for each in own):
        return True
    return any(len(own & others) >= DEAR for other, others in steps.items() if other is not node)


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


def tall_sums(sums: Mapping[Node, bool], lengths: Mapping[str, int], widest: int | None) -> tuple[Node, ...]:
    """Those of ``sums`` whose arrays have at least as many rows as columns, and together at most ``widest`` columns.

    All of them where there is no limit, but for batches of arrays of few rows, or of many columns where these matter.
    """
    if widest is None:
        return tuple(node for node, dear in sums.items() if not _batch(node) or _is_tall(node, dear, lengths))
    found, left = [], widest
    for node in sums:
        rows, columns = _extents(node, lengths)
        if columns <= min(rows, left) and not _batch(node):
            found.append(node)
            left -= columns
    return tuple(found)


def sums_of_chains(sums: Mapping[Node, bool], lengths: Mapping[str, int], most: int) -> tuple[Node, ...]:
    """Those of ``sums`` over arrays of a batch of very many, each long, whose elements take long to compute.

    None where they have more columns together than ``most`` words hold.
    """
    own = [node for node, is_dear in sums.items() if is_dear and _batch(node) and _is_of_chains(node, lengths)]
    words = sum(_columns(node, lengths) * max(1, node.dtype.itemsize // 4) for node in own)
    return tuple(own) if words <= most else ()


def _is_of_chains(node: Node, lengths: Mapping[str, int]) -> bool:
    (source,), (axes,) = node.args, node.attrs
    own = [length_in(dim, lengths) for dim in source.shape]
    first, last = source.ndim + min(axes), source.ndim + max(axes) + 1
    return math.prod(own[:first]) >= CHAINS and math.prod(own[first:last]) >= LONG


def _columns(node: Node, lengths: Mapping[str, int]) -> int:
    """The columns of each array that a sum is over the rows of."""
    (source,), (axes,) = node.args, node.attrs
    return math.prod(length_in(dim, lengths) for dim in source.shape[source.ndim + max(axes) + 1 :])


def _is_tall(node: Node, dear: bool, lengths: Mapping[str, int]) -> bool:
    """Whether an array of a batch has many rows, and few columns unless its elements are dear."""
    least = LONG if dear else 4 * LONG if _columns(node, lengths) <= FEW else math.inf
    return _extents(node, lengths)[0] >= least


def _extents(node: Node, lengths: Mapping[str, int]) -> tuple[int, int]:
    """How many elements are summed for each result, and how many results there are."""
    (source,), (axes,) = node.args, node.attrs
    rows = columns = 1
    for axis in range(-source.ndim, 0):
        length = length_in(source.shape[axis], lengths)
        rows, columns = (rows * length, columns) if axis in axes else (rows, columns * length)
    return rows, columns


def scattered(
    roots: Sequence[Node], tall: Sequence[Node], first: Sequence[Dim] = (), parts: Sequence[Split] = ()
) -> tuple[Node, ...]:
    """``roots`` with the sums in ``tall`` scattered, scatters to a single element summed, and ``parts`` split.

    Where loops over the lengths in ``first`` come first, what is summed over others too is summed over these before.
    """
    if not tall and not parts and not any(node.op == "scatter" for node in below(roots)):
        return tuple(roots)
    known = {each.node: each for each in parts}

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node in known:
            return split(rebuilt(node, args), known[node])
        return _scattered(rebuilt(node, args), node in tall, first)

    return rewrite(roots, rule)


def _scattered(node: Node, tall: bool, first: Sequence[Dim]) -> Node:
    if node.op == "scatter" and not _varying(node.shape):
        (values, *_) = node.args
        varying = tuple(axis for axis in range(-values.ndim, 0) if values.shape[axis] != 1)
        total = summed(values, varying) if varying else values
        return view(total, [(None, 0, 1)] * values.ndim, node.shape)
    if not tall:
        return node
    (source,), (axes,) = node.args, node.attrs
    over = [axis for axis in sorted(axes) if source.shape[axis] != 1]
    outer = [axis for axis in over if source.shape[axis] in first] or over
    source = summed(source, tuple(axis for axis in over if axis not in outer)) if outer != over else source
    batch = source.ndim + over[0] if _varying(source.shape[: over[0]]) else 0
    after = source.ndim + over[-1] + 1
    total = scatter(source, (), batch, (*source.shape[:batch], *source.shape[after:]))
    return view(total, [(axis, 0, 1) for axis in (*range(batch), *range(after, node.ndim))], node.shape)


def _varying(shape: Shape) -> bool:
    return any(dim != 1 for dim in shape)
