"""Student's t distribution."""

import math
from typing import Any

from vecdist.constraints import Constraint, finite, positive, positive_or_infinite
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import finite_variance, log1p_square
from vecdist.distributions.odds import log_sf_of_odds, odds_of_sf, sf_of_odds
from vecdist.expr import Node, const, where
from vecdist.primitives.arithmetic import eq, sqrt, square
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.primitives.normal_tail import log_ndtr, ndtr, ndtri
from vecdist.primitives.special import digamma_delta, lbeta, lgamma_delta


class StudentT(Distribution):
    """Student's t distribution, f(x) = (1 + z^2 / df)^(-(df + 1) / 2) / (B(df / 2, 1/2) sqrt(df) scale).

    Written ``StudentT(df, loc, scale)``, where ``loc`` is 0 and ``scale`` 1 if they are not given, or
    ``StudentT(df=, loc=, precision=)``; z is (x - loc) / scale.  An infinite ``df`` gives the normal distribution.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 28.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(StudentT(np.array([1.0, 4.0, np.inf])), 2.0)).round(4)
    array([-2.7542, -2.7137, -2.9189])
    """

    oracle = "scipy.stats.t(df, loc, scale)"
    symmetric = True

    @parametrisation(df=positive_or_infinite, loc=finite, scale=positive)
    @staticmethod
    def by_scale(df: Node, loc: Any = 0.0, scale: Any = 1.0) -> dict[str, Node]:
        return {"df": df, "loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @parametrisation(df=positive_or_infinite, loc=finite, precision=positive)
    @staticmethod
    def by_precision(df: Node, loc: Node, precision: Node) -> dict[str, Node]:
        return {"df": df, "loc": loc, "inverse_scale": sqrt(precision), "log_scale": -0.5 * log(precision)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        z = (x - p.loc) * p.inverse_scale
        half, limit = 0.5 * p.df, eq(p.df, math.inf)
        decay = where(limit, 0.5 * square(z), (half + 0.5) * log1p_square(z * (1.0 / sqrt(p.df))))
        constant = where(limit, -0.5 * math.log(2.0), lgamma_delta(half, 0.5) - 0.5 * log(p.df))
        return (constant - (p.log_scale + 0.5 * math.log(math.pi))) - decay

    @staticmethod
    def mean(p: Parameters) -> Node:
        return where(p.df > 1.0, p.loc, math.nan)

    @staticmethod
    def variance(p: Parameters) -> Node:
        spread = (1.0 + 2.0 / (p.df - 2.0)) / square(p.inverse_scale)
        return finite_variance(spread, p.df > 2.0, p.df > 1.0)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        half, limit = 0.5 * p.df, eq(p.df, math.inf)
        constant = (lbeta(half, 0.5) + 0.5 * log(p.df)) + (half + 0.5) * digamma_delta(half, 0.5)
        return p.log_scale + where(limit, 0.5 * math.log(2 * math.pi * math.e), constant)

    @staticmethod
    def both_tails(x: Node, p: Parameters) -> Node:
        """The probability of being further from loc than x."""
        z = (x - p.loc) * p.inverse_scale
        tails = sf_of_odds(square(z) / p.df, const(0.5, z.dtype), 0.5 * p.df)
        return where(eq(p.df, math.inf), 2.0 * ndtr(-abs(z)), tails)

    @staticmethod
    def log_both_tails(x: Node, p: Parameters) -> Node:
        z = (x - p.loc) * p.inverse_scale
        tails = log_sf_of_odds(square(z) / p.df, const(0.5, z.dtype), 0.5 * p.df)
        return where(eq(p.df, math.inf), math.log(2) + log_ndtr(-abs(z)), tails)

    @staticmethod
    def distance(q: Node, p: Parameters) -> Node:
        """How far from loc the points are beyond which ``q`` lies."""
        z = sqrt(p.df * odds_of_sf(q, const(0.5, q.dtype), 0.5 * p.df))
        return where(eq(p.df, math.inf), -ndtri(0.5 * q), z) / p.inverse_scale

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        tail = 0.5 * StudentT.both_tails(x, p)
        return where(x < p.loc, tail, 1.0 - tail)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        log_tail = StudentT.log_both_tails(x, p) - math.log(2)
        return where(x < p.loc, log_tail, log1p(-exp(log_tail)))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        lower = q < 0.5
        distance = StudentT.distance(2.0 * where(lower, q, 1.0 - q), p)
        return p.loc + where(lower, -distance, distance)
