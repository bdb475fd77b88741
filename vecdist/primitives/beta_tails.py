"""The shorter tail of the beta distribution with its derivatives: what all incomplete beta functions are made of.

With s the distance from x on the logit scale the integrand of a tail is x**a y**b exp(-g(s)) ds, y = 1 - x, g convex:
32 points of Gauss and Legendre give the integral, and with its moments the derivatives.  Where a is small and the tail
long, a power series takes its place (DLMF 8.17.7, 8.17.8).  Arguments are a, b, x and y, so that no tail is rounded.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p, nan, pi, sqrt

from vecdist.primitives.scalar import (
    DECAY,
    LEAST,
    NODES,
    RECIPROCAL_GAMMA,
    STIRLING,
    STIRLING_DIGAMMA,
    WEIGHTS,
    divided_difference,
    expm1_less,
    horner,
    log1p_less,
    log_less,
    log_less_digamma,
    reciprocal_gamma,
    stirling,
)

LARGE = 20.0  # from here on the tail is short enough for the quadrature
FAR = 0.9  # below, the power series is short enough


def logarithm(x: float, y: float) -> float:
    """log(x), where y = 1 - x."""
    return log(x) if x < 0.5 else log1p(-y)


def gamma_ratio(b: float, s: float) -> tuple[float, float]:
    """B and log(gamma(b + s) / gamma(b)) - s log(B), relatively right for 0 <= s < LEAST, B = b or b + LEAST."""
    shifted, others = b, 0.0
    if b < LEAST:
        shifted = b + LEAST
        u, v, w = s / b, s / (b + 1.0), s / (b + 2.0)
        others = log1p(u + v + w + (u * v + u * w + v * w) + u * v * w)
    t = s / shifted
    p, q = 1.0 / shifted, 1.0 / (shifted + s)
    value, quotient = divided_difference(p * p, q * q, STIRLING)
    y = shifted * log1p_less(t) + (s - 0.5) * log1p(t) - s * p * q * (value + p * (p + q) * quotient) - others
    return shifted, y


def digamma_gap(b: float, s: float) -> float:
    """digamma(b + s) - digamma(b), relatively right for s >= 0."""
    shifted, others = b, 0.0
    if b < LEAST:
        shifted = b + LEAST
        others = s / b / (b + s) + s / ((b + 1.0) * (b + 1.0 + s)) + s / ((b + 2.0) * (b + 2.0 + s))
    p, q = 1.0 / shifted, 1.0 / (shifted + s)
    value, quotient = divided_difference(p * p, q * q, STIRLING_DIGAMMA)
    return log1p(s * p) + s * p * q * (0.5 + (p + q) * (value + p * p * quotient)) + others


def prefactor(a: float, b: float, x: float, y: float) -> tuple[float, float, float]:
    """x**a y**b / (a B(a, b)) = exp(e + rest) f, where rest is b log(y), or 0 if a is not small."""
    total = a + b
    distance = a * y - b * x
    rest = 0.0
    if a >= LEAST and b >= LEAST:
        e = a * log_less(x, a / total, -distance / a) + b * log_less(y, b / total, distance / b)
        f = sqrt(b / a / (2.0 * pi * total)) * exp(stirling(total) - stirling(a) - stirling(b))
    else:
        turned = a >= LEAST
        if turned:
            a, b, x, y = b, a, y, x
        shifted, e = gamma_ratio(b, a)
        e += a * log(x * shifted)
        rest = b * logarithm(y, x)
        f = reciprocal_gamma(a)
        if turned:
            f *= a / b
    return e, rest, f


def scores(a: float, b: float, x: float, y: float) -> tuple[float, float]:
    """The derivatives of the logarithm of the prefactor in a, log(x) - digamma(a + 1) + digamma(a + b), and in b."""
    score_a, score_b = 0.0, 0.0
    for _ in range(2):
        shifted, others = a, -1.0 / a
        if a < LEAST:
            shifted = a + LEAST
            others = b / ((a + 1.0) * (a + b + 1.0)) + b / ((a + 2.0) * (a + b + 2.0)) - 1.0 / (a + b)
        total = shifted + b
        w = (b * x - shifted * y) / shifted
        gap = log_less_digamma(shifted) - log_less_digamma(total)
        score_a, score_b = score_b, log_less(x, shifted / total, w) + w + gap + others
        a, b, x, y = b, a, y, x
    return score_a, score_b + 1.0 / b


def power_series(a: float, b: float, x: float) -> tuple[float, float, float]:
    """1 + (a + b) x / (a + 1) + (a + b) (a + b + 1) x**2 / ((a + 1) (a + 2)) + ..., and its derivatives in a and b."""
    term, term_a, term_b = 1.0, 0.0, 0.0
    total, total_a, total_b = 1.0, 0.0, 0.0
    n = 1.0
    while n < 500.0 and term > 1e-17 * total:
        r = x / (a + n)
        rise = a + b + (n - 1.0)
        term_b = (term_b * rise + term) * r
        term_a = (term_a * rise + term - term * rise / (a + n)) * r
        term *= rise * r
        total_a += term_a
        total_b += term_b
        total += term
        n += 1.0
    return total, total_a, total_b


def quadrature(a: float, b: float, x: float, y: float) -> tuple[float, float, float]:
    """The integral of exp(-g(s)) for g(s) = a s + (a + b) log(1 + x (exp(-s) - 1)) increasing, and of g_a and g_b."""
    distance = a * y - b * x
    total = a + b
    end = 2.0 * DECAY / (distance + sqrt(distance * distance + 2.0 * DECAY * total * x * y))
    sign, least = 1.0, y
    if x < y:
        sign, least = -1.0, x
    for _ in range(3):
        end = (DECAY - total * log1p(x * expm1(-end))) / a if x < y else log1p(expm1((DECAY + b * end) / total) / y)
    integral, moment_a, moment_b = 0.0, 0.0, 0.0
    for k in range(32):
        node = NODES[k // 2]
        if k % 2 == 1:
            node = 1.0 - node
        s = end * node
        t = expm1_less(sign * s)
        bend = log1p_less(least * (t + sign * s)) + least * t
        weight = WEIGHTS[k // 2] * exp(-(distance * s + total * bend))
        integral += weight
        moment_a += weight * (bend + y * s)
        moment_b += weight * (bend - x * s)
    return end * integral, end * moment_a, end * moment_b


def small(a: float, b: float, x: float, e: float, slope: float) -> tuple[float, float, float]:
    """The upper tail and its derivatives for a < 1 and x up to 1 / max(b, 2), where it may be small, DLMF 8.17.7."""
    power, power_b = 1.0, 0.0
    total, square, total_b = 0.0, 0.0, 0.0
    n = 1.0
    while n < 100.0 and abs(power) + abs(power_b) > 1e-18:
        power_b = (power_b * (n - b) - power) * (x / n)
        power *= (n - b) * (x / n)
        total += power / (a + n)
        square += power / ((a + n) * (a + n))
        total_b += power_b / (a + n)
        n += 1.0
    e += log1p(a * horner(a, RECIPROCAL_GAMMA))
    p = exp(e)
    upper_a = -p * (slope * (1.0 + a * total) + total - a * square)
    upper_b = -p * (digamma_gap(b, a) * (1.0 + a * total) + a * total_b)
    return max(-expm1(e) - p * a * total, 0.0), upper_a, upper_b


def one_side(a: float, b: float, x: float, y: float) -> tuple[bool, float, float, float, float, float]:
    """What ``parts`` gives, for x near 0 or below the mean a / (a + b)."""
    lower = True
    e, rest, f = prefactor(a, b, x, y)
    score_a, score_b = scores(a, b, x, y)
    slope_x = f * a
    near = x * max(b, 2.0) <= 1.0
    if near and a < 1.0 and f * exp(e) > 0.6:
        w, slope_a, slope_b = small(a, b, x, e, score_a)
        slope_x *= -exp(e + rest)
        lower, e = False, 0.0
    else:
        e += rest
        if near or (a < LARGE and x < FAR):
            w, slope_a, slope_b = power_series(a, b, x)
            slope_a, slope_b, w = f * (w * score_a + slope_a), f * (w * score_b + slope_b), f * w
        else:
            w, moment_a, moment_b = quadrature(a, b, x, y)
            slope_a = f * (w + a * (w * score_a - moment_a))
            slope_b = f * a * (w * score_b - moment_b)
            w = f * a * w
    return lower, e, w, slope_a, slope_b, slope_x


def parts(a: float, b: float, x: float, y: float) -> tuple[bool, float, float, float, float, float]:
    """One tail (``lower`` or not) as exp(e) w: that which may be small; exp(e) times slopes in a, b and logit(x)."""
    lower, e, w, slope_a, slope_b, slope_x = True, 0.0, nan, nan, nan, nan
    if a > 0.0 and b > 0.0 and x > 0.0 and y > 0.0 and a + b < inf:
        turned = x * max(b, 2.0) > 1.0 and (y * max(a, 2.0) <= 1.0 or a * y < b * x)
        if turned:
            a, b, x, y = b, a, y, x
        lower, e, w, slope_a, slope_b, slope_x = one_side(a, b, x, y)
        if turned:
            lower, slope_a, slope_b, slope_x = not lower, slope_b, slope_a, -slope_x
    elif a >= 0.0 and b >= 0.0 and x >= 0.0 and y >= 0.0:
        none_below = (x == 0.0 and a > 0.0) or (b == 0.0 and y > 0.0 and a > 0.0) or (a == inf and y > 0.0)
        none_above = (y == 0.0 and b > 0.0) or (a == 0.0 and x > 0.0 and b > 0.0) or (b == inf and x > 0.0)
        if none_below != none_above:
            lower, w = none_below, 0.0
            if a > 0.0 and b > 0.0:
                e, w = -inf, 1.0
                slope_a = -inf if x == 0.0 else nan
                slope_b = -inf if y == 0.0 else nan
    return lower, e, w, slope_a, slope_b, slope_x
