"""The discrete Laplace distribution."""

from vecdist.constraints import Constraint, integer, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import ceil
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.logarithms import log1mexp
from vecdist.special.staircase import settled


class DiscreteLaplace(Distribution):
    """Discrete Laplace distribution, f(x) = tanh(rate / 2) exp(-rate |x|) for whole x.

    The difference of two geometric variables with p = 1 - exp(-rate).  Written ``DiscreteLaplace(rate)``.
    Inusah and Kozubowski (2006), A discrete analogue of the Laplace distribution, Journal of Statistical Planning and
    Inference 136.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(DiscreteLaplace(0.5), np.array([0, 1, -2]))).round(4)
    array([-1.4068, -1.9068, -2.4068])
    """

    discrete = True
    oracle = "scipy.stats.dlaplace(rate)"

    @parametrisation(rate=positive)
    @staticmethod
    def by_rate(rate: Node) -> dict[str, Node]:
        return {"rate": rate, "log_more": log1p(exp(-rate))}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return integer

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log1mexp(-p.rate) - p.log_more - p.rate * abs(x)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        below = p.rate * where(x < 0.0, x, 0.0) - p.log_more
        above = -p.rate * (where(x < 0.0, 0.0, x) + 1.0) - p.log_more
        return where(x < 0.0, below, log1p(-exp(above)))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return DiscreteLaplace.log_cdf(-x - 1.0, p)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return exp(DiscreteLaplace.log_cdf(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return exp(DiscreteLaplace.log_sf(x, p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return 0.0 * p.rate

    @staticmethod
    def variance(p: Parameters) -> Node:
        q = exp(-p.rate)
        return 2.0 * q / (expm1(-p.rate) * expm1(-p.rate))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        q = exp(-p.rate)
        return p.log_more - log1mexp(-p.rate) - 2.0 * p.rate * (q / expm1(-2.0 * p.rate))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.rate

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        low = log(q) + p.log_more <= 0.0
        below = (log(where(low, q, 0.25)) + p.log_more) / p.rate
        above = -(log1p(-where(low, 0.25, q)) + p.log_more) / p.rate - 1.0
        k = ceil(where(low, below, above))
        return settled(k, q, lambda k: DiscreteLaplace.cdf(k, p), integer)
