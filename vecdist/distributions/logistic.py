"""The logistic distribution."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log, log_sigmoid, log_sigmoid_slope, sigmoid
from vecdist.primitives.logarithms import logit


class Logistic(Distribution):
    """Logistic distribution, f(x) = σ(z) σ(-z) / scale with z = (x - loc) / scale and σ(z) = 1 / (1 + exp(-z)).

    Written ``Logistic(loc, scale)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 23.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Logistic(0.0, 2.0), np.array([0.0, 2.0]))).round(4)
    array([-2.0794, -2.3197])
    """

    oracle = "scipy.stats.logistic(loc, scale)"
    symmetric = True
    certain: float | None = LIGHT

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
        return log_sigmoid_slope(Logistic.standardised(x, p)) - p.log_scale

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return sigmoid(Logistic.standardised(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_sigmoid(Logistic.standardised(x, p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return math.pi**2 / 3 / square(p.inverse_scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + 2.0

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + logit(q) / p.inverse_scale
