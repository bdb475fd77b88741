"""The exponentiated Weibull distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, size
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import INFINITY, at_least, polynomial
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.formulas import exp_of_log, times
from vecdist.special.parts import NOTHING, Parts, log_ratio_parts

FEW = 1.0  # a hazard of whose share a series has all digits
BERNOULLI = 1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330
SERIES = tuple(b / ((2 * n) * math.factorial(2 * n)) for n, b in enumerate(BERNOULLI, 1))  # DLMF 4.19.7, 24.2.1
SLOPES = tuple(2 * n * c for n, c in enumerate(SERIES, 1))
FAR = -40.0  # a logarithm of what is nothing beside 1


def _log_share(hazard: Node) -> Node:
    """By the logarithm of sinh(t / 2) / (t / 2) where the hazard t is small."""
    few = hazard < FEW
    small = where(few, hazard, 0.0)
    series = small * (small * polynomial(small * small, SERIES) - 0.5)
    large = where(few, 1.0, hazard)
    return where(few, series, log1mexp(-large) - log(large))


def slope_of_share(hazard: Node) -> Node:
    """The derivative of ``log_share``."""
    few = hazard < FEW
    small, large = where(few, hazard, 0.0), where(few, 1.0, hazard)
    series = small * polynomial(small * small, SLOPES) - 0.5
    return where(few, series, 1.0 / expm1(large) - 1.0 / large)


log_share: Primitive = primitive(  # log((1 - exp(-t)) / t) for t >= 0
    "log_share_of_hazard", expand=_log_share, partials=lambda hazard, out: (slope_of_share(hazard),), floating=True,
    domain=((0.0, 30.0),),
)


def _log_density(x: Node, shape: Node, scale: Node, power: Node) -> Node:
    ratio = log_ratio_parts(x, scale)
    hazard = ratio.times(shape).exp()
    rising = times(power * shape - 1.0, ratio.whole) + times(power - 1.0, log_share(hazard))
    return rising - hazard + (log_quotient(shape, scale) + log(power))


def _log_density_partials(x: Node, shape: Node, scale: Node, power: Node, out: Node) -> tuple[Node, ...]:
    """At 0 a hazard over x counts where the power of x is 0 alone."""
    ratio, inverse = log_ratio_parts(x, scale), 1.0 / size(x)
    hazard = where(x > 0.0, ratio.times(shape).exp(), 0.0)
    rest = 1.0 - times(power - 1.0, slope_of_share(hazard))
    limit = where(shape < 1.0, INFINITY, where(shape > 1.0, 0.0, 1.0 / scale))
    at_end = where(eq(power * shape, 1.0), limit, 0.0)
    falling = where(eq(inverse, INFINITY), at_end, rest * (shape * (hazard * inverse)))
    of_x = times(power * shape - 1.0, inverse) - falling
    of_shape = 1.0 / shape + (power * ratio.whole - rest * times(hazard, ratio.whole))
    of_scale = (rest * hazard - power) * (shape * (1.0 / scale))
    return of_x, of_shape, of_scale, 1.0 / power + (shape * ratio.whole + log_share(hazard))


log_density: Primitive = primitive(
    "exponentiated_weibull_log_density", 4, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.1, 3.0), (0.3, 4.0), (0.5, 2.0), (0.3, 3.0)),
)


class ExponentiatedWeibull(Distribution):
    """Exponentiated Weibull distribution, F(x) = (1 - exp(-(x / scale)^shape))^power for x >= 0.

    Written ``ExponentiatedWeibull(shape, scale, power)``; it is ``Weibull(shape, scale)`` with a ``power`` of 1.
    Mudholkar and Srivastava (1993), Exponentiated Weibull family for analyzing bathtub failure-rate data, IEEE
    Transactions on Reliability 42.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(ExponentiatedWeibull(2.0, 1.0, 1.0), np.array([0.0, 1.0]))).round(4)
    array([   -inf, -0.3069])
    """

    oracle = "scipy.stats.exponweib(power, shape, scale=scale)"

    @parametrisation(shape=positive, scale=positive, power=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node, power: Node) -> dict[str, Node]:
        return {"shape": shape, "scale": scale, "power": power}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_hazard(x: Node, p: Parameters) -> Parts:
        """shape log(x / scale), in two parts because the logarithm is multiplied."""
        return log_ratio_parts(x, p.scale).times(p.shape)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_density(x, p.shape, p.scale, p.power)

    @staticmethod
    def log_base(x: Node, p: Parameters) -> Node:
        """The logarithm of the Weibull distribution function, by that of the hazard where it may underflow."""
        log_hazard = ExponentiatedWeibull.log_hazard(x, p)
        return where(log_hazard.whole < FAR, log_hazard.whole, log1mexp(at_least(-log_hazard.exp(), NOTHING)))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return p.power * ExponentiatedWeibull.log_base(x, p)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return exp(ExponentiatedWeibull.log_cdf(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return -expm1(ExponentiatedWeibull.log_cdf(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        """That of power exp(-hazard) where there is no more."""
        hazard = ExponentiatedWeibull.log_hazard(x, p).exp()
        far = log(p.power) - hazard
        return where((far < FAR) & (hazard > -FAR), far, log1mexp(ExponentiatedWeibull.log_cdf(x, p)))

    @staticmethod
    def placed(log_base: Node, p: Parameters) -> Node:
        """Where the Weibull distribution function has this logarithm."""
        log_hazard = where(log_base < FAR, log_base, log(-log1mexp(log_base)))
        return exp_of_log(log_hazard / p.shape) * p.scale

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return ExponentiatedWeibull.placed(log(q) / p.power, p)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return ExponentiatedWeibull.placed(log1p(-q) / p.power, p)
