"""Fewer calls: what those of positive definite matrices have in common is computed once, and sums are left to kernels.

It comes behind derivatives, whose rules know these calls: a log density and its gradient are then a factor, a
triangular system and its transpose, and an inverse, whatever else was asked of the same matrices.
"""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.graph.node import Node, rewrite, topological
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log
from vecdist.primitives.factorisations import (
    DISTANCE,
    LOG_DETERMINANT,
    MATMUL,
    SOLVE_DEFINITE,
    lower_solution,
    upper_solution,
)
from vecdist.primitives.indexing import gather
from vecdist.primitives.structure import drop_axes, full, position, rebuilt, summed


def definite(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with log determinants, squared distances and products of vectors in kernels."""
    distances = {node.args for node in topological(roots) if node.op == "external" and node.attrs[0] is DISTANCE}

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        found = _less(node, args, node.args in distances) if node.op == "external" else None
        return rebuilt(node, args) if found is None else found

    return rewrite(roots, rule)


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
