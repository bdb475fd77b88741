"""What the families of correlation matrices and of their Cholesky factors share."""

import math

from vecdist import linalg
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import sigmoid
from vecdist.special.error_functions import lgamma_delta


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


def drawn_factor(random: Stream, concentration: Node, size: int) -> linalg.Triangle:
    """The Cholesky factor of a correlation matrix: row by row a direction, and a beta variable for its length.

    The onion method of Lewandowski, Kurowicka and Joe (2009), section 3.2, for factors.
    """
    zero = 0.0 * concentration
    rows = [[zero + 1.0]]
    for i in range(1, size):
        direction = [random.normal() for _ in range(i)]
        log_odds = random.log_gamma(zero + 0.5 * i) - random.log_gamma(concentration + 0.5 * (size - 1 - i))
        length = sqrt(sigmoid(log_odds) / linalg.total(square(z) for z in direction))
        rows.append([*(z * length for z in direction), sqrt(sigmoid(-log_odds))])
    return rows
