"""The exponentially modified Gaussian distribution."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.ex_gaussian_tails import (
    ex_gaussian_below,
    ex_gaussian_beyond,
    log_ex_gaussian_below,
    log_ex_gaussian_beyond,
)
from vecdist.distributions.stream import Stream
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log
from vecdist.primitives.normal_tail import erfcx, log_ndtr


class ExGaussian(Distribution):
    """Exponentially modified Gaussian distribution, f(x) = rate exp(s^2 / 2 - s z) Phi(z - s) with s = rate scale.

    Written ``ExGaussian(loc, scale, rate)``, or ``ExGaussian(loc=, scale=, nu=)`` with nu = 1 / rate; z is (x - loc) /
    scale, and x the sum of a normal and an exponential variable.
    Grushka (1972), Characterization of exponentially modified Gaussian peaks in chromatography, Analytical Chemistry
    44.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(ExGaussian(0.0, 1.0, 2.0), np.array([-40.0, 0.0, 3.0]))).round(4)
    array([-803.964 ,   -1.09  ,   -3.4796])
    """

    oracle = "scipy.stats.exponnorm(1 / (scale * rate), loc, scale)"

    @parametrisation(loc=finite, scale=positive, rate=positive)
    @staticmethod
    def by_rate(loc: Node, scale: Node, rate: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "rate": rate, "ratio": rate * scale}

    @parametrisation(loc=finite, scale=positive, nu=positive)
    @staticmethod
    def by_mean(loc: Node, scale: Node, nu: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "rate": 1.0 / nu, "ratio": scale / nu}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def log_excess(x: Node, p: Parameters) -> Node:
        """log(f(x) / rate): the square of the ratio cancels in the lower tail, the scale in rate * scale * z above."""
        z = (x - p.loc) / p.scale
        lower = log(0.5 * erfcx(math.sqrt(0.5) * (p.ratio - z))) - 0.5 * square(z)
        upper = log_ndtr(z - p.ratio) - (p.rate * (x - p.loc) - 0.5 * square(p.ratio))
        return where(z < p.ratio, lower, upper)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log(p.rate) + ExGaussian.log_excess(x, p)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return ex_gaussian_below(x, p.loc, p.scale, p.rate)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return ex_gaussian_beyond(x, p.loc, p.scale, p.rate)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_ex_gaussian_below(x, p.loc, p.scale, p.rate)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_ex_gaussian_beyond(x, p.loc, p.scale, p.rate)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.loc + p.scale * random.normal() + random.exponential() / p.rate

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + 1.0 / p.rate

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) + square(1.0 / p.rate)
