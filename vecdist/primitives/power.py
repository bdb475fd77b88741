"""Powers: a logarithm to half as many digits again, and the special cases of IEEE 754-2019, section 9.2.1."""

from __future__ import annotations

from collections.abc import Callable

from vecdist.graph.node import Node, Operand, Scalar, const, where
from vecdist.primitives.arithmetic import REAL, bits, eq, floor, from_bits, isnan, ne, sqrt
from vecdist.primitives.elementary import EXP_RANGE, clamped, exp, log
from vecdist.primitives.floating import (
    INFINITY,
    NAN,
    binary,
    format_of,
    head,
    lifted,
    polynomial,
    reduced_exp,
    scaled,
    width,
    with_sign,
)
from vecdist.primitives.table import Primitive, primitive

# (atanh(s) / s - 1 - s**2 / 3) / s**4 in s**2, |s| <= 0.1717: relative error of the logarithm 1.2e-20 and 8.7e-12
ATANH: dict[int, tuple[float, ...]] = {
    8: (
        0.20000000000001136, 0.1428571428504561, 0.11111111260740904, 0.0909089211263868, 0.07693382049128897,
        0.0662832755472009, 0.06598941094774247,
    ),
    4: (0.20000076, 0.14273544, 0.11709862),
}
THIRD = {8: (0.3333333283662796, 4.967053731282552e-09), 4: (0.333251953125, 8.138021e-05)}
MOST = {8: 2.0**70, 4: 2.0**40}  # an exponent that takes the smallest logarithm out of range


def _two_sum(large: Node, small: Node) -> tuple[Node, Node]:
    """The sum and its rounding error (Dekker 1971)."""
    total = large + small
    return total, small - (total - large)


def extended_log(x: Node) -> tuple[Node, Node]:
    """log(x) in two parts."""
    k, f, _ = binary(*lifted(x))
    return extended_log_of_parts(k, f)


def extended_log_of_parts(k: Node, f: Node, rest: Operand = 0.0) -> tuple[Node, Node]:
    """log(2**k (1 + f + rest)) in two parts: 2 atanh(s) + k log 2 for s = f / (2 + f), every leading product exact.

    That is by halved factors.  The rest is as small as a rounding error, and enters s by its slope 2 / (2 + f)**2.
    """
    m = 1.0 + f
    whole = 2.0 + f
    inverse = 1.0 / whole
    s = head(f * inverse)
    d = head(whole)
    s_low = ((f - s * d) - s * (m - (d - 1.0)) + rest * (inverse + inverse)) * inverse
    z = s * s
    z_low = s_low * (s + s + s_low)
    third, third_low = THIRD[width(f)]
    z_head, whole_z = head(z), z + z_low
    g = z_head * third
    g_low = z_head * third_low + whole_z * whole_z * polynomial(whole_z, ATANH[width(f)])
    g_low = ((z - z_head) + z_low) * (third + third_low) + g_low
    g_head = head(g + g_low)
    g_rest = (g - g_head) + g_low
    low = s_low + s_low * (g_head + g_rest) + s * g_rest
    total, error = _two_sum(k * format_of(f).ln2[0], s + s)
    total, error_2 = _two_sum(total, (s + s) * g_head)
    return _two_sum(total, error + error_2 + (low + low) + k * format_of(f).ln2[1])


def _times(y: Node, high: Node, low: Node) -> tuple[Node, Node]:
    """y (high + low) in two parts (Dekker 1971)."""
    product = y * high
    y_head, high_head = head(y), head(high)
    y_rest, high_rest = y - y_head, high - high_head
    error = ((y_head * high_head - product) + y_head * high_rest + y_rest * high_head) + y_rest * high_rest
    return product, where(abs(product) < 1024.0, error + y * low, 0.0)


