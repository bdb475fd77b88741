"""Arithmetic, comparison, choice and bit patterns: the operations that both targets have as code."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecdist.graph.node import Node, Operand, cast, const, where
from vecdist.primitives.table import Primitive, flat, primitive

REAL = (-30.0, 30.0)
POSITIVE = (1e-3, 1e3)
NONZERO = (0.1, 30.0)


def _choose(dots: tuple[Node | None, ...], condition: Node, yes: Node, no: Node, out: Node) -> Node | None:
    """The tangent of a choice is the chosen tangent: never a product, for 0 * nan is nan."""
    _, dot_yes, dot_no = dots
    if dot_yes is None and dot_no is None:
        return None
    zero = const(0, out.dtype)
    choice = where if out.op == "where" else seldom
    return choice(condition, zero if dot_yes is None else dot_yes, zero if dot_no is None else dot_no)


def _shared(dots: tuple[Node | None, ...], first: Node, x: Node, y: Node, out: Node) -> Node | None:
    """The tangent of the larger or the lesser argument, ``first`` or not; equal ones share the derivative."""
    dot_x, dot_y = (const(0, out.dtype) if dot is None else dot for dot in dots)
    return where(eq(x, y), 0.5 * (dot_x + dot_y), where(first, dot_x, dot_y))


def points_away(rest: Node, y: Node) -> Node:
    """Whether a remainder has not the sign of the divisor."""
    return ne(rest, 0) & ne(rest < 0, y < 0)


def _floor_divide(x: Node, y: Node) -> Node:
    """The largest whole number not above the quotient, from the exact remainder: a quotient may round up to it."""
    rest = fmod(x, y)
    whole = (x - rest) / y - cast(points_away(rest, y), rest.dtype)
    below = floor(whole)
    nearest = below + cast(whole - below > 0.5, rest.dtype)
    return where(eq(y, 0), x / y, where(eq(whole, 0), x / y * 0, nearest))


def _remainder(x: Node, y: Node) -> Node:
    """What is left of ``x`` after a floor division, with the sign of ``y``."""
    rest = fmod(x, y)
    signed_zero = where(y < 0, const(-0.0, rest.dtype), const(0.0, rest.dtype))
    return where(eq(rest, 0), signed_zero, where(points_away(rest, y), rest + y, rest))


def _signed(x: np.ndarray) -> Any:
    found = np.asarray(x)  # of a number, too
    return found.view(f"i{found.dtype.itemsize}")


def _float(i: Any) -> Any:
    i = np.asarray(i)
    return i.view(f"f{i.dtype.itemsize}")


add: Primitive = primitive(
    "add", 2, code="({0} + {1})", meaning=np.add, partials=lambda x, y, out: (1.0, 1.0),
    ufuncs=("add",), domain=(REAL, REAL), oracle="numpy.add",
)
sub: Primitive = primitive(
    "sub", 2, code="({0} - {1})", meaning=np.subtract, partials=lambda x, y, out: (1.0, -1.0),
    ufuncs=("subtract",), domain=(REAL, REAL), oracle="numpy.subtract",
)
mul: Primitive = primitive(
    "mul", 2, code="({0} * {1})", meaning=np.multiply, partials=lambda x, y, out: (y, x),
    ufuncs=("multiply",), domain=(REAL, REAL), oracle="numpy.multiply",
)
div: Primitive = primitive(
    "div", 2, code="({0} / {1})", meaning=np.divide, partials=lambda x, y, out: (1.0 / y, -(out * (1.0 / y))),
    floating=True, ufuncs=("divide",), domain=(REAL, NONZERO), oracle="numpy.divide",
)
neg: Primitive = primitive(
    "neg", code="(-{0})", meaning=np.negative, partials=lambda x, out: (-1.0,),
    ufuncs=("negative",), domain=(REAL,), oracle="numpy.negative",
)
positive: Primitive = primitive(
    "positive", expand=lambda x: x, partials=lambda x, out: (1.0,),
    ufuncs=("positive",), domain=(REAL,), oracle="numpy.positive",
)
absolute: Primitive = primitive(
    "abs", code="abs({0})", meaning=np.abs, partials=lambda x, out: (sign(x),),
    ufuncs=("absolute", "fabs"), domain=(REAL,), oracle="numpy.abs",
)
# the same, with the slope from above at 0: of an even function that has its second derivative there
size: Primitive = primitive(
    "size", expand=abs, partials=lambda x, out: (where(x < 0, const(-1, x.dtype), const(1, x.dtype)),),
    domain=((0.1, 30.0),),
)
sqrt: Primitive = primitive(
    "sqrt", code="sqrt({0})", meaning=np.sqrt, partials=lambda x, out: (0.5 / out,),
    floating=True, ufuncs=("sqrt",), domain=(POSITIVE,), oracle="numpy.sqrt",
)
floor: Primitive = primitive(
    "floor", code="floor({0})", meaning=np.floor, partials=flat, floating=True,
    ufuncs=("floor",), domain=(REAL,), oracle="numpy.floor",
)
rint: Primitive = primitive(
    "rint", code="rint({0})", meaning=np.rint, partials=flat, floating=True,
    ufuncs=("rint",), domain=(REAL,), oracle="numpy.rint",
)
ceil: Primitive = primitive(
    "ceil", expand=lambda x: -floor(-x), partials=flat, floating=True,
    ufuncs=("ceil",), domain=(REAL,), oracle="numpy.ceil",
)
trunc: Primitive = primitive(
    "trunc", expand=lambda x: where(x < 0, ceil(x), floor(x)), partials=flat, floating=True,
    ufuncs=("trunc",), domain=(REAL,), oracle="numpy.trunc",
)
fmod: Primitive = primitive(
    "fmod", 2, code="fmod({0}, {1})", meaning=np.fmod, partials=lambda x, y, out: (1.0, -rint((x - out) / y)),
    floating=True, ufuncs=("fmod",), domain=(REAL, (5.0, 30.0)), oracle="numpy.fmod",
)
floor_divide: Primitive = primitive(
    "floor_divide", 2, expand=_floor_divide, partials=flat, floating=True,
    ufuncs=("floor_divide",), domain=(REAL, (5.0, 30.0)), oracle="numpy.floor_divide",
)
remainder: Primitive = primitive(  # its derivative is that from the right where it jumps
    "remainder", 2, expand=_remainder, partials=lambda x, y, out: (1.0, -floor_divide(x, y)), floating=True,
    ufuncs=("remainder",), domain=(REAL, (5.0, 30.0)), oracle="numpy.remainder",
)
sign: Primitive = primitive(
    "sign", expand=lambda x: where(x > 0, 1, where(x < 0, -1, x * 0)), partials=flat,
    ufuncs=("sign",), domain=(REAL,), oracle="numpy.sign",
)
square: Primitive = primitive(
    "square", expand=lambda x: x * x, partials=lambda x, out: (2.0 * x,),
    ufuncs=("square",), domain=(REAL,), oracle="numpy.square",
)
reciprocal: Primitive = primitive(
    "reciprocal", expand=lambda x: 1.0 / x, partials=lambda x, out: (-out * out,), floating=True,
    ufuncs=("reciprocal",), domain=(NONZERO,), oracle="numpy.reciprocal",
)
maximum: Primitive = primitive(
    "maximum", 2, expand=lambda x, y: where((x >= y) | isnan(x), x, y),
    tangent=lambda dots, x, y, out: _shared(dots, (x >= y) | isnan(x), x, y, out),
    ufuncs=("maximum",), domain=(REAL, REAL), oracle="numpy.maximum",
)
minimum: Primitive = primitive(
    "minimum", 2, expand=lambda x, y: where((x <= y) | isnan(x), x, y),
    tangent=lambda dots, x, y, out: _shared(dots, (x <= y) | isnan(x), x, y, out),
    ufuncs=("minimum",), domain=(REAL, REAL), oracle="numpy.minimum",
)

lt: Primitive = primitive(
    "lt", 2, code="({0} < {1})", meaning=np.less, boolean=True,
    ufuncs=("less",), domain=(REAL, REAL), oracle="numpy.less",
)
le: Primitive = primitive(
    "le", 2, code="({0} <= {1})", meaning=np.less_equal, boolean=True,
    ufuncs=("less_equal",), domain=(REAL, REAL), oracle="numpy.less_equal",
)
gt: Primitive = primitive(
    "gt", 2, expand=lambda x, y: y < x, boolean=True,
    ufuncs=("greater",), domain=(REAL, REAL), oracle="numpy.greater",
)
ge: Primitive = primitive(
    "ge", 2, expand=lambda x, y: y <= x, boolean=True,
    ufuncs=("greater_equal",), domain=(REAL, REAL), oracle="numpy.greater_equal",
)
eq: Primitive = primitive(
    "eq", 2, code="({0} == {1})", meaning=np.equal, boolean=True,
    ufuncs=("equal",), domain=(REAL, REAL), oracle="numpy.equal",
)
ne: Primitive = primitive(
    "ne", 2, code="({0} != {1})", meaning=np.not_equal, boolean=True,
    ufuncs=("not_equal",), domain=(REAL, REAL), oracle="numpy.not_equal",
)
isnan: Primitive = primitive(
    "isnan", expand=lambda x: ne(x, x), boolean=True,
    ufuncs=("isnan",), domain=(REAL,), oracle="numpy.isnan",
)
signbit: Primitive = primitive(
    "signbit", expand=lambda x: bits(x) < 0, boolean=True, floating=True,
    ufuncs=("signbit",), domain=(REAL,), oracle="numpy.signbit",
)
copysign: Primitive = primitive(
    "copysign", 2, expand=lambda x, y: where(signbit(y), -from_bits(_magnitude(x)), from_bits(_magnitude(x))),
    partials=lambda x, y, out: (sign(x) * copysign(1.0, y), None), floating=True,
    ufuncs=("copysign",), domain=(REAL, NONZERO), oracle="numpy.copysign",
)
heaviside: Primitive = primitive(
    "heaviside", 2, expand=lambda x, y: where(isnan(x), x, where(x < 0, 0, where(x > 0, 1, y))),
    tangent=lambda dots, x, y, out: None if dots[1] is None else where(eq(x, 0), dots[1], 0), floating=True,
    ufuncs=("heaviside",), domain=(REAL, REAL), oracle="numpy.heaviside",
)
isfinite: Primitive = primitive(
    "isfinite", expand=lambda x: eq(x - x, 0), boolean=True,
    ufuncs=("isfinite",), domain=(REAL,), oracle="numpy.isfinite",
)
isinf: Primitive = primitive(
    "isinf", expand=lambda x: eq(abs(x), float("inf")), boolean=True,
    ufuncs=("isinf",), domain=(REAL,), oracle="numpy.isinf",
)

BITS = (0, 30)
bit_and: Primitive = primitive(
    "and", 2, code="({0} & {1})", meaning=np.bitwise_and,
    ufuncs=("bitwise_and", "logical_and"),
)
bit_or: Primitive = primitive(
    "or", 2, code="({0} | {1})", meaning=np.bitwise_or,
    ufuncs=("bitwise_or", "logical_or"),
)
bit_xor: Primitive = primitive("xor", 2, code="({0} ^ {1})", meaning=np.bitwise_xor, ufuncs=("bitwise_xor",))
logical_not: Primitive = primitive(
    "not", code="(not {0})", meaning=np.logical_not, boolean=True, ufuncs=("logical_not",),
)
shift_left: Primitive = primitive("shl", 2, code="({0} << {1})", meaning=np.left_shift)
shift_right: Primitive = primitive("shr", 2, code="({0} >> {1})", meaning=np.right_shift)

choose: Primitive = primitive(
    "where", 3, code="select({0}, {1}, {2})", meaning=np.where, tangent=_choose,
)
choose_seldom: Primitive = primitive(
    "seldom", 3, code="select({0}, {1}, {2})", meaning=np.where, tangent=_choose, seldom=True,
)
cast_to: Primitive = primitive(
    "cast", code="{dtype}({0})", partials=lambda x, out: (1.0,) if out.dtype.kind == "f" else (None,),
    meaning=lambda x, dtype: np.asarray(x).astype(dtype),
)
# steps, of the digits that are left
to_bits: Primitive = primitive("bits", code="bits({0})", meaning=_signed, partials=flat)
of_bits: Primitive = primitive("from_bits", code="from_bits({0})", meaning=_float)


def seldom(condition: Node, value: Operand, usual: Operand) -> Node:
    """``value`` where ``condition`` holds, as it does for few elements, ``usual`` elsewhere.

    As ``where``, but loops of vectors leave out what ``value`` alone needs, unless an element of their block wants it.
    """
    chosen = where(condition, value, usual)
    return Node("seldom", chosen.args, (), chosen.shape, chosen.dtype)


def _magnitude(x: Node) -> Node:
    """The bit pattern of a float without its sign, also of NaN."""
    return bits(x) & (2 ** (8 * x.dtype.itemsize - 1) - 1)


def bits(x: Node) -> Node:
    """The bit pattern of a float, as a signed integer of its width."""
    return Node("bits", (x,), (), x.shape, np.dtype(f"i{x.dtype.itemsize}"))


def from_bits(i: Node) -> Node:
    """The float with the bit pattern ``i``."""
    return Node("from_bits", (i,), (), i.shape, np.dtype(f"f{i.dtype.itemsize}"))
