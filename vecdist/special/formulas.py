"""Pieces of formulas that several families share."""

import math
from typing import Any, NamedTuple

import numpy as np

from vecdist.graph.node import Node, const, where
from vecdist.graph.shapes import broadcast
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import LOG_EXCESS, at_least, at_most, polynomial, width
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.rounding import log_high, log_rest, product_rest, quotient_rest, sum_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import near_sin
from vecdist.special.error_functions import digamma, erf, erfc, lgamma
from vecdist.special.normal_tail import inverse_mills, log_ndtr
from vecdist.special.parts import NOTHING, Parts

EULER = 0.5772156649015329  # DLMF 5.2.3


def _product_rule(dots: tuple[Node | None, Node | None], x: Node, y: Node, out: Node) -> Node | None:
    dot_x, dot_y = dots
    terms = [] if dot_x is None else [times(dot_x, y)]
    terms += [] if dot_y is None else [times(x, dot_y)]
    return sum(terms[1:], terms[0]) if terms else None


# x y, 0 where x is 0, though y be infinite: what never occurs has no weight.
times: Primitive = primitive(
    "times", 2, expand=lambda x, y: where(eq(x, 0.0) & eq(y, y), 0.0, x * y), tangent=_product_rule,
    floating=True, domain=((0.0, 30.0), (-30.0, 30.0)), oracle="numpy.multiply",
)

# The logarithm of a tail, from whichever of both is the less.  What does not change a tail does not change its
# logarithm, though it be 0; and a tail is known well enough to divide by, so slopes of the other one are not asked for.
log_of_tail: Primitive = primitive(
    "log_of_tail", 2, expand=lambda tail, rest: where(tail < 0.5, log(tail), log1p(-rest)),
    tangent=lambda dots, tail, rest, out: None if dots[0] is None else times(dots[0], 1.0 / tail),
    floating=True, domain=((0.01, 0.49), (0.51, 0.99)),
)

# exp(y), with no slope where that is 0, though y fall infinitely fast.
exp_of_log: Primitive = primitive(
    "exp_of_log", expand=exp, tangent=lambda dots, y, out: None if dots[0] is None else times(out, dots[0]),
    floating=True, domain=((-30.0, 30.0),), oracle="numpy.exp",
)

# A value that a formula has too, where that has the right derivatives.
with_slopes_of: Primitive = primitive(
    "with_slopes_of", 2, expand=lambda value, formula: value, tangent=lambda dots, value, formula, out: dots[1],
    floating=True,
)


def log1p_at_zero(u: Node) -> Node:
    """What has the value and the first two derivatives of log(1 + u) at u = 0."""
    return u - 0.5 * square(u)


SMALLER = 32  # powers of two by which a large distance is divided


def _log1p_square(distance: Node, inverse_scale: Node, log_scale: Node) -> Node:
    """It is 2 log|z| long before z² or z overflows."""
    z = distance * inverse_scale
    far = abs(z) > 1e10
    smaller = (abs(distance) * 2.0**-SMALLER) * inverse_scale
    y = log1p(where(far, smaller - 1.0, square(z)))
    return where(far, y + y + 2 * SMALLER * math.log(2), y)


def _log1p_square_partials(distance: Node, inverse_scale: Node, log_scale: Node, out: Node) -> tuple[Node | None, ...]:
    z = distance * inverse_scale
    far = abs(z) > 1e10
    inverse = 1.0 / where(far, distance, 1.0 + square(z))
    of_distance = where(far, 2.0 * inverse, 2.0 * z * inverse * inverse_scale)
    return of_distance, None, -2.0 * where(far, 1.0, square(z) * inverse)


# log(1 + z²) for z = distance inverse_scale.  Its slope in the scale is that in the logarithm, which has none so large
# as the square of the reciprocal.
log1p_square: Primitive = primitive(
    "log1p_square", 3, expand=_log1p_square, partials=_log1p_square_partials, floating=True,
)


