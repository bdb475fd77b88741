"""Distributions of powers of what is positive: generalised gamma, Burr and exponentiated ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from vecdist.constraints import Bound, Constraint, positive
from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.lazy.array import Operand
from vecdist.primitives.elementary import log
from vecdist.primitives.power import power
from vecdist.wrappers.derived import Wrapper, derive


class Powered(Wrapper):
    """What ``powered`` gives."""

    name = "powered"

    @classmethod
    def constraints(cls) -> Mapping[str, Constraint]:
        return {"exponent": positive}

    @classmethod
    def support(cls, p: Parameters) -> Constraint:
        """The image of the support; without 0, where the density is whatever the power makes of it."""
        inner = cls.base.support(p)
        if not isinstance(inner.lower, Node) and inner.lower < 0.0:
            family = cls.base.family.__name__
            raise ValueError(f"{cls.__name__} is not there: it takes what is positive, and {family} has {inner}")
        lower, upper = cls._image(inner.lower, p), cls._image(inner.upper, p)
        at_zero = not isinstance(lower, Node) and lower == 0.0
        return replace(inner, lower=lower, upper=upper, open_lower=inner.open_lower or at_zero)

    @classmethod
    def _image(cls, bound: Bound, p: Parameters) -> Bound:
        """A bound as 0, 1 or infinity, which stay, or as a node."""
        if not isinstance(bound, Node) and bound in (0.0, 1.0, math.inf):
            return bound
        return power(p.zero + bound, p.exponent)

    @classmethod
    def _back(cls, x: Node, p: Parameters) -> Node:
        """The place in the family that ``x`` comes from; 0 and infinity have no part in derivatives."""
        inside = (x > 0.0) & (x < math.inf)
        outside = where(x <= 0.0, 0.0, x)
        return where(inside, power(where(inside, x, 1.0), 1.0 / p.exponent), outside)

    @classmethod
    def log_density(cls, x: Node, p: Parameters) -> Node:
        root = 1.0 / p.exponent
        return cls.base.log_density(power(x, root), p) + ((root - 1.0) * log(x) - log(p.exponent))

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
        return power(cls.base.draw(random, p), p.exponent)

    @classmethod
    def quantile(cls, q: Node, p: Parameters) -> Node:
        return power(cls.base.quantile(q, p), p.exponent)

    @classmethod
    def quantile_of_log(cls, y: Node, p: Parameters) -> Node:
        return power(cls.base.quantile_of_log(y, p), p.exponent)

    @classmethod
    def upper_quantile_of_log(cls, y: Node, p: Parameters) -> Node | None:
        x = cls.base.upper_quantile_of_log(y, p)
        return None if x is None else power(x, p.exponent)

    @classmethod
    def median(cls, p: Parameters) -> Node:
        return power(cls.base.formula("median", p), p.exponent)


def powered(distribution: Distribution, exponent: Operand) -> Distribution:
    """The distribution of Y**exponent for exponent > 0: f(x) = f_Y(x^(1/k)) x^(1/k - 1) / k, k being the exponent.

    Of a family on the positive line: a generalised gamma distribution is ``powered(Gamma(d / p, a**p), 1 / p)``, a Burr
    distribution of type XII ``powered(Lomax(0.0, 1.0, d), 1 / c)``.  At 0 the density is 0.  Raises ``TypeError`` for a
    discrete family, and ``ValueError``, when a verb is asked for, for a support that reaches below 0.  Stacy (1962), A
    generalization of the gamma distribution, Annals of Mathematical Statistics 33.

    >>> import numpy as np, vecdist
    >>> from vecdist.distributions import Exponential
    >>> weibull = vecdist.powered(Exponential(1.0), 0.5)
    >>> np.asarray(vecdist.sf(weibull, np.array([-1.0, 1.0, 2.0]))).round(4)
    array([1.    , 0.3679, 0.0183])
    """
    if isinstance(distribution, Distribution) and distribution.discrete:
        raise TypeError(f"powered wants a continuous family, given {type(distribution).__name__}")
    return derive(Powered, distribution, {"exponent": exponent})
