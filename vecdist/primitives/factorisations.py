"""Factorisations and solutions of matrices of any length, as calls of LAPACK or cuSOLVER, with their derivatives.

The rules are those of M. B. Giles, "Collected matrix derivative results for forward and reverse mode algorithmic
differentiation" (2008), and of I. Murray, "Differentiation of the Cholesky decomposition", arXiv 1602.07527.  They are
calls and formulas again, so that they have derivatives, too.  All work on matrices in the last two axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from vecdist.graph.node import Node, where
from vecdist.primitives import host_products
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.array_factorisations import (
    eigenvalues,
    eigenvectors,
    factored,
    inverted,
    inverted_definite,
    log_of_determinant,
    sign_and_log,
    solved,
    solved_definite,
    solved_lower,
    solved_transposed,
    solved_upper,
    squared_distances,
)
from vecdist.primitives.calls import Call, called, signature, swapped
from vecdist.primitives.structure import drop_axes, position, summed, view

FACTORING = "np.linalg"  # what the checks of matrices begin with

Nodes = Sequence[Node]
Dots = Sequence[Node | None]


def one(call: Call, args: Nodes, shape: Any, ahead: int = 0) -> Node:
    """The one result of a call."""
    return called(call, args, ((tuple(shape), args[0].dtype),), ahead)[0]


def times(a: Node, b: Node) -> Node:
    """The products of matrices."""
    return one(MATMUL, (a, b), (*a.shape[:-1], b.shape[-1]))


def places_of(x: Node) -> tuple[Node, Node]:
    """The row and the column of each element of square matrices."""
    return position(x.shape[-2], 1), position(1, x.shape[-1])


def lower_part(x: Node) -> Node:
    """What stands on the diagonal and below."""
    row, column = places_of(x)
    return where(row >= column, x, 0.0)


def _half(x: Node) -> Node:
    """What stands below the diagonal, and half of what stands on it."""
    row, column = places_of(x)
    return where(row > column, x, where(eq(row, column), 0.5 * x, 0.0))


def symmetric(x: Node) -> Node:
    return 0.5 * (x + swapped(x))


def diagonal(x: Node) -> Node:
    """The diagonals of square matrices, in the last axis."""
    row, column = places_of(x)
    total = summed(where(eq(row, column), x, 0.0), (-1,))
    return view(total, [*((axis, 0, 1) for axis in range(x.ndim - 1)), (None, 0, 1)], x.shape[:-1])


def as_column(x: Node) -> Node:
    """Vectors as matrices of one column."""
    return view(x, [(axis, 0, 1) for axis in range(x.ndim)], (*x.shape, 1))


def as_row(x: Node) -> Node:
    last = x.ndim - 1
    return view(x, [*((axis, 0, 1) for axis in range(last)), (last + 1, 0, 1)], (*x.shape[:-1], 1, x.shape[-1]))


def _spread(x: Node) -> Node:
    """Numbers as matrices of one element."""
    return view(x, [(axis, 0, 1) for axis in range(x.ndim)], (*x.shape, 1, 1))


def _added(*terms: Node | None) -> Node:
    first, *rest = (term for term in terms if term is not None)
    return sum(rest, first)


# products


def _pull_matmul(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    a, b = args
    return times(back[0], swapped(b)), times(swapped(a), back[0])


def _push_matmul(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    (a, b), (first, second) = args, dots
    return [_added(None if first is None else times(first, b), None if second is None else times(a, second))]


def _matmul(a: Any, b: Any, out: Any = None) -> Any:
    if not isinstance(a, np.ndarray):
        from vecdist.primitives.device_products import product

        return product(a, b)
    return host_products.product(a, b, out)


MATMUL = Call(
    "matmul", _matmul, _pull_matmul, _push_matmul, True, signature("nk,km->nm"), writes=True, capturable=True
)


# Cholesky factors


def _pull_cholesky(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    (factor,) = results
    inner = _half(times(swapped(factor), lower_part(back[0])))
    once = upper_solution(factor, inner)
    return [symmetric(swapped(upper_solution(factor, swapped(once))))]


def _push_cholesky(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    (factor,), (dot,) = results, dots
    assert dot is not None
    once = lower_solution(factor, symmetric(dot))
    return [times(factor, _half(swapped(lower_solution(factor, swapped(once)))))]


CHOLESKY = Call("cholesky", factored, _pull_cholesky, _push_cholesky, True, signature("nn->nn"))


def cholesky(a: Node) -> Node:
    """L of A = L L', of which the lower triangle is read; NaN where a matrix is not positive definite."""
    return one(CHOLESKY, (a,), a.shape)


