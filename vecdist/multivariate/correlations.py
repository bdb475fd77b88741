"""What the families of correlation matrices and of their Cholesky factors share."""

import math

import numpy as np

from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, cast, where
from vecdist.multivariate.events import each_of, over_event
from vecdist.multivariate.lower import Lower, Whole, WrittenOut, triangle
from vecdist.primitives import entries
from vecdist.primitives.arithmetic import maximum, sqrt, square
from vecdist.primitives.elementary import sigmoid
from vecdist.primitives.structure import position
from vecdist.special.error_functions import lgamma_delta


def log_normaliser(concentration: Node, size: int) -> Node:
    """The logarithm of the integral of |R|^(concentration - 1) over the correlation matrices R with ``size`` rows.

    Lewandowski, Kurowicka and Joe (2009), Generating random correlation matrices based on vines and extended onion
    method, Journal of Multivariate Analysis 100, equation (16), written with gamma functions.
    """
    if size > entries.MOST:
        k = cast(position(size), concentration.dtype)  # from 0 on, whose term is 0
        over = lgamma_delta(each_of(concentration) + 0.5 * (float(size - 1) - k), 0.5 * k)
        return over_event(0.5 * math.log(math.pi) * k - over)
    terms = (
        0.5 * k * math.log(math.pi) - lgamma_delta(concentration + 0.5 * (size - 1 - k), 0.5 * k)
        for k in range(1, size)
    )
    return entries.total([0.0 * concentration, *terms])


def drawn_factor(random: Stream, concentration: Node, size: int) -> Lower:
    """The Cholesky factor of a correlation matrix: row by row a direction, and a beta variable for its length.

    The onion method of Lewandowski, Kurowicka and Joe (2009), section 3.2, for factors.
    """
    if size > entries.MOST:
        return _long_drawn_factor(random, concentration, size)
    zero = 0.0 * concentration
    rows = [[zero + 1.0]]
    for i in range(1, size):
        direction = [random.normal() for _ in range(i)]
        log_odds = random.log_gamma(zero + 0.5 * i) - random.log_gamma(concentration + 0.5 * (size - 1 - i))
        length = sqrt(sigmoid(log_odds) / entries.total(square(z) for z in direction))
        rows.append([*(z * length for z in direction), sqrt(sigmoid(-log_odds))])
    return WrittenOut(rows)


def _long_drawn_factor(random: Stream, concentration: Node, size: int) -> Lower:
    """All rows at once: the first one has no direction."""
    rows = random.over(size)
    i = cast(position(size), random.dtype)
    zero = 0.0 * each_of(concentration)
    behind = rows.log_gamma(zero + 0.5 * maximum(i, 1.0))
    log_odds = where(i > 0.0, behind - rows.log_gamma(each_of(concentration) + 0.5 * (float(size - 1) - i)), -np.inf)
    direction = triangle(rows.over(size).normal(), zero)
    length = sqrt(sigmoid(log_odds) / where(i > 0.0, over_event(square(direction)), 1.0))
    return Whole(triangle(direction * each_of(length), sqrt(sigmoid(-log_odds))))
