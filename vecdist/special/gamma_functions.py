"""The gamma family on x >= 0.

From ``SHIFT`` on the asymptotic series hold (DLMF 5.11.1, 5.11.2, 5.15.8), with minimax coefficients in place of
Bernoulli numbers.  Below ``FOLD`` lgamma and digamma take a step at most (DLMF 5.5.1) to 1 <= z <= 2, where they are
polynomials times their zeros, and right to the last digits there too; the others are moved up by ``SHIFT``, with one
reciprocal for all that is made of one argument.  Negative arguments give nan.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.floating import (
    INFINITY,
    NAN,
    binary,
    format_of,
    log_fraction,
    polynomial,
    width,
)
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.zeta import zeta

SHIFT = {8: 3, 4: 2}
LIFT = {8: 21.0, 4: 16.0}  # binary digits per unit of shift, so that products of subnormals are normal
CONSTANT = 0.5 * math.log(2 * math.pi) - 0.5

FOLD = 3
CENTRE = 37 / 64  # of the polynomials on 0 <= u <= 5/4: there the leading coefficients lie next to floats
# lgamma(1 + u) / (u (u - 1)) in u - CENTRE: relative error 4.6e-17 and 2.1e-8
LGAMMA_UNIT: dict[int, tuple[float, ...]] = {
    8: (
        0.47209548483430264, -0.1366728925055254, 0.056146516239303244, -0.02658664253355577, 0.013564864675758086,
        -0.0072379379932146935, 0.003976868006374765, -0.0022302100351910283, 0.0012695871147310879,
        -0.0007310594828742278, 0.0004247907682839211, -0.0002486818336996219, 0.00014646986876621002,
        -8.652988586859045e-05, 5.1356871123862844e-05, -3.132642359667579e-05, 1.9211213956973964e-05,
        -1.0002932540558292e-05, 4.824725107867429e-06, -4.901501456933751e-06, 4.714472821931913e-06,
        -1.7554723857825867e-06,
    ),
    4: (
        0.4720955, -0.13667281, 0.056145746, -0.026589796, 0.013582575, -0.007208522, 0.003836686, -0.0023081305,
        0.0017105618, -0.0007769792,
    ),
}
# digamma(1 + u) / (u - DIGAMMA_ZERO) in u - CENTRE: relative error 9.8e-17 and 2.4e-8
DIGAMMA_UNIT: dict[int, tuple[float, ...]] = {
    8: (
        0.9193607407744745, -0.3885897194543896, 0.2089646386817981, -0.1221441136969165, 0.07412462951787396,
        -0.045845499168147605, 0.028647378210301604, -0.018004358440385154, 0.01135314122876563,
        -0.007173035483886511, 0.004537197923035469, -0.002871984589993979, 0.0018192911733021203,
        -0.0011524821780339572, 0.000726843539234204, -0.00045922922533955996, 0.00030238457758641847,
        -0.00019789889187796176, 0.00010055533088584756, -4.66012988639662e-05, 6.016863491251342e-05,
        -6.284728500059766e-05, 2.346244612915964e-05,
    ),
    4: (
        0.91936076, -0.38858992, 0.20896256, -0.12213254, 0.07416933, -0.046032917, 0.02833528, -0.016777793,
        0.012028591, -0.010564913, 0.0049756854,
    ),
}
DIGAMMA_ZERO = {8: (0.46163214496836236, -1.5522348162858677e-17), 4: (0.46163213, 1.243815e-08)}  # in two parts

# Far from there, in 1 / x**2 on x >= FOLD, with the absolute error of the function:
# x (lgamma(x) - (x - 1/2) log x + x - log(2 pi) / 2): 2.4e-17 and 3.3e-09
LGAMMA_FAR: dict[int, tuple[float, ...]] = {
    8: (
        0.08333333333333194, -0.002777777776772064, 0.0007936505845660782, -0.000595218099209864,
        0.0008406828799133369, -0.0018821875455940888, 0.005636304724083199, -0.017697552153475033,
        0.04321684545315561, -0.0544874929366406,
    ),
    4: (
        0.08333327, -0.0027727997, 0.0006971423,
    ),
}
# x**2 (log x - 1 / (2 x) - digamma(x)): 8.2e-18 and 3.9e-09
DIGAMMA_FAR: dict[int, tuple[float, ...]] = {
    8: (
        0.08333333333332069, -0.008333333326153358, 0.003968252568359015, -0.004166529958806782, 0.007567882622824311,
        -0.02079951417931141, 0.07582767333377595, -0.30431997331194827, 1.0762599591809947, -2.6543469880971524,
        3.205528564022931,
    ),
    4: (
        0.083332606, -0.008291621, 0.0032644519,
    ),
}

# Series in v = 1 / w**2 on w >= SHIFT, with the error relative to the function, or to 1 where it is less:
# w (lgamma(w) - (w - 1/2) log w + w - log(2 pi) / 2): 6.3e-19 and 1.2e-9
LGAMMA: dict[int, tuple[float, ...]] = {
    8: (
        0.08333333333333152, -0.0027777777769716046, 0.0007936506606851267, -0.0005952266579304176,
        0.0008411558173319656, -0.001897182742032188, 0.005927267317162673, -0.021213186398391416,
        0.0690322616706424, -0.1599534831427887, 0.1838883921891501,
    ),
    4: (0.083333224, -0.002773867, 0.0007445677, -0.00031380466),
}
# w**2 (log w - 1 / (2 w) - digamma(w)): 6.8e-19 and 4.8e-9
DIGAMMA: dict[int, tuple[float, ...]] = {
    8: (
        0.08333333333332942, -0.008333333331100303, 0.003968253505286466, -0.00416661699595358, 0.007572540093158425,
        -0.02095543985286085, 0.07923645815059208, -0.3537701597688289, 1.5483423713717648, -5.504836085950841,
        13.073473159208861, -14.92321265576858,
    ),
    4: (0.08333239, -0.008300071, 0.003561012, -0.0018278996),
}
# w**3 (trigamma(w) - 1 / w - 1 / (2 w**2)): 3.2e-18 and 3.2e-9
TRIGAMMA: dict[int, tuple[float, ...]] = {
    8: (
        0.16666666666665889, -0.0333333333273335, 0.023809522189159615, -0.03333311142922814, 0.07573942559207626,
        -0.2521398543940835, 1.1302031402668868, -6.0914320466806275, 33.859627205086525, -165.45670134093203,
        613.957793642934, -1468.2872055025139, 1658.196227974628,
    ),
    4: (0.16666599, -0.033289105, 0.022849206, -0.0234069, 0.017023586),
}
# w**4 (tetragamma(w) + 1 / w**2 + 1 / w**3): 1.2e-17 and 3.9e-9
TETRAGAMMA: dict[int, tuple[float, ...]] = {
    8: (
        -0.49999999999996764, 0.1666666666375398, -0.16666665749345705, 0.29999853312329855, -0.8331928049337516,
        3.281605166585434, -17.106806392134867, 107.71594742600993, -720.2423262855782, 4449.136031235208,
        -22451.43203269295, 82619.36021000506, -192070.27476252735, 208983.5550238581,
    ),
    4: (-0.4999988, 0.16655634, -0.16321795, 0.24728963, -0.35956815, 0.2873642),
}


class Shifted(NamedTuple):
    """``w`` = x or x + SHIFT, at least SHIFT, and what the functions of ``x`` share; one division gives it all.

    Where there is a shift, ``first`` is x times 2**(LIFT shift) and ``others`` is (x + 1) ... (x + SHIFT - 1); else
    both are 1.  ``r`` is 1 / w.
    """

    x: Node
    w: Node
    below: Node
    shift: Node
    first: Node
    others: Node
    reciprocal: Node
    r: Node

    @property
    def v(self) -> Node:
        return self.r * self.r

    @property
    def product(self) -> Node:
        return self.first * self.others

    @property
    def inverse(self) -> Node:
        """The reciprocal of ``product``, exactly 1 where that is."""
        return where(self.below, self.reciprocal * self.w, 1.0)

    @property
    def lift(self) -> Node:
        """The binary logarithm of the factor in ``product``."""
        return self.shift * LIFT[width(self.x)]

    def sum_of_powers(self, power: int) -> Node:
        """The sum of (x + i)**-power over the steps of the shift: no sign changes, so nothing cancels."""
        steps = SHIFT[width(self.x)]
        first = 1.0 / where(self.below, self.x, 1.0)
        others = self.reciprocal * (self.first * self.w)
        total = _power(first, power) + polynomial(self.x, _numerator(steps, power)) * _power(others, power)
        return where(self.below, total, 0.0)


def _power(x: Node, power: int) -> Node:
    return x if power == 1 else x * _power(x, power - 1)


def _numerator(steps: int, power: int) -> tuple[float, ...]:
    """The coefficients of the sum over i of the product over j != i of (x + j)**power, for 0 < i, j < steps."""
    total = [0] * ((steps - 2) * power + 1)
    for left_out in range(1, steps):
        term = [1]
        for j in range(1, steps):
            for _ in range(0 if j == left_out else power):
                term = [j * a + b for a, b in zip([*term, 0], [0, *term], strict=True)]
        total = [a + b for a, b in zip(total, term, strict=True)]
    return tuple(float(a) for a in total)


def shifted(x: Node, below: Node | None = None) -> Shifted:
    """``x`` moved to where the series hold, or where it is ``below``."""
    steps, lift = SHIFT[width(x)], LIFT[width(x)]
    below = x < steps if below is None else below
    shift = where(below, const(steps, x.dtype), const(0, x.dtype))
    others = x + 1.0
    for step in range(2, steps):
        others = others * (x + step)
    first, others = where(below, x * 2.0 ** (steps * lift), 1.0), where(below, others, 1.0)
    w = x + shift
    reciprocal = 1.0 / (first * (others * w))
    return Shifted(x, w, below, shift, first, others, reciprocal, reciprocal * (first * others))


def edged(y: Node, x: Node, at_zero: float) -> Node:
    """``y`` on x > 0, its limit at 0, nan below."""
    return where(x > 0, y, where(eq(x, 0), const(at_zero, x.dtype), const(NAN, x.dtype)))


class Folded(NamedTuple):
    """``z`` = x + 1, x or x - 1, between 1 and 9/4 where x is ``below`` FOLD, and ``u`` = z - 1 without rounding.

    ``step`` is x - z, and ``v`` the argument of its logarithm; from FOLD on ``v`` is x.
    """

    x: Node
    below: Node
    u: Node

    @property
    def z(self) -> Node:
        return self.u + 1.0

    @property
    def step(self) -> Node:
        return (self.x - self.u) - 1.0

    @property
    def v(self) -> Node:
        return where(self.x < 1, self.x, where(self.below, self.z, self.x))

    def log(self, of_e: bool = False) -> Node:
        """log(v), or log(v / e) from FOLD on: the 1 is taken from the part that is exact."""
        lift = format_of(self.x).fraction + 2.0
        v = where(self.x < 1, self.x * 2.0**lift, where(self.below, self.z, self.x))
        taken = binary(v, where(self.x < 1, const(lift, self.x.dtype), const(0, self.x.dtype)))
        high, low = format_of(self.x).ln2
        whole = taken.k * high
        if of_e:
            whole = whole - where(self.below, const(0, self.x.dtype), const(1, self.x.dtype))
        return whole + (taken.k * low + log_fraction(taken.f))

    @property
    def r(self) -> Node:
        return 1.0 / self.v


def folded(x: Node) -> Folded:
    """``x`` below FOLD moved to where the polynomials hold."""
    return Folded(x, x < FOLD, where(x < 1, x, where(x > 2.25, x - 2.0, x - 1.0)))


def _lgamma(x: Node) -> Node:
    f = folded(x)
    near = (f.u * (f.u - 1.0)) * polynomial(f.u - CENTRE, LGAMMA_UNIT[width(x)])
    r = f.r
    far = CONSTANT + r * polynomial(r * r, LGAMMA_FAR[width(x)])
    return edged(where(f.below, f.step, x - 0.5) * f.log(of_e=True) + where(f.below, near, far), x, INFINITY)


def _digamma(x: Node) -> Node:
    f = folded(x)
    zero, rest = DIGAMMA_ZERO[width(x)]
    r = f.r
    near = ((f.u - zero) - rest) * polynomial(f.u - CENTRE, DIGAMMA_UNIT[width(x)]) + f.step * r
    square = r * r
    far = f.log() - (0.5 * r + square * polynomial(square, DIGAMMA_FAR[width(x)]))
    return edged(where(x < INFINITY, where(f.below, near, far), x), x, -INFINITY)


def _trigamma(x: Node) -> Node:
    s = shifted(x)
    y = s.r + s.v * (0.5 + s.r * polynomial(s.v, TRIGAMMA[width(x)]))
    return edged(y + s.sum_of_powers(2), x, INFINITY)


def _trigamma_excess(x: Node) -> Node:
    """A step of the shift takes 1 / y**2 from trigamma(y) and 1 / (y (y + 1)) from 1 / y."""
    s = shifted(x)
    y = s.v * (0.5 + s.r * polynomial(s.v, TRIGAMMA[width(x)]))
    steps = [1.0 / (x + i) / (x + i) / (x + (i + 1.0)) for i in range(SHIFT[width(x)])]
    return edged(y + where(s.below, sum(steps[1:], steps[0]), 0.0), x, INFINITY)


def _tetragamma(x: Node) -> Node:
    s = shifted(x)
    y = s.v * polynomial(s.v, TETRAGAMMA[width(x)]) * s.v - s.v * (1.0 + s.r)
    return edged(y - 2.0 * s.sum_of_powers(3), x, -INFINITY)


def polygamma(n: int, x: Node) -> Node:
    """The derivative of digamma of order n: (-1)**(n + 1) n! zeta(n + 1, x), DLMF 25.11.12."""
    known = (digamma, trigamma, tetragamma)
    if n < len(known):
        return known[n](x)
    return (-1.0) ** (n + 1) * math.factorial(n) * zeta(const(n + 1, x.dtype), x)


POSITIVE = (0.05, 60.0)

lgamma: Primitive = primitive(
    "lgamma", expand=_lgamma, partials=lambda x, out: (digamma(x),),
    floating=True, ufuncs=("gammaln",), domain=(POSITIVE,), oracle="scipy.special.gammaln",
)
digamma: Primitive = primitive(
    "digamma", expand=_digamma, partials=lambda x, out: (trigamma(x),),
    floating=True, ufuncs=("psi", "digamma"), domain=(POSITIVE,), oracle="scipy.special.psi",
)
trigamma: Primitive = primitive(
    "trigamma", expand=_trigamma, partials=lambda x, out: (tetragamma(x),), floating=True, domain=(POSITIVE,),
)
trigamma_excess: Primitive = primitive(  # trigamma(x) - 1 / x
    "trigamma_excess", expand=_trigamma_excess, partials=lambda x, out: (tetragamma(x) + 1.0 / square(x),),
    floating=True, domain=(POSITIVE,),
)
tetragamma: Primitive = primitive(
    "tetragamma", expand=_tetragamma, partials=lambda x, out: (polygamma(3, x),), floating=True, domain=(POSITIVE,),
)
