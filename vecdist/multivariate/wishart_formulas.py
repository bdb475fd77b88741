"""What the families of positive definite matrices, and of their Cholesky factors, share."""

import math
from collections.abc import Sequence

import numpy as np

from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, cast
from vecdist.multivariate.events import each_of, over_event
from vecdist.primitives import entries
from vecdist.primitives.arithmetic import bit_or, sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.structure import position
from vecdist.special.error_functions import lgamma


def log_multigamma(a: Node, size: int) -> Node:
    """The logarithm of the multivariate gamma function, Γ_p(a) = pi^(p (p - 1) / 4) ∏ Γ(a - j / 2), DLMF 35.3.4."""
    if size <= entries.MOST:
        total = entries.total(lgamma(a - 0.5 * j) for j in range(size))
    else:
        total = over_event(lgamma(each_of(a) - 0.5 * cast(position(size), a.dtype)))
    return total + 0.25 * size * (size - 1) * math.log(math.pi)


def trace_of_quotient(left: entries.Triangle, right: entries.Triangle) -> Node:
    """The trace of (L L')^-1 R R', the sum of the squares of L^-1 R."""
    columns = ([row[j] for row in right[j:]] for j in range(len(right)))
    return entries.total(square(z) for column in columns for z in entries.solved(left, column))


def log_volume_of_factoring(factor: entries.Triangle) -> Node:
    """The logarithm of the Jacobian of L L' in L, 2^p ∏ L_ii^(p - i + 1) for i = 1, ..., p."""
    powers = ((len(factor) - i) * log(row[-1]) for i, row in enumerate(factor))
    return entries.total(powers) + len(factor) * math.log(2.0)


def any_not_positive(found: entries.Vector) -> Node:
    """Whether one of several numbers is not positive; a NaN may be."""
    result = found[0] <= 0.0
    for value in found[1:]:
        result = bit_or(result, value <= 0.0)
    return result


def bartlett(random: Stream, degrees: Sequence[Node]) -> entries.Triangle:
    """A lower triangle of standard normal numbers, with roots of chi-squared variables on its diagonal."""
    return [
        [*(random.normal() for _ in range(i)), sqrt(2.0 * random.gamma(0.5 * df))] for i, df in enumerate(degrees)
    ]


def squared(factor: entries.Triangle) -> Node:
    """The matrix L L'."""
    rows = [[_inner(row, other) for other in factor[: i + 1]] for i, row in enumerate(factor)]
    numbers = np.zeros((len(rows), len(rows)), int)
    numbers[np.tril_indices(len(rows))] = np.arange(len(rows) * (len(rows) + 1) // 2)
    numbers = np.maximum(numbers, numbers.T)
    return entries.placed([entry for row in rows for entry in row], numbers)


def _inner(x: entries.Vector, y: entries.Vector) -> Node:
    return entries.total(a * b for a, b in zip(x, y, strict=False))
