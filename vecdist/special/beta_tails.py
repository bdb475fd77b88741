"""The shorter tail of the beta distribution with its derivatives: what all incomplete beta functions are made of.

With s the distance from x on the logit scale the integrand of a tail is x**a y**b exp(-g(s)) ds, y = 1 - x, g convex:
32 points of Gauss and Legendre give the integral, and with its moments the derivatives.  Where a is small and the tail
long, a power series takes its place (DLMF 8.17.7, 8.17.8).  Arguments are a, b, x and y, so that no tail is rounded.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p, nan, pi, sqrt

from vecdist.primitives.scalar import exact_sum, half, horner
from vecdist.special.exponents import AMPLIFIED, VANISHED, beta_exponent, power_exponent
from vecdist.special.scalar import (
    DECAY,
    LEAST,
    NODES,
    RECIPROCAL_GAMMA,
    STIRLING,
    STIRLING_DIGAMMA,
    WEIGHTS,
    divided_difference,
    expm1_less,
    log1p_less,
    log_less,
    reciprocal_gamma,
    stirling,
)

LARGE = 10.0  # from here on the tail is short enough for the quadrature
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


def gap(a: float, b: float) -> float:
    """digamma(a + b) - digamma(a) - log(1 + b / a), relatively right for a >= LEAST."""
    p, q = 1.0 / a, 1.0 / (a + b)
    value, quotient = divided_difference(p * p, q * q, STIRLING_DIGAMMA)
    return b * p * q * (0.5 + (p + q) * (value + p * p * quotient))


def distance_from_mean(a: float, b: float, x: float, y: float) -> float:
    """a y - b x, to the last digit where it nearly cancels: by halves, whose products are exact, fused or not."""
    a_head, b_head, x_head, y_head = half(a), half(b), half(x), half(y)
    a_tail, b_tail, x_tail, y_tail = a - a_head, b - b_head, x - x_head, y - y_head
    rest = (a_head * y_tail + a_tail * y_head) - (b_head * x_tail + b_tail * x_head)
    return (a_head * y_head - b_head * x_head) + (rest + (a_tail * y_tail - b_tail * x_tail))


def prefactor(a: float, b: float, x: float, y: float, distance: float) -> tuple[float, float, float]:
    """x**a y**b / (a B(a, b)) = exp(e + rest) f, where rest is b log(y) if a is small and the lesser."""
    total = a + b
    rest = 0.0
    if a >= LEAST and b >= LEAST:
        e = a * log_less(x, a / total, -distance / a) + b * log_less(y, b / total, distance / b)
        f = sqrt(b / a) / (sqrt(2.0 * pi) * sqrt(total)) * exp(stirling(total) - stirling(a) - stirling(b))
    else:
        turned = a > 2.0 * b
        if turned:
            a, b, x, y = b, a, y, x
        shifted, e = gamma_ratio(b, a)
        e += a * log(x * shifted)
        rest = b * logarithm(y, x)
        f = reciprocal_gamma(a)
        if turned:
            f *= a / b
    return e, rest, f


def with_lost(
    e: float, a: float, b: float, x: float, x_low: float, y: float, y_low: float
) -> tuple[float, float]:
    """The whole exponent ``e`` of ``prefactor``, in two parts where its exponential amplifies what rounding takes."""
    low = 0.0
    if not -VANISHED < e < -AMPLIFIED:
        low = 0.0
    elif a >= LEAST and b >= LEAST:
        e, low = beta_exponent(a, b, x, x_low, y, y_low)
    else:
        if a > 2.0 * b:
            a, b, x, x_low, y, y_low = b, a, y, y_low, x, x_low
        shifted, ratio = gamma_ratio(b, a)
        e, low = power_exponent(a, x, x_low, shifted, b, y, y_low)
        e, lost = exact_sum(e, ratio)
        low += lost
    e, low = exact_sum(e, low)
    return e, low


def score(a: float, b: float, x: float, y: float, distance: float, first: float, steady: float) -> float:
    """The derivative in a of the logarithm of the density of logit(x): for a >= steady along with the mean, which adds
    distance / a to it.  For a smaller one ``first`` is a term, 1 / a - 1 / (a + b) but for what it is to be less.
    """
    if a >= LEAST:
        slope = log_less(x, a / (a + b), -distance / a) + gap(a, b)
    else:
        shifted = a + LEAST
        others = b / ((a + 1.0) * (a + b + 1.0)) + b / ((a + 2.0) * (a + b + 2.0))
        w = -(distance + LEAST * y) / shifted
        moved = b / a / (a + b) - LEAST * b * x / (a * shifted) if a >= steady else w + first
        slope = log_less(x, shifted / (shifted + b), w) + moved + gap(shifted, b) + others
    return slope


def power_series(
    a: float, b: float, x: float, y: float, distance: float, steady: float
) -> tuple[float, float, float]:
    """1 + (a + b) x / (a + 1) + (a + b) (a + b + 1) x**2 / ((a + 1) (a + 2)) + ..., and its derivatives in a and b.

    As those of ``score`` they go along with the mean from ``steady`` on.
    """
    term, term_a, term_b = 1.0, 0.0, 0.0
    total, total_a, total_b = 1.0, 0.0, 0.0
    of_a, of_b, step = 0.0, 1.0, 0.0
    if a >= steady:
        of_a = y / a
    if b >= steady:
        of_b, step = -distance / b, y / b
    n = 1.0
    while n < 500.0 and term > 1e-17 * total:
        r = x / (a + n)
        rise = a + b + (n - 1.0)
        term_b = (term_b * rise + term * (of_b - (n - 1.0) * step)) * r
        term_a = (term_a * rise + term - term * rise / (a + n) + of_a * (term * rise)) * r
        term *= rise * r
        total_a += term_a
        total_b += term_b
        total += term
        n += 1.0
    return total, total_a, total_b


def quadrature(
    a: float, b: float, x: float, y: float, distance: float, steady: float
) -> tuple[float, float, float]:
    """The integral of exp(-g(s)) for g(s) = a s + (a + b) log(1 + x (exp(-s) - 1)) increasing, and of g_a and g_b.

    As those of ``score`` these go along with the mean from ``steady`` on.
    """
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
        moment_a += weight * fall(a, bend + y * s, distance, steady)
        moment_b += weight * fall(b, bend - x * s, -distance, steady)
    return end * integral, end * moment_a, end * moment_b


def fall(a: float, q: float, distance: float, steady: float) -> float:
    """By how much ``score`` in a falls where log(x) falls by q."""
    share = distance / a
    return share * q + (1.0 - share) * expm1_less(-q) if a >= steady else q


def small(
    a: float, b: float, x: float, e: float, rest: float, slope: float, steady: float
) -> tuple[float, float, float]:
    """The upper tail and its derivatives for a < 1 and x up to 1 / max(b, 2), where it may be small, DLMF 8.17.7.

    That in b is along with the mean: by the series of (1 - x)**(b - 1) (log(1 - x) + x + a x / b), whose terms are
    those of its derivative in b without what cancels.
    """
    power, before, bent = 1.0, 0.0, 0.0
    total, square, total_b = 0.0, 0.0, 0.0
    n = 1.0
    while n < 100.0 and abs(power) + abs(bent) > 1e-18:
        bent = a / b * x if n == 1.0 else (bent * (n - b) - (a + n - 1.0) * x / (n - 1.0) * before) * (x / n)
        before = power
        power *= (n - b) * (x / n)
        total += power / (a + n)
        square += power / ((a + n) * (a + n))
        total_b += bent / (a + n)
        n += 1.0
    e += log1p(a * horner(a, RECIPROCAL_GAMMA))
    p = exp(e)
    gained = log1p_less(a / b) + gap(b, a) if b >= LEAST else digamma_gap(b, a) - a / b
    upper_a = -p * (slope * (1.0 + a * total) + total - a * square)
    upper_b = -p * (gained * (1.0 + a * total) + a * total_b)
    if b < steady:
        upper_b -= p * exp(rest) * a / b
    return max(-expm1(e) - p * a * total, 0.0), upper_a, upper_b


def one_side(
    a: float, b: float, x: float, y: float, distance: float, extra: float, steady: float, x_low: float, y_low: float
) -> tuple[bool, float, float, float, float, float]:
    """What ``parts`` gives, for x near 0 or below the mean a / (a + b); slopes as ``score`` has them."""
    lower = True
    e, rest, f = prefactor(a, b, x, y, distance)
    e += a * extra
    score_a = score(a, b, x, y, distance, -1.0 / (a + b), steady) + extra  # less 1 / a
    score_b = score(b, a, y, x, -distance, a / b / (a + b), steady)
    slope_x = f * a
    near = x * max(b, 2.0) <= 1.0
    if near and a < 1.0 and a <= b and f * exp(e) > 0.6:
        w, slope_a, slope_b = small(a, b, x, e, rest, score_a, steady)
        slope_x *= -exp(e + rest)
        lower, e = False, 0.0
    else:
        e += rest
        e, rest = with_lost(e - a * extra, a, b, x, x_low, y, y_low)
        e, f = e + a * extra, f * exp(rest)
        slope_x = f * a
        if near or (a < LARGE and x < FAR):
            w, slope_a, slope_b = power_series(a, b, x, y, distance, steady)
            if a >= steady:
                score_a -= 1.0 / a
            slope_a, slope_b, w = f * (w * score_a + slope_a), f * (w * score_b + slope_b), f * w
        else:
            w, moment_a, moment_b = quadrature(a, b, x, y, distance, steady)
            slope_a = f * a * (w * score_a - moment_a)
            if a < steady:
                slope_a += f * w
            slope_b = f * a * (w * score_b - moment_b)
            w = f * a * w
    return lower, e, w, slope_a, slope_b, slope_x


def at_end(a: float, b: float, along: bool) -> tuple[float, float, float]:
    """The slopes of the logarithm of the lower tail in a, b and logit(x) where x goes to 0."""
    return -inf, digamma_gap(b, a) - (a / b if along else 0.0), a


def parts_at(
    a: float, b: float, x: float, y: float, distance: float, extra: float, along: bool, x_low: float, y_low: float
) -> tuple[bool, float, float, float, float, float]:
    """One tail (``lower`` or not) as exp(e) w: that which may be small; exp(e) times slopes in a, b and logit(x).

    ``distance`` is a y - b x, and ``extra`` is what the logarithm of the lesser of x and y has beyond theirs.  The
    slopes in a and b are those for a constant quotient of x / y and a / b if ``along``, for a constant x if not.
    ``x_low`` and ``y_low`` are what rounding took from x and y.
    """
    lower, e, w, slope_a, slope_b, slope_x = True, 0.0, nan, nan, nan, nan
    steady = 1.0 if along else LEAST  # from where on the natural slope is that along with the mean
    near = a + b < inf and abs(distance) < inf
    if a > 0.0 and b > 0.0 and x > 0.0 and y > 0.0 and near:
        turned = x * max(b, 2.0) > 1.0 and (y * max(a, 2.0) <= 1.0 or distance < 0.0)
        if turned:
            a, b, x, y, distance, x_low, y_low = b, a, y, x, -distance, y_low, x_low
        lower, e, w, slope_a, slope_b, slope_x = one_side(a, b, x, y, distance, extra, steady, x_low, y_low)
        if along != (a >= steady):
            slope_a += slope_x / a if along else -slope_x / a
        if along != (b >= steady):
            slope_b += -slope_x / b if along else slope_x / b
        if turned:
            lower, slope_a, slope_b, slope_x = not lower, slope_b, slope_a, -slope_x
    elif a >= 0.0 and b >= 0.0 and x >= 0.0 and y >= 0.0:
        none_below = (x == 0.0 and a > 0.0) or (b == 0.0 and y > 0.0 and a > 0.0) or (not near and a * y > b * x)
        none_above = (y == 0.0 and b > 0.0) or (a == 0.0 and x > 0.0 and b > 0.0) or (not near and a * y < b * x)
        if none_below != none_above:
            lower, w = none_below, 0.0
            if a > 0.0 and b > 0.0:
                e, w = -inf, 1.0
                slope_a, slope_b, slope_x = 0.0, 0.0, 0.0
                if x == 0.0 and a + b < inf:
                    slope_a, slope_b, slope_x = at_end(a, b, along)
                elif y == 0.0 and a + b < inf:
                    slope_b, slope_a, slope_x = at_end(b, a, along)
                    slope_x = -slope_x
    return lower, e, w, slope_a, slope_b, slope_x


def parts(a: float, b: float, x: float, y: float) -> tuple[bool, float, float, float, float, float]:
    """``parts_at`` a point and for a constant x; the lesser of x and y is exact, and says what the other has lost."""
    distance = distance_from_mean(a, b, x, y)
    x_low, y_low = 0.0, 0.0
    other, rest = exact_sum(1.0, -min(x, y))
    if x > y:
        x_low = (other - x) + rest
    else:
        y_low = (other - y) + rest
    lower, e, w, slope_a, slope_b, slope_x = parts_at(a, b, x, y, distance, 0.0, False, x_low, y_low)
    return lower, e, w, slope_a, slope_b, slope_x
