"""The F distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.beta_prime import BetaPrime
from vecdist.distributions.formulas import finite_variance
from vecdist.distributions.odds import cdf_of_odds, log_cdf_of_odds, log_sf_of_odds, odds_of_cdf, sf_of_odds
from vecdist.distributions.saddle_point import LOG_TWO_PI, SERIES, log1p_excess, stirling_error
from vecdist.distributions.stream import Stream
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import maximum, minimum, square
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.primitives.special import lbeta, lgamma, lgamma_delta, xlogy


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
        """By the deviance where both are many, by the gamma function of the fewer otherwise; x may be 0 or huge."""
        ratio, log_ratio = p.df1 / p.df2, log(p.df1) - log(p.df2)
        at = where(x > 0.0, x, 1.0)
        odds, log_x = ratio * at, log(at)
        huge, tiny = odds > 1e18, odds < 1e-18  # where it, or the square of its inverse, may overflow
        odds = where(huge | tiny, 1.0, odds)
        rises = where(huge, log_ratio + log_x, where(tiny, ratio * at, log1p(odds)))
        falls = where(huge, 0.0, where(tiny, -(log_ratio + log_x), log1p(1.0 / odds)))  # log(1 + odds) less log(odds)
        many = (p.alpha >= SERIES) & (p.beta >= SERIES)
        step = where(huge, math.inf, (at - 1.0) / (where(tiny, ratio * at, odds) + 1.0))
        inside = where(many, _of_many(p, at, step, rises), _of_few(p, rises, falls)) - log_x
        edge = xlogy(p.alpha - 1.0, x) + (p.alpha * log_ratio - lbeta(p.alpha, p.beta))
        return where(x > 0.0, inside, edge - (p.alpha + p.beta) * (ratio * x))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return exp(random.log_gamma(p.alpha) - random.log_gamma(p.beta)) * (p.df2 / p.df1)

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


def _of_few(p: Parameters, rises: Node, falls: Node) -> Node:
    """log(y^a (1 - y)^b / B(a, b)) for y = odds / (1 + odds)."""
    few, many = minimum(p.alpha, p.beta), maximum(p.alpha, p.beta)
    constant = lgamma_delta(many, few) - lgamma(few)
    return constant - (p.alpha * falls + p.beta * rises)


def _of_many(p: Parameters, x: Node, step: Node, rises: Node) -> Node:
    """The same, where y exceeds a / (a + b) by its ``step``th part, and 1 - y falls short of b / (a + b)."""
    ratio = p.df1 / p.df2
    a, b, step = maximum(p.alpha, SERIES), maximum(p.beta, SERIES), minimum(step, 1.0 / ratio)
    above = _less_deviance(a, step, log(x) + log1p(ratio) - rises)
    body = above + _less_deviance(b, -ratio * step, log1p(ratio) - rises)
    stirling = stirling_error(a + b) - stirling_error(a) - stirling_error(b)
    return body + stirling + 0.5 * (log(a) + log(b) - log(a + b) - LOG_TWO_PI)


def _less_deviance(k: Node, e: Node, logarithm: Node) -> Node:
    """k (log(1 + e) - e), where the logarithm is given for an e next to -1."""
    less = e < -0.9
    return k * where(less, logarithm - e, log1p_excess(where(less, 0.0, e)))
