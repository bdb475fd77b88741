"""Exponentials and logarithms, and what is made of them: within 2 units in the last place in either float format."""

from __future__ import annotations

import math

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import POSITIVE, REAL, eq, from_bits
from vecdist.primitives.floating import (
    INFINITY,
    NAN,
    Reduced,
    at_least,
    at_most,
    binary,
    exp_fraction,
    format_of,
    joined,
    lifted,
    log_fraction,
    magnitude,
    reduced_exp,
    scaled,
    width,
    with_sign,
)
from vecdist.primitives.table import Primitive, primitive

UNIT = (1e-3, 1.0)
SMALL = (-5.0, 5.0)
LN2 = 0.6931471805599453
LOG10_2 = {8: (0.30102999566395283, 2.8363394551044964e-14), 4: (0.301025390625, 4.605039066518657e-06)}
LOG10_E = 0.4342944819032518

# Arguments beyond which a result does not change: exp is 0 below and inf above, expm1 is -1, cosh is inf; tanh is 1,
# and its slope next to nothing.
EXP_RANGE = {8: (-746.0, 710.0), 4: (-104.0, 89.0)}
SHIFTED_LEAST = {8: -708.0, 4: -87.0}  # whose exponentials are the least normal numbers
EXP2_RANGE = {8: (-1076.0, 1025.0), 4: (-151.0, 129.0)}
EXPM1_LEAST = {8: -40.0, 4: -20.0}
TANH_MOST = {8: 354.0, 4: 44.0}
COSH_MOST = {8: 710.6, 4: 89.6}


def clamped(x: Node, limits: tuple[float, float]) -> Node:
    """``x`` within limits; nan stays nan."""
    return at_least(at_most(x, limits[1]), limits[0])


def _exp(x: Node) -> Node:
    """2**k (1 + p); both ends of the range are gradual, or inf.  What is 0 no product underflows to, which is slow."""
    least, most = EXP_RANGE[width(x)]
    lowered = at_most(x, most)
    none = lowered < least
    reduced = reduced_exp(where(none, 0.0, lowered), 2 * format_of(x).bias)
    return where(none, 0.0, scaled(1.0 + reduced.p, reduced))


def _shifted_exp(x: Node) -> Node:
    """2**k (1 + p), 0 where that would be subnormal, next to 1, and slow on a CPU; 2**k is inf where x is."""
    none = x < SHIFTED_LEAST[width(x)]
    reduced = reduced_exp(where(none, 0.0, at_most(x, EXP_RANGE[width(x)][1])), format_of(x).bias)
    return where(none, 0.0, (1.0 + reduced.p) * reduced.power())


def _exp2(x: Node) -> Node:
    """2**k exp((x - k) log 2): the difference is exact."""
    form = format_of(x)
    x = clamped(x, EXP2_RANGE[width(x)])
    magic = form.magic + 2 * form.bias
    rounded = x + magic
    k = rounded - magic
    p = exp_fraction((x - k) * LN2)
    return scaled(1.0 + p, Reduced(p, k, rounded))


def _expm1(x: Node) -> Node:
    """2**k p + (2**k - 1), computed at half the size, for 2**k may just overflow."""
    least, most = EXPM1_LEAST[width(x)], EXP_RANGE[width(x)][1]
    reduced = reduced_exp(clamped(x, (least, most)), format_of(x).bias - 1)
    power = reduced.power()
    half = power * reduced.p + (power - 0.5)
    return half + half


def guarded(y: Node, x: Node, pole: float = 0.0) -> Node:
    """A logarithm ``y`` with its edges: inf at inf, -inf at the pole, nan below."""
    edge = where(eq(x, pole), const(-INFINITY, x.dtype), const(NAN, x.dtype))
    return where(x > pole, where(x < INFINITY, y, x), edge)


def _log_parts(x: Node) -> tuple[Node, Node]:
    """``k`` and ``log(1 + f)`` of any positive float, subnormal or not."""
    taken = binary(*lifted(x))
    return taken.k, log_fraction(taken.f)


def _log_twice(x: Node) -> Node:
    k, y = _log_parts(x)
    return guarded(joined(k + 1.0, y), x)


def _log2(x: Node) -> Node:
    k, y = _log_parts(x)
    return guarded(k + y * (1 / LN2), x)


def _log10(x: Node) -> Node:
    k, y = _log_parts(x)
    high, low = LOG10_2[width(x)]
    return guarded(k * high + (k * low + y * LOG10_E), x)


