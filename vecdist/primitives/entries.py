"""Small matrices written out entry by entry: each is elementwise over the batch axes.

So it is part of the kernel that it stands in, and has derivatives as any formula has.  A matrix is a list of rows of
entries; of a triangular or symmetric one the rows end at the diagonal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, sqrt
from vecdist.primitives.boundary import boundary, held
from vecdist.primitives.elementary import log
from vecdist.primitives.structure import position, view

MOST = 8  # rows of a matrix: the work, and the length of the source, grow with the cube
LONGEST = 16  # elements of what has no other way, and rows where no call can be made

Vector = Sequence[Node]
Triangle = Sequence[Vector]


class Factor(NamedTuple):
    """A Cholesky factor by rows, and the pivots, the squares of its diagonal: unless all are positive, it is none."""

    rows: Triangle
    pivots: Vector


def vector(x: Node) -> Vector:
    """The elements along the last axis.  Raises ``NotImplementedError`` where there are too many to be written out."""
    return [element(x, i) for i in range(_length(x))]


def element(x: Node, *places: int) -> Node:
    """What is at a place of the last axes."""
    ahead = x.ndim - len(places)
    entries = [*((axis, 0, 1) for axis in range(ahead)), *((None, place, 1) for place in places)]
    return view(x, entries, x.shape[:ahead])


def lower(a: Node) -> Triangle:
    """The lower triangle of a matrix; nothing else is read.  Raises ``NotImplementedError`` for a large matrix."""
    return [[element(a, i, j) for j in range(i + 1)] for i in range(_length(a))]


def lower_of_symmetric(a: Node) -> Triangle:
    """The lower triangle of a symmetric matrix, with symmetric derivatives; no value depends on what is above."""
    return [
        [*(_with_other(element(a, i, j), element(a, j, i)) for j in range(i)), row[i]] for i, row in enumerate(lower(a))
    ]


def _with_other(x: Node, other: Node) -> Node:
    """``x``, half of whose derivative is that of ``other``, where this is finite."""
    nothing = other - held(other)
    return x + 0.5 * (where(eq(nothing, 0), nothing, 0.0) - (x - held(x)))


def triangular(a: Node) -> Triangle:
    """The lower triangle of a matrix, with 1 for what is not positive on the diagonal: its caller has seen that."""
    return [[*row[:-1], _or_one(row[-1])] for row in lower(a)]


def _or_one(x: Node) -> Node:
    """``x``, 1 where it is not positive: what is computed of it, to be thrown away, has finite derivatives."""
    return where(x <= 0, 1.0, x)


def symmetric(a: Node) -> Triangle:
    """The lower triangle of (A + A') / 2, so that derivatives are symmetric too."""
    return [
        [*(0.5 * (element(a, i, j) + element(a, j, i)) for j in range(i)), row[i]]
        for i, row in enumerate(lower(a))
    ]


def _length(x: Node) -> int:
    count = int(x.shape[-1])
    if count > LONGEST:
        raise NotImplementedError(
            f"matrices are written out entry by entry, for {LONGEST} rows at most; this one has {count}: "
            "compute what is constant in it by numpy.linalg first, or write the model by scale_diag= or cov_factor= "
            "where it is of vectors"
        )
    return count


def factored(a: Triangle) -> Factor:
    """The Cholesky factor of a symmetric matrix, A = L L', of a finite one where there is none.

    Golub and Van Loan (2013), Matrix Computations, fourth edition, section 4.2.
    """
    rows: list[list[Node]] = []
    pivots: list[Node] = []
    for given in a:
        row: list[Node] = []
        for entry, above in zip(given, rows, strict=False):
            row.append(boundary(_less(entry, row, above) * _inverse(above)))
        pivots.append(boundary(_less(given[-1], row, row)))
        rows.append([*row, boundary(sqrt(_or_one(pivots[-1])))])
    return Factor(rows, pivots)


def valid(factor: Factor) -> Triangle:
    """The rows of a factor, NaN from the first one on whose pivot is not positive."""
    holds, found = const(True, np.bool_), []
    for row, pivot in zip(*factor, strict=True):
        holds = holds & (pivot > 0)
        found.append([where(holds, entry, np.nan) for entry in row])
    return found


def solved(factor: Triangle, b: Vector) -> Vector:
    """The solution z of L z = b, by forward substitution; with fewer elements than rows, ``b`` begins with zeros."""
    first = len(factor) - len(b)
    z: list[Node] = []
    for row, right in zip(factor[first:], b, strict=True):
        z.append(boundary(_less(right, row[first:-1], z) * _inverse(row)))
    return z


def solved_transposed(factor: Triangle, b: Vector) -> Vector:
    """The solution z of L' z = b, by back substitution."""
    z: list[Node] = []
    for i in reversed(range(len(factor))):
        column = [row[i] for row in reversed(factor[i + 1 :])]
        z.append(boundary(_less(b[i], column, z) * _inverse(factor[i])))
    return z[::-1]


def transposed_product(factor: Triangle, b: Vector) -> Vector:
    """L' b."""
    columns = ([row[i] for row in factor[i:]] for i in range(len(factor)))
    return [boundary(total(x * y for x, y in zip(column, b[i:], strict=True))) for i, column in enumerate(columns)]


def _inverse(row: Vector) -> Node:
    """1 over the element on the diagonal: a division for each row, not for each element."""
    return boundary(1.0 / row[-1])


def _less(start: Node, left: Vector, right: Vector) -> Node:
    """``start`` less the inner product of what both have."""
    return reduce(lambda rest, pair: rest - pair[0] * pair[1], zip(left, right, strict=False), start)


def total(terms: Iterable[Node]) -> Node:
    """The sum of at least one term."""
    return reduce(lambda x, y: x + y, terms)


def log_diagonal(factor: Triangle) -> Node:
    """The logarithm of the determinant of a triangular matrix."""
    return total(log(row[-1]) for row in factor)


def stacked(rows: Triangle) -> Node:
    """A lower triangular matrix of its rows."""
    numbers = np.full((len(rows), len(rows)), -1)
    numbers[np.tril_indices(len(rows))] = np.arange(len(rows) * (len(rows) + 1) // 2)
    return placed([entry for row in rows for entry in row], numbers)


def placed(entries: Sequence[Node], numbers: np.ndarray) -> Node:
    """An array with new last axes, in which each entry is where its number is, and 0 where no number is."""
    places = position(*numbers.shape)
    found = const(0, entries[0].dtype)
    for place, number in enumerate(numbers.ravel()):
        if number >= 0:
            found = where(eq(places, place), _spread(entries[number], numbers.ndim), found)
    return found


def _spread(x: Node, axes: int) -> Node:
    """``x`` with so many last axes of length 1."""
    return view(x, [(axis, 0, 1) for axis in range(x.ndim)], (*x.shape, *(1,) * axes))
