"""Distribution function of Pólya-Gamma variables, its logarithm, derivatives and inverse.

The Laplace transform of a tail has a pole beside what the density has, at t = z^2 / 2: to the right of it the path of
``polya_gamma`` has the lower tail, to the left the upper one.  Where the saddle point is next to the pole, the path
goes by at a distance of some widths of the peak.  Far out the upper tail falls as its leading term.
"""

from __future__ import annotations

from collections.abc import Callable
from math import atan, cos, exp, inf, log, log1p, nan, pi, sin, sqrt, tanh
from typing import Any

from vecdist.graph.node import Node, const
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.gamma_of_log import of_any
from vecdist.special.mills import mills, two_mills
from vecdist.special.polya_gamma import MOST, NEXT, REACH, curvature, log_cosh_root, vertex
from vecdist.special.scalar import SETTLED, STEPS, halley, log_tail, log_tail_slope, narrowed, tail, tail_slope

BESIDE = 1.5  # widths of the peak
NARROW = 7.0  # steps in the strip beside the path
LEAST, LARGEST = 1e-100, 1e12  # of b; beyond, rounding takes the digits of the phase
WIDEST = 1e100  # a tilt whose square is known
NODES = 1e5  # of a path that is not too long
STRIDE = 5.0  # of a search: next to 0 the tail falls faster than any power
FARTHEST = 690.0  # of a logarithm


def log_cosh(p: float, q: float) -> tuple[float, float]:
    """The complex logarithm of cosh(sqrt(p + i q)) for q > 0, continuous in both."""
    larger = sqrt(0.5 * (sqrt(p * p + q * q) + abs(p)))
    across, along = larger, 0.5 * q / larger
    if p < 0.0:
        across, along = along, across
    square = exp(-2.0 * across)
    c = cos(along)
    half = 0.5 * (1.0 - square)
    size = across + 0.5 * log(half * half + square * c * c)
    return size, along - atan(square * sin(along) * c / (half + square * c * c))


def path(x: float, b: float, pole: float) -> tuple[bool, float, float, float, float]:
    """Whether it has the lower tail, where it begins, how wide the parabola is, and the step and the end."""
    s, rho = vertex(x, b)
    bend = curvature(s, rho)
    gap = BESIDE * 0.5 / sqrt(b * bend)
    lower = s > pole or (s > 0.0 and gap > 0.5 * pole)  # of a small b also above most of it, where tails are long
    s = max(s, pole + gap) if lower else min(s, pole - min(gap, 0.5 * (pole + 0.25 * pi * pi)))
    k = sqrt(max(s, 0.0) + min(s + 0.25 * pi * pi, 1.0))
    width = 0.25 / (k * sqrt(b * bend))
    room = s - (pole if lower else -0.25 * pi * pi)
    strip = room / (k + sqrt(k * k - room)) if room < k * k else k
    if not lower:
        strip = min(strip, (pole - s) / (k + sqrt(k * k + (pole - s))))
    return lower, s, k, min(0.25 * width, strip / NARROW), min(REACH * width, sqrt(20.0 / x)) + sqrt(20.0 / x)


def integrals(
    x: float, b: float, u: float, s: float, k: float, step: float, end: float
) -> tuple[float, float, float, float]:
    """The tail and its slopes in b and u and the density at x, over exp(2 (s - u^2) x) (cosh(u) / cosh(sqrt(s)))^b."""
    usual, own = log_cosh_root(s), log_cosh_root(u * u)
    total, of_b, of_u, density = 0.0, 0.0, 0.0, 0.0
    steady = b * tanh(u) - 4.0 * u * x
    y = 0.5 * step
    while y < end:
        p, q = s - y * y, 2.0 * k * y
        size, phase = log_cosh(p, q)
        lag = 4.0 * k * x * y - b * phase
        weight = exp(min(-2.0 * x * y * y - b * (size - usual), 700.0))
        real, imaginary = weight * (k * cos(lag) - y * sin(lag)), weight * (y * cos(lag) + k * sin(lag))
        density += real
        p -= u * u
        norm = p * p + q * q
        real, imaginary = (real * p + imaginary * q) / norm, (imaginary * p - real * q) / norm
        total += real
        of_b += real * (own - size) + imaginary * phase
        of_u += real * steady + 2.0 * u * (real * p + imaginary * q) / norm
        y += step
    unit = 2.0 / pi * step
    return unit * total, unit * of_b, unit * of_u, 2.0 * unit * density


