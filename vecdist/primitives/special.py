"""Error functions, and products with logarithms that are 0 where their first factor is."""

from __future__ import annotations

import math

from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.primitives.floating import (
    at_most,
    format_of,
    head,
    polynomial,
    reduced_exp,
    scaled,
    width,
    with_sign,
)
from vecdist.primitives.gamma_functions import (
    digamma,
    digamma_delta,
    lbeta,
    lgamma,
    lgamma_delta,
    log_choose,
    tetragamma,
    trigamma,
)
from vecdist.primitives.table import primitive

__all__ = [
    "digamma", "digamma_delta", "erf", "erfc", "lbeta", "lgamma", "lgamma_delta", "log_choose", "tetragamma",
    "trigamma", "xlog1py", "xlogy",
]

FACTOR = (0.0, 30.0)
SLOPE = 2 / math.sqrt(math.pi)
# erf(x) / x - 1 in x**2, |x| <= 1: relative error 1.1e-17 and 4.0e-8
ERF = {
    8: (
        0.12837916709551256, -0.37612638903183404, 0.11283791670939884, -0.0268661706424481, 0.005223977600763714,
        -0.0008548325675044584, 0.00012055286021982988, -1.4924567921220988e-05, 1.644535827633143e-06,
        -1.6192791628654043e-07, 1.3652736702613623e-08, -7.671202954212638e-10,
    ),
    4: (0.12837912, -0.37612325, 0.11280175, -0.026711226, 0.004917479, -0.00056311896),
}
# log(erfc(x)) on 0.98 <= x <= 6 or 4: absolute error of erf 8.1e-18 and 1.8e-8
LOG_ERFC = {
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
# (x + 2) exp(x**2) erfc(x) in t = (x - 2) / (x + 2), 0 <= x <= 27.25 or 10.3: relative error 3.2e-17 and 2.4e-8.
# A greater number than 2 would save a term or two, but make the result more sensitive to the rounding of t near x = 0.
CENTRE = 2.0
ERFCX = {
    8: (
        1.021582705242023, -0.6871606844138106, 0.2794720925560485, -0.036442231506873, -0.021510661889105307,
        0.006479185067446543, 0.0030906120502056846, -0.0008372960565741666, -0.0006630733959936805,
        3.437137338614962e-05, 0.00014446995540198107, 3.4149289317600335e-05, -2.1692479615256464e-05,
        -1.6122433096681107e-05, -1.1376410299944345e-06, 3.647387614623918e-06, 2.029282089072522e-06,
        -2.802408461280969e-09, -6.145611984642223e-07, -3.2199556245846473e-07, 4.341561814319798e-08,
        1.1302226784544481e-07, 2.538915528560359e-08, -1.515770056726211e-08, -6.149592170052182e-09,
    ),
    4: (
        1.0215827, -0.68716085, 0.27947134, -0.036436748, -0.021501558, 0.00643833, 0.0030395542, -0.0007315399,
        -0.00052599894, -4.308841e-05,
    ),
}
ERFC_MOST = {8: 27.25, 4: 10.25}  # erfc is 0 from here on


def _erf(x: Node) -> Node:
    """An odd polynomial up to 1, then 1 - exp(polynomial)."""
    a = at_most(abs(x), ERF_MOST[width(x)])
    square = a * a
    near = a + a * polynomial(square, ERF[width(x)])
    reduced = reduced_exp(polynomial(a, LOG_ERFC[width(x)]), format_of(x).bias)
    far = 1.0 - reduced.power() * (1.0 + reduced.p)
    return with_sign(where(a > 1.0, far, near), x)


def _erfc(x: Node) -> Node:
    """exp(-x**2) / (|x| + 2) times a polynomial (Shepherd and Laframboise 1981), x**2 in two exact parts."""
    a = at_most(abs(x), ERFC_MOST[width(x)])
    inverse = 1.0 / (a + CENTRE)
    t = (a - CENTRE) * inverse
    a_head = head(a)
    rest = (a_head - a) * (a_head + a)
    reduced = reduced_exp(-(a_head * a_head), 2 * format_of(x).bias, rest)
    tail = scaled((1.0 + reduced.p) * (inverse * polynomial(t, ERFCX[width(x)])), reduced)
    return where(x < 0, 2.0 - tail, tail)


def _product(x: Node, y: Node, logarithm: Node) -> Node:
    """x log(...), 0 where x is 0 unless y is nan."""
    return where(eq(x, 0) & eq(y, y), 0.0, x * logarithm)


def _quotient(x: Node, y: Node) -> Node:
    """x / y, 0 where both are."""
    return where(eq(x, 0) & eq(y, 0), 0.0, x / y)


erf = primitive(
    "erf", expand=_erf, partials=lambda x, out: (SLOPE * exp(-(x * x)),),
    floating=True, ufuncs=("erf",), domain=((-4.0, 4.0),), oracle="scipy.special.erf",
)
erfc = primitive(
    "erfc", expand=_erfc, partials=lambda x, out: (-SLOPE * exp(-(x * x)),),
    floating=True, ufuncs=("erfc",), domain=((-4.0, 8.0),), oracle="scipy.special.erfc",
)
xlogy = primitive(
    "xlogy", 2, expand=lambda x, y: _product(x, y, log(y)),
    partials=lambda x, y, out: (log(y), _quotient(x, y)),
    floating=True, ufuncs=("xlogy",), domain=(FACTOR, (1e-3, 30.0)), oracle="scipy.special.xlogy",
)
xlog1py = primitive(
    "xlog1py", 2, expand=lambda x, y: _product(x, y, log1p(y)),
    partials=lambda x, y, out: (log1p(y), _quotient(x, 1.0 + y)),
    floating=True, ufuncs=("xlog1py",), domain=(FACTOR, (-0.99, 30.0)), oracle="scipy.special.xlog1py",
)
