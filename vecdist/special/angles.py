"""The angle arctan(z_high) - arctan(z_low) of an interval, z being (x - loc) / scale: narrow, wide and far away.

Everything is made of the sines and cosines of arctan(z_low) and arctan(z_high), and of the width of the interval, which
is known better than the difference of two angles.  Bounds may be infinite.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import at_least, at_most, polynomial, width
from vecdist.primitives.logarithms import log_of_sum
from vecdist.primitives.rounding import sum_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import arctan, direction_angle, near_tan
from vecdist.special.parts import Parts, difference

FAR = 1e9  # where 1 + z² is z²
SMALLER = {8: 513, 4: 66}  # powers of two by which a large secant is divided, for the product of two of them
BLUNT = 2.0  # the angle from which on its sine is not as large
# (1 - sin(t) / t) / t^2 up to there, by its power series
LACK = {size: tuple((-1) ** k / math.factorial(2 * k + 3) for k in range(most)) for size, most in ((8, 12), (4, 7))}


class Direction(NamedTuple):
    """The secant, the cosine and the sine of arctan(z)."""

    z: Node
    sec: Node
    cos: Node
    sin: Node


class Sector(NamedTuple):
    """What lies between two directions; ``sum`` is that of z_low and z_high, ``gap`` the width times the scale."""

    low: Direction
    high: Direction
    gap: Node
    scale: Node
    sum: Node

    @property
    def width(self) -> Node:
        return self.gap / self.scale

    @property
    def finite(self) -> Node:
        return self.width < math.inf

    @property
    def sin(self) -> Node:
        wide = self.high.sin * self.low.cos - self.low.sin * self.high.cos
        return where(self.finite, self.width * self.low.cos * self.high.cos, wide)

    @property
    def angle(self) -> Node:
        return direction_angle(self.sin, self.inner)

    @property
    def inner(self) -> Node:
        """The cosine of the angle."""
        return self.low.cos * self.high.cos + self.low.sin * self.high.sin

    @property
    def narrow(self) -> Node:
        return self.finite & (self.angle < 0.5)

    @property
    def base(self) -> Node:
        """The scale times the angle, or where that is narrow the width that it is made of."""
        return where(self.narrow, self.gap, self.scale * self.angle)

    @property
    def lack(self) -> Node:
        """1 - sin(t) / t of an angle t that is not blunt."""
        s = square(where(self.angle < BLUNT, self.angle, 0.0))
        return s * polynomial(s, LACK[width(s)])

    @property
    def sin_of_sum(self) -> Node:
        wide = self.high.sin * self.low.cos + self.low.sin * self.high.cos
        return where(self.finite, self.sum * self.low.cos * self.high.cos, wide)

    @property
    def cos_of_sum(self) -> Node:
        return self.low.cos * self.high.cos - self.low.sin * self.high.sin


def _direction(distance: Node, scale: Node) -> Direction:
    """That of an infinite distance does not change with the scale."""
    z = where(abs(distance) < math.inf, distance / scale, distance)
    a = abs(z)
    sec = where(a > FAR, a, sqrt(1.0 + square(z)))
    cos = 1.0 / sec
    return Direction(z, sec, cos, where(a < math.inf, z * cos, where(z < 0.0, const(-1.0, z.dtype), 1.0)))


def _sector(loc: Node, scale: Node, low: Node, high: Node) -> Sector:
    start, end = difference(low, loc), difference(high, loc)
    total = (start.high + end.high) + (sum_rest(start.high, end.high) + (start.rest + end.rest))
    return Sector(
        _direction(start.high, scale), _direction(end.high, scale), high - low, scale, total * (1.0 / scale)
    )


def _angle_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    s = _sector(loc, scale, low, high)
    return (
        s.sin * s.sin_of_sum / scale, -(s.sin * s.cos_of_sum) / scale,
        -square(s.low.cos) / scale, square(s.high.cos) / scale,
    )


def _log_angle(loc: Node, scale: Node, low: Node, high: Node) -> Node:
    """Of a narrow interval log(high - low) - log(r) / 2, where r - 1 is made without r: a product of squares."""
    s = _sector(loc, scale, low, high)
    base, lack, gap = s.base, s.lack, difference(high, low)
    squares = square(s.low.z) + square(s.high.z) + square(s.low.z * s.high.z)
    excess = squares - lack * (2.0 - lack) * (1.0 + squares)
    far, small = (abs(s.low.z) > FAR) | (abs(s.high.z) > FAR), SMALLER[width(scale)]
    product = (2.0**-small * s.low.sec) * (2.0**-small * s.high.sec) * (1.0 - lack)
    taken = where(far, const(-2.0 * small, scale.dtype), 0.0)
    bent = log_of_sum(where(far, product, 1.0), where(far, 0.0, excess), taken)
    return log(base) + where(s.narrow, gap.rest * (1.0 / base) - where(far, bent, 0.5 * bent), 0.0)


def _log_angle_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    s = _sector(loc, scale, low, high)
    inverse, per_base, sin, cos = 1.0 / scale, 1.0 / s.base, s.sin_of_sum, s.cos_of_sum
    lack = where(s.angle < BLUNT, s.lack, 1.0 - s.sin * (scale * per_base))
    turned = where(cos > 0.0, square(sin) / (1.0 + where(cos > 0.0, cos, 0.0)), 1.0 - cos)
    shrinks, grows = (
        where(s.narrow, one.cos * other.sec * (1.0 - lack), square(one.cos))
        for one, other in ((s.low, s.high), (s.high, s.low))
    )
    return (
        (1.0 - lack) * sin * inverse, (lack + (1.0 - lack) * turned) * inverse, -shrinks * per_base, grows * per_base,
    )


def _lack_of_double(s: Sector) -> Node:
    """1 - sin(2 t) / (2 t) of an angle t."""
    t = 2.0 * s.angle
    square_ = square(where(t < BLUNT, t, 0.0))
    return where(t < BLUNT, square_ * polynomial(square_, LACK[width(t)]), 1.0 - s.sin * s.inner / s.angle)


def _turn(at: Direction, distance: Parts, scale: Node) -> Node:
    """The cosine of twice a direction, by what is left from the distance to the scale."""
    left = (scale - distance.high) - distance.rest
    near = (left / scale * at.cos) * ((scale + distance.high) / scale * at.cos)
    return where(distance.high < FAR * scale, near, -1.0)


def _share_partials(loc: Node, scale: Node, low: Node, x: Node, high: Node, out: Node) -> tuple[Node, ...]:
    """Those in loc and scale by the logarithm of the quotient of both angles t, which share a direction:

    their own logarithms have sin(t) / t times the sine and the cosine of the sums of their directions.
    """
    whole, at = _sector(loc, scale, low, high), _direction(difference(x, loc).high, scale)
    share = _sector(loc, scale, x, high).angle / whole.angle
    of_loc, of_scale, falls, grows = _spread(loc, scale, low, x, high)
    spread, per_angle = out * share, 1.0 / scale / whole.angle
    return spread * of_loc, spread * of_scale, -falls * share, square(at.cos) * per_angle, -grows * out


def _spread(loc: Node, scale: Node, low: Node, x: Node, high: Node) -> tuple[Node, ...]:
    """Those in loc and scale over the product of both shares, and the densities at the bounds."""
    below, beyond, whole = _sector(loc, scale, low, x), _sector(loc, scale, x, high), _sector(loc, scale, low, high)
    at = below.high
    rise, turn = 2.0 * at.sin * at.cos, _turn(at, difference(x, loc).magnitude(), scale)
    bend = _bend(below) + _bend(beyond)
    lag = _lack_of_double(beyond) - _lack_of_double(below)
    inverse = 1.0 / scale
    narrow, per_angle = (1.0 - whole.lack) / whole.gap, inverse / whole.angle
    falls, grows = (
        where(whole.narrow, one.cos * other.sec * narrow, square(one.cos) * per_angle)
        for one, other in ((whole.low, whole.high), (whole.high, whole.low))
    )
    return inverse * (rise * lag - turn * bend), -inverse * (rise * bend + turn * lag), falls, grows


def _bend(s: Sector) -> Node:
    """The square of the sine over the angle."""
    return square(s.sin) / where(eq(s.angle, 0.0), 1.0, s.angle)


def _turned(distance: Node, scale: Node, turn: Node) -> Node:
    """tan(arctan(distance / scale) + turn), by the reciprocal where the distance is large, or infinite."""
    far = abs(distance) > scale
    reciprocal = 1.0 / near_tan(arctan(scale / where(far, distance, scale)) - turn)
    return where(far, reciprocal, near_tan(arctan(where(far, 0.0, distance) / scale) + turn))


def _quantile(q: Node, loc: Node, scale: Node, low: Node, high: Node) -> Node:
    """By the angle from the nearer bound."""
    whole = _sector(loc, scale, low, high).angle
    below, above = _turned(low - loc, scale, q * whole), _turned(high - loc, scale, (q - 1.0) * whole)
    return at_most(at_least(loc + scale * where(q < 0.5, below, above), low), high)


def _quantile_partials(q: Node, loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    """Those of the share over that in x, with the probability itself for the share."""
    whole, one = _sector(loc, scale, low, high), const(1.0, q.dtype)
    of_loc, of_scale, of_low, of_high = _spread(loc, scale, low, out, high)
    sparsity = scale * whole.angle * (one + square((out - loc) / scale))
    spread = q * (1.0 - q) * sparsity
    return sparsity, -spread * of_loc, -spread * of_scale, (1.0 - q) * sparsity * of_low, q * sparsity * of_high


BOUNDS = ((-2.0, 2.0), (0.5, 3.0), (-4.0, -0.5), (0.5, 4.0))
angle: Primitive = primitive(  # arctan((high - loc) / scale) - arctan((low - loc) / scale)
    "angle", 4, expand=lambda *at: _sector(*at).angle, partials=_angle_partials, floating=True, domain=BOUNDS,
)
log_angle: Primitive = primitive(  # the logarithm of scale times the angle
    "log_angle", 4, expand=_log_angle, partials=_log_angle_partials, floating=True, domain=BOUNDS,
)
angle_share: Primitive = primitive(  # the angle of the interval from low to x over that from low to high
    "angle_share", 5, expand=lambda loc, scale, low, x, high: at_most(
        _sector(loc, scale, low, x).angle / _sector(loc, scale, low, high).angle, 1.0
    ),
    partials=_share_partials, floating=True, domain=(*BOUNDS[:3], (-0.4, 0.4), BOUNDS[3]),
)
angle_quantile: Primitive = primitive(  # the x of which angle_share is q
    "angle_quantile", 5, expand=_quantile, partials=_quantile_partials, floating=True,
    domain=((0.05, 0.95), *BOUNDS),
)
