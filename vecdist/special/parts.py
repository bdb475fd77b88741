"""Numbers in two parts, a float and what its rounding lost, for what amplifies it: exponentials and small gaps."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import size, sqrt
from vecdist.primitives.elementary import EXP_RANGE, clamped, exp, expm1, log
from vecdist.primitives.floating import LOG2_E, Reduced, at_least, at_most, format_of, head, polynomial, scaled, width
from vecdist.primitives.log_products import log_quotient_high, log_quotient_rest
from vecdist.primitives.rounding import log_high, log_rest, product_rest, quotient_rest, root_rest, sum_rest
from vecdist.primitives.table import Primitive, flat, primitive

NOTHING = -1e3  # an exponent of 0, whose slope is 0


class Parts(NamedTuple):
    """``high`` + ``rest``, of which the rest is at most a few units in the last place of the other."""

    high: Node
    rest: Node

    @property
    def whole(self) -> Node:
        """Both parts as one float."""
        return self.high + self.rest

    def __neg__(self) -> Parts:  # type: ignore[override]
        return Parts(-self.high, -self.rest)

    def __sub__(self, other: Parts) -> Parts:
        lost = sum_rest(self.high, -other.high)
        return Parts(self.high - other.high, lost + (self.rest - other.rest))

    def __add__(self, other: Parts) -> Parts:  # type: ignore[override]
        lost = sum_rest(self.high, other.high)
        return Parts(self.high + other.high, lost + (self.rest + other.rest))

    def times(self, factor: Node) -> Parts:
        """The product with a float."""
        return Parts(factor * self.high, product_rest(factor, self.high) + factor * self.rest)

    def product(self, other: Parts) -> Parts:
        """The product with a number in two parts."""
        product = self.times(other.high)
        return Parts(product.high, product.rest + self.high * other.rest)

    def over(self, divisor: Node) -> Parts:
        """The quotient by a float."""
        return Parts(self.high / divisor, quotient_rest(self.high, divisor) + self.rest * (1.0 / divisor))

    def quotient(self, divisor: Parts) -> Parts:
        """The quotient by a number in two parts."""
        quotient = self.over(divisor.high)
        return Parts(quotient.high, quotient.rest - quotient.high * (divisor.rest * (1.0 / divisor.high)))

    def exp(self) -> Node:
        """The exponential, whose argument may be large."""
        return exp_of_parts(self.high, self.rest)

    def grown(self) -> Parts:
        """The exponential in two parts, where it neither overflows nor underflows."""
        return Parts(exp_high(self.high, self.rest), exp_rest(self.high, self.rest))

    def expm1(self) -> Node:
        """The exponential less 1."""
        return expm1_of_parts(self.high, self.rest)

    def bounded(self, most: Node | None = None) -> Parts:
        """The number, but none larger than ``most``, the largest float unless given."""
        limit = const(float(np.finfo(self.high.dtype).max), self.high.dtype) if most is None else most
        bounded = at_least(at_most(self.high, limit), -limit)
        return Parts(bounded, where(abs(self.high) <= limit, self.rest, 0.0))

    def magnitude(self) -> Parts:
        """The absolute value, with the slope from above at 0."""
        return Parts(size(self.high), where(self.high < 0.0, -self.rest, self.rest))

    def root(self) -> Parts:
        """The square root of a positive number."""
        root = sqrt(self.high)
        return Parts(root, root_rest(self.high) + 0.5 * self.rest / root)

    def log(self) -> Parts:
        """The logarithm of a positive number."""
        return Parts(log_high(self.high), log_rest(self.high) + self.rest / self.high)


def _growth(rest: Node) -> Node:
    """exp(rest) - 1 of the rest of an exponent, 0 where it is not small: there the exponential is 0 or infinite."""
    return where(abs(rest) < 0.01, rest + 0.5 * (rest * rest), 0.0)


def _expm1(high: Node, rest: Node) -> Node:
    return expm1(high) * (1.0 + _growth(rest)) + _growth(rest)


def _exponential(dots: tuple[Node | None, ...], slope: Node) -> Node | None:
    """The tangents of both parts are added up first, for the exponential may be infinite."""
    given = [dot for dot in dots if dot is not None]
    return slope * sum(given[1:], given[0]) if given else None


PARTS, NARROW = ((-3.0, 3.0), (-1e-4, 1e-4)), ((-3.0, 3.0), (-1e-8, 1e-8))
exp_of_parts: Primitive = primitive(
    "exp_of_parts", 2, expand=lambda high, rest: exp(high) * (1.0 + _growth(rest)),
    tangent=lambda dots, high, rest, out: _exponential(dots, out), floating=True, domain=PARTS,
)
expm1_of_parts: Primitive = primitive(
    "expm1_of_parts", 2, expand=_expm1, tangent=lambda dots, high, rest, out: _exponential(dots, out + 1.0),
    floating=True, domain=PARTS,
)


# (exp(r) - 1 - r - r**2 / 2) / r**3 by its power series
CUBIC = {8: tuple(1 / math.factorial(k) for k in range(3, 15)), 4: tuple(1 / math.factorial(k) for k in range(3, 9))}


def _extended_exp(high: Node, rest: Node) -> tuple[Node, Node]:
    """The exponential in two parts, with five binary digits more: 1, r and the square of r's head are exact."""
    form = format_of(high)
    offset = form.magic + 2 * form.bias
    rounded = clamped(high, EXP_RANGE[width(high)]) * LOG2_E + offset
    k = rounded - offset
    near = clamped(high, EXP_RANGE[width(high)]) - k * form.ln2[0]
    r = near - k * form.ln2[1]
    lost = ((near - r) - k * form.ln2[1]) + where(abs(rest) < 0.01, rest, 0.0)
    r_head = head(r)
    square = 0.5 * (r_head * r_head)
    first, second = 1.0 + r, (1.0 + r) + square
    cube = r * r * r * polynomial(r, CUBIC[width(r)])
    small = 0.5 * ((r - r_head) * (r + r_head)) + (cube + lost * (second + cube))
    tail = (r - (first - 1.0)) + (square - (second - first)) + small
    whole = second + tail
    reduced = Reduced(r, k, rounded)
    return scaled(whole, reduced), scaled(tail - (whole - second), reduced)


