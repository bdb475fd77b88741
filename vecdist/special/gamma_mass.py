"""Tails of a gamma distribution at a number in two parts: a large shape amplifies what rounding takes from it."""

from __future__ import annotations

from typing import Any

from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, sqrt
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.floating import format_of, width
from vecdist.primitives.table import Primitive, partials_of, primitive
from vecdist.special.formulas import times
from vecdist.special.gamma_functions import digamma
from vecdist.special.gamma_of_log import of_any
from vecdist.special.incomplete_gamma import (
    gamma_density,
    gammainc,
    gammainc_da,
    gammaincc,
    log_gammainc,
    log_gammainc_da,
    log_gammainc_dx,
    log_gammaincc,
    log_gammaincc_da,
    log_gammaincc_dx,
)
from vecdist.special.parts import Parts

LEAST = {8: -600.0, 4: -60.0}  # the logarithm of a tail down to which the rest counts


def _small(a: Node, rest: Node) -> Node:
    """The rest, where the density is a line over it."""
    return where(abs(rest) < 0.01 * sqrt(a), rest, 0.0)


def _slope(a: Node, x: Node) -> Node:
    """The derivative of the logarithm of the density."""
    return (a - 1.0) / x - 1.0


def _moved(a: Node, x: Node, rest: Node) -> Node:
    return times(_small(a, rest), gamma_density(a, x))


def _lost(a: Node, rest: Node, slope: Node) -> Node:
    """What a slope makes of the rest: nothing of none, though there is no slope at x = 0."""
    small = _small(a, rest)
    return where(eq(small, 0.0), 0.0, small * slope)


def _tail_partials(a: Node, x: Node, rest: Node, out: Node) -> tuple[Node, Node, None]:
    of_shape = gammainc_da(a, x) + _lost(a, rest, gamma_density(a, x) * (log(x) - digamma(a)))
    return of_shape, gamma_density(a, x) * (1.0 + _lost(a, rest, _slope(a, x))), None


def _log_moved(a: Node, x: Node, rest: Node, y: Node) -> Node:
    inside = y > LEAST[width(x)]
    return where(inside, _moved(a, x, rest) * exp(where(inside, -y, 0.0)), 0.0)


def _log_partials(a: Node, x: Node, rest: Node, of_shape: Node, of_x: Node) -> tuple[Node, Node, None]:
    mixed = of_x * ((log(x) - digamma(a)) - of_shape)
    return of_shape + _lost(a, rest, mixed), of_x * (1.0 + _lost(a, rest, _slope(a, x) - of_x)), None


AT = ((0.3, 40.0), (0.3, 40.0), (-1e-16, 1e-16))
gammainc_of_parts: Primitive = primitive(
    "gammainc_of_parts", 3, expand=lambda a, x, rest: gammainc(a, x) + _moved(a, x, rest), partials=_tail_partials,
    floating=True, domain=AT,
)
gammaincc_of_parts: Primitive = primitive(
    "gammaincc_of_parts", 3, expand=lambda a, x, rest: gammaincc(a, x) - _moved(a, x, rest), floating=True, domain=AT,
    partials=lambda *at: tuple(slope if slope is None else -slope for slope in _tail_partials(*at)),
)
log_gammainc_of_parts: Primitive = primitive(
    "log_gammainc_of_parts", 3, floating=True, domain=AT,
    expand=lambda a, x, rest: log_gammainc(a, x) + _log_moved(a, x, rest, log_gammainc(a, x)),
    partials=lambda a, x, rest, out: _log_partials(a, x, rest, log_gammainc_da(a, x), log_gammainc_dx(a, x)),
)
log_gammaincc_of_parts: Primitive = primitive(
    "log_gammaincc_of_parts", 3, floating=True, domain=AT,
    expand=lambda a, x, rest: log_gammaincc(a, x) - _log_moved(a, x, rest, log_gammaincc(a, x)),
    partials=lambda a, x, rest, out: _log_partials(
        a, x, rest, of_any(out, log_gammaincc_da(a, x)), of_any(out, log_gammaincc_dx(a, x))
    ),
)


def _at_product(of_parts: Primitive, rising: bool) -> Primitive:
    """A tail at x rate for a rate in two parts, by that at a number in two parts.

    Its slope in log(rate) is its own, for the product may underflow; where the tail is ``rising`` from -inf that is a,
    and so is that in log(x).
    """

    def at(a: Node, x: Node, rate: Node, rest: Node) -> Node:
        return of_parts(a, *Parts(rate, rest).times(x))

    def partials(a: Node, x: Node, rate: Node, rest: Node, out: Node) -> tuple[Node, Node, Node, None]:
        node = at(a, x, rate, rest)
        slopes: Any = partials_of(node)
        (of_a, of_z, _), z = slopes, node.args[1]
        low = z < format_of(z).smallest_normal if rising else eq(z, 0.0)
        of_x, of_rate = rate * of_z, x * of_z
        if rising:
            return of_a, where(low, a / x, of_x), where(low, a / rate, of_rate), None
        return of_a, of_x, where(low, 0.0, of_rate), None

    name = of_parts.name.replace("parts", "product")
    return primitive(name, 4, expand=at, partials=partials, domain=(*AT[:2], (0.5, 2.0), AT[2]))


gammainc_of_product: Primitive = _at_product(gammainc_of_parts, False)
gammaincc_of_product: Primitive = _at_product(gammaincc_of_parts, False)
log_gammainc_of_product: Primitive = _at_product(log_gammainc_of_parts, True)
log_gammaincc_of_product: Primitive = _at_product(log_gammaincc_of_parts, False)
