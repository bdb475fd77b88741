"""Distribution function of the skew normal distribution, its logarithm, derivatives and inverse.

F(z, a) is the integral of 2 phi(t) Phi(a t) up to z, which is Phi(z) - 2 T(z, a) with Owen's function; 1 - F(z, a) is
F(-z, -a).  ``z`` comes in two parts, a float and what rounding took from it.
Azzalini (1985), A class of distributions which includes the normal ones, Scandinavian Journal of Statistics 12.
"""

from __future__ import annotations

from math import asinh, cosh, erf, erfc, exp, floor, inf, log, log1p, nan, pi, sinh, sqrt
from typing import Any

from vecdist.graph.node import Node
from vecdist.primitives.scalar import horner
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import CENTRE, ERFCX
from vecdist.special.normal_tail import ROOT_HALF, inverse_mills
from vecdist.special.owens_t import upper, wedge
from vecdist.special.scalar import (
    DECAY,
    NODES,
    SETTLED,
    STEPS,
    WEIGHTS,
    log_tail,
    log_tail_slope,
    narrowed,
    normal_quantile,
)
from vecdist.special.two_tails import routines

NEAR = 0.3  # where a h is no more, and h no more than 1, little is lost by Owen's function
FAR = 1e9  # from which on a h leaves one term of the integral by parts
PHI_TWICE = sqrt(2.0 / pi)
SCALED_TAIL: tuple[float, ...] = ERFCX[8][::-1]


def scaled_upper(h: float) -> float:
    """exp(h**2 / 2) Phi(-h) for h >= 0 (Shepherd and Laframboise 1981)."""
    x = ROOT_HALF * h
    t = 2.0 * x / (x + CENTRE) - 1.0 if x < CENTRE else 1.0 - 2.0 * CENTRE / (x + CENTRE)
    return 0.5 * horner(t, SCALED_TAIL) / (x + CENTRE)