def _pow(x: Node, y: Node) -> Node:
    """exp(y log |x|), with signs and edges."""
    if y.op == "const" and y.value in SIMPLE:
        return SIMPLE[y.value](x)
    a = abs(x)
    product, rest = _times(clamped(y, (-MOST[width(y)], MOST[width(y)])), *extended_log(a))
    reduced = reduced_exp(clamped(product, EXP_RANGE[width(x)]), 2 * format_of(x).bias, rest)
    p = scaled(1.0 + reduced.p, reduced)
    grows = where(y > 0, const(INFINITY, x.dtype), const(0, x.dtype))
    shrinks = where(y < 0, const(INFINITY, x.dtype), where(isnan(y), y, 0.0))
    p = where(eq(a, 0), shrinks, where(eq(a, INFINITY), where(isnan(y), y, grows), where(isnan(x), x, p)))
    whole = floor(y)
    odd = eq(whole, y) & ne(floor(y * 0.5) * 2.0, y)
    sign = bits(x) & (-1 << (8 * width(x) - 1))
    p = from_bits(bits(p) | where(odd, sign, 0))
    p = where((x < 0) & (x > -INFINITY) & ne(whole, y), const(NAN, x.dtype), p)
    return where(eq(x, 1) | eq(y, 0), 1.0, p)


SIMPLE: dict[Scalar, Callable[[Node], Node]] = {
    0.0: lambda x: where(eq(x, x), const(1, x.dtype), const(1, x.dtype)),
    1.0: lambda x: x, 2.0: lambda x: x * x, 3.0: lambda x: x * x * x,
    -1.0: lambda x: 1.0 / x, 0.5: lambda x: where(eq(x, -INFINITY), INFINITY, sqrt(x) + 0.0),
}


def _power_less_one(x: Node, y: Node) -> Node:
    """x**(y - 1): what the rounding of y - 1 leaves out is a factor of its own."""
    less = y - 1.0
    factor = power(x, less)
    if y.op == "const":
        return factor
    step = less - y
    rest = (y - (less - step)) - (1.0 + step)
    plain = eq(rest, 0) | eq(x, 0) | eq(abs(x), INFINITY)
    return factor * (1.0 + where(plain, 0.0, rest * log(abs(x))))


def _partials(x: Node, y: Node, out: Node) -> tuple[Node, Node]:
    """Where y = 0 the slope in x is 0, also at x = 0; where x = 0 < y the slope in y is 0."""
    return (
        where(eq(y, 0) & ~(abs(x) > 0), 0.0, y * _power_less_one(x, y)),
        where(eq(x, 0) & (y > 0), 0.0, log(x) * out),
    )


power: Primitive = primitive(
    "pow", 2, expand=_pow, partials=_partials,
    floating=True, ufuncs=("power", "float_power"), domain=((0.05, 20.0), (-5.0, 5.0)), oracle="numpy.power",
)


def _cbrt(x: Node) -> Node:
    """A root to most of its digits, and a step of Newton's, whose terms are nowhere out of range."""
    a = abs(x)
    root = exp(log(a) * (1 / 3))
    better = root - (root - a / (root * root)) * (1 / 3)
    return where(eq(x, 0) | eq(a, INFINITY), x, with_sign(better, x))


cbrt: Primitive = primitive(
    "cbrt", expand=_cbrt, partials=lambda x, out: (1.0 / (3.0 * (out * out)),),
    floating=True, ufuncs=("cbrt",), domain=((0.05, 20.0),), oracle="numpy.cbrt",
)


def _hypot(x: Node, y: Node) -> Node:
    """The larger leg times sqrt(1 + ratio**2): no overflow before the result's."""
    a, b = abs(x), abs(y)
    long, short = where(a < b, b, a), where(a < b, a, b)
    ratio = short / long
    inner = long * sqrt(1.0 + ratio * ratio)
    return where(eq(long, 0), a + b, where(eq(a, INFINITY) | eq(b, INFINITY), INFINITY, inner))


hypot: Primitive = primitive(
    "hypot", 2, expand=_hypot,
    partials=lambda x, y, out: (where(eq(out, 0), 0.0, x / out), where(eq(out, 0), 0.0, y / out)),
    floating=True, ufuncs=("hypot",), domain=(REAL, REAL), oracle="numpy.hypot",
)
leg: Primitive = primitive(  # sqrt(x**2 - y**2), for x the hypotenuse and y the other leg
    "leg", 2, expand=lambda x, y: sqrt(x - y) * sqrt(x + y), partials=lambda x, y, out: (x / out, -y / out),
    floating=True, domain=((2.0, 30.0), (-1.9, 1.9)),
)
