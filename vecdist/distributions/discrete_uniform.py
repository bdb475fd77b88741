"""The discrete uniform distribution."""

from vecdist.constraints import Constraint, from_on, integer, whole_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import ceil, eq
from vecdist.primitives.elementary import log
from vecdist.special.staircase import settled


class DiscreteUniform(Distribution):
    """Discrete uniform distribution, f(x) = 1 / (high - low + 1) for x = low, ..., high.

    Written ``DiscreteUniform(low, high)``.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 6.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(DiscreteUniform(1, 6), np.array([1, 6, 7]))).round(4)
    array([-1.7918, -1.7918,    -inf])
    """

    discrete = True
    oracle = "scipy.stats.randint(low, high + 1)"

    @parametrisation(low=integer, high=from_on("low", integer))
    @staticmethod
    def by_bounds(low: Node, high: Node) -> dict[str, Node]:
        return {"low": low, "high": high, "size": high - low + 1.0}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return whole_interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return where(eq(x, x), -log(p.size), x)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return (x - p.low + 1.0) / p.size

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return (p.high - x) / p.size

    @staticmethod
    def mean(p: Parameters) -> Node:
        return 0.5 * (p.low + p.high)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return (p.size - 1.0) * (p.size + 1.0) / 12.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.size)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.low

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        k = p.low + (ceil(q * p.size) - 1.0)
        return settled(k, q, lambda k: DiscreteUniform.cdf(k, p), DiscreteUniform.support(p))
