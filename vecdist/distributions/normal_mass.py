"""The mass of an interval under a normal distribution, by its bounds, its location and its scale as they are given.

The width and the middle of the interval are known better than the difference and the mean of two rounded z.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vecdist.distributions.parts import Parts, difference
from vecdist.expr import Node, const, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import cosh, exp, log, log1p
from vecdist.primitives.floating import polynomial
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.normal_interval import Interval
from vecdist.primitives.normal_tail import (
    LOG_TWO_PI,
    PHI_0,
    ROOT_HALF,
    erfcx,
    inverse_mills,
    inverse_mills_gap,
    log_ndtr,
    log_tail_ratio,
    normal_pdf,
)
from vecdist.primitives.rounding import product_rest, sum_rest
from vecdist.primitives.table import primitive


class Between(NamedTuple):
    """The bounds as z, the width between them and their sum, in two parts each."""

    low: Node
    high: Node
    low_rest: Node
    high_rest: Node
    width: Parts
    sum: Parts

    @property
    def interval(self) -> Interval:
        """Turned round, if need be, so that its middle is not above 0."""
        turned = self.sum.high > 0.0
        low, high = where(turned, -self.high, self.low), where(turned, -self.low, self.high)
        return Interval(low, high, turned, -0.5 * abs(self.sum.high), 0.5 * self.width.high)

    @property
    def log_ratio(self) -> Parts:
        """log(Phi(low) / Phi(high)) of the turned interval, with the difference of squares of bounds as a product."""
        width, sum_, interval = self.width, self.sum, self.interval
        product = width.high * sum_.high
        lost = product_rest(width.high, sum_.high) + (width.high * sum_.rest + width.rest * sum_.high)
        rest = where(abs(product) < math.inf, lost, 0.0)  # nothing is lost of an infinite bound
        half = Parts(0.5 * product, 0.5 * rest).magnitude()
        tail = log_tail_ratio(interval.low, interval.high)
        return Parts(tail - half.high, sum_rest(tail, -half.high) - half.rest)


    @property
    def peak(self) -> Parts:
        """The middle where the interval is narrow, 0 where that is inside, and else the end that is next to it."""
        interval, half = self.interval, 0.5
        high = where(interval.turned, self.low, self.high)
        rest = where(interval.turned, self.low_rest, self.high_rest)
        below = interval.high < 0.0
        return Parts(
            where(interval.narrow, half * self.sum.high, where(below, high, 0.0)),
            where(interval.narrow, half * self.sum.rest, where(below, rest, 0.0)),
        )

    @property
    def relative(self) -> Node:
        """The mass over exp(-peak^2 / 2)."""
        interval = self.interval
        below = 0.5 * erfcx(-ROOT_HALF * interval.high) * -self.log_ratio.expm1()
        around = where(interval.high < 0.0, below, 1.0 - interval.outside)
        return where(interval.narrow, (2.0 * PHI_0) * interval.half * interval.bulge, around)


    @property
    def moments(self) -> tuple[Node, Node]:
        """The mean less the peak, and the mean square less that of the peak."""
        interval, low, high = self.interval, self.interval.low, self.interval.high
        first, second = interval.moments
        turned = where(interval.turned, const(-1.0, low.dtype), 1.0)
        share, end = 1.0 / (-self.log_ratio).expm1(), eq(low, -math.inf)  # of what is below the interval
        gap = inverse_mills_gap(high)
        below = -gap - where(end, 0.0, share * ((gap - inverse_mills_gap(low)) - self.width.high))
        square_below = 1.0 + high * below - where(end, 0.0, self.width.high * (share * inverse_mills(low)))
        start, stop, inside = normal_pdf(self.low), normal_pdf(self.high), 1.0 - interval.outside
        edges = where(eq(start, 0.0), 0.0, self.low * start) - where(eq(stop, 0.0), 0.0, self.high * stop)
        wide = where(high < 0.0, turned * below, (start - stop) / inside)
        square_wide = where(high < 0.0, square_below, 1.0 + edges / inside)
        product = self.sum.high * (turned * first)
        return where(interval.narrow, turned * first, wide), where(interval.narrow, product + second, square_wide)


def _between(loc: Node, scale: Node, low: Node, high: Node) -> Between:
    start, end = difference(low, loc), difference(high, loc)
    total = Parts(start.high + end.high, sum_rest(start.high, end.high) + (start.rest + end.rest))
    width = difference(high, low).over(scale)
    start, end = start.over(scale), end.over(scale)
    return Between(start.high, end.high, start.rest, end.rest, width, total.over(scale))


def _log_mass(loc: Node, scale: Node, low: Node, high: Node) -> Node:
    """The lower tail is never taken from 1."""
    between = _between(loc, scale, low, high)
    interval = between.interval
    narrow = log(2.0 * interval.half * interval.bulge) - 0.5 * (square(interval.middle) + LOG_TWO_PI)
    below = log_ndtr(interval.high) + log1mexp(between.log_ratio.whole)
    return where(interval.narrow, narrow, where(interval.high < 0.0, below, log1p(-interval.outside)))


def _sinh_over(t: Node) -> Node:
    """sinh(t) / t for |t| at most a half."""
    return polynomial(square(t), tuple(1 / math.factorial(2 * k + 1) for k in range(7)))


def _log_mass_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    """Those in loc and scale are one expression where the interval is narrow, for its ends nearly cancel."""
    between = _between(loc, scale, low, high)
    interval, upper = between.interval, upper_edge(loc, scale, low, high)
    lower = upper_edge(-loc, scale, -high, -low)
    m, h = 0.5 * between.sum.high, interval.half
    t, gain = where(interval.narrow, m * h, 0.0), exp(-0.5 * square(h)) / interval.bulge
    near_loc, near_scale = m * gain * _sinh_over(t), gain * (square(m) * _sinh_over(t) - cosh(t))
    moment = where(eq(lower, 0.0), 0.0, between.low * lower) - where(eq(upper, 0.0), 0.0, between.high * upper)
    return (
        where(interval.narrow, near_loc, lower - upper) / scale, where(interval.narrow, near_scale, moment) / scale,
        -lower / scale, upper / scale,
    )


def _upper_edge(loc: Node, scale: Node, low: Node, high: Node) -> Node:
    between = _between(loc, scale, low, high)
    interval, ratio = between.interval, between.log_ratio
    product, half = 0.5 * between.sum.high * interval.half, interval.half
    narrow = exp(-product - 0.5 * square(half)) / (2.0 * half * interval.bulge)
    end, up = where(interval.turned, interval.low, interval.high), where(interval.turned, -ratio.high, ratio.high)
    below = inverse_mills(end) / abs(Parts(up, where(interval.turned, -ratio.rest, ratio.rest)).expm1())
    around = normal_pdf(between.high) * (1.0 - between.high * between.high_rest) / (1.0 - interval.outside)
    wide = where(interval.high < 0.0, below, around)
    return where(eq(abs(high), math.inf), 0.0, where(interval.narrow, narrow, wide))


def _upper_edge_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    start, end = (low - loc) / scale, (high - loc) / scale
    lower = upper_edge(-loc, scale, -high, -low)
    falls = where(eq(out, 0.0), 0.0, out * (end + out))
    of_end, of_start = falls / scale, out * lower / scale
    turned = where(eq(out, 0.0), 0.0, end * of_end) - where(eq(of_start, 0.0), 0.0, start * of_start)
    return of_end - of_start, turned, of_start, -of_end


def _log_lower_share(loc: Node, scale: Node, low: Node, x: Node, high: Node) -> Node:
    """The difference of the squares of the peaks as a product, which may be much less than both."""
    part, whole = _between(loc, scale, low, x), _between(loc, scale, low, high)
    gap = (part.peak - whole.peak).whole * (0.5 * part.peak.high + 0.5 * whole.peak.high)
    return log_quotient(part.relative, whole.relative) - gap


def _log_lower_share_partials(
    loc: Node, scale: Node, low: Node, x: Node, high: Node, out: Node
) -> tuple[Node, ...]:
    """Those in loc and scale by the moments about the peaks: the means and mean squares nearly cancel."""
    part, whole = _between(loc, scale, low, x), _between(loc, scale, low, high)
    (mean, square), (whole_mean, whole_square) = part.moments, whole.moments
    gap, both = (part.peak - whole.peak).whole, part.peak.high + whole.peak.high
    start = upper_edge(-loc, scale, -high, -low) - upper_edge(-loc, scale, -x, -low)
    return (
        (gap + (mean - whole_mean)) / scale, (gap * both + (square - whole_square)) / scale,
        start / scale, upper_edge(loc, scale, low, x) / scale, -upper_edge(loc, scale, low, high) / scale,
    )


BOUNDS = ((-1.0, 1.0), (0.5, 2.0), (-4.0, -1.5), (1.5, 4.0))
log_mass_between = primitive(  # log(Phi((high - loc) / scale) - Phi((low - loc) / scale))
    "log_mass_between", 4, expand=_log_mass, partials=_log_mass_partials, floating=True, domain=BOUNDS,
)
upper_edge = primitive(  # phi((high - loc) / scale) over that mass
    "upper_edge", 4, expand=_upper_edge, partials=_upper_edge_partials, floating=True, domain=BOUNDS,
)
log_lower_share = primitive(  # log of the mass from low to x over the mass from low to high
    "log_lower_share", 5, expand=_log_lower_share, partials=_log_lower_share_partials, floating=True,
    domain=(*BOUNDS[:3], (-1.0, 1.0), BOUNDS[3]),
)
