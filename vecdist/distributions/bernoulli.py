"""The Bernoulli distribution."""

from vecdist.constraints import Constraint, binary, real, unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node, where
from vecdist.primitives.elementary import log, log1p, log_sigmoid


class Bernoulli(Distribution):
    """Bernoulli distribution, f(1) = p and f(0) = 1 - p.

    Written ``Bernoulli(p)`` or ``Bernoulli(logit=)`` with logit = log(p / (1 - p)), infinite where p is 0 or 1.
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
        return {"log_p": log(p), "log_q": log1p(-p)}

    @parametrisation(logit=real)
    @staticmethod
    def by_logit(logit: Node) -> dict[str, Node]:
        return {"log_p": log_sigmoid(logit), "log_q": log_sigmoid(-logit)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return binary

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return where(x > 0.5, p.log_p, where(x < 0.5, p.log_q, x))  # x itself where it is NaN
