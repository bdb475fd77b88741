"""Floats taken apart: polynomials, clamps, signs, and the cores of exp and log that other functions share.

Everything here is straight-line code in the dtype of its argument.  Tables of coefficients have one row per width in
bytes; each is a minimax fit by the Remez exchange to 300 bits, its leading coefficients rounded one by one.
Adding and taking away ``magic`` rounds to an integer and leaves that integer in the low bits (Cody and Waite 1980).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from vecdist.graph.node import Node, Operand, cast, const, where
from vecdist.primitives.arithmetic import bits, from_bits

INFINITY, NAN = math.inf, math.nan
LONG = 10  # coefficients from which two chains of half the length pay for one product more


@final
@dataclass(frozen=True)
class Format:
    """A binary format of IEEE 754-2019, table 3.5, and what depends on it alone."""

    fraction: int  # bits of the fraction
    bias: int
    root_half: int  # the bits of sqrt(1/2)
    ln2: tuple[float, float]  # the first part leaves room for the bits of an exponent
    head: int  # bits to clear, so that the product of two heads is exact

    @property
    def magic(self) -> float:
        return 1.5 * 2.0**self.fraction

    @property
    def one(self) -> int:
        return self.bias << self.fraction

    @property
    def fraction_mask(self) -> int:
        return (1 << self.fraction) - 1

    @property
    def smallest_normal(self) -> float:
        return 2.0 ** (1 - self.bias)


FORMATS = {
    8: Format(52, 1023, 0x3FE6A09E667F3BCD, (0.6931471805598903, 5.497923018708371e-14), 27),
    4: Format(23, 127, 0x3F3504F3, (0.693145751953125, 1.428606765330187e-06), 12),
}
LOG2_E = 1.4426950408889634

# (exp(r) - 1 - r) / r**2 on |r| <= 0.501 log 2: relative error of expm1 1.9e-17 and 1.4e-8
EXP: dict[int, tuple[float, ...]] = {
    8: (
        0.5000000000000006, 0.16666666666666632, 0.0416666666665752, 0.008333333333368843, 0.0013888888931861073,
        0.00019841269754650008, 2.48015049695292e-05, 2.7557381083971317e-06, 2.762616226227438e-07,
        2.5060992791668272e-08,
    ),
    4: (0.49999997, 0.16666545, 0.041667465, 0.008366424, 0.0013868326),
}
# (log(1 + f) - f) / f**2 on sqrt(1/2) <= 1 + f <= sqrt(2): relative error of the logarithm 5.2e-17 and 3.2e-8
LOG: dict[int, tuple[float, ...]] = {
    8: (
        -0.5, 0.33333333333328524, -0.25000000000006295, 0.20000000001652302, -0.1666666666673436, 0.14285714094167687,
        -0.12499999814644483, 0.11111121741488153, -0.10000018337175177, 0.09090589392481026, -0.0833255508027252,
        0.07697634689220494, -0.07160165339755582, 0.06622106227654306, -0.06042069540535888, 0.059722176253023285,
        -0.06783423870437773, 0.06324884243460607, -0.028325053078952615,
    ),
    4: (-0.5, 0.3333391, -0.25001335, 0.19963102, -0.16577649, 0.14914481, -0.14266953, 0.08700523),
}

# the same on -0.345 <= f <= 0.415: relative error of itself 2.8e-17 and 2.6e-8, by least squares at Chebyshev nodes
LOG_EXCESS: dict[int, tuple[float, ...]] = {
    8: (
        -0.5, 0.33333333333333276, -0.2500000000000057, 0.20000000000032933, -0.16666666666499516, 0.14285714280103115,
        -0.12500000015710055, 0.11111111551464758, -0.09999999373516956, 0.09090890066753687, -0.08333342286877106,
        0.07692800421697686, -0.07142977358517545, 0.0665874298286523, -0.06243522018762909, 0.05961014498401293,
        -0.05659252893750931, 0.04809989149038632, -0.0416912453173076, 0.05988398947394362, -0.07809548126310457,
        0.04292324956430724,
    ),
    4: (
        -0.5, 0.3333331, -0.24999845, 0.20002402, -0.1667883, 0.14221022, -0.12201255, 0.116692476, -0.12842289,
        0.08671076,
    ),
}


def width(x: Node) -> int:
    """The bytes of a float: the row of a table that is meant for it."""
    return x.dtype.itemsize


def format_of(x: Node) -> Format:
    return FORMATS[width(x)]


def polynomial(x: Node, coefficients: tuple[float, ...]) -> Node:
    """``c0 + c1 x + c2 x**2 + ...`` by Horner's rule; even and odd powers apart where the chain would be long."""
    if len(coefficients) < LONG:
        return _horner(x, coefficients)
    square = x * x
    return _horner(square, coefficients[::2]) + x * _horner(square, coefficients[1::2])


def divided_difference(x: Node, y: Node, coefficients: tuple[float, ...]) -> tuple[Node, Node]:
    """p(y), and (p(y) - p(x)) / (y - x) without the differences."""
    value: Operand = coefficients[-1]
    quotient: Operand = 0.0
    for coefficient in coefficients[-2::-1]:
        quotient = x * quotient + value
        value = y * value + coefficient
    return value, quotient  # type: ignore[return-value]


