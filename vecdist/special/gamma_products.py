"""Which of two products of gamma variables is the greater: what distribution functions of beta-negative-binomials are.

For independent gamma variables of shapes a, b, c and d the probability P that the product of the first two is more than
that of the others is the integral of M(s) / s over the line Re s = k > 0, divided by 2 pi i, for the Mellin transform
M(s) = gamma(a + s) gamma(b + s) gamma(c - s) gamma(d - s) over its value at 0.  That of M alone is known (Barnes' first
lemma, DLMF 5.13.5), so that P is a mean of 1 / s.  The line goes through k = (c d - a b) / (a + b + c + d), the saddle
point of large shapes, where the leading terms of all phases cancel.  M falls exponentially along it: midpoints of equal
steps in u give the integrals for s = k + i scale sinh(u); what they have of the pole at 0 beside the line is known.
Where c is much the largest, P is the sum of the residues at d, d + 1, ..., an asymptotic series in 1 / c.
"""

from __future__ import annotations

from math import asin, atan, cos, cosh, exp, inf, log, log1p, nan, pi, sin, sinh, sqrt
from typing import Any

from vecdist.primitives.scalar import horner
from vecdist.primitives.table import Primitive, no_derivatives, primitive
from vecdist.special.beta_tails import digamma_gap, distance_from_mean, prefactor
from vecdist.special.scalar import log_tail, log_tail_slope

NODES, NEGLIGIBLE = 4000, 1e-19
FINE = 0.1  # steps as fractions of the strip beside the line in which the integrand stays small
NEAR = 9.0  # from here on the series of Stirling hold, in the right half of the plane
TURNED = 6.0  # how far along the line phases are compared
LEAST, MOST = 1e-100, 1e140  # shapes in between are known
MOSTLY = 0.7  # a probability of which the rest is better known
ROOM = 20.0  # as much more than the other shapes c has to be the largest
# B(2 k) / (2 k (2 k - 1)), DLMF 5.11.1, and B(2 k) / (2 k), DLMF 5.11.2, k = 8, ..., 1
STIRLING = (
    -0.02955065359477124, 0.00641025641025641, -0.0019175269175269176, 0.0008417508417508417, -0.0005952380952380953,
    0.0007936507936507937, -0.002777777777777778, 0.08333333333333333,
)
STIRLING_DIGAMMA = (
    -0.4432598039215686, 0.08333333333333333, -0.021092796092796094, 0.007575757575757576, -0.004166666666666667,
    0.003968253968253968, -0.008333333333333333, 0.08333333333333333,
)
# (arctan(t) - t) / t**3 in t**2, DLMF 4.24.3
ARCTAN = (
    0.04, -0.043478260869565216, 0.047619047619047616, -0.05263157894736842, 0.058823529411764705,
    -0.06666666666666667, 0.07692307692307693, -0.09090909090909091, 0.1111111111111111, -0.14285714285714285, 0.2,
    -0.3333333333333333,
)


def atan_less(t: float) -> float:
    """arctan(t) - t."""
    return t * (t * t) * horner(t * t, ARCTAN) if -0.2 < t < 0.2 else atan(t) - t


def times(p: float, q: float, u: float, v: float) -> tuple[float, float]:
    """The product of two complex numbers."""
    return p * u - q * v, p * v + q * u


def series(x: float, y: float, coefficients: tuple[float, ...]) -> tuple[float, float]:
    """A polynomial in x + i y."""
    p, q = 0.0, 0.0
    for coefficient in coefficients:
        p, q = p * x - q * y + coefficient, p * y + q * x
    return p, q


def difference(x: float, y: float, w: float, coefficients: tuple[float, ...]) -> tuple[float, float]:
    """(x + i y) p(x + i y) - w p(w) for a polynomial p, over the difference of both arguments."""
    p, q, u, v = 0.0, 0.0, 0.0, 0.0
    for coefficient in coefficients:
        u, v = u * w + p, v * w + q
        p, q = p * x - q * y + coefficient, p * y + q * x
    return p + w * u, q + w * v


def raised(z: float) -> float:
    """How far z is moved up."""
    n = 0.0
    while z + n < NEAR:
        n += 1.0
    return n