class _Grown(NamedTuple):
    """``u`` = a z; ``whole`` = 1 + u in two parts; whether u is ``small``; there ``bend`` = (log(1 + u) - u) / u²."""

    a: Node
    z: Parts
    u: Node
    whole: Parts
    small: Node
    bend: Node

    @property
    def inside(self) -> Node:
        return self.whole.high > 0.0

    @property
    def factor(self) -> Node:
        return 1.0 / self.whole.high

    @property
    def inverse(self) -> Node:
        """1 / a, where a is not 0."""
        return 1.0 / where(eq(self.a, 0.0), 1.0, self.a)

    @property
    def share(self) -> Parts:
        """z / (1 + u)."""
        return self.z.quotient(self.whole)

    @property
    def logarithm(self) -> Parts:
        """log(1 + u) / a, where u is not next to 0."""
        rest = log_rest(self.whole.high) + where(self.inside, self.whole.rest * self.factor, 0.0)
        return Parts(log_high(self.whole.high), rest).over(where(eq(self.a, 0.0), 1.0, self.a))

    @property
    def log1p_over(self) -> Node:
        """log(1 + u) / a."""
        z = self.z.high
        return where(self.small, z + z * (self.u * self.bend), log(self.whole.high) * self.inverse)

    def slope(self, weight: Node | float = 1.0) -> Node:
        """The derivative in a of that, (z / (1 + u) - log(1 + u) / a) / a, a series where u is small.

        Times a ``weight``, which may be 0 where the derivative is infinite.
        """
        z = self.z.high
        series = -(weight * z * (z + 2.0 * self.z.rest)) * self.factor * ((1.0 + self.bend) + self.u * self.bend)
        lag = where(self.inside, (self.share - self.logarithm).whole, z * self.factor)
        return where(self.small, series, weight * lag * self.inverse)


def _grown(a: Node, z: Parts) -> _Grown:
    """Where 1 + u is nearly 0, what rounding took from u is much of it."""
    u = at_least(a * z.high, -1.0)
    lost = product_rest(a, z.high) + a * z.rest
    high = at_least((1.0 + u) + lost, 0.0)
    small = (u > -0.34) & (u < 0.41)
    low = where(high > 0.0, sum_rest(1.0 + u, lost) + sum_rest(const(1.0, u.dtype), u), 0.0)
    bend = polynomial(where(small, u, 0.0), LOG_EXCESS[width(u)])
    return _Grown(a, z, u, Parts(high, low), small, bend)


def _log1p_over_partials(a: Node, z: Node, rest: Node, out: Node) -> tuple[Node, Node, None]:
    grown = _grown(a, Parts(z, rest))
    return grown.slope(), grown.factor, None


# log(1 + a (z + rest)) / a, z where a is 0: the inverse of expm1_over, of a number in two parts.
log1p_over: Primitive = primitive(
    "log1p_over", 3, expand=lambda a, z, rest: _grown(a, Parts(z, rest)).log1p_over, partials=_log1p_over_partials,
    floating=True, domain=((-0.2, 2.0), (-0.4, 4.0), (-1e-17, 1e-17)),
)


def _grown_by(a: Node, distance: Node, rest: Node, scale: Node) -> _Grown:
    """By z = (distance + rest) / scale, but no further than a z and what is made of it are finite."""
    most = 0.5 * float(np.finfo(a.dtype).max) / at_least(abs(a), 1.0)
    return _grown(a, Parts(distance, rest).over(scale).bounded(most))


def _by_distance(of_a: Node, of_z: Node, z: Node, scale: Node) -> tuple[Node, Node, None, Node]:
    """Partials in a and z as those in a, distance and scale: that of z in scale may overflow before their product."""
    inverse = 1.0 / scale
    return of_a, of_z * inverse, None, -(of_z * z) * inverse


def _log1p_by_partials(a: Node, distance: Node, rest: Node, scale: Node, out: Node) -> tuple[Node | None, ...]:
    grown = _grown_by(a, distance, rest, scale)
    return _by_distance(grown.slope(), grown.factor, grown.z.high, scale)


