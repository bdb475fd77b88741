"""The log-normal distribution."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.normal import Normal
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.rounding import log_high
from vecdist.special.normal_tail import log_ndtr, ndtr, ndtri
from vecdist.special.parts import log_parts


class LogNormal(Distribution):
    """Log-normal distribution, f(x) = exp(-((log x - loc) / scale)^2 / 2) / (x scale sqrt(2 pi)) for x > 0.

    Written ``LogNormal(loc, scale)`` or ``LogNormal(loc=, precision=)``, of log x, or ``LogNormal(mean=, sd=)``, of x.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 14.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(LogNormal(0.0, 2.0), np.array([0.0, 1.0, 2.0]))).round(4)
    array([   -inf, -1.6121, -2.3653])
    """

    oracle = "scipy.stats.lognorm(scale, scale=numpy.exp(loc))"

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @parametrisation(loc=finite, precision=positive)
    @staticmethod
    def by_precision(loc: Node, precision: Node) -> dict[str, Node]:
        return {"loc": loc, "inverse_scale": sqrt(precision), "log_scale": -0.5 * log(precision)}

    @parametrisation(mean=positive, sd=positive)
    @staticmethod
    def by_mean(mean: Node, sd: Node) -> dict[str, Node]:
        variance = log1p(square(sd / mean))
        return {
            "loc": log(mean) - 0.5 * variance,
            "inverse_scale": 1.0 / sqrt(variance),
            "log_scale": 0.5 * log(variance),
        }

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -0.5 * square(LogNormal.z(x, p)) - log_high(x) - (p.log_scale + 0.5 * math.log(2 * math.pi))

    @staticmethod
    def z(x: Node, p: Parameters) -> Node:
        """Next to loc with all digits."""
        log_x = log_parts(x)
        return ((log_x.high - p.loc) + log_x.rest) * p.inverse_scale

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return exp(p.loc + random.normal() / p.inverse_scale)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return exp(p.loc + 0.5 / square(p.inverse_scale))

    @staticmethod
    def median(p: Parameters) -> Node:
        return exp(p.loc)

    @staticmethod
    def variance(p: Parameters) -> Node:
        variance = 1.0 / square(p.inverse_scale)
        return exp(2.0 * p.loc + variance) * expm1(variance)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.loc + p.log_scale + 0.5 * math.log(2 * math.pi * math.e)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return exp(p.loc - 1.0 / square(p.inverse_scale))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return ndtr(LogNormal.z(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return ndtr(-LogNormal.z(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_ndtr(LogNormal.z(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_ndtr(-LogNormal.z(x, p))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return exp(p.loc - ndtri(q) / p.inverse_scale)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return exp(Normal.quantile(q, p))
