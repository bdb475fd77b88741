"""Distributions moved and stretched."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from vecdist.constraints import Bound, Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.lazy.array import Operand
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import log
from vecdist.wrappers.derived import Wrapper, derive


class Affine(Wrapper):
    """What ``affine`` gives."""

    name = "affine"
    discrete: bool

    @classmethod
    def constraints(cls) -> Mapping[str, Constraint]:
        return {"loc": finite, "scale": positive}

    @classmethod
    def support(cls, p: Parameters) -> Constraint:
        inner = cls.base.support(p)
        lower, upper = cls._moved(inner.lower, p), cls._moved(inner.upper, p)
        return replace(inner, lower=lower, upper=upper, whole=False)

    @classmethod
    def _moved(cls, bound: Bound, p: Parameters) -> Bound:
        """A bound as an infinite number that it stays, or as a node."""
        if isinstance(bound, Node):
            return where(eq(abs(bound), math.inf), bound, p.loc + p.scale * bound)
        return bound if math.isinf(bound) else p.loc + p.scale * bound

    @classmethod
    def _back(cls, x: Node, p: Parameters) -> Node:
        """The place in the family that ``x`` comes from; infinity has no part in the derivatives of the parameters."""
        return where(eq(abs(x), math.inf), x, (x - p.loc) / p.scale)

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        value = cls.base.log_density((x - p.loc) / p.scale, p)
        return value if cls.discrete else value - log(p.scale)

    @classmethod
    def log_interval(cls, below: Node, upper: Node, p: Parameters) -> Node:
        return cls.base.log_interval(cls._back(below, p), cls._back(upper, p), p)

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return cls.base.cdf(cls._back(x, p), p)

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return cls.base.sf(cls._back(x, p), p)

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        return cls.base.log_cdf(cls._back(x, p), p)

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return cls.base.log_sf(cls._back(x, p), p)

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        return p.loc + p.scale * cls.base.draw(random, p)

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * cls.base.quantile(q, p)

    @classmethod
    def quantile_of_log(cls, y: Node, p: Parameters) -> Node:
        return p.loc + p.scale * cls.base.quantile_of_log(y, p)

    @classmethod
    def upper_quantile_of_log(cls, y: Node, p: Parameters) -> Node | None:
        x = cls.base.upper_quantile_of_log(y, p)
        return None if x is None else p.loc + p.scale * x

    @classmethod
    def mean(cls, p: Parameters) -> Node:
        return p.loc + p.scale * cls.base.mean(p)

    @classmethod
    def variance(cls, p: Parameters) -> Node:
        return square(p.scale) * cls.base.variance(p)

    @classmethod
    def entropy(cls, p: Parameters) -> Node:
        inner = cls.base.formula("entropy", p)
        return p.zero + inner if cls.discrete else log(p.scale) + inner

    @classmethod
    def mode(cls, p: Parameters) -> Node:
        return p.loc + p.scale * cls.base.formula("mode", p)

    @classmethod
    def median(cls, p: Parameters) -> Node:
        return p.loc + p.scale * cls.base.formula("median", p)


def affine(distribution: Distribution, loc: Operand = 0.0, scale: Operand = 1.0) -> Distribution:
    """The distribution of loc + scale X, with scale > 0; ``transformed(..., "negative")`` turns it round.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import StudentT
    >>> moved = vecdist.affine(StudentT(1.0, 0.0, 1.0), loc=3.0, scale=2.0)
    >>> np.asarray(vecdist.cdf(moved, np.array([1.0, 3.0]))).round(4)
    array([0.25, 0.5 ])
    """
    return derive(Affine, distribution, {"loc": loc, "scale": scale})
