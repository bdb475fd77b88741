"""What the families of correlation matrices and of their Cholesky factors share."""

import math

from vecdist import linalg
from vecdist.expr import Node
from vecdist.primitives.special import lgamma_delta


def log_normaliser(concentration: Node, size: int) -> Node:
    """The logarithm of the integral of |R|^(concentration - 1) over the correlation matrices R with ``size`` rows.

    Lewandowski, Kurowicka and Joe (2009), Generating random correlation matrices based on vines and extended onion
    method, Journal of Multivariate Analysis 100, equation (16), written with gamma functions.
    """
    terms = (
        0.5 * k * math.log(math.pi) - lgamma_delta(concentration + 0.5 * (size - 1 - k), 0.5 * k)
        for k in range(1, size)
    )
    return linalg.total([0.0 * concentration, *terms])
