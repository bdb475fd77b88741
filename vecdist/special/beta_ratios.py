"""Derivatives of B(a + x, b + y) / B(a, b), where only two positive gaps can cancel, and entropies."""

import math

from vecdist.graph.node import Node, where
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import digamma_delta, trigamma
from vecdist.special.stirling import digamma_part, lgamma_excess

STEPS = 3  # up the recurrence of DLMF 5.5.2, from where digamma_delta needs none


def _digamma_rise(x: Node, d: Node) -> Node:
    """By the differences of the reciprocals, which all have one sign, where x is small."""
    below = x < STEPS
    low = where(below, x, 1.0)
    steps = [d / (low + i) / (low + d + i) for i in range(STEPS)]
    return where(below, sum(steps[1:], steps[0]), 0.0) + digamma_delta(where(below, x + STEPS, x), d)


def _digamma_rise_partials(x: Node, d: Node, out: Node) -> tuple[Node, Node]:
    return trigamma(x + d) - trigamma(x), trigamma(x + d)


digamma_rise: Primitive = primitive(  # digamma(x + d) - digamma(x), relative to itself also where both are small
    "digamma_rise", 2, expand=_digamma_rise, partials=_digamma_rise_partials, floating=True,
    domain=((0.05, 60.0), (0.05, 60.0)),
)


def slope(a: Node, b: Node, x: Node, y: Node) -> Node:
    """The derivative of log B(a + x, b + y) - log B(a, b) in a: of the two pairs of gaps that with the smaller ones."""
    narrow = b < x
    above = digamma_rise(where(narrow, a + x, a + b), where(narrow, y + b, x + y))
    return digamma_rise(a, where(narrow, b, x)) - above


def beta_spread(a: Node, b: Node) -> Node:
    """The entropy of a beta variable y but log(a b / (a + b)^3) / 2: what remains where both are large."""
    within = digamma_part(a, -1.0) + digamma_part(b, -1.0) - digamma_part(a + b, -2.0)
    return within + _excess(a, b)


def odds_spread(a: Node, b: Node) -> Node:
    """The entropy of its odds y / (1 - y) but log(a (a + b) / b^3) / 2."""
    within = digamma_part(a, -1.0) + digamma_part(b, 1.0) - digamma_part(a + b, 0.0)
    return within + _excess(a, b)


def _excess(a: Node, b: Node) -> Node:
    return lgamma_excess(a) + lgamma_excess(b) - lgamma_excess(a + b) + 0.5 * math.log(2 * math.pi)