def gamma_change(z: float, t: float) -> tuple[float, float, float, float]:
    """gamma(z + i t) / gamma(z) z**(-i t) as exp(x + i y) / (p + i q)."""
    w, p, q = z, 1.0, 0.0
    while w < NEAR:
        p, q = p - q * (t / w), q + p * (t / w)
        w += 1.0
    r = t / w
    angle, size = atan(r), 0.5 * log1p(r * r)
    x, y = 1.0 / (w + t * r), -r / (w + t * r)
    u, v = times(x, y, x, y)
    u, v = series(u, v, STIRLING)
    u, v = times(u, v, x, y)
    x = (w - 0.5) * size - t * angle + (u - horner(1.0 / w / w, STIRLING) / w)
    y = w * atan_less(r) + t * (size + log(w / z)) - 0.5 * angle + v
    return x, y, p, q


def digamma_change(start: float, z: float, k: float, t: float) -> tuple[float, float]:
    """digamma(z + i t) - digamma(z), for z moved up, and with what that takes, for z = start + k, over k + i t."""
    w, p, q = z, 0.0, 0.0
    while w < NEAR:
        size = (start + (w - z)) * (w * w + t * t)
        p += w / size
        q -= t / size
        w += 1.0
    r = t / w
    down, across = 1.0 + r * r, k * k + t * t
    x, y = (1.0 - r * r) / (w * w * down * down), -2.0 * r / (w * w * down * down)
    u, v = difference(x, y, 1.0 / w / w, STIRLING_DIGAMMA)
    u, v = times(u, v, x, y)
    u, v = times(u, v, r * r, -2.0 * r)
    u, v = 0.5 * log1p(r * r) + 0.5 * r * r / (w * down) - u, atan(r) + 0.5 * r / (w * down) - v
    return p + (u * k + v * t) / across, q + (v * k - u * t) / across


def add(total: float, lost: float, term: float) -> tuple[float, float]:
    """A sum and what rounding has added to it so far, which is taken from the next term: Kahan (1965), CACM 8."""
    term -= lost
    more = total + term
    return more, (more - total) - term


def path(z1: float, z2: float, z3: float, z4: float, lean: float) -> tuple[float, float]:
    """The scale of the points along the line from the distances of the nearest poles, and the step between them."""
    width = 1.0 / sqrt(1.0 / z1 + 1.0 / z2 + 1.0 / z3 + 1.0 / z4)
    turn = lean + log1p(TURNED / z1) + log1p(TURNED / z2) - log1p(TURNED / z3) - log1p(TURNED / z4)
    return min(3.0 * width, z1, z2, z3, z4), FINE * atan(1.0 / (1.0 + abs(turn) / (2.0 * pi)))


def means(
    a: float, c: float, k: float, z1: float, z2: float, z3: float, z4: float, lean: float
) -> tuple[float, float, float, float]:
    """The means of 1 / s and of (digamma(a + s) - digamma(a)) / s and (digamma(c - s) - digamma(c)) / s, less what is
    the same multiple of the first everywhere, with weights M over the line; and what is of the pole.
    """
    scale, step = path(z1, z2, z3, z4, lean)
    total, first, of_a, of_c = 0.0, 0.0, 0.0, 0.0
    lost, lost_first, lost_a, lost_c = 0.0, 0.0, 0.0, 0.0
    n, u, weight = 0.5, 0.5 * step, inf
    while n < NODES and u < 700.0 and weight > NEGLIGIBLE * abs(total):
        t = scale * sinh(u)
        size, angle, p, q = 0.0, lean * t, 1.0, 0.0
        for place in range(4):
            z = (z1 if place == 0 else z2) if place < 2 else (z3 if place == 2 else z4)
            sign = 1.0 if place < 2 else -1.0
            x, y, v, w = gamma_change(z, t)
            size += x
            angle += sign * y
            p, q = times(p, q, v, sign * w)
        size = exp(max(size, -700.0)) * cosh(u) / (p * p + q * q)
        p, q = times(size * cos(angle), size * sin(angle), p, -q)
        weight = abs(p) + abs(q)
        total, lost = add(total, lost, p)
        first, lost_first = add(first, lost_first, (p * k + q * t) / (k * k + t * t))
        real, imaginary = digamma_change(a, z1, k, t)
        of_a, lost_a = add(of_a, lost_a, p * real - q * imaginary)
        real, imaginary = digamma_change(c, z3, -k, t)
        of_c, lost_c = add(of_c, lost_c, -(p * real + q * imaginary))
        n += 1.0
        u = n * step
    pole = 1.0 / (1.0 + exp(min(2.0 * pi / step * asin(k / scale), 700.0))) if k < scale else 0.0
    total = total if total > 0.0 else nan
    return first / total, of_a / total, of_c / total, pole


