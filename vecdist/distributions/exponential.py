"""The exponential distribution."""

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import expm1, log, log1p


class Exponential(Distribution):
    """Exponential distribution, f(x) = exp(-x / scale) / scale for x >= 0.

    Written ``Exponential(scale)``, ``Exponential(rate=)`` or ``Exponential(mean=)``.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 19.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Exponential(2.0), np.array([0.0, 1.0]))).round(4)
    array([-0.6931, -1.1931])
    """

    oracle = "scipy.stats.expon(scale=scale)"
    certain: float | None = LIGHT

    @parametrisation(scale=positive)
    @staticmethod
    def by_scale(scale: Node) -> dict[str, Node]:
        return {"rate": 1.0 / scale, "log_rate": -log(scale)}

    @parametrisation(rate=positive)
    @staticmethod
    def by_rate(rate: Node) -> dict[str, Node]:
        return {"rate": rate, "log_rate": log(rate)}

    @parametrisation(mean=positive)
    @staticmethod
    def by_mean(mean: Node) -> dict[str, Node]:
        return {"rate": 1.0 / mean, "log_rate": -log(mean)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return x * p.rate

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return p.log_rate - Exponential.standardised(x, p)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(-Exponential.standardised(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return -Exponential.standardised(x, p)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return -log1p(-q) / p.rate

    @staticmethod
    def mean(p: Parameters) -> Node:
        return 1.0 / p.rate

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(1.0 / p.rate)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return 1.0 - p.log_rate

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.rate

    @staticmethod
    def upper_quantile_of_log(y: Node, p: Parameters) -> Node:
        return -y / p.rate
