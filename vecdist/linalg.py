"""Linear algebra of matrices; of small ones written out entry by entry: each is elementwise over the batch axes.

So it is part of the kernel that it stands in, and has derivatives as any formula has.  A matrix is a list of rows of
entries; of a triangular or symmetric one the rows end at the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from vecdist.graph.node import Node, cast, const, where
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import LazyArray, Operand, operands
from vecdist.lazy.views import index_view
from vecdist.primitives import factorisations as calls
from vecdist.primitives.arithmetic import eq, sqrt
from vecdist.primitives.boundary import boundary
from vecdist.primitives.elementary import log
from vecdist.primitives.structure import full, position

MOST = 16  # rows of a matrix: the work, and the length of the source, grow with the cube

Vector = Sequence[Node]
Triangle = Sequence[Vector]


class Factor(NamedTuple):
    """A Cholesky factor by rows, and the pivots, the squares of its diagonal: unless all are positive, it is none."""

    rows: Triangle
    pivots: Vector


def vector(x: Node) -> Vector:
    """The elements along the last axis.  Raises ``NotImplementedError`` where there are too many to be written out."""
    return [index_view(x, (..., i)) for i in range(_length(x))]


def lower(a: Node) -> Triangle:
    """The lower triangle of a matrix; nothing else is read.  Raises ``NotImplementedError`` for a large matrix."""
    return [[index_view(a, (..., i, j)) for j in range(i + 1)] for i in range(_length(a))]


def triangular(a: Node) -> Triangle:
    """The lower triangle of a matrix, with 1 for what is not positive on the diagonal: its caller has seen that."""
    return [[*row[:-1], _or_one(row[-1])] for row in lower(a)]


def _or_one(x: Node) -> Node:
    """``x``, 1 where it is not positive: what is computed of it, to be thrown away, has finite derivatives."""
    return where(x <= 0, 1.0, x)


def symmetric(a: Node) -> Triangle:
    """The lower triangle of (A + A') / 2, so that derivatives are symmetric too."""
    return [
        [*(0.5 * (index_view(a, (..., i, j)) + index_view(a, (..., j, i))) for j in range(i)), row[i]]
        for i, row in enumerate(lower(a))
    ]


def _length(x: Node) -> int:
    count = int(x.shape[-1])
    if count > MOST:
        raise NotImplementedError(
            f"matrices are written out entry by entry, for {MOST} rows at most; this one has {count}: "
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


def cholesky(a: Operand) -> LazyArray:
    """The lower triangular L of L L' = A, for symmetric positive definite matrices in the last two axes.

    Where a matrix is not positive definite L has NaN from that row on.  What is factored is (A + A') / 2, so that
    derivatives are symmetric.  Up to 16 rows are part of a kernel, more are factored by LAPACK or cuSOLVER: there all
    of L is NaN.  Raises ``ValueError`` for matrices that are not square.

    >>> import numpy as np
    >>> from vecdist import linalg
    >>> np.asarray(linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])))
    array([[2., 0.],
           [1., 2.]])
    """
    node = _square(a)
    if _is_long(node):
        return LazyArray(calls.cholesky(calls.symmetric(node)))
    return stacked(_valid(*factored(symmetric(node))))


def solve_triangular(factor: Operand, b: Operand, transposed: bool = False) -> LazyArray:
    """The solution z of L z = b, or of L' z = b, for lower triangular matrices and vectors in the last axis.

    The upper triangle of L is not read; batch axes broadcast.  More than 16 rows are solved by LAPACK or cuBLAS.
    Raises ``ValueError`` for shapes that do not fit.

    >>> import numpy as np
    >>> from vecdist import linalg
    >>> np.asarray(linalg.solve_triangular(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([2.0, 5.0])))
    array([1., 2.])
    """
    left, (right,) = _square(factor), _floats(b)
    if not right.ndim or right.shape[-1] != left.shape[-1]:
        raise ValueError(f"a matrix of shape {left.shape} and a vector of shape {right.shape} do not fit")
    if _is_long(left):
        return LazyArray(_of_vectors(calls.upper_solution if transposed else calls.lower_solution, left, right))
    solve: Callable[[Triangle, Vector], Vector] = solved_transposed if transposed else solved
    return placed(solve(lower(left), vector(right)), np.arange(right.shape[-1]))


def log_determinant(a: Operand) -> LazyArray:
    """The logarithm of the determinant of symmetric positive definite matrices in the last two axes, NaN of others.

    Raises as ``cholesky`` does.

    >>> import numpy as np
    >>> from vecdist import linalg
    >>> round(float(linalg.log_determinant(np.array([[4.0, 2.0], [2.0, 5.0]]))), 12)
    2.77258872224
    """
    node = _square(a)
    if _is_long(node):
        return 2.0 * np.log(LazyArray(calls.diagonal(calls.cholesky(calls.symmetric(node))))).sum(axis=-1)
    rows, pivots = factored(symmetric(node))
    return LazyArray(2.0 * log_diagonal(_valid(rows, pivots)))


def cho_solve(factor: Operand, b: Operand) -> LazyArray:
    """The solution x of L L' x = b, for lower triangular matrices and vectors in the last axis, as SciPy's.

    Shapes and errors are those of ``solve_triangular``.

    >>> import numpy as np
    >>> from vecdist import linalg
    >>> np.asarray(linalg.cho_solve(np.array([[2.0, 0.0], [1.0, 2.0]]), np.array([4.0, 7.0]))).round(6).tolist()
    [0.375, 1.25]
    """
    return solve_triangular(factor, solve_triangular(factor, b), transposed=True)


def _is_long(matrix: Node) -> bool:
    """Whether a matrix has more rows than are written out."""
    return int(matrix.shape[-1]) > MOST


def _of_vectors(solve: Callable[[Node, Node], Node], matrix: Node, vectors: Node) -> Node:
    """What matrices make of vectors, with leading axes that broadcast."""
    lead = broadcast((matrix.shape[:-2], vectors.shape[:-1]))
    columns = index_view(full(vectors, (*lead, vectors.shape[-1])), (..., None))
    return index_view(solve(full(matrix, (*lead, *matrix.shape[-2:])), columns), (..., 0))


def _valid(rows: Triangle, pivots: Vector) -> Triangle:
    """The rows, NaN from the first one on whose pivot is not positive."""
    holds, found = const(True, np.bool_), []
    for row, pivot in zip(rows, pivots, strict=True):
        holds = holds & (pivot > 0)
        found.append([where(holds, entry, np.nan) for entry in row])
    return found


def _floats(*values: Any) -> list[Node]:
    return [node if node.dtype.kind == "f" else cast(node, np.float64) for node in operands(*values)]


def _square(a: Any) -> Node:
    (node,) = _floats(a)
    if node.ndim < 2 or node.shape[-1] != node.shape[-2] or not node.shape[-1]:
        raise ValueError(f"wanted square matrices in the last two axes, given shape {node.shape}")
    return node


def stacked(rows: Triangle) -> LazyArray:
    """A lower triangular matrix of its rows."""
    numbers = np.full((len(rows), len(rows)), -1)
    numbers[np.tril_indices(len(rows))] = np.arange(len(rows) * (len(rows) + 1) // 2)
    return placed([entry for row in rows for entry in row], numbers)


def placed(entries: Sequence[Node], numbers: np.ndarray) -> LazyArray:
    """An array with new last axes, in which each entry is where its number is, and 0 where no number is."""
    places, new = position(*numbers.shape), (None,) * numbers.ndim
    found = const(0, entries[0].dtype)
    for place, number in enumerate(numbers.ravel()):
        if number >= 0:
            found = where(eq(places, place), index_view(entries[number], (..., *new)), found)
    return LazyArray(found)


__all__ = ["cho_solve", "cholesky", "log_determinant", "solve_triangular"]