def light_tail(h: float, a: float) -> float:
    """F(-h, a) exp(h**2 (1 + a**2) / 2) for h >= 0 and a >= 0.

    F(-h, a) is the integral of exp(-h**2 (1 + x**2) / 2) / (pi (1 + x**2)) over x > a, here by s = asinh(x).
    """
    g = a * h
    if h < 1.0 and g < NEAR:
        y = upper(h) - 2.0 * wedge(h, a) if a <= 1.0 else 2.0 * wedge(g, 1.0 / a) - upper(g) * erf(ROOT_HALF * h)
        y *= exp(0.5 * (h * h + g * g))
    elif g > FAR:
        y = max(1e-300, 1.0 / (pi * g) / (1.0 + a * a) / h)
    else:
        start, reach = asinh(a), min(1e300, 2.0 * DECAY / (h * h))
        x = sqrt(a * a + reach)
        root, other = sqrt(1.0 + a * a), sqrt(1.0 + x * x)
        end = log1p((reach / (x + a) + reach / (other + root)) / (a + root))
        half, total = 0.5 * h * h, 0.0
        for k in range(32):
            node = NODES[k // 2]
            if k % 2 == 1:
                node = 1.0 - node
            s = end * node
            total += WEIGHTS[k // 2] * exp(-half * sinh(2.0 * start + s) * sinh(s)) / cosh(start + s)
        y = end * total / pi
    return y


def head(x: float) -> float:
    """About half of the digits of a number that is not tiny; nothing that is fused can change them."""
    grid = 1.0
    if x < 64.0:
        grid = 1048576.0
    elif x < 65536.0:
        grid = 1024.0
    return floor(x * grid) / grid if x < 1e9 else x


def bell(h: float, lost: float) -> tuple[float, float]:
    """exp(-(h + lost)**2 / 2) as exp(e) times a number next to 1, for h >= 0: nothing is lost of the square."""
    h_head, near = head(h), 1.0
    if h < 1e4:
        near = exp(-0.5 * (h - h_head) * (h + h_head) - h * lost)
    return -0.5 * h_head * h_head, near


def parts(z: float, rest: float, a: float) -> tuple[bool, float, float, float, float]:
    """One tail (``lower`` or not) as exp(e) w, that which may be small; exp(e) times its slopes in z and a."""
    at = z + rest
    lower, h, b = at <= 0.0, abs(at), abs(a)
    h, b = 1e150 if h > 1e150 else h, 1e150 if b > 1e150 else b
    lost = rest - (at - z) if at > 0.0 else (at - z) - rest
    e, near = bell(h, lost)
    g = h * b
    e_g, near_g = bell(g, (head(h) * head(b) - g) + (head(h) * (b - head(b)) + (h - head(h)) * b) + lost * b)
    w, of_a = light_tail(h, b), 1.0 / (pi * (1.0 + b * b))
    if (a >= 0.0) == lower:
        e, near = e + e_g, near * near_g
        of_z = PHI_TWICE * scaled_upper(g)
    else:
        fall = exp(e_g) * near_g
        w, of_a = 2.0 * scaled_upper(h) - w * fall, of_a * fall
        of_z = PHI_TWICE * 0.5 * erfc(-ROOT_HALF * g)
        if h < 1.0 and w * exp(e) > 0.5:  # that of all but what lies beyond -h, and between -h and h
            lower = not lower
            w = exp(0.5 * h * h) * erf(ROOT_HALF * h) + fall * light_tail(h, b)
    w, of_z, of_a = w * near, of_z * near, of_a * near
    if lower:
        of_a = -of_a
    else:
        of_z = -of_z
    return lower, e, w, of_z, of_a


TAILS = routines(parts)


def _skew_normal_quantile_da(a: float, z: float) -> float:
    """The derivative in a of the z at which F has a given value."""
    _, _, _, of_z, of_a = parts(z, 0.0, a)
    return -of_a / of_z if of_z != 0.0 else 0.0


def _skew_normal_quantile(a: float, p: float) -> float:
    """The z at which F is p: abs(z) is that of a normal variable, so that either tail is at most twice that of one."""
    z, q = nan, 1.0 - p
    if p == 0.0:
        z = -inf
    elif p == 1.0:
        z = inf
    elif 0.0 < p < 1.0 and abs(a) < inf:
        least, most = normal_quantile(0.5 * p) - 0.001, 0.001 - normal_quantile(0.5 * q)
        z = 0.5 * (least + most)
        n, excess = 0, 1.0
        while n < STEPS and abs(excess) > SETTLED:
            lower, e, w, of_z, _ = parts(z, 0.0, a)
            same = lower == (p < q)
            slope = log_tail_slope(same, e, w, of_z)
            excess = log_tail(same, e, w) - log(min(p, q))
            if (excess > 0.0) == (p < q):
                most = z
            else:
                least = z
            z = narrowed(z - excess / slope if slope != 0.0 else inf, abs(excess) <= SETTLED, least, most)
            n += 1
    return z


def _score(z: Node, a: Node) -> Node:
    """The derivative of the logarithm of the density in z."""
    return a * inverse_mills(a * z) - z


def _score_da(z: Node, a: Node) -> tuple[Node, Node]:
    """The derivatives of the logarithm of dF/da in z and a."""
    whole = 1.0 + a * a
    return -z * whole, -a * (z * z + 2.0 / whole)


def _quantile_slopes(a: Node, z: Node, out: Node) -> tuple[Node, Node]:
    of_a = _score_da(z, a)[1]
    return out * (of_a - z * inverse_mills(a * z)), -z * inverse_mills(a * z) - out * _score(z, a)


COMMON: Any = {"floating": True, "domain": ((-3.0, 3.0), (-1e-17, 1e-17), (-4.0, 4.0))}

skew_normal_density: Primitive = primitive(
    "skew_normal_density", 3, routine=TAILS.slope,
    partials=lambda z, rest, a, out: (out * _score(z, a), None, out * (z * inverse_mills(a * z))), **COMMON,
)
skew_normal_cdf_da: Primitive = primitive(
    "skew_normal_cdf_da", 3, routine=TAILS.slope_in_parameter,
    partials=lambda z, rest, a, out: (out * _score_da(z, a)[0], None, out * _score_da(z, a)[1]), **COMMON,
)
skew_normal_cdf: Primitive = primitive(
    "skew_normal_cdf", 3, routine=TAILS.cdf,
    partials=lambda z, rest, a, out: (skew_normal_density(z, rest, a), None, skew_normal_cdf_da(z, rest, a)), **COMMON,
)
log_skew_normal_cdf_dz: Primitive = primitive(
    "log_skew_normal_cdf_dz", 3, routine=TAILS.log_slope,
    partials=lambda z, rest, a, out: (
        out * (_score(z, a) - out), None, out * (z * inverse_mills(a * z) - log_skew_normal_cdf_da(z, rest, a)),
    ),
    **COMMON,
)
log_skew_normal_cdf_da: Primitive = primitive(
    "log_skew_normal_cdf_da", 3, routine=TAILS.log_slope_in_parameter,
    partials=lambda z, rest, a, out: (
        out * (_score_da(z, a)[0] - log_skew_normal_cdf_dz(z, rest, a)), None, out * (_score_da(z, a)[1] - out),
    ),
    **COMMON,
)
log_skew_normal_cdf: Primitive = primitive(
    "log_skew_normal_cdf", 3, routine=TAILS.log_cdf,
    partials=lambda z, rest, a, out: (
        log_skew_normal_cdf_dz(z, rest, a), None, log_skew_normal_cdf_da(z, rest, a),
    ),
    **COMMON,
)
skew_normal_quantile_da: Primitive = primitive(
    "skew_normal_quantile_da", 2, routine=_skew_normal_quantile_da, partials=_quantile_slopes,
    floating=True, domain=((-4.0, 4.0), (-3.0, 3.0)),
)
skew_normal_quantile: Primitive = primitive(
    "skew_normal_quantile", 2, routine=_skew_normal_quantile,
    partials=lambda a, p, out: (skew_normal_quantile_da(a, out), 1.0 / skew_normal_density(out, 0.0 * out, a)),
    floating=True, domain=((-4.0, 4.0), (0.05, 0.95)),
)
