"""Distribution function of the normal-inverse Gaussian distribution, its logarithm, derivatives and inverse.

With d = delta sinh(s), g = delta sqrt(alpha**2 - beta**2) and tanh(c) = beta / alpha the density in s is
h(s) = z K1(z) exp(z) / (pi cosh(s)) exp(-2 g sinh((s - c) / 2)**2) for z = alpha delta cosh(s): a slow function times
one that falls on both sides of c.  Gauss and Legendre's points give its integrals, and those of the scores times it.
The argument comes in two parts, a float and what rounding took from it; 1 - F(d, alpha, beta, delta) is
F(-d, alpha, -beta, delta).  Barndorff-Nielsen (1997), Scandinavian Journal of Statistics 24.
"""

from __future__ import annotations

from collections.abc import Callable
from math import asinh, ceil, cosh, exp, inf, log, nan, pi, sinh, sqrt
from typing import Any

from vecdist.graph.node import Node, const
from vecdist.primitives.scalar import exact_product, exact_sum, horner
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.bessel_k import GAP_FAR, I0, I1, K0, K1, K1_FAR, NEAR
from vecdist.special.scalar import (
    DECAY,
    NODES,
    SETTLED,
    STEPS,
    WEIGHTS,
    halley,
    log_tail,
    log_tail_slope,
    narrowed,
    tail,
    tail_slope,
)

PANEL = 4.0  # of s, on which h is like a polynomial
FAR_OUT = 1e8  # a multiple of delta from which on terms of the slope in delta cancel
END = 1e100  # and one from which on the exponent is all that grows
FARTHEST = 690.0  # where sinh(s) nears the end of floats
FAR, GAPS = K1_FAR[8][::-1], GAP_FAR[8][::-1]
OF_I0, OF_I1, OF_K0, OF_K1 = I0[8][::-1], I1[8][::-1], K0[8][::-1], K1[8][::-1]


def bessel(z: float) -> tuple[float, float]:
    """z K1(z) exp(z), and 1 - K0(z) / K1(z)."""
    if z > NEAR:
        t = 1.0 - 4.0 / (z + 1.0)
        gap = horner(t, GAPS)
        first, rest = sqrt(z) * horner(t, FAR), gap / (z + gap)
    else:
        square, logarithm = z * z, log(max(z, 1e-300))
        zero = horner(square, OF_K0) - logarithm * (1.0 + square * horner(square, OF_I0))
        one = 1.0 + square * (horner(square, OF_K1) + logarithm * horner(square, OF_I1))
        first, rest = exp(z) * one, 1.0 - z * zero / one
    return first, rest


def leg_parts(alpha: float, beta: float) -> tuple[float, float]:
    """gamma = sqrt(alpha**2 - beta**2), and what rounding took from it."""
    less, less_rest = exact_sum(alpha, -beta)
    more, more_rest = exact_sum(alpha, beta)
    square, rest = exact_product(less, more)
    gamma = sqrt(square)
    again, again_rest = exact_product(gamma, gamma)
    rest += less * more_rest + more * less_rest - again_rest
    return gamma, 0.5 * ((square - again) + rest) / gamma if 1e-250 < square < 1e290 else 0.0


def distance_from_c(d: float, rest: float, beta: float, delta: float, gamma: float, gamma_rest: float) -> float:
    """d / delta - beta / gamma, which a large delta gamma amplifies."""
    product, product_rest = exact_product(gamma, d)
    other, other_rest = exact_product(beta, delta)
    distance = (d + rest) / delta - beta / gamma
    if 1e-250 < abs(product) < 1e290 and 1e-250 < abs(other) < 1e290:
        lost = (product_rest - other_rest) + (gamma_rest * d + gamma * rest)
        distance = ((product - other) + lost) / gamma / delta
    return distance


def places(d: float, rest: float, alpha: float, beta: float, delta: float) -> tuple[float, float, float, float]:
    """alpha delta, g, s and s - c; the last as a quotient where both are of one sign."""
    gamma, gamma_rest = leg_parts(alpha, beta)
    y, t = (d + rest) / delta, beta / gamma
    s, away = asinh(y), 0.0
    if 0.0 < y * t < 1e200:
        part = abs(y) * (alpha / gamma) + abs(t) * sqrt(1.0 + y * y)
        away = asinh(distance_from_c(d, rest, beta, delta, gamma, gamma_rest) * (abs(y + t) / part))
    else:
        away = s - asinh(t)
    return alpha * delta, delta * gamma, s, away


def path(g: float, away: float) -> float:
    """How far from a place ``away`` of c in the direction of the path g cosh rises by DECAY; 100 at most."""
    rise = DECAY / max(g, 1e-60)
    steep, bent = sinh(away), cosh(away)
    length = log(bent + rise + sqrt((bent + rise) * (bent + rise) - 1.0)) - away
    if length < 1e-3:  # without the difference
        length = 2.0 * rise / (steep + sqrt(steep * steep + 2.0 * rise * bent))
    return min(100.0, length)


