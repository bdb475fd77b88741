"""Distribution function of the von Mises distribution over one turn, its logarithm, derivatives and inverse.

The angle from the mode comes in two parts, a float and what rounding took from it; 1 - F(d) is F(-d).  Either tail is
the integral of exp(-2 k (sin(t / 2)**2 - sin(d / 2)**2)) from abs(d) to pi, over twice that from 0.
Mardia and Jupp (2000), Directional Statistics, section 3.5.4.
"""

from __future__ import annotations

from collections.abc import Callable
from math import asin, cos, exp, inf, log, nan, pi, sin, sqrt
from typing import Any

from vecdist.graph.node import Node
from vecdist.primitives.table import Primitive, in_last, no_derivative, primitive
from vecdist.primitives.trigonometric import cos_less_one, sin_of_parts
from vecdist.special.bessel import bessel_ratio_gap
from vecdist.special.scalar import DECAY, NODES, SETTLED, STEPS, WEIGHTS, narrowed, normal_quantile
from vecdist.special.two_tails import routines

PI_REST = 1.2246467991473532e-16  # of pi beyond its float


def path(start: float, rest: float, k: float) -> float:
    """How far from ``start``, which is ``rest`` short of pi, the integrand falls by exp(-DECAY), if it does."""
    length, fall, at = rest, 0.5 * DECAY, sin(0.5 * start) * sin(0.5 * start)
    if k * (1.0 - at) > fall:
        steep, bent = sin(start), cos(start)
        length = 2.0 * asin(sqrt(min(1.0, at + fall / k))) - start
        if length < 1e-3:  # without the difference
            length = 4.0 * fall / k / (steep + sqrt(max(0.0, steep * steep + 4.0 * fall / k * bent)))
    return min(length, rest)


