"""Cholesky factors, solutions, inverses and determinants of matrices: small ones in kernels, larger ones by calls.

What has no factor or no inverse is NaN; where a caller waits for what is invalid, it is an error as NumPy's is.
"""

from __future__ import annotations

from typing import Any

from vecdist.graph.node import Node
from vecdist.lazy.array import LazyArray
from vecdist.passes.entries import WRITTEN
from vecdist.primitives import entries
from vecdist.primitives import factorisations as calls
from vecdist.primitives.arithmetic import isnan
from vecdist.primitives.calls import Call

FACTOR = f"{calls.FACTORING}.cholesky", "factor", "a positive definite matrix"
SOLUTION = f"{calls.FACTORING}.solve", "solution", "a matrix that is not singular"
INVERSE = f"{calls.FACTORING}.inv", "inverse", "a matrix that is not singular"
MOST = 4  # rows of a matrix of any kind: every pivot is one of what is left of a column


def cholesky(a: Node) -> Node:
    """L of A = L L', of which the lower triangle is read; NaN, or an error, where a matrix is not positive definite."""
    if _is_small(a):
        found = entries.stacked(entries.valid(entries.factored(entries.lower_of_symmetric(a))))
    else:
        found = calls.cholesky(a)
    return _checked(FACTOR, found, calls.lower_part(a))


def solution(a: Node, b: Node) -> Node:
    """A^-1 B; NaN, or an error, where A is singular.  One with a Cholesky factor, or its transpose, is triangular."""
    for factor, call in ((a, calls.SOLVE_LOWER), (_turned(a), calls.SOLVE_UPPER)):
        if factor is not None and factor.op == "checked" and factor.attrs == (FACTOR,):
            return _written(call, factor, b) if _is_small(a) else calls.one(call, (factor, b), b.shape)
    found = _written(calls.SOLVE, a, b) if _is_small(a) else calls.solution(a, b)
    return _checked(SOLUTION, found, a, b)


def inverse(a: Node) -> Node:
    """A^-1; NaN, or an error, where A is singular."""
    found = _written(calls.INVERSE, a) if _is_small(a) else calls.inverse(a)
    return _checked(INVERSE, found, a)


def sign_and_log_determinant(a: Node) -> tuple[Node, ...]:
    """The signs of determinants, and the logarithms of their sizes."""
    return _written(calls.DETERMINANT, a) if _is_small(a) else calls.sign_and_log_determinant(a)


def _is_small(a: Node) -> bool:
    return 0 < int(a.shape[-1]) <= MOST


def _written(call: Call, *given: Node) -> Any:
    """What a call computes as a formula: a node, or several."""
    return WRITTEN[call].function(*given)


def _turned(a: Node) -> Node | None:
    """The matrices of which these are the transposes, where they are a view of them."""
    return a.args[0] if a.op == "view" and a.args[0].ndim == a.ndim and a == calls.swapped(a.args[0]) else None


def _checked(label: tuple[str, str, str], found: Node, *given: Node) -> Node:
    """What is found, with the check that it is no NaN but where one is given; ``label`` is what the error says."""
    if 0 in found.shape[-2:]:
        return found
    shown = LazyArray(found)[..., -1, -1]
    known = ~LazyArray(isnan(shown.node))
    for each in given:
        known = known | LazyArray(isnan(each)).any((-2, -1))
    return Node("checked", (found, known.node, shown.node), (label,), found.shape, found.dtype)
