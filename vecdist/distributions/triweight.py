"""The triweight distribution."""

import math

from vecdist.constraints import Constraint, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node, const
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import clamped, log, log1p
from vecdist.primitives.incomplete_beta import betaincinv


class Triweight(Distribution):
    """Triweight distribution, f(x) = 35 / (32 scale) (1 - z^2)^3 with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``Triweight(loc, scale)``.
    Silverman (1986), Density Estimation for Statistics and Data Analysis, section 3.3.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Triweight(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.6035, -1.4666,    -inf])
    """

    oracle = "scipy.stats.beta(4, 4, loc - scale, 2 * scale)"
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
        return 3.0 * (log1p(z) + log1p(-z)) + (math.log(35 / 32) - log(p.scale))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        z = clamped((x - p.loc) / p.scale, (-1.0, 1.0))
        return square(square(1.0 + z)) * (16.0 + z * (z * (20.0 - 5.0 * z) - 29.0)) / 32.0

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) / 9.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + (319 / 70 - math.log(70))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        four = const(4.0, q.dtype)  # (1 + z) / 2 has a beta distribution
        return p.loc + p.scale * (2.0 * betaincinv(four, four, q) - 1.0)
