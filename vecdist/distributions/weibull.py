"""The Weibull distribution."""

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, size, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import INFINITY, at_least, format_of
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import lgamma
from vecdist.special.formulas import EULER, exp_of_log, gamma_spread, times
from vecdist.special.parts import NOTHING, Parts, difference, log_of_minus_log, log_ratio_parts


def _log_density(x: Node, shape: Node, scale: Node) -> Node:
    ratio = log_ratio_parts(x, scale)
    return times(shape - 1.0, ratio.whole) - ratio.times(shape).exp() + log_quotient(shape, scale)


def _log_density_partials(x: Node, shape: Node, scale: Node, out: Node) -> tuple[Node, ...]:
    """With a slope of the hazard that counts where the shape is 1 alone, if x is nearly 0 or the hazard no number."""
    ratio, inverse = log_ratio_parts(x, scale), 1.0 / size(x)
    hazard, form = where(x > 0.0, ratio.times(shape).exp(), 0.0), format_of(x)
    lost = eq(inverse, INFINITY) | (eq(shape, 1.0) & (hazard < form.smallest_normal * 2.0**form.fraction))
    of_x = times(shape - 1.0, inverse) - where(lost, shape * (1.0 / scale), shape * (hazard * inverse))
    of_shape = 1.0 / shape + (ratio.whole - times(hazard, ratio.whole))
    return of_x, of_shape, (hazard - 1.0) * (shape * (1.0 / scale))


log_density: Primitive = primitive(
    "weibull_log_density", 3, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.1, 3.0), (0.3, 4.0), (0.5, 2.0)),
)


class Weibull(Distribution):
    """Weibull distribution, f(x) = shape / scale z^(shape - 1) exp(-z^shape) with z = x / scale, for x >= 0.

    Written ``Weibull(shape, scale)``.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 21.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Weibull(2.0, 1.0), np.array([0.0, 1.0]))).round(4)
    array([   -inf, -0.3069])
    """

    oracle = "scipy.stats.weibull_min(shape, scale=scale)"

    @parametrisation(shape=positive, scale=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node) -> dict[str, Node]:
        return {"shape": shape, "scale": scale, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_density(x, p.shape, p.scale)

    @staticmethod
    def log_ratio(x: Node, p: Parameters) -> Parts:
        """log(x / scale), in two parts because a large shape multiplies it."""
        return log_ratio_parts(x, p.scale)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        power = Weibull.log_ratio(x, p).times(p.shape).exp()
        return -where(x > 0.0, power, x * p.inverse_scale)  # at 0 its slope only counts where the shape is 1

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return exp(at_least(Weibull.log_sf(x, p), NOTHING))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(at_least(Weibull.log_sf(x, p), NOTHING))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        """By the logarithm of the hazard where that may underflow."""
        log_hazard = Weibull.log_ratio(x, p).times(p.shape).whole
        return where(log_hazard < -40.0, log_hazard, log1mexp(at_least(Weibull.log_sf(x, p), NOTHING)))

    @staticmethod
    def upper_quantile_of_log(y: Node, p: Parameters) -> Node:
        return exp(p.log_scale + log(-y) / p.shape)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        log_z = log_of_minus_log(difference(const(1.0, q.dtype), q), -log1p(-q)) / p.shape
        return exp_of_log(log_z) / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> Node:
        return exp(lgamma(1.0 + 1.0 / p.shape)) / p.inverse_scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(Weibull.mean(p) / p.shape) * gamma_spread(-1.0 / p.shape)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return 1.0 + EULER - EULER / p.shape + (p.log_scale - log(p.shape))

    @staticmethod
    def mode(p: Parameters) -> Node:
        inside = exp(p.log_scale + log1p(-1.0 / p.shape) / p.shape)
        return where(p.shape > 1.0, inside, 0.0)