SCALED: Any = {"floating": True, "domain": ((-0.2, 2.0), (-0.4, 4.0), (-1e-17, 1e-17), (1.0, 3.0))}
# Of z = (distance + rest) / scale: log(1 + a z) / a, z where a is 0.
log1p_by: Primitive = primitive(
    "log1p_by", 4, expand=lambda *at: _grown_by(*at).log1p_over, partials=_log1p_by_partials, **SCALED,
)


CLOSE = 0.05  # up to which a series is better than a logarithm in two parts
# (1 / 2 - ((1 + u) log(1 + u) - u) / u²) / u
DECAY = {size: tuple((-1) ** k / ((k + 2) * (k + 3)) for k in range(most)) for size, most in ((8, 12), (4, 5))}


def _decay_slopes(grown: _Grown) -> tuple[Node, Node]:
    """That in a is (log(1 + u) / a - z (1 + a) / (1 + u)) / a, with a zero next to z = 2; inf or -inf at u = -1."""
    a, z = grown.a, grown.z.high
    close, half, one = abs(grown.u) < CLOSE, 0.5 * z, const(1.0, a.dtype)
    u = where(close, grown.u, 0.0)
    least = (sum_rest(half, -one) + 0.5 * grown.z.rest) - z * (u * polynomial(u, DECAY[width(u)]))
    more = Parts(one + a, sum_rest(one, a))
    far = (grown.logarithm - grown.share.product(more)).whole * grown.inverse
    end = where(a > -1.0, const(math.inf, a.dtype), -math.inf)
    of_a = where(close, z * grown.factor * ((half - 1.0) + least), where(grown.inside, far, end))
    return of_a, -times(1.0 + a, grown.factor)


def _log1p_decay_partials(a: Node, distance: Node, rest: Node, scale: Node, out: Node) -> tuple[Node | None, ...]:
    grown = _grown_by(a, distance, rest, scale)
    return _by_distance(*_decay_slopes(grown), grown.z.high, scale)


# -(1 + a) log(1 + a z) / a: that of a generalized Pareto density, 0 where a is -1
log1p_decay: Primitive = primitive(
    "log1p_decay", 4, expand=lambda a, *at: times(1.0 + a, -log1p_by(a, *at)), partials=_log1p_decay_partials, **SCALED,
)


def _power_tail(a: Node, distance: Node, rest: Node, scale: Node) -> Node:
    """The exponential of a logarithm in two parts, which are z and the bend where u is next to 0."""
    grown = _grown_by(a, distance, rest, scale)
    tiny, z = abs(grown.u) < 1e-3, grown.z
    bent = z.high * (grown.u * grown.bend)
    far = grown.logarithm
    high, low = where(tiny, z.high + bent, far.high), where(tiny, sum_rest(z.high, bent) + z.rest, far.rest)
    return Parts(-high, -low).exp()


def _tail_slopes(grown: _Grown, tail: Node, logarithm: Node) -> tuple[Node, Node]:
    """With the density -d tail / dz as one power where u = -1, for its exponent may be 0."""
    density = where(grown.inside, tail * grown.factor, exp(-times(1.0 + grown.a, logarithm)))
    return where(grown.inside, -grown.slope(tail), -grown.z.high * density / grown.a), -density


def _power_tail_partials(a: Node, distance: Node, rest: Node, scale: Node, out: Node) -> tuple[Node | None, ...]:
    grown, logarithm = _grown_by(a, distance, rest, scale), log1p_by(a, distance, rest, scale)
    return _by_distance(*_tail_slopes(grown, out, logarithm), grown.z.high, scale)


# (1 + a z)^(-1 / a), exp(-z) where a is 0.
power_tail: Primitive = primitive("power_tail", 4, expand=_power_tail, partials=_power_tail_partials, **SCALED)


