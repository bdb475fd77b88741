"""How a vector is scattered around its location: squared distances, and volumes, of whatever makes the covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vecdist import linalg
from vecdist.expr import Node
from vecdist.multivariate.events import over_event
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log


class Scatter(NamedTuple):
    """d' Σ^-1 d of a deviation d, and the logarithm of the square root of the determinant of Σ."""

    distance: Callable[[Node], Node]
    log_volume: Node


def of_factor(factor: linalg.Triangle) -> Scatter:
    """Σ = L L'."""
    return Scatter(lambda d: _squared(linalg.solved(factor, linalg.vector(d))), linalg.log_diagonal(factor))


def of_matrix(matrix: Node) -> Scatter:
    """Σ itself."""
    return of_factor(linalg.factored(linalg.symmetric(matrix)).rows)


def of_inverse(matrix: Node) -> Scatter:
    """Σ^-1."""
    factor = linalg.factored(linalg.symmetric(matrix)).rows
    return Scatter(
        lambda d: _squared(linalg.transposed_product(factor, linalg.vector(d))), -linalg.log_diagonal(factor)
    )


def of_diagonal(scale: Node) -> Scatter:
    """Σ = diag(scale)^2, of any length."""
    return Scatter(lambda d: over_event(square(d / scale)), over_event(log(scale)))


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

    return Scatter(distance, 0.5 * over_event(log(diagonal)) + linalg.log_diagonal(capacitance))


def _squared(z: linalg.Vector) -> Node:
    return linalg.total(square(element) for element in z)
