"""How long vectors are scattered around their location: by LAPACK or cuSOLVER, where rows are not written out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.graph.shapes import Shape, broadcast
from vecdist.lazy.views import index_view
from vecdist.multivariate.events import each_of, event_length, over_event
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import log
from vecdist.primitives.factorisations import (
    cholesky,
    diagonal,
    log_determinant,
    lower_part,
    lower_solution,
    squared_distance,
    swapped,
    symmetric,
    times,
    upper_solution,
)
from vecdist.primitives.structure import full, position, reshape

Apply = Callable[[Node, Node], Node]
Parts = tuple[Callable[[Node], Node], Node, Callable[[Stream], Node], Callable[[], Sequence[Node]]]
"""Squared distances of deviations, the logarithm of the square root of the determinant, normal deviations, columns."""


def factor_of(matrix: Node) -> Node:
    """The Cholesky factor of (A + A') / 2, NaN where there is none."""
    return cholesky(symmetric(matrix))


def by_matrix(matrix: Node) -> Parts:
    """Σ itself, of which (Σ + Σ') / 2 is read."""
    whole, factor = symmetric(matrix), factor_of(matrix)

    def distance(d: Node) -> Node:
        columns, shape = _columns_of(whole, d)
        lead = (*columns.shape[:-2], *whole.shape[-2:])
        return reshape(squared_distance(full(whole, lead), full(factor, lead), columns), shape[:-1])

    _, _, coloured, columns = by_factor(factor)
    return distance, 0.5 * log_determinant(whole, factor), coloured, columns


def by_factor(factor: Node) -> Parts:
    """Σ = L L', of which what stands above the diagonal of L is not read."""
    volume = over_event(log(diagonal(factor)))

    def coloured(random: Stream) -> Node:
        return _applied(times, lower_part(factor), random.over(event_length(factor)).normal())

    def distance(d: Node) -> Node:
        return over_event(square(_applied(lower_solution, factor, d)))

    return distance, volume, coloured, lambda: _columns(lower_part(factor))


def by_inverse(matrix: Node) -> Parts:
    """Σ^-1."""
    whole, factor = symmetric(matrix), factor_of(matrix)

    def distance(d: Node) -> Node:
        return over_event(d * _applied(times, whole, d))

    def coloured(random: Stream) -> Node:
        return _applied(upper_solution, factor, random.over(event_length(factor)).normal())

    def columns() -> Sequence[Node]:
        units = where(_on_diagonal(factor), const(1.0, factor.dtype), 0.0)
        return _columns(upper_solution(factor, full(units, factor.shape)))

    return distance, -0.5 * log_determinant(whole, factor), coloured, columns


def _columns(matrix: Node) -> Sequence[Node]:
    return [index_view(matrix, (..., place)) for place in range(event_length(matrix))]


def _on_diagonal(matrix: Node) -> Node:
    return eq(position(matrix.shape[-2], 1), position(1, matrix.shape[-1]))


def _applied(apply: Apply, matrix: Node, vectors: Node) -> Node:
    """What matrices make of vectors."""
    columns, shape = _columns_of(matrix, vectors)
    found = apply(full(matrix, (*columns.shape[:-2], *matrix.shape[-2:])), columns)
    return reshape(swapped(found), shape)


def _columns_of(matrix: Node, vectors: Node) -> tuple[Node, Shape]:
    """Vectors as columns for as many matrices as there are, all of them for one, and the shape of what is found."""
    if matrix.ndim == 2:
        count = math.prod(int(length) for length in vectors.shape[:-1])
        return swapped(reshape(vectors, (count, vectors.shape[-1]))), vectors.shape
    shape = (*broadcast((matrix.shape[:-2], vectors.shape[:-1])), vectors.shape[-1])
    return each_of(full(vectors, shape)), shape
