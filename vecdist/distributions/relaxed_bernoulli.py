"""The relaxed Bernoulli distribution."""

from typing import NamedTuple

from vecdist.constraints import Constraint, finite, open_unit_interval, positive, unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, size, square
from vecdist.primitives.elementary import expm1, log, log1p, log_sigmoid, sigmoid, softplus
from vecdist.primitives.floating import INFINITY, format_of
from vecdist.primitives.logarithms import logit
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.formulas import times, with_slopes_of
from vecdist.special.parts import Parts, logit_parts
from vecdist.special.sigmoid_moments import of_logistic

# sigmoid(y), with no slope where that is 0, though y fall infinitely fast.
share_of_log_odds: Primitive = primitive(
    "share_of_log_odds", expand=sigmoid, floating=True, domain=((-30.0, 30.0),), oracle="scipy.special.expit",
    tangent=lambda dots, y, out: None if dots[0] is None else times(out * sigmoid(-y), dots[0]),
)


class _Sides(NamedTuple):
    """The ``log_odds`` t logit(x) - logit(p), as they stand: they are small in the middle though both terms be large.

    Of both sides of their zero one is the ``lower``.
    """

    log_odds: Node
    lower: Node

    @property
    def excess(self) -> Node:
        """Minus their absolute value."""
        return where(self.lower, self.log_odds, -self.log_odds)


def _sides(x: Node, temperature: Node, log_odds: Node) -> _Sides:
    found = temperature * logit(x) - log_odds
    return _Sides(found, found < 0.0)


def _log_density(x: Node, temperature: Node, log_odds: Node) -> Node:
    sides = _sides(x, temperature, log_odds)
    powers = times(temperature - 1.0, logit(x))
    nearer = where(sides.lower, powers - log_odds, log_odds - powers) - 2.0 * where(sides.lower, log1p(-x), log(x))
    return log(temperature) + nearer - 2.0 * softplus(sides.excess)


def _log_density_partials(x: Node, temperature: Node, log_odds: Node, out: Node) -> tuple[Node, ...]:
    """That in x with the slope at the nearer end, which counts at a temperature of 1 alone, where digits are lost."""
    sides, form, even = _sides(x, temperature, log_odds), format_of(x), eq(temperature, 1.0)
    lower, inverse = sides.lower, 1.0 / (size(x) * (1.0 - x))
    near, steep = where(lower, x, 1.0 - x), where(lower, logit(x), -logit(x))
    at_end = -where(lower, expm1(-log_odds), expm1(log_odds))
    at_zero = with_slopes_of(near, near * where(even, 1.0 - at_end, 0.0))
    tail = where(near > 0.0, sigmoid(sides.excess), at_zero)
    lost = eq(temperature * inverse, INFINITY) | (even & (near + tail < form.smallest_normal * 2.0**form.fraction))
    bent = with_slopes_of(at_end, at_end + near * square(at_end))
    rest = where(lost, bent, 1.0 / where(lower, 1.0 - x, x) - tail * (temperature * inverse))
    slope = times(temperature - 1.0, inverse) + 2.0 * rest
    of_temperature = (1.0 / temperature + steep) - 2.0 * times(tail, steep)
    return where(lower, slope, -slope), of_temperature, where(lower, 2.0 * tail - 1.0, 1.0 - 2.0 * tail)


log_density: Primitive = primitive(
    "relaxed_bernoulli_log_density", 3, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.01, 0.99), (0.3, 4.0), (-3.0, 3.0)),
)


class RelaxedBernoulli(Distribution):
    """Relaxed Bernoulli distribution, f(x) = t o (x (1 - x))^(t - 1) / (o (1 - x)^t + x^t)^2 for 0 <= x <= 1.

    Written ``RelaxedBernoulli(temperature, p)`` or ``RelaxedBernoulli(temperature=, logit=)``, t being the temperature
    and o = exp(logit) = p / (1 - p).
    Maddison, Mnih and Teh (2017), The Concrete distribution, equation (24).

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(RelaxedBernoulli(1.0, 0.5), np.array([0.0, 0.25]))).round(4)
    array([0., 0.])
    """

    @parametrisation(temperature=positive, p=open_unit_interval)
    @staticmethod
    def by_probability(temperature: Node, p: Node) -> dict[str, Node]:
        high, rest = logit_parts(p)
        return {"temperature": temperature, "logit": logit(p), "logit_high": high, "logit_rest": rest}

    @parametrisation(temperature=positive, logit=finite)
    @staticmethod
    def by_logit(temperature: Node, logit: Node) -> dict[str, Node]:
        zero = const(0.0, logit.dtype)
        return {"temperature": temperature, "logit": logit, "logit_high": logit, "logit_rest": zero}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return unit_interval

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_density(x, p.temperature, p.logit)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return sigmoid(RelaxedBernoulli.tail_odds(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return sigmoid(-RelaxedBernoulli.tail_odds(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_sigmoid(RelaxedBernoulli.tail_odds(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_sigmoid(-RelaxedBernoulli.tail_odds(x, p))

    @staticmethod
    def tail_odds(x: Node, p: Parameters) -> Node:
        """The log odds with all digits where they are a small difference."""
        return (logit_parts(x).times(p.temperature) - Parts(p.logit_high, p.logit_rest)).whole

    @staticmethod
    def mean(p: Parameters) -> Node:
        """By an integral, as the variance."""
        mean, _ = of_logistic(where(p.logit < 0.0, p.logit, -p.logit) / p.temperature, 1.0 / p.temperature)
        return where(p.logit < 0.0, mean, 1.0 - mean)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return of_logistic(where(p.logit < 0.0, p.logit, -p.logit) / p.temperature, 1.0 / p.temperature)[1]

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return share_of_log_odds((logit(q) + p.logit) / p.temperature)
