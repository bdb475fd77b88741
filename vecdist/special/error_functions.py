"""Error functions, and products with logarithms that are 0 where their first factor is."""

from __future__ import annotations

import math

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.floating import (
    Reduced,
    at_most,
    format_of,
    head,
    polynomial,
    reduced_exp,
    scaled,
    width,
    with_sign,
)
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.gamma_differences import (
    digamma_delta,
    lbeta,
    lgamma_delta,
    log_beta_peak,
    log_choose,
    log_multinomial,
)
from vecdist.special.gamma_functions import digamma, lgamma, tetragamma, trigamma

__all__ = [
    "digamma", "digamma_delta", "erf", "erfc", "lbeta", "lgamma", "lgamma_delta", "log_beta_peak", "log_choose",
    "log_multinomial", "tetragamma", "trigamma", "xlog1py", "xlogy",
]

FACTOR = (0.0, 30.0)
SLOPE = 2 / math.sqrt(math.pi)
# erf(x) / x - 1 in x**2, |x| <= 1: relative error 1.1e-17 and 4.0e-8
ERF: dict[int, tuple[float, ...]] = {
    8: (
        0.12837916709551256, -0.37612638903183404, 0.11283791670939884, -0.0268661706424481, 0.005223977600763714,
        -0.0008548325675044584, 0.00012055286021982988, -1.4924567921220988e-05, 1.644535827633143e-06,
        -1.6192791628654043e-07, 1.3652736702613623e-08, -7.671202954212638e-10,
    ),
    4: (0.12837912, -0.37612325, 0.11280175, -0.026711226, 0.004917479, -0.00056311896),
}
# log(erfc(x)) on 0.98 <= x <= 6 or 4: absolute error of erf 8.1e-18 and 1.8e-8
LOG_ERFC: dict[int, tuple[float, ...]] = {
    8: (
        -4.4862924117296817e-07, -1.128374595098249, -0.636641438571137, -0.10270928576025716, 0.019000956996503386,
        0.0003960706742318574, -0.0019010304289254498, 0.0007588089212336606, -0.00012768630253368567,
        -2.3880115372657156e-05, 2.4220560124933494e-05, -9.091223582498246e-06, 2.2352778442778655e-06,
        -3.910371185425923e-07, 4.873458798914175e-08, -4.142144689285535e-09, 2.1601190401739881e-10,
        -5.2244997811978936e-12,
    ),
    4: (-0.0024970071, -1.1180289, -0.65370727, -0.089140475, 0.014938403, -0.0011702477),
}
ERF_MOST = {8: 6.0, 4: 4.0}  # erf is 1 from here on
# (x + CENTRE) exp(x**2) erfc(x) in t = (x - CENTRE) / (x + CENTRE) on x >= 0: relative error 3.8e-17 and 8.8e-9.
# A greater centre would save a term or two, but make the result more sensitive to the rounding of t near x = 0.
CENTRE = 2.25
ERFCX: dict[int, tuple[float, ...]] = {
    8: (
        1.0398926642867634, -0.7519590175904074, 0.3715174733330359, -0.10121040188058393, -0.0036109109353363697,
        0.011658682801815862, -0.000797091534722914, -0.001635668356001757, 8.072929251192917e-05,
        0.0002857167264727264, 2.3630569693456234e-05, -5.1128633199577185e-05, -1.6191385591705593e-05,
        6.711683648063481e-06, 5.607341073759643e-06, 2.988830316590841e-07, -1.2529616929840298e-06,
        -5.695339023819942e-07, 1.0666527130967825e-07, 2.0438474595687175e-07, 4.317925112236639e-08,
        -4.0451574948532575e-08, -1.8613626613509114e-08, 3.739833870232055e-09, 2.537247840118634e-09,
    ),
    4: (
        1.0398927, -0.751959, 0.37151715, -0.10121004, -0.0036079062, 0.011655317, -0.0008091061, -0.0016229907,
        0.0001050974, 0.00026293698, -3.1174045e-06, -3.1403946e-05,
    ),
}
ERFC_MOST = {8: 27.25, 4: 10.25}  # erfc is 0 from here on
SLOPE_MOST = {8: 27.5, 4: 10.25}  # and exp(-x**2) from here on


