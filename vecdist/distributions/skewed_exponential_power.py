"""The skewed exponential power distribution."""

import math
from typing import NamedTuple

from vecdist.constraints import Constraint, finite, open_unit_interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import exp, log, log1p, log_twice
from vecdist.primitives.floating import at_least, binary, format_of, lifted, log_fraction
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.distance_power import shared_distance_power
from vecdist.special.error_functions import lgamma, lgamma_delta
from vecdist.special.exponential_power_mass import exponential_power_tail, log_exponential_power_tail
from vecdist.special.formulas import lgamma_reciprocal, times
from vecdist.special.gamma_quantiles import OVER_SHAPE, log_root
from vecdist.special.parts import Parts, difference, log_parts


def _log_less_one(x: Node) -> Node:
    """The 1 is taken from the part of the logarithm that is exact."""
    taken, (high, low) = binary(*lifted(x)), format_of(x).ln2
    return (taken.k * high - 1.0) + (taken.k * low + log_fraction(taken.f))


log_less_one: Primitive = primitive(  # log(x) - 1 for finite x > 0
    "log_less_one", expand=_log_less_one, partials=lambda x, out: (1.0 / x,), floating=True, domain=((0.1, 30.0),),
)
log_over: Primitive = primitive(  # log(x) / x
    "log_over", expand=lambda x: log(x) / x, partials=lambda x, out: (-log_less_one(x) * square(1.0 / x),),
    floating=True, domain=((0.1, 30.0),),
)

FLAT = -39.0  # log|z|^power up to which the density is that of the peak
MOST = 800.0  # what is a tail of 0 when its logarithm is below minus that


class Middle(NamedTuple):
    """``distance``, log|z|, and whether that is ``near`` the peak, where both tails change in proportion to it."""

    distance: Parts
    near: Node
    lower: Node
    upper: Node


class SkewedExponentialPower(Distribution):
    """Skewed exponential power distribution, f(x) = exp(-|z|^power / power) / (2 scale power^(1/power) Γ(1 + 1/power)).

    Written ``SkewedExponentialPower(loc, scale, power, skew)``; z is (x - loc) / (2 scale skew) below loc and (x - loc)
    / (2 scale (1 - skew)) above, so that ``skew`` is the probability below loc.  At its peak the derivatives in x and
    loc are 0, and so are the second ones unless the power is 2; they are those above loc.
    Zhu and Zinde-Walsh (2009), Properties and estimation of asymmetric exponential power distribution, Journal of
    Econometrics 148.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(SkewedExponentialPower(0.0, 1.0, 2.0, 0.75), np.array([-1.5, 0.0, 1.0]))).round(4)
    array([-1.4189, -0.9189, -2.9189])
    """

    @parametrisation(loc=finite, scale=positive, power=positive, skew=open_unit_interval)
    @staticmethod
    def by_scale(loc: Node, scale: Node, power: Node, skew: Node) -> dict[str, Node]:
        right = difference(const(1.0, skew.dtype), skew)
        return {
            "loc": loc, "scale": scale, "power": power,
            "left": 2.0 * skew, "right": 2.0 * right.high, "right_rest": 2.0 * right.rest,
        }

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def side(x: Node, p: Parameters) -> Parts:
        """What the scale is multiplied by on the side of x."""
        return Parts(where(x < p.loc, p.left, p.right), where(x < p.loc, 0.0, p.right_rest))

    @staticmethod
    def log_distance(x: Node, p: Parameters) -> Parts:
        """log|z|."""
        side = SkewedExponentialPower.side(x, p)
        return difference(x, p.loc).magnitude().log() - log_parts(p.scale) - side.log()

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        constant = lgamma_reciprocal(p.power) + log_over(p.power) + log_twice(p.scale)
        side = SkewedExponentialPower.side(x, p)
        return -shared_distance_power(*difference(x, p.loc), p.scale, *side, p.power) - constant

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def middle(x: Node, p: Parameters) -> Middle:
        distance = SkewedExponentialPower.log_distance(x, p)
        near = distance.high * p.power < FLAT
        height = exp(-lgamma_reciprocal(p.power) - log_over(p.power))
        rise = times(where(near, (x - p.loc) / p.scale, 0.0), height)
        safe = Parts(where(near, 0.0, distance.high), distance.rest)
        return Middle(safe, near, 0.5 * (p.left + rise), 0.5 * (p.right - rise))

    @staticmethod
    def share(x: Node, p: Parameters) -> Node:
        """The probability of all that is on the same side of loc."""
        return 0.5 * where(x < p.loc, p.left, p.right)

    @staticmethod
    def tails(x: Node, p: Parameters) -> tuple[Node, Node]:
        """Both, the lower one first."""
        middle, below = SkewedExponentialPower.middle(x, p), x < p.loc
        tail = SkewedExponentialPower.share(x, p) * exponential_power_tail(p.power, *middle.distance)
        lower, upper = where(below, tail, 1.0 - tail), where(below, 1.0 - tail, tail)
        return where(middle.near, middle.lower, lower), where(middle.near, middle.upper, upper)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return SkewedExponentialPower.tails(x, p)[0]

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return SkewedExponentialPower.tails(x, p)[1]

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """At loc with the slope that it has on either side: its distance has none there."""
        above = q - 0.5 * p.left
        lower, per_density = above < 0.0, 2.0 * p.scale * exp(lgamma_reciprocal(p.power) + log_over(p.power))
        share, sign = where(lower, p.left, p.right), where(lower, -p.scale, p.scale)
        beyond = 2.0 * where(lower, q, 1.0 - q) / share
        away = sign * share * exp(log_root(const(OVER_SHAPE, q.dtype), 1.0 / p.power, beyond))
        return p.loc + where(eq(above, 0.0), times(above, per_density), away)

    @staticmethod
    def moment(p: Parameters, order: int) -> Node:
        """The mean of the distance from loc to some power, in units of the scale on both sides."""
        return exp(order / p.power * log(p.power) + lgamma_delta(1.0 / p.power, order / p.power))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        size = exp((log(p.power) + random.log_gamma(1.0 / p.power)) / p.power)
        return p.loc + p.scale * where(random.uniform() < 0.5 * p.left, -p.left * size, p.right * size)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + p.scale * (p.right - p.left) * SkewedExponentialPower.moment(p, 1)

    @staticmethod
    def variance(p: Parameters) -> Node:
        cubes = 0.5 * (p.left * square(p.left) + p.right * square(p.right))
        first = (p.right - p.left) * SkewedExponentialPower.moment(p, 1)
        return square(p.scale) * (cubes * SkewedExponentialPower.moment(p, 2) - square(first))

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return (1.0 + log(p.power)) / p.power + lgamma(1.0 + 1.0 / p.power) + (log(p.scale) + math.log(2))

    @staticmethod
    def log_tails(x: Node, p: Parameters) -> tuple[Node, Node]:
        """The logarithms of both, the lower one first."""
        middle, below = SkewedExponentialPower.middle(x, p), x < p.loc
        tail = log(SkewedExponentialPower.share(x, p)) + log_exponential_power_tail(p.power, *middle.distance)
        rest = log1p(-exp(at_least(tail, -MOST)))
        sides = (middle.lower, middle.upper), (middle.upper, middle.lower)
        lower, upper = (where(one < 0.5, log(one), log1p(-other)) for one, other in sides)
        return where(middle.near, lower, where(below, tail, rest)), where(middle.near, upper, where(below, rest, tail))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return SkewedExponentialPower.log_tails(x, p)[0]

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return SkewedExponentialPower.log_tails(x, p)[1]
