"""Lower triangular matrices: written out entry by entry or, of more rows, as arrays for LAPACK or cuSOLVER."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Self, final

from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, cast, where
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import LazyArray
from vecdist.multivariate import wishart_formulas as written
from vecdist.multivariate.events import each_of, event_length, every, over_event, some
from vecdist.multivariate.long_vectors import factor_of
from vecdist.primitives import entries
from vecdist.primitives.arithmetic import eq, isnan, sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.factorisations import (
    cholesky,
    diagonal,
    log_determinant,
    lower_part,
    lower_solution,
    places_of,
    squared_distance,
    swapped,
    symmetric,
    times,
    upper_solution,
)
from vecdist.primitives.structure import full, position


class Lower(ABC):
    """A lower triangular matrix L of ``size`` rows."""

    size: int

    @abstractmethod
    def log_diagonal(self) -> Node:
        """The logarithm of the determinant of L."""

    @abstractmethod
    def quotient(self, right: Self) -> Node:
        """The trace of (L L')^-1 R R'."""

    @abstractmethod
    def log_volume_of_factoring(self) -> Node:
        """The logarithm of the Jacobian of L L' in L."""

    @abstractmethod
    def times(self, right: Self) -> Self:
        """L R."""

    @abstractmethod
    def over(self, right: Self) -> Self:
        """L R^-1."""

    @abstractmethod
    def squared(self) -> Node:
        """L L'."""

    @abstractmethod
    def matrix(self) -> Node:
        """L as an array."""


@final
class WrittenOut(Lower):
    """Of few rows, which end at the diagonal."""

    def __init__(self, rows: entries.Triangle) -> None:
        self.rows: entries.Triangle = rows
        self.size = len(rows)

    def log_diagonal(self) -> Node:
        return entries.log_diagonal(self.rows)

    def quotient(self, right: WrittenOut) -> Node:
        return written.trace_of_quotient(self.rows, right.rows)

    def log_volume_of_factoring(self) -> Node:
        return written.log_volume_of_factoring(self.rows)

    def times(self, right: WrittenOut) -> WrittenOut:
        inner = right.rows
        return WrittenOut([
            [entries.total(row[k] * inner[k][j] for k in range(j, i + 1)) for j in range(i + 1)]
            for i, row in enumerate(self.rows)
        ])

    def over(self, right: WrittenOut) -> WrittenOut:
        return WrittenOut([entries.solved_transposed(right.rows[: i + 1], row) for i, row in enumerate(self.rows)])

    def squared(self) -> Node:
        return written.squared(self.rows)

    def matrix(self) -> Node:
        return entries.stacked(self.rows)


@final
class Whole(Lower):
    """Of many rows, as an array; ``definite`` is L L' where that is what is given, in which derivatives are simpler."""

    def __init__(self, array: Node, definite: Node | None = None) -> None:
        self.array: Node = array
        self.definite = definite
        self.size = event_length(array)

    def log_diagonal(self) -> Node:
        if self.definite is not None:
            return 0.5 * log_determinant(self.definite, self.array)
        return over_event(log(diagonal(self.array)))

    def quotient(self, right: Whole) -> Node:
        if self.definite is not None:
            return over_event(squared_distance(*_alike(self.definite, self.array, right.array)))
        return over_event(square(lower_solution(*_alike(self.array, right.array))), 2)

    def log_volume_of_factoring(self) -> Node:
        powers = float(self.size) - cast(position(self.size), self.array.dtype)
        return over_event(powers * log(diagonal(self.array))) + self.size * math.log(2.0)

    def times(self, right: Whole) -> Whole:
        return Whole(times(*_alike(self.array, right.array)))

    def over(self, right: Whole) -> Whole:
        """By (L R^-1)' = R'^-1 L'."""
        return Whole(swapped(upper_solution(*_alike(right.array, swapped(self.array)))))

    def squared(self) -> Node:
        return times(self.array, swapped(self.array))

    def matrix(self) -> Node:
        return self.array


def of_definite(matrix: Node) -> Lower:
    """The Cholesky factor of (A + A') / 2; of a matrix that has none, another one, so that derivatives are finite."""
    if event_length(matrix) <= entries.MOST:
        return WrittenOut(entries.factored(entries.symmetric(matrix)).rows)
    row, column = places_of(matrix)
    unit = cast(eq(row, column), matrix.dtype)
    whole = where(each_of(each_of(not_definite(matrix))), unit, symmetric(matrix))
    return Whole(cholesky(whole), whole)


def not_definite(matrix: Node) -> Node:
    """Whether (A + A') / 2 is not positive definite; one with a NaN may be."""
    if event_length(matrix) <= entries.MOST:
        return written.any_not_positive(entries.factored(entries.symmetric(matrix)).pivots)
    return ~every(diagonal(factor_of(matrix)) > 0.0) & ~LazyArray(isnan(matrix)).any((-2, -1)).node


def of_lower(matrix: Node) -> Lower:
    """What stands on the diagonal of a matrix and below, 1 for what is not positive on the diagonal."""
    if event_length(matrix) <= entries.MOST:
        return WrittenOut(entries.triangular(matrix))
    row, column = places_of(matrix)
    return Whole(where(eq(row, column) & (matrix <= 0.0), 1.0, lower_part(matrix)))


def not_positive(matrix: Node) -> Node:
    """Whether an element on the diagonal is not positive; a NaN may be."""
    if event_length(matrix) <= entries.MOST:
        return written.any_not_positive([row[-1] for row in entries.lower(matrix)])
    return some(diagonal(matrix) <= 0.0)


def bartlett(random: Stream, df: Node, lost: range) -> Lower:
    """Standard normal numbers, and on the diagonal roots of chi-squared variables, which have lost degrees of freedom.

    Bartlett (1933), On the theory of statistical regression, Proceedings of the Royal Society of Edinburgh 53.
    """
    size = len(lost)
    if size <= entries.MOST:
        return WrittenOut(written.bartlett(random, [df - float(less) for less in lost]))
    less = float(lost.start) + float(lost.step) * cast(position(size), random.dtype)
    rows = random.over(size)
    return Whole(triangle(rows.over(size).normal(), sqrt(2.0 * rows.gamma(0.5 * (each_of(df) - less)))))


def triangle(below: Node, on_diagonal: Node) -> Node:
    """A matrix of what stands below the diagonal of another, and of a diagonal."""
    row, column = places_of(below)
    return where(row > column, below, where(eq(row, column), each_of(on_diagonal), 0.0))


def of_diagonal(matrix: Node) -> Node:
    """The products of the elements on the diagonal of a matrix, one of the row and one of the column."""
    each = diagonal(matrix)
    return each_of(each) * swapped(each_of(each))


def _alike(*matrices: Node) -> list[Node]:
    """Matrices with the same batch axes."""
    lead = broadcast(matrix.shape[:-2] for matrix in matrices)
    return [full(matrix, (*lead, *matrix.shape[-2:])) for matrix in matrices]
