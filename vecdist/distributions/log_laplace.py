"""The log-Laplace distribution."""

import math

from vecdist.constraints import Constraint, nonnegative
from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.log_logistic import LogLogistic
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import size, square
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.formulas import exp_of_log, infinite_where, times
from vecdist.special.parts import Parts, log_parts


def _log_density(x: Node, shape: Node, log_scale: Node, rest: Node, inverse_scale: Node) -> Node:
    scale = Parts(log_scale, rest)
    ratio = (log_parts(x) - scale).whole
    return times(where(ratio < 0.0, shape, -shape) - 1.0, ratio) + ((log_parts(shape) - scale).whole - math.log(2))


def _log_density_partials(
    x: Node, shape: Node, log_scale: Node, rest: Node, inverse_scale: Node, out: Node
) -> tuple[Node | None, ...]:
    """At the peak those of both sides in the middle, which are none in the size of log(x / scale)."""
    ratio = (log_parts(x) - Parts(log_scale, rest)).whole
    side = where(ratio < 0.0, shape, where(ratio > 0.0, -shape, 0.0))
    return times(side - 1.0, 1.0 / size(x)), 1.0 / shape - abs(ratio), -side, None, None


log_density: Primitive = primitive(  # the logarithm of the scale is in two parts, beside its reciprocal
    "log_laplace_log_density", 5, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.1, 3.0), (0.3, 4.0), (-1.0, 1.0), (-1e-17, 1e-17), (0.5, 2.0)),
)


class LogLaplace(Distribution):
    """Log-Laplace distribution, f(x) = shape / (2 scale) z^(shape - 1) for z = x / scale < 1, z^(-shape - 1) above.

    Written ``LogLaplace(scale, shape)``, or ``LogLaplace(loc=, scale=)``, those of the Laplace distribution of log x.
    Kozubowski and Podgórski (2003), Log-Laplace distributions, International Mathematical Journal 3.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(LogLaplace(2.0, 1.0), np.array([0.0, 1.0, 4.0]))).round(4)
    array([-1.3863, -1.3863, -2.7726])
    """

    oracle = "scipy.stats.loglaplace(shape, scale=scale)"

    by_scale, by_logarithm = LogLogistic.by_scale, LogLogistic.by_logarithm

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_power(x: Node, p: Parameters) -> Node:
        """shape log(x / scale)."""
        return p.shape * (log_parts(x) - Parts(p.log_scale, p.log_scale_rest)).whole

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_density(x, p.shape, p.log_scale, p.log_scale_rest, p.inverse_scale)

    @staticmethod
    def below(power: Node) -> Node:
        """The lower tail by the logarithm of its power."""
        return where(power < 0.0, 0.5 * exp(power), 1.0 - 0.5 * exp(-power))

    @staticmethod
    def log_below(power: Node) -> Node:
        return where(power < 0.0, power - math.log(2), log1p(-0.5 * exp(-power)))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return LogLaplace.below(LogLaplace.log_power(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return LogLaplace.below(-LogLaplace.log_power(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return LogLaplace.log_below(LogLaplace.log_power(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return LogLaplace.log_below(-LogLaplace.log_power(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return exp_of_log(p.log_scale + where(q < 0.5, log(2.0 * q), -log(2.0 * (1.0 - q))) / p.shape)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return exp_of_log(p.log_scale - where(q < 0.5, log(2.0 * q), -log(2.0 * (1.0 - q))) / p.shape)

    @staticmethod
    def mean(p: Parameters) -> Node:
        mean = exp(p.log_scale) * (p.shape / (p.shape - 1.0)) * (p.shape / (p.shape + 1.0))
        return infinite_where(p.shape <= 1.0, mean)

    @staticmethod
    def variance(p: Parameters) -> Node:
        c = p.shape
        ratio = exp(p.log_scale) * (c / (c - 1.0)) / (c + 1.0)
        return infinite_where(c <= 2.0, square(ratio) * ((2.0 * c * c + 1.0) / ((c - 2.0) * (c + 2.0))))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return (1 + math.log(2)) + (p.log_scale - log(p.shape))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return where(p.shape > 1.0, exp(p.log_scale), 0.0)
