"""The angle arctan(z_high) - arctan(z_low) of an interval, z being (x - loc) / scale: narrow, wide and far away.

Everything is made of the sines and cosines of arctan(z_low) and arctan(z_high), and of the width of the interval, which
is known better than the difference of two angles.  Bounds may be infinite.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vecdist.distributions.formulas import angle_less_sine, log1p_square
from vecdist.distributions.parts import difference
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.power import hypot
from vecdist.primitives.rounding import sum_rest
from vecdist.primitives.table import primitive
from vecdist.primitives.trigonometric import arctan


class Direction(NamedTuple):
    """The cosine and the sine of arctan(z)."""

    z: Node
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
        cos = self.low.cos * self.high.cos + self.low.sin * self.high.sin
        acute = cos > 0.0
        found = arctan(where(acute, self.sin, -cos) / where(acute, cos, self.sin))
        return where(acute, found, found + math.pi / 2)

    @property
    def sin_of_sum(self) -> Node:
        wide = self.high.sin * self.low.cos + self.low.sin * self.high.cos
        return where(self.finite, self.sum * self.low.cos * self.high.cos, wide)

    @property
    def cos_of_sum(self) -> Node:
        return self.low.cos * self.high.cos - self.low.sin * self.high.sin


def _direction(z: Node) -> Direction:
    cos = 1.0 / hypot(z, 1.0)
    return Direction(z, cos, where(abs(z) < math.inf, z * cos, where(z < 0.0, -1.0 + 0.0 * cos, 1.0)))


def _sector(loc: Node, scale: Node, low: Node, high: Node) -> Sector:
    start, end = difference(low, loc), difference(high, loc)
    total = (start.high + end.high) + (sum_rest(start.high, end.high) + (start.rest + end.rest))
    return Sector(
        _direction(start.high / scale), _direction(end.high / scale), difference(high, low).high / scale, total / scale
    )


def _angle_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    s = _sector(loc, scale, low, high)
    return (
        s.sin * s.sin_of_sum / scale, -(s.sin * s.cos_of_sum) / scale,
        -square(s.low.cos) / scale, square(s.high.cos) / scale,
    )


def _log_angle(loc: Node, scale: Node, low: Node, high: Node) -> Node:
    """Of a narrow interval that of the width, less what the angle is smaller."""
    s = _sector(loc, scale, low, high)
    angle = s.angle
    narrow = s.finite & (angle < 0.5)
    bent = -0.5 * (log1p_square(s.low.z) + log1p_square(s.high.z)) - log1p(-angle_less_sine(angle) / angle)
    return where(narrow, difference(high, low).log().whole + bent, log(scale * angle))


def _log_angle_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    s = _sector(loc, scale, low, high)
    angle, sin, cos = s.angle, s.sin_of_sum, s.cos_of_sum
    bent, per_angle = angle_less_sine(angle) / angle, 1.0 / (angle * scale)
    flat = where(angle < 1.0, 1.0 - bent, s.sin / angle)
    turned = where(cos > 0.0, square(sin) / (1.0 + where(cos > 0.0, cos, 0.0)), 1.0 - cos)
    return (
        flat * sin / scale, (bent + flat * turned) / scale,
        -(s.low.cos * per_angle) * s.low.cos, s.high.cos * per_angle * s.high.cos,
    )


BOUNDS = ((-2.0, 2.0), (0.5, 3.0), (-4.0, -0.5), (0.5, 4.0))
angle = primitive(  # arctan((high - loc) / scale) - arctan((low - loc) / scale)
    "angle", 4, expand=lambda *at: _sector(*at).angle, partials=_angle_partials, floating=True, domain=BOUNDS,
)
log_angle = primitive(  # the logarithm of scale times the angle
    "log_angle", 4, expand=_log_angle, partials=_log_angle_partials, floating=True, domain=BOUNDS,
)
