"""Logarithms of products and quotients, which are next to 0 where two logarithms would cancel.

Fractions are multiplied and divided, and exponents added, so that nothing is out of range; what rounding takes from a
product or a quotient is no more than a last term of the logarithm.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.floating import INFINITY, NAN, binary, head, joined, lifted, log_fraction
from vecdist.primitives.power import extended_log_of_parts
from vecdist.primitives.table import Primitive, flat, primitive


def _taken_apart(x: Node) -> tuple[Node, Node]:
    """``k`` and a fraction m next to 1 for x = 2**k m."""
    k, f, _ = binary(*lifted(x))
    return k, 1.0 + f


def _lost(x: Node, y: Node, product: Node) -> Node:
    """x y - product, by halves of the digits (Dekker 1971)."""
    x_head, y_head = head(x), head(y)
    x_tail, y_tail = x - x_head, y - y_head
    return ((x_head * y_head - product) + x_head * y_tail + x_tail * y_head) + x_tail * y_tail


def _normal(m: Node) -> tuple[Node, Node, Node]:
    """``k`` and ``f`` for m = 2**k (1 + f), which is not far from 1, and 2**-k."""
    large, small, zero = m > math.sqrt(2), m < math.sqrt(0.5), const(0.0, m.dtype)
    power = where(large, 0.5, where(small, 2.0, zero + 1.0))
    return where(large, 1.0, where(small, -1.0, zero)), m * power - 1.0, power


def _log_fraction(f: Node, rest: Node) -> Node:
    """log(1 + f + rest): the rest over 1 + f, as well as that matters beside the logarithm of 1 + f."""
    return log_fraction(f) + rest * ((1.0 - f) + f * f)


def _edge(least: Node, most: Node, like: Node) -> Node:
    """The logarithm of what is 0 or infinite, if one of both."""
    nan = const(NAN, like.dtype)
    return where(least, where(most, nan, -INFINITY), where(most, INFINITY, nan))


def _log_product(x: Node, y: Node) -> Node:
    (k, m), (j, n) = _taken_apart(x), _taken_apart(y)
    product = m * n
    i, f, power = _normal(product)
    logarithm = joined((k + j) + i, _log_fraction(f, _lost(m, n, product) * power))
    edge = _edge(eq(x, 0.0) | eq(y, 0.0), eq(x, INFINITY) | eq(y, INFINITY), x)
    return where(_inside(x) & _inside(y), logarithm, edge)


class _Quotient(NamedTuple):
    """2**k (1 + f + rest), and the logarithm where it is not a number above 0."""

    k: Node
    f: Node
    rest: Node
    inside: Node
    edge: Node


def _quotient(x: Node, y: Node) -> _Quotient:
    (k, m), (j, n) = _taken_apart(x), _taken_apart(y)
    inverse = 1.0 / n
    quotient = m * inverse
    i, f, power = _normal(quotient)
    rest = -_lost(quotient, n, m) * inverse * power
    edge = _edge(eq(x, 0.0) | eq(y, INFINITY), eq(x, INFINITY) | eq(y, 0.0), x)
    return _Quotient((k - j) + i, f, rest, _inside(x) & _inside(y), edge)


def _log_quotient(x: Node, y: Node) -> Node:
    """Of two fractions within sqrt(2) of each other, whose difference is exact, and of the exponents."""
    top, bottom = binary(*lifted(x)), binary(*lifted(y))
    m, n = 1.0 + top.f, 1.0 + bottom.f
    step = where(m > math.sqrt(2) * n, 1.0, where(n > math.sqrt(2) * m, const(-1, x.dtype), const(0, x.dtype)))
    n = where(step > 0, 2.0, where(step < 0, const(0.5, x.dtype), const(1, x.dtype))) * n
    inside = joined((top.k - bottom.k) + step, log_fraction((m - n) / n))
    finite = (x > 0) & (x < INFINITY) & (y > 0) & (y < INFINITY)
    return where(finite, inside, _limit(x) - _limit(y))


def _limit(x: Node) -> Node:
    """log(x) where that is no number, 0 elsewhere."""
    beyond = where(x < 0, const(NAN, x.dtype), where(eq(x, 0), const(-INFINITY, x.dtype), x))
    return where((x > 0) & (x < INFINITY), 0.0, beyond)


def _log_quotient_high(x: Node, y: Node) -> Node:
    q = _quotient(x, y)
    return where(q.inside, extended_log_of_parts(q.k, q.f, q.rest)[0], q.edge)


def _log_quotient_rest(x: Node, y: Node) -> Node:
    q = _quotient(x, y)
    return where(q.inside, extended_log_of_parts(q.k, q.f, q.rest)[1], 0.0)


def _inside(x: Node) -> Node:
    return (x > 0.0) & (x < INFINITY)


log_product: Primitive = primitive(  # log(x y) for x, y > 0
    "log_product", 2, expand=_log_product, partials=lambda x, y, out: (1.0 / x, 1.0 / y),
    floating=True, domain=((1e-3, 1e3), (0.1, 30.0)),
)
OF_QUOTIENT: Any = {
    "partials": lambda x, y, out: (1.0 / x, -(1.0 / y)), "floating": True, "domain": ((1e-3, 1e3), (0.1, 30.0)),
}  # fmt: skip
log_quotient: Primitive = primitive("log_quotient", 2, expand=_log_quotient, **OF_QUOTIENT)  # log(x / y) for x, y > 0
# the same as rounded, and with half as many digits again what rounding has lost
log_quotient_high: Primitive = primitive("log_quotient_high", 2, expand=_log_quotient_high, **OF_QUOTIENT)
log_quotient_rest: Primitive = primitive(
    "log_quotient_rest", 2, expand=_log_quotient_rest, partials=flat, floating=True, domain=((1e-3, 1e3), (0.1, 30.0)),
)
