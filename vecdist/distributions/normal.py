"""The normal distribution."""

import math

from vecdist.constraints import Constraint, finite, positive, real
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.special.normal_tail import log_ndtr, ndtr, ndtri


class Normal(Distribution):
    """Normal distribution, f(x) = exp(-((x - loc) / scale)^2 / 2) / (scale sqrt(2 pi)).

    Written ``Normal(loc, scale)``, ``Normal(mean=, sd=)``, ``Normal(mean=, variance=)``, ``Normal(mean=, precision=)``
    or ``Normal(eta=, precision=)`` with eta = mean precision.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 13.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Normal(0.0, 2.0), np.array([0.0, 2.0]))).round(4)
    array([-1.6121, -2.1121])
    """

    oracle = "scipy.stats.norm(loc, scale)"
    symmetric = True
    certain: float | None = LIGHT

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @parametrisation(mean=finite, sd=positive)
    @staticmethod
    def by_sd(mean: Node, sd: Node) -> dict[str, Node]:
        return {"loc": mean, "inverse_scale": 1.0 / sd, "log_scale": log(sd)}

    @parametrisation(mean=finite, variance=positive)
    @staticmethod
    def by_variance(mean: Node, variance: Node) -> dict[str, Node]:
        return {"loc": mean, "inverse_scale": 1.0 / sqrt(variance), "log_scale": 0.5 * log(variance)}

    @parametrisation(mean=finite, precision=positive)
    @staticmethod
    def by_precision(mean: Node, precision: Node) -> dict[str, Node]:
        return {"loc": mean, "inverse_scale": sqrt(precision), "log_scale": -0.5 * log(precision)}

    @parametrisation(eta=finite, precision=positive)
    @staticmethod
    def by_canonical(eta: Node, precision: Node) -> dict[str, Node]:
        return {"loc": eta / precision, "inverse_scale": sqrt(precision), "log_scale": -0.5 * log(precision)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return real

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return (x - p.loc) * p.inverse_scale

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        z = Normal.standardised(x, p)
        return -0.5 * square(z) - (p.log_scale + 0.5 * math.log(2 * math.pi))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.loc + random.normal() / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return 1.0 / square(p.inverse_scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + 0.5 * math.log(2 * math.pi * math.e)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return ndtr(Normal.standardised(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_ndtr(Normal.standardised(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + ndtri(q) / p.inverse_scale
