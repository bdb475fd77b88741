"""Next to the ends of a support from loc - scale to loc + scale: what is left, without the rounding of z."""

from __future__ import annotations

from vecdist.distributions.parts import Parts, difference
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.floating import at_least
from vecdist.primitives.rounding import sum_rest


def room(x: Node, loc: Node, scale: Node) -> Node:
    """1 - |z| with z = (x - loc) / scale: from half the scale on the difference is exact."""
    distance = difference(x, loc).magnitude()
    return at_least((scale - distance.high) - distance.rest, 0.0) / scale


def left_of(scale: Node, distance: Node, rest: Node) -> Parts:
    """scale - distance - rest, at least 0, in two parts: from half the scale on the difference is exact."""
    left = scale - distance
    lost = sum_rest(scale, -distance) - rest
    whole = at_least(left + lost, 0.0)
    return Parts(whole, (left - whole) + lost)


def log1m_square(x: Node, loc: Node, scale: Node) -> Node:
    """log(1 - z^2) with z = (x - loc) / scale."""
    z, left = (x - loc) / scale, room(x, loc, scale)
    middle = abs(z) < 0.5
    far = log(where(middle, 1.0, left * (2.0 - left)))
    return where(middle, log1p(-where(middle, square(z), 0.0)), far)
