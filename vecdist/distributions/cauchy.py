"""The Cauchy distribution."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, mirrored, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.trigonometric import arctan, near_tan
from vecdist.special.formulas import log1p_square


class Cauchy(Distribution):
    """Cauchy distribution, f(x) = 1 / (pi scale (1 + ((x - loc) / scale)^2)).

    Written ``Cauchy(loc, scale)``.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 16.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Cauchy(0.0, 2.0), np.array([0.0, 2.0, 1e200]))).round(4)
    array([  -1.8379,   -2.531 , -921.4856])
    """

    oracle = "scipy.stats.cauchy(loc, scale)"
    symmetric = True
    certain: float | None = math.inf

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return (x - p.loc) * p.inverse_scale

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -log1p_square(x - p.loc, p.inverse_scale, p.log_scale) - (p.log_scale + math.log(math.pi))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        z = Cauchy.standardised(x, p)
        far = z < -1.0
        angle = arctan(where(far, -1.0 / z, z)) / math.pi
        return where(far, angle, 0.5 + angle)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        """That of -1 / (pi z) where there is no more."""
        z, lower = Cauchy.standardised(x, p), Cauchy.cdf(x, p)
        far = p.log_scale - log(p.loc - x) - math.log(math.pi)
        return where(z < -1e9, far, where(lower < 0.5, log(lower), log1p(-Cauchy.cdf(-x, mirrored(p)))))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        low, high = q < 0.25, q > 0.75
        z = near_tan(math.pi * where(low, q, where(high, 1.0 - q, q - 0.5)))
        return p.loc + where(low, -1.0 / z, where(high, 1.0 / z, z)) / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> float:
        return math.nan

    variance = mean

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + math.log(4 * math.pi)
