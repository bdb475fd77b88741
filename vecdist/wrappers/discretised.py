"""Continuous distributions rounded down."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from vecdist.constraints import Bound, Constraint, positive
from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.lazy.array import Operand
from vecdist.primitives.arithmetic import ceil, floor, isnan, rint
from vecdist.primitives.floating import width as bytes_of
from vecdist.special.staircase import settled
from vecdist.wrappers.derived import Wrapper, derive

NEAR = {8: 2.0**-48, 4: 2.0**-20}  # of a step: what multiples of a width are apart for rounding


class Discretised(Wrapper):
    """What ``discretised`` gives."""

    name = "discretised"
    adds_mass = True

    @classmethod
    def constraints(cls) -> Mapping[str, Constraint]:
        return {"width": positive}

    @classmethod
    def support(cls, p: Parameters) -> Constraint:
        inner = cls.base.support(p)
        lower, upper = cls._down(inner.lower, floor, p), cls._down(inner.upper, lambda k: ceil(k) - 1.0, p)
        return Constraint(f"{inner}, rounded down", lower, upper)

    @classmethod
    def _down(cls, bound: Bound, step: Callable[[Node], Node], p: Parameters) -> Bound:
        if not isinstance(bound, Node) and math.isinf(bound):
            return bound
        return p.width * step(bound / p.width)

    @classmethod
    def _step(cls, x: Node, p: Parameters) -> tuple[Node, Node]:
        """The number of the step on which ``x`` lies, and whether it lies at its beginning."""
        places = x / p.width
        nearest = rint(places)
        on = abs(places - nearest) <= NEAR[bytes_of(x)] * abs(places)
        return where(on, nearest, floor(places)), on

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        k, on = cls._step(x, p)
        return where(on | isnan(x), cls.base.log_interval(k * p.width, (k + 1.0) * p.width, p), -math.inf)

    @classmethod
    def _end(cls, x: Node, p: Parameters) -> Node:
        return (cls._step(x, p)[0] + 1.0) * p.width

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return cls.base.cdf(cls._end(x, p), p)

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return cls.base.sf(cls._end(x, p), p)

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        return cls.base.log_cdf(cls._end(x, p), p)

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return cls.base.log_sf(cls._end(x, p), p)

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        return p.width * (ceil(cls.base.draw(random, p) / p.width) - 1.0)

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        k = p.width * (ceil(cls.base.quantile(q, p) / p.width) - 1.0)
        return settled(k, q, lambda at: cls.cdf(at, p), cls.support(p), p.width)


def discretised(distribution: Distribution, width: Operand = 1.0) -> Distribution:
    """The distribution of X rounded down to a multiple of ``width``, f(k width) = P(k width < X <= (k + 1) width).

    Of X rounded to the nearest, ``discretised(affine(distribution, loc=width / 2), width)``.  A multiple is known as
    one though rounding has its part in it; other values have no probability.  Raises ``TypeError`` for a discrete
    family.
    Chakraborty (2015), Generating discrete analogues of continuous probability distributions, Journal of Statistical
    Distributions and Applications 2.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> ages = vecdist.discretised(Exponential(10.0))
    >>> np.asarray(vecdist.logpmf(ages, np.array([0.0, 0.5, 3.0]))).round(4)
    array([-2.3522,    -inf, -2.6522])
    """
    if isinstance(distribution, Distribution) and distribution.discrete:
        raise TypeError(f"discretised wants a continuous family, given {type(distribution).__name__}")
    return derive(Discretised, distribution, {"width": width})