# triangular systems


def lower_solution(factor: Node, b: Node) -> Node:
    """L^-1 B."""
    return one(SOLVE_LOWER, (factor, b), b.shape)


def upper_solution(factor: Node, b: Node) -> Node:
    """L'^-1 B, of a lower triangular L."""
    return one(SOLVE_UPPER, (factor, b), b.shape)


def _pull_lower(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    right = upper_solution(args[0], back[0])
    return -lower_part(times(right, swapped(results[0]))), right


def _push_lower(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    moved = None if dots[0] is None else -times(lower_part(dots[0]), results[0])
    return [lower_solution(args[0], _added(moved, dots[1]))]


def _pull_upper(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    right = lower_solution(args[0], back[0])
    return -lower_part(times(results[0], swapped(right))), right


def _push_upper(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    moved = None if dots[0] is None else -times(swapped(lower_part(dots[0])), results[0])
    return [upper_solution(args[0], _added(moved, dots[1]))]


SOLVE_LOWER = Call("solve_triangular", solved_lower, _pull_lower, _push_lower, True, signature("nn,nk->nk"))
SOLVE_UPPER = Call("solve_triangular", solved_upper, _pull_upper, _push_upper, True, signature("nn,nk->nk"))


# symmetric positive definite matrices beside their factors, which are no more than a help: what is computed is a
# function of the matrices alone, and so is its derivative


def definite_solution(a: Node, factor: Node, b: Node) -> Node:
    """A^-1 B."""
    return one(SOLVE_DEFINITE, (a, factor, b), b.shape)


def _pull_definite(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Dots:
    a, factor, _ = args
    right = definite_solution(a, factor, back[0])
    return -symmetric(times(right, swapped(results[0]))), None, right


def _push_definite(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    moved = None if dots[0] is None else -times(symmetric(dots[0]), results[0])
    return [definite_solution(args[0], args[1], _added(moved, dots[2]))]


def squared_distance(a: Node, factor: Node, b: Node) -> Node:
    """b' A^-1 b of each column of B."""
    return one(DISTANCE, (a, factor, b), (*b.shape[:-2], b.shape[-1]))


def _pull_distance(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Dots:
    found = definite_solution(*args)
    weighted = as_row(back[0]) * found
    return -times(weighted, swapped(found)), None, 2.0 * weighted


def _push_distance(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    found = definite_solution(*args)
    moved = None if dots[0] is None else -times(symmetric(dots[0]), found)
    both = _added(moved, None if dots[2] is None else 2.0 * dots[2])
    return [drop_axes(summed(found * both, (-2,)), (-2,))]


def definite_inverse(a: Node, factor: Node) -> Node:
    """A^-1."""
    return one(INVERT_DEFINITE, (a, factor), a.shape)


def _pull_definite_inverse(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Dots:
    return -times(times(results[0], symmetric(back[0])), results[0]), None


def _push_definite_inverse(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Dots:
    return [None if dots[0] is None else -times(times(results[0], symmetric(dots[0])), results[0])]


def log_determinant(a: Node, factor: Node) -> Node:
    """log |A|."""
    return one(LOG_DETERMINANT, (a, factor), a.shape[:-2])


def _pull_log_determinant(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Dots:
    return _spread(back[0]) * definite_inverse(*args), None


def _push_log_determinant(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Dots:
    return [None if dots[0] is None else _over_matrix(definite_inverse(*args) * dots[0])]


SOLVE_DEFINITE = Call(
    "cho_solve", solved_definite, _pull_definite, _push_definite, True, signature("nn,nn,nk->nk")
)
DISTANCE = Call(
    "distance", squared_distances, _pull_distance, _push_distance, True, signature("nn,nn,nk->k")
)
INVERT_DEFINITE = Call(
    "inv", inverted_definite, _pull_definite_inverse, _push_definite_inverse, True, signature("nn,nn->nn")
)
LOG_DETERMINANT = Call(
    "logdet", log_of_determinant, _pull_log_determinant, _push_log_determinant, True, signature("nn,nn->")
)


# systems, inverses and determinants


def solution(a: Node, b: Node) -> Node:
    """A^-1 B; NaN where A is singular."""
    return one(SOLVE, (a, b), b.shape)


def transposed_solution(a: Node, b: Node) -> Node:
    """A'^-1 B; NaN where A is singular."""
    return one(SOLVE_TRANSPOSED, (a, b), b.shape)


def _pull_solve(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    right = transposed_solution(args[0], back[0])
    return -times(right, swapped(results[0])), right


def _push_solve(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    moved = None if dots[0] is None else -times(dots[0], results[0])
    return [solution(args[0], _added(moved, dots[1]))]


def _pull_transposed(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    right = solution(args[0], back[0])
    return -times(results[0], swapped(right)), right


def _push_transposed(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    moved = None if dots[0] is None else -times(swapped(dots[0]), results[0])
    return [transposed_solution(args[0], _added(moved, dots[1]))]


def inverse(a: Node) -> Node:
    """A^-1; NaN where A is singular."""
    return one(INVERSE, (a,), a.shape)


def _pull_inverse(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    other = swapped(results[0])
    return [-times(times(other, back[0]), other)]


def _push_inverse(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    assert dots[0] is not None
    return [-times(times(results[0], dots[0]), results[0])]


def sign_and_log_determinant(a: Node) -> tuple[Node, ...]:
    """The signs of determinants, and the logarithms of their sizes."""
    return called(DETERMINANT, (a,), ((a.shape[:-2], a.dtype),) * 2)


def _pull_determinant(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    return [_spread(back[1]) * swapped(inverse(args[0]))]


def _push_determinant(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Dots:
    assert dots[0] is not None
    return [0.0 * results[0], _over_matrix(swapped(inverse(args[0])) * dots[0])]


def _over_matrix(x: Node) -> Node:
    """The sum over the last two axes."""
    lead = x.ndim - 2
    return view(summed(x, (-2, -1)), [*((axis, 0, 1) for axis in range(lead)), *[(None, 0, 1)] * 2], x.shape[:lead])


SOLVE = Call("solve", solved, _pull_solve, _push_solve, True, signature("nn,nk->nk"))
SOLVE_TRANSPOSED = Call("solve", solved_transposed, _pull_transposed, _push_transposed, True, signature("nn,nk->nk"))
INVERSE = Call("inv", inverted, _pull_inverse, _push_inverse, True, signature("nn->nn"))
DETERMINANT = Call("slogdet", sign_and_log, _pull_determinant, _push_determinant, True, signature("nn->,"))


# eigenvalues of symmetric matrices


def eigen(a: Node) -> tuple[Node, ...]:
    """The eigenvalues of symmetric matrices in ascending order, and their vectors as columns."""
    return called(EIGEN, (a,), ((a.shape[:-1], a.dtype), (a.shape, a.dtype)))


def eigenvalues_of(a: Node) -> Node:
    """The eigenvalues alone: where some are equal, the derivative of their sum is there, which vectors have not."""
    return one(EIGENVALUES, (a,), a.shape[:-1])


def _gaps(values: Node) -> Node:
    """1 / (w_j - w_i), 0 on the diagonal."""
    apart = as_row(values) - as_column(values)
    row, column = position(values.shape[-1], 1), position(1, values.shape[-1])
    same = eq(row, column)
    return where(same, 0.0, 1.0 / where(same, 1.0, apart))


def turns(gaps: Node, x: Node) -> Node:
    """Products with gaps, which are infinite between equal values: what is 0 stays so."""
    return where(eq(x, 0.0), 0.0, gaps * x)


def _pull_eigen(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    values, vectors = results
    row, column = places_of(vectors)
    turned = turns(_gaps(values), times(swapped(vectors), back[1]))
    inner = where(eq(row, column), as_row(back[0]), turned)
    return [symmetric(times(times(vectors, inner), swapped(vectors)))]


def _push_eigen(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    (values, vectors), (dot,) = results, dots
    assert dot is not None
    inner = times(times(swapped(vectors), symmetric(dot)), vectors)
    return [diagonal(inner), times(vectors, _gaps(values) * inner)]


def _pull_eigenvalues(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    vectors = eigen(args[0])[1]
    return [times(vectors * as_row(back[0]), swapped(vectors))]


def _push_eigenvalues(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    assert dots[0] is not None
    vectors = eigen(args[0])[1]
    return [diagonal(times(times(swapped(vectors), symmetric(dots[0])), vectors))]


EIGEN = Call("eigh", eigenvectors, _pull_eigen, _push_eigen, True, signature("nn->n,nn"))
EIGENVALUES = Call("eigvalsh", eigenvalues, _pull_eigenvalues, _push_eigenvalues, True, signature("nn->n"))
