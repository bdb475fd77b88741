"""The half-Student t distribution."""

import math
from typing import Any

from vecdist.constraints import Constraint, nonnegative, positive, positive_or_infinite
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.distributions.student_t import StudentT, by_square
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, sqrt, square
from vecdist.primitives.elementary import exp, log
from vecdist.special.beta_of_odds import beta_below
from vecdist.special.beta_quantiles import odds_below
from vecdist.special.error_functions import erf, lgamma_delta
from vecdist.special.formulas import infinite_where
from vecdist.special.normal_tail import erfinv


class HalfStudentT(Distribution):
    """Half-Student t distribution, f(x) = 2 (1 + z^2 / df)^(-(df + 1) / 2) / (B(df/2, 1/2) sqrt(df) scale) for x >= 0.

    Written ``HalfStudentT(df, scale)`` or ``HalfStudentT(df=, precision=)``; z is x / scale.  An infinite ``df`` gives
    the half-normal distribution.
    Gelman (2006), Prior distributions for variance parameters in hierarchical models, Bayesian Analysis 1.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(HalfStudentT(np.array([1.0, 4.0, np.inf]), 2.0), 2.0)).round(4)
    array([-1.8379, -1.5387, -1.4189])
    """

    @parametrisation(df=positive_or_infinite, scale=positive)
    @staticmethod
    def by_scale(df: Node, scale: Node) -> dict[str, Any]:
        return {"df": df, "loc": 0.0, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @parametrisation(df=positive_or_infinite, precision=positive)
    @staticmethod
    def by_precision(df: Node, precision: Node) -> dict[str, Any]:
        return {"df": df, "loc": 0.0, "inverse_scale": sqrt(precision), "log_scale": -0.5 * log(precision)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return StudentT.log_density(x, p) + math.log(2)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.inverse_scale

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return StudentT.both_tails(x, p)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return StudentT.log_both_tails(x, p)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        inside = beta_below(*by_square(x, p))
        return where(eq(p.df, math.inf), erf(math.sqrt(0.5) * (x * p.inverse_scale)), inside)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        far = odds_below(*by_square(q, p))
        return where(eq(p.df, math.inf), math.sqrt(2) * erfinv(q) / p.inverse_scale, far)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return StudentT.entropy(p) - math.log(2)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return abs(StudentT.draw(random, p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        gammas = exp(lgamma_delta(0.5 * p.df, 0.5)) * sqrt(p.df) / (p.df - 1.0) * (2 / math.sqrt(math.pi))
        finite_df = infinite_where(p.df <= 1.0, gammas)
        return where(eq(p.df, math.inf), math.sqrt(2 / math.pi), finite_df) / p.inverse_scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        second = (1.0 + 2.0 / (p.df - 2.0)) / square(p.inverse_scale)
        return infinite_where(p.df <= 2.0, second - square(HalfStudentT.mean(p)))
