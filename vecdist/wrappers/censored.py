"""Distributions of what is seen between bounds alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from vecdist.constraints import Constraint
from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.lazy.array import Operand
from vecdist.primitives.arithmetic import eq, maximum, minimum, square
from vecdist.wrappers.bounds import Bounded, given_bounds
from vecdist.wrappers.derived import derive
from vecdist.wrappers.parts_of_moments import part, weighed


class Censored(Bounded):
    """What ``censored`` gives."""

    name = "censored"
    adds_mass = True

    @classmethod
    def support(cls, p: Parameters) -> Constraint:
        inner, (lower, upper) = cls.base.support(p), cls.bounds(p)
        if lower is not None:
            inner = replace(inner, lower=lower, open_lower=False, whole=False)
        return inner if upper is None else replace(inner, upper=upper, open_upper=False, whole=False)

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        """At a bound, the logarithm of the probability of all that lies there or beyond."""
        value = cls.base.log_density(x, p)
        lower, upper = cls.bounds(p)
        if lower is not None:
            value = where(eq(x, lower), cls.base.log_cdf(lower, p), value)
        if upper is not None:
            value = where(eq(x, upper), cls.base.log_sf(cls.base.before(upper), p), value)
        return value

    @classmethod
    def _with_upper(cls, x: Node, inside: Node, beyond: float, p: Parameters) -> Node:
        return where(x >= p.upper, beyond, inside) if "upper" in cls.own else inside

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return cls._with_upper(x, cls.base.cdf(x, p), 1.0, p)

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return cls._with_upper(x, cls.base.sf(x, p), 0.0, p)

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        return cls._with_upper(x, cls.base.log_cdf(x, p), 0.0, p)

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return cls._with_upper(x, cls.base.log_sf(x, p), -math.inf, p)

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        x, (lower, upper) = cls.base.draw(random, p), cls.bounds(p)
        x = x if lower is None else maximum(x, lower)
        return x if upper is None else minimum(x, upper)

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        x, (lower, upper) = cls.base.quantile(q, p), cls.bounds(p)
        x = x if lower is None else maximum(x, lower)
        return x if upper is None else minimum(x, upper)

    @classmethod
    def _expectation(cls, p: Parameters, function: Callable[..., Node], *given: Node) -> Node:
        """What lies beyond the bounds at these, and what lies between them."""
        bounds, total = cls.bounds(p), p.zero
        inside: list[Node | None] = []
        for bound, tail, end in zip(bounds, (cls._before, cls.base.sf), (-math.inf, math.inf), strict=True):
            if bound is not None:
                beyond = tail(bound, p)
                total = total + weighed(beyond, function(bound, *given))
                bound = where(eq(beyond, 0.0), end, bound)  # noqa: PLW2901 (nothing depends on it)
            inside.append(bound)
        return total + part(cls.base, inside[0], inside[1], p, function, *given)

    @classmethod
    def _before(cls, lower: Node, p: Parameters) -> Node:
        return cls.base.cdf(cls.base.before(lower), p)

    @classmethod
    def mean(cls, p: Parameters) -> Node:
        return cls._expectation(p, lambda x: x)

    @classmethod
    def variance(cls, p: Parameters) -> Node:
        return cls._expectation(p, lambda x, centre: square(x - centre), cls.mean(p))


def censored(distribution: Distribution, lower: Operand | None = None, upper: Operand | None = None) -> Distribution:
    """The distribution of X where it lies between two bounds, and of the bound where X lies beyond it.

    At ``lower``, ``logpdf`` is log P(X <= lower), at ``upper`` log P(X >= upper); between them the log density, outside
    them -inf.  A bound that is ``None``, or infinite, is none.  Means and variances are those of the bounds with their
    masses, and of what lies between, by an integral of quantiles as those of ``truncated``, or of counts by a sum.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> seen = vecdist.censored(Exponential(1.0), upper=2.0)
    >>> np.asarray(vecdist.logpdf(seen, np.array([1.0, 2.0, 3.0])))
    array([ -1.,  -2., -inf])
    """
    return derive(Censored, distribution, given_bounds(lower, upper))
