"""The Fréchet distribution."""

import math

from vecdist.constraints import Constraint, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import EULER, gamma_spread, log1mexp_of_exp
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.special import lgamma


class Frechet(Distribution):
    """Fréchet distribution, f(x) = shape / scale z^(-shape - 1) exp(-z^(-shape)) with z = x / scale, for x > 0.

    Written ``Frechet(shape, scale)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 22.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Frechet(2.0, 1.0), np.array([0.0, 1.0]))).round(4)
    array([   -inf, -0.3069])
    """

    oracle = "scipy.stats.invweibull(shape, scale=scale)"

    @parametrisation(shape=positive, scale=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node) -> dict[str, Node]:
        return {"shape": shape, "scale": scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        log_x = log(x)
        log_z = log_x - p.log_scale
        return log(p.shape) - log_x - (p.shape * log_z + exp(-p.shape * log_z))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return -exp(-p.shape * (log(x) - p.log_scale))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return -expm1(Frechet.log_cdf(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log1mexp_of_exp(p.shape * (log(x) - p.log_scale))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.scale * exp(-log(-log(q)) / p.shape)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return where(p.shape > 1.0, p.scale * exp(lgamma(1.0 - 1.0 / p.shape)), math.inf)

    @staticmethod
    def variance(p: Parameters) -> Node:
        a = 1.0 / p.shape
        return where(p.shape > 1.0, square(a * Frechet.mean(p)) * gamma_spread(a), math.nan)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return 1.0 + EULER + EULER / p.shape + (p.log_scale - log(p.shape))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.scale * exp(-log1p(1.0 / p.shape) / p.shape)
