"""How a vector is scattered around its location: squared distances, and volumes, of whatever makes the covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const
from vecdist.multivariate import long_vectors
from vecdist.multivariate.events import each_of, event_length, over_event
from vecdist.primitives import entries
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log


class Scatter(NamedTuple):
    """d' Σ^-1 d of a deviation d, the logarithm of the square root of the determinant of Σ, and normal deviations.

    And columns whose outer products add up to Σ.
    """

    distance: Callable[[Node], Node]
    log_volume: Node
    coloured: Callable[[Stream], Node]
    columns: Callable[[], entries.Vector]


def of_factor(factor: entries.Triangle) -> Scatter:
    """Σ = L L'."""


    def coloured(random: Stream) -> Node:
        z = [random.normal() for _ in factor]
        return _event([entries.total(x * y for x, y in zip(row, z, strict=False)) for row in factor])

    def columns() -> entries.Vector:
        return [_event([row[j] for row in factor[j:]], j) for j in range(len(factor))]

    return Scatter(
        lambda d: _squared(entries.solved(factor, entries.vector(d))), entries.log_diagonal(factor), coloured, columns
    )


def of_lower(factor: Node) -> Scatter:
    """Σ = L L', of a matrix L whose upper triangle is not read."""
    is_long = event_length(factor) > entries.MOST
    return Scatter(*long_vectors.by_factor(factor)) if is_long else of_factor(entries.triangular(factor))


def of_matrix(matrix: Node) -> Scatter:
    """Σ itself."""
    if event_length(matrix) > entries.MOST:
        return Scatter(*long_vectors.by_matrix(matrix))
    return of_factor(entries.factored(entries.symmetric(matrix)).rows)


def of_inverse(matrix: Node) -> Scatter:
    """Σ^-1."""
    if event_length(matrix) > entries.MOST:
        return Scatter(*long_vectors.by_inverse(matrix))
    factor = entries.factored(entries.symmetric(matrix)).rows
    count, zero, one = len(factor), const(0.0, matrix.dtype), const(1.0, matrix.dtype)
    units = [[one if i == j else zero for i in range(count)] for j in range(count)]
    return Scatter(
        lambda d: _squared(entries.transposed_product(factor, entries.vector(d))), -entries.log_diagonal(factor),
        lambda random: _event(entries.solved_transposed(factor, [random.normal() for _ in factor])),
        lambda: [_event(entries.solved_transposed(factor, unit)) for unit in units],
    )


def of_diagonal(scale: Node) -> Scatter:
    """Σ = diag(scale)^2, of any length."""
    return Scatter(
        lambda d: over_event(square(d / scale)), over_event(log(scale)),
        lambda random: scale * random.over(event_length(scale)).normal(), lambda: _diagonal(scale),
    )


def of_low_rank(factor: Node, diagonal: Node) -> Scatter:
    """Σ = W W' + D, of any length, with few columns in W: by C = I + W' D^-1 W.

    Σ^-1 = D^-1 - D^-1 W C^-1 W' D^-1 and |Σ| = |D| |C|; Golub and Van Loan (2013), Matrix Computations, fourth edition,
    section 2.1.4.
    """
    columns = entries.vector(factor)
    weighted = [column / diagonal for column in columns]
    inner = [
        [over_event(column * other) + (1.0 if i == j else 0.0) for j, other in enumerate(weighted[: i + 1])]
        for i, column in enumerate(columns)
    ]
    capacitance = entries.factored(inner).rows

    def distance(d: Node) -> Node:
        seen = [over_event(column * d) for column in weighted]
        return over_event(square(d) / diagonal) - _squared(entries.solved(capacitance, seen))

    def coloured(random: Stream) -> Node:
        own = sqrt(diagonal) * random.over(event_length(diagonal)).normal()
        return entries.total([own, *(column * each_of(random.normal()) for column in columns)])

    log_volume = 0.5 * over_event(log(diagonal)) + entries.log_diagonal(capacitance)
    return Scatter(distance, log_volume, coloured, lambda: [*columns, *_diagonal(sqrt(diagonal))])


def variances(scatter: Scatter) -> Node:
    """The diagonal of Σ."""
    return entries.total(square(column) for column in scatter.columns())


def _event(elements: entries.Vector, zeros: int = 0) -> Node:
    """A vector, which begins with so many zeros."""
    return entries.placed(elements, np.arange(-zeros, len(elements)))


def _diagonal(elements: Node) -> entries.Vector:
    """The columns of a diagonal matrix."""
    each = entries.vector(elements)
    none = np.full(len(each), -1)
    return [entries.placed([entry], np.where(np.arange(len(each)) == j, 0, none)) for j, entry in enumerate(each)]


def _squared(z: entries.Vector) -> Node:
    return entries.total(square(element) for element in z)
