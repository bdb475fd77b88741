"""Incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), their logarithms, derivatives and inverses, DLMF 8.2.

With s = abs(log(t / x)) the integrand of either tail is x**a exp(-x) exp(-g(s)) ds, g convex: whatever the size of a,
32 points of Gauss and Legendre give the integral to the last digits, and with its first moment the derivative in a.
Where a is small and the tail long, a power series takes its place (DLMF 8.11.4, 8.7.1).
"""

from __future__ import annotations

from math import exp, expm1, inf, lgamma, log, log1p, nan, pi, pow, sqrt  # noqa: A004

from vecdist.graph.node import Node, where
from vecdist.primitives import elementary
from vecdist.primitives.scalar import horner
from vecdist.primitives.table import Primitive, in_last, primitive
from vecdist.special.exponents import AMPLIFIED, VANISHED, gamma_exponent
from vecdist.special.gamma_functions import digamma
from vecdist.special.scalar import (
    DECAY,
    LEAST,
    NODES,
    RECIPROCAL_GAMMA,
    WEIGHTS,
    expm1_less,
    halley,
    log_less,
    log_less_digamma,
    log_tail,
    log_tail_slope,
    normal_quantile,
    reciprocal_gamma,
    stirling,
    tail,
    tail_slope,
)

LARGE = 20.0  # from here on the lower tail is short enough for the quadrature
FAR = 700.0  # beyond, exp(-x) may be a subnormal number



def is_power(a: float, x: float) -> bool:
    """Whether x**a is as good as it can be, and better than an exponential, for a below LEAST."""
    return 1.0 <= x < FAR or -FAR < a * log(x) < -AMPLIFIED


def prefactor(a: float, x: float) -> tuple[float, float, float]:
    """x**a exp(-x) / gamma(a + 1) = exp(e) f, and its logarithmic derivative in a, for positive finite x."""
    if a < LEAST:
        shifted = a + 4.0
        e, f = -x, reciprocal_gamma(a)
        if is_power(a, x):
            f *= pow(x, a)  # whose logarithm would be rounded along with x
        else:
            e += a * log(x)
        slope = log(x) - log(shifted) + (1.0 / (a + 1.0) + 1.0 / (a + 2.0) + 1.0 / (a + 3.0))
    else:
        shifted = a
        w = (x - a) / a
        y = log_less(x, a, w)
        e, low = a * y, 0.0
        if -VANISHED < e < -AMPLIFIED:
            e, low = gamma_exponent(a, x)
        f = exp(low - stirling(a)) / sqrt(2.0 * pi * a)
        slope = y + w - 1.0 / a
    return e, f, slope + log_less_digamma(shifted)


def power_series(a: float, x: float) -> tuple[float, float]:
    """1 + x / (a + 1) + x**2 / ((a + 1) (a + 2)) + ... and its derivative in a, DLMF 8.11.4."""
    term, total, term_slope, slope = 1.0, 1.0, 0.0, 0.0
    n = 1.0
    while n < 300.0 and term > 1e-17 * total:
        r = 1.0 / (a + n)
        term_slope = (term_slope - term * r) * (x * r)
        term = term * (x * r)
        slope += term_slope
        total += term
        n += 1.0
    return total, slope


