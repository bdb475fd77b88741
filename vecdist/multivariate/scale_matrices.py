"""Families of positive definite matrices by a scale matrix, and of the Cholesky factors of such matrices."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from vecdist.distributions.base import Parameters, Parametrisation, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.domains import definite, degrees, triangular
from vecdist.multivariate.lower import Lower, not_definite, not_positive, of_definite, of_lower
from vecdist.multivariate.wishart_formulas import log_multigamma


class ByScaleMatrix(ABC):
    """A family with ``df`` degrees of freedom, whose density at X = L L' and whose draws are written by L."""

    event = "kk"

    @parametrisation(df=degrees, scale_matrix=definite)
    @staticmethod
    def by_matrix(df: Node, scale_matrix: Node) -> dict[str, object]:
        return {"df": df, "factor": of_definite(scale_matrix)}

    @parametrisation(df=degrees, scale_tril=triangular)
    @staticmethod
    def by_factor(df: Node, scale_tril: Node) -> dict[str, object]:
        return {"df": df, "factor": of_lower(scale_tril)}

    parametrisations: tuple[Parametrisation, ...] = (by_matrix, by_factor)

    @classmethod
    @abstractmethod
    def log_density_at(cls, factor: Lower, p: Parameters) -> Node:
        """The log density at L L'."""

    @classmethod
    @abstractmethod
    def drawn_factor(cls, random: Stream, p: Parameters) -> Lower:
        """A factor L of a random matrix."""


def log_constant(df: Node, size: int) -> Node:
    """log(2^(df K / 2) Γ_K(df / 2)) for K rows."""
    return log_multigamma(0.5 * df, size) + 0.5 * size * math.log(2.0) * df


class OfMatrices(ByScaleMatrix):
    """Its events are the matrices, of which (X + X') / 2 is read."""

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return not_definite(x)

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        return cls.drawn_factor(random, p).squared()

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        return cls.log_density_at(of_definite(x), p)


class OfFactors(ByScaleMatrix):
    """Its events are the Cholesky factors, whose upper triangle is not read."""

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return not_positive(x)

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        return cls.drawn_factor(random, p).matrix()

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        factor = of_lower(x)
        return cls.log_density_at(factor, p) + factor.log_volume_of_factoring()
