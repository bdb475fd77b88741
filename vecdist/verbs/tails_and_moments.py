"""The verbs beside ``logpdf``: distribution functions, their inverse, and moments."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from inspect import getattr_static
from typing import Any

from vecdist.distributions.at_ends import begun_log, quantile_at_end, tail_everywhere
from vecdist.distributions.base import Compound, Distribution, Parameters, mirrored
from vecdist.graph.node import Node, const, where
from vecdist.lazy.array import LazyArray, Operand
from vecdist.primitives.arithmetic import eq, sqrt
from vecdist.primitives.elementary import exp, log
from vecdist.special.formulas import log_of_tail
from vecdist.verbs.density import evaluated
from vecdist.verbs.integrated_moments import Moments

Family = type[Distribution]


def cdf(distribution: Distribution | Compound, x: Operand) -> LazyArray:
    """The probability of at most ``x``: a lazy array, shaped as that of ``logpdf``, differentiated like it.

    It is 0 below the support and 1 above it.  Raises ``NotImplementedError`` for a family that has no formula for it.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> np.asarray(vecdist.cdf(Exponential(2.0), np.array([-1.0, 1.0, 2.0]))).round(4)
    array([0.    , 0.3935, 0.6321])
    """
    return asked("cdf", distribution, _tail("cdf"), x)


def logcdf(distribution: Distribution | Compound, x: Operand) -> LazyArray:
    """The logarithm of ``cdf``, accurate where that is next to 0 or 1; otherwise as ``cdf``.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Logistic
    >>> np.asarray(vecdist.logcdf(Logistic(0.0, 1.0), np.array([-1000.0, 0.0]))).round(4)
    array([-1.000e+03, -6.931e-01])
    """
    return asked("logcdf", distribution, _tail("log_cdf"), x)


def sf(distribution: Distribution | Compound, x: Operand) -> LazyArray:
    """The probability of more than ``x``, accurate where it is next to 0; otherwise as ``cdf``.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> np.asarray(vecdist.sf(Exponential(2.0), np.array([-1.0, 0.0, 2.0]))).round(4)
    array([1.    , 1.    , 0.3679])
    """
    return asked("sf", distribution, _tail("sf"), x)


def logsf(distribution: Distribution | Compound, x: Operand) -> LazyArray:
    """The logarithm of ``sf``, accurate where that is next to 0 or 1; otherwise as ``cdf``.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> np.asarray(vecdist.logsf(Exponential(2.0), np.array([1.0, 4000.0]))).round(4)
    array([-5.e-01, -2.e+03])
    """
    return asked("logsf", distribution, _tail("log_sf"), x)


def ppf(distribution: Distribution | Compound, q: Operand) -> LazyArray:
    """The quantile of ``q``: the least ``x`` whose ``cdf`` reaches it, NaN for ``q`` outside [0, 1].

    Raises ``NotImplementedError`` for a family that has no formula for it.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Cauchy
    >>> np.asarray(vecdist.ppf(Cauchy(1.0, 2.0), np.array([0.0, 0.25, 0.5, 2.0]))).round(4)
    array([-inf,  -1.,   1.,  nan])
    """
    return asked("ppf", distribution, _quantile, q)


def mean(distribution: Distribution | Compound) -> LazyArray:
    """The mean, infinite or NaN where the integral is; of the shape of the parameters, broadcast.

    Where a family, as a truncated one, states no formula, it is an integral of quantiles, by numbers, to 1e-12 of its
    size in float64 where these are smooth; of counts it is a sum.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Gamma
    >>> float(vecdist.mean(Gamma(3.0, 2.0)))
    6.0
    """
    return asked("mean", distribution, _formula("mean"))


def variance(distribution: Distribution | Compound) -> LazyArray:
    """The variance, infinite or NaN where the integral is; of the shape of the parameters, broadcast.

    Where a family states no formula, it is found as the ``mean`` is then, to 1e-10.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Gamma
    >>> float(vecdist.variance(Gamma(3.0, 2.0)))
    12.0
    """
    return asked("variance", distribution, _formula("variance"))


def std(distribution: Distribution | Compound) -> LazyArray:
    """The standard deviation, the square root of ``variance``; raises what that does.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Gamma
    >>> np.asarray(vecdist.std(Gamma(4.0, np.array([1.0, 2.0]))))
    array([2., 4.])
    """
    return LazyArray(sqrt(variance(distribution).node))


def entropy(distribution: Distribution | Compound) -> LazyArray:
    """The entropy in nats, the mean of -logpdf; of the shape of the parameters, broadcast.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> float(vecdist.entropy(Exponential(1.0)))
    1.0
    """
    return asked("entropy", distribution, _formula("entropy"))


def mode(distribution: Distribution | Compound) -> LazyArray:
    """Where the density or mass is greatest: the least such point; of the shape of the parameters, broadcast.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Gamma
    >>> np.asarray(vecdist.mode(Gamma(np.array([0.5, 3.0]), 2.0)))
    array([0., 4.])
    """
    return asked("mode", distribution, _formula("mode"))


def median(distribution: Distribution | Compound) -> LazyArray:
    """The median, which is ``ppf(distribution, 0.5)``; of the shape of the parameters, broadcast.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> round(float(vecdist.median(Exponential(2.0))), 4)
    1.3863
    """
    return asked("median", distribution, _formula("median"))


def asked(verb: str, distribution: Any, formula: Callable[..., Any], *at: Any) -> LazyArray:
    """What a distribution made of others says itself, or else the formula of a family."""
    own = getattr(distribution, verb, None) if isinstance(distribution, Compound) else None
    return own(*at) if own else evaluated(verb, distribution, formula, *at)


@cache
def _tail(name: str) -> Callable[..., Node]:
    def formula(family: Family, p: Parameters, x: Node) -> Node:
        return tail_everywhere(name, family, p, lambda at: _formula(name)(family, p, at), x)

    return formula


def _quantile(family: Family, p: Parameters, q: Node) -> Node:
    inside = quantile_to_the_ends(family, p, _formula("quantile")(family, p, q), q)
    return where((q >= 0.0) & (q <= 1.0), inside, math.nan)


def quantile_to_the_ends(family: Family, p: Parameters, inside: Node, q: Node) -> Node:
    """A quantile that is known between the ends of the support; that of whole numbers is known at the ends too."""
    if family.reach(p).whole:
        return inside
    lower, upper = (quantile_at_end(family, p, place, q) for place in (0, 1))
    return where(eq(q, 0.0), lower, where(eq(q, 1.0), upper, inside))


@cache
def _formula(name: str) -> Callable[..., Any]:
    """A formula as a family states it, or as one of ``FALLBACKS`` has it of others that the family states."""

    def formula(family: Family, p: Parameters, *at: Node) -> Any:
        found = known(family, name)
        if found is None:
            raise missing(family, name)
        return found(*at, p)

    return formula


def missing(family: Family, name: str, needed: str = "") -> NotImplementedError:
    """The error of a formula that a family has not, ``needed`` for something, and how to give it one."""
    given = "p" if name in MOMENTS else "q, p" if name == "quantile" else "x, p"
    return NotImplementedError(
        f"{VERBS.get(name, name)} of {family.__name__} is not there{needed}: the family states no formula for it; a "
        f"subclass may, by a static method {name}({given})"
    )


def known(family: Family, name: str) -> Callable[..., Any] | None:
    """The formula ``name`` of a family, as it states it or by others that it states."""
    return stated(family, name) or FALLBACKS.get(name, lambda family: None)(family)


def stated(family: Family, name: str) -> Callable[..., Any] | None:
    """The formula ``name`` of a family, where it has it; of a symmetric one, also that of the other tail."""
    found = getattr(family, name, None)
    if found is None and family.symmetric and name in TAILS:
        other = getattr(family, TAILS[name], None)
        return other and (lambda x, p: other(-x, mirrored(p)))
    return found


def _log_of(own: str, other: str) -> Callable[[Family], Callable[..., Node] | None]:
    """The logarithm of one tail, from whichever of both is the less."""

    def fallback(family: Family) -> Callable[..., Node] | None:
        this, rest = stated(family, own), stated(family, other) or _exp_of(f"log_{other}")(family)
        if not (this and rest):
            return None

        def formula(x: Node, p: Parameters) -> Node:
            tail = this(x, p)
            return begun_log(log_of_tail(tail, rest(x, p)), tail, own, family, p, x)

        return formula

    return fallback


def _exp_of(name: str) -> Callable[[Family], Callable[..., Node] | None]:
    def fallback(family: Family) -> Callable[..., Node] | None:
        logarithm = stated(family, name)
        return logarithm and (lambda x, p: exp(logarithm(x, p)))

    return fallback


def _centre(family: Family) -> Callable[..., Node] | None:
    """What a symmetric family has in its middle."""
    return (lambda p: p.loc) if family.symmetric else None


def _middle(family: Family) -> Callable[..., Node] | None:
    """The quantile of 1/2, in the dtype of the parameters."""
    if family.symmetric or stated(family, "quantile") is None:
        return _centre(family)
    return lambda p: _quantile(family, p, const(0.5, next(q.dtype for q in vars(p).values() if isinstance(q, Node))))


def _integrated(name: str) -> Callable[[Family], Callable[..., Node] | None]:
    """A moment by quantiles."""

    def fallback(family: Family) -> Callable[..., Node] | None:
        """None of an angle, of which no one turn is that of its mean."""
        is_angle = getattr_static(family, "reach") is not vars(Distribution)["reach"]
        quantile = None if is_angle else stated(family, "quantile")
        return quantile and getattr(Moments(family, quantile, upper_quantile(family)), name)

    return fallback


def upper_quantile(family: Family) -> Callable[[Node, Parameters], Node | None] | None:
    """The point above which there is so much: as a family states it, of a symmetric one as the quantile of -x."""
    of_tail, of_log = getattr(family, "upper_quantile", None), getattr(family, "upper_quantile_of_log", None)
    if of_tail is not None:
        return of_tail
    if family.symmetric and (quantile := stated(family, "quantile")) is not None:
        return lambda u, p: -quantile(u, mirrored(p))
    return of_log and (lambda u, p: of_log(log(u), p))


MOMENTS = {"mean", "variance", "entropy", "mode", "median"}
VERBS = {"log_cdf": "logcdf", "log_sf": "logsf", "quantile": "ppf"}
TAILS = {"cdf": "sf", "sf": "cdf", "log_cdf": "log_sf", "log_sf": "log_cdf"}
FALLBACKS: dict[str, Callable[[Family], Callable[..., Any] | None]] = {
    "cdf": _exp_of("log_cdf"),
    "sf": _exp_of("log_sf"),
    "log_cdf": _log_of("cdf", "sf"),
    "log_sf": _log_of("sf", "cdf"),
    "mode": _centre,
    "median": _middle,
    "mean": _integrated("mean"),
    "variance": _integrated("variance"),
}
