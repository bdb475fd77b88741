"""The F distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.beta_prime import BetaPrime
from vecdist.distributions.formulas import finite_variance
from vecdist.distributions.odds import cdf_of_odds, log_cdf_of_odds, log_sf_of_odds, odds_of_cdf, sf_of_odds
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import maximum, square
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.special import lbeta, xlogy


class FisherSnedecor(Distribution):
    """F distribution, f(x) = r^(df1/2) x^(df1/2 - 1) (1 + r x)^(-(df1 + df2)/2) / B(df1/2, df2/2), r = df1/df2.

    Written ``FisherSnedecor(df1, df2)``; it is the distribution of the ratio of two mean squares.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 27.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(FisherSnedecor(2.0, 4.0), np.array([0.0, 2.0]))).round(4)
    array([ 0.    , -2.0794])
    """

    oracle = "scipy.stats.f(df1, df2)"

    @parametrisation(df1=positive, df2=positive)
    @staticmethod
    def by_df(df1: Node, df2: Node) -> dict[str, Node]:
        return {"df1": df1, "df2": df2, "alpha": 0.5 * df1, "beta": 0.5 * df2}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        ratio = p.df1 / p.df2
        constant = p.alpha * log(ratio) - lbeta(p.alpha, p.beta)
        return xlogy(p.alpha - 1.0, x) - (p.alpha + p.beta) * log1p(ratio * x) + constant

    @staticmethod
    def mean(p: Parameters) -> Node:
        return where(p.df2 > 2.0, p.df2 / (p.df2 - 2.0), math.inf)

    @staticmethod
    def variance(p: Parameters) -> Node:
        d = p.df2 - 2.0
        spread = 2.0 * square(p.df2 / d) * ((p.df1 + d) / p.df1) / (d - 2.0)
        return finite_variance(spread, d > 2.0, d > 0.0)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(p.df1 - 2.0, 0.0) / p.df1 * (p.df2 / (p.df2 + 2.0))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return cdf_of_odds(p.df1 / p.df2 * x, p.alpha, p.beta)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return sf_of_odds(p.df1 / p.df2 * x, p.alpha, p.beta)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_cdf_of_odds(p.df1 / p.df2 * x, p.alpha, p.beta)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_sf_of_odds(p.df1 / p.df2 * x, p.alpha, p.beta)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.df2 / p.df1 * odds_of_cdf(q, p.alpha, p.beta)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return BetaPrime.entropy(p) + log(p.df2 / p.df1)
