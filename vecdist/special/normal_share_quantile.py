"""Quantiles of a truncated normal distribution, by the distance from the bound that is nearer in probability.

Far out in a tail, and in a narrow interval, all that matters is less than rounding takes from x: derivatives are made
of x in two parts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, sqrt
from vecdist.primitives.elementary import exp, expm1, log, log1p, logaddexp
from vecdist.primitives.floating import INFINITY, at_least, at_most
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.rounding import sum_rest
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.normal_mass import Between
from vecdist.special.normal_tail import PHI_0, inverse_mills, log_ndtr, ndtri_exp
from vecdist.special.parts import Parts, difference

STEPS = 4  # of Newton's method for the logarithm of a share
CLOSE = 0.2  # the width in scales up to which it is solved as if the density were constant
SHORT = 1e-3  # scales, and a share, within which the tail is a line
APART, FAR = 0.5, 3.0  # scales from loc from where on a close and a wide interval are solved from their nearer end


def _between(u: Parts, v: Parts, scale: Node, width: Node | None = None) -> Between:
    """The interval between two distances from loc; its ``width`` may be known better than these, or else it is NaN."""
    total = Parts(u.high + v.high, sum_rest(u.high, v.high) + (u.rest + v.rest))
    found = _settled(v - u)
    if width is not None:
        known = eq(width, width)
        found = Parts(where(known, width, found.high), where(known, 0.0, found.rest))
    return Between(*(part.over(scale) for part in (u, v, found, total)))


def _settled(parts: Parts) -> Parts:
    """With a first part that is the sum as rounded, after a difference that cancelled."""
    finite = abs(parts.high) < math.inf
    whole = where(finite, parts.whole, parts.high)
    return Parts(whole, where(finite, (parts.high - whole) + parts.rest, 0.0))


class _Interval(NamedTuple):
    """The bounds, as distances from loc."""

    loc: Node
    scale: Node
    low: Parts
    high: Parts

    @property
    def whole(self) -> Between:
        return _between(self.low, self.high, self.scale)

    def anchor(self, q: Node) -> Parts:
        """The bound that is nearer in probability, loc if that is infinite."""
        end = Parts(*(where(q < 0.5, low, high) for low, high in zip(self.low, self.high, strict=True)))
        finite = abs(end.high) < math.inf
        return Parts(where(finite, end.high, 0.0), where(finite, end.rest, 0.0))

    def part(self, q: Node, d: Node) -> Between:
        """What lies between that bound and the point at ``d`` from it."""
        at, lower = self.anchor(q) + Parts(d, 0.0 * d), q < 0.5
        near = where(lower, self.low.high, self.high.high)
        ends = (
            Parts(*(where(lower, one, other) for one, other in zip(this, that, strict=True)))
            for this, that in ((self.low, at), (at, self.high))
        )
        return _between(*ends, scale=self.scale, width=where(abs(near) < math.inf, abs(d), math.nan))

    def both(self, q: Node, d: Node) -> tuple[Between, Between]:
        """What lies below and beyond the point at ``d`` from that bound."""
        at, lower = self.anchor(q) + Parts(d, 0.0 * d), q < 0.5
        widths = (
            where(first & (abs(end.high) < math.inf), abs(d), math.nan)
            for first, end in ((lower, self.low), (~lower, self.high))
        )
        below, beyond = widths
        return _between(self.low, at, self.scale, below), _between(at, self.high, self.scale, beyond)


def _interval(loc: Node, scale: Node, low: Node, high: Node) -> _Interval:
    return _Interval(loc, scale, difference(low, loc), difference(high, loc))


def _log_share(part: Between, whole: Between) -> Node:
    """Of the mass of the whole, whose peaks may nearly be the same."""
    gap = (part.peak - whole.peak).whole * (0.5 * part.peak.high + 0.5 * whole.peak.high)
    inside, mass = (where(at.interval.narrow, PHI_0 * at.relative, at.relative) for at in (part, whole))
    return log_quotient(inside, mass) - gap


def _first_guess(q: Node, whole: Between) -> tuple[Node, Node]:
    """z, and the distance from the bound that is nearer in probability, in scales.

    By the rate at which the tail beyond the end next to loc falls, by a line, or by the tails of all numbers.
    """
    low, high, turned = whole.low.high, whole.high.high, whole.turned
    near, far = where(turned, low, -high), where(turned, high, -low)
    part, rest = where(turned, q, 1.0 - q), where(turned, 1.0 - q, q)
    close, a = whole.width.high < CLOSE, at_least(near, 0.0)
    apart = near > where(close, const(APART, q.dtype), FAR)
    rate, ratio = inverse_mills(-a), where(apart, whole.log_ratio.whole, -1.0)
    fall = where(part < 0.5, -log1p(part * expm1(ratio)), -log(rest + part * exp(ratio)))
    tail = 2.0 * fall / (rate + sqrt(rate * rate + 2.0 * fall))
    mass = log(-expm1(logaddexp(log_ndtr(near), log_ndtr(-far))))
    shorter, start = where(part < 0.5, part, rest), where(part < 0.5, near, -far)
    all_numbers = ndtri_exp(logaddexp(log_ndtr(start), log(shorter) + mass))
    all_numbers = at_most(at_least(where(part < 0.5, all_numbers, -all_numbers), near), far)
    lower = q < 0.5
    line, first = close & ~apart, (turned & lower) | (~turned & ~lower)
    along = where(apart, tail, part * where(line, whole.width.high, 0.0))
    edge = where(turned, whole.edges[1], whole.edges[0])
    steep = apart & (rest * far < edge)  # so near the far end that the density there is an exponential
    slope = where(steep, at_most(far, INFINITY), 1.0)
    end = where(steep, log1p(slope * (rest / where(steep, edge, 1.0))) / slope, whole.width.high - tail)
    back = where(apart, end, rest * where(line, whole.width.high, 0.0))
    z = where(apart | close, near + along, all_numbers)
    ahead = where(apart | close, along, all_numbers - near)
    return where(turned, z, -z), where(first, ahead, where(apart | close, back, far - all_numbers))


def _offset(q: Node, loc: Node, scale: Node, low: Node, high: Node) -> Node:
    """From the anchor, by the logarithm of the shorter tail."""
    interval = _interval(loc, scale, low, high)
    whole, lower = interval.whole, q < 0.5
    z, away = _first_guess(q, whole)
    bounded = abs(where(lower, low, high)) < math.inf
    share, rate = where(lower, q, 1.0 - q), where(lower, whole.edges[0], whole.edges[1])
    away = where((away < SHORT) & (share < SHORT) & (rate > 0.0), share / rate, away)
    d = scale * where(bounded, where(lower, away, -away), z)
    for _ in range(STEPS):
        part = interval.part(q, d)
        slope = where(lower, part.edges[1], -part.edges[0])
        step = scale * (log(share) - _log_share(part, whole)) / slope
        d = d + where(abs(step) < math.inf, step, 0.0)
    return d


def _quantile(q: Node, loc: Node, scale: Node, low: Node, high: Node) -> Node:
    end = where(q < 0.5, low, high)
    d = offset(q, loc, scale, low, high)
    return at_most(at_least(where(abs(end) < math.inf, end, loc) + d, low), high)


def _slopes(q: Node, loc: Node, scale: Node, low: Node, high: Node) -> dict[str, Node]:
    """By the means and mean squares of what is on both sides of x: the mean of one is below that of the other."""
    interval = _interval(loc, scale, low, high)
    whole, rest = interval.whole, 1.0 - q
    below, beyond = interval.both(q, offset(q, loc, scale, low, high))
    lower = where(below.edges[1] < math.inf, q * below.edges[1], whole.edges[0])  # of the least q, it is that of low
    sparsity = scale / where(q < 0.5, lower, rest * beyond.edges[0])
    (mean, squares), (mean_beyond, squares_beyond) = below.moments, beyond.moments
    gap, both = (beyond.peak - below.peak).whole, beyond.peak.high + below.peak.high
    spread = q * rest * sparsity / scale
    of_low, of_high = (edge * sparsity / scale for edge in whole.edges)
    return {
        "q": sparsity, "loc": spread * (gap + (mean_beyond - mean)),
        "scale": spread * (gap * both + (squares_beyond - squares)), "low": rest * of_low, "high": q * of_high,
    }


AT = ((0.05, 0.95), (-1.0, 1.0), (0.5, 2.0), (-4.0, -1.5), (1.5, 4.0))
offset: Primitive = primitive(
    "truncated_normal_offset", 5, expand=_offset, tangent=no_derivatives("truncated_normal_offset"), floating=True,
    domain=AT,
)
SLOPES = [
    primitive(
        name, 5, expand=lambda *at, place=place: _slopes(*at)[place], tangent=no_derivatives(name), floating=True,
        domain=AT,
    )
    for place in ("q", "loc", "scale", "low", "high")
    for name in [f"truncated_normal_quantile_d{place}"]
]  # fmt: skip
share_quantile: Primitive = primitive(  # the x for which log_lower_share is log(q)
    "truncated_normal_quantile", 5, expand=_quantile, partials=lambda *at: tuple(slope(*at[:5]) for slope in SLOPES),
    floating=True, domain=AT,
)