def mass(a: float, b: float, c: float, d: float) -> tuple[float, float]:
    """The integral of M over the line as exp(e) f, by two beta densities over one at the same point."""
    whole = a + b + (c + d)
    x, y = (a + d) / whole, (b + c) / whole
    e1, rest1, f1 = prefactor(a, c, x, y, distance_from_mean(a, c, x, y))
    e2, rest2, f2 = prefactor(d, b, x, y, distance_from_mean(d, b, x, y))
    e3, rest3, f3 = prefactor(a + d, b + c, x, y, distance_from_mean(a + d, b + c, x, y))
    return (e1 + rest1) + (e2 + rest2) - (e3 + rest3), f1 * f2 / f3 * a * (d / (a + d))


def by_line(a: float, b: float, c: float, d: float) -> tuple[float, float, float, float]:
    """P as exp(e) w, and exp(e) times its slopes in a and c.

    The line is moved where it is next to the pole at the lesser of c and d, or on the other side of that at 0.
    """
    whole = a + b + (c + d)
    k = distance_from_mean(c, a, b, d) / whole
    z1, z2 = (a + c) * ((a + d) / whole), (b + c) * ((b + d) / whole)
    z3, z4 = (a + c) * ((b + c) / whole), (a + d) * ((b + d) / whole)
    near, lean, least = min(z3, z4), 0.0, min(c, d)
    room = min(0.5 * least, 1.0 / (1.0 + log1p(1.0 / near)))
    if k < 0.0 or near < room:
        k = least - room if k > 0.0 else min(0.5 * least, 1.0 / (1.0 + log(a / c * (b / d))))
        z1, z2, z3, z4 = a + k, b + k, c - k, d - k
        lean = log(z1 / z3) + log(z2 / z4)
    mean, of_a, of_c, pole = means(a, c, k, z1, z2, z3, z4, lean)
    e, f = mass(a, b, c, d)
    w = f * mean
    slope_a = f * (of_a + digamma_gap(a + raised(z1), k) * mean)
    slope_c = f * (of_c - digamma_gap(z3 + raised(z3), k) * mean)
    if pole > 0.0:
        w += pole * exp(-e)
    return e, w, slope_a, slope_c


def by_residues(a: float, b: float, c: float, d: float) -> tuple[float, float, float, float, float]:
    """P as exp(e) w, and exp(e) times its slopes in a, c and d, for a large c."""
    x, y = c / (b + c), b / (b + c)
    e1, rest1, f1 = prefactor(c, b, x, y, distance_from_mean(c, b, x, y))
    e2, rest2, f2 = prefactor(a, d, x, y, distance_from_mean(a, d, x, y))
    e3, rest3, f3 = prefactor(c - d, b + d, x, y, distance_from_mean(c - d, b + d, x, y))
    e = (e1 + rest1) + (e2 + rest2) - (e3 + rest3) - (a + d) * log1p(-y)
    f = f1 * f2 / f3 * (c / (c - d)) * (a / d)
    of_d = -digamma_gap(b + d, c - b - 2.0 * d)
    of_d += digamma_gap(d + 1.0, a - 1.0) if a > 1.0 else -digamma_gap(a + d, 1.0 - a)
    total, slope_a, slope_c, slope_d = residues(a, b, c, d, digamma_gap(a, d), -digamma_gap(c - d, d), of_d)
    return e, f * total, f * slope_a, f * slope_c, f * slope_d


