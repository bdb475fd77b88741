"""Distribution function of the first passage through one end of an interval, its logarithm, derivatives and inverse.

As in ``passages`` the time is t in units of the length squared, w + beta = 1 and w is the distance from the end that is
hit.  The distribution is defective: that end is hit with probability h, and what is not is at infinity.  Either the
integral of the density up to t is known, or beyond it that to infinity, whichever is not the larger by much; h is in
closed form.  Nothing cancels where a start is next to an end, as it does in the sums of error functions of Blurton,
Kesselmeier and Gondan (2012), Fast and accurate calculations for cumulative first-passage time distributions in Wiener
diffusion models, Journal of Mathematical Psychology 56, whose cases (F up to t, and h less what is beyond) these are.
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, exp, expm1, inf, log, log1p, nan, pi, sin, sqrt
from typing import Any

from vecdist.graph.node import Node, const
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.gamma_of_log import of_any
from vecdist.special.passages import EARLY, IMAGES, WAVES
from vecdist.special.scalar import (
    NODES,
    SETTLED,
    STEPS,
    WEIGHTS,
    expm1_less,
    halley,
    log_tail,
    log_tail_slope,
    narrowed,
    tail,
    tail_slope,
)

FALL = 42.0  # an integrand is followed until it has fallen by exp(-FALL)
PANEL = 3.0  # of the logarithm of time, to 32 points: it falls like exp(-exp(u)), of size 1 at pi / 2 from the line
NEVER = 1e6  # a time beyond which there is nothing, beside the chance of either end
FASTEST = 1e100  # a drift whose square is known
STRIDE, LEAST, MOST = 5.0, -690.0, 14.0  # of a search, in the logarithm of time
EVEN = 0.5


def images(s: float, w: float, beta: float) -> tuple[float, float]:
    """The early series over exp(-w^2 / (2 s)), and the derivative of its logarithm in w, but for -w / s.

    Pairs of images about the nearer end as in ``log_images``.
    """
    near, v = w < beta, min(w, beta)
    c = 2.0 if near else 1.0
    total, slope = 0.0, 0.0
    for _k in range(IMAGES):
        fall = c * (c - 2.0 * v) if near else (c - 1.0) * ((c + 1.0) - 2.0 * v)
        steep = 2.0 * c / s
        gone = -expm1(-steep * v)
        pair, term = (c + v) * (gone / v) - 2.0, exp(-0.5 * fall / s)
        if term > 0.0:
            total += term * pair
            slope += term * ((c if near else c - 1.0) * (v / s) * pair + gone + (c + v) * steep * (1.0 - gone) - 2.0)
        c += 2.0
    share, ahead = (1.0 - total, 1.0 - slope) if near else (total, -slope)
    return v * share, ahead / (v * share)


def waves(s: float, w: float, beta: float) -> tuple[float, float]:
    """The late series over exp(-pi^2 s / 2), and the derivative of its logarithm in w."""
    near, v = w < beta, min(w, beta)
    total, slope, k = 0.0, 0.0, 1.0
    while k <= WAVES:
        sign = 1.0 if near or k % 2.0 == 1.0 else -1.0
        term = sign * pi * k * exp(-0.5 * pi * pi * s * (k * k - 1.0))
        total += term * sin(k * pi * v)
        slope += term * pi * k * cos(k * pi * v)
        k += 1.0
    return total, (slope if near else -slope) / total


def density(s: float, w: float, beta: float, drift: float) -> tuple[float, float]:
    """s times the density at s without its exponentials, and the derivative of the density's logarithm in w."""
    if s < EARLY:
        y, slope = images(s, w, beta)
        y, slope = y / sqrt(2.0 * pi * s), (drift * s - w) / s + slope
    else:
        y, slope = waves(s, w, beta)
        y, slope = s * y, drift + slope
    return y, slope


def reach(ahead: float, against: float, less: float) -> float:
    """The u where ``ahead`` expm1(u) + ``against`` expm1(-u) is FALL; ``less`` is the first less the second."""
    b = less - FALL
    root = sqrt(b * b + 4.0 * FALL * ahead) if abs(b) < 1e100 else abs(b)
    z = 2.0 * FALL / (b + root) if b > 0.0 else (root - b) / (2.0 * ahead)
    return log1p(z)


