"""Symmetric families from loc - scale to loc + scale: both tails follow from what is left to the nearer end."""

from __future__ import annotations

from abc import ABC, abstractmethod

from vecdist.constraints import Constraint, finite, interval, positive
from vecdist.distributions.base import Parameters, Parametrisation, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.elementary import log1p
from vecdist.special.ends import left_to_end


class Compact(ABC):
    """What they share: a family states ``tail(left)`` and its logarithm, beyond z with ``left`` = 1 - |z|."""

    symmetric = True

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale}

    parametrisations: tuple[Parametrisation, ...] = (by_scale,)

    @classmethod
    @abstractmethod
    def tail(cls, left: Node) -> Node:
        """The probability beyond z, on either side."""

    @classmethod
    @abstractmethod
    def log_tail(cls, left: Node) -> Node:
        """The logarithm of that."""

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.loc - p.scale, p.loc + p.scale)

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        tail = cls.tail(left_to_end(x, p.loc, p.scale))
        return where(x < p.loc, tail, 1.0 - tail)

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        left = left_to_end(x, p.loc, p.scale)
        return where(x < p.loc, cls.log_tail(left), log1p(-cls.tail(left)))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc
