"""The log-logistic distribution."""

import math

from vecdist.constraints import Constraint, finite, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, size, square
from vecdist.primitives.elementary import exp, log, log_sigmoid, sigmoid, softplus
from vecdist.primitives.floating import INFINITY, format_of, polynomial
from vecdist.primitives.logarithms import logit
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import near_cos, near_sin
from vecdist.special.formulas import exp_of_log, infinite_where, times, with_slopes_of
from vecdist.special.parts import Parts, log_parts

# (sin(t) / t - cos(t)) / t^2 in t^2
SLOPE = tuple((-1) ** k * (2 * k + 2) / math.factorial(2 * k + 3) for k in range(10))


def _log_density(x: Node, shape: Node, log_scale: Node, rest: Node, inverse_scale: Node) -> Node:
    scale = Parts(log_scale, rest)
    ratio = (log_parts(x) - scale).whole
    return times(shape - 1.0, ratio) - 2.0 * softplus(shape * ratio) + (log_parts(shape) - scale).whole


def _log_density_partials(
    x: Node, shape: Node, log_scale: Node, rest: Node, inverse_scale: Node, out: Node
) -> tuple[Node | None, ...]:
    """With a share below x, over x, that counts at a shape of 1 alone, if x is nearly 0 or the share no number."""
    ratio, inverse = (log_parts(x) - Parts(log_scale, rest)).whole, 1.0 / size(x)
    even, form = eq(shape, 1.0), format_of(x)
    share = where(x > 0.0, sigmoid(shape * ratio), with_slopes_of(x, x * where(even, inverse_scale, 0.0)))
    lost = eq(inverse, INFINITY) | (even & (share < form.smallest_normal * 2.0**form.fraction))
    bent = with_slopes_of(inverse_scale, inverse_scale - x * square(inverse_scale))
    of_x = times(shape - 1.0, inverse) - 2.0 * where(lost, bent, shape * (share * inverse))
    of_shape = (ratio - 2.0 * times(share, ratio)) + 1.0 / shape
    return of_x, of_shape, shape * (2.0 * share - 1.0), None, None


log_density: Primitive = primitive(  # the logarithm of the scale is in two parts, beside its reciprocal
    "log_logistic_log_density", 5, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.1, 3.0), (0.3, 4.0), (-1.0, 1.0), (-1e-17, 1e-17), (0.5, 2.0)),
)


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
        return log_density(x, p.shape, p.log_scale, p.log_scale_rest, p.inverse_scale)

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
        return exp_of_log(p.log_scale + logit(q) / p.shape)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return exp_of_log(p.log_scale - logit(q) / p.shape)