def whole(t: float, w: float, beta: float, drift: float, side: float) -> tuple[float, float, float, float, float]:
    """The integral of the density over all before t, for ``side`` -1, or beyond, for 1, as exp(e) y.

    With its slopes in w and drift and s times the density over exp(e).  Of a drift away from the end it is what that
    is over exp(-2 |drift| w).  Over u with s = t exp(side u), from 0 to where nothing is left.
    """
    size = abs(drift)
    late, rise, pull = t >= EARLY, 0.5 * w * (w / t), 0.5 * size * (size * t)
    calm = 0.5 * pi * pi
    apart = 0.5 * (w - size * t) * ((w + size * t) / t)
    end = reach(rise, pull, apart) if side < 0.0 else reach(pull + calm * t, rise, calm * t - apart)
    e = size * (w - 0.5 * size * t) - calm * t if late else -0.5 * (w - size * t) * ((w - size * t) / t)
    total, of_w, of_drift, start = 0.0, 0.0, 0.0, 0.0
    while start < end:
        length = min(PANEL, end - start)
        for k in range(32):
            node = NODES[k // 2]
            if k % 2 == 1:
                node = 1.0 - node
            u = side * (start + length * node)
            s = t * exp(u)
            y, slope = density(s, w, beta, drift)
            shape = calm * t * expm1(u) if late else rise * expm1(-u) if s < EARLY else calm * s - rise
            y *= length * WEIGHTS[k // 2] * exp(min(-shape - pull * expm1(u), 700.0))
            total += y
            of_w += y * slope
            of_drift += y * ((w - drift * t) - drift * t * expm1(u))
        start += PANEL
    at, _ = density(t, w, beta, drift)
    return e, total, of_w, of_drift, at


def gathered(y: float) -> float:
    """(1 - exp(-y)) / y for y >= 0."""
    return -expm1(-y) / y if y > 1e-300 else 1.0


def gathered_slope(y: float) -> float:
    """The derivative of the logarithm of that, 1 / (exp(y) - 1) - 1 / y."""
    slope = -0.5
    if y > 600.0:
        slope = -1.0 / y
    elif y > 1e-8:
        slope = -expm1_less(y) / (y * expm1(y))
    return slope


def toward(size: float, b: float) -> tuple[float, float, float]:
    """The chance of the end that a drift leads to, from a share b of the way; with its slopes in b and the drift."""
    y = b * gathered(2.0 * size * b) / gathered(2.0 * size)
    of_b = exp(-min(2.0 * size * b, 745.0)) / gathered(2.0 * size)
    return y, of_b, y * 2.0 * (b * gathered_slope(2.0 * size * b) - gathered_slope(2.0 * size))


def against(size: float, b: float, rest: float) -> tuple[float, float, float]:
    """The chance of the other end, over exp(-2 size b); with its slopes in b and the drift; b + rest is 1."""
    y = rest * gathered(2.0 * size * rest) / gathered(2.0 * size)
    of_size = 2.0 * (rest * gathered_slope(2.0 * size * rest) - gathered_slope(2.0 * size)) - 2.0 * b
    return y, -1.0 / gathered(2.0 * size), y * of_size


def shares(w: float, beta: float, drift: float) -> tuple[float, float, float, float, float, float]:
    """The chance of the end, over exp(-2 |drift| w) of a drift away from it, and of the other, over exp(-2 drift beta).

    Each with its slopes in beta and the drift.
    """
    if drift >= 0.0:
        h, h_beta, h_drift = toward(drift, beta)
        other, other_beta, other_drift = against(drift, beta, w)
    else:
        h, h_beta, h_drift = against(-drift, w, beta)
        other, other_beta, other_drift = toward(-drift, w)
        h_beta, h_drift, other_beta, other_drift = -h_beta, -h_drift, -other_beta, -other_drift
    return h, h_beta, h_drift, other, other_beta, other_drift


def middle(w: float, drift: float) -> float:
    """A time before and after which there is much: about where, in its logarithm, the density is largest."""
    return 2.0 * w * w / (1.0 + sqrt(1.0 + 4.0 * (drift * drift + pi * pi) * w * w))


def parts(t: float, beta: float, drift: float) -> tuple[bool, float, float, float, float, float]:
    """One tail (``lower`` or not) as exp(e) y: the one that may be small; exp(e) times its slopes in t, beta, drift."""
    w = 1.0 - beta
    lower, e, y, of_t, of_beta, of_drift = True, 0.0, nan, nan, nan, nan
    known = beta > 0.0 and w > 0.0 and abs(drift) < (FASTEST if t > 0.0 else inf)
    away = 2.0 * min(drift, 0.0) * w  # the exponent of what has to go against the drift
    if known and t == 0.0:
        e, y, of_t, of_beta, of_drift = -inf, 1.0, 0.0, 0.0, 0.0
    elif known and 0.0 < t < middle(w, drift):
        e, y, of_w, of_drift, at = whole(t, w, beta, drift, -1.0)
        e, of_t, of_beta = e + away, at / t, -of_w
    elif known and t > 0.0:
        beyond, r, of_w, r_drift, at = -inf, 0.0, 0.0, 0.0, 0.0
        if t < NEVER:
            beyond, r, of_w, r_drift, at = whole(t, w, beta, drift, 1.0)
        h, h_beta, h_drift, other, other_beta, other_drift = shares(w, beta, drift)
        left = exp(max(beyond, -745.0))
        lower = exp(away) * (h - left * r) < EVEN
        if lower:
            e, y = away, h - left * r
            of_t, of_beta, of_drift = left * (at / t), h_beta + left * of_w, h_drift - left * r_drift
        else:
            beyond, behind = beyond + away, -2.0 * max(drift, 0.0) * beta
            e = max(beyond, behind)
            left, behind = exp(max(beyond - e, -745.0)), exp(max(behind - e, -745.0))
            y = behind * other + left * r
            of_t = -left * (at / t)
            of_beta, of_drift = behind * other_beta - left * of_w, behind * other_drift + left * r_drift
    return lower, e, y, of_t, of_beta, of_drift


def chosen(which: float, of_t: float, of_beta: float, of_drift: float) -> float:
    """The derivative in argument ``which``, of t, beta and drift."""
    slope = of_t
    if which == 1.0:
        slope = of_beta
    elif which == 2.0:
        slope = of_drift
    return slope


def _tail(below: float, t: float, beta: float, drift: float) -> float:
    lower, e, y, _, _, _ = parts(t, beta, drift)
    return tail(lower == (below > 0.0), e, y)


def _log_tail(below: float, t: float, beta: float, drift: float) -> float:
    lower, e, y, _, _, _ = parts(t, beta, drift)
    return log_tail(lower == (below > 0.0), e, y)


def _slope(which: float, below: float, t: float, beta: float, drift: float) -> float:
    lower, e, _, of_t, of_beta, of_drift = parts(t, beta, drift)
    return tail_slope(lower == (below > 0.0), e, chosen(which, of_t, of_beta, of_drift))


def _log_slope(which: float, below: float, t: float, beta: float, drift: float) -> float:
    lower, e, y, of_t, of_beta, of_drift = parts(t, beta, drift)
    return log_tail_slope(lower == (below > 0.0), e, y, chosen(which, of_t, of_beta, of_drift))


def _quantile_slope(which: float, below: float, t: float, beta: float, drift: float) -> float:
    """The derivative of the t at which a tail has a given value, in that value, beta or the drift; 0 at infinity."""
    _, e, _, of_t, of_beta, of_drift = parts(t, beta, drift)
    slope = 0.0 if t == inf else nan
    if t < inf and of_t != 0.0:
        rise = -e - log(abs(of_t))
        slope = (exp(rise) if rise < 709.78 else inf) * (1.0 if below > 0.0 else -1.0)
        if which > 0.0:
            slope = -chosen(which, of_t, of_beta, of_drift) / of_t
    elif t == 0.0:
        slope = 0.0 if which > 0.0 else inf
    return slope


def _quantile(below: float, beta: float, drift: float, share: float) -> float:
    """The t below which, or above which, there is a share: the root in log(t) of the logarithm of an integral.

    Of that up to t, or where t is beyond the middle of that to infinity; there is no such t for more than there is.
    """
    t, w = nan, 1.0 - beta
    if beta > 0.0 and w > 0.0 and abs(drift) < FASTEST and 0.0 <= share <= 1.0:
        away, centre = 2.0 * min(drift, 0.0) * w, middle(w, drift)
        h, _, _, other, _, _ = shares(w, beta, drift)
        other *= exp(max(-2.0 * max(drift, 0.0) * beta, -745.0))
        h *= exp(max(away, -745.0))
        first, later = (share, h - share) if below > 0.0 else (h - (share - other), share - other)
        e, y, _, _, _ = whole(centre, w, beta, drift, 1.0)
        early = later > exp(max(e + away, -745.0)) * y
        sought = first if early else later
        if (share if below > 0.0 else 1.0 - share) <= 0.0:
            t = 0.0
        elif later <= 0.0:
            t = inf
        else:
            t = searched(-1.0 if early else 1.0, centre, w, beta, drift, log(max(sought, 5e-324)) - away)
    return t


def searched(side: float, centre: float, w: float, beta: float, drift: float, sought: float) -> float:
    """Where the logarithm of an integral is as ``sought``, before the centre for ``side`` -1 and beyond it for 1."""
    place = log(centre)
    least, most = (LEAST, place) if side < 0.0 else (place, MOST)
    n, excess, t = 0, 1.0, centre
    while n < STEPS and abs(excess) > SETTLED:
        t = exp(place)
        e, y, _, _, at = whole(t, w, beta, drift, side)
        excess = (e + log(y) if y > 0.0 else -inf) - sought
        if (excess > 0.0) == (side < 0.0):
            most = place
        else:
            least = place
        step = max(-STRIDE, min(STRIDE, halley(excess, -side * at / y if y > 0.0 else 0.0, 0.0)))
        place = narrowed(place + step, abs(excess) <= SETTLED, least, most)
        n += 1
    return exp(place) if abs(excess) <= SETTLED else nan


def _slopes_of(slope: Callable[..., Node], logarithm: bool) -> Callable[..., tuple[Node | None, ...]]:
    """The partials of a tail or its logarithm, by ``slope``."""

    def partials(below: Node, t: Node, beta: Node, drift: Node, out: Node) -> tuple[Node | None, ...]:
        slopes = (slope(const(which, t.dtype), below, t, beta, drift) for which in (0.0, 1.0, 2.0))
        return (None, *(of_any(out, each) if logarithm else each for each in slopes))

    return partials


def _slopes_of_quantile(below: Node, beta: Node, drift: Node, share: Node, out: Node) -> tuple[Node | None, ...]:
    which = (const(place, share.dtype) for place in (0.0, 1.0, 2.0))
    of_share, of_beta, of_drift = (passage_quantile_slope(each, below, out, beta, drift) for each in which)
    return None, of_beta, of_drift, of_share


BELOW, T, SHAPES = (1.0, 1.0), (0.05, 0.8), ((0.2, 0.8), (-2.0, 2.0))
ONE_OF: Any = {"floating": True, "domain": ((0.0, 2.0), BELOW, T, *SHAPES)}
COMMON: Any = {"floating": True, "domain": (BELOW, T, *SHAPES)}

passage_slope: Primitive = primitive(
    "passage_slope", 5, routine=_slope, tangent=no_derivatives("passage_slope"), **ONE_OF,
)
log_passage_slope: Primitive = primitive(
    "log_passage_slope", 5, routine=_log_slope, tangent=no_derivatives("log_passage_slope"), **ONE_OF,
)
passage_quantile_slope: Primitive = primitive(
    "passage_quantile_slope", 5, routine=_quantile_slope, tangent=no_derivatives("passage_quantile_slope"), **ONE_OF,
)
# of the lower tail where the first argument is 1, of the upper one where it is 0
passage_tail: Primitive = primitive(
    "passage_tail", 4, routine=_tail, partials=_slopes_of(passage_slope, False), **COMMON,
)
log_passage_tail: Primitive = primitive(
    "log_passage_tail", 4, routine=_log_tail, partials=_slopes_of(log_passage_slope, True), **COMMON,
)
passage_quantile: Primitive = primitive(
    "passage_quantile", 4, routine=_quantile, partials=_slopes_of_quantile, floating=True,
    domain=(BELOW, *SHAPES, (0.002, 0.02)),
)
