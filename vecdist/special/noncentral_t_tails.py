"""Distribution function of noncentral t variables, its logarithm, derivatives and inverse.

On the side of its mean a noncentral t variable z is a root of a noncentral F variable, but for one half of the steps in
the shapes of the mixture: see ``noncentral_beta_tails``.  On the other side, at z = -t for a noncentrality d >= 0, the
tail is the integral of Phi(-t s - d) over the density of s, n s^2 of a chi-squared distribution: by parts that of
s^n exp(-n s^2 / 2) phi(t s + d) (t + n s M(t s + d)), M being Mills' ratio, whose terms at equal steps of log(s) are
all positive (Trefethen and Weideman 2014, The exponentially convergent trapezoidal rule, SIAM Review 56).
"""

from __future__ import annotations

from collections.abc import Callable
from math import asinh, cosh, exp, expm1, inf, log, log1p, nan, pi, sinh, sqrt
from typing import Any

from vecdist.graph.node import Node, const
from vecdist.primitives.scalar import horner
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.beta_of_odds import SQUARE
from vecdist.special.error_functions import CENTRE, ERFCX
from vecdist.special.gamma_of_log import of_any
from vecdist.special.noncentral_beta_tails import chosen
from vecdist.special.noncentral_beta_tails import parts as half_parts
from vecdist.special.scalar import (
    DECAY,
    LEAST,
    SETTLED,
    STEPS,
    STIRLING_DIGAMMA,
    expm1_less,
    halley,
    log1p_less,
    log_less_digamma,
    log_tail,
    log_tail_slope,
    narrowed,
    reciprocal_gamma,
    stirling,
    tail,
    tail_slope,
)

MOST, FAR = 1e140, 1e150  # a noncentrality of which the square is known; from where on a tail is a power of z
STEP, WIDEST = 0.5, 0.1  # of the rule: in widths of the peak, and in log(s), whose sine is small to pi / 4
LARGE = 8.0  # degrees of freedom from which on the chi-squared density is taken along with its quantiles
FARTHEST = 690.0  # where sinh(s) nears the end of floats
TAIL = ERFCX[8][::-1]
LOG_ROOT = 0.5 * log(2.0 * pi)
# B(2 k) / (2 k - 1)! for k = 10, ..., 1: of the derivative of x / (exp(x) - 1) + x / 2, DLMF 24.2.1
BERNOULLI = (
    -4.349737397116123e-15, 1.545491170130012e-13, -5.423488474116132e-12, 1.873555114295855e-10,
    -6.3410281664249915e-09, 2.08767569878681e-07, -6.613756613756614e-06, 0.0001984126984126984,
    -0.005555555555555556, 0.16666666666666666,
)


def mills(u: float) -> float:
    """Phi(-u) / phi(u) for u >= 0."""
    a = u * 0.7071067811865476
    return sqrt(0.5 * pi) * horner((a - CENTRE) / (a + CENTRE), TAIL) / (a + CENTRE)


def drift(x: float) -> float:
    """The derivative of x / (exp(x) - 1), and 1/2."""
    y = x * horner(x * x, BERNOULLI)
    if not -0.7 < x < 0.7:
        rise = expm1(min(x, 600.0))
        y = (1.0 - x * (1.0 + 1.0 / rise)) / rise + 0.5
    return y


def along(n: float, v: float, t: float, s: float, m: float) -> float:
    """What the integrand has in the slope in n >= LARGE, over phi(t s + d), for s = exp(v) that moves with n.

    With the derivative added of -(1 - x / (exp(x) - 1)) / (2 n) times the integrand, x = 2 v, nothing of size 1 / n is
    left.
    """
    r, x = 2.0 / n, 2.0 * v
    square = r * r
    moved = (1.0 - x / expm1(min(x, 600.0))) / (2.0 * n) if x != 0.0 else 0.0
    return m * (0.5 * square * horner(square, STIRLING_DIGAMMA) + drift(x) / n) + moved * (t * s)


def constant(n: float, s: float) -> float:
    """The logarithm of the density of s but for 1 / s, over n."""
    b = 0.5 * n
    if b >= LEAST:
        less = s * s - 1.0
        excess = log1p_less(less) if less > -0.5 else 2.0 * log(s) - less
        y = log(2.0) + 0.5 * log(b) - LOG_ROOT - stirling(b) + b * excess - log(n)
    else:
        y = b * log(b) + log(reciprocal_gamma(b)) + n * log(s) - b * s * s
    return y


def gap(n: float) -> float:
    """The derivative of ``constant`` in n at s = 1."""
    b = 0.5 * n
    if b >= LEAST:
        y = 0.5 * log_less_digamma(b) - 1.0 / n
    else:
        y = 0.5 * (log(b / (b + 3.0)) + log_less_digamma(b + 3.0) + 1.0 / (b + 1.0) + 1.0 / (b + 2.0))
    return y


