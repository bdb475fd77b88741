"""The normal distribution function, its logarithm and its inverse in both tails, and what their slopes are made of.

All of them come from h = exp(a**2 / 2) Phi(-a) on a >= 0, a polynomial that neither underflows nor cancels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, size, sqrt
from vecdist.primitives.elementary import LN2, clamped, expm1, log
from vecdist.primitives.floating import INFINITY, at_least, at_most, format_of, polynomial, scaled, width
from vecdist.primitives.logarithms import LN2_PARTS, log1mexp, log_of_either, log_of_sum
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import ERFC_MOST, exp_of_square, half_line, scaled_tail

ROOT_2, ROOT_HALF = math.sqrt(2), math.sqrt(0.5)
LOG_TWO_PI = math.log(2 * math.pi)
PHI_0 = 1 / math.sqrt(2 * math.pi)
MOST = {8: 39.0, 4: 14.5}  # Phi is 0 below, and so is its density

# (y + GAP_CENTRE) (1 / (sqrt(pi) erfcx(y)) - y) in (y - GAP_CENTRE) / (y + GAP_CENTRE) on y >= 0:
# relative error 5.4e-17 and 3.0e-8
GAP_CENTRE = 2.375
GAP: dict[int, tuple[float, ...]] = {
    8: (
        0.8721801226179845, -0.4903595282338945, 0.07775440180603523, 0.08462490678036276, -0.04129095129307294,
        -0.01757889324393976, 0.015276474049721975, 0.004290859204531961, -0.005260563061083582,
        -0.0012858596944322984, 0.0017312890380044668, 0.00046340681151955905, -0.0005361892064712498,
        -0.00018002891179421724, 0.00015114113428553826, 6.736559797361381e-05, -3.691435371965439e-05,
        -2.244462541661915e-05, 7.257492420410892e-06, 6.251511062250162e-06, -1.0131722652667692e-06,
        -1.349988793606327e-06, 7.588333535136139e-08, 1.992815325721412e-07, -4.722141583792201e-10,
        -1.495167230922663e-08,
    ),
    4: (
        0.8721801, -0.49035937, 0.07775459, 0.084620066, -0.041287363, -0.017537517, 0.01523303, 0.0041359286,
        -0.0050885514, -0.0009891728, 0.0014080284, 0.00015494286, -0.00022471728,
    ),
}
# Quantiles.  x / q in q**2 - SHIFT for q = Phi(x) - 1/2, |q| <= 0.3: relative error 3.7e-17 and 1.5e-8
SHIFT = 0.04
MIDDLE: dict[int, tuple[float, ...]] = {
    8: (
        2.622002563540204, 3.17626369655109, 8.223594652773247, 26.419894548055137, 94.10026612097218,
        356.0480102716719, 1401.765496009933, 5675.907172117323, 23467.556790344846, 98599.38776192753,
        419663.09111539955, 1811694.310640393, 7825006.220801449, 31489326.022691693, 162645278.5342357,
        1159282485.965671,
    ),
    4: (
        2.6220026, 3.1762626, 8.223443, 26.425503, 94.227425, 348.71658, 1409.5339, 8524.614,
    ),
}
# (r - a) r in (r - TAIL_CENTRE) / (r + TAIL_CENTRE) for r**2 = -2 log Phi(-a), Phi(-a) <= 0.2, down to the least float:
# relative error of a 2.1e-17 and 9.4e-9
TAIL_CENTRE, TAIL_FROM = 8.5, 0.2
TAIL: dict[int, tuple[float, ...]] = {
    8: (
        3.0961211691929704, 1.9073031493105486, 0.10157265109197343, 0.5764350059005398, 0.08387333541129607,
        0.32156610767340127, 0.07554475894023815, 0.21264653814481072, 0.07113402256982551, 0.15338008171330714,
        0.06642154020673739, 0.11818290162899468, 0.06106078073312698, 0.09538666932889064, 0.053398606899491684,
        0.08332549534597185, 0.06573524717888189, 0.05838627228692182, -0.038098083838746924, 0.08192063620520515,
        0.36538528856485164, 0.08508256021524792, -0.8136294883656304, -0.2508678948852131, 1.5288338197889064,
        0.8661111203762586, -1.5483947878343303, -1.0835115908769124, 0.8371474702731178, 0.7215188794700792,
    ),
    4: (
        3.0961215, 1.9073124, 0.101514526, 0.57534814, 0.08344112, 0.3507631, 0.15788594, 0.08219095, -0.8559211,
        -1.3966317, -0.8989432,
    ),
}
TAIL_MOST = {8: 38.6, 4: 14.4}  # of r


class Tail(NamedTuple):
    """``h`` = exp(x**2 / 2) Phi(-|x|), and ``e`` = exp(-x**2 / 2) where x > 0, else 1: subnormal numbers are slow."""

    h: Node
    e: Node


def _tail(x: Node) -> Tail:
    square = exp_of_square(clamped(x, (0.0, MOST[width(x)])), -0.5)
    return Tail(scaled_mass(x), scaled(1.0 + square.p, square))


def scaled_mass(x: Node) -> Node:
    """exp(x**2 / 2) Phi(-|x|)."""
    return 0.5 * scaled_tail(ROOT_HALF * size(x))


def _erfcx(x: Node) -> Node:
    """2 exp(x**2) - erfcx(|x|) where x is negative, DLMF 7.4.2."""
    tail = scaled_tail(abs(x))
    square = exp_of_square(at_most(abs(x), ERFC_MOST[width(x)]), 1.0)
    return where(x < 0, scaled(2.0 + 2.0 * square.p, square) - tail, tail)


def tail_mass(x: Node) -> Node:
    """Phi(-|x|)."""
    square = exp_of_square(at_most(size(x), MOST[width(x)]), -0.5)
    return scaled((1.0 + square.p) * _tail(x).h, square)


def _ndtr(x: Node) -> Node:
    return where(x < 0, tail_mass(x), 1.0 - tail_mass(x))


def _log_ndtr(x: Node) -> Node:
    """log(h) - x**2 / 2, or log(1 - e h) where x > 0; neither cancels.  Where h is small, x**2 is infinite."""
    h, e = _tail(x)
    normal = at_least(h, 4.0 * format_of(x).smallest_normal)
    logarithm = log_of_sum(where(x < 0, normal, 1.0), where(x < 0, 0.0, -(e * h)))
    return logarithm - where(x < 0, (0.5 * x) * x, 0.0)


def log_part(x: Node) -> Node:
    """log(Phi(x)), without the -x**2 / 2 where x is negative."""
    h, e = _tail(x)
    return log_of_either(x < 0, h, -(e * h))


def log_tail_ratio(x: Node, y: Node) -> Node:
    """log(Phi(x) / Phi(y)) + (x**2 - y**2) / 2 for negative x and y: of the same size, whatever theirs is."""
    return log(_tail(x).h / _tail(y).h)


def _inverse_mills(x: Node) -> Node:
    h, e = _tail(x)
    return where(x < 0, PHI_0, PHI_0 * e) / where(x < 0, h, 1.0 - e * h)


def _inverse_mills_slope(x: Node, out: Node) -> tuple[Node]:
    """That of the line and of the parabola at both ends."""
    inside = where(eq(out, 0), 0.0, -(out * inverse_mills_gap(x)))
    return (where(eq(out, INFINITY), -1.0, inside),)


def _inverse_mills_gap(x: Node) -> Node:
    """x + inverse_mills(x), which tends to -1 / x below."""
    t, inverse = half_line(ROOT_HALF * abs(x), GAP_CENTRE)
    below = ROOT_2 * (inverse * polynomial(t, GAP[width(x)]))
    return where(x < 0, below, x + _inverse_mills(x))


def _normal_pdf(x: Node) -> Node:
    square = exp_of_square(at_most(abs(x), MOST[width(x)]), -0.5)
    return scaled(PHI_0 + PHI_0 * square.p, square)


def _quantile(q: Node, log_tail: Node) -> Node:
    """x for q = Phi(x) - 1/2 and the logarithm of the lesser tail; wrong where that is below all floats."""
    middle = q * polynomial(q * q - SHIFT, MIDDLE[width(q)])
    r = at_most(sqrt(-2.0 * log_tail), TAIL_MOST[width(q)])
    reciprocal = 1.0 / (r * (r + TAIL_CENTRE))
    t = (r - TAIL_CENTRE) * (reciprocal * r)
    a = r - (reciprocal * (r + TAIL_CENTRE)) * polynomial(t, TAIL[width(q)])
    return where(log_tail >= math.log(TAIL_FROM), middle, where(q < 0, -a, a))


def _edged(x: Node, tail: Node, q: Node) -> Node:
    """``x``, infinite where the lesser tail is 0."""
    return where(eq(tail, 0), where(q < 0, const(-INFINITY, x.dtype), const(INFINITY, x.dtype)), x)


def _ndtri(p: Node) -> Node:
    q, tail = p - 0.5, where(p < 0.5, p, 1.0 - p)
    return _edged(_quantile(q, log(tail)), tail, q)


def _erfinv(x: Node) -> Node:
    q, tail = 0.5 * x, 0.5 - 0.5 * abs(x)
    return ROOT_HALF * _edged(_quantile(q, log(tail)), tail, q)


def _erfcinv(y: Node) -> Node:
    q, tails = 0.5 - 0.5 * y, where(y < 1, y, 2.0 - y)  # both: half of the least one would be 0
    return ROOT_HALF * _edged(_quantile(q, log(tails) - LN2), tails, q)


def _far_quantile(log_p: Node) -> Node:
    """The quantile where p is below all floats: one Newton step for z = x**2 in the series of DLMF 7.12.1.

    z + log z + log(2 pi) + 2/z - 5/z**2 + 74/(3 z**3) - 353/(2 z**4) = -2 log p.
    """
    rho = -2.0 * log_p
    s = LOG_TWO_PI + log(rho)
    z = rho - s + (s - 2.0) / rho
    v = 1.0 / z
    series = v * (2.0 - v * (5.0 - v * (74 / 3 - v * 176.5)))
    excess = ((z - rho) + (log(z) + LOG_TWO_PI)) + series
    return -sqrt(z - excess * (1.0 - v * (1.0 - 3.0 * v)))


def _ndtri_exp(y: Node) -> Node:
    """2 Phi(x) - 1 is expm1(y + log 2), exactly so next to its zero."""
    high, low = LN2_PARTS[width(y)]
    q = 0.5 * expm1((y + high) + low)
    tail = where(q < 0, y, log1mexp(y))
    x = _quantile(q, tail)
    far = -0.5 * TAIL_MOST[width(y)] ** 2
    x = where(y < far, _far_quantile(at_most(y, far)), x)
    edge = where(eq(y, 0), const(INFINITY, y.dtype), x)
    return where(eq(y, -INFINITY), y, edge)


def _slope(tail: Node, x: Node) -> Node:
    """1 / phi(x) for x <= 0, with phi(x) as Phi(x) times the inverse Mills ratio: no exponential of x**2."""
    return where(eq(tail, 0), INFINITY, 1.0 / (tail * inverse_mills(x)))


def _ndtri_slope(p: Node, out: Node) -> tuple[Node]:
    low = p < 0.5
    return (_slope(where(low, p, 1.0 - p), where(low, out, -out)),)


def _erfinv_slope(x: Node, out: Node) -> tuple[Node]:
    low = x < 0
    return (0.5 * ROOT_HALF * _slope(0.5 - 0.5 * where(low, -x, x), ROOT_2 * where(low, out, -out)),)


def _erfcinv_slope(y: Node, out: Node) -> tuple[Node]:
    low = y < 1
    return (-0.5 * ROOT_HALF * _slope(0.5 * where(low, y, 2.0 - y), ROOT_2 * where(low, -out, out)),)


erfcx: Primitive = primitive(
    "erfcx", expand=_erfcx, partials=lambda x, out: (-(ROOT_2 * out * inverse_mills_gap(-ROOT_2 * x)),),
    floating=True, ufuncs=("erfcx",), domain=((-4.0, 8.0),), oracle="scipy.special.erfcx",
)
normal_pdf: Primitive = primitive(
    "normal_pdf", expand=_normal_pdf, partials=lambda x, out: (-(x * out),), floating=True, domain=((-4.0, 4.0),),
)
ndtr: Primitive = primitive(
    "ndtr", expand=_ndtr, partials=lambda x, out: (normal_pdf(x),),
    floating=True, ufuncs=("ndtr",), domain=((-5.0, 5.0),), oracle="scipy.special.ndtr",
)
log_ndtr: Primitive = primitive(
    "log_ndtr", expand=_log_ndtr, partials=lambda x, out: (inverse_mills(x),),
    floating=True, ufuncs=("log_ndtr",), domain=((-8.0, 4.0),), oracle="scipy.special.log_ndtr",
)
inverse_mills: Primitive = primitive(  # phi(x) / Phi(x)
    "inverse_mills", expand=_inverse_mills, partials=_inverse_mills_slope,
    floating=True, domain=((-8.0, 4.0),),
)
inverse_mills_gap: Primitive = primitive(  # x + phi(x) / Phi(x): how far below x the mean of what is below x lies
    "inverse_mills_gap", expand=_inverse_mills_gap, partials=lambda x, out: (1.0 - inverse_mills(x) * out,),
    floating=True, domain=((-8.0, 4.0),),
)
ndtri: Primitive = primitive(
    "ndtri", expand=_ndtri, partials=_ndtri_slope,
    floating=True, ufuncs=("ndtri",), domain=((0.01, 0.99),), oracle="scipy.special.ndtri",
)
ndtri_exp: Primitive = primitive(  # the x with log_ndtr(x) = y
    "ndtri_exp", expand=_ndtri_exp, partials=lambda y, out: (1.0 / inverse_mills(out),),
    floating=True, ufuncs=("ndtri_exp",), domain=((-8.0, -0.01),), oracle="scipy.special.ndtri_exp",
)
erfinv: Primitive = primitive(
    "erfinv", expand=_erfinv, partials=_erfinv_slope,
    floating=True, ufuncs=("erfinv",), domain=((-0.98, 0.98),), oracle="scipy.special.erfinv",
)
erfcinv: Primitive = primitive(
    "erfcinv", expand=_erfcinv, partials=_erfcinv_slope,
    floating=True, ufuncs=("erfcinv",), domain=((0.02, 1.98),), oracle="scipy.special.erfcinv",
)
