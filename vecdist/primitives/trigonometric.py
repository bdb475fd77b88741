"""Circular functions.

Arguments are reduced by multiples of pi/2 in several exact steps (Cody and Waite 1980, chapter 8), with full accuracy
up to ``FAR``.  Beyond that, where a reduction needs hundreds of digits of pi, routines take over (``far_angles``): as
a rare side, which costs the others a comparison.  The functions called near leave it out, for formulas whose angles are
a few turns at most.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from vecdist.graph.node import Node, Operand, const, where
from vecdist.graph.shapes import broadcast
from vecdist.primitives.arithmetic import REAL, bits, eq, from_bits, ne, signbit, size
from vecdist.primitives.far_angles import far_cosine, far_sine, far_tangent
from vecdist.primitives.floating import INFINITY, format_of, polynomial, width, with_sign
from vecdist.primitives.power import hypot
from vecdist.primitives.table import Primitive, primitive

PARTS = (REAL, (-1e-17, 1e-17))
FAR = {8: 2.0**20, 4: 2.0**13}
TWO_OVER_PI = 0.6366197723675814
# pi/2 in parts: a multiple of all but the last is exact in range, and the last reaches what a reduction can leave over.
HALF_PI: dict[int, tuple[float, ...]] = {
    8: (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
    4: (1.5703125, 0.0004837512969970703, 7.549533620476723e-08, 2.5633440682570896e-12),
}
# (sin(r) - r) / r**3 in r**2, |r| <= pi/4: relative error of the sine 3.8e-18 and 4.0e-9
SIN: dict[int, tuple[float, ...]] = {
    8: (
        -0.1666666666666663, 0.00833333333332184, -0.00019841269829358525, 2.755731353851177e-06,
        -2.5050734388676223e-08, 1.5895433245141986e-10,
    ),
    4: (-0.16666655, 0.008332188, -0.00019518095),
}
# (cos(r) - 1) / r**2 in r**2, |r| <= pi/4: relative error of the cosine 5.8e-20 and 1.2e-10
COS: dict[int, tuple[float, ...]] = {
    8: (
        -0.5, 0.041666666666666595, -0.0013888888888873325, 2.480158728898367e-05, -2.75573142100699e-07,
        2.087570426994716e-09, -1.1358683261534968e-11,
    ),
    4: (-0.5, 0.041666646, -0.001388731, 2.4432327e-05),
}
# (atan(z) - z) / z**3 in z**2, |z| <= 1: relative error 3.3e-17 and 1.7e-8
ARCTAN: dict[int, tuple[float, ...]] = {
    8: (
        -0.3333333333333186, 0.19999999999755186, -0.14285714271339223, 0.1111111067877084, -0.09090901234490609,
        0.07692212910089169, -0.06665860144872165, 0.05877306295063062, -0.0523922605004292, 0.04673925763245244,
        -0.040925771850113084, 0.0340666311021323, -0.02582507013276496, 0.016976134119532714, -0.009183008192843432,
        0.0038550666555781433, -0.001163710715077342, 0.00022293516699654073, -2.024888445982361e-05,
    ),
    4: (-0.33333153, 0.19993767, -0.14211002, 0.10665769, -0.075516604, 0.04320472, -0.016363172, 0.0029194131),
}
QUARTER_TURN = {8: (1.5707963267948966, 6.123233995736766e-17), 4: (1.5707964, -4.371139e-08)}


class Quadrant(NamedTuple):
    """Sine and cosine - 1 of the reduced argument; the low bits of ``turn`` count the quarter turns taken away."""

    sine: Node
    less_one: Node
    turn: Node

    @property
    def cosine(self) -> Node:
        return 1.0 + self.less_one


def _reduced(x: Node, rest: Operand = 0.0) -> Quadrant:
    """Of x + rest, where the rest is what rounding took from x; anything, infinity too, where x is far."""
    magic = format_of(x).magic
    rounded = x * TWO_OVER_PI + magic
    turns = rounded - magic
    r = x
    for part in HALF_PI[width(x)]:
        r = r - turns * part
    r = r + rest
    square = r * r
    sine = r + r * square * polynomial(square, SIN[width(x)])
    return Quadrant(sine, square * polynomial(square, COS[width(x)]), bits(rounded))


def _odd(turn: Node) -> Node:
    """Whether a count of quarter turns is odd: its lowest bit made the sign."""
    return (turn << (8 * turn.dtype.itemsize - 1)) < 0


def _quarter(parts: Quadrant, ahead: int) -> Node:
    """The sine ``ahead`` quarter turns further on: odd turns exchange sine and cosine, half turns change the sign."""
    straight, crossed = (parts.cosine, parts.sine) if ahead else (parts.sine, parts.cosine)
    y = where(_odd(parts.turn), crossed, straight)
    turn = parts.turn + ahead if ahead else parts.turn
    return from_bits(bits(y) + ((turn & 2) << (8 * width(y) - 2)))


def _tan(x: Node) -> Node:
    parts = _reduced(x)
    odd = _odd(parts.turn)
    return where(odd, parts.cosine, parts.sine) / where(odd, -parts.sine, parts.cosine)


def _cos_less_one(x: Node, rest: Node) -> Node:
    """Next to its zeros a polynomial, not a difference."""
    parts = _reduced(x, rest)
    return where(eq(parts.turn & 3, 0), parts.less_one, _quarter(parts, 1) - 1.0)


def _arctan_within(z: Node) -> Node:
    """atan(z) for |z| at most 1."""
    square = z * z
    return z + z * square * polynomial(square, ARCTAN[width(z)])


def _arctan(x: Node) -> Node:
    """atan(x), or pi/2 - atan(1/x) where |x| > 1."""
    a = abs(x)
    steep = a > 1
    y = _arctan_within(where(steep, 1.0 / a, a))
    high, low = QUARTER_TURN[width(x)]
    return with_sign(where(steep, high - (y - low), y), x)


def direction_angle(sine: Node, cosine: Node) -> Node:
    """The angle between 0 and pi whose sine, not negative, and cosine are as these, by one division."""
    a = size(cosine)
    steep, back = sine > a, cosine < 0
    y = _arctan_within(where(steep, a, sine) / where(steep, sine, a))
    high, low = QUARTER_TURN[width(a)]
    quarters = where(steep, const(1, a.dtype), where(back, const(2, a.dtype), 0.0))
    return quarters * high + (quarters * low + where(eq(steep, back), y, -y))


def _far(x: Node) -> Node:
    return abs(x) > FAR[width(x)]


def _rarely(name: str, routine: Callable[[float], float]) -> Callable[[Node, Node, Operand], Node]:
    """A function where a condition holds, which is seldom, and a usual value elsewhere."""
    primitive(name, 3, routine=routine, seldom=True)

    def function(far: Node, x: Node, usual: Operand) -> Node:
        usual = usual if isinstance(usual, Node) else const(usual, x.dtype)
        return Node(name, (far, x, usual), (), broadcast((far.shape, x.shape, usual.shape)), x.dtype)

    return function


far_sin: Callable[..., Node] = _rarely("far_sin", far_sine)
far_cos: Callable[..., Node] = _rarely("far_cos", far_cosine)
far_tan: Callable[..., Node] = _rarely("far_tan", far_tangent)


def _sine_of_sum(far: Node, x: Node, rest: Node, ahead: int) -> Node:
    """sin(x + rest), or the cosine, where x is far, so that its rest may be many turns."""
    here, ahead_of_it = (far_cos, far_sin) if ahead else (far_sin, far_cos)
    crossed = ahead_of_it(far, x, 0.0) * far_sin(far, rest, 0.0)
    return here(far, x, 0.0) * far_cos(far, rest, 1.0) + (-crossed if ahead else crossed)


def _of_parts(x: Node, rest: Node, ahead: int) -> Node:
    far = _far(x)
    return where(far, _sine_of_sum(far, x, rest, ahead), _quarter(_reduced(x, rest), ahead))


def _less_one(x: Node, rest: Node) -> Node:
    """Where x is far -2 sin((x + rest) / 2)^2, whose halves are exact."""
    far = _far(x)
    half = _sine_of_sum(far, 0.5 * x, 0.5 * rest, 0)
    return where(far, -2.0 * (half * half), _cos_less_one(x, rest))


sin: Primitive = primitive(
    "sin", expand=lambda x: far_sin(_far(x), x, _quarter(_reduced(x), 0)), partials=lambda x, out: (cos(x),),
    floating=True, ufuncs=("sin",), domain=(REAL,), oracle="numpy.sin",
)
cos: Primitive = primitive(
    "cos", expand=lambda x: far_cos(_far(x), x, _quarter(_reduced(x), 1)), partials=lambda x, out: (-sin(x),),
    floating=True, ufuncs=("cos",), domain=(REAL,), oracle="numpy.cos",
)
tan: Primitive = primitive(
    "tan", expand=lambda x: far_tan(_far(x), x, _tan(x)), partials=lambda x, out: (1.0 + out * out,),
    floating=True, ufuncs=("tan",), domain=((-1.4, 1.4),), oracle="numpy.tan",
)
near_sin: Primitive = primitive(
    "near_sin", expand=lambda x: _quarter(_reduced(x), 0), partials=lambda x, out: (near_cos(x),),
    floating=True, domain=(REAL,), oracle="numpy.sin",
)
near_cos: Primitive = primitive(
    "near_cos", expand=lambda x: _quarter(_reduced(x), 1), partials=lambda x, out: (-near_sin(x),),
    floating=True, domain=(REAL,), oracle="numpy.cos",
)
near_tan: Primitive = primitive(
    "near_tan", expand=_tan, partials=lambda x, out: (1.0 + out * out,),
    floating=True, domain=((-1.4, 1.4),), oracle="numpy.tan",
)
sin_of_parts: Primitive = primitive(  # sin(x + rest) of a number in two parts
    "sin_of_parts", 2, expand=lambda x, rest: _of_parts(x, rest, 0),
    partials=lambda x, rest, out: (cos_of_parts(x, rest), None), floating=True, domain=PARTS,
)
cos_of_parts: Primitive = primitive(
    "cos_of_parts", 2, expand=lambda x, rest: _of_parts(x, rest, 1),
    partials=lambda x, rest, out: (-sin_of_parts(x, rest), None), floating=True, domain=PARTS,
)
cos_less_one: Primitive = primitive(  # cos(x + rest) - 1
    "cos_less_one", 2, expand=_less_one,
    partials=lambda x, rest, out: (-sin_of_parts(x, rest), None), floating=True, domain=PARTS,
)
arctan: Primitive = primitive(
    "arctan", expand=_arctan, partials=lambda x, out: (1.0 / (1.0 + x * x),),
    floating=True, ufuncs=("arctan",), domain=(REAL,), oracle="numpy.arctan",
)


def _arctan2(y: Node, x: Node) -> Node:
    """That of the lesser leg over the larger one, from the axis beside which it lies."""
    tall, left = abs(y) > abs(x), signbit(x)
    long, short = where(tall, abs(y), abs(x)), where(tall, abs(x), abs(y))
    ratio = where(eq(long, 0), long + short, where(eq(long, short), 1.0, short / long))
    angle = arctan(ratio)
    high, low = QUARTER_TURN[width(x)]
    turns = where(tall, const(1, x.dtype), where(left, const(2, x.dtype), const(0, x.dtype)))
    return with_sign(turns * high + (turns * low + where(ne(tall, left), -angle, angle)), y)


def _arctan2_partials(y: Node, x: Node, out: Node) -> tuple[Node, Node]:
    """Those of a far point, and of the origin, where there are none, are 0."""
    r = hypot(x, y)
    apart = eq(r, 0) | eq(r, INFINITY)
    return where(apart, 0.0, x / r / r), where(apart, 0.0, -y / r / r)


arctan2: Primitive = primitive(
    "arctan2", 2, expand=_arctan2, partials=_arctan2_partials,
    floating=True, ufuncs=("arctan2",), domain=(REAL, REAL), oracle="numpy.arctan2",
)
