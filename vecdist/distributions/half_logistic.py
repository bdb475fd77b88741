"""The half-logistic distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log, log1p, log_cosh, log_sigmoid, sigmoid, tanh
from vecdist.primitives.logarithms import arctanh


class HalfLogistic(Distribution):
    """Half-logistic distribution, f(x) = 2 σ(z) σ(-z) / scale with z = x / scale, for x >= 0: |X| for a logistic X.

    Written ``HalfLogistic(scale)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, section 23.11.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(HalfLogistic(2.0), np.array([0.0, 2.0]))).round(4)
    array([-1.3863, -1.6265])
    """

    oracle = "scipy.stats.halflogistic(scale=scale)"
    certain: float | None = LIGHT

    @parametrisation(scale=positive)
    @staticmethod
    def by_scale(scale: Node) -> dict[str, Node]:
        return {"inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return x * p.inverse_scale

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -2.0 * log_cosh(0.5 * HalfLogistic.standardised(x, p)) - (p.log_scale + math.log(2))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return tanh(0.5 * HalfLogistic.standardised(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return 2.0 * sigmoid(-HalfLogistic.standardised(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        """That of z / 2 where there is no more."""
        z = HalfLogistic.standardised(x, p)
        near = log(x) - (p.log_scale + math.log(2))
        return where(z < 1e-9, near, where(z < 1.0, log(tanh(0.5 * z)), log1p(-2.0 * sigmoid(-z))))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        z = HalfLogistic.standardised(x, p)
        return where(z < 1.0, log1p(-tanh(0.5 * z)), log_sigmoid(-z) + math.log(2))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return 2.0 * arctanh(q) / p.inverse_scale

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return where(q < 0.5, log(2.0 - q) - log(q), 2.0 * arctanh(1.0 - q)) / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> Node:
        return 2 * math.log(2) / p.inverse_scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        return (math.pi**2 / 3 - 4 * math.log(2) ** 2) / square(p.inverse_scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + (2 - math.log(2))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.inverse_scale
