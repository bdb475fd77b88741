"""The gamma distribution function by the logarithm of its argument over the shape, whatever their size.

That is u + rest for x = a exp(u + rest): where x is next to a large a, their distance is known to the last digit, and
derivatives in a are those for a constant x / a, which those for a constant x nearly cancel with.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p, nan, pi, sqrt
from typing import Any

from vecdist.graph.node import Node, where
from vecdist.primitives import elementary
from vecdist.primitives.floating import width
from vecdist.primitives.scalar import exact_product, exact_sum, half, horner
from vecdist.primitives.table import Primitive, in_last, primitive
from vecdist.special.exponents import AMPLIFIED, VANISHED, growth_exponent
from vecdist.special.gamma_functions import digamma
from vecdist.special.incomplete_gamma import LARGE, small
from vecdist.special.scalar import (
    DECAY,
    EXPONENTIAL,
    LEAST,
    NODES,
    STIRLING_DIGAMMA,
    WEIGHTS,
    expm1_less,
    log_less_digamma,
    log_tail,
    log_tail_slope,
    reciprocal_gamma,
    stirling,
    tail,
    tail_slope,
)

CUBIC = EXPONENTIAL[:-1]  # (exp(s) - 1 - s - s**2 / 2) / s**3
LEAST_LOG = {8: -(2.0**1016), 4: -(2.0**120)}
FAR = 300.0  # the logarithm from where on the upper tail is exp(-x), unless x is not large
NEGLIGIBLE = 40.0  # minus the logarithm of what is nothing beside 1
OVERFLOW = 709.7  # the logarithm from where on the exponential overflows


def within(a: float, u: float) -> bool:
    """Whether the tails have to be computed: x is neither 0 nor so large that the upper one is exp(-x)."""
    near = 0.0 < a < inf and -inf < u < OVERFLOW
    if near and u >= FAR:
        near = u + log(a) < 0.3 * FAR
    return near


def exponent(a: float, rest: float, u: float, away: float, growth: float) -> tuple[float, float]:
    """a (u - expm1(u)), or a log(x) - x where a is small, in two parts, for it is large; ``growth`` is exp(u)."""
    if a < LEAST:
        high, low = exact_product(a, u)
        high, lost = exact_sum(high, a * (log(a) + rest))
        high, lost_too = exact_sum(high, -a * (growth + growth * rest))
        low += lost + lost_too
    elif -0.7 < u < 0.7:
        head = half(u)
        high, low = exact_product(-0.5 * a, head * head)
        others = 0.5 * (u - head) * (u + head) + u * u * u * horner(u, CUBIC)
        high, lost = exact_sum(high, -a * (others + away * rest))
        low += lost
    else:
        high, low = exact_product(a, u)
        high, lost = exact_sum(high, a)
        high, lost_too = exact_sum(high, -a * growth)
        low += (lost + lost_too) - a * away * rest
    if -VANISHED < high < -AMPLIFIED and u > -NEGLIGIBLE:
        high, low = growth_exponent(a, rest, u, growth)
        if a < LEAST:
            high, lost = exact_sum(high, a * (log(a) - 1.0))
            low += lost
    return high, low


def prefactor(a: float, rest: float, u: float, away: float, growth: float) -> tuple[float, float, float]:
    """x**a exp(-x) / gamma(a + 1) = exp(e) f for x = a + a away, and the derivative of its logarithm in a.

    That is for a constant x; from LEAST on for a constant x / a, and with 1 / (2 a) more.
    """
    e, low = exponent(a, rest, u, away, growth)
    if a < LEAST:
        shifted, log_a = a + 4.0, log(a)
        f = reciprocal_gamma(a)
        others = 1.0 / (a + 1.0) + 1.0 / (a + 2.0) + 1.0 / (a + 3.0)
        slope = (u + (log_a + rest) - log(shifted)) + others + log_less_digamma(shifted)
    else:
        y = -(expm1_less(u) + away * rest) if -0.7 < u < 0.7 else (u - away) + rest
        f = exp(-stirling(a)) / sqrt(2.0 * pi * a)
        v = 1.0 / (a * a)
        slope = y + v * horner(v, STIRLING_DIGAMMA)
    return e, f * (1.0 + low) if abs(low) < 0.01 else f, slope


def power_series(a: float, x: float) -> tuple[float, float]:
    """1 + x / (a + 1) + x**2 / ((a + 1) (a + 2)) + ..., DLMF 8.11.4, and its derivative as ``prefactor`` has it."""
    term, total, term_slope, slope = 1.0, 1.0, 0.0, 0.0
    n = 1.0
    while n < 300.0 and term > 1e-17 * total:
        r = 1.0 / (a + n)
        term_slope = (term_slope + term * ((n / a if a >= LEAST else -1.0) * r)) * (x * r)
        term = term * (x * r)
        slope += term_slope
        total += term
        n += 1.0
    return total, slope


def quadrature(a: float, x: float, away: float, sign: float) -> tuple[float, float]:
    """That of ``incomplete_gamma``, towards ``sign``, and what its logarithm's derivative has beyond the prefactor's.

    From LEAST on the integral is 2 a times that of half the score in s times s, which what is left of the derivative
    of the exponent nearly cancels with.
    """
    distance = sign * a * away
    end = 2.0 * DECAY / (distance + sqrt(distance * distance + 2.0 * DECAY * x))
    for _ in range(3):
        end = (DECAY - x * expm1(-end)) / a if sign < 0.0 else log1p((DECAY + a * end) / x)
    total, moment = 0.0, 0.0
    for k in range(32):
        node = NODES[k // 2]
        if k % 2 == 1:
            node = 1.0 - node
        s = end * node
        t = sign * s
        if s < 0.7:
            third = horner(t, CUBIC)
            bend, twist = t * t * (0.5 + t * third), t * t * t * (0.25 + (0.5 * t - 1.0) * third)
        else:
            bend = expm1(t) - t
            twist = 0.5 * t * (t + bend) - bend
        weight = WEIGHTS[k // 2] * exp(-(distance * s + x * bend))
        total += weight
        moment += weight * ((1.0 + away) * twist - 0.5 * t * away if a >= LEAST else t)
    return end * total, end * moment


def parts(a: float, rest: float, u: float) -> tuple[bool, float, float, float, float]:
    """One of P (``lower``) and Q as exp(e) w: that which may be small; exp(e) times slopes in a and log(x / a)."""
    lower, e, w, slope, slope_x = u < 0.0, 0.0, nan, nan, nan
    if within(a, u):
        growth = exp(u)
        x, away = a * (growth + growth * rest), expm1(u) + growth * rest
        e, f, slope = prefactor(a, rest, u, away, growth)
        slope_x = f * a
        log_x = u + (log(a) + rest)
        if x < 1.0 and a < 1.0 and a * log_x > -0.5:
            lower, slope_x, e = False, -slope_x * exp(e), 0.0
            w, slope = small(a, x, log_x, slope)
        elif x < 1.0 or (away < 0.0 and a < LARGE):
            lower = True
            w, derivative = power_series(a, x)
            slope -= 0.5 / a if a >= LEAST else 0.0
            w, slope = f * w, f * (w * slope + derivative)
        else:
            w, derivative = quadrature(a, x, away, -1.0 if lower else 1.0)
            slope = f * a * (w * slope + derivative)
            slope += f * w if a < LEAST else 0.0
            w = f * a * w
            slope_x = slope_x if lower else -slope_x
        if a < LEAST:
            slope += slope_x / a
    elif 0.0 < a < inf and u == -inf:
        lower, e, w, slope, slope_x = True, -inf, 1.0, -inf, inf
    elif 0.0 < a < inf and u > -inf:
        e, w = -a * exp(u) if u < 709.0 else -inf, 1.0
        slope_x = max(e, -1e307 * min(a, 1.0))  # finite, for that in a nearly cancels with it
        slope = slope_x / a
    return lower, e, w, slope, slope_x


def _gamma_below(a: float, rest: float, u: float) -> float:
    lower, e, w, _, _ = parts(a, rest, u)
    return tail(lower, e, w)


def _gamma_beyond(a: float, rest: float, u: float) -> float:
    lower, e, w, _, _ = parts(a, rest, u)
    return tail(not lower, e, w)


def _log_gamma_below(a: float, rest: float, u: float) -> float:
    lower, e, w, _, _ = parts(a, rest, u)
    return log_tail(lower, e, w)


def _log_gamma_beyond(a: float, rest: float, u: float) -> float:
    lower, e, w, _, _ = parts(a, rest, u)
    return log_tail(not lower, e, w)


def _gamma_below_da(a: float, rest: float, u: float) -> float:
    lower, e, _, slope, _ = parts(a, rest, u)
    return tail_slope(lower, e, slope)


def _gamma_below_slope(a: float, rest: float, u: float) -> float:
    d = 0.0
    if within(a, u):
        growth = exp(u)
        e, f, _ = prefactor(a, rest, u, expm1(u) + growth * rest, growth)
        d = exp(e) * (f * a)
    elif not (a > 0.0 and abs(u) <= inf):
        d = nan
    return d


def _log_gamma_below_da(a: float, rest: float, u: float) -> float:
    lower, e, w, slope, _ = parts(a, rest, u)
    return log_tail_slope(lower, e, w, slope)


def _log_gamma_beyond_da(a: float, rest: float, u: float) -> float:
    lower, e, w, slope, _ = parts(a, rest, u)
    return log_tail_slope(not lower, e, w, slope)


def _log_gamma_below_slope(a: float, rest: float, u: float) -> float:
    lower, e, w, _, slope = parts(a, rest, u)
    return log_tail_slope(lower, e, w, slope) if u > -inf else a


def _log_gamma_beyond_slope(a: float, rest: float, u: float) -> float:
    lower, e, w, _, slope = parts(a, rest, u)
    return log_tail_slope(not lower, e, w, slope) if u > -inf else 0.0


def score(a: Node, u: Node) -> Node:
    """The derivative in a of the logarithm of the density of u."""
    return elementary.log(a) - digamma(a) + u - elementary.expm1(u)


def score_of_log(a: Node, u: Node) -> Node:
    return -a * elementary.expm1(u)


def of_any(log_tail: Node, slope: Node) -> Node:
    """The slope of a tail of which something is left: as outside a support, none where its logarithm is next to -inf.

    There slopes overflow that nearly cancel.
    """
    return where(log_tail < LEAST_LOG[width(log_tail)], 0.0, slope)


COMMON: dict[str, Any] = {"floating": True, "domain": ((0.3, 40.0), (-1e-17, 1e-17), (-2.0, 1.5))}
# what has a score less a value of its size as its derivative, which is not good for float32 where both are large
CANCELLING: dict[str, Any] = {"floating": True, "domain": ((0.3, 6.0), (-1e-17, 1e-17), (-1.0, 1.0))}

gamma_below_slope: Primitive = primitive(  # the density of u
    "gamma_below_slope", 3, routine=_gamma_below_slope,
    partials=lambda a, rest, u, out: (out * score(a, u), None, out * score_of_log(a, u)), **COMMON,
)
gamma_below_da: Primitive = primitive(
    "gamma_below_da", 3, routine=_gamma_below_da,
    tangent=in_last("gamma_below_da", lambda a, rest, u, out: gamma_below_slope(a, rest, u) * score(a, u)), **COMMON,
)
gamma_below: Primitive = primitive(
    "gamma_below", 3, routine=_gamma_below,
    partials=lambda a, rest, u, out: (gamma_below_da(a, rest, u), None, gamma_below_slope(a, rest, u)), **COMMON,
)
gamma_beyond: Primitive = primitive(
    "gamma_beyond", 3, routine=_gamma_beyond,
    partials=lambda a, rest, u, out: (-gamma_below_da(a, rest, u), None, -gamma_below_slope(a, rest, u)), **COMMON,
)
log_gamma_below_slope: Primitive = primitive(
    "log_gamma_below_slope", 3, routine=_log_gamma_below_slope,
    partials=lambda a, rest, u, out: (
        out * (score(a, u) - log_gamma_below_da(a, rest, u)), None, out * (score_of_log(a, u) - out)
    ),
    **CANCELLING,
)
log_gamma_beyond_slope: Primitive = primitive(
    "log_gamma_beyond_slope", 3, routine=_log_gamma_beyond_slope,
    partials=lambda a, rest, u, out: (
        out * (score(a, u) - log_gamma_beyond_da(a, rest, u)), None, out * (score_of_log(a, u) - out)
    ),
    **CANCELLING,
)
log_gamma_below_da: Primitive = primitive(
    "log_gamma_below_da", 3, routine=_log_gamma_below_da, **COMMON,
    tangent=in_last(
        "log_gamma_below_da", lambda a, rest, u, out: log_gamma_below_slope(a, rest, u) * (score(a, u) - out)
    ),
)
log_gamma_beyond_da: Primitive = primitive(
    "log_gamma_beyond_da", 3, routine=_log_gamma_beyond_da, **COMMON,
    tangent=in_last(
        "log_gamma_beyond_da", lambda a, rest, u, out: log_gamma_beyond_slope(a, rest, u) * (score(a, u) - out)
    ),
)
log_gamma_below: Primitive = primitive(
    "log_gamma_below", 3, routine=_log_gamma_below, **COMMON,
    partials=lambda a, rest, u, out: (log_gamma_below_da(a, rest, u), None, log_gamma_below_slope(a, rest, u)),
)
log_gamma_beyond: Primitive = primitive(
    "log_gamma_beyond", 3, routine=_log_gamma_beyond, **COMMON,
    partials=lambda a, rest, u, out: (
        of_any(out, log_gamma_beyond_da(a, rest, u)), None, of_any(out, log_gamma_beyond_slope(a, rest, u))
    ),
)