def _power_decay_partials(a: Node, distance: Node, rest: Node, scale: Node, out: Node) -> tuple[Node | None, ...]:
    """Those of the tail alone where it is infinite: it outweighs the logarithm."""
    at = (a, distance, rest, scale)
    grown, tail = _grown_by(*at), power_tail(*at)
    (of_a, of_z), (tail_of_a, tail_of_z) = _decay_slopes(grown), _tail_slopes(grown, tail, log1p_by(*at))
    of_a = where(tail < math.inf, of_a, 0.0) - tail_of_a
    return _by_distance(of_a, of_z - tail_of_z, grown.z.high, scale)


# log1p_decay - power_tail: that of a generalized extreme value density
power_decay: Primitive = primitive(
    "power_decay", 4, expand=lambda *at: log1p_decay(*at) - power_tail(*at), partials=_power_decay_partials, **SCALED,
)


# y - exp(y) for a number y in two parts; its derivative is 0 at 0.
less_exp: Primitive = primitive(
    "less_exp", 2, expand=lambda x, rest: at_most(x, -NOTHING) - Parts(x, rest).exp(),
    partials=lambda x, rest, out: (-Parts(x, rest).expm1(), None),
    floating=True, domain=((-3.0, 3.0), (-1e-17, 1e-17)),
)


def _mills_of_parts(x: Node, rest: Node) -> Node:
    """phi / Phi, which falls as exp(-x^2 / 2) above 0: there the rest of x is amplified."""
    return inverse_mills(x) * (1.0 - at_least(at_most(x, 40.0), 0.0) * rest)


# log Phi of a number in two parts.
log_ndtr_of_parts: Primitive = primitive(
    "log_ndtr_of_parts", 2, expand=lambda x, rest: log_ndtr(x),
    partials=lambda x, rest, out: (_mills_of_parts(x, rest), None),
    floating=True, domain=((-8.0, 4.0), (-1e-17, 1e-17)),
)


def _expm1_over_slope(a: Node, y: Node, out: Node) -> Node:
    """The derivative in a, (y exp(u) - out) / a with u = a y, by its power series where u is small."""
    u = a * y
    small = abs(u) < 0.5
    series = polynomial(where(small, u, 0.0), tuple((k + 1) / math.factorial(k + 2) for k in range(14)))
    return where(small, square(y) * series, (y * exp(u) - out) / a)


# (exp(a y) - 1) / a, y where a is 0.
expm1_over: Primitive = primitive(
    "expm1_over", 2, expand=lambda a, y: where(eq(a * y, 0.0), y, expm1(a * y) / a),
    partials=lambda a, y, out: (_expm1_over_slope(a, y, out), exp(a * y)),
    floating=True, domain=((-2.0, 2.0), (-4.0, 4.0)),
)


class _OneAndReciprocal(NamedTuple):
    """1 + 1 / a, and what rounding takes from it, of which lgamma and digamma know little but next to their zeros."""

    whole: Node
    rest: Node


def _one_and_reciprocal(a: Node) -> _OneAndReciprocal:
    one, inverse = const(1.0, a.dtype), 1.0 / a
    return _OneAndReciprocal(one + inverse, sum_rest(one, inverse) + quotient_rest(one, a))


def _lgamma_reciprocal(a: Node) -> Node:
    """By the line through the slopes of lgamma at its zeros, -EULER at 1 and 1 - EULER at 2."""
    whole, rest = _one_and_reciprocal(a)
    return lgamma(whole) + (at_most(whole, 2.125) - (1.0 + EULER)) * rest


def _lgamma_reciprocal_slope(a: Node) -> Node:
    whole, rest = _one_and_reciprocal(a)
    return -(digamma(whole) + where(whole < 2.0, SLOPE_AT_ZERO * rest, 0.0)) * square(1.0 / a)


SLOPE_AT_ZERO = 0.96767225  # of digamma
lgamma_reciprocal: Primitive = primitive(  # lgamma(1 + 1 / a)
    "lgamma_reciprocal", expand=_lgamma_reciprocal, partials=lambda a, out: (_lgamma_reciprocal_slope(a),),
    floating=True, domain=((0.1, 30.0),),
)


