"""The geometric distribution."""

from vecdist.constraints import Constraint, count, positive_unit_interval, real
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import times
from vecdist.distributions.staircase import settled
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import ceil
from vecdist.primitives.elementary import exp, expm1, log, log1p, log_sigmoid


class Geometric(Distribution):
    """Geometric distribution, f(x) = p (1 - p)^x for x = 0, 1, ...: the failures before the first success.

    Written ``Geometric(p)`` or ``Geometric(logit=)`` with logit = log(p / (1 - p)), infinite where p is 1. Of the
    number of trials up to that success, 1, 2, ..., ask at the number less 1.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 5.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Geometric(0.25), np.array([0, 1, -1]))).round(4)
    array([-1.3863, -1.674 ,    -inf])
    """

    discrete = True
    oracle = "scipy.stats.geom(p, -1)"

    @parametrisation(p=positive_unit_interval)
    @staticmethod
    def by_probability(p: Node) -> dict[str, Node]:
        return {"log_p": log(p), "log_q": log1p(-p)}

    @parametrisation(logit=real)
    @staticmethod
    def by_logit(logit: Node) -> dict[str, Node]:
        return {"log_p": log_sigmoid(logit), "log_q": log_sigmoid(-logit)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return p.log_p + times(x, p.log_q)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1((x + 1.0) * p.log_q)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return (x + 1.0) * p.log_q

    @staticmethod
    def mean(p: Parameters) -> Node:
        return exp(p.log_q - p.log_p)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return exp(p.log_q - 2.0 * p.log_p)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return -(times(exp(p.log_q - p.log_p), p.log_q) + p.log_p)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.log_p

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        k = ceil(log1p(-q) / p.log_q) - 1.0
        return where(q <= exp(p.log_p), 0.0, settled(k, q, lambda k: Geometric.cdf(k, p), count))
