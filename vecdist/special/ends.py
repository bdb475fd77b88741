"""Next to the ends of a support from loc - scale to loc + scale: what is left, without the rounding of z."""

from __future__ import annotations

from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.floating import at_least
from vecdist.primitives.rounding import sum_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.parts import Parts, difference


def room(x: Node, loc: Node, scale: Node) -> Node:
    """1 - |z| with z = (x - loc) / scale: from half the scale on the difference is exact."""
    distance = difference(x, loc).magnitude()
    return at_least((scale - distance.high) - distance.rest, 0.0) / scale


def _left_share(ahead: Node, rest: Node, scale: Node) -> Node:
    return at_least((scale + ahead) + rest, 0.0) / scale


def _left_share_partials(ahead: Node, rest: Node, scale: Node, out: Node) -> tuple[Node, None, Node]:
    """That in the scale with all digits of z, which 1 less the share has not next to the middle."""
    inverse = 1.0 / scale
    return inverse, None, -(ahead * inverse) * inverse


left_share: Primitive = primitive(  # (scale + ahead) / scale, at least 0, of a negative distance in two parts
    "left_share", 3, expand=_left_share, partials=_left_share_partials, floating=True,
    domain=((-1.0, -0.1), (-1e-17, 1e-17), (2.0, 5.0)),
)


def left_to_end(x: Node, loc: Node, scale: Node) -> Node:
    """1 - |z| as ``room``, with slopes that the middle and the ends have too, from above in the middle."""
    distance, below = difference(x, loc), x < loc
    return left_share(*(where(below, part, -part) for part in distance), scale)


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
