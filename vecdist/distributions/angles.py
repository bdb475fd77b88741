"""The angle arctan(z_high) - arctan(z_low) of an interval, z being (x - loc) / scale: narrow, wide and far away.

Everything is made of the sines and cosines of arctan(z_low) and arctan(z_high), and of the width of the interval, which
is known better than the difference of two angles.  Bounds may be infinite.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vecdist.distributions.parts import difference
from vecdist.expr import Node, const, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import LN2, log
from vecdist.primitives.floating import polynomial, width
from vecdist.primitives.logarithms import log_of_sum
from vecdist.primitives.rounding import sum_rest
from vecdist.primitives.table import primitive
from vecdist.primitives.trigonometric import direction_angle

FAR = 1e9  # where 1 + z² is z²
SMALLER = {8: 513, 4: 66}  # powers of two by which a large secant is divided, for the product of two of them
BLUNT, TERMS = 2.0, {8: 12, 4: 7}  # the angle from which on its sine is not as large, and those of a series up to there


class Direction(NamedTuple):
    """The secant, the cosine and the sine of arctan(z)."""

    z: Node
    sec: Node
    cos: Node
    sin: Node


class Sector(NamedTuple):
    """What lies between two directions; ``sum`` is that of z_low and z_high."""

    low: Direction
    high: Direction
    width: Node
    sum: Node

    @property
    def finite(self) -> Node:
        return self.width < math.inf

    @property
    def sin(self) -> Node:
        wide = self.high.sin * self.low.cos - self.low.sin * self.high.cos
        return where(self.finite, self.width * self.low.cos * self.high.cos, wide)

    @property
    def angle(self) -> Node:
        return direction_angle(self.sin, self.low.cos * self.high.cos + self.low.sin * self.high.sin)

    @property
    def sin_of_sum(self) -> Node:
        wide = self.high.sin * self.low.cos + self.low.sin * self.high.cos
        return where(self.finite, self.sum * self.low.cos * self.high.cos, wide)

    @property
    def cos_of_sum(self) -> Node:
        return self.low.cos * self.high.cos - self.low.sin * self.high.sin


def _direction(z: Node) -> Direction:
    a = abs(z)
    sec = where(a > FAR, a, sqrt(1.0 + square(z)))
    cos = 1.0 / sec
    return Direction(z, sec, cos, where(a < math.inf, z * cos, where(z < 0.0, const(-1.0, z.dtype), 1.0)))


def _sector(loc: Node, scale: Node, low: Node, high: Node) -> Sector:
    start, end = difference(low, loc), difference(high, loc)
    total = (start.high + end.high) + (sum_rest(start.high, end.high) + (start.rest + end.rest))
    return Sector(
        _direction(start.high / scale), _direction(end.high / scale), difference(high, low).high / scale, total / scale
    )


def _lack(angle: Node) -> Node:
    """1 - sin(t) / t of an angle t that is not blunt."""
    s = square(where(angle < BLUNT, angle, 0.0))
    return s * polynomial(s, tuple((-1) ** k / math.factorial(2 * k + 3) for k in range(TERMS[width(angle)])))


def _angle_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    s = _sector(loc, scale, low, high)
    return (
        s.sin * s.sin_of_sum / scale, -(s.sin * s.cos_of_sum) / scale,
        -square(s.low.cos) / scale, square(s.high.cos) / scale,
    )


def _log_angle(loc: Node, scale: Node, low: Node, high: Node) -> Node:
    """Of a narrow interval log(high - low) - log(r) / 2, where r - 1 is made without r: a product of squares."""
    s = _sector(loc, scale, low, high)
    angle, gap = s.angle, difference(high, low)
    narrow = s.finite & (angle < 0.5)
    lack, part = _lack(angle), s.low.cos * s.high.cos / (scale * angle)
    squares = square(s.low.z) + square(s.high.z) + square(s.low.z * s.high.z)
    excess = squares - lack * (2.0 - lack) * (1.0 + squares)
    far, smaller = (abs(s.low.z) > FAR) | (abs(s.high.z) > FAR), 2.0 ** -SMALLER[width(angle)]
    product = (smaller * s.low.sec) * (smaller * s.high.sec) * (1.0 - lack)
    bent = log_of_sum(where(far, product, 1.0), where(far, 0.0, excess))
    bent = where(far, bent + 2 * SMALLER[width(angle)] * LN2, 0.5 * bent)
    return log(where(narrow, gap.high, scale * angle)) + where(narrow, gap.rest * part - bent, 0.0)


def _log_angle_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    s = _sector(loc, scale, low, high)
    angle, sin, cos = s.angle, s.sin_of_sum, s.cos_of_sum
    per_angle = 1.0 / (scale * angle)
    lack = where(angle < BLUNT, _lack(angle), 1.0 - s.sin * (scale * per_angle))
    turned = where(cos > 0.0, square(sin) / (1.0 + where(cos > 0.0, cos, 0.0)), 1.0 - cos)
    return (
        (1.0 - lack) * sin / scale, (lack + (1.0 - lack) * turned) / scale,
        -(s.low.cos * per_angle) * s.low.cos, s.high.cos * per_angle * s.high.cos,
    )


BOUNDS = ((-2.0, 2.0), (0.5, 3.0), (-4.0, -0.5), (0.5, 4.0))
angle = primitive(  # arctan((high - loc) / scale) - arctan((low - loc) / scale)
    "angle", 4, expand=lambda *at: _sector(*at).angle, partials=_angle_partials, floating=True, domain=BOUNDS,
)
log_angle = primitive(  # the logarithm of scale times the angle
    "log_angle", 4, expand=_log_angle, partials=_log_angle_partials, floating=True, domain=BOUNDS,
)
