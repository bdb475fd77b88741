"""The raised cosine distribution."""

import math
from typing import Any, NamedTuple

from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.compact import Compact
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import polynomial, width
from vecdist.primitives.rounding import product_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import QUARTER_TURN, near_cos, near_sin
from vecdist.special.circular_segment import segment_angle
from vecdist.special.ends import left_of
from vecdist.special.parts import Parts, difference

# The zero of 2 t tan(t) - 1, over pi / 2 in two parts, and t / cos(t) there
ZERO = {8: (0.41588535442233854, 7.158052056277053e-18), 4: (0.41588536, -4.626505e-09)}
ZERO_OVER_COSINE = 0.8226562124531308


class Sides(NamedTuple):
    """The cosine and the sine of t = pi z / 2, and the derivative of log cos(t) times what rounding took from t."""

    cosine: Node
    sine: Node
    rest: Node


def _sides(distance: Node, rest: Node, scale: Node) -> Sides:
    """Next to the ends by what is left to a quarter turn."""
    left = left_of(scale, distance, rest)
    middle = left.high > 0.5 * scale
    part = Parts(where(middle, distance, left.high), where(middle, rest, left.rest)).over(scale)
    high, low = QUARTER_TURN[width(scale)]
    angle = part.times(const(high, scale.dtype))
    cosine, sine = near_cos(angle.high), near_sin(angle.high)
    cosine, sine = where(middle, cosine, sine), where(middle, sine, cosine)
    lost = angle.rest + low * part.high
    return Sides(cosine, sine, where(middle, -lost, lost) * (sine * (1.0 / cosine)))


def _square(cosine: Node, sine: Node) -> Parts:
    """The square of a cosine, or 1 less that of the sine, of which rounding takes less where the sine is small."""
    less = square(sine)
    far = 1.0 - less
    small = sine < 0.5
    rest = where(small, ((1.0 - far) - less) - product_rest(sine, sine), product_rest(cosine, cosine))
    return Parts(where(small, far, square(cosine)), rest)


def _log_density(distance: Node, rest: Node, scale: Node) -> Node:
    """The logarithm of one quotient, which may be next to 1, where that is far from overflow."""
    cosine, sine, lost = _sides(distance, rest, scale)
    quotient = _square(cosine, sine).over(scale)
    inside = (quotient.high > 2.0**-60) & (quotient.high < 2.0**60)
    whole = log(where(inside, quotient.high, cosine))
    return where(inside, whole + (quotient.rest / quotient.high + 2.0 * lost), 2.0 * whole - log(scale))


def _slope(distance: Node, rest: Node, scale: Node) -> Node:
    cosine, sine, _ = _sides(distance, rest, scale)
    return -math.pi * (sine * ((1.0 / cosine) / scale))


def _slope_in_scale(distance: Node, rest: Node, scale: Node) -> Node:
    """That is 2 t tan(t) - 1 over the scale, t = pi z / 2, and made of the distance to its zero u:

    t tan(t) - u tan(u) = (t - u) tan(t) + u sin(t - u) / (cos(t) cos(u)), two terms of one sign.
    """
    cosine, sine, _ = _sides(distance, rest, scale)
    z, (high, low) = Parts(distance, rest).over(scale), ZERO[width(scale)]
    beyond = math.pi / 2 * ((z.high - high) + (z.rest - low))
    return 2.0 * (beyond * sine + ZERO_OVER_COSINE * near_sin(beyond)) * ((1.0 / cosine) / scale)


def _mixed(distance: Node, out: Node, scale: Node, secant: Node) -> Node:
    """The derivative of one slope in the argument of the other: out is that in the distance."""
    return (0.5 * square(math.pi / scale * secant) * distance - out) / scale


def _slope_partials(distance: Node, rest: Node, scale: Node, out: Node) -> tuple[Node, None, Node]:
    secant = 1.0 / _sides(distance, rest, scale).cosine
    return -0.5 * square(math.pi / scale * secant), None, _mixed(distance, out, scale, secant)


