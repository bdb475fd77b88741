"""What the families of positive definite matrices, and of their Cholesky factors, share."""

import math

from vecdist import linalg
from vecdist.expr import Node
from vecdist.primitives.arithmetic import bit_or, square
from vecdist.primitives.elementary import log
from vecdist.primitives.special import lgamma


def log_multigamma(a: Node, size: int) -> Node:
    """The logarithm of the multivariate gamma function, Γ_p(a) = pi^(p (p - 1) / 4) ∏ Γ(a - j / 2), DLMF 35.3.4."""
    return linalg.total(lgamma(a - 0.5 * j) for j in range(size)) + 0.25 * size * (size - 1) * math.log(math.pi)


def trace_of_quotient(left: linalg.Triangle, right: linalg.Triangle) -> Node:
    """The trace of (L L')^-1 R R', the sum of the squares of L^-1 R."""
    columns = ([row[j] for row in right[j:]] for j in range(len(right)))
    return linalg.total(square(z) for column in columns for z in linalg.solved(left, column))


def log_volume_of_factoring(factor: linalg.Triangle) -> Node:
    """The logarithm of the Jacobian of L L' in L, 2^p ∏ L_ii^(p - i + 1) for i = 1, ..., p."""
    powers = ((len(factor) - i) * log(row[-1]) for i, row in enumerate(factor))
    return linalg.total(powers) + len(factor) * math.log(2.0)


def any_not_positive(found: linalg.Vector) -> Node:
    """Whether one of several numbers is not positive; a NaN may be."""
    result = found[0] <= 0.0
    for value in found[1:]:
        result = bit_or(result, value <= 0.0)
    return result