def first_term(x: float, b: float, z: float) -> tuple[bool, float, float, float, float, float]:
    """What ``parts`` gives next to 0: by the first term of the alternating series, an inverse Gaussian distribution.

    It has the upper tail too where a large z has left next to nothing beyond.
    """
    size, root = abs(z), sqrt(x)
    lag, more = b - 2.0 * size * x, b + 2.0 * size * x
    lower = lag > 0.0
    rest = log1p(exp(-size)) if lower else 0.0
    a, sign = 0.5 * abs(lag) / root, 1.0 if lower else -1.0
    w = two_mills(a, min(2.0 * size * root if lower else b / root, 1e150), sign)
    other = mills(min(0.5 * more / root, 1e150))
    of_b, of_z = sign * (size * other - 1.0 / root) + rest * w, sign * b * other
    if lower:
        of_z -= w * b / (1.0 + exp(min(size, 700.0)))
    e = b * rest - 0.5 * a * a - 0.5 * log(2.0 * pi)
    return lower, e, w, sign * 0.5 * (b / x) / root, of_b, of_z if z > 0.0 else -of_z


def parts(x: float, b: float, z: float) -> tuple[bool, float, float, float, float, float]:
    """One tail (``lower`` or not) as exp(e) w: the one that may be small; exp(e) times its slopes in x, b and z."""
    lower, e, w, of_x, of_b, of_z = True, 0.0, nan, nan, nan, nan
    u, known = 0.5 * abs(z), LEAST < b < LARGEST and abs(z) < WIDEST
    if known and x == 0.0:
        e, w, of_x, of_b, of_z = -inf, 1.0, inf, -inf, 0.0
    elif known and x == inf:
        lower, e, w, of_x, of_b, of_z = False, -inf, 1.0, -inf, inf, 0.0
    elif known and 0.0 < NEXT * x < (b + 1.0 if b > 2.0 * abs(z) * x else b):
        lower, e, w, of_x, of_b, of_z = first_term(x, b, z)
    elif known and x > 0.0:
        further, x = max(0.0, x - 0.25 * MOST * b), min(x, 0.25 * MOST * b)
        lower, s, k, step, end = path(x, b, u * u)
        w, of_b, of_u, of_x = nan, nan, nan, nan
        if end < NODES * step:
            w, of_b, of_u, of_x = integrals(x, b, u, s, k, step, end)
        sign = 1.0 if lower else -1.0
        w = w if sign * w > 0.0 else nan
        grown, fall = log1p(further / x), 0.5 * pi * pi + 2.0 * u * u
        e = 2.0 * (s - u * u) * x + b * (log_cosh_root(u * u) - log_cosh_root(s))
        e += (b - 1.0) * grown - fall * further
        w, of_b, of_u = sign * w, sign * of_b + sign * w * grown, sign * of_u - 4.0 * u * further * sign * w
        of_z = (0.5 if z > 0.0 else -0.5) * of_u
        of_x *= sign
    return lower, e, w, of_x, of_b, of_z


def chosen(which: float, of_x: float, of_b: float, of_z: float) -> float:
    """The derivative in argument ``which``, of x, b and z."""
    slope = of_x
    if which == 1.0:
        slope = of_b
    elif which == 2.0:
        slope = of_z
    return slope


def _tail(below: float, x: float, b: float, z: float) -> float:
    lower, e, w, _, _, _ = parts(x, b, z)
    return tail(lower == (below > 0.0), e, w)


def _log_tail(below: float, x: float, b: float, z: float) -> float:
    lower, e, w, _, _, _ = parts(x, b, z)
    return log_tail(lower == (below > 0.0), e, w)


def _slope(which: float, below: float, x: float, b: float, z: float) -> float:
    lower, e, _, of_x, of_b, of_z = parts(x, b, z)
    return tail_slope(lower == (below > 0.0), e, chosen(which, of_x, of_b, of_z))


def _log_slope(which: float, below: float, x: float, b: float, z: float) -> float:
    lower, e, w, of_x, of_b, of_z = parts(x, b, z)
    return log_tail_slope(lower == (below > 0.0), e, w, chosen(which, of_x, of_b, of_z))


