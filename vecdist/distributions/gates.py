"""Zeros apart from a distribution: how others are inflated at 0, or have a hurdle there, by a gate that leads to 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from vecdist.constraints import Constraint, positive_count, unit_interval
from vecdist.distributions.at_ends import tail_everywhere
from vecdist.distributions.base import Parameters, Parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least, at_most, width
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.formulas import times
from vecdist.special.parts import exp_of_parts
from vecdist.special.staircase import settled

MOST = {8: 1.0 - 2.0**-53, 4: 1.0 - 2.0**-24}  # below 1


def with_gate(way: Parametrisation, **stricter: Constraint) -> Parametrisation:
    """A parametrisation with a ``gate`` before its parameters: the probability of a 0 beside those it has itself."""

    def convert(gate: Node, **others: Node) -> dict[str, Node]:
        return way.convert(**others) | {"gate": gate}

    return Parametrisation({"gate": unit_interval, **way.constraints, **stricter}, convert)


LEAST = {8: -600.0, 4: -60.0}  # the logarithm of a mass that is far from underflow
GATES = ((0.1, 0.9), (-5.0, -0.1), (-1e-17, 1e-17))  # with the logarithm of a mass in two parts
LIFT = {8: 1000, 4: 100}  # the power of two by which lesser masses are multiplied


class _Mass(NamedTuple):
    """exp(y) and gate + (1 - gate) exp(y), both by ``factor``, whose logarithm is ``lift``: 1 where they are not small.

    Where they are, 1 - gate is 1; and a gate above 0 is larger than an exp(y) that underflows nevertheless.
    """

    part: Node
    whole: Node
    factor: Node
    lift: Node


def _mass(gate: Node, y: Node, rest: Node) -> _Mass:
    least, lift = LEAST[width(y)], LIFT[width(y)]
    small = (y < least) & (gate < math.exp(least))
    factor = where(small, 2.0**lift, const(1.0, y.dtype))
    added = where(small, lift * math.log(2), const(0.0, y.dtype))
    part = exp_of_parts(y + added, rest)
    return _Mass(part, gate * factor + (1.0 - gate) * part, factor, added)


def _quotients(gate: Node, y: Node, rest: Node) -> tuple[Node, Node]:
    """exp(y) and 1 divided by gate + (1 - gate) exp(y); the first is 1 at a gate of 0, though both be 0."""
    mass = _mass(gate, y, rest)
    inverse = 1.0 / mass.whole
    return where(eq(gate, 0.0), 1.0, mass.part * inverse), inverse * mass.factor


def _product_rule(dots: tuple[Node | None, ...], *slopes: Node) -> Node | None:
    """The sum of products, of which one with an infinite factor may be nothing."""
    terms = [times(slope, dot) for slope, dot in zip(slopes, dots, strict=False) if dot is not None]
    return sum(terms[1:], terms[0]) if terms else None


def _share_tangent(dots: tuple[Node | None, ...], gate: Node, y: Node, rest: Node, out: Node) -> Node | None:
    part, inverse = _quotients(gate, y, rest)
    return _product_rule(dots, -part * inverse, out * times(gate, inverse))


def _slope_tangent(dots: tuple[Node | None, ...], gate: Node, y: Node, rest: Node, out: Node) -> Node | None:
    part, inverse = _quotients(gate, y, rest)
    return _product_rule(dots, -square(out), -part * inverse)


def _inflated_tangent(dots: tuple[Node | None, ...], gate: Node, y: Node, rest: Node, out: Node) -> Node | None:
    """Finite at a gate of 0; and where y is -inf, nothing of its derivative is left."""
    dot_gate, dot_y, _ = dots
    terms = [] if dot_gate is None else [gate_slope(gate, y, rest) * dot_gate]
    terms += [] if dot_y is None else [times(ungated_share(gate, y, rest), dot_y)]
    return sum(terms[1:], terms[0]) if terms else None


def _log_inflated(gate: Node, y: Node, rest: Node) -> Node:
    """By log1p where the sum is near 1, whose logarithm is near 0."""
    less, mass, only = (1.0 - gate) * expm1(y), _mass(gate, y, rest), eq(gate, 0.0)
    far = log(where(only, 1.0, mass.whole)) + where(only, y, -mass.lift)
    return where(less > -0.5, log1p(less), far)


# log(gate + (1 - gate) exp(y)); the rest is what rounding has taken from y, of which derivatives have to know.
log_inflated: Primitive = primitive(
    "log_inflated", 3, expand=_log_inflated, tangent=_inflated_tangent,
    floating=True, domain=GATES,
)
# Its slopes: in the gate, (1 - exp(y)) / (gate + (1 - gate) exp(y)), and in y, the share of zeros not by the gate.
gate_slope: Primitive = primitive(
    "gate_slope", 3, expand=lambda *at: -expm1(at[1]) * _quotients(*at)[1], tangent=_slope_tangent,
    floating=True, domain=GATES,
)
ungated_share: Primitive = primitive(
    "ungated_share", 3, expand=lambda *at: (1.0 - at[0]) * _quotients(*at)[0], tangent=_share_tangent,
    floating=True, domain=GATES,
)


def inflated(log_mass: Callable[[Node, Parameters], Node], lost: Callable[[Parameters], Any] = lambda p: 0.0) -> Any:
    """The log mass of a gated mixture of 0 and what has this one; ``lost`` is what rounding takes from that of 0."""

    def log_density(x: Node, p: Parameters) -> Node:
        at_zero = log_inflated(p.gate, log_mass(const(0.0, x.dtype), p), lost(p))
        return where(eq(x, 0.0), at_zero, log1p(-p.gate) + log_mass(x, p))

    return staticmethod(log_density)


def hurdled(family: Any, log_mass: Callable[[Parameters], Node] | None = None) -> Any:
    """The log density of a gated choice between 0 and what ``family`` has above; ``log_mass`` is that of its zeros."""

    def log_density(x: Node, p: Parameters) -> Node:
        at_zero = eq(x, 0.0)
        y = family.log_density(where(at_zero, 1.0, x), p)
        if log_mass is not None:
            y = y - log1mexp(log_mass(p))
        return where(at_zero, log(p.gate), log1p(-p.gate) + y)

    return staticmethod(log_density)


def _tail(name: str, family: Any, x: Node, p: Parameters) -> Node:
    """A tail of ``family``, at its ends too."""
    formula = getattr(family, name)
    return formula(x, p) if family.discrete else tail_everywhere(name, family, p, lambda at: formula(at, p), x)


def gated_mean(family: Any) -> Any:
    """The mean of a gated mixture of 0 and ``family``."""
    return staticmethod(lambda p: (1.0 - p.gate) * family.mean(p))


def gated_variance(family: Any) -> Any:
    """The variance of a gated mixture of 0 and ``family``."""

    def variance(p: Parameters) -> Node:
        return (1.0 - p.gate) * (family.variance(p) + p.gate * square(family.mean(p)))

    return staticmethod(variance)


def gated_cdf(family: Any) -> Any:
    """The distribution function of a gated mixture of 0 and ``family``, whose own is 0 below 0.

    By the lesser tail: the other one does not tell how far it is from 1, which is its slope in the gate.
    """

    def cdf(x: Node, p: Parameters) -> Node:
        rest, lower = 1.0 - p.gate, _tail("cdf", family, x, p)
        return where(lower > 0.5, 1.0 - times(rest, _tail("sf", family, x, p)), p.gate + times(rest, lower))

    return staticmethod(cdf)


def gated_sf(family: Any) -> Any:
    """The upper tail of a gated mixture of 0 and ``family``."""
    return staticmethod(lambda x, p: times(1.0 - p.gate, _tail("sf", family, x, p)))


def gated_log_sf(family: Any) -> Any:
    """The logarithm of the upper tail of a gated mixture of 0 and ``family``."""
    return staticmethod(lambda x, p: log1p(-p.gate) + _tail("log_sf", family, x, p))


def gated_quantile(family: Any) -> Any:
    """The quantile of a gated mixture of 0 and ``family``, by the shorter tail where that has an upper quantile."""
    upper, cdf = getattr(family, "upper_quantile", None), gated_cdf(family).__func__

    def quantile(q: Node, p: Parameters) -> Node:
        above, rest = q > p.gate, 1.0 - p.gate
        inside = family.quantile(where(above, (q - p.gate) / rest, 0.5), p)
        if upper is not None:
            short = above & (2.0 * (1.0 - q) < rest)
            inside = where(short, upper(where(short, (1.0 - q) / rest, 0.5), p), inside)
        found = where(above, inside, 0.0)
        return settled(found, q, lambda k: cdf(k, p), family.support(p)) if family.discrete else found

    return staticmethod(quantile)


def gated_draw(family: Any) -> Any:
    """A draw of a gated mixture of 0 and ``family``."""

    def draw(random: Stream, p: Parameters) -> Node:
        return where(random.uniform() < p.gate, 0.0, family.draw(random, p))

    return staticmethod(draw)


def hurdled_sf(family: Any, log_mass: Callable[[Parameters], Node]) -> Any:
    """The upper tail of a gated choice between 0 and what ``family`` has above."""

    def sf(x: Node, p: Parameters) -> Node:
        share = family.sf(x, p) / -expm1(log_mass(p))
        return (1.0 - p.gate) * where(eq(x, 0.0), 1.0, at_most(share, 1.0))

    return staticmethod(sf)


def hurdled_log_sf(family: Any, log_mass: Callable[[Parameters], Node]) -> Any:
    """The logarithm of the upper tail of a gated choice between 0 and what ``family`` has above."""

    def log_sf(x: Node, p: Parameters) -> Node:
        share = family.log_sf(x, p) - log1mexp(log_mass(p))
        return log1p(-p.gate) + where(eq(x, 0.0), 0.0, at_most(share, 0.0))

    return staticmethod(log_sf)


def hurdled_mean(family: Any, log_mass: Callable[[Parameters], Node]) -> Any:
    """The mean of a gated choice between 0 and what ``family`` has above."""
    return staticmethod(lambda p: (1.0 - p.gate) * family.mean(p) / -expm1(log_mass(p)))


def hurdled_cdf(family: Any, log_mass: Callable[[Parameters], Node]) -> Any:
    """The distribution function of a gated choice between 0 and what ``family`` has above, by its lesser tail."""

    def cdf(x: Node, p: Parameters) -> Node:
        above, rest = -expm1(log_mass(p)), 1.0 - p.gate
        beyond = family.sf(x, p) / above
        part = where(eq(x, 0.0), 0.0, at_least(family.cdf(x, p) - exp(log_mass(p)), 0.0) / above)
        return where((beyond < 0.5) & (x > 0.0), 1.0 - rest * beyond, p.gate + rest * part)

    return staticmethod(cdf)


def hurdled_quantile(family: Any, log_mass: Callable[[Parameters], Node], cdf: Any) -> Any:
    """The quantile of a gated choice between 0 and what ``family`` has above, of the distribution function ``cdf``."""

    def quantile(q: Node, p: Parameters) -> Node:
        above = q > p.gate
        part = exp(log_mass(p)) - (q - p.gate) / (1.0 - p.gate) * expm1(log_mass(p))
        k = family.quantile(where(eq(q, 1.0), 1.0, at_most(where(above, part, 0.5), MOST[width(q)])), p)
        return where(above, settled(k, q, lambda at: cdf(at, p), positive_count), 0.0)

    return staticmethod(quantile)


def hurdled_variance(family: Any, log_mass: Callable[[Parameters], Node]) -> Any:
    """The variance of a gated choice between 0 and what ``family`` has above."""

    def variance(p: Parameters) -> Node:
        weight = (p.gate - 1.0) / expm1(log_mass(p))
        return weight * (family.variance(p) + (1.0 - weight) * square(family.mean(p)))

    return staticmethod(variance)


def mode_or_zero(mode: Callable[[Parameters], Node], log_mass: Any) -> Any:
    """0, or the mode among what is not gated where that has more mass."""

    def higher(p: Parameters) -> Node:
        at = mode(p)
        return where(log_mass(at, p) > log_mass(0.0 * at, p), at, 0.0)

    return staticmethod(higher)
