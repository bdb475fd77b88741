"""The beta prime distribution."""


from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import maximum
from vecdist.primitives.elementary import exp, log, log1p
from vecdist.special.beta_ratios import odds_spread
from vecdist.special.error_functions import lbeta, xlogy
from vecdist.special.formulas import infinite_where
from vecdist.special.odds import cdf_of_odds, log_cdf_of_odds, log_sf_of_odds, odds_of_cdf, sf_of_odds


class BetaPrime(Distribution):
    """Beta prime distribution, f(x) = x^(alpha - 1) (1 + x)^(-alpha - beta) / B(alpha, beta) for x >= 0.

    Written ``BetaPrime(alpha, beta)``; it is the distribution of the odds y / (1 - y) of a beta distributed y.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 27.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(BetaPrime(1.0, 2.0), np.array([0.0, 1.0]))).round(4)
    array([ 0.6931, -1.3863])
    """

    oracle = "scipy.stats.betaprime(alpha, beta)"

    @parametrisation(alpha=positive, beta=positive)
    @staticmethod
    def by_counts(alpha: Node, beta: Node) -> dict[str, Node]:
        return {"alpha": alpha, "beta": beta}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return xlogy(p.alpha - 1.0, x) - (p.alpha + p.beta) * log1p(x) - lbeta(p.alpha, p.beta)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return exp(random.log_gamma(p.alpha) - random.log_gamma(p.beta))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.beta <= 1.0, p.alpha / (p.beta - 1.0))

    @staticmethod
    def variance(p: Parameters) -> Node:
        b = p.beta - 1.0
        spread = p.alpha / b * ((p.alpha + b) / b) / (b - 1.0)
        return infinite_where(b <= 1.0, spread)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(p.alpha - 1.0, 0.0) / (p.beta + 1.0)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return cdf_of_odds(x, p.alpha, p.beta)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return sf_of_odds(x, p.alpha, p.beta)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_cdf_of_odds(x, p.alpha, p.beta)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_sf_of_odds(x, p.alpha, p.beta)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return odds_of_cdf(q, p.alpha, p.beta)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return 1.0 / odds_of_cdf(q, p.beta, p.alpha)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        ratio, rest = p.alpha / p.beta, (p.alpha + p.beta) / p.beta
        return odds_spread(p.alpha, p.beta) + 0.5 * (log(ratio) + log(rest) - log(p.beta))
