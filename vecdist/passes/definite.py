"""Fewer calls: what those of positive definite matrices have in common is computed once, and sums are left to kernels.

It comes behind derivatives, whose rules know these calls: a log density and its gradient are then a factor, a
triangular system and its transpose, and an inverse, whatever else was asked of the same matrices.
"""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.graph.node import Node, cast, rewrite, topological, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import log
from vecdist.primitives.factorisations import (
    CHOLESKY,
    DISTANCE,
    LOG_DETERMINANT,
    MATMUL,
    SOLVE_DEFINITE,
    cholesky,
    lower_solution,
    places_of,
    upper_solution,
)
from vecdist.primitives.indexing import gather
from vecdist.primitives.structure import drop_axes, full, position, rebuilt, summed


def definite(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with log determinants, squared distances and products of vectors in kernels."""
    calls = [node for node in topological(roots) if node.op == "external"]
    distances = {node.args for node in calls if node.attrs[0] is DISTANCE}
    factored = {node.args for node in calls if node.attrs[0] is CHOLESKY}

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        found = None
        if node.op == "external" and node.attrs[0] is CHOLESKY:
            found = _chosen(node, args, factored)
        elif node.op == "external":
            found = _less(node, args, node.args in distances)
        return rebuilt(node, args) if found is None else found

    return rewrite(roots, rule)


def _chosen(node: Node, args: tuple[Node, ...], factored: set[tuple[Node, ...]]) -> Node | None:
    """The factor of a unit matrix, or of another whose factor is wanted, too: that one, or the unit matrix."""
    given = node.args[0]
    if given.op != "where" or given.args[2:] not in factored:
        return None
    row, column = places_of(given)
    if given.args[1] != cast(eq(row, column), given.dtype):
        return None
    condition, unit, other = args[0].args
    return where(condition, unit, cholesky(other))


def _less(node: Node, args: tuple[Node, ...], in_distance: bool) -> Node | None:
    """What a call computes, by less than the call; a solution where half of it is wanted for a distance."""
    call = node.attrs[0]
    if call is LOG_DETERMINANT:
        total = summed(2.0 * log(_diagonal(args[1])), (-1,))
        return drop_axes(total, (-1,))
    if call is DISTANCE:
        return drop_axes(summed(square(lower_solution(*args[1:])), (-2,)), (-2,))
    if call is SOLVE_DEFINITE and in_distance:
        return upper_solution(args[1], lower_solution(*args[1:]))
    if call is MATMUL and args[0].shape[-1] == 1:
        return full(args[0] * args[1], node.shape)
    return None


def _diagonal(x: Node) -> Node:
    """The elements on the diagonals of square matrices, of which no others are read: it has no derivative here."""
    places, ahead = position(x.shape[-1]), x.ndim - 2
    places = full(places, (*x.shape[:-2], x.shape[-1]))
    return gather(x, (places, places), (x.shape[-1],), ahead)
