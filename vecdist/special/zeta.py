"""The zeta functions of Hurwitz and Riemann for real s > 1, and with them every derivative of lgamma, DLMF 25.11.

A sum of powers, and the Euler-Maclaurin series for what is left of it (DLMF 25.11.7).
"""

from __future__ import annotations

from math import exp, inf, log, nan, pow  # noqa: A004

from vecdist.graph.node import const
from vecdist.primitives.table import Primitive, no_derivatives, primitive

TERMS, NEGLIGIBLE = 64, 1e-30  # of the sum of powers, at most; what no derivative needs
# B(2 j) / (2 j)!, DLMF 24.2.1
EULER_MACLAURIN = (
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07, 2.08767569878681e-08,
    -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
    -2.174868698558062e-16, 5.5090028283602295e-18, -1.3954464685812522e-19,
)


def inverse_power(q: float, s: float) -> float:
    """q**-s, inf or 0 where that is out of range."""
    size = -s * log(q)
    if size > 709.0:
        y = exp(0.5 * size) * exp(0.5 * size) if size < 709.7 else inf
    elif size < -745.0:
        y = 0.0
    else:
        y = pow(q, -s)
    return y


def head(s: float, q: float, last: float) -> tuple[float, float, float]:
    """The sum of (q + k)**-s over k < n, its derivative in s, and q + n: beyond ``last`` or where its series holds."""
    total, slope, w = 0.0, 0.0, q
    term, k = inf, 0
    while k < TERMS and w < s + 10.0 and w <= last and term > NEGLIGIBLE * total:
        term = inverse_power(w, s)
        total += term
        slope -= log(w) * term
        w += 1.0
        k += 1
    return total, slope, w


def rest(s: float, w: float) -> tuple[float, float]:
    """The sum of (w + k)**-s over all k, as a multiple of w**-s, and the derivative of that multiple in s."""
    integral = w / (s - 1.0)
    total, slope = corrections(s, w)
    return integral + total, slope - integral / (s - 1.0)


def corrections(s: float, w: float) -> tuple[float, float]:
    """What that has beside the integral w / (s - 1)."""
    total, slope = 0.5, 0.0
    factor, slope_of_factor, n = s / w, 1.0 / w, s
    for coefficient in EULER_MACLAURIN:
        total += coefficient * factor
        slope += coefficient * slope_of_factor
        next_two = (n + 1.0) * (n + 2.0)
        slope_of_factor = (slope_of_factor * next_two + factor * (2.0 * n + 3.0)) / (w * w)
        factor = factor * next_two / (w * w)
        n += 2.0
    return total, slope


def _zeta(s: float, q: float) -> float:
    if not (s > 1.0 and q > 0.0):
        y = inf if (s > 1.0 and q == 0.0) or (s == 1.0 and q >= 0.0) else nan
    elif q == inf or s == inf:
        y = 0.0 if q > 1.0 else 1.0 if q == 1.0 else inf
    else:
        total, _, w = head(s, q, inf)
        power = inverse_power(w, s)
        if power > NEGLIGIBLE * total:
            multiple, _ = rest(s, w)
            total += multiple * power
        y = total
    return y


def _zeta_ds(s: float, q: float) -> float:
    if not (s > 1.0 and q > 0.0):
        y = nan
    elif q == inf or s == inf:
        y = 0.0 if q >= 1.0 else inf
    else:
        total, y, w = head(s, q, inf)
        power = inverse_power(w, s)
        if power > NEGLIGIBLE * total:
            multiple, slope = rest(s, w)
            y += power * (slope - log(w) * multiple)
    return y


def bend_of_rest(s: float, w: float) -> float:
    """The second derivative of ``rest`` in s: of a product of s + k by the first and the second of its logarithm."""
    total = 2.0 * w / ((s - 1.0) * (s - 1.0) * (s - 1.0))
    factor, slope, fall, n = s / w, 1.0 / s, 1.0 / (s * s), s
    for coefficient in EULER_MACLAURIN:
        total += coefficient * factor * (slope * slope - fall)
        factor = factor * ((n + 1.0) * (n + 2.0) / (w * w))
        slope += 1.0 / (n + 1.0) + 1.0 / (n + 2.0)
        fall += 1.0 / ((n + 1.0) * (n + 1.0)) + 1.0 / ((n + 2.0) * (n + 2.0))
        n += 2.0
    return total


def _zeta_dsds(s: float, q: float) -> float:
    y, total, w, k = 0.0, 0.0, q, 0
    if not (s > 1.0 and q > 0.0):
        y = nan
    elif q == inf or s == inf:
        y = 0.0 if q >= 1.0 else inf
    else:
        power, size = inverse_power(w, s), log(w)
        while k < TERMS and w < s + 10.0 and power > NEGLIGIBLE * total:
            total += power
            y += size * size * power
            w += 1.0
            k += 1
            power, size = inverse_power(w, s), log(w)
        if power > NEGLIGIBLE * total:
            multiple, slope = rest(s, w)
            y += power * (bend_of_rest(s, w) + size * (size * multiple - 2.0 * slope))
    return y


zeta: Primitive = primitive(
    "zeta", 2, routine=_zeta, partials=lambda s, q, out: (zeta_ds(s, q), -(s * zeta(s + 1.0, q))),
    floating=True, ufuncs=("_zeta",), domain=((1.1, 12.0), (0.1, 30.0)), oracle="scipy.special.zeta",
)
zeta_ds: Primitive = primitive(
    "zeta_ds", 2, routine=_zeta_ds, partials=lambda s, q, out: (
        zeta_dsds(s, q), -(zeta(s + 1.0, q) + s * zeta_ds(s + 1.0, q))
    ),
    floating=True, domain=((1.1, 12.0), (0.1, 30.0)),
)
zeta_dsds: Primitive = primitive(
    "zeta_dsds", 2, routine=_zeta_dsds, tangent=no_derivatives("zeta_dsds"), floating=True,
    domain=((1.1, 12.0), (0.1, 30.0)),
)
riemann_zeta: Primitive = primitive(
    "riemann_zeta", expand=lambda s: zeta(s, const(1, s.dtype)),
    partials=lambda s, out: (zeta_ds(s, const(1, s.dtype)),),
    floating=True, domain=((1.1, 12.0),), oracle="scipy.special.zeta",
)