def _slope_in_scale_partials(distance: Node, rest: Node, scale: Node, out: Node) -> tuple[Node, None, Node]:
    """With 2 t tan(t) and its derivative; all terms are infinite at an end, of one sign."""
    secant, slope = 1.0 / _sides(distance, rest, scale).cosine, cosine_slope(distance, rest, scale)
    bend = 0.5 * square(math.pi * (distance / scale) * secant)
    of_scale = (1.0 + 2.0 * (distance * slope) - bend) / square(scale)
    return _mixed(distance, slope, scale, secant), None, of_scale


WITHIN: Any = {"floating": True, "domain": ((0.1, 1.0), (-1e-17, 1e-17), (2.0, 5.0))}
# log((1 + cos(pi z)) / (2 scale)), z = distance / scale, of a distance in two parts
cosine_log_density: Primitive = primitive(
    "cosine_log_density", 3, expand=_log_density, **WITHIN,
    partials=lambda *at: (cosine_slope(*at[:3]), None, cosine_slope_in_scale(*at[:3])),
)
cosine_slope: Primitive = primitive("cosine_slope", 3, expand=_slope, partials=_slope_partials, **WITHIN)
cosine_slope_in_scale: Primitive = primitive(
    "cosine_slope_in_scale", 3, expand=_slope_in_scale, partials=_slope_in_scale_partials, **WITHIN
)


# (t - sin(t)) / t^3 up to a quarter turn, by its power series
SERIES = {size: tuple((-1) ** k / math.factorial(2 * k + 3) for k in range(most)) for size, most in ((8, 10), (4, 6))}


def _tail(left: Node) -> Node:
    """(t - sin(t)) / (2 pi) with t = pi left, or pi - t next to the middle."""
    near = left < 0.5
    t = math.pi * where(near, left, 0.0)
    rise = near_sin(math.pi * (1.0 - where(near, 1.0, left)))
    series = t * square(t) * polynomial(square(t), SERIES[width(left)])
    return where(near, series / (2 * math.pi), 0.5 * left - rise / (2 * math.pi))


cosine_tail: Primitive = primitive(
    "cosine_tail", expand=_tail, partials=lambda left, out: (square(near_sin(math.pi / 2 * left)),), floating=True,
    domain=((0.1, 0.9),),
)


class Cosine(Compact, Distribution):
    """Raised cosine distribution, f(x) = (1 + cos(pi z)) / (2 scale) with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``Cosine(loc, scale)``.
    Rinne (2010), Location-Scale Distributions, section 5.2.3.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Cosine(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.6931, -1.3863,    -inf])
    """

    oracle = "scipy.stats.cosine(loc, scale / numpy.pi)"

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        distance = difference(x, p.loc).magnitude()
        return cosine_log_density(distance.high, distance.rest, p.scale)

    @classmethod
    def tail(cls, left: Node) -> Node:
        return cosine_tail(left)

    @classmethod
    def log_tail(cls, left: Node) -> Node:
        """By a power of what is left where the difference from a sine is one."""
        near = left < 1e-10
        power = 3.0 * log(left) + math.log(math.pi**2 / 12)
        return where(near, power, log(cls.tail(where(near, 1.0, left))))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """By the angle of the circular segment whose area is known, from the nearer end."""
        lower = q < 0.5
        room = segment_angle(2 * math.pi * where(lower, q, 1.0 - q)) / math.pi
        return p.loc + p.scale * where(lower, room - 1.0, 1.0 - room)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """What is rejected of a uniform z has the density of one moved by half a period: 1 - cos(pi z)."""
        u, v = random.uniforms()
        z = 2.0 * u - 1.0
        half = where(z > 0.0, z - 1.0, z + 1.0)
        return p.loc + p.scale * where(v < 0.5 + 0.5 * near_cos(math.pi * z), z, half)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) * (1 / 3 - 2 / math.pi**2)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + (math.log(4) - 1)
