"""Linear algebra of matrices: small ones entry by entry, larger ones by calls between kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.graph.node import Node, cast
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import LazyArray, Operand, operands
from vecdist.lazy.views import index_view
from vecdist.primitives import entries
from vecdist.primitives import factorisations as calls
from vecdist.primitives.entries import Triangle, Vector
from vecdist.primitives.structure import full


def cholesky(a: Operand) -> LazyArray:
    """The lower triangular L of L L' = A, for symmetric positive definite matrices in the last two axes.

    Where a matrix is not positive definite L has NaN from that row on.  What is factored is (A + A') / 2, so that
    derivatives are symmetric.  Up to 8 rows are part of a kernel, more are factored between kernels: there all of L is
    NaN.  Raises ``ValueError`` for matrices that are not square.

    >>> import numpy as np
    >>> from vecdist import linalg
    >>> np.asarray(linalg.cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])))
    array([[2., 0.],
           [1., 2.]])
    """
    node = _square(a)
    if _is_long(node):
        return LazyArray(calls.cholesky(calls.symmetric(node)))
    return LazyArray(entries.stacked(entries.valid(entries.factored(entries.symmetric(node)))))


def solve_triangular(factor: Operand, b: Operand, transposed: bool = False) -> LazyArray:
    """The solution z of L z = b, or of L' z = b, for lower triangular matrices and vectors in the last axis.

    The upper triangle of L is not read; batch axes broadcast.  More than 8 rows are solved between kernels.
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
    solve: Callable[[Triangle, Vector], Vector] = entries.solved_transposed if transposed else entries.solved
    found = solve(entries.lower(left), entries.vector(right))
    return LazyArray(entries.placed(found, np.arange(right.shape[-1])))


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
    return LazyArray(2.0 * entries.log_diagonal(entries.valid(entries.factored(entries.symmetric(node)))))


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
    return int(matrix.shape[-1]) > entries.MOST


def _of_vectors(solve: Callable[[Node, Node], Node], matrix: Node, vectors: Node) -> Node:
    """What matrices make of vectors, with leading axes that broadcast."""
    lead = broadcast((matrix.shape[:-2], vectors.shape[:-1]))
    columns = index_view(full(vectors, (*lead, vectors.shape[-1])), (..., None))
    return index_view(solve(full(matrix, (*lead, *matrix.shape[-2:])), columns), (..., 0))


def _floats(*values: Any) -> list[Node]:
    return [node if node.dtype.kind == "f" else cast(node, np.float64) for node in operands(*values)]


def _square(a: Any) -> Node:
    (node,) = _floats(a)
    if node.ndim < 2 or node.shape[-1] != node.shape[-2] or not node.shape[-1]:
        raise ValueError(f"wanted square matrices in the last two axes, given shape {node.shape}")
    return node


__all__ = ["cho_solve", "cholesky", "log_determinant", "solve_triangular"]