def _erf(x: Node) -> Node:
    """An odd polynomial up to 1, then 1 - exp(polynomial)."""
    a = at_most(abs(x), ERF_MOST[width(x)])
    square = a * a
    near = a + a * polynomial(square, ERF[width(x)])
    reduced = reduced_exp(polynomial(a, LOG_ERFC[width(x)]), format_of(x).bias)
    far = 1.0 - reduced.power() * (1.0 + reduced.p)
    return with_sign(where(a > 1.0, far, near), x)


def half_line(a: Node, centre: float) -> tuple[Node, Node]:
    """t = (a - centre) / (a + centre) of a >= 0, from the nearer end of -1 <= t <= 1, and 1 / (a + centre)."""
    inverse = 1.0 / (a + centre)
    near = a < centre
    return where(near, a + a, -2.0 * centre) * inverse + where(near, const(-1, a.dtype), const(1, a.dtype)), inverse


def scaled_tail(a: Node) -> Node:
    """exp(a**2) erfc(a) on a >= 0 (Shepherd and Laframboise 1981)."""
    t, inverse = half_line(a, CENTRE)
    return inverse * polynomial(t, ERFCX[width(a)])


def scaled_fall(a: Node, step: Node) -> Node:
    """scaled_tail(a) - scaled_tail(a + step) for a step of at least 0, by the divided difference of the polynomial.

    That has the sign of its step everywhere, so that nothing cancels however small the step.
    """
    (t, inverse), (s, further) = half_line(a, CENTRE), half_line(a + step, CENTRE)
    value = quotient = const(0.0, a.dtype)
    for coefficient in reversed(ERFCX[width(a)]):
        quotient, value = quotient * t + value, value * s + coefficient
    return (step * inverse) * (further * (value - (2.0 * CENTRE) * (inverse * quotient)))


def exp_of_square(a: Node, factor: float) -> Reduced:
    """exp(factor a**2) for a power of two as factor: the square is taken in two parts, the larger one exact."""
    a_head = head(a)
    rest = (a - a_head) * (a + a_head)
    return reduced_exp((factor * a_head) * a_head, 2 * format_of(a).bias, factor * rest)


def _erfc(x: Node) -> Node:
    a = at_most(abs(x), ERFC_MOST[width(x)])
    square = exp_of_square(a, -1.0)
    tail = scaled((1.0 + square.p) * scaled_tail(a), square)
    return where(x < 0, 2.0 - tail, tail)


def _erf_slope(x: Node) -> Node:
    square = exp_of_square(at_most(abs(x), SLOPE_MOST[width(x)]), -1.0)
    return scaled(SLOPE + SLOPE * square.p, square)


def _product(x: Node, y: Node, logarithm: Node) -> Node:
    """x log(...), 0 where x is 0 unless y is nan."""
    return where(eq(x, 0) & eq(y, y), 0.0, x * logarithm)


def _quotient(x: Node, y: Node) -> Node:
    """x / y, 0 where both are."""
    return where(eq(x, 0) & eq(y, 0), 0.0, x / y)


erf_slope: Primitive = primitive(  # 2 / sqrt(pi) exp(-x**2)
    "erf_slope", expand=_erf_slope, partials=lambda x, out: (-2.0 * x * out,), floating=True, domain=((-4.0, 4.0),),
)
erf: Primitive = primitive(
    "erf", expand=_erf, partials=lambda x, out: (erf_slope(x),),
    floating=True, ufuncs=("erf",), domain=((-4.0, 4.0),), oracle="scipy.special.erf",
)
erfc: Primitive = primitive(
    "erfc", expand=_erfc, partials=lambda x, out: (-erf_slope(x),),
    floating=True, ufuncs=("erfc",), domain=((-4.0, 8.0),), oracle="scipy.special.erfc",
)
xlogy: Primitive = primitive(
    "xlogy", 2, expand=lambda x, y: _product(x, y, log(y)),
    partials=lambda x, y, out: (log(y), _quotient(x, y)),
    floating=True, ufuncs=("xlogy",), domain=(FACTOR, (1e-3, 30.0)), oracle="scipy.special.xlogy",
)
xlog1py: Primitive = primitive(
    "xlog1py", 2, expand=lambda x, y: _product(x, y, log1p(y)),
    partials=lambda x, y, out: (log1p(y), _quotient(x, 1.0 + y)),
    floating=True, ufuncs=("xlog1py",), domain=(FACTOR, (-0.99, 30.0)), oracle="scipy.special.xlog1py",
)
