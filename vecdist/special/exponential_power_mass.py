"""The probability that |z| is larger, for a density proportional to exp(-|z|^power) or to exp(-|z|^power / power).

That is a gamma tail.  Distances come as log|z| in two parts, which the power amplifies; what rounds the shape of the
gamma distribution, 1 / power, counts in derivatives far from its mean.  Nadarajah (2005), A generalized normal
distribution, Journal of Applied Statistics 32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import minimum
from vecdist.primitives.elementary import expm1
from vecdist.primitives.rounding import quotient_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.gamma_of_log import gamma_below_slope, gamma_beyond, log_gamma_beyond, log_gamma_beyond_slope
from vecdist.special.gamma_of_power import gamma_power_da, log_gamma_power_da
from vecdist.special.parts import Parts, log_parts


class Place(NamedTuple):
    """What the gamma distribution function is given: its shape, and the logarithm of x over that in two parts."""

    shape: Node
    rest: Node
    high: Node


def _of_power(power: Node, high: Node, rest: Node) -> Place:
    """x = |z|^power."""
    relative = Parts(high, rest).times(power) + log_parts(power)
    return Place(1.0 / power, relative.rest, relative.high)


def _of_mean(power: Node, high: Node, rest: Node) -> Place:
    """x = |z|^power / power."""
    relative = Parts(high, rest).times(power)
    return Place(1.0 / power, relative.rest, relative.high)


def _unrounded(power: Node, high: Node) -> Node:
    """What the density gains by the rest of the shape."""
    gain = quotient_rest(const(1.0, power.dtype), power) * (high - expm1(high))
    return 1.0 + where(abs(gain) < 0.01, gain, 0.0)


def _tails(name: str, mean: float, place: Callable[[Node, Node, Node], Place]) -> tuple[Primitive, Primitive]:
    """A tail and its logarithm, as functions of the power and log|z| in two parts."""

    def slopes(power: Node, at: Place, of_shape: Node, of_place: Node, gain: Node) -> tuple[Node, Node, None]:
        return -of_shape * at.shape * at.shape * gain, power * of_place * gain, None

    def partials(power: Node, high: Node, rest: Node, out: Node) -> tuple[Node, Node, None]:
        at = place(power, high, rest)
        of_shape, of_place = -gamma_power_da(const(mean, power.dtype), *at), -gamma_below_slope(*at)
        return slopes(power, at, of_shape, of_place, _unrounded(power, at.high))

    def log_partials(power: Node, high: Node, rest: Node, out: Node) -> tuple[Node, Node, None]:
        """Beyond the mean a tail gains what its density does, so that their ratio gains nothing."""
        at = place(power, high, rest)
        of_shape, of_place = log_gamma_power_da(const(mean, power.dtype), *at), log_gamma_beyond_slope(*at)
        return slopes(power, at, of_shape, of_place, _unrounded(power, minimum(at.high, 0.0)))

    domain = ((0.3, 5.0), (-1.5, 0.3), (-1e-17, 1e-17))
    return (
        primitive(
            name, 3, expand=lambda *at: gamma_beyond(*place(*at)), partials=partials, floating=True, domain=domain
        ),
        primitive(
            f"log_{name}", 3, expand=lambda *at: log_gamma_beyond(*place(*at)), partials=log_partials, floating=True,
            domain=domain,
        ),
    )


generalized_normal_tail: Primitive
log_generalized_normal_tail: Primitive
generalized_normal_tail, log_generalized_normal_tail = _tails("generalized_normal_tail", 0.0, _of_power)
exponential_power_tail: Primitive
log_exponential_power_tail: Primitive
exponential_power_tail, log_exponential_power_tail = _tails("exponential_power_tail", 1.0, _of_mean)
