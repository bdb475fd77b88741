"""Decays by a power of a distance, whose derivatives are those of that power down to the least numbers.

A power of 1 or 2 has few digits or none where it underflows, and its slope in the distance has all of them.  At a
distance of 0 that slope is 0, and so is the second one unless the power is 2.
"""

from __future__ import annotations

from typing import NamedTuple

from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, sign
from vecdist.primitives.floating import format_of
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.parts import Parts, log_parts


class _Decay(NamedTuple):
    """A ``decay`` that grows like ``factor`` / power |z|^power, z being the distance over the unit."""

    distance: Parts
    unit: Node
    power: Node
    decay: Node
    factor: Node | float

    def times(self, logarithm: Node) -> Node:
        """The product, 0 where nothing is left of the decay."""
        return where(eq(self.decay, 0.0), 0.0, self.decay * logarithm)

    @property
    def of_distance(self) -> Node:
        distance, form = self.distance.bounded().high, format_of(self.power)
        slope = self.power * (self.decay / where(eq(distance, 0.0), 1.0, distance))
        line, curve = eq(self.power, 1.0), eq(self.power, 2.0)
        whole = where(curve, distance * (1.0 / self.unit), sign(distance))
        near = (self.decay < form.smallest_normal * 2.0**form.fraction) & (line | curve)
        return where(near, self.factor * (whole * (1.0 / self.unit)), slope)


def _log_ratio(distance: Node, rest: Node, scale: Node) -> Parts:
    return Parts(distance, rest).magnitude().log() - log_parts(scale)


def _whole(distance: Node, rest: Node, scale: Node, power: Node) -> Node:
    return _log_ratio(distance, rest, scale).times(power).exp()


def _whole_partials(distance: Node, rest: Node, scale: Node, power: Node, out: Node) -> tuple[Node | None, ...]:
    decay = _Decay(Parts(distance, rest), scale, power, out, power)
    of_power = decay.times(_log_ratio(distance, rest, scale).whole)
    return decay.of_distance, None, -out * (power * (1.0 / scale)), of_power


def _shared_log_ratio(distance: Node, rest: Node, scale: Node, side: Node, side_rest: Node) -> Parts:
    return _log_ratio(distance, rest, scale) - Parts(side, side_rest).log()


def _shared(distance: Node, rest: Node, scale: Node, side: Node, side_rest: Node, power: Node) -> Node:
    return (_shared_log_ratio(distance, rest, scale, side, side_rest).times(power) - log_parts(power)).exp()


def _shared_partials(
    distance: Node, rest: Node, scale: Node, side: Node, side_rest: Node, power: Node, out: Node
) -> tuple[Node | None, ...]:
    decay = _Decay(Parts(distance, rest), scale * side, power, out, 1.0)
    of_scale, of_side = (-out * (power * (1.0 / unit)) for unit in (scale, side))
    ratio = _shared_log_ratio(distance, rest, scale, side, side_rest)
    of_power = decay.times((ratio.high - 1.0 / power) + ratio.rest)
    return decay.of_distance, None, of_scale, of_side, None, of_power


# |z|^power for z = (distance + rest) / scale
distance_power: Primitive = primitive(
    "distance_power", 4, expand=_whole, partials=_whole_partials, floating=True,
    domain=((-3.0, 3.0), (-1e-17, 1e-17), (0.5, 2.0), (0.5, 4.0)),
)
# |z|^power / power for z = (distance + rest) / (scale (side + side_rest))
shared_distance_power: Primitive = primitive(
    "shared_distance_power", 6, expand=_shared, partials=_shared_partials, floating=True,
    domain=((-3.0, 3.0), (-1e-17, 1e-17), (0.5, 2.0), (0.1, 2.0), (-1e-17, 1e-17), (0.5, 4.0)),
)
