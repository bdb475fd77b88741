"""The log-logistic distribution."""

import math

from vecdist.constraints import Constraint, finite, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import infinite_where, log1p_at_zero, times
from vecdist.distributions.parts import Parts, log_parts
from vecdist.expr import Node, const, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, log, log_sigmoid, sigmoid, softplus
from vecdist.primitives.floating import polynomial
from vecdist.primitives.logarithms import logit
from vecdist.primitives.trigonometric import near_cos, near_sin

# (sin(t) / t - cos(t)) / t^2 in t^2
SLOPE = tuple((-1) ** k * (2 * k + 2) / math.factorial(2 * k + 3) for k in range(10))


class LogLogistic(Distribution):
    """Log-logistic distribution, f(x) = shape / scale z^(shape - 1) / (1 + z^shape)^2 with z = x / scale, for x >= 0.

    Written ``LogLogistic(scale, shape)``, or ``LogLogistic(loc=, scale=)``, those of the logistic distribution of log
    x.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 23.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(LogLogistic(2.0, 1.0), np.array([0.0, 2.0]))).round(4)
    array([-0.6931, -2.0794])
    """

    oracle = "scipy.stats.fisk(shape, scale=scale)"

    @parametrisation(scale=positive, shape=positive)
    @staticmethod
    def by_scale(scale: Node, shape: Node) -> dict[str, Node]:
        log_scale, rest = log_parts(scale)
        return {"shape": shape, "log_scale": log_scale, "log_scale_rest": rest, "inverse_scale": 1.0 / scale}

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_logarithm(loc: Node, scale: Node) -> dict[str, Node]:
        rest = const(0.0, loc.dtype)
        return {"shape": 1.0 / scale, "log_scale": loc, "log_scale_rest": rest, "inverse_scale": exp(-loc)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_power(x: Node, p: Parameters) -> Node:
        return p.shape * LogLogistic.log_ratio(x, p)

    @staticmethod
    def log_ratio(x: Node, p: Parameters) -> Node:
        """log(x / scale), whose rounding a large shape multiplies."""
        return (log_parts(x) - Parts(p.log_scale, p.log_scale_rest)).whole

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        rest = softplus(LogLogistic.log_power(x, p))
        rest = where(x > 0.0, rest, log1p_at_zero(x * p.inverse_scale))  # whose slope counts at a shape of 1
        powers = times(p.shape - 1.0, LogLogistic.log_ratio(x, p))
        return powers - 2.0 * rest + (log_parts(p.shape) - Parts(p.log_scale, p.log_scale_rest)).whole

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return sigmoid(LogLogistic.log_power(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return sigmoid(-LogLogistic.log_power(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_sigmoid(LogLogistic.log_power(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_sigmoid(-LogLogistic.log_power(x, p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.shape <= 1.0, exp(p.log_scale) * (math.pi / p.shape / LogLogistic.sine(p)))

    @staticmethod
    def variance(p: Parameters) -> Node:
        """scale^2 (t / sin(t))^2 (tan(t) / t - 1) with t = pi / shape, by a series where t is small."""
        t = math.pi / p.shape
        square_ = square(where(t < 1.0, t, 0.0))
        series = square_ * polynomial(square_, SLOPE) / near_cos(where(t < 1.0, t, 0.0))
        cosine = near_sin(math.pi / 2 * ((p.shape - 2.0) / p.shape))
        less = where(t < 1.0, series, near_sin(t) / (t * cosine) - 1.0)
        return infinite_where(p.shape <= 2.0, square(exp(p.log_scale) * (t / LogLogistic.sine(p))) * less)

    @staticmethod
    def sine(p: Parameters) -> Node:
        """sin(pi / shape), with the digits that a shape next to 1 has."""
        return near_sin(math.pi * where(p.shape < 2.0, p.shape - 1.0, 1.0) / p.shape)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return 2.0 + (p.log_scale - log(p.shape))

    @staticmethod
    def mode(p: Parameters) -> Node:
        inside = exp(p.log_scale + (log(p.shape - 1.0) - log(p.shape + 1.0)) / p.shape)
        return where(p.shape > 1.0, inside, 0.0)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return exp(p.log_scale + logit(q) / p.shape)
