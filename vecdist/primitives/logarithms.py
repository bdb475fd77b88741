"""Logarithms of differences of exponentials and of odds, and the inverses of hyperbolic and circular functions."""

from __future__ import annotations

import math

from vecdist.graph.node import Node, Operand, const, where
from vecdist.primitives.arithmetic import REAL, eq, from_bits, sqrt, square
from vecdist.primitives.elementary import LN2, exp, expm1, guarded, log, log1p
from vecdist.primitives.floating import (
    INFINITY,
    NAN,
    at_most,
    binary,
    format_of,
    joined,
    log_fraction,
    width,
    with_sign,
)
from vecdist.primitives.power import hypot
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import arctan

NEGATIVE = (-30.0, -1e-3)
LN2_PARTS = {8: (0.6931471805599453, 2.3190468138462996e-17), 4: (0.6931472, -1.904654e-09)}
FAR = {8: (2.0**900, 2.0**400, 2.0**-256), 4: (2.0**100, 2.0**60, 2.0**-32)}  # x, y and part of a large x / y
LARGE = {8: 2.0**60, 4: 2.0**30}  # where 1 + x**2 is x**2


def log_of_sum(a: Node, b: Node, lift: Operand = 0) -> Node:
    """log(a + b) - lift log 2 for a normal sum with ``|b|`` not above ``a``: 2**k (1 + f) with f of both terms.

    So the rounding of the sum does no harm.  4 * 2**-k stands for 2**-k, which may be subnormal.
    """
    form = format_of(a)
    taken = binary(a + b, lift)
    exponent = (taken.shifted >> form.fraction) & (2 * form.bias + 1)
    power = from_bits((2 * form.bias + 2 - exponent) << form.fraction)
    return joined(taken.k, log_fraction((power * b) * 0.25 + ((power * a) * 0.25 - 1.0)))


def _log_plus(one: Node, x: Node) -> Node:
    """As that of 1 + x, but of x alone where ``one`` is 0; a tiny x is lifted, for 2**-k would overflow."""
    form, total = format_of(x), one + x
    lift = float(form.fraction + 2)
    tiny = total < 4.0 * form.smallest_normal
    raised = where(tiny, total * 2.0**lift, total)
    taken = binary(raised, where(tiny, const(lift, x.dtype), const(0, x.dtype)))
    exponent = (taken.shifted >> form.fraction) & (2 * form.bias + 1)
    power = from_bits((2 * form.bias + 2 - exponent) << form.fraction)
    f = (power * where(tiny, raised, x)) * 0.25 + ((power * 0.25) * one - 1.0)
    return guarded(joined(taken.k, log_fraction(f)), total)


def log_of_either(single: Node, y: Node, rest: Node) -> Node:
    """log(y) where ``single``, for y below 2 and perhaps subnormal; log(1 + rest) elsewhere."""
    lift = format_of(y).fraction + 2.0
    exponent = where(single, const(lift, y.dtype), const(0, y.dtype))
    return log_of_sum(where(single, y * 2.0**lift, 1.0), where(single, 0.0, rest), exponent)


def _log1mexp(x: Node) -> Node:
    """log(-expm1(x)) down to -log 2, log(1 - exp(x)) below (Maechler 2012)."""
    y = log_of_either(x > -LN2, -expm1(x), -exp(x))
    return where(x < 0, y, where(eq(x, 0), const(-INFINITY, x.dtype), const(NAN, x.dtype)))


def _logexpm1(x: Node) -> Node:
    """log(expm1(x)), next to its zero at log 2 log(1 + 2 expm1(x - log 2)); x + log(1 - exp(-x)) where x is large."""
    low, far = x < 0.4, x > 1.1
    high, rest = LN2_PARTS[width(x)]
    e = expm1(where(low, x, where(far, 0.0, (x - high) - rest)))
    y = log_of_either(low, e, where(far, -exp(-x), e + e))
    edge = where(eq(x, 0), const(-INFINITY, x.dtype), const(NAN, x.dtype))
    return where(x > 0, y + where(far, x, 0.0), edge)


