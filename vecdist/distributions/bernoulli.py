"""The Bernoulli distribution."""

import math

from vecdist.constraints import Constraint, binary, real, unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import log, log1p, log_sigmoid, sigmoid
from vecdist.special.formulas import times
from vecdist.special.normal_tail import log_ndtr, ndtr


class Bernoulli(Distribution):
    """Bernoulli distribution, f(1) = p and f(0) = 1 - p.

    Written ``Bernoulli(p)``, ``Bernoulli(logit=)`` with logit = log(p / (1 - p)), infinite where p is 0 or 1, or
    ``Bernoulli(probit=)`` with p = Phi(probit).
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 3.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Bernoulli(0.25), np.array([0, 1, 2]))).round(4)
    array([-0.2877, -1.3863,    -inf])
    """

    discrete = True
    oracle = "scipy.stats.bernoulli(p)"

    @parametrisation(p=unit_interval)
    @staticmethod
    def by_probability(p: Node) -> dict[str, Node]:
        return {"p": p, "q": 1.0 - p, "log_p": log(p), "log_q": log1p(-p)}

    @parametrisation(logit=real)
    @staticmethod
    def by_logit(logit: Node) -> dict[str, Node]:
        logs = {"log_p": log_sigmoid(logit), "log_q": log_sigmoid(-logit)}
        return {"p": sigmoid(logit), "q": sigmoid(-logit)} | logs

    @parametrisation(probit=real)
    @staticmethod
    def by_probit(probit: Node) -> dict[str, Node]:
        return {"p": ndtr(probit), "q": ndtr(-probit), "log_p": log_ndtr(probit), "log_q": log_ndtr(-probit)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return binary

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return by_value(x, p.log_q, p.log_p)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return by_value(x, p.q, 1.0)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return by_value(x, p.p, 0.0)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return by_value(x, p.log_q, 0.0)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return by_value(x, p.log_p, -math.inf)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return where(q > p.q, const(1.0, q.dtype), 0.0)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.p

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.p * p.q

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return -(times(p.p, p.log_p) + times(p.q, p.log_q))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return where(p.log_p > p.log_q, const(1.0, p.log_p.dtype), 0.0)


def by_value(x: Node, at_zero: Node, at_one: Node | float) -> Node:
    """One of two values, or ``x`` itself where that is NaN."""
    return where(eq(x, x), where(x > 0.5, at_one, at_zero), x)