def angle_less_sine(t: Node) -> Node:
    """t - sin(t) for t ≥ 0, by its power series where they are close."""
    small = t < 1.0
    s = square(where(small, t, 0.0))
    series = polynomial(s, tuple((-1) ** k / math.factorial(2 * k + 3) for k in range(9)))
    return where(small, t * s * series, t - near_sin(t))


def log1mexp_of_exp(z: Node) -> Node:
    """log(1 - exp(-exp(-z))), which is -z long before exp(-z) underflows."""
    return where(z > 40.0, -z, log1mexp(at_least(-exp(-z), NOTHING)))


def log_both_tails(w: Node) -> Node:
    """The logarithm of the probability that a standard normal variable is further from 0 than ``w`` ≥ 0."""
    return where(w < 1.0, log1p(-erf(math.sqrt(0.5) * w)), log_ndtr(-w) + math.log(2))


FAR = {8: -20.0, 4: -9.0}  # the logarithm of a distance up to which that is all of its error function


def log_middle(w: Node, log_w: Node) -> Node:
    """The logarithm of the probability that a standard normal variable is nearer to 0 than ``w``, though that be 0."""
    far = log_w < FAR[width(w)]
    half = math.sqrt(0.5) * where(far, 1.0, w)
    inside = where(half < 0.5, log(erf(half)), log1p(-erfc(half)))
    return where(far, log_w + 0.5 * math.log(2 / math.pi), inside)


def repeated(value: Node, *beside: Node) -> Node:
    """``value`` in the shape that it has with what is ``beside`` it; compilers see that there is nothing to choose."""
    for other in beside:
        if broadcast((value.shape, other.shape)) != value.shape:
            value = where(eq(other, other), value, value)
    return value


def _nothing(z: Node) -> Node:
    return repeated(const(0.0, z.dtype), z)


# z and z² / 2 at 0, nowhere else: a constant with derivatives
level: Primitive = primitive(
    "level", expand=_nothing, partials=lambda z, out: (1.0,), floating=True, domain=((0.0, 0.0),),
)
bowl: Primitive = primitive(
    "bowl", expand=_nothing, partials=lambda z, out: (level(z),), floating=True, domain=((0.0, 0.0),),
)


def infinite_where(diverges: Node, value: Node) -> Node:
    """A mean or variance as it is, inf where its integral is; a parameter that is NaN leaves it so."""
    return where(diverges, const(math.inf, value.dtype), value)


ZETA = (  # of 2 to 30, DLMF 25.2.1, 25.6.1 and table 25.19
    1.6449340668482264, 1.2020569031595942, 1.0823232337111382, 1.03692775514337, 1.0173430619844491,
    1.0083492773819228, 1.0040773561979443, 1.0020083928260822, 1.0009945751278181, 1.0004941886041195,
    1.0002460865533080, *(1.0 + sum(float(j) ** -k for j in range(40, 1, -1)) for k in range(13, 31)),
)


def gamma_rise(a: Node) -> Node:
    """(Γ(1 - a) - 1) / a for a < 1; small a by the series of log Γ, DLMF 5.7.3."""
    small = abs(a) < 0.15
    near, far = where(small, a, 0.0), where(small, 0.5, a)
    series = polynomial(near, (EULER, *(zeta / k for k, zeta in enumerate(ZETA, 2))))
    return where(small, expm1_over(near, series), expm1(lgamma(1.0 - far)) / far)


def gamma_spread(a: Node) -> Node:
    """(Γ(1 - 2a) / Γ(1 - a)² - 1) / a², infinite from a = 1/2 on; small a by the series of log Γ, DLMF 5.7.3."""
    small = abs(a) < 0.15
    near = where(small, a, 0.0)
    series = polynomial(near, tuple(zeta * (2**k - 2) / k for k, zeta in enumerate(ZETA, 2)))
    far = expm1(lgamma(1.0 - 2.0 * a) - 2.0 * lgamma(1.0 - a)) / square(a)
    return where(a < 0.5, where(small, expm1_over(square(near), series), far), math.inf)