def _logit(p: Node) -> Node:
    """log(p / (1 - p)), from 1/4 on as log(1 + (2 p - 1) / (1 - p)): exact next to 1/2."""
    low = p < 0.25
    odds = where(low, p, 2.0 * p - 1.0) / (1.0 - p)
    edge = where(eq(p, 1), const(INFINITY, p.dtype), const(NAN, p.dtype))
    edge = where(eq(p, 0), const(-INFINITY, p.dtype), edge)
    return where((p > 0) & (p < 1), log_of_either(low, odds, odds), edge)


def _excess(x: Node, y: Node) -> Node:
    """x - y, inf where y is -inf."""
    return where(eq(y, -INFINITY), INFINITY, x - y)


def _arcsinh(x: Node) -> Node:
    """log1p(a + a**2 / (1 + sqrt(1 + a**2))) for a = |x|, log(a) + log 2 where a**2 is all of 1 + a**2."""
    a = abs(x)
    far = a > LARGE[width(x)]
    inner = at_most(a, LARGE[width(x)])
    square = inner * inner
    y = log1p(where(far, a, inner + square / (1.0 + sqrt(1.0 + square))))
    return with_sign(y + where(far, const(LN2, x.dtype), const(0, x.dtype)), x)


def _log_quotient_by_square(x: Node, y: Node) -> Node:
    """The logarithm of the quotient where that is far from overflow: two logarithms may cancel."""
    quotient = x / y / y
    inside = (quotient > 2.0**-20) & (quotient < 2.0**20) & (y < 2.0**40) & (y > 2.0**-40)
    whole = log(where(inside, quotient, x))
    return whole - where(inside, 0.0, 2.0 * log(y))


def _log1p_quotient(x: Node, y: Node) -> Node:
    """Of a quotient that might overflow, the logarithm of a part of it."""
    large, small, part = FAR[width(x)]
    far = (x > large) & (y < small)
    quotient = where(far, x * part, x) / y
    return log1p(where(far, quotient - 1.0, quotient)) - where(far, const(math.log(part), x.dtype), 0.0)


def _log1p_quotient_partials(x: Node, y: Node, out: Node) -> tuple[Node, Node]:
    return 1.0 / (x + y), -quotient_beyond(x, y)


def _log_cauchy_partials(x: Node, y: Node, out: Node) -> tuple[Node, Node]:
    r = hypot(x, y)
    return -2.0 * (x / r) / r, ((x - y) / r) * ((x + y) / r) / y


def _arcsinh_quotient(x: Node, y: Node) -> Node:
    far = abs(x) > LARGE[width(x)] * y
    beyond = with_sign((log(where(far, abs(x), 1.0)) - log(y)) + LN2, x)
    return where(far, beyond, arcsinh(where(far, 1.0, x) / y))


def _arccosh(x: Node) -> Node:
    """log1p(t + sqrt(t (t + 2))) for t = x - 1, log(x) + log 2 where x is large."""
    far = x > LARGE[width(x)]
    t = at_most(x, LARGE[width(x)]) - 1.0
    y = log1p(where(far, x, t + sqrt(t * (t + 2.0))))
    return where(x < 1, const(NAN, x.dtype), y + where(far, const(LN2, x.dtype), const(0, x.dtype)))


def _arctanh(x: Node) -> Node:
    """log1p(2 a / (1 - a)) / 2 for a = |x|."""
    a = abs(x)
    return with_sign(0.5 * log1p((a + a) / (1.0 - a)), x)


def _circle(x: Node) -> Node:
    """sqrt(1 - x**2) without cancellation."""
    return sqrt((1.0 - x) * (1.0 + x))


