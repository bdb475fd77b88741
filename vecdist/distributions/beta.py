"""The beta distribution."""

from vecdist.constraints import Constraint, open_unit_interval, positive, unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import maximum, sqrt
from vecdist.primitives.elementary import log, sigmoid
from vecdist.special.beta_quantiles import share_of_odds
from vecdist.special.beta_ratios import beta_spread
from vecdist.special.error_functions import digamma_delta, lbeta, xlog1py, xlogy
from vecdist.special.incomplete_beta import betainc, betaincc, log_betainc, log_betaincc
from vecdist.special.odds import odds_of_cdf

below_widest: Constraint = Constraint(
    "a positive number below sqrt(mean (1 - mean))",
    lower=0.0,
    upper=lambda p: sqrt(p.mean * (1.0 - p.mean)),
    open_lower=True,
    open_upper=True,
)


class Beta(Distribution):
    """Beta distribution, f(x) = x^(alpha - 1) (1 - x)^(beta - 1) / B(alpha, beta) for 0 <= x <= 1.

    Written ``Beta(alpha, beta)``, ``Beta(mean=, concentration=)``, where the concentration is alpha + beta, or
    ``Beta(mean=, sd=)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 25.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Beta(1.0, 2.0), np.array([0.0, 0.5, 1.0]))).round(4)
    array([0.6931, 0.    ,   -inf])
    """

    oracle = "scipy.stats.beta(alpha, beta)"

    @parametrisation(alpha=positive, beta=positive)
    @staticmethod
    def by_counts(alpha: Node, beta: Node) -> dict[str, Node]:
        return {"alpha": alpha, "beta": beta}

    @parametrisation(mean=open_unit_interval, concentration=positive)
    @staticmethod
    def by_concentration(mean: Node, concentration: Node) -> dict[str, Node]:
        return {"alpha": mean * concentration, "beta": (1.0 - mean) * concentration}

    @parametrisation(mean=open_unit_interval, sd=below_widest)
    @staticmethod
    def by_sd(mean: Node, sd: Node) -> dict[str, Node]:
        concentration = mean / sd * ((1.0 - mean) / sd) - 1.0
        return {"alpha": mean * concentration, "beta": (1.0 - mean) * concentration}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return unit_interval

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return xlogy(p.alpha - 1.0, x) + xlog1py(p.beta - 1.0, -x) - lbeta(p.alpha, p.beta)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return sigmoid(random.log_gamma(p.alpha) - random.log_gamma(p.beta))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.alpha / (p.alpha + p.beta)

    @staticmethod
    def variance(p: Parameters) -> Node:
        total = p.alpha + p.beta
        return p.alpha / total * (p.beta / total) / (total + 1.0)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        """By the differences next to the uniform distribution, whose entropy is 0."""
        spread = (p.alpha - 1.0) * digamma_delta(p.alpha, p.beta) + (p.beta - 1.0) * digamma_delta(p.beta, p.alpha)
        total = p.alpha + p.beta
        logarithms = log(p.alpha / total) + log(p.beta / total) - log(total)
        large = beta_spread(p.alpha, p.beta) + 0.5 * logarithms
        return where((p.alpha < 4.0) & (p.beta < 4.0), lbeta(p.alpha, p.beta) + spread, large)

    @staticmethod
    def mode(p: Parameters) -> Node:
        rises, falls = maximum(p.alpha - 1.0, 0.0), maximum(p.beta - 1.0, 0.0)
        flat = where(p.alpha > p.beta, const(1.0, p.alpha.dtype), 0.0)  # at an end where both are at most 1
        return where(rises + falls > 0.0, rises / (rises + falls), flat)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return betainc(p.alpha, p.beta, x)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return betaincc(p.alpha, p.beta, x)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_betainc(p.alpha, p.beta, x)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_betaincc(p.alpha, p.beta, x)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return share_of_odds(odds_of_cdf(q, p.alpha, p.beta))
