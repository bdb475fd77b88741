"""The Rayleigh distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.special.formulas import EULER


class Rayleigh(Distribution):
    """Rayleigh distribution, f(x) = x / scale^2 exp(-(x / scale)^2 / 2) for x >= 0.

    Written ``Rayleigh(scale)``.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 18.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Rayleigh(2.0), np.array([0.0, 2.0]))).round(4)
    array([   -inf, -1.1931])
    """

    oracle = "scipy.stats.rayleigh(scale=scale)"
    certain: float | None = LIGHT

    @parametrisation(scale=positive)
    @staticmethod
    def by_scale(scale: Node) -> dict[str, Node]:
        return {"scale": scale, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return square(x * p.inverse_scale)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log(x) - 0.5 * Rayleigh.standardised(x, p) - 2.0 * p.log_scale

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return -0.5 * Rayleigh.standardised(x, p)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(Rayleigh.log_sf(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        """That of z^2 / 2 where there is no more."""
        z, tail = x * p.inverse_scale, Rayleigh.cdf(x, p)
        near = 2.0 * (log(x) - p.log_scale) - math.log(2)
        return where(z < 1e-9, near, where(tail < 0.5, log(tail), log1p(-exp(Rayleigh.log_sf(x, p)))))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.scale * sqrt(-2.0 * log1p(-q))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.scale * sqrt(-2.0 * log(q))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return math.sqrt(math.pi / 2) * p.scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        return (2 - math.pi / 2) * square(p.scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + (1 + EULER / 2 - math.log(2) / 2)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.scale
