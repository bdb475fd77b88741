"""Kernels of density estimation, (1 - z²) to a whole power: (1 + z) / 2 has a symmetric beta distribution."""

import math
from typing import ClassVar

from vecdist.constraints import Constraint, finite, interval, positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.ends import log1m_square
from vecdist.distributions.stream import Stream
from vecdist.expr import Node, const
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import clamped, log
from vecdist.primitives.floating import polynomial
from vecdist.primitives.incomplete_beta import betaincinv


class SmoothingKernel:
    """What the families with the density (1 - z²)^power / (c scale) share: all of it follows from the ``power``."""

    power: ClassVar[int]
    symmetric = True

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale}

    parametrisations = (by_scale,)

    @classmethod
    def constant(cls) -> float:
        """c, the integral of (1 - z²)^power, DLMF 5.12.1."""
        return math.factorial(cls.power) ** 2 * 2.0 ** (2 * cls.power + 1) / math.factorial(2 * cls.power + 1)

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.loc - p.scale, p.loc + p.scale)

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        return cls.power * log1m_square(x, p.loc, p.scale) - (math.log(cls.constant()) + log(p.scale))

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        """A sum of positive terms, DLMF 8.17.5."""
        z = clamped((x - p.loc) / p.scale, (-1.0, 1.0))
        below, beyond = 0.5 * (1.0 + z), 0.5 * (1.0 - z)
        terms = tuple(float(math.comb(cls.power + j, j)) for j in range(cls.power + 1))
        return math.prod([below] * cls.power, start=below) * polynomial(beyond, terms)

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        shape = const(cls.power + 1.0, q.dtype)
        return p.loc + p.scale * (2.0 * betaincinv(shape, shape, q) - 1.0)

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        return p.loc + p.scale * random.coordinate(float(cls.power))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @classmethod
    def variance(cls, p: Parameters) -> Node:
        return square(p.scale) / (2.0 * cls.power + 3.0)

    @classmethod
    def entropy(cls, p: Parameters) -> Node:
        """The mean of log(1 - z²) is 2 log(2) - 2 (digamma(2 power + 2) - digamma(power + 1)), DLMF 5.5.2."""
        gap = sum(1.0 / j for j in range(cls.power + 1, 2 * cls.power + 2))
        return log(p.scale) + (math.log(cls.constant()) + 2.0 * cls.power * (gap - math.log(2.0)))
