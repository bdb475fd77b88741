"""Distributions of absolute values."""

from __future__ import annotations

import math
from collections.abc import Callable

from vecdist.constraints import Bound, Constraint
from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, maximum, square
from vecdist.primitives.elementary import exp, log1p, logaddexp
from vecdist.wrappers.derived import Wrapper, derive
from vecdist.wrappers.parts_of_moments import part


class Folded(Wrapper):
    """What ``folded`` gives."""

    name = "folded"
    discrete: bool

    @classmethod
    def support(cls, p: Parameters) -> Constraint:
        inner = cls.base.support(p)
        return Constraint(
            f"a size of {inner}", 0.0, _larger(-inner.lower, inner.upper),
            open_upper=inner.open_lower and inner.open_upper, whole=inner.whole,
        )

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        """Of both signs of x; a discrete family has 0 once."""
        there = cls.base.log_density(x, p)
        both = logaddexp(there, cls.base.log_density(-x, p))
        return where(eq(x, 0.0), there, both) if cls.discrete else both

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        return abs(cls.base.draw(random, p))

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return exp(cls.base.log_mass(-x, x, p))

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return cls.base.sf(x, p) + cls.base.cdf(cls.base.before(-x), p)

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        outside = cls.sf(x, p)
        return where(outside < 0.5, log1p(-outside), cls.base.log_mass(-x, x, p))

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return logaddexp(cls.base.log_sf(x, p), cls.base.log_cdf(cls.base.before(-x), p))

    @classmethod
    def _expectation(cls, p: Parameters, function: Callable[..., Node], *given: Node) -> Node:
        """Of what lies below 0, and of the rest."""
        below = part(cls.base, None, cls.base.before(p.zero), p, lambda x, *rest: function(-x, *rest), *given)
        return below + part(cls.base, p.zero, None, p, function, *given)

    @classmethod
    def mean(cls, p: Parameters) -> Node:
        return cls._expectation(p, lambda x: x)

    @classmethod
    def variance(cls, p: Parameters) -> Node:
        return cls._expectation(p, lambda x, centre: square(x - centre), cls.mean(p))


def _larger(first: Bound, second: Bound) -> Bound:
    if any(not isinstance(bound, Node) and bound == math.inf for bound in (first, second)):
        return math.inf
    return maximum(first, second) if any(isinstance(bound, Node) for bound in (first, second)) else max(first, second)


def folded(distribution: Distribution) -> Distribution:
    """The distribution of |X|, f(x) + f(-x) for x >= 0.

    Means and variances are those of both sides of 0, each by an integral of quantiles as those of ``truncated``, or of
    counts by a sum.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Cauchy
    >>> np.asarray(vecdist.cdf(vecdist.folded(Cauchy(0.0, 1.0)), np.array([-1.0, 0.0, 1.0]))).round(4)
    array([0. , 0. , 0.5])
    """
    return derive(Folded, distribution, {})
