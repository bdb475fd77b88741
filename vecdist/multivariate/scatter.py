"""How a vector is scattered around its location: squared distances, and volumes, of whatever makes the covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vecdist import linalg
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const
from vecdist.multivariate import long_vectors
from vecdist.multivariate.events import each_of, event_length, over_event
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log


class Scatter(NamedTuple):
    """d' Σ^-1 d of a deviation d, the logarithm of the square root of the determinant of Σ, and normal deviations.

    And columns whose outer products add up to Σ.
    """

    distance: Callable[[Node], Node]
    log_volume: Node
    coloured: Callable[[Stream], Node]
    columns: Callable[[], linalg.Vector]


def of_factor(factor: linalg.Triangle) -> Scatter:
    """Σ = L L'."""


    def coloured(random: Stream) -> Node:
        z = [random.normal() for _ in factor]
        return _event([linalg.total(x * y for x, y in zip(row, z, strict=False)) for row in factor])

    def columns() -> linalg.Vector:
        return [_event([row[j] for row in factor[j:]], j) for j in range(len(factor))]

    return Scatter(
        lambda d: _squared(linalg.solved(factor, linalg.vector(d))), linalg.log_diagonal(factor), coloured, columns
    )


def of_lower(factor: Node) -> Scatter:
    """Σ = L L', of a matrix L whose upper triangle is not read."""
    is_long = event_length(factor) > linalg.MOST
    return Scatter(*long_vectors.by_factor(factor)) if is_long else of_factor(linalg.triangular(factor))


def of_matrix(matrix: Node) -> Scatter:
    """Σ itself."""
    if event_length(matrix) > linalg.MOST:
        return Scatter(*long_vectors.by_matrix(matrix))
    return of_factor(linalg.factored(linalg.symmetric(matrix)).rows)


def of_inverse(matrix: Node) -> Scatter:
    """Σ^-1."""
    if event_length(matrix) > linalg.MOST:
        return Scatter(*long_vectors.by_inverse(matrix))
    factor = linalg.factored(linalg.symmetric(matrix)).rows
    count, zero, one = len(factor), const(0.0, matrix.dtype), const(1.0, matrix.dtype)
    units = [[one if i == j else zero for i in range(count)] for j in range(count)]
    return Scatter(
        lambda d: _squared(linalg.transposed_product(factor, linalg.vector(d))), -linalg.log_diagonal(factor),
        lambda random: _event(linalg.solved_transposed(factor, [random.normal() for _ in factor])),
        lambda: [_event(linalg.solved_transposed(factor, unit)) for unit in units],
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
    columns = linalg.vector(factor)
    weighted = [column / diagonal for column in columns]
    inner = [
        [over_event(column * other) + (1.0 if i == j else 0.0) for j, other in enumerate(weighted[: i + 1])]
        for i, column in enumerate(columns)
    ]
    capacitance = linalg.factored(inner).rows

    def distance(d: Node) -> Node:
        seen = [over_event(column * d) for column in weighted]
        return over_event(square(d) / diagonal) - _squared(linalg.solved(capacitance, seen))

    def coloured(random: Stream) -> Node:
        own = sqrt(diagonal) * random.over(event_length(diagonal)).normal()
        return linalg.total([own, *(column * each_of(random.normal()) for column in columns)])

    log_volume = 0.5 * over_event(log(diagonal)) + linalg.log_diagonal(capacitance)
    return Scatter(distance, log_volume, coloured, lambda: [*columns, *_diagonal(sqrt(diagonal))])


def variances(scatter: Scatter) -> Node:
    """The diagonal of Σ."""
    return linalg.total(square(column) for column in scatter.columns())


def _event(elements: linalg.Vector, zeros: int = 0) -> Node:
    """A vector, which begins with so many zeros."""
    return linalg.placed(elements, np.arange(-zeros, len(elements))).node


def _diagonal(entries: Node) -> linalg.Vector:
    """The columns of a diagonal matrix."""
    each = linalg.vector(entries)
    none = np.full(len(each), -1)
    return [linalg.placed([entry], np.where(np.arange(len(each)) == j, 0, none)).node for j, entry in enumerate(each)]


def _squared(z: linalg.Vector) -> Node:
    return linalg.total(square(element) for element in z)
