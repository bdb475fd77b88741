"""Distributions given that they lie between bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from vecdist.constraints import Bound, Constraint
from vecdist.distributions.base import Distribution, Parameters
from vecdist.graph.node import Node, where
from vecdist.lazy.array import Operand
from vecdist.primitives.arithmetic import eq, floor, maximum
from vecdist.primitives.elementary import exp, log, log1p, logaddexp
from vecdist.primitives.floating import at_least, at_most, width
from vecdist.primitives.logarithms import log1mexp
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.staircase import settled
from vecdist.wrappers.bounds import Bounded, given_bounds
from vecdist.wrappers.derived import derive

HALF = -math.log(2.0)
LOST = {8: -46 * math.log(2.0), 4: -17 * math.log(2.0)}  # what is next to 1 is known to few digits by its difference


def _share_tangent(dots: tuple[Node | None, ...], part: Node, whole: Node, out: Node) -> Node | None:
    """Where a bound changes the part infinitely, it changes the whole less, be that infinite too."""
    of_part, of_whole = dots
    if of_part is None or of_whole is None:
        return of_part if of_whole is None else -of_whole
    return where(eq(abs(of_part), math.inf), of_part, of_part - of_whole)


log_share_of: Primitive = primitive(  # of two logarithms of masses, their difference
    "log_share_of", 2, expand=lambda part, whole: part - whole, tangent=_share_tangent, floating=True,
    domain=((-30.0, 0.0), (-30.0, 0.0)), oracle="numpy.subtract",
)


def _with_outside(outside: Node, part: Node) -> Node:
    """The logarithm of the mass beyond a bound and of a part; at an end of the support that is the part, slopes too."""
    none = eq(outside, -math.inf)
    return where(none, part, logaddexp(where(none, 0.0, outside), part))


class Truncated(Bounded):
    """What ``truncated`` gives."""

    name = "truncated"

    @classmethod
    def constraints(cls) -> Mapping[str, Constraint]:
        """Bounds between which there is something of the support."""
        return {
            "lower": Constraint("a number below the end of the support", upper=cls._end, open_upper=not cls.discrete),
            "upper": Constraint(
                "a number above lower and the start of the support", lower=cls._start, open_lower=not cls.discrete
            ),
        }

    @classmethod
    def _start(cls, p: Parameters) -> Bound:
        least, (lower, _) = cls._reached(cls.base.support(p).lower, p), cls.bounds(p)
        return least if lower is None else maximum(cls.first(lower), least)

    @classmethod
    def _end(cls, p: Parameters) -> Bound:
        return cls._reached(cls.base.support(p).upper, p)

    @classmethod
    def _reached(cls, end: Bound, p: Parameters) -> Bound:
        """An end of the support; of whole numbers, which include their end, a finite one."""
        if not cls.discrete or isinstance(end, Node) or not math.isinf(end):
            return end
        return math.copysign(float(np.finfo(p.zero.dtype).max), end)

    @classmethod
    def quantities(cls, p: Parameters) -> Mapping[str, Node]:
        return {"log_mass": cls.base.log_mass(*cls.bounds(p), p)}

    @classmethod
    def support(cls, p: Parameters) -> Constraint:
        """The support of the family as far as it lies between the bounds, which are its ends where they are both."""
        inner, (lower, upper) = cls.base.support(p), cls.bounds(p)
        if lower is not None:
            inner = replace(inner, lower=at_least(cls.first(lower), inner.lower), open_lower=False)
        if upper is not None:
            upper = floor(upper) if cls.discrete else upper
            inner = replace(inner, upper=at_most(upper, inner.upper), open_upper=False)
        return inner

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        return cls.base.log_density(x, p) - p.log_mass

    @classmethod
    def _log_tails(cls, x: Node, p: Parameters) -> tuple[Node, Node]:
        """Both by themselves, each accurate where it is the less."""
        lower, upper = cls.bounds(p)
        below, beyond = cls.base.log_mass(lower, x, p), cls.base.log_interval(x, upper, p)
        return log_share_of(below, p.log_mass), log_share_of(beyond, p.log_mass)

    @classmethod
    def cdf(cls, x: Node, p: Parameters) -> Node:
        return exp(at_most(cls._log_tails(x, p)[0], 0.0))

    @classmethod
    def sf(cls, x: Node, p: Parameters) -> Node:
        return exp(at_most(cls._log_tails(x, p)[1], 0.0))

    @classmethod
    def log_cdf(cls, x: Node, p: Parameters) -> Node:
        lower, upper = cls._log_tails(x, p)
        return where(lower < HALF, lower, log1mexp(upper))

    @classmethod
    def log_sf(cls, x: Node, p: Parameters) -> Node:
        lower, upper = cls._log_tails(x, p)
        return where(upper < HALF, upper, log1mexp(lower))

    @classmethod
    def log_interval(cls, below: Node, upper: Node, p: Parameters) -> Node:
        lower, last = cls.bounds(p)
        below = below if lower is None else at_least(below, cls.base.before(lower))
        upper = upper if last is None else at_most(upper, last)
        return where(upper > below, cls.base.log_interval(below, upper, p) - p.log_mass, -math.inf)

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        return cls._quantile(q, log(q), log1p(-q), p)

    @classmethod
    def upper_quantile(cls, q: Node, p: Parameters) -> Node | None:
        """None where that of the family is not known."""
        if cls.base.upper_quantile_of_log(log(q), p) is None:
            return None
        return cls._quantile(1.0 - q, log1p(-q), log(q), p)

    @classmethod
    def _quantile(cls, q: Node, below: Node, beyond: Node, p: Parameters) -> Node:
        """By the lower tail, or by the upper one where that is the less; NaN where that is not to be had."""
        support, (low, high) = cls.support(p), cls.bounds(p)
        lower, upper = below + p.log_mass, beyond + p.log_mass
        if low is not None:
            lower = _with_outside(cls.base.log_cdf(cls.base.before(low), p), lower)
        if high is not None:
            upper = _with_outside(cls.base.log_sf(high, p), upper)
        x = cls.base.quantile_of_log(at_most(lower, 0.0), p)
        other = cls.base.upper_quantile_of_log(at_most(upper, 0.0), p)
        x = where(upper < LOST[width(q)], math.nan, x) if other is None else where(upper < lower, other, x)
        if support.whole:
            return settled(x, q, lambda k: cls.cdf(k, p), support)
        return at_most(at_least(x, support.lower), support.upper)


def truncated(distribution: Distribution, lower: Operand | None = None, upper: Operand | None = None) -> Distribution:
    """The distribution given that it lies between two bounds, f(x) / P(lower <= X <= upper) for lower <= x <= upper.

    A bound that is ``None``, or infinite, is none; both belong to what is left.  Of a family that states ``cdf`` or its
    like; ``cdf``, ``sf``, their logarithms and ``ppf`` follow, in the upper tail accurate for symmetric families
    and NaN where others have it too far away.  Bounds that leave nothing of the support are invalid parameters, as are
    those in the wrong order.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> late = vecdist.truncated(Exponential(1.0), lower=2.0)
    >>> np.asarray(vecdist.logpdf(late, np.array([1.0, 2.0, 3.0])))
    array([-inf,   0.,  -1.])
    """
    return derive(Truncated, distribution, given_bounds(lower, upper))
