"""The generalized extreme value distribution."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least
from vecdist.primitives.logarithms import log1mexp
from vecdist.special.error_functions import lgamma
from vecdist.special.formulas import (
    EULER,
    expm1_over,
    gamma_rise,
    gamma_spread,
    infinite_where,
    log1p_by,
    power_decay,
    power_tail,
)
from vecdist.special.parts import difference


class GeneralizedExtremeValue(Distribution):
    """Generalized extreme value distribution, f(x) = t^(shape + 1) exp(-t) / scale with t = (1 + shape z)^(-1 / shape).

    Written ``GeneralizedExtremeValue(loc, scale, shape)``; z is (x - loc) / scale, and t is exp(-z) where the shape is
    0. A positive shape has a heavy upper tail, a negative one an upper end: SciPy's has the other sign.
    Coles (2001), An Introduction to Statistical Modeling of Extreme Values, section 3.1.3.

    >>> import numpy as np, vecdist
    >>> at_two = vecdist.logpdf(GeneralizedExtremeValue(0.0, 1.0, np.array([-0.5, 0.0, 0.5])), 1.5)
    >>> np.asarray(at_two).round(4)
    array([-1.4488, -1.7231, -2.0054])
    """

    oracle = "scipy.stats.genextreme(-shape, loc, scale)"

    @parametrisation(loc=finite, scale=positive, shape=finite)
    @staticmethod
    def by_shape(loc: Node, scale: Node, shape: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "shape": shape}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        end = p.loc - p.scale / p.shape
        lower, upper = where(p.shape > 0.0, end, -math.inf), where(p.shape < 0.0, end, math.inf)
        return Constraint("a number that the shape allows", lower, upper, open_lower=True)

    @staticmethod
    def log_t(x: Node, p: Parameters) -> Node:
        return -log1p_by(p.shape, *difference(x, p.loc), p.scale)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        density = power_decay(p.shape, *difference(x, p.loc), p.scale) - log(p.scale)
        return where(eq(x, math.inf), -math.inf, density)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return -power_tail(p.shape, *difference(x, p.loc), p.scale)

    @staticmethod
    def least_log_cdf(x: Node, p: Parameters) -> Node:
        """No less than what has 0 as its exponential, and a slope of 0 there."""
        return at_least(GeneralizedExtremeValue.log_cdf(x, p), -1e3)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return exp(GeneralizedExtremeValue.least_log_cdf(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return -expm1(GeneralizedExtremeValue.least_log_cdf(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        """log(1 - exp(-t)), which is log(t) long before t underflows."""
        log_t = GeneralizedExtremeValue.log_t(x, p)
        return where(log_t < -40.0, log_t, log1mexp(GeneralizedExtremeValue.least_log_cdf(x, p)))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * expm1_over(p.shape, -log(-log(q)))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * expm1_over(p.shape, -log(-log1p(-q)))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.shape >= 1.0, p.loc + p.scale * gamma_rise(p.shape))

    @staticmethod
    def variance(p: Parameters) -> Node:
        of_mean = exp(lgamma(1.0 - p.shape))
        return infinite_where(p.shape >= 0.5, square(p.scale * of_mean) * gamma_spread(p.shape))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + (1.0 + EULER + EULER * p.shape)

    @staticmethod
    def mode(p: Parameters) -> Node:
        inside = p.loc + p.scale * expm1_over(p.shape, -log1p(p.shape))
        return where(p.shape > -1.0, inside, p.loc - p.scale / p.shape)
