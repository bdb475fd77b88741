"""Singular values, QR factors and pseudo-inverses of matrices, as calls of LAPACK or cuSOLVER, with their derivatives.

The rules are those of J. Townsend, "Differentiating the singular value decomposition" (2016), of S. F. Walter and
L. Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum experimental design",
arXiv 1001.1654, and of G. H. Golub and V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares
problems whose variables separate", SIAM J. Numer. Anal. 10 (1973).  Vectors of equal singular values have no
derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.array_factorisations import (
    orthogonal_factors,
    pseudo_inverses,
    singular_values,
    singular_vectors,
)
from vecdist.primitives.calls import Call, called, signature, swapped
from vecdist.primitives.factorisations import (
    Dots,
    Nodes,
    as_column,
    as_row,
    diagonal,
    lower_solution,
    one,
    places_of,
    times,
    turns,
    upper_solution,
)

# singular values


def _apart(x: Node, vectors: Node) -> Node:
    """What is not in the span of orthonormal columns; of a square matrix of them, nothing."""
    return x - times(vectors, times(swapped(vectors), x))


def _is_square(x: Node) -> bool:
    return x.shape[-1] == x.shape[-2]


def _gaps(values: Node) -> Node:
    """1 / (s_j^2 - s_i^2), 0 on the diagonal."""
    row, column = as_row(values), as_column(values)
    at, other = places_of(row + column)
    same = eq(at, other)
    return where(same, 0.0, 1.0 / where(same, 1.0, (row - column) * (row + column)))


def _pull_svd(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    (left, values, right), gaps = results, _gaps(results[1])
    row, vectors = as_row(values), swapped(right)
    turned, other = (times(swapped(x), y) for x, y in ((left, back[0]), (vectors, swapped(back[2]))))
    at, place = places_of(turned)
    inner = turns(gaps, turned - swapped(turned)) * row + as_column(values) * turns(gaps, other - swapped(other))
    inner = where(eq(at, place), as_row(back[1]), inner)
    found = times(left, times(inner, right))
    if not _is_square(args[0]):
        found = found + times(_apart(back[0], left) / row, right)
    return [found]


def _push_svd(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    (left, values, right), (dot,) = results, dots
    assert dot is not None
    row, column, vectors, gaps = as_row(values), as_column(values), swapped(right), _gaps(values)
    moved = times(dot, vectors)
    inner = times(swapped(left), moved)
    turn = gaps * (inner * row + column * swapped(inner))
    other = gaps * (column * inner + swapped(inner) * row)
    turned = times(left, turn)
    if not _is_square(args[0]):
        turned = turned + _apart(moved, left) / row
    return [turned, diagonal(inner), swapped(times(vectors, other))]


def _pull_singular_values(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    left, _, right = singular_value_decomposition(args[0])
    return [times(left * as_row(back[0]), right)]


def _push_singular_values(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    assert dots[0] is not None
    left, _, right = singular_value_decomposition(args[0])
    return [diagonal(times(times(swapped(left), dots[0]), swapped(right)))]


def _of_transposed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The factors of matrices that are transposed, by those of the matrices."""

    def factors(a: Any) -> tuple[Any, ...]:
        left, values, right = function(a.swapaxes(-1, -2))
        return right.swapaxes(-1, -2), values, left.swapaxes(-1, -2)

    return factors


def _svd_call(function: Callable[..., Any]) -> Call:
    return Call("svd", function, _pull_svd, _push_svd, True, signature("mn->mn,n,nn"))


SVD, SVD_OF_TRANSPOSED = _svd_call(singular_vectors), _svd_call(_of_transposed(singular_vectors))
SINGULAR_VALUES = Call(
    "svdvals", singular_values, _pull_singular_values, _push_singular_values, True, signature("mn->n")
)


def singular_value_decomposition(a: Node, transposed: bool = False) -> tuple[Node, ...]:
    """U, s and V' of matrices with no more columns than rows; with the signs that those ``transposed`` have."""
    *lead, rows, columns = a.shape
    kinds = tuple([((*lead, *shape), a.dtype) for shape in ((rows, columns), (columns,), (columns, columns))])
    return called(SVD_OF_TRANSPOSED if transposed else SVD, (a,), kinds)


def singular_values_of(a: Node) -> Node:
    """The singular values alone, of matrices with no more columns than rows: those that are equal have derivatives."""
    return one(SINGULAR_VALUES, (a,), (*a.shape[:-2], a.shape[-1]))


# QR factors


def factors(a: Node) -> tuple[Node, ...]:
    """Q, with orthonormal columns, and upper triangular R, of matrices with no more columns than rows."""
    *lead, _, columns = a.shape
    return called(QR, (a,), ((a.shape, a.dtype), ((*lead, columns, columns), a.dtype)))


def _over(x: Node, upper: Node) -> Node:
    """X R^-1."""
    return swapped(lower_solution(swapped(upper), swapped(x)))


def _strictly_lower(x: Node) -> Node:
    row, column = places_of(x)
    return where(row > column, x, 0.0)


def _pull_factors(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
    (columns, upper), (of_columns, of_upper) = results, back
    inner = times(upper, swapped(of_upper)) - times(swapped(of_columns), columns)
    below = _strictly_lower(inner)
    row, column = places_of(inner)
    mirrored = where(eq(row, column), inner, below + swapped(below))
    found = of_columns + times(columns, mirrored)
    return [swapped(upper_solution(swapped(upper), swapped(found)))]


def _push_factors(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
    (columns, upper), (dot,) = results, dots
    assert dot is not None
    moved = _over(dot, upper)
    inner = times(swapped(columns), moved)
    below = _strictly_lower(inner)
    kept = inner - (below - swapped(below))
    return [moved - times(columns, kept), times(kept, upper)]


QR = Call("qr", orthogonal_factors, _pull_factors, _push_factors, True, signature("mn->mn,nn"))


# pseudo-inverses


def pseudo_inverse(a: Node, cut: float) -> Node:
    """A^+, with no singular value that is below ``cut`` of the largest."""
    return one(_pinv_call(cut), (a,), (*a.shape[:-2], a.shape[-1], a.shape[-2]))


@cache
def _pinv_call(cut: float) -> Call:
    def pull(args: Nodes, results: Nodes, back: Nodes, ahead: int) -> Nodes:
        (a,), (inverse,) = args, results
        once, dual = swapped(back[0]), swapped(inverse)
        beyond = once - times(a, times(inverse, once))
        before = once - times(times(once, inverse), a)
        kept = times(times(dual, back[0]), dual)
        return [times(times(beyond, inverse), dual) + times(dual, times(inverse, before)) - kept]

    def push(args: Nodes, results: Nodes, dots: Dots, ahead: int) -> Nodes:
        (a,), (inverse,), (dot,) = args, results, dots
        assert dot is not None
        once, dual = swapped(dot), swapped(inverse)
        beyond = once - times(times(once, a), inverse)
        before = once - times(inverse, times(a, once))
        return [times(times(inverse, dual), beyond) + times(times(before, dual), inverse)
                - times(times(inverse, dot), inverse)]  # fmt: skip

    return Call("pinv", pseudo_inverses(cut), pull, push, True, signature("mn->nm"))
