"""The mass of an interval under a normal distribution, by its bounds, its location and its scale as they are given.

The width and the middle of the interval are known better than the difference and the mean of two rounded z.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import EXP_RANGE, clamped
from vecdist.primitives.floating import at_least, format_of, head, polynomial, reduced_exp, scaled, width
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.logarithms import log_of_either
from vecdist.primitives.rounding import product_rest, sum_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.normal_interval import Interval
from vecdist.special.normal_tail import (
    LOG_TWO_PI,
    MOST,
    PHI_0,
    inverse_mills,
    inverse_mills_gap,
    log_tail_ratio,
    normal_pdf,
    scaled_mass,
)
from vecdist.special.parts import Parts, difference


class Between(NamedTuple):
    """The bounds as z, the width between them and their sum, in two parts each."""

    low: Parts
    high: Parts
    width: Parts
    sum: Parts

    @property
    def turned(self) -> Node:
        return self.sum.high > 0.0

    @property
    def inner(self) -> Parts:
        """The upper end of the interval, turned round, if need be, so that its middle is not above 0."""
        return _either(self.turned, -self.low, self.high)

    @property
    def outer(self) -> Parts:
        """The lower end of it."""
        return _either(self.turned, -self.high, self.low)

    @property
    def interval(self) -> Interval:
        half = 0.5 * self.sum.high
        middle = where(self.turned, -half, half)
        return Interval(self.outer.high, self.inner.high, self.turned, middle, 0.5 * self.width.high)

    @property
    def below(self) -> Node:
        return self.inner.high < 0.0

    @property
    def single(self) -> Node:
        """Whether the mass is not that of all but two tails."""
        return self.interval.narrow | self.below

    @property
    def drop(self) -> Parts:
        """The difference of the squares of the bounds, halved: as a product, for it may be much less than both."""
        product = self.width.high * self.sum.high
        lost = product_rest(self.width.high, self.sum.high)
        lost = lost + (self.width.high * self.sum.rest + self.width.rest * self.sum.high)
        rest = where(abs(product) < math.inf, lost, 0.0)  # nothing is lost of an infinite bound
        return Parts(0.5 * product, 0.5 * rest).magnitude()

    @property
    def densities(self) -> tuple[Node, Node]:
        """At the inner and the outer end, over that at the inner one below 0, and over PHI_0.

        Of a narrow interval exp(-half^2 / 2), and nothing.
        """
        narrow, below, half = self.interval.narrow, self.below, self.interval.half
        inner, inner_rest = _square(self.inner)
        outer, outer_rest = _square(self.outer)
        least, drop = EXP_RANGE[width(half)][0], self.drop
        at_inner = _exp(where(narrow, -0.5 * square(half), inner), where(narrow, 0.0, inner_rest))
        of_drop = where(-drop.high < least, 0.0, -drop.rest)
        return at_inner, _exp(where(below, at_least(-drop.high, least), outer), where(below, of_drop, outer_rest))

    @property
    def outside(self) -> Node:
        """The mass of both tails."""
        inner, outer = self.densities
        return inner * scaled_mass(self.inner.high) + outer * scaled_mass(self.outer.high)

    @property
    def relative(self) -> Node:
        """The mass over exp(-peak^2 / 2), and over PHI_0 where the interval is narrow.

        Below 0, where it is not, the lesser of two terms is at most exp(-1/2) of the other.
        """
        interval, (_, outer) = self.interval, self.densities
        below = scaled_mass(self.inner.high) - outer * scaled_mass(self.outer.high)
        wide = where(self.below, below, 1.0 - self.outside)
        return where(interval.narrow, 2.0 * interval.half * interval.bulge, wide)

    @property
    def edges(self) -> tuple[Node, Node]:
        """The densities at the low and the high end, over the mass."""
        narrow, (inner, outer), scale = self.interval.narrow, self.densities, 1.0 / self.relative
        t = where(narrow, self.interval.middle * self.interval.half, 0.0)
        lift, tilt = _cosh(t), t * _sinh_over(t)
        at_inner = where(narrow, inner * (lift - tilt), where(self.below, const(PHI_0, t.dtype), PHI_0 * inner)) * scale
        at_outer = where(narrow, inner * (lift + tilt), PHI_0 * outer) * scale
        return where(self.turned, at_inner, at_outer), where(self.turned, at_outer, at_inner)

    @property
    def peak(self) -> Parts:
        """The middle where the interval is narrow, 0 where that is inside, and else the end that is next to it."""
        end = _either(self.turned, self.low, self.high)
        zero = Parts(0.0 * end.rest, 0.0 * end.rest)
        middle = Parts(0.5 * self.sum.high, 0.5 * self.sum.rest)
        return _either(self.interval.narrow, middle, _either(self.below, end, zero))

    @property
    def log_ratio(self) -> Parts:
        """log(Phi(outer) / Phi(inner)), both below 0."""
        tail = log_tail_ratio(self.outer.high, self.inner.high)
        return Parts(tail - self.drop.high, sum_rest(tail, -self.drop.high) - self.drop.rest)

    @property
    def moments(self) -> tuple[Node, Node]:
        """The mean less the peak, and the mean square less that of the peak."""
        interval, low, high = self.interval, self.interval.low, self.interval.high
        first, second = interval.moments
        turned = where(interval.turned, const(-1.0, low.dtype), 1.0)
        gap, end = inverse_mills_gap(high), eq(low, -math.inf)
        share = 1.0 / (-self.log_ratio).expm1()  # of what is below the interval
        below = -gap - where(end, 0.0, share * ((gap - inverse_mills_gap(low)) - self.width.high))
        square_below = 1.0 + high * below - where(end, 0.0, self.width.high * (share * inverse_mills(low)))
        start, stop, inside = normal_pdf(self.low.high), normal_pdf(self.high.high), 1.0 - interval.outside
        edges = where(eq(start, 0.0), 0.0, self.low.high * start) - where(eq(stop, 0.0), 0.0, self.high.high * stop)
        wide = where(high < 0.0, turned * below, (start - stop) / inside)
        square_wide = where(high < 0.0, square_below, 1.0 + edges / inside)
        product = self.sum.high * (turned * first)
        return where(interval.narrow, turned * first, wide), where(interval.narrow, product + second, square_wide)


def _either(condition: Node, yes: Parts, no: Parts) -> Parts:
    return Parts(where(condition, yes.high, no.high), where(condition, yes.rest, no.rest))


def _square(z: Parts) -> tuple[Node, Node]:
    """-z^2 / 2 in two parts, the larger one exact; far out, where its exponential is 0, it is not more."""
    most = MOST[width(z.high)]
    a = clamped(z.high, (-most, most))
    a_head = head(a)
    rest = where(abs(z.high) < most, a * z.rest, 0.0)
    return (-0.5 * a_head) * a_head, -0.5 * ((a - a_head) * (a + a_head)) - rest


def _exp(x: Node, rest: Node) -> Node:
    reduced = reduced_exp(x, 2 * format_of(x).bias, rest)
    return scaled(1.0 + reduced.p, reduced)


def _between(loc: Node, scale: Node, low: Node, high: Node) -> Between:
    start, end = difference(low, loc), difference(high, loc)
    total = Parts(start.high + end.high, sum_rest(start.high, end.high) + (start.rest + end.rest))
    return Between(*(part.over(scale) for part in (start, end, difference(high, low), total)))


def _log_mass(loc: Node, scale: Node, low: Node, high: Node) -> Node:
    """The lower tail is never taken from 1."""
    between = _between(loc, scale, low, high)
    narrow, single, middle = between.interval.narrow, between.single, between.interval.middle
    mass = log_of_either(single, where(single, between.relative, 1.0), -between.outside)
    peak = where(narrow, square(middle) + LOG_TWO_PI, where(between.below, square(between.inner.high), 0.0))
    return mass - 0.5 * peak


def _sinh_over(t: Node) -> Node:
    """sinh(t) / t for |t| at most 0.7."""
    return polynomial(square(t), tuple(1 / math.factorial(2 * k + 1) for k in range(width(t) + 1)))


def _cosh(t: Node) -> Node:
    """cosh(t) for |t| at most 0.7."""
    return polynomial(square(t), tuple(1 / math.factorial(2 * k) for k in range(width(t) + 1)))


def _log_mass_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    """Those in loc and scale are one expression where the interval is narrow, for its ends nearly cancel."""
    between, inverse = _between(loc, scale, low, high), 1.0 / scale
    lower, upper = lower_edge(loc, scale, low, high), upper_edge(loc, scale, low, high)
    narrow, m, h = between.interval.narrow, between.interval.middle, between.interval.half
    t = where(narrow, m * h, 0.0)
    slope = _sinh_over(t) / _cosh(t)  # tanh(t) / t
    near_loc = (lower + upper) * (t * slope)
    near_scale = (lower + upper) * (h * (square(m) * slope - 1.0))
    moment = (
        where(eq(lower, 0.0), 0.0, between.low.high * lower) - where(eq(upper, 0.0), 0.0, between.high.high * upper)
    )
    return (
        where(narrow, where(between.turned, -near_loc, near_loc), lower - upper) * inverse,
        where(narrow, near_scale, moment) * inverse, -lower * inverse, upper * inverse,
    )


def _upper_edge_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    start, end = (low - loc) / scale, (high - loc) / scale
    falls = where(eq(out, 0.0), 0.0, out * (end + out))
    of_end, of_start = falls / scale, out * lower_edge(loc, scale, low, high) / scale
    turned = where(eq(out, 0.0), 0.0, end * of_end) - where(eq(of_start, 0.0), 0.0, start * of_start)
    return of_end - of_start, turned, of_start, -of_end


def _lower_edge_partials(loc: Node, scale: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    """Those of the upper edge of the interval turned round."""
    of_loc, of_scale, of_end, of_start = _upper_edge_partials(-loc, scale, -high, -low, out)
    return -of_loc, of_scale, -of_start, -of_end


def _log_lower_share(loc: Node, scale: Node, low: Node, x: Node, high: Node) -> Node:
    """The difference of the squares of the peaks as a product, which may be much less than both."""
    part, whole = _between(loc, scale, low, x), _between(loc, scale, low, high)
    gap = (part.peak - whole.peak).whole * (0.5 * part.peak.high + 0.5 * whole.peak.high)
    inside, mass = (where(at.interval.narrow, PHI_0 * at.relative, at.relative) for at in (part, whole))
    return log_quotient(inside, mass) - gap


def _log_lower_share_partials(
    loc: Node, scale: Node, low: Node, x: Node, high: Node, out: Node
) -> tuple[Node, ...]:
    """Those in loc and scale by the moments about the peaks: the means and mean squares nearly cancel."""
    part, whole = _between(loc, scale, low, x), _between(loc, scale, low, high)
    (mean, square), (whole_mean, whole_square) = part.moments, whole.moments
    gap, both = (part.peak - whole.peak).whole, part.peak.high + whole.peak.high
    start = lower_edge(loc, scale, low, high) - lower_edge(loc, scale, low, x)
    return (
        (gap + (mean - whole_mean)) / scale, (gap * both + (square - whole_square)) / scale,
        start / scale, upper_edge(loc, scale, low, x) / scale, -upper_edge(loc, scale, low, high) / scale,
    )


BOUNDS = ((-1.0, 1.0), (0.5, 2.0), (-4.0, -1.5), (1.5, 4.0))
log_mass_between: Primitive = primitive(  # log(Phi((high - loc) / scale) - Phi((low - loc) / scale))
    "log_mass_between", 4, expand=_log_mass, partials=_log_mass_partials, floating=True, domain=BOUNDS,
)
lower_edge: Primitive = primitive(  # phi((low - loc) / scale) over that mass
    "lower_edge", 4, expand=lambda *at: _between(*at).edges[0], partials=_lower_edge_partials, floating=True,
    domain=BOUNDS,
)
upper_edge: Primitive = primitive(  # phi((high - loc) / scale) over that mass
    "upper_edge", 4, expand=lambda *at: _between(*at).edges[1], partials=_upper_edge_partials, floating=True,
    domain=BOUNDS,
)
log_lower_share: Primitive = primitive(  # log of the mass from low to x over the mass from low to high
    "log_lower_share", 5, expand=_log_lower_share, partials=_log_lower_share_partials, floating=True,
    domain=(*BOUNDS[:3], (-1.0, 1.0), BOUNDS[3]),
)
