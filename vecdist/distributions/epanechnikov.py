"""The Epanechnikov distribution."""

import math

from vecdist.constraints import Constraint, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import clamped, log, log1p
from vecdist.primitives.trigonometric import arctan, sin


class Epanechnikov(Distribution):
    """Epanechnikov distribution, f(x) = 3 / (4 scale) (1 - z^2) with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``Epanechnikov(loc, scale)``.
    Epanechnikov (1969), Non-parametric estimation of a multivariate probability density, Theory of Probability 14.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Epanechnikov(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.9808, -1.2685,    -inf])
    """

    oracle = "scipy.stats.beta(2, 2, loc - scale, 2 * scale)"
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
        return log1p(z) + log1p(-z) + (math.log(3 / 4) - log(p.scale))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        z = clamped((x - p.loc) / p.scale, (-1.0, 1.0))
        return square(1.0 + z) * (2.0 - z) / 4.0

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * (2.0 * sin((2 * arctan(sqrt(q / (1.0 - q))) - math.pi / 2) / 3.0))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) / 5.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + (5 / 3 - math.log(3))