bose_einstein: Primitive = primitive(  # 1 / (exp(x) - 1)
    "bose_einstein", expand=lambda x: 1.0 / expm1(x), partials=lambda x, out: (out * bose_einstein(-x),),
    floating=True, domain=((1e-3, 30.0),),
)
log1mexp: Primitive = primitive(  # log(1 - exp(x))
    "log1mexp", expand=_log1mexp, partials=lambda x, out: (-bose_einstein(-x),), floating=True, domain=(NEGATIVE,),
)
logexpm1: Primitive = primitive(  # log(exp(x) - 1), the inverse of softplus
    "logexpm1", expand=_logexpm1, partials=lambda x, out: (1.0 + bose_einstein(x),),
    floating=True, domain=((1e-3, 30.0),),
)
log_diff_exp: Primitive = primitive(  # log(exp(x) - exp(y))
    "log_diff_exp", 2, expand=lambda x, y: x + log1mexp(-_excess(x, y)),
    partials=lambda x, y, out: (1.0 + bose_einstein(_excess(x, y)), -bose_einstein(_excess(x, y))),
    floating=True, domain=((1.0, 30.0), (-30.0, 0.5)),
)
log_plus: Primitive = primitive(  # log(one + x) for ``one`` that is 0 or 1, or next to it
    "log_plus", 2, expand=_log_plus, partials=lambda one, x, out: (1.0 / (one + x),) * 2, floating=True,
    domain=((0.9, 1.1), (0.01, 30.0)),
)
logit: Primitive = primitive(
    "logit", expand=_logit, partials=lambda p, out: (1.0 / (p * (1.0 - p)),),
    floating=True, ufuncs=("logit",), domain=((1e-3, 0.999),), oracle="scipy.special.logit",
)
arcsinh: Primitive = primitive(
    "arcsinh", expand=_arcsinh, partials=lambda x, out: (1.0 / hypot(1.0, x),),
    floating=True, ufuncs=("arcsinh",), domain=(REAL,), oracle="numpy.arcsinh",
)
log_quotient_by_square: Primitive = primitive(  # log(x / y**2) for y > 0
    "log_quotient_by_square", 2, expand=_log_quotient_by_square, partials=lambda x, y, out: (1.0 / x, -2.0 / y),
    floating=True, domain=((1e-3, 1e3), (0.1, 30.0)),
)
log1p_quotient: Primitive = primitive(  # log(1 + x / y) for x >= 0 and y > 0, though the quotient overflow
    "log1p_quotient", 2, expand=_log1p_quotient, partials=_log1p_quotient_partials,
    floating=True, domain=((1e-3, 1e3), (0.1, 30.0)),
)
quotient_beyond: Primitive = primitive(  # x / (x + y) / y, whose slope in x is finite where y is 0
    "quotient_beyond", 2, expand=lambda x, y: (x * (1.0 / (x + y))) * (1.0 / y),
    partials=lambda x, y, out: (square(1.0 / (x + y)), -out * (1.0 / y + 1.0 / (x + y))),
    floating=True, domain=((1e-3, 1e3), (0.1, 30.0)),
)
log_cauchy: Primitive = primitive(  # log(y / (x**2 + y**2) / pi) for y > 0, the log density of a Cauchy distribution
    "log_cauchy", 2, expand=lambda x, y: log_quotient_by_square(y * (1 / math.pi), hypot(x, y)),
    partials=_log_cauchy_partials, floating=True, domain=(REAL, (0.1, 30.0)),
)
arcsinh_quotient: Primitive = primitive(  # arsinh(x / y) for y > 0, though the quotient overflow
    "arcsinh_quotient", 2, expand=_arcsinh_quotient,
    partials=lambda x, y, out: (1.0 / hypot(x, y), -(x / hypot(x, y)) / y),
    floating=True, domain=(REAL, (0.1, 30.0)),
)
arccosh: Primitive = primitive(
    "arccosh", expand=_arccosh, partials=lambda x, out: (1.0 / (sqrt(x - 1.0) * sqrt(x + 1.0)),),
    floating=True, ufuncs=("arccosh",), domain=((1.1, 30.0),), oracle="numpy.arccosh",
)
arctanh: Primitive = primitive(
    "arctanh", expand=_arctanh, partials=lambda x, out: (1.0 / ((1.0 - x) * (1.0 + x)),),
    floating=True, ufuncs=("arctanh",), domain=((-0.95, 0.95),), oracle="numpy.arctanh",
)
arcsin: Primitive = primitive(
    "arcsin", expand=lambda x: arctan(x / _circle(x)), partials=lambda x, out: (1.0 / _circle(x),),
    floating=True, ufuncs=("arcsin",), domain=((-0.95, 0.95),), oracle="numpy.arcsin",
)
arccos: Primitive = primitive(
    "arccos", expand=lambda x: 2.0 * arctan(sqrt((1.0 - x) / (1.0 + x))), partials=lambda x, out: (-1.0 / _circle(x),),
    floating=True, ufuncs=("arccos",), domain=((-0.95, 0.95),), oracle="numpy.arccos",
)
