"""The mass around the largest value of y^(a - 1) exp(-(y - m)^2 / 2) over y > 0, relative to y times that value."""

from __future__ import annotations

from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import maximum, minimum, sqrt, square
from vecdist.primitives.elementary import exp, expm1, log1p
from vecdist.primitives.floating import polynomial
from vecdist.special.quadrature import integral
from vecdist.special.scalar import EXPONENTIAL

STEP = 0.125  # in units of the width of the peak: the integrand does not fall off at distances of pi / 4 of log(y)
DECAY = 40.0  # an integrand is followed until it has fallen by exp(-DECAY)
REACH = 9.0  # beyond which a normal density has
SERIES = EXPONENTIAL[::-1]


def _expm1_less(t: Node) -> Node:
    """exp(t) - 1 - t."""
    near = abs(t) < 0.7
    small = where(near, t, 0.0)
    return where(near, square(small) * polynomial(small, SERIES), expm1(t) - t)


def peak_mass(a: Node, peak: Node) -> Node:
    """The integral over t = log(y / peak) for a peak where a = peak (peak - m), of which m is no argument.

    There the exponent has fallen by a (exp(t) - 1 - t) + (peak (exp(t) - 1))^2 / 2.
    """
    widest = 0.5 * (DECAY + sqrt(DECAY * (DECAY + 8.0 * a))) / a  # by exp(-t) - 1 + t > t^2 / (2 + t)
    narrow = peak > 10.0
    share = where(narrow, (2 * DECAY) ** 0.5 / where(narrow, peak, 10.0), 0.5)
    before = where(narrow, minimum(widest, -log1p(-share)), widest)
    sharp = sqrt(a + square(peak))

    def term(v: Node, a: Node, peak: Node, sharp: Node) -> Node:
        t = v / sharp
        return exp(-a * _expm1_less(t) - 0.5 * square(peak * expm1(t)))

    return integral(term, -maximum(before * sharp, REACH), REACH, STEP, (a, peak, sharp)) / sharp
