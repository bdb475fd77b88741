"""The biweight distribution."""

import math

from vecdist.constraints import Constraint, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node, const
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import clamped, log, log1p
from vecdist.primitives.incomplete_beta import betaincinv


class Biweight(Distribution):
    """Biweight distribution, f(x) = 15 / (16 scale) (1 - z^2)^2 with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``Biweight(loc, scale)``.
    Silverman (1986), Density Estimation for Statistics and Data Analysis, table 3.1.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Biweight(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.7577, -1.333 ,    -inf])
    """

    oracle = "scipy.stats.beta(3, 3, loc - scale, 2 * scale)"
    symmetric = True

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.loc - p.scale, p.loc + p.scale)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        z = clamped((x - p.loc) / p.scale, (-1.0, 1.0))
        return 2.0 * (log1p(z) + log1p(-z)) + (math.log(15 / 16) - log(p.scale))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        z = clamped((x - p.loc) / p.scale, (-1.0, 1.0))
        return (1.0 + z) * square(1.0 + z) * (8.0 + z * (3.0 * z - 9.0)) / 16.0

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) / 7.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + (47 / 15 - math.log(15))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        three = const(3.0, q.dtype)  # (1 + z) / 2 has a beta distribution
        return p.loc + p.scale * (2.0 * betaincinv(three, three, q) - 1.0)