def quadrature(a: float, x: float) -> tuple[float, float]:
    """The integral of (t / x)**(a - 1) exp(x - t) dt / x over the tail from x on, and of that times log(t / x).

    The tail is that away from a.  The path ends where the integrand has fallen by exp(-DECAY).
    """
    distance = abs(x - a)
    end = 2.0 * DECAY / (distance + sqrt(distance * distance + 2.0 * DECAY * x))
    sign = 1.0
    if x < a:
        sign = -1.0
    for _ in range(3):
        end = (DECAY - x * expm1(-end)) / a if x < a else log1p((DECAY + a * end) / x)
    total, moment = 0.0, 0.0
    for k in range(32):
        node = NODES[k // 2]
        if k % 2 == 1:
            node = 1.0 - node
        s = end * node
        weight = WEIGHTS[k // 2] * exp(-(distance * s + x * expm1_less(sign * s)))
        total += weight
        moment += weight * s
    return end * total, sign * end * moment


def small(a: float, x: float, log_x: float, slope: float) -> tuple[float, float]:
    """Q and its derivative in a for a < 1 and x < 1, where Q may be small, DLMF 8.7.1."""
    power, total, square = 1.0, 0.0, 0.0
    n = 1.0
    while n < 30.0 and abs(power) > 1e-18:
        power *= -x / n
        total += power / (a + n)
        square += power / ((a + n) * (a + n))
        n += 1.0
    g = a * horner(a, RECIPROCAL_GAMMA)
    p = exp(a * log_x) * (1.0 + g)
    q = -(expm1(a * log_x) * (1.0 + g) + g) - p * a * total
    return max(q, 0.0), -p * (slope * (1.0 + a * total) + total - a * square)


def parts(a: float, x: float) -> tuple[bool, float, float, float, float]:
    """One of P (``lower``) and Q as exp(e) w: that which may be small; exp(e) times slopes in a and log(x)."""
    lower, e, w, slope, slope_x = x < a, 0.0, nan, nan, nan
    if (a > 0.0 and x == 0.0) or (a == inf and 0.0 <= x < inf):
        lower, e, w, slope, slope_x = True, -inf, 1.0, -inf, inf
    elif 0.0 <= a < inf and x == inf:
        e, w, slope, slope_x = -inf, 1.0, inf, -inf
    elif 0.0 <= a < inf and x > 0.0:
        e, f, slope = prefactor(a, x)
        slope_x = f * a
        if x < 1.0 and a < 1.0 and a * log(x) > -0.5:
            lower, slope_x, e = False, -f * a * exp(e), 0.0
            w, slope = small(a, x, log(x), slope)
        elif x < 1.0 or x < a < LARGE:
            lower = True
            w, derivative = power_series(a, x)
            w, slope = f * w, f * (w * slope + derivative)
        else:
            w, derivative = quadrature(a, x)
            w, slope = f * a * w, f * (w + a * (w * slope + derivative))
            slope_x = slope_x if lower else -slope_x
    return lower, e, w, slope, slope_x


def _gammainc(a: float, x: float) -> float:
    lower, e, w, _, _ = parts(a, x)
    return tail(lower, e, w)


def _gammaincc(a: float, x: float) -> float:
    lower, e, w, _, _ = parts(a, x)
    return tail(not lower, e, w)


def _log_gammainc(a: float, x: float) -> float:
    lower, e, w, _, _ = parts(a, x)
    return log_tail(lower, e, w)


def _log_gammaincc(a: float, x: float) -> float:
    lower, e, w, _, _ = parts(a, x)
    return log_tail(not lower, e, w)


def _gammainc_da(a: float, x: float) -> float:
    lower, e, _, slope, _ = parts(a, x)
    return tail_slope(lower, e, slope)


def _log_gammainc_da(a: float, x: float) -> float:
    lower, e, w, slope, _ = parts(a, x)
    return log_tail_slope(lower, e, w, slope)


def _log_gammaincc_da(a: float, x: float) -> float:
    lower, e, w, slope, _ = parts(a, x)
    return log_tail_slope(not lower, e, w, slope)


def _gamma_density(a: float, x: float) -> float:
    y = nan
    if a >= 0.0 and x == 0.0:
        if a < 1.0:
            y = inf
        elif a == 1.0:
            y = 1.0
        else:
            y = 0.0
    elif (a == inf and x >= 0.0) or (a >= 0.0 and x == inf):
        y = 0.0
    elif a >= 0.0 and x > 0.0:
        e, f, _ = prefactor(a, x)
        if a < 1.0 or (a < LEAST and is_power(a, x)):
            y = f * a * exp(e) / x
        elif a < LEAST:
            y = f * a * exp((a - 1.0) * log(x) - x)
        elif e > -VANISHED:
            y = f * exp(e) * (a / x)
        else:
            y = 0.0
    return y


def _log_gammainc_dx(a: float, x: float) -> float:
    lower, e, w, _, slope = parts(a, x)
    y = log_tail_slope(lower, e, w, slope) / x if x > 0.0 else inf
    return y if a >= 0.0 and x >= 0.0 else nan


def _log_gammaincc_dx(a: float, x: float) -> float:
    lower, e, w, _, slope = parts(a, x)
    y = -_gamma_density(a, 0.0)
    if x == inf:
        y = -1.0
    elif x > 0.0:
        y = log_tail_slope(not lower, e, w, slope) / x
    return y if a >= 0.0 and x >= 0.0 else nan


def _quantile_da(a: float, x: float) -> float:
    """The derivative in a of the x at which P has a given value, DLMF 8.8.13."""
    _, _, _, slope, slope_x = parts(a, x)
    return -slope / slope_x * x if slope_x != 0.0 and 0.0 < x < inf else 0.0


def reciprocal_density(a: float, p: float, q: float, x: float) -> float:
    """The derivative of x in p, by the shorter tail, whose logarithm has a slope that next to nothing changes."""
    lower, e, w, _, slope = parts(a, x)
    slope = log_tail_slope(lower == (p < q), e, w, slope) * min(p, q)
    d = abs(x / slope) if slope != 0.0 else inf
    return d if 0.0 < x < inf else x


def _quantile_dp(a: float, p: float, x: float) -> float:
    return reciprocal_density(a, p, 1.0 - p, x)


def _quantile_dq(a: float, q: float, x: float) -> float:
    return -reciprocal_density(a, 1.0 - q, q, x)


def first_guess(a: float, p: float, q: float) -> float:
    """Near the root, by Wilson and Hilferty (1931) or by the leading term of either tail, DLMF 8.7.1 and 8.11.2."""
    constant = lgamma(min(a, 1e300) + 1.0)
    logarithm = log(p) if p < q else log1p(-q)
    z = normal_quantile(min(p, q))
    if q < p:
        z = -z
    x = exp(max(-800.0, min(1.0, (logarithm + constant) / a)))
    root = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * sqrt(a))
    far = log(a) - log(q) - constant
    if a >= 1.0 and root > 0.3:
        x = a * root * root * root
    elif a < 1.0 and far > 1.0 and x > 0.3:
        x = far + (a - 1.0) * log(far)
    return x


def quantile(a: float, p: float, q: float) -> float:
    """Where P is p and Q is q = 1 - p: the root in log(x) of the logarithm of the shorter tail, which is concave."""
    x = nan
    if a >= 0.0 and p >= 0.0 and q >= 0.0:
        x = 0.0
        if a == inf or q == 0.0:
            x = inf
        elif p > 0.0 and a > 0.0:
            x = first_guess(a, p, q)
            n, step = 0.0, 1.0
            while n < 15.0 and abs(step) > 1e-7 and x > 1e-300:
                lower, e, w, _, slope = parts(a, x)
                same = lower == (p < q)
                slope = log_tail_slope(same, e, w, slope)
                excess = log_tail(same, e, w) - log(min(p, q))
                step = halley(excess, slope, a - x - slope)
                x += x * expm1(step)
                n += 1.0
    return x


def _gammaincinv(a: float, p: float) -> float:
    return quantile(a, p, 1.0 - p)


def _gammainccinv(a: float, q: float) -> float:
    return quantile(a, 1.0 - q, q)


def _score(a: Node, x: Node) -> Node:
    """The derivative of the logarithm of the density in a."""
    return elementary.log(x) - digamma(a)


def _turned(a: Node, p: Node, x: Node, out: Node, below: bool) -> tuple[Node, Node, Node]:
    """The derivatives of a reciprocal density, of either sign, by the tail ``p`` that it is made of."""
    short = p < 0.5
    first = short if below else ~short
    of_a = where(first, log_gammainc_da(a, x), log_gammaincc_da(a, x))
    of_x = where(first, log_gammainc_dx(a, x), log_gammaincc_dx(a, x))
    fall = (a - 1.0) / x - 1.0
    return -out * (_score(a, x) - of_a), -out / where(short, p, p - 1.0), -out * (fall - of_x)


SHAPE, POINT, PROBABILITY = (0.3, 40.0), (0.3, 40.0), (0.02, 0.98)

gamma_density: Primitive = primitive(
    "gamma_density", 2, routine=_gamma_density,
    partials=lambda a, x, out: (out * _score(a, x), out * ((a - 1.0) / x - 1.0)),
    floating=True, domain=(SHAPE, POINT),
)
gammainc_da: Primitive = primitive(
    "gammainc_da", 2, routine=_gammainc_da,
    tangent=in_last("gammainc_da", lambda a, x, out: gamma_density(a, x) * _score(a, x)),
    floating=True, domain=(SHAPE, POINT),
)
gammainc: Primitive = primitive(
    "gammainc", 2, routine=_gammainc, partials=lambda a, x, out: (gammainc_da(a, x), gamma_density(a, x)),
    floating=True, ufuncs=("gammainc",), domain=(SHAPE, POINT), oracle="scipy.special.gammainc",
)
gammaincc: Primitive = primitive(
    "gammaincc", 2, routine=_gammaincc, partials=lambda a, x, out: (-gammainc_da(a, x), -gamma_density(a, x)),
    floating=True, ufuncs=("gammaincc",), domain=(SHAPE, POINT), oracle="scipy.special.gammaincc",
)
log_gammainc_dx: Primitive = primitive(
    "log_gammainc_dx", 2, routine=_log_gammainc_dx,
    partials=lambda a, x, out: (out * (_score(a, x) - log_gammainc_da(a, x)), out * ((a - 1.0) / x - 1.0 - out)),
    floating=True, domain=(SHAPE, POINT),
)
log_gammaincc_dx: Primitive = primitive(
    "log_gammaincc_dx", 2, routine=_log_gammaincc_dx,
    partials=lambda a, x, out: (out * (_score(a, x) - log_gammaincc_da(a, x)), out * ((a - 1.0) / x - 1.0 - out)),
    floating=True, domain=(SHAPE, POINT),
)
log_gammainc_da: Primitive = primitive(
    "log_gammainc_da", 2, routine=_log_gammainc_da,
    tangent=in_last("log_gammainc_da", lambda a, x, out: log_gammainc_dx(a, x) * (_score(a, x) - out)),
    floating=True, domain=(SHAPE, POINT),
)
log_gammaincc_da: Primitive = primitive(
    "log_gammaincc_da", 2, routine=_log_gammaincc_da,
    tangent=in_last("log_gammaincc_da", lambda a, x, out: log_gammaincc_dx(a, x) * (_score(a, x) - out)),
    floating=True, domain=(SHAPE, POINT),
)
log_gammainc: Primitive = primitive(
    "log_gammainc", 2, routine=_log_gammainc,
    partials=lambda a, x, out: (log_gammainc_da(a, x), log_gammainc_dx(a, x)), floating=True, domain=(SHAPE, POINT),
)
log_gammaincc: Primitive = primitive(
    "log_gammaincc", 2, routine=_log_gammaincc,
    partials=lambda a, x, out: (log_gammaincc_da(a, x), log_gammaincc_dx(a, x)), floating=True, domain=(SHAPE, POINT),
)
gamma_quantile_da: Primitive = primitive(
    "gamma_quantile_da", 2, routine=_quantile_da,
    tangent=in_last("gamma_quantile_da", lambda a, x, out: -(_score(a, x) + out * ((a - 1.0) / x - 1.0))),
    floating=True, domain=(SHAPE, POINT),
)
gammaincinv_dp: Primitive = primitive(
    "gammaincinv_dp", 3, routine=_quantile_dp, partials=lambda a, p, x, out: _turned(a, p, x, out, True), floating=True,
    domain=((0.5, 6.0), PROBABILITY, (0.5, 6.0)),
)
gammainccinv_dq: Primitive = primitive(
    "gammainccinv_dq", 3, routine=_quantile_dq, partials=lambda a, q, x, out: _turned(a, q, x, out, False),
    floating=True, domain=((0.5, 6.0), PROBABILITY, (0.5, 6.0)),
)
gammaincinv: Primitive = primitive(
    "gammaincinv", 2, routine=_gammaincinv,
    partials=lambda a, p, out: (gamma_quantile_da(a, out), gammaincinv_dp(a, p, out)),
    floating=True, ufuncs=("gammaincinv",), domain=(SHAPE, PROBABILITY), oracle="scipy.special.gammaincinv",
)
gammainccinv: Primitive = primitive(
    "gammainccinv", 2, routine=_gammainccinv,
    partials=lambda a, q, out: (gamma_quantile_da(a, out), gammainccinv_dq(a, q, out)),
    floating=True, ufuncs=("gammainccinv",), domain=(SHAPE, PROBABILITY), oracle="scipy.special.gammainccinv",
)