def log1p_parts(x: Node) -> tuple[Node, Node]:
    """``k`` and ``log(1 + f)`` of 2**k (1 + f) = 1 + x, with k of 1 + x as rounded and 1 + f = 2**-k + 2**-k x.

    So the rounding of 1 + x does no harm.  4 * 2**-k stands for 2**-k, which may be subnormal.
    """
    form = format_of(x)
    taken = binary(1.0 + x)
    exponent = (taken.shifted >> form.fraction) & (2 * form.bias + 1)
    power = from_bits((2 * form.bias + 2 - exponent) << form.fraction)
    return taken.k, log_fraction((power * x) * 0.25 + (power * 0.25 - 1.0))


def log1p_unit(e: Node) -> Node:
    """log(1 + e) for 0 <= e <= 1: 1 + e is halved where it is above sqrt(2)."""
    large = e > math.sqrt(2) - 1
    f = where(large, e * 0.5 - 0.5, e)
    return where(large, const(LN2, e.dtype), const(0, e.dtype)) + log_fraction(f)


def _tail(x: Node) -> Node:
    """exp(-abs(x)), which sigmoid, log_sigmoid and softplus of ``x`` and ``-x`` share."""
    return exp(-magnitude(x))


def _sigmoid(x: Node) -> Node:
    """1 / (1 + e) or e / (1 + e) for e = exp(-abs(x)): accurate in both tails."""
    e = _tail(x)
    r = 1.0 / (1.0 + e)
    if x.op == "neg":
        return where(x.args[0] > 0, e * r, r)
    return where(x < 0, e * r, r)


def _expm1_of_twice(x: Node) -> Node:
    """expm1(2|x|), which tanh shares with its slope."""
    reduced = reduced_exp(2.0 * at_most(magnitude(x), TANH_MOST[width(x)]), format_of(x).bias)
    power = reduced.power()
    return power * reduced.p + (power - 1.0)


def _tanh(x: Node) -> Node:
    y = _expm1_of_twice(x)
    r = 1.0 / (y + 2.0)  # as in the slope
    return with_sign(where(y > 2.0, 1.0 - 2.0 * r, y * r), x)


def _tanh_slope(x: Node) -> Node:
    """4 r (1 - r) for r = 1 / (exp(2|x|) + 1), of which 1 - tanh(x)**2 is the difference."""
    r = 1.0 / (_expm1_of_twice(x) + 2.0)
    return where(magnitude(x) > TANH_MOST[width(x)], 0.0, 4.0 * r * (1.0 - r))