def _quantile_slope(which: float, below: float, x: float, b: float, z: float) -> float:
    """The derivative of the x at which a tail has a given value, in that value, b or z."""
    _, e, _, of_x, of_b, of_z = parts(x, b, z)
    rise = -e - log(abs(of_x)) if of_x != 0.0 else inf
    slope = (exp(rise) if rise < 709.78 else inf) * (1.0 if below > 0.0 else -1.0)
    if which > 0.0:
        slope = -chosen(which, of_x, of_b, of_z) / of_x if of_x != 0.0 else 0.0
    return slope


def _quantile(below: float, b: float, z: float, share: float) -> float:
    """The x below which, or above which, there is a share: the root in log(x) of the logarithm of the lesser tail."""
    x = nan
    p, q = (share, 1.0 - share) if below > 0.0 else (1.0 - share, share)
    if p == 0.0:
        x = 0.0
    elif q == 0.0:
        x = inf
    elif LEAST < b < LARGEST and abs(z) < WIDEST and p > 0.0 and q > 0.0:
        u = 0.5 * abs(z)
        mean = 0.25 * b * (tanh(u) / u if u > 1e-8 else 1.0)
        s, least, most = log(mean), -FARTHEST, FARTHEST
        n, excess = 0, 1.0
        while n < STEPS and abs(excess) > SETTLED:
            x = exp(s)
            lower, e, w, of_x, _, _ = parts(x, b, z)
            same = lower == (p < q)
            slope = log_tail_slope(same, e, w, of_x) * x
            excess = log_tail(same, e, w) - log(min(p, q))
            if (excess > 0.0) == (p < q):
                most = s
            else:
                least = s
            step = max(-STRIDE, min(STRIDE, halley(excess, slope, 0.0)))
            s = narrowed(s + step, abs(excess) <= SETTLED, least, most)
            n += 1
        x = exp(s) if abs(excess) <= SETTLED else nan
    return x


def _slopes_of(slope: Callable[..., Node], logarithm: bool) -> Callable[..., tuple[Node | None, ...]]:
    """The partials of a tail or its logarithm, by ``slope``."""

    def partials(below: Node, x: Node, b: Node, z: Node, out: Node) -> tuple[Node | None, ...]:
        slopes = (slope(const(which, x.dtype), below, x, b, z) for which in (0.0, 1.0, 2.0))
        return (None, *(of_any(out, each) if logarithm else each for each in slopes))

    return partials


def _slopes_of_quantile(below: Node, b: Node, z: Node, share: Node, out: Node) -> tuple[Node | None, ...]:
    which = (const(place, share.dtype) for place in (0.0, 1.0, 2.0))
    of_share, of_b, of_z = (polya_gamma_quantile_slope(each, below, out, b, z) for each in which)
    return None, of_b, of_z, of_share


BELOW, X, SHAPES = (1.0, 1.0), (0.1, 2.0), ((0.8, 4.0), (0.5, 3.0))
ONE_OF: Any = {"floating": True, "domain": ((0.0, 2.0), BELOW, X, *SHAPES)}
COMMON: Any = {"floating": True, "domain": (BELOW, X, *SHAPES)}

polya_gamma_slope: Primitive = primitive(
    "polya_gamma_slope", 5, routine=_slope, tangent=no_derivatives("polya_gamma_slope"), **ONE_OF,
)
log_polya_gamma_slope: Primitive = primitive(
    "log_polya_gamma_slope", 5, routine=_log_slope, tangent=no_derivatives("log_polya_gamma_slope"), **ONE_OF,
)
polya_gamma_quantile_slope: Primitive = primitive(
    "polya_gamma_quantile_slope", 5, routine=_quantile_slope, tangent=no_derivatives("polya_gamma_quantile_slope"),
    **ONE_OF,
)
# of the lower tail where the first argument is 1, of the upper one where it is 0
polya_gamma_tail: Primitive = primitive(
    "polya_gamma_tail", 4, routine=_tail, partials=_slopes_of(polya_gamma_slope, False), **COMMON,
)
log_polya_gamma_tail: Primitive = primitive(
    "log_polya_gamma_tail", 4, routine=_log_tail, partials=_slopes_of(log_polya_gamma_slope, True), **COMMON,
)
polya_gamma_quantile: Primitive = primitive(
    "polya_gamma_quantile", 4, routine=_quantile, partials=_slopes_of_quantile, floating=True,
    domain=(BELOW, *SHAPES, (0.1, 0.9)),
)
