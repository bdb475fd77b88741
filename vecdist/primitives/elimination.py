"""Gaussian elimination written out entry by entry, with rows exchanged so that pivots are large.

Golub and Van Loan (2013), Matrix Computations, fourth edition, section 3.4.  As ``entries``, it is part of the kernel
that it stands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.boundary import boundary
from vecdist.primitives.elementary import log
from vecdist.primitives.entries import Vector, total

Rows = list[list[Node]]


class Eliminated(NamedTuple):
    """An upper triangle by rows, each from its pivot on, with what stands to the right of it, and the sign of the
    exchanges.
    """

    rows: Sequence[Vector]
    right: Sequence[Vector]
    sign: Node


def eliminated(a: Rows, right: Rows) -> Eliminated:
    """Rows of a square matrix beside rows of anything, after elimination by the largest pivot of each column."""
    left = [[*row, *more] for row, more in zip(a, right, strict=True)]
    sign, done = const(1.0, a[0][0].dtype), []
    while left:
        pivot, *others = left
        left = []
        for row in others:
            larger = abs(row[0]) > abs(pivot[0])
            sign = where(larger, -sign, sign)
            left.append([where(larger, p, r) for p, r in zip(pivot, row, strict=True)])
            pivot = [where(larger, r, p) for p, r in zip(pivot, row, strict=True)]
        done.append([boundary(each) for each in pivot])
        left = [_below(row, done[-1]) for row in left]
    ends = [len(row) - len(right[0]) for row in done]
    upper, beside = zip(*[(row[:end], row[end:]) for row, end in zip(done, ends, strict=True)], strict=True)
    return Eliminated(upper, beside, sign)


def _below(row: Vector, pivot: Vector) -> list[Node]:
    """A row without its first element, which the pivot's row took away; where a column is zero there is nothing to."""
    factor = boundary(row[0] / where(eq(pivot[0], 0), 1.0, pivot[0]))
    return [boundary(entry - factor * above) for entry, above in zip(row[1:], pivot[1:], strict=True)]


def solved(a: Rows, right: Rows) -> Rows:
    """The rows of A^-1 B; NaN where A is singular."""
    upper, beside, _ = eliminated(a, right)
    found: Rows = []
    singular = reduce(lambda some, row: some | eq(row[0], 0), upper, const(False, np.bool_))
    for row, rights in zip(reversed(upper), reversed(beside), strict=True):
        inverse = boundary(where(singular, np.nan, 1.0 / row[0]))
        found.insert(0, [boundary(_less(entry, row[1:], found, at) * inverse) for at, entry in enumerate(rights)])
    return found


def _less(start: Node, row: Vector, found: Rows, column: int) -> Node:
    """``start`` less the product of a row with what is known of a column."""
    for entry, known in zip(row, found, strict=True):
        start = start - entry * known[column]
    return start


def sign_and_log_determinant(a: Rows) -> tuple[Node, Node]:
    """The sign of a determinant, and the logarithm of its size: 0 and -inf of a singular matrix."""
    upper, _, sign = eliminated(a, [[] for _ in a])
    pivots = [row[0] for row in upper]
    for pivot in pivots:
        sign = where(pivot > 0, sign, where(pivot < 0, -sign, 0.0 * pivot))
    return sign, total(log(abs(pivot)) for pivot in pivots)
