"""Linear algebra of matrices: small ones entry by entry, larger ones by calls between kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecdist.graph.node import Node, cast, where
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import LazyArray, Operand, as_lazy, operands
from vecdist.lazy.views import index_view
from vecdist.primitives import entries
from vecdist.primitives import factorisations as calls
from vecdist.primitives.calls import swapped
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


def solve_triangular(
    a: Operand, b: Operand, trans: int | str = 0, lower: bool = False, unit_diagonal: bool = False
) -> LazyArray:
    """The solution x of A x = b, for triangular matrices in the last two axes, as SciPy's function of this name.

    Of A the half that ``lower`` says is read; ``trans`` of 1 or "T" solves A' x = b, and with ``unit_diagonal`` the
    diagonal counts as ones.  ``b`` is a vector, or has shape (..., n, k); batch axes broadcast.  Where a number on the
    diagonal is zero x is infinite or NaN.  Matrices of more than 8 rows are solved between kernels.  Raises
    ``ValueError`` for shapes that do not fit, and for another ``trans``.

    >>> import numpy as np
    >>> from vecdist import linalg
    >>> factor = np.array([[2.0, 0.0], [1.0, 2.0]])
    >>> np.asarray(linalg.solve_triangular(factor, np.array([2.0, 5.0]), lower=True))
    array([1., 2.])
    >>> np.asarray(linalg.solve_triangular(factor, np.array([2.0, 5.0]), trans=1, lower=True))
    array([-0.25,  2.5 ])
    """
    left, (right,) = _square(a), _floats(b)
    if trans not in (0, 1, "N", "T"):
        raise ValueError(f"trans is 0 or 'N' for A x = b, 1 or 'T' for A' x = b; it was {trans!r}")
    if unit_diagonal:
        diagonal = np.eye(int(left.shape[-1]), dtype=bool)
        left = where(as_lazy(diagonal).node, 1.0, left)
    if not lower:
        left = swapped(left)
    return _solution(left, right, [(trans in (1, "T")) == lower])


def cho_factor(a: Operand) -> tuple[LazyArray, bool]:
    """The lower Cholesky factor of matrices, for ``cho_solve``, with the word that it is the lower one.

    Raises as ``cholesky`` does.

    >>> import numpy as np
    >>> from vecdist import linalg
    >>> a = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> np.asarray(linalg.cho_solve(linalg.cho_factor(a), np.array([4.0, 7.0]))).round(6).tolist()
    [0.375, 1.25]
    """
    return cholesky(a), True


def cho_solve(c_and_lower: tuple[Operand, bool], b: Operand) -> LazyArray:
    """The solution x of A x = b, given a Cholesky factor of A and whether it is the lower one, as SciPy's function.

    Shapes and errors are those of ``solve_triangular``.

    >>> import numpy as np
    >>> from vecdist import linalg
    >>> factor = np.array([[2.0, 0.0], [1.0, 2.0]])
    >>> np.asarray(linalg.cho_solve((factor, True), np.array([4.0, 7.0]))).round(6).tolist()
    [0.375, 1.25]
    """
    factor, lower = c_and_lower
    left, (right,) = _square(factor), _floats(b)
    return _solution(left if lower else swapped(left), right, [False, True])


def _solution(factor: Node, b: Node, turns: Sequence[bool]) -> LazyArray:
    """A vector or columns, solved by lower triangular matrices, or by their transposes, in turn."""
    columns = index_view(b, (..., None)) if b.ndim == 1 else b
    if not b.ndim or columns.shape[-2] != factor.shape[-1]:
        what = "vector" if b.ndim == 1 else "right-hand side"
        raise ValueError(f"a matrix of shape {factor.shape} and a {what} of shape {b.shape} do not fit")
    solve = _by_calls if _is_long(factor) else _by_entries
    found = solve(factor, columns, turns)
    return LazyArray(index_view(found, (..., 0)) if b.ndim == 1 else found)


def _by_calls(factor: Node, columns: Node, turns: Sequence[bool]) -> Node:
    lead = broadcast((factor.shape[:-2], columns.shape[:-2]))
    factor, columns = (full(each, (*lead, *each.shape[-2:])) for each in (factor, columns))
    for transposed in turns:
        columns = (calls.upper_solution if transposed else calls.lower_solution)(factor, columns)
    return columns


def _by_entries(factor: Node, columns: Node, turns: Sequence[bool]) -> Node:
    rows = entries.lower(index_view(factor, (..., None, slice(None), slice(None))))
    found = entries.vector(swapped(columns))
    for transposed in turns:
        found = (entries.solved_transposed if transposed else entries.solved)(rows, found)
    return swapped(entries.placed(found, np.arange(columns.shape[-2])))


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


def _is_long(matrix: Node) -> bool:
    """Whether a matrix has more rows than are written out."""
    return int(matrix.shape[-1]) > entries.MOST


def _floats(*values: Any) -> list[Node]:
    return [node if node.dtype.kind == "f" else cast(node, np.float64) for node in operands(*values)]


def _square(a: Any) -> Node:
    (node,) = _floats(a)
    if node.ndim < 2 or node.shape[-1] != node.shape[-2] or not node.shape[-1]:
        raise ValueError(f"wanted square matrices in the last two axes, given shape {node.shape}")
    return node


__all__ = ["cho_factor", "cho_solve", "cholesky", "log_determinant", "solve_triangular"]
