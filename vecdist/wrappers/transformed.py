"""Distributions of functions of what has a distribution."""

from __future__ import annotations

import math

from vecdist.constraints import Bound, Constraint
from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.leaves import number
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import exp
from vecdist.wrappers.bijectors import BIJECTORS, Bijector
from vecdist.wrappers.derived import Wrapper, derive


class Transformed(Wrapper):
    """What ``transformed`` gives."""

    name = "transformed"

    @classmethod
    def bijector(cls) -> Bijector:
        return cls.settings["bijector"]

    @classmethod
    def support(cls, p: Parameters) -> Constraint:
        """The image of the support; open at the ends of what the bijector reaches."""
        inner, bijector = cls.base.support(p), cls.bijector()
        for bound in (inner.lower, inner.upper):
            if not isinstance(bound, Node) and not bijector.domain.lower <= bound <= bijector.domain.upper:
                taken = f"{bijector.name} takes {bijector.domain}"
                raise ValueError(f"{cls.__name__} is not there: {taken}, and {cls.base.family.__name__} has {inner}")
        ends = [(inner.lower, inner.open_lower), (inner.upper, inner.open_upper)]
        (lower, open_lower), (upper, open_upper) = ends if bijector.increasing else reversed(ends)
        reached = bijector.codomain
        return Constraint(
            f"{bijector.name} of {inner}", cls._image(lower, reached.lower, p), cls._image(upper, reached.upper, p),
            open_lower or cls._is_end(lower), open_upper or cls._is_end(upper),
        )

    @classmethod
    def _is_end(cls, bound: Bound) -> bool:
        domain = cls.bijector().domain
        return not isinstance(bound, Node) and not domain.lower < bound < domain.upper

    @classmethod
    def _image(cls, bound: Bound, reached: float, p: Parameters) -> Bound:
        """What the bijector makes of an end of the support, which is ``reached`` at an end of its domain."""
        if cls._is_end(bound):
            return reached
        bound = bound if isinstance(bound, Node) else number(bound, p.zero.dtype)
        return where(eq(abs(bound), math.inf), reached, cls.bijector().forward(bound))

    @classmethod
    def _back(cls, x: Node) -> Node:
        """The place in the family that ``x`` comes from, beyond what the bijector reaches the end of its domain."""
        bijector = cls.bijector()
        domain, reached = bijector.domain, bijector.codomain
        first, last = (domain.lower, domain.upper) if bijector.increasing else (domain.upper, domain.lower)
        y = where(reached.beyond(x), last, bijector.inverse(x))
        return where(reached.below(x), first, y)

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        y = cls.bijector().inverse(x)
        return cls.base.log_density(y, p) - cls.bijector().log_slope(y, x)

    @classmethod
    def log_interval(cls, below: Node, upper: Node, p: Parameters) -> Node:
        first, last = cls._back(below), cls._back(upper)
        if not cls.bijector().increasing:
            first, last = last, first
        return cls.base.log_interval(first, last, p)

    @classmethod
    def _tail(cls, name: str, other: str, x: Node, p: Parameters) -> Node:
        return getattr(cls.base, name if cls.bijector().increasing else other)(cls._back(x), p)

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return cls._tail("cdf", "sf", x, p)

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return cls._tail("sf", "cdf", x, p)

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        return cls._tail("log_cdf", "log_sf", x, p)

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        return cls._tail("log_sf", "log_cdf", x, p)

    @classmethod
    def draw(cls, random: Stream, p: Parameters) -> Node:
        return cls.bijector().forward(cls.base.draw(random, p))

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        return cls.bijector().forward(cls.base.quantile(q if cls.bijector().increasing else 1.0 - q, p))

    @classmethod
    def quantile_of_log(cls, y: Node, p: Parameters) -> Node:
        increasing = cls.bijector().increasing
        x = cls.base.quantile_of_log(y, p) if increasing else cls.base.upper_quantile_of_log(y, p)
        return cls.quantile(exp(y), p) if x is None else cls.bijector().forward(x)

    @classmethod
    def upper_quantile_of_log(cls, y: Node, p: Parameters) -> Node | None:
        increasing = cls.bijector().increasing
        x = cls.base.upper_quantile_of_log(y, p) if increasing else cls.base.quantile_of_log(y, p)
        return None if x is None else cls.bijector().forward(x)


def transformed(distribution: Distribution, bijector: str | Bijector) -> Distribution:
    """The distribution of g(Y): its density is f(y) / |g'(y)| at x = g(y).

    ``bijector`` is the name of one ("exp", "log", "expit", "logit", "softplus", "logexpm1", "expm1", "log1p", "tanh",
    "arctanh", "sinh", "arcsinh", "square", "sqrt", "negative", "reciprocal"), or a ``Bijector``.  At an end of what it
    reaches the density is 0.  Raises ``TypeError`` for a discrete family, ``ValueError`` for a name that is none, and,
    when a verb is asked for, for a support that the bijector does not take.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Logistic
    >>> odds = vecdist.transformed(Logistic(0.0, 1.0), "exp")
    >>> np.asarray(vecdist.cdf(odds, np.array([-1.0, 1.0, 3.0]))).round(4)
    array([0.  , 0.5 , 0.75])
    """
    if isinstance(distribution, Distribution) and distribution.discrete:
        raise TypeError(f"transformed wants a continuous family, given {type(distribution).__name__}")
    if isinstance(bijector, str) and bijector not in BIJECTORS:
        raise ValueError(f"there is no bijector {bijector!r}; there are {', '.join(BIJECTORS)}")
    known = BIJECTORS[bijector] if isinstance(bijector, str) else bijector
    return derive(Transformed, distribution, {}, {"bijector": known})