def residues(
    a: float, b: float, c: float, d: float, of_a: float, of_c: float, of_d: float
) -> tuple[float, float, float, float]:
    """The sum of the residues over the first, whose logarithm has the derivatives given, and its slopes likewise."""
    term, j = 1.0, 0.0
    total, slope_a, slope_c, slope_d = 0.0, 0.0, 0.0, 0.0
    while j < 2.0 * ROOM and abs(term) > NEGLIGIBLE:
        total += term
        slope_a += term * of_a
        slope_c += term * of_c
        slope_d += term * of_d
        left, right, down, at = a + d + j, b + d + j, c - d - 1.0 - j, d + j
        of_a += 1.0 / left
        of_c -= 1.0 / down
        of_d += 1.0 / left + 1.0 / right + 1.0 / down + 1.0 / at / (at + 1.0)
        j += 1.0
        term *= -left * (right / down) * (at / ((at + 1.0) * j))
    return total, slope_a, slope_c, slope_d


def known(a: float, b: float, c: float, d: float) -> tuple[float, float, float, float]:
    """P as exp(e) w, and exp(e) times its slopes in a and c; it falls like a power of a c that is beyond ``MOST``."""
    e, w, slope_a, slope_c = 0.0, nan, nan, nan
    large, least = max(c, d), min(c, d)
    beyond = max(1.0, large / MOST)
    large /= beyond
    if max(a, b, least) < MOST and large > 4.0 * (a + least + ROOM) * (b + least + ROOM):
        e, w, slope_a, slope_c, slope_d = by_residues(a, b, large, least)
        e -= least * log(beyond)
        slope_c = slope_c / beyond if c > d else slope_d - log(beyond) * w
    elif max(a, b, least) < MOST and beyond == 1.0:
        e, w, slope_a, slope_c = by_line(a, b, c, d)
    return e, w, slope_a, slope_c


def parts(a: float, b: float, c: float, d: float) -> tuple[bool, float, float, float, float]:
    """P (``more``) or 1 - P as exp(e) w: that which may be small; exp(e) times its slopes in a and c."""
    more, e, w, slope_a, slope_c = True, 0.0, nan, nan, nan
    tries = 0
    if min(a, b, c, d) > LEAST and max(a, b, c, d) < inf:
        more = a / c <= d / b
        tries = 2 if max(a, b, c, d) < MOST else 1
        if not more:
            a, b, c, d = c, d, a, b
    while tries > 0:
        e, w, slope_a, slope_c = known(a, b, c, d)
        tries -= 1
        if exp(min(e, 0.0)) * w <= MOSTLY:
            tries = 0
        if tries > 0:
            more = not more
            a, b, c, d = c, d, a, b
    if not more:
        slope_a, slope_c = slope_c, slope_a
    return more, e, w, slope_a, slope_c


def _log_gamma_products(a: float, b: float, c: float, d: float) -> float:
    more, e, w, _, _ = parts(a, b, c, d)
    return log_tail(more, e, w)


def _log_gamma_products_da(a: float, b: float, c: float, d: float) -> float:
    more, e, w, slope, _ = parts(a, b, c, d)
    return log_tail_slope(more, e, w, slope)


def _log_gamma_products_dc(a: float, b: float, c: float, d: float) -> float:
    more, e, w, _, slope = parts(a, b, c, d)
    return log_tail_slope(more, e, w, slope)


COMMON: Any = {"floating": True, "domain": ((0.4, 12.0),) * 4}

log_gamma_products_da: Primitive = primitive(
    "log_gamma_products_da", 4, routine=_log_gamma_products_da, tangent=no_derivatives("log_gamma_products_da"),
    **COMMON,
)
log_gamma_products_dc: Primitive = primitive(
    "log_gamma_products_dc", 4, routine=_log_gamma_products_dc, tangent=no_derivatives("log_gamma_products_dc"),
    **COMMON,
)
# the logarithm of the probability that the product of a and b is the greater
log_gamma_products: Primitive = primitive(
    "log_gamma_products", 4, routine=_log_gamma_products,
    partials=lambda a, b, c, d, out: (
        log_gamma_products_da(a, b, c, d), log_gamma_products_da(b, a, c, d),
        log_gamma_products_dc(a, b, c, d), log_gamma_products_dc(a, b, d, c),
    ),
    **COMMON,
)