def tail_integrals(a: float, g: float, s: float, away: float, sign: float) -> tuple[float, float, float]:
    """The integrals over h / exp(-2 g sinh(away / 2)**2) beyond s in the direction of ``sign``, and of that times the
    scores in alpha delta and beta delta."""
    length = path(g, sign * away)
    panels = ceil(length / PANEL)
    length = length / panels
    total, of_a, of_b = 0.0, 0.0, 0.0
    for k in range(32 * panels):
        node = NODES[k % 32 // 2]
        if k % 2 == 1:
            node = 1.0 - node
        u = length * (node + k // 32)
        at, off = s + sign * u, away + sign * u
        first, rest = bessel(a * cosh(at))
        weight = WEIGHTS[k % 32 // 2] * first / cosh(at) * exp(-2.0 * g * sinh(sign * away + 0.5 * u) * sinh(0.5 * u))
        apart, middle = 2.0 * sinh(0.5 * off), at - 0.5 * off
        total += weight
        of_a += weight * (cosh(at) * rest - apart * sinh(middle))
        of_b += weight * apart * cosh(middle)
    return length * total / pi, length * of_a / pi, length * of_b / pi


def parts(
    d: float, rest: float, alpha: float, beta: float, delta: float
) -> tuple[bool, float, float, float, float, float, float]:
    """One tail (``lower`` or not) as exp(e) w; exp(e) times its slopes in d, alpha, beta and delta.

    Far out log F is an exponent that is linear in d, and of its slope in delta nothing but gamma + 1 / delta is left.
    """
    x, most = d + rest, END * delta
    further = abs(x) - most if most < abs(x) < inf else 0.0
    if further > 0.0:
        d, rest = most if x > 0.0 else -most, 0.0
        x = d
    lower, e, w, of_d, of_alpha, of_beta, of_delta = False, nan, nan, nan, nan, nan, nan
    if abs(x) < inf and abs(beta) < alpha < inf and 0.0 < delta < inf:
        a, g, s, away = places(d, rest, alpha, beta, delta)
        lower = x * (g + 1.0) < beta * delta * delta
        sign = -1.0 if lower else 1.0
        half = sinh(0.5 * away)
        e = -2.0 * g * half * half - further * (alpha - sign * beta)
        w, of_a, of_b = tail_integrals(a, g, s, away, sign)
        first, _ = bessel(a * cosh(s))
        of_d = -sign * first / (pi * cosh(s) * cosh(s) * delta)
        of_alpha, of_beta = delta * of_a - further * w, delta * of_b + further * sign * w
        of_delta = alpha * of_a + beta * of_b - of_d * (x / delta)
        if abs(x) > FAR_OUT * delta:
            of_delta = w * ((g + 1.0) / delta - alpha * (delta / abs(x)))
    return lower, e, w, of_d, of_alpha, of_beta, of_delta


def _nig_cdf(d: float, rest: float, alpha: float, beta: float, delta: float) -> float:
    lower, e, w, _, _, _, _ = parts(d, rest, alpha, beta, delta)
    return tail(lower, e, w)


def _log_nig_cdf(d: float, rest: float, alpha: float, beta: float, delta: float) -> float:
    lower, e, w, _, _, _, _ = parts(d, rest, alpha, beta, delta)
    return log_tail(lower, e, w)


def chosen(which: float, of_d: float, of_alpha: float, of_beta: float, of_delta: float) -> float:
    """The derivative in argument ``which``, of d, alpha, beta and delta."""
    slope = of_d
    if which == 1.0:
        slope = of_alpha
    elif which == 2.0:
        slope = of_beta
    elif which == 3.0:
        slope = of_delta
    return slope


def _nig_slope(which: float, d: float, rest: float, alpha: float, beta: float, delta: float) -> float:
    lower, e, _, of_d, of_alpha, of_beta, of_delta = parts(d, rest, alpha, beta, delta)
    return tail_slope(lower, e, chosen(which, of_d, of_alpha, of_beta, of_delta))


def _log_nig_slope(which: float, d: float, rest: float, alpha: float, beta: float, delta: float) -> float:
    lower, e, w, of_d, of_alpha, of_beta, of_delta = parts(d, rest, alpha, beta, delta)
    return log_tail_slope(lower, e, w, chosen(which, of_d, of_alpha, of_beta, of_delta))


def _nig_quantile_slope(which: float, d: float, alpha: float, beta: float, delta: float) -> float:
    """The derivative in alpha, beta or delta of the d at which F has a given value."""
    _, _, _, of_d, of_alpha, of_beta, of_delta = parts(d, 0.0, alpha, beta, delta)
    return -chosen(which, of_d, of_alpha, of_beta, of_delta) / of_d if of_d != 0.0 else 0.0


def first_guess(g: float, c: float, share: float, sign: float) -> float:
    """Of s: from the middle as far as the exponential or 1 / cosh(s) falls to twice the tail, whichever is less."""
    fall = max(0.0, -log(2.0 * share))
    rise = 1.0 + fall / max(g, 1e-60)
    middle = asinh(sinh(c) * (g / (g + 1.0))) if abs(c) < FARTHEST else c
    far, near = c + sign * log(rise + sqrt(rise * rise - 1.0)), middle + sign * (fall + 1.0)
    return min(far, near) if sign > 0.0 else max(far, near)


def _nig_quantile(alpha: float, beta: float, delta: float, p: float) -> float:
    """The d at which F is p: the root in s of the logarithm of the shorter tail."""
    d, q = nan, 1.0 - p
    if p == 0.0:
        d = -inf
    elif p == 1.0:
        d = inf
    elif abs(beta) < alpha < inf and 0.0 < delta < inf and 0.0 < p < 1.0:
        gamma = sqrt((alpha - beta) * (alpha + beta))
        s = first_guess(delta * gamma, asinh(beta / gamma), min(p, q), -1.0 if p < q else 1.0)
        least, most = -FARTHEST, FARTHEST
        n, excess = 0, 1.0
        while n < STEPS and abs(excess) > SETTLED:
            d = delta * sinh(s)
            lower, e, w, of_d, _, _, _ = parts(d, 0.0, alpha, beta, delta)
            same = lower == (p < q)
            slope = log_tail_slope(same, e, w, of_d) * delta * cosh(s)
            excess = log_tail(same, e, w) - log(min(p, q))
            if (excess > 0.0) == (p < q):
                most = s
            else:
                least = s
            bend = -sinh(s) / cosh(s) - delta * gamma * sinh(s - asinh(beta / gamma)) - slope
            s = narrowed(s + halley(excess, slope, bend), abs(excess) <= SETTLED, least, most)
            n += 1
        d = delta * sinh(s)
    return d


def _cdf_slopes(slope: Callable[..., Node]) -> Callable[..., tuple[Node | None, ...]]:
    """The partials of a tail or its logarithm, by ``slope``; what was rounded away counts with the argument."""

    def partials(d: Node, rest: Node, alpha: Node, beta: Node, delta: Node, out: Node) -> tuple[Node | None, ...]:
        first, *others = (slope(const(which, d.dtype), d, rest, alpha, beta, delta) for which in (0.0, 1.0, 2.0, 3.0))
        return (first, None, *others)

    return partials


def _quantile_slopes(alpha: Node, beta: Node, delta: Node, p: Node, out: Node) -> tuple[Node, ...]:
    slopes = (nig_quantile_slope(const(which, p.dtype), out, alpha, beta, delta) for which in (1.0, 2.0, 3.0))
    return (*slopes, 1.0 / nig_slope(const(0.0, p.dtype), out, 0.0 * out, alpha, beta, delta))


WHICH, PARAMETERS = (0.0, 3.0), ((2.0, 5.0), (-1.5, 1.5), (0.3, 3.0))
COMMON: Any = {"floating": True, "domain": ((-3.0, 3.0), (-1e-17, 1e-17), *PARAMETERS)}
ONE_OF: Any = {"floating": True, "domain": (WHICH, (-3.0, 3.0), (-1e-17, 1e-17), *PARAMETERS)}

nig_slope: Primitive = primitive("nig_slope", 6, routine=_nig_slope, tangent=no_derivatives("nig_slope"), **ONE_OF)
log_nig_slope: Primitive = primitive(
    "log_nig_slope", 6, routine=_log_nig_slope, tangent=no_derivatives("log_nig_slope"), **ONE_OF,
)
nig_quantile_slope: Primitive = primitive(
    "nig_quantile_slope", 5, routine=_nig_quantile_slope, tangent=no_derivatives("nig_quantile_slope"),
    floating=True, domain=(WHICH, (-3.0, 3.0), *PARAMETERS),
)
nig_cdf: Primitive = primitive("nig_cdf", 5, routine=_nig_cdf, partials=_cdf_slopes(nig_slope), **COMMON)
log_nig_cdf: Primitive = primitive(
    "log_nig_cdf", 5, routine=_log_nig_cdf, partials=_cdf_slopes(log_nig_slope), **COMMON,
)
nig_quantile: Primitive = primitive(
    "nig_quantile", 4, routine=_nig_quantile, partials=_quantile_slopes,
    floating=True, domain=(*PARAMETERS, (0.05, 0.95)),
)