def _with_linear_term(x: Node, coefficients: tuple[float, ...]) -> Node:
    """``x + c0 x**2 + c1 x**3 + ...``: a long polynomial has the square already.

    A short one is spared it: squares of float32 numbers are often subnormal, and processors slow at that.
    """
    rest = polynomial(x, coefficients)
    return x + (x * (x * rest) if len(coefficients) < LONG else x * x * rest)


def _horner(x: Node, coefficients: tuple[float, ...]) -> Node:
    total: Operand = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        total = x * total + coefficient
    return total  # type: ignore[return-value]


def largest_count(dtype: np.dtype) -> float:
    """A whole number beyond which no light count is: its product with the logarithm of any number is finite."""
    return float(np.finfo(dtype).max) / 1024


def at_most(x: Node, limit: Operand) -> Node:
    """The smaller of the two; nan stays nan."""
    return where(x > limit, limit, x)


def at_least(x: Node, limit: Operand) -> Node:
    """The larger of the two; nan stays nan."""
    return where(x < limit, limit, x)


def magnitude(x: Node) -> Node:
    """``abs(x)``, one node for ``x`` and ``-x``."""
    return abs(x.args[0] if x.op == "neg" else x)


def with_sign(y: Node, x: Node) -> Node:
    """``y``, which is not negative, with the sign bit of ``x``."""
    return from_bits(bits(y) | (bits(x) & (-1 << (8 * width(x) - 1))))


def head(x: Node) -> Node:
    """``x`` cut to half of its digits: cleared bits hold whether or not products and sums are fused."""
    return from_bits(bits(x) & (-1 << format_of(x).head))


class Reduced(NamedTuple):
    """``exp(x) = 2**k (1 + p)``; the low bits of ``rounded`` hold ``k`` plus the offset that was asked for."""

    p: Node
    k: Node
    rounded: Node

    def power(self) -> Node:
        """2 to the exponent that the offset stands for, which must be in range."""
        return from_bits(bits(self.rounded) << format_of(self.p).fraction)


def reduced_exp(x: Node, offset: int, rest: Node | None = None) -> Reduced:
    """``exp(x + rest)`` reduced by multiples of log 2 (Cody and Waite 1980, chapter 6)."""
    form = format_of(x)
    rounded = x * LOG2_E + (form.magic + offset)
    k = rounded - (form.magic + offset)
    r = (x - k * form.ln2[0]) - k * form.ln2[1]
    if rest is not None:
        r = r + rest
    return Reduced(exp_fraction(r), k, rounded)


def exp_fraction(r: Node) -> Node:
    """``exp(r) - 1`` for a reduced argument."""
    return _with_linear_term(r, EXP[width(r)])


def scaled(y: Node, reduced: Reduced) -> Node:
    """``2**k y`` for an offset of twice the bias, in two steps: ``2**k`` may leave the range before it does."""
    form = format_of(y)
    half = reduced.k * 0.5 + (form.magic + form.bias)
    rest = bits(reduced.rounded) - bits(half)
    return y * from_bits(bits(half) << form.fraction) * from_bits(rest << form.fraction)


class Binary(NamedTuple):
    """``x = 2**k (1 + f)`` with ``1 + f`` between sqrt(1/2) and sqrt(2); ``shifted`` holds the bits of ``k``."""

    k: Node
    f: Node
    shifted: Node


def binary(x: Node, lift: Operand = 0) -> Binary:
    """A positive normal float taken apart; ``lift`` is taken from its exponent."""
    form = format_of(x)
    whole = bits(x) + (form.one - form.root_half)
    f = from_bits((whole & form.fraction_mask) + form.root_half) - 1.0
    if width(x) == 4:  # converting 32-bit integers is one instruction on every target; 64-bit ones it is not
        k = cast((bits(x) - form.root_half) >> form.fraction, x.dtype)
        return Binary(k - lift if isinstance(lift, Node) or lift else k, f, whole)
    unit = 2.0**form.fraction
    exponent = (whole >> form.fraction) & 0x7FF
    k = from_bits(exponent | ((form.fraction + form.bias) << form.fraction)) - (unit + form.bias + lift)
    return Binary(k, f, whole)


def log_fraction(f: Node) -> Node:
    """``log(1 + f)`` for ``1 + f`` between sqrt(1/2) and sqrt(2)."""
    return _with_linear_term(f, LOG[width(f)])


def joined(k: Node, y: Node) -> Node:
    """``k log 2 + y``."""
    high, low = format_of(k).ln2
    return k * high + (k * low + y)


def log_normal(x: Node, lift: Operand = 0) -> Node:
    """``log(x) - lift log 2`` for positive normal ``x``; anything finite elsewhere."""
    taken = binary(x, lift)
    return joined(taken.k, log_fraction(taken.f))


def log_ratio_e(x: Node) -> Node:
    """``log(x / e)`` for positive normal ``x``: the 1 is taken from the part that is exact."""
    taken = binary(x)
    high, low = format_of(x).ln2
    return (taken.k * high - 1.0) + (taken.k * low + log_fraction(taken.f))


def lifted(x: Node) -> tuple[Node, Node]:
    """``x`` as a normal float, and the exponent by which it was lifted to be one."""
    form = format_of(x)
    tiny = x < form.smallest_normal
    lift = float(form.fraction + 2)
    return where(tiny, x * 2.0**lift, x), where(tiny, const(lift, x.dtype), const(0, x.dtype))