def saddle(n: float, d: float, t: float) -> tuple[float, float]:
    """The s where the integrand is greatest but for its last factor, (n + 1) log(s) - n s^2 / 2 - (t s + d)^2 / 2, and
    s sqrt(n + t^2).
    """
    root = sqrt(n + t * t)
    first, second = t * d, 2.0 * sqrt(n + 1.0) * root
    big, small = max(first, second), min(first, second)
    s = 2.0 * ((n + 1.0) / (first + big * sqrt(1.0 + (small / big) * (small / big))))
    return s, s * root


def beyond(n: float, d: float, t: float) -> tuple[float, float, float, float, float]:
    """The probability of less than -t <= 0 for d >= 0 as exp(e) w, and exp(e) times its slopes in n, d and t."""
    start, peak = saddle(n, d, t)
    a, sharp = n + 1.0, sqrt(n + 1.0 + peak * peak)
    before = 0.5 * (DECAY + sqrt(DECAY * (DECAY + 8.0 * a))) / a  # by exp(-v) - 1 + v > v^2 / (2 + v)
    if peak > 10.0:
        before = min(before, -log1p(-sqrt(2.0 * DECAY) / peak))
    step, last = min(STEP / sharp, WIDEST), t + n * start * mills(t * start + d)
    total, of_n, of_d, of_t = 0.0, 0.0, 0.0, 0.0
    v = -step * (before / step // 1.0 + 1.0)
    while v * sharp < 9.0:
        s, rise = start * exp(v), peak * expm1(v)
        weight = exp(-a * expm1_less(v) - 0.5 * rise * rise) / last
        m = mills(t * s + d)
        term = weight * (t + n * s * m)
        total += term
        of_d -= weight * (t * (t * s + d) + n * s)
        of_t -= weight * n
        if n >= LARGE:
            of_n += weight * (n / s) * along(n, log(start) + v, t, s, m)
        else:
            of_n += term * (log(start) + v + 0.5 * (1.0 - s * s)) + weight * s * m
        v += step
    of_n += total * gap(n) if n < LARGE else 0.0
    u = t * start + d
    e = constant(n, start) + log(start * last) - 0.5 * u * u - LOG_ROOT
    return e, step * total, step * of_n, step * of_d, step * of_t


def this_side(z: float, n: float, d: float) -> tuple[bool, float, float, float, float, float]:
    """What ``parts`` gives for z > 0 and d >= 0; no more than Phi(-d) is below 0."""
    lower, e, w, _, of_b, of_rate, of_x = half_parts(SQUARE, 0.5, 0.5 * n, 0.5 * d * d, 1.0, z)
    most = -0.5 * d * d - LOG_ROOT
    top = max(e, most) if lower else e
    part = exp(e - top)
    w, of_z, of_n, of_d = 0.5 * part * w, part * of_x / z, 0.25 * part * of_b, 0.5 * d * part * of_rate
    fall = log1p(z * z / n) if z < 1e100 else 2.0 * log(z) - log(n)
    edge = exp(most - 0.5 * n * fall - top)
    if lower:
        w += mills(d) * exp(most - top)
        edge = -edge
    return lower, top, w, of_z, of_n, of_d + edge


def parts(x: float, n: float, d: float, scale: float) -> tuple[bool, float, float, float, float, float, float]:
    """One tail at x = scale z (``lower`` or not) as exp(e) w: the one that may be small; exp(e) times its slopes.

    These are in x, n, d and the scale.  Far out the tail is a power of z.
    """
    lower, e, w, of_x, of_n, of_d, of_scale = True, 0.0, nan, nan, nan, nan, nan
    side = -1.0 if d < 0.0 else 1.0
    z, d, further = side * x / scale, abs(d), 0.0
    known = 0.0 < n < inf and d < MOST
    if known and abs(x) == inf:
        lower, e, w, of_x, of_n, of_d, of_scale = z < 0.0, -inf, 1.0, 0.0, 0.0, 0.0, 0.0
    elif known and -inf <= z <= inf:
        if abs(z) > FAR:
            further = log(abs(x)) - log(scale) - log(FAR)
            z = FAR if z > 0.0 else -FAR
        if z > 0.0:
            lower, e, w, of_z, of_n, of_d = this_side(z, n, d)
        else:
            e, w, of_n, of_d, of_z = beyond(n, d, -z)
            of_z = -of_z
        e, of_n = e - n * further, of_n - further * w
        of_x = side * of_z / scale if further == 0.0 else of_z * z / x
        of_scale = -of_z * z / scale
    return lower == (side > 0.0), e, w, of_x, of_n, side * of_d, of_scale


def _cdf(x: float, n: float, d: float, scale: float) -> float:
    lower, e, w, _, _, _, _ = parts(x, n, d, scale)
    return tail(lower, e, w)


def _log_cdf(x: float, n: float, d: float, scale: float) -> float:
    lower, e, w, _, _, _, _ = parts(x, n, d, scale)
    return log_tail(lower, e, w)


def _slope(which: float, x: float, n: float, d: float, scale: float) -> float:
    lower, e, _, of_x, of_n, of_d, of_scale = parts(x, n, d, scale)
    return tail_slope(lower, e, chosen(which, of_x, of_n, of_d, of_scale))


def _log_slope(which: float, x: float, n: float, d: float, scale: float) -> float:
    lower, e, w, of_x, of_n, of_d, of_scale = parts(x, n, d, scale)
    return log_tail_slope(lower, e, w, chosen(which, of_x, of_n, of_d, of_scale))


def _quantile_slope(which: float, z: float, n: float, d: float) -> float:
    """The derivative in p, n or d of the z below which there is p."""
    _, e, _, of_z, of_n, of_d, _ = parts(z, n, d, 1.0)
    rise = -e - log(abs(of_z)) if of_z != 0.0 else inf
    slope = exp(rise) if rise < 709.78 else inf
    if which > 0.0:
        slope = -chosen(which, of_z, of_n, of_d, 0.0) / of_z if of_z != 0.0 else 0.0
    return slope


def root(n: float, d: float, p: float, q: float) -> float:
    """The z below which there is p and above which q: by asinh(z) and the logarithm of the lesser tail.

    Far out both tails are powers of z.
    """
    s, least, most = asinh(d), -FARTHEST, FARTHEST
    k, excess = 0, 1.0
    while k < STEPS and abs(excess) > SETTLED and abs(s) < FARTHEST:
        z = sinh(s)
        lower, e, w, of_z, _, _, _ = parts(z, n, d, 1.0)
        same = lower == (p < q)
        slope = log_tail_slope(same, e, w, of_z) * cosh(s)
        excess = log_tail(same, e, w) - log(min(p, q))
        if (excess > 0.0) == (p < q):
            most = s
        else:
            least = s
        bend = sinh(s) / cosh(s) - (n + 1.0) * ((z - d) / (n + (z - d) * (z - d))) * cosh(s) - slope
        s = max(-FARTHEST, min(FARTHEST, s + halley(excess, slope, bend)))
        if abs(s) < FARTHEST:
            s = narrowed(s, abs(excess) <= SETTLED, least, most)
        k += 1
    z = sinh(s)
    if abs(s) >= FARTHEST:
        lower, e, w, _, _, _, _ = parts(z, n, d, 1.0)
        size = FARTHEST - log(2.0) + (log_tail(lower == (s < 0.0), e, w) - log(p if s < 0.0 else q)) / n
        z = (exp(size) if size < 709.78 else inf) * (-1.0 if s < 0.0 else 1.0)
    return z


def _quantile(n: float, d: float, p: float) -> float:
    z = nan
    if p == 0.0:
        z = -inf
    elif p == 1.0:
        z = inf
    elif 0.0 < n < inf and abs(d) < MOST and 0.0 < p < 1.0:
        z = root(n, d, p, 1.0 - p)
    return z


def _slopes_of(slope: Callable[..., Node], logarithm: bool) -> Callable[..., tuple[Node, ...]]:
    """The partials of the distribution function or its logarithm, by ``slope``."""

    def partials(x: Node, n: Node, d: Node, scale: Node, out: Node) -> tuple[Node, ...]:
        slopes = (slope(const(which, x.dtype), x, n, d, scale) for which in (0.0, 1.0, 2.0, 3.0))
        return tuple(of_any(out, each) if logarithm else each for each in slopes)

    return partials


def _slopes_of_quantile(n: Node, d: Node, p: Node, out: Node) -> tuple[Node, ...]:
    of_p, of_n, of_d = (noncentral_t_quantile_slope(const(which, p.dtype), out, n, d) for which in (0.0, 1.0, 2.0))
    return of_n, of_d, of_p


SHAPES = ((0.5, 20.0), (-2.0, 2.0))
COMMON: Any = {"floating": True, "domain": ((-4.0, 4.0), *SHAPES, (0.5, 2.0))}
ONE_OF: Any = {"floating": True, "domain": ((0.0, 3.0), (-4.0, 4.0), *SHAPES, (0.5, 2.0))}

noncentral_t_slope: Primitive = primitive(
    "noncentral_t_slope", 5, routine=_slope, tangent=no_derivatives("noncentral_t_slope"), **ONE_OF,
)
log_noncentral_t_slope: Primitive = primitive(
    "log_noncentral_t_slope", 5, routine=_log_slope, tangent=no_derivatives("log_noncentral_t_slope"), **ONE_OF,
)
noncentral_t_quantile_slope: Primitive = primitive(
    "noncentral_t_quantile_slope", 4, routine=_quantile_slope, tangent=no_derivatives("noncentral_t_quantile_slope"),
    floating=True, domain=((0.0, 2.0), (-4.0, 4.0), *SHAPES),
)
noncentral_t_cdf: Primitive = primitive(
    "noncentral_t_cdf", 4, routine=_cdf, partials=_slopes_of(noncentral_t_slope, False), **COMMON,
)
log_noncentral_t_cdf: Primitive = primitive(
    "log_noncentral_t_cdf", 4, routine=_log_cdf, partials=_slopes_of(log_noncentral_t_slope, True), **COMMON,
)
noncentral_t_quantile: Primitive = primitive(
    "noncentral_t_quantile", 3, routine=_quantile, partials=_slopes_of_quantile,
    floating=True, domain=(*SHAPES, (0.05, 0.95)),
)