exp_high: Primitive = primitive(  # exp(high + rest) as rounded
    "exp_high", 2, expand=lambda high, rest: _extended_exp(high, rest)[0],
    tangent=lambda dots, high, rest, out: _exponential(dots, out), floating=True, domain=NARROW,
)
exp_rest: Primitive = primitive(  # what that leaves
    "exp_rest", 2, expand=lambda high, rest: _extended_exp(high, rest)[1], partials=flat,
    floating=True, domain=NARROW,
)


def difference(x: Node, y: Node) -> Parts:
    """x - y of two floats."""
    return Parts(x - y, sum_rest(x, -y))


def log_parts(x: Node) -> Parts:
    """log(x) of a float."""
    return Parts(log_high(x), log_rest(x))


def log_ratio_parts(x: Node, y: Node) -> Parts:
    """log(x / y) of two floats: one logarithm for each pair, but two where there are fewer of one than of the other."""
    if x.shape == y.shape:
        return Parts(log_quotient_high(x, y), log_quotient_rest(x, y))
    return log_parts(x) - log_parts(y)


def log_of_minus_log(p: Parts, plain: Node) -> Node:
    """log(-log(p)), where ``plain`` is -log(p): next to its zero with all digits."""
    middle = (p.high > 0.1) & (p.high < 0.9)
    near = Parts(where(middle, p.high, 0.5), where(middle, p.rest, 0.0))
    return where(middle, (-near.log()).log().whole, log(plain))


def logit_parts(x: Node) -> Parts:
    """log(x / (1 - x)) of a float, with all digits next to 1/2 and to 1 too."""
    return log_parts(x) - difference(const(1.0, x.dtype), x).log()
