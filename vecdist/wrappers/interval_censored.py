"""Observations of which an interval is known, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vecdist.constraints import Constraint, real
from vecdist.distributions.base import Distribution, Parameters
from vecdist.graph.node import Node, where
from vecdist.lazy.array import Operand
from vecdist.primitives.arithmetic import eq
from vecdist.wrappers.bounds import Bounded, given_bounds
from vecdist.wrappers.derived import derive


class IntervalCensored(Bounded):
    """What ``interval_censored`` gives."""

    name = "interval_censored"

    @classmethod
    def constraints(cls) -> Mapping[str, Constraint]:
        """Bounds with a number between them, which may be one and the same whole number."""
        allowed = dict(super().constraints())
        if cls.discrete and "lower" in cls.own:
            allowed["upper"] = Constraint("a number above lower", lower=lambda p: cls.first(p.lower))
        return allowed

    @classmethod
    def quantities(cls, p: Parameters) -> Mapping[str, Node]:
        return {"log_mass": cls.base.log_mass(*cls.bounds(p), p)}

    @classmethod
    def support(cls, p: Parameters) -> Constraint:
        """The interval, whatever the family has in it."""
        inside, (lower, upper) = real, cls.bounds(p)
        inside = inside if lower is None else replace(inside, lower=lower)
        return inside if upper is None else replace(inside, upper=upper)

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        return where(eq(x, x), p.log_mass, x)


def interval_censored(
    distribution: Distribution, lower: Operand | None = None, upper: Operand | None = None
) -> Distribution:
    """What is seen of a distribution where an interval is all that is known: log P(lower <= X <= upper).

    That is its ``logpdf`` at any ``x`` of the interval, at either bound, say; elsewhere it is -inf.  A bound that is
    ``None``, or infinite, is none.  There are no other verbs: as a function of ``x`` it is no density.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> lower, upper = np.array([0.0, 1.0]), np.array([1.0, np.inf])
    >>> np.asarray(vecdist.logpdf(vecdist.interval_censored(Exponential(1.0), lower, upper), lower)).round(4)
    array([-0.4587, -1.    ])
    """
    return derive(IntervalCensored, distribution, given_bounds(lower, upper))