def _sinh(x: Node) -> Node:
    """(E + E / (E + 1)) / 2 for E = expm1(|x|), computed at a quarter of the size, for E may overflow before it."""
    a = abs(x)
    reduced = reduced_exp(at_most(a, COSH_MOST[width(x)]), format_of(x).bias - 2)
    power = reduced.power()
    quarter = power * reduced.p + (power - 0.25)
    y = 2.0 * quarter + quarter / (2.0 * quarter + 0.5)
    return with_sign(where(a < 2.0 ** -(format_of(x).fraction // 2 + 2), a, y), x)


def _cosh(x: Node) -> Node:
    """h + 1 / (4 h) for h = exp(|x|) / 2."""
    reduced = reduced_exp(at_most(abs(x), COSH_MOST[width(x)]), 2 * format_of(x).bias)
    half = scaled(0.5 + 0.5 * reduced.p, reduced)
    return half + 0.25 / half


def _difference(x: Node, y: Node) -> Node:
    """x - y, 0 where they are equal, even infinite."""
    return where(eq(x, y), 0.0, x - y)


exp: Primitive = primitive(
    "exp", expand=_exp, partials=lambda x, out: (out,),
    floating=True, ufuncs=("exp",), domain=(REAL,), oracle="numpy.exp",
)
shifted_exp: Primitive = primitive(  # exp(x) where some x is 0, the others less, or any is infinite
    "shifted_exp", expand=_shifted_exp, partials=lambda x, out: (out,),
    floating=True, domain=((-80.0, 0.0),), oracle="numpy.exp",
)
exp2: Primitive = primitive(
    "exp2", expand=_exp2, partials=lambda x, out: (LN2 * out,),
    floating=True, ufuncs=("exp2",), domain=(REAL,), oracle="numpy.exp2",
)
expm1: Primitive = primitive(
    "expm1", expand=_expm1, partials=lambda x, out: (exp(x),),
    floating=True, ufuncs=("expm1",), domain=(REAL,), oracle="numpy.expm1",
)
log: Primitive = primitive(
    "log", expand=lambda x: guarded(joined(*_log_parts(x)), x), partials=lambda x, out: (1.0 / x,),
    floating=True, ufuncs=("log",), domain=(POSITIVE,), oracle="numpy.log",
)
log_twice: Primitive = primitive(  # log(2 x), though 2 x overflow
    "log_twice", expand=_log_twice, partials=lambda x, out: (1.0 / x,), floating=True, domain=(POSITIVE,),
)
log2: Primitive = primitive(
    "log2", expand=_log2, partials=lambda x, out: (1 / LN2 / x,),
    floating=True, ufuncs=("log2",), domain=(POSITIVE,), oracle="numpy.log2",
)
log10: Primitive = primitive(
    "log10", expand=_log10, partials=lambda x, out: (LOG10_E / x,),
    floating=True, ufuncs=("log10",), domain=(POSITIVE,), oracle="numpy.log10",
)
log1p: Primitive = primitive(
    "log1p", expand=lambda x: guarded(joined(*log1p_parts(x)), x, pole=-1.0),
    partials=lambda x, out: (1.0 / (1.0 + x),),
    floating=True, ufuncs=("log1p",), domain=((-0.99, 30.0),), oracle="numpy.log1p",
)
sigmoid: Primitive = primitive(
    "sigmoid", expand=_sigmoid, partials=lambda x, out: (out * sigmoid(-x),),
    floating=True, ufuncs=("expit",), domain=(REAL,), oracle="scipy.special.expit",
)
log_sigmoid: Primitive = primitive(
    "log_sigmoid", expand=lambda x: where(x < 0, x, 0.0) - log1p_unit(_tail(x)),
    partials=lambda x, out: (sigmoid(-x),),
    floating=True, ufuncs=("log_expit",), domain=(REAL,), oracle="scipy.special.log_expit",
)
log_sigmoid_slope: Primitive = primitive(  # log(sigmoid(x) sigmoid(-x))
    "log_sigmoid_slope", expand=lambda x: log_sigmoid(x) + log_sigmoid(-x),
    partials=lambda x, out: (sigmoid(-x) - sigmoid(x),), floating=True, domain=(REAL,),
)
softplus: Primitive = primitive(
    "softplus", expand=lambda x: where(x > 0, x, 0.0) + log1p_unit(_tail(x)),
    partials=lambda x, out: (sigmoid(x),), floating=True, domain=(REAL,),
)
apart: Primitive = primitive(
    "apart", 2, expand=_difference, partials=lambda x, y, out: (1.0, -1.0), floating=True, domain=(REAL, REAL),
)
logaddexp: Primitive = primitive(
    "logaddexp", 2,
    expand=lambda x, y: where(x < y, y, x) + log1p_unit(_tail(_difference(x, y))),
    partials=lambda x, y, out: (sigmoid(apart(x, y)), sigmoid(-apart(x, y))),
    floating=True, ufuncs=("logaddexp",), domain=(REAL, REAL), oracle="numpy.logaddexp",
)
logaddexp2: Primitive = primitive(
    "logaddexp2", 2,
    expand=lambda x, y: where(x < y, y, x) + log1p_unit(exp2(-magnitude(_difference(x, y)))) * (1 / LN2),
    partials=lambda x, y, out: (sigmoid(LN2 * apart(x, y)), sigmoid(-LN2 * apart(x, y))),
    floating=True, ufuncs=("logaddexp2",), domain=(REAL, REAL), oracle="numpy.logaddexp2",
)
tanh_slope: Primitive = primitive(
    "tanh_slope", expand=_tanh_slope, partials=lambda x, out: (-2.0 * tanh(x) * out,), floating=True, domain=(SMALL,),
)
tanh: Primitive = primitive(
    "tanh", expand=_tanh, partials=lambda x, out: (tanh_slope(x),),
    floating=True, ufuncs=("tanh",), domain=(SMALL,), oracle="numpy.tanh",
)
log_cosh: Primitive = primitive(
    "log_of_cosh", expand=lambda x: magnitude(x) + log1p_unit(exp(-2.0 * magnitude(x))) - LN2,
    partials=lambda x, out: (tanh(x),), floating=True, domain=(SMALL,),
)
sinh: Primitive = primitive(
    "sinh", expand=_sinh, partials=lambda x, out: (cosh(x),),
    floating=True, ufuncs=("sinh",), domain=(SMALL,), oracle="numpy.sinh",
)
cosh: Primitive = primitive(
    "cosh", expand=_cosh, partials=lambda x, out: (sinh(x),),
    floating=True, ufuncs=("cosh",), domain=(SMALL,), oracle="numpy.cosh",
)
