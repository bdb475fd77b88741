"""The logarithm of the mass of an interval under the normal distribution, whatever its width and wherever it lies."""

from __future__ import annotations

from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import INFINITY, at_least, width
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.normal_tail import LOG_TWO_PI, inverse_mills, log_ndtr, log_tail_ratio, normal_pdf, tail_mass

TERMS = {8: 22, 4: 12}  # of the series of a narrow interval
NARROW = 0.7


class Interval(NamedTuple):
    """An interval turned round, where ``turned``, so that its middle is not above 0.

    ``narrow`` says that its half width times the middle, or 1, is small.  Then its mass is 2 ``half`` phi(``middle``)
    times the ``bulge``; else it is Phi(high) (1 - exp(``ratio``)) below 0, and 1 - ``outside`` around it.
    """

    low: Node
    high: Node
    turned: Node
    middle: Node
    half: Node

    @property
    def narrow(self) -> Node:
        return self.half * at_least(-self.middle, 1.0) <= NARROW

    @property
    def bulge(self) -> Node:
        """The mean of phi(middle + half u) / phi(middle) over -1 < u < 1: Hermite polynomials, DLMF 18.12.16."""
        product, square = self.middle * self.half, self.half * self.half
        before, term = const(1, self.half.dtype), product
        total = before
        for n in range(1, TERMS[width(self.half)]):
            before, term = term, (product * term - square * before) * (1 / (n + 1))
            if n % 2:
                total = total + term * (1 / (n + 2))
        return total

    @property
    def moments(self) -> tuple[Node, Node]:
        """The mean of half u and of its square, of a narrow interval: the bulge with powers of u."""
        product, square = self.middle * self.half, self.half * self.half
        before, term = const(1, self.half.dtype), product
        first, second = term * (1 / 3), before * (1 / 3)
        for n in range(1, TERMS[width(self.half)]):
            before, term = term, (product * term - square * before) * (1 / (n + 1))
            if n % 2:
                second = second + term * (1 / (n + 4))
            else:
                first = first + term * (1 / (n + 3))
        return -(self.half * (first / self.bulge)), square * (second / self.bulge)

    @property
    def ratio(self) -> Node:
        """log(Phi(low) / Phi(high)) of negative bounds: the difference of their squares is taken as a product."""
        return 2.0 * self.half * self.middle + log_tail_ratio(self.low, self.high)

    @property
    def outside(self) -> Node:
        return tail_mass(self.low) + tail_mass(self.high)


def _interval(b: Node, a: Node) -> Interval:
    turned = a + b > 0
    low, high = where(turned, -b, a), where(turned, -a, b)
    return Interval(low, high, turned, 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low)


def _log_diff_ndtr(b: Node, a: Node) -> Node:
    """log(Phi(b) - Phi(a)); the lower tail is never taken from 1."""
    interval = _interval(b, a)
    m = interval.middle
    narrow = log(2.0 * interval.half * interval.bulge) - ((0.5 * m) * m + 0.5 * LOG_TWO_PI)
    below = log_ndtr(interval.high) + log1mexp(interval.ratio)
    return where(interval.narrow, narrow, where(interval.high < 0, below, log1p(-interval.outside)))


def _edge_share(b: Node, a: Node) -> Node:
    """phi(b) / (Phi(b) - Phi(a))."""
    interval = _interval(b, a)
    product, half = interval.middle * interval.half, interval.half
    exponent = where(interval.turned, product, -product) - 0.5 * half * half
    narrow = exp(exponent) / (2.0 * half * interval.bulge)
    end = where(interval.turned, interval.low, interval.high)
    ratio = where(interval.turned, -interval.ratio, interval.ratio)
    below = inverse_mills(end) / abs(expm1(ratio))
    wide = where(interval.high < 0, below, normal_pdf(b) / (1.0 - interval.outside))
    return where(eq(abs(b), INFINITY), 0.0, where(interval.narrow, narrow, wide))


def _edge_share_slopes(b: Node, a: Node, out: Node) -> tuple[Node, Node]:
    return where(eq(out, 0), 0.0, -(out * (b + out))), out * edge_share(-a, -b)


log_diff_ndtr: Primitive = primitive(  # log(Phi(b) - Phi(a))
    "log_diff_ndtr", 2, expand=_log_diff_ndtr, partials=lambda b, a, out: (edge_share(b, a), -edge_share(-a, -b)),
    floating=True, domain=((0.5, 3.0), (-3.0, 0.3)),
)
# phi(b) / (Phi(b) - Phi(a)): the density of a truncated normal distribution at its upper end
edge_share: Primitive = primitive(
    "edge_share", 2, expand=_edge_share, partials=_edge_share_slopes, floating=True, domain=((0.5, 3.0), (-3.0, 0.3)),
)
