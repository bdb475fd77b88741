"""Derivatives of B(a + x, b + y) / B(a, b), in which all that can cancel is a difference of two positive gaps."""

from vecdist.expr import Node, where
from vecdist.primitives.special import digamma_delta, trigamma
from vecdist.primitives.table import primitive

STEPS = 3  # up the recurrence of DLMF 5.5.2, from where digamma_delta needs none


def _digamma_rise(x: Node, d: Node) -> Node:
    """By the differences of the reciprocals, which all have one sign, where x is small."""
    below = x < STEPS
    low = where(below, x, 1.0)
    steps = [d / (low + i) / (low + d + i) for i in range(STEPS)]
    return where(below, sum(steps[1:], steps[0]), 0.0) + digamma_delta(where(below, x + STEPS, x), d)


def _digamma_rise_partials(x: Node, d: Node, out: Node) -> tuple[Node, Node]:
    return trigamma(x + d) - trigamma(x), trigamma(x + d)


digamma_rise = primitive(  # digamma(x + d) - digamma(x), relative to itself also where both are small
    "digamma_rise", 2, expand=_digamma_rise, partials=_digamma_rise_partials, floating=True,
    domain=((0.05, 60.0), (0.05, 60.0)),
)


def slope(a: Node, b: Node, x: Node, y: Node) -> Node:
    """The derivative of log B(a + x, b + y) - log B(a, b) in a: of the two pairs of gaps that with the smaller ones."""
    narrow = b < x
    above = digamma_rise(where(narrow, a + x, a + b), where(narrow, y + b, x + y))
    return digamma_rise(a, where(narrow, b, x)) - above
