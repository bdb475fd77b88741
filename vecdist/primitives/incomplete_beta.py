"""Incomplete beta functions I_x(a, b) and 1 - I_x(a, b), their logarithms, derivatives and inverses, DLMF 8.17."""

from __future__ import annotations

from math import exp, expm1, inf, lgamma, log, nan, sqrt

from vecdist.expr import Node
from vecdist.primitives import elementary
from vecdist.primitives.beta_tails import distance_from_mean, parts, parts_at, prefactor
from vecdist.primitives.gamma_differences import digamma_delta
from vecdist.primitives.incomplete_gamma import first_guess as gamma_guess
from vecdist.primitives.scalar import halley, log_tail, log_tail_slope, normal_quantile, tail, tail_slope
from vecdist.primitives.table import in_last, primitive


def tails(a: float, b: float, x: float) -> tuple[bool, float, float, float, float, float]:
    """The parts for a point that is known by x alone."""
    y = 1.0 - x
    distance = distance_from_mean(a, b, x, y) + a * ((1.0 - y) - x)
    lower, e, w, slope_a, slope_b, slope_x = parts_at(a, b, x, y, distance, 0.0, False)
    return lower, e, w, slope_a, slope_b, slope_x


def _betainc(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, _ = tails(a, b, x)
    return tail(lower, e, w)


def _betaincc(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, _ = tails(a, b, x)
    return tail(not lower, e, w)


def _log_betainc(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, _ = tails(a, b, x)
    return log_tail(lower, e, w)


def _log_betaincc(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, _ = tails(a, b, x)
    return log_tail(not lower, e, w)


def _betainc_da(a: float, b: float, x: float) -> float:
    lower, e, _, slope, _, _ = tails(a, b, x)
    return tail_slope(lower, e, slope)


def _betainc_db(a: float, b: float, x: float) -> float:
    lower, e, _, _, slope, _ = tails(a, b, x)
    return tail_slope(lower, e, slope)


def _log_betainc_da(a: float, b: float, x: float) -> float:
    lower, e, w, slope, _, _ = tails(a, b, x)
    return log_tail_slope(lower, e, w, slope)


def _log_betainc_db(a: float, b: float, x: float) -> float:
    lower, e, w, _, slope, _ = tails(a, b, x)
    return log_tail_slope(lower, e, w, slope)


def _log_betaincc_da(a: float, b: float, x: float) -> float:
    lower, e, w, slope, _, _ = tails(a, b, x)
    return log_tail_slope(not lower, e, w, slope)


def _log_betaincc_db(a: float, b: float, x: float) -> float:
    lower, e, w, _, slope, _ = tails(a, b, x)
    return log_tail_slope(not lower, e, w, slope)


def at_edge(a: float, b: float) -> float:
    """The density at x = 0."""
    y = inf if a < 1.0 else 0.0
    return b if a == 1.0 else y


def _beta_density(a: float, b: float, x: float) -> float:
    d = nan
    if a > 0.0 and b > 0.0 and 0.0 < x < 1.0 and a + b < inf:
        y = 1.0 - x
        distance = distance_from_mean(a, b, x, y) + a * ((1.0 - y) - x)
        e, rest, f = prefactor(a, b, x, y, distance)
        d = exp(e + rest) * f * a / (1.0 - x) / x
    elif a > 0.0 and b > 0.0 and x == 0.0:
        d = at_edge(a, b)
    elif a > 0.0 and b > 0.0 and x == 1.0:
        d = at_edge(b, a)
    elif a >= 0.0 and b >= 0.0 and 0.0 <= x <= 1.0 and a + b > 0.0:
        d = 0.0
    return d


def _log_betainc_dx(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, slope = tails(a, b, x)
    d = nan
    if 0.0 < x < 1.0:
        d = log_tail_slope(lower, e, w, slope) / (1.0 - x) / x
    elif a > 0.0 and b > 0.0 and x == 0.0:
        d = inf
    elif a > 0.0 and b > 0.0 and x == 1.0:
        d = at_edge(b, a)
    return d


def _log_betaincc_dx(a: float, b: float, x: float) -> float:
    lower, e, w, _, _, slope = tails(a, b, x)
    d = nan
    if 0.0 < x < 1.0:
        d = log_tail_slope(not lower, e, w, slope) / (1.0 - x) / x
    elif a > 0.0 and b > 0.0 and x == 0.0:
        d = -at_edge(a, b)
    elif a > 0.0 and b > 0.0 and x == 1.0:
        d = -inf
    return d


def _quantile_da(a: float, b: float, x: float) -> float:
    """The derivative in a of the x at which I has a given value."""
    _, _, _, slope, _, slope_x = tails(a, b, x)
    return -slope / slope_x * x * (1.0 - x) if slope_x != 0.0 and 0.0 < x < 1.0 else 0.0


def _quantile_db(a: float, b: float, x: float) -> float:
    _, _, _, _, slope, slope_x = tails(a, b, x)
    return -slope / slope_x * x * (1.0 - x) if slope_x != 0.0 and 0.0 < x < 1.0 else 0.0


def of_logit(u: float) -> tuple[float, float]:
    """The x of a logit, and 1 - x."""
    smaller = exp(-min(abs(u), 740.0))
    x = smaller / (1.0 + smaller)
    y = 1.0 / (1.0 + smaller)
    if u > 0.0:
        x, y = y, x
    return x, y


def bell(a: float, b: float, p: float, q: float) -> float:
    """The logit of x near the root for a, b >= 1, Abramowitz and Stegun 26.5.22."""
    u, v = 1.0 / (2.0 * a - 1.0), 1.0 / (2.0 * b - 1.0)
    h = 2.0 / (u + v)
    z = normal_quantile(min(p, q))
    if q < p:
        z = -z
    square = (z * z - 3.0) / 6.0
    w = z * sqrt(h + square) / h + (v - u) * (square + 5.0 / 6.0 - 2.0 / (3.0 * h))
    return log(a / b) + 2.0 * w


def first_guess(a: float, b: float, p: float, q: float) -> tuple[float, float]:
    """x and 1 - x near the root: the leading term of either tail (DLMF 8.17.7), or the root of the nearest gamma or
    normal distribution.
    """
    least = min(a, b, 1e300)
    if a < 1.0 and b < 1.0:
        constant = lgamma(a + b) - lgamma(a) - lgamma(b)
    else:
        constant = least * log(max(a, b) + 0.5 * max(least - 1.0, 0.0)) - lgamma(least)
    below = (log(p) + log(a) - constant) / a
    above = -(log(q) + log(b) - constant) / b
    if a >= 1.0 and b >= 1.0:
        u = bell(a, b, p, q)
        x, y = of_logit(max(u, below) if p < q else min(u, above))
    elif a < 1.0 and b < 1.0:
        x, y = of_logit(below if below < 0.0 else max(0.0, above))
    else:
        turned = a >= 1.0
        if turned:
            a, b, p, q = b, a, q, p
        z = gamma_guess(a, p, q)
        x, y = z / (b + z), b / (b + z)
        if turned:
            x, y = y, x
    return x, y


def quantile(a: float, b: float, p: float, q: float) -> float:
    """Where I is p = 1 - q: the root in logit(x) of the logarithm of the shorter tail, which is concave."""
    x = nan
    if a > 0.0 and b > 0.0 and p >= 0.0 and q >= 0.0 and a + b < inf:
        x, y = 0.0, 1.0
        if q == 0.0:
            x, y = 1.0, 0.0
        elif p > 0.0:
            x, y = first_guess(a, b, p, q)
        n, step = 0.0, 1.0
        while n < 30.0 and abs(step) > 1e-7 and x > 1e-300 and y > 1e-300:
            lower, e, w, _, _, slope = parts(a, b, x, y)
            same = lower == (p < q)
            slope = log_tail_slope(same, e, w, slope)
            excess = log_tail(same, e, w) - log(min(p, q))
            step = halley(excess, slope, a * y - b * x - slope)
            move = x * y * expm1(step) / (1.0 + x * expm1(step))
            x += move
            y -= move
            n += 1.0
    return x


def _betaincinv(a: float, b: float, p: float) -> float:
    return quantile(a, b, p, 1.0 - p)


def _betainccinv(a: float, b: float, q: float) -> float:
    return quantile(a, b, 1.0 - q, q)


def _score_a(a: Node, b: Node, x: Node) -> Node:
    """The derivative of the logarithm of the density in a."""
    return elementary.log(x) + digamma_delta(a, b)


def _score_b(a: Node, b: Node, x: Node) -> Node:
    return elementary.log1p(-x) + digamma_delta(b, a)


def _score_x(a: Node, b: Node, x: Node) -> Node:
    return (a - 1.0) / x - (b - 1.0) / (1.0 - x)


SHAPES, UNIT = ((0.4, 30.0), (0.4, 30.0)), (0.05, 0.95)
COMMON = {"floating": True, "domain": (*SHAPES, UNIT)}
# what has a score less a value of its size as its derivative, which is not good for float32 where both are large
CANCELLING = {"floating": True, "domain": ((0.4, 6.0), (0.4, 6.0), (0.2, 0.8))}

beta_density = primitive(
    "beta_density", 3, routine=_beta_density,
    partials=lambda a, b, x, out: (out * _score_a(a, b, x), out * _score_b(a, b, x), out * _score_x(a, b, x)),
    **COMMON,
)
betainc_da = primitive(
    "betainc_da", 3, routine=_betainc_da,
    tangent=in_last("betainc_da", lambda a, b, x, out: beta_density(a, b, x) * _score_a(a, b, x)), **COMMON,
)
betainc_db = primitive(
    "betainc_db", 3, routine=_betainc_db,
    tangent=in_last("betainc_db", lambda a, b, x, out: beta_density(a, b, x) * _score_b(a, b, x)), **COMMON,
)
betainc = primitive(
    "betainc", 3, routine=_betainc,
    partials=lambda a, b, x, out: (betainc_da(a, b, x), betainc_db(a, b, x), beta_density(a, b, x)),
    ufuncs=("betainc",), oracle="scipy.special.betainc", **COMMON,
)
betaincc = primitive(
    "betaincc", 3, routine=_betaincc,
    partials=lambda a, b, x, out: (-betainc_da(a, b, x), -betainc_db(a, b, x), -beta_density(a, b, x)),
    ufuncs=("betaincc",), oracle="scipy.special.betaincc", **COMMON,
)

log_betainc_dx = primitive(
    "log_betainc_dx", 3, routine=_log_betainc_dx,
    partials=lambda a, b, x, out: (
        out * (_score_a(a, b, x) - log_betainc_da(a, b, x)),
        out * (_score_b(a, b, x) - log_betainc_db(a, b, x)),
        out * (_score_x(a, b, x) - out),
    ),
    **CANCELLING,
)
log_betainc_da = primitive(
    "log_betainc_da", 3, routine=_log_betainc_da,
    tangent=in_last("log_betainc_da", lambda a, b, x, out: log_betainc_dx(a, b, x) * (_score_a(a, b, x) - out)),
    **COMMON,
)
log_betainc_db = primitive(
    "log_betainc_db", 3, routine=_log_betainc_db,
    tangent=in_last("log_betainc_db", lambda a, b, x, out: log_betainc_dx(a, b, x) * (_score_b(a, b, x) - out)),
    **COMMON,
)
log_betainc = primitive(
    "log_betainc", 3, routine=_log_betainc,
    partials=lambda a, b, x, out: (log_betainc_da(a, b, x), log_betainc_db(a, b, x), log_betainc_dx(a, b, x)),
    **COMMON,
)
log_betaincc_dx = primitive(
    "log_betaincc_dx", 3, routine=_log_betaincc_dx,
    partials=lambda a, b, x, out: (
        out * (_score_a(a, b, x) - log_betaincc_da(a, b, x)),
        out * (_score_b(a, b, x) - log_betaincc_db(a, b, x)),
        out * (_score_x(a, b, x) - out),
    ),
    **CANCELLING,
)
log_betaincc_da = primitive(
    "log_betaincc_da", 3, routine=_log_betaincc_da,
    tangent=in_last("log_betaincc_da", lambda a, b, x, out: log_betaincc_dx(a, b, x) * (_score_a(a, b, x) - out)),
    **COMMON,
)
log_betaincc_db = primitive(
    "log_betaincc_db", 3, routine=_log_betaincc_db,
    tangent=in_last("log_betaincc_db", lambda a, b, x, out: log_betaincc_dx(a, b, x) * (_score_b(a, b, x) - out)),
    **COMMON,
)
log_betaincc = primitive(
    "log_betaincc", 3, routine=_log_betaincc,
    partials=lambda a, b, x, out: (log_betaincc_da(a, b, x), log_betaincc_db(a, b, x), log_betaincc_dx(a, b, x)),
    **COMMON,
)
beta_quantile_da = primitive(
    "beta_quantile_da", 3, routine=_quantile_da,
    tangent=in_last("beta_quantile_da", lambda a, b, x, out: -(_score_a(a, b, x) + out * _score_x(a, b, x))), **COMMON,
)
beta_quantile_db = primitive(
    "beta_quantile_db", 3, routine=_quantile_db,
    tangent=in_last("beta_quantile_db", lambda a, b, x, out: -(_score_b(a, b, x) + out * _score_x(a, b, x))), **COMMON,
)
betaincinv = primitive(
    "betaincinv", 3, routine=_betaincinv,
    partials=lambda a, b, p, out: (
        beta_quantile_da(a, b, out), beta_quantile_db(a, b, out), 1.0 / beta_density(a, b, out)
    ),
    ufuncs=("betaincinv",), oracle="scipy.special.betaincinv", **COMMON,
)
betainccinv = primitive(
    "betainccinv", 3, routine=_betainccinv,
    partials=lambda a, b, q, out: (
        beta_quantile_da(a, b, out), beta_quantile_db(a, b, out), -1.0 / beta_density(a, b, out)
    ),
    ufuncs=("betainccinv",), oracle="scipy.special.betainccinv", **COMMON,
)
