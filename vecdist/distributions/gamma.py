"""The gamma distribution."""

import math

from vecdist.constraints import Constraint, finite, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const
from vecdist.primitives.arithmetic import maximum, square
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.rounding import quotient_rest
from vecdist.special.error_functions import lgamma, xlogy
from vecdist.special.gamma_mass import (
    gammainc_of_product,
    gammaincc_of_product,
    log_gammainc_of_product,
    log_gammaincc_of_product,
)
from vecdist.special.incomplete_gamma import gammainccinv, gammaincinv
from vecdist.special.stirling import digamma_part, lgamma_excess


class Gamma(Distribution):
    """Gamma distribution, f(x) = x^(shape - 1) exp(-x / scale) / (Γ(shape) scale^shape) for x >= 0.

    Written ``Gamma(shape, scale)``, ``Gamma(shape=, rate=)``, ``Gamma(shape=, log_rate=)``, ``Gamma(shape=, mean=)`` or
    ``Gamma(mean=, sd=)``.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 17.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Gamma(2.0, 0.5), np.array([1.0, 3.0]))).round(4)
    array([-0.6137, -3.5151])
    """

    oracle = "scipy.stats.gamma(shape, scale=scale)"

    @parametrisation(shape=positive, scale=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node) -> dict[str, Node]:
        rest = quotient_rest(const(1.0, scale.dtype), scale)
        return {"shape": shape, "rate": 1.0 / scale, "rate_rest": rest, "log_rate": -log(scale)}

    @parametrisation(shape=positive, rate=positive)
    @staticmethod
    def by_rate(shape: Node, rate: Node) -> dict[str, Node]:
        return {"shape": shape, "rate": rate, "rate_rest": const(0.0, rate.dtype), "log_rate": log(rate)}

    @parametrisation(shape=positive, log_rate=finite)
    @staticmethod
    def by_log_rate(shape: Node, log_rate: Node) -> dict[str, Node]:
        return {"shape": shape, "rate": exp(log_rate), "rate_rest": const(0.0, log_rate.dtype), "log_rate": log_rate}

    @parametrisation(shape=positive, mean=positive)
    @staticmethod
    def by_mean(shape: Node, mean: Node) -> dict[str, Node]:
        rate = shape / mean
        return {"shape": shape, "rate": rate, "rate_rest": const(0.0, rate.dtype), "log_rate": log(rate)}

    @parametrisation(mean=positive, sd=positive)
    @staticmethod
    def by_moments(mean: Node, sd: Node) -> dict[str, Node]:
        rate = mean / sd / sd
        return {"shape": square(mean / sd), "rate": rate, "rate_rest": const(0.0, rate.dtype), "log_rate": log(rate)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return xlogy(p.shape - 1.0, x) - x * p.rate + (p.shape * p.log_rate - lgamma(p.shape))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return random.gamma(p.shape) / p.rate

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.shape / p.rate

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.shape / square(p.rate)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        spread = digamma_part(p.shape, -1.0) + lgamma_excess(p.shape)
        return (spread + 0.5 * math.log(2 * math.pi)) + (0.5 * log(p.shape) - p.log_rate)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(p.shape - 1.0, 0.0) / p.rate

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return gammainc_of_product(p.shape, x, p.rate, p.rate_rest)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return gammaincc_of_product(p.shape, x, p.rate, p.rate_rest)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_gammainc_of_product(p.shape, x, p.rate, p.rate_rest)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_gammaincc_of_product(p.shape, x, p.rate, p.rate_rest)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return gammaincinv(p.shape, q) / p.rate

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return gammainccinv(p.shape, q) / p.rate
