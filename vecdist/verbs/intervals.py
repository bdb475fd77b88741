"""Verbs on intervals and upper tails: the probability between two points, and the points between which there is one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vecdist.distributions.at_ends import quantile_at_end
from vecdist.distributions.base import Compound, Distribution, Parameters
from vecdist.graph.leaves import is_weak
from vecdist.graph.node import Node, where
from vecdist.lazy.array import LazyArray, Operand, as_lazy
from vecdist.primitives.arithmetic import eq, isnan
from vecdist.verbs.inner import Inner
from vecdist.verbs.tails_and_moments import asked, known, missing, ppf, quantile_to_the_ends, upper_quantile


def logdiffcdf(distribution: Distribution | Compound, lower: Operand, upper: Operand) -> LazyArray:
    """The logarithm of P(lower < X <= upper), of the shape of all that is given; differentiated like ``cdf``.

    By the tail of which both points have less, as log(exp(a) - exp(b)) = a + log1mexp(a - b): accurate in either tail,
    where the distribution functions themselves are equal numbers.  It is -inf where ``lower`` is ``upper``, and NaN
    where it is greater.  Raises ``NotImplementedError`` for a family that has no distribution function.  Mächler
    (2012), Accurately computing log(1 - exp(-|a|)).

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> np.asarray(vecdist.logdiffcdf(Exponential(1.0), np.array([0.0, 1000.0]), np.inf))
    array([    0., -1000.])
    """
    return asked("logdiffcdf", distribution, _log_difference, lower, upper)


def isf(distribution: Distribution | Compound, q: Operand) -> LazyArray:
    """The point above which there is ``q``, the inverse of ``sf``: the least where ``sf`` is no more than ``q``.

    It is ``ppf`` of 1 - q, by a formula of its own for symmetric families and those that state one; for others it has
    the digits that 1 - q has.  NaN for ``q`` outside [0, 1].  Raises ``NotImplementedError`` for a family without
    quantiles.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> np.asarray(vecdist.isf(Exponential(1.0), np.array([0.5, 1e-100, 2.0]))).round(4)
    array([  0.6931, 230.2585,      nan])
    """
    return asked("isf", distribution, _upper_quantile, q)


def interval(distribution: Distribution | Compound, level: Operand) -> tuple[LazyArray, LazyArray]:
    """Two points with the probability ``level`` between them, and as much below the one as above the other.

    These are ``ppf`` and ``isf`` of (1 - level) / 2, NaN for a ``level`` outside [0, 1].  Raises what these do.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Normal
    >>> low, high = vecdist.interval(Normal(np.array([0.0, 10.0]), 1.0), 0.95)
    >>> np.asarray(low).round(2), np.asarray(high).round(2)
    (array([-1.96,  8.04]), array([ 1.96, 11.96]))
    """
    given: Any = level if is_weak(level) else as_lazy(level)
    either = np.where(given >= 0.0, 0.5 * (1.0 - given), math.nan)
    tail = float(either) if is_weak(level) else either
    return ppf(distribution, tail), isf(distribution, tail)


def _log_difference(family: type[Distribution], p: Parameters, lower: Node, upper: Node) -> Node:
    inside = Inner(family, "logdiffcdf").log_interval(lower, upper, Parameters(base=p))
    return where((lower > upper) | isnan(lower) | isnan(upper), math.nan, inside)


def _upper_quantile(family: type[Distribution], p: Parameters, q: Node) -> Node:
    inside = _upper_inside(family, p, q)
    if not family.reach(p).whole:
        lower, upper = (quantile_at_end(family, p, place, 1.0 - q) for place in (0, 1))
        inside = where(eq(q, 0.0), upper, where(eq(q, 1.0), lower, inside))
    return where((q >= 0.0) & (q <= 1.0), inside, math.nan)


def _upper_inside(family: type[Distribution], p: Parameters, q: Node) -> Node:
    """That for 0 < q < 1: as a family states it, of a symmetric one as the quantile of -x, or by the lower tail."""
    upper, quantile = upper_quantile(family), known(family, "quantile")
    if quantile is None:
        raise missing(family, "quantile", ", and isf needs it")
    found = upper and upper(q, p)
    if found is None:
        rest = 1.0 - q
        found = quantile_to_the_ends(family, p, quantile(rest, p), rest)
    return found