def arc(start: float, rest: float, k: float) -> tuple[float, float]:
    """The integral of exp(-2 k y) over t > start for y = sin(t / 2)**2 - sin(start / 2)**2, and that of 2 y in it."""
    length = path(start, rest, k)
    total, moment = 0.0, 0.0
    for n in range(32):
        node = NODES[n // 2]
        if n % 2 == 1:
            node = 1.0 - node
        half = 0.5 * length * node
        twice = 2.0 * sin(start + half) * sin(half)
        weight = WEIGHTS[n // 2] * exp(-k * twice)
        total += weight
        moment += weight * twice
    return length * total, length * moment


def inner(end: float, k: float, gap: float) -> float:
    """The integral of (gap - 2 sin(t / 2)**2) exp(-2 k sin(t / 2)**2) from 0 to ``end``."""
    total = 0.0
    for n in range(32):
        node = NODES[n // 2]
        if n % 2 == 1:
            node = 1.0 - node
        half = sin(0.5 * end * node)
        twice = 2.0 * half * half
        total += WEIGHTS[n // 2] * (gap - twice) * exp(-k * twice)
    return end * total


def parts(angle: float, rest: float, k: float) -> tuple[bool, float, float, float, float]:
    """One tail (``lower`` or not), at most 1/2, as exp(e) w; exp(e) times its slopes in the angle and in k."""
    lower, e, w, of_d, of_k = angle + rest <= 0.0, nan, nan, nan, nan
    start, beyond = abs(angle), -rest if angle < 0.0 else rest
    if start < inf and 0.0 <= k < inf:
        left = max(0.0, (pi - start) + (PI_REST - beyond))
        start = max(0.0, min(pi, start + beyond))
        whole, moment = arc(0.0, pi, k)
        total, excess = arc(start, left, k)
        half = sin(0.5 * start)
        y, gap = 2.0 * half * half, moment / whole
        e, w, of_d = -k * y, 0.5 * total / whole, 0.5 / whole
        of_k = -inner(start, k, gap) * exp(-e) if y < gap else total * (gap - y) - excess
        of_k = 0.5 * of_k / whole
        of_d = of_d if lower else -of_d
    return lower, e, w, of_d, of_k


TAILS = routines(parts)


def _von_mises_quantile_dk(k: float, angle: float) -> float:
    """The derivative in k of the angle at which F has a given value."""
    _, _, _, of_d, of_k = parts(angle, 0.0, k)
    return -of_k / of_d


def _von_mises_quantile(k: float, p: float) -> float:
    """The angle at which F is p, from the shorter tail."""
    angle, share = nan, min(p, 1.0 - p)
    if share == 0.0:
        angle = pi
    elif 0.0 < share < 0.5 and 0.0 <= k < inf:
        least, most = 0.0, pi
        whole, _ = arc(0.0, pi, k)
        angle = (1.0 - 2.0 * share) * pi
        if k > 1.0:
            angle = min(angle, -normal_quantile(share) / sqrt(k))
        n, excess = 0, 1.0
        while n < STEPS and abs(excess) > SETTLED:
            total, _ = arc(angle, (pi - angle) + PI_REST, k)
            half = sin(0.5 * angle)
            excess = log(max(1e-300, total)) - 2.0 * k * half * half - log(2.0 * share * whole)
            if excess > 0.0:
                least = angle
            else:
                most = angle
            angle = narrowed(angle + excess * total, abs(excess) <= SETTLED, least, most)
            n += 1
    elif share == 0.5:
        angle = 0.0
    return -angle if p < 0.5 else angle


def _score(angle: Node, rest: Node, k: Node) -> Node:
    """The derivative of the logarithm of the density in the angle."""
    return -k * sin_of_parts(angle, rest)


def _score_dk(angle: Node, rest: Node, k: Node) -> Node:
    """And in k: the cosine less its mean."""
    return cos_less_one(angle, rest) + bessel_ratio_gap(k)


def _in_angle(name: str, partial: Callable[..., Node]) -> Callable[..., Node | None]:
    """The tangent of a function of both parts of an angle and k by its derivative in the angle; in k it has none."""

    def tangent(dots: tuple[Node | None, ...], angle: Node, rest: Node, k: Node, out: Node) -> Node | None:
        if dots[2] is not None:
            raise no_derivative(name, "in the concentration")
        return None if dots[0] is None else dots[0] * partial(angle, rest, k, out)

    return tangent


COMMON: Any = {"floating": True, "domain": ((-3.0, 3.0), (-1e-17, 1e-17), (0.2, 12.0))}

von_mises_density: Primitive = primitive(
    "von_mises_density", 3, routine=TAILS.slope,
    partials=lambda d, rest, k, out: (out * _score(d, rest, k), None, out * _score_dk(d, rest, k)), **COMMON,
)
von_mises_cdf_dk: Primitive = primitive(
    "von_mises_cdf_dk", 3, routine=TAILS.slope_in_parameter,
    tangent=_in_angle(
        "von_mises_cdf_dk", lambda d, rest, k, out: von_mises_density(d, rest, k) * _score_dk(d, rest, k)
    ),
    **COMMON,
)
von_mises_cdf: Primitive = primitive(
    "von_mises_cdf", 3, routine=TAILS.cdf,
    partials=lambda d, rest, k, out: (von_mises_density(d, rest, k), None, von_mises_cdf_dk(d, rest, k)), **COMMON,
)
log_von_mises_cdf_dd: Primitive = primitive(
    "log_von_mises_cdf_dd", 3, routine=TAILS.log_slope,
    partials=lambda d, rest, k, out: (
        out * (_score(d, rest, k) - out), None, out * (_score_dk(d, rest, k) - log_von_mises_cdf_dk(d, rest, k)),
    ),
    **COMMON,
)
log_von_mises_cdf_dk: Primitive = primitive(
    "log_von_mises_cdf_dk", 3, routine=TAILS.log_slope_in_parameter,
    tangent=_in_angle(
        "log_von_mises_cdf_dk",
        lambda d, rest, k, out: log_von_mises_cdf_dd(d, rest, k) * (_score_dk(d, rest, k) - out),
    ),
    **COMMON,
)
log_von_mises_cdf: Primitive = primitive(
    "log_von_mises_cdf", 3, routine=TAILS.log_cdf,
    partials=lambda d, rest, k, out: (log_von_mises_cdf_dd(d, rest, k), None, log_von_mises_cdf_dk(d, rest, k)),
    **COMMON,
)
von_mises_quantile_dk: Primitive = primitive(
    "von_mises_quantile_dk", 2, routine=_von_mises_quantile_dk,
    tangent=in_last(
        "von_mises_quantile_dk", lambda k, d, out: -_score_dk(d, 0.0 * d, k) - out * _score(d, 0.0 * d, k)
    ),
    floating=True, domain=((0.2, 12.0), (-3.0, 3.0)),
)
von_mises_quantile: Primitive = primitive(
    "von_mises_quantile", 2, routine=_von_mises_quantile,
    partials=lambda k, p, out: (von_mises_quantile_dk(k, out), 1.0 / von_mises_density(out, 0.0 * out, k)),
    floating=True, domain=((0.2, 12.0), (0.05, 0.95)),
)
