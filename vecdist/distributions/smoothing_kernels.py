"""Kernels of density estimation, (1 - z²) to a whole power: (1 + z) / 2 has a symmetric beta distribution."""

import math
from functools import partial
from typing import ClassVar

from vecdist.distributions.base import Parameters
from vecdist.distributions.compact import Compact
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import polynomial
from vecdist.primitives.table import primitive
from vecdist.special.ends import log1m_square
from vecdist.special.odds import symmetric_quantile


def height(power: int) -> float:
    """1 over the integral of (1 - z²)^power, DLMF 5.12.1: a float has all of its digits."""
    return math.factorial(2 * power + 1) / (math.factorial(power) ** 2 * 2.0 ** (2 * power + 1))


def _terms(left: Node, power: int) -> Node:
    """The tail over a power of what is left: a sum of positive terms, DLMF 8.17.5."""
    order = power + 1
    return polynomial(1.0 - 0.5 * left, tuple(math.comb(power + j, j) / 2.0**order for j in range(order)))


def _from_middle(z: Node, power: int) -> Node:
    """The integral of the density from 0 to z."""
    within = tuple((-1) ** j * math.comb(power, j) / (2 * j + 1) * height(power) for j in range(power + 1))
    return z * polynomial(square(z), within)


def _tail(left: Node, power: int) -> Node:
    """In the middle 1/2 less an integral from 0."""
    middle = 0.5 - _from_middle(1.0 - left, power)
    return where(left < 0.5, math.prod([left] * power, start=left) * _terms(left, power), middle)


def _density(left: Node, power: int) -> Node:
    inner = where(left < 0.5, left * (2.0 - left), 1.0 - square(1.0 - left))
    return math.prod([inner] * (power - 1), start=inner) * height(power)


TAILS = {
    power: primitive(
        f"kernel_tail_{power}", expand=partial(_tail, power=power), floating=True, domain=((0.1, 0.9),),
        partials=lambda left, out, power=power: (_density(left, power),),
    )
    for power in (1, 2, 3)
}  # fmt: skip


class SmoothingKernel(Compact):
    """What the families with the density (1 - z²)^power / (c scale) share: all of it follows from the ``power``."""

    power: ClassVar[int]

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        return cls.power * log1m_square(x, p.loc, p.scale) - (log(p.scale) - math.log(height(cls.power)))

    @classmethod
    def tail(cls, left: Node) -> Node:
        return TAILS[cls.power](left)

    @classmethod
    def log_tail(cls, left: Node) -> Node:
        return (cls.power + 1.0) * log(left) + log(_terms(left, cls.power))

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        """In the middle with a step of Newton's method, for all digits of the distance from there."""
        z, half = symmetric_quantile(q, cls.power + 1.0), q - 0.5
        middle = abs(half) < 0.4
        near = where(middle, z, 0.0)
        step = (_from_middle(near, cls.power) - where(middle, half, 0.0)) / _density(1.0 - abs(near), cls.power)
        return p.loc + p.scale * (z - step)

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        return p.loc + p.scale * random.coordinate(float(cls.power))

    @classmethod
    def variance(cls, p: Parameters) -> Node:
        return square(p.scale) / (2.0 * cls.power + 3.0)

    @classmethod
    def entropy(cls, p: Parameters) -> Node:
        """The mean of log(1 - z²) is 2 log(2) - 2 (digamma(2 power + 2) - digamma(power + 1)), DLMF 5.5.2."""
        gap = sum(1.0 / j for j in range(cls.power + 1, 2 * cls.power + 2))
        return log(p.scale) + (2.0 * cls.power * (gap - math.log(2.0)) - math.log(height(cls.power)))
