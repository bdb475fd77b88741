"""The beta-binomial distribution."""

from vecdist.constraints import Constraint, count, count_up_to, open_unit_interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.count_cdfs import draws_quantile
from vecdist.distributions.stream import Stream
from vecdist.distributions.tail_sums import OfDraws
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, maximum, minimum
from vecdist.primitives.elementary import log1p, log_sigmoid
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.beta_ratios import digamma_rise, slope
from vecdist.special.count_quantiles import by_bisection
from vecdist.special.draws import binomial_draw
from vecdist.special.error_functions import lbeta, lgamma_delta, log_choose


def _log_mass(x: Node, n: Node, alpha: Node, beta: Node) -> Node:
    """B(x + alpha, n - x + beta) over B(x + 1, n - x + 1), over B(alpha, beta), or, where few are chosen, as it stands.

    Each is where its terms are the smallest, so that little cancels.
    """
    total, rest = alpha + beta, n - x
    many, few = n > total, maximum(minimum(alpha, beta), minimum(x, rest)) < minimum(n, total)
    successes = lgamma_delta(where(many, x + 1.0, alpha), where(many, alpha - 1.0, x))
    failures = lgamma_delta(where(many, rest + 1.0, beta), where(many, beta - 1.0, rest))
    both = lgamma_delta(where(many, n + 2.0, total), where(many, total - 2.0, n))
    per_beta, choices = lbeta(alpha, beta), where(eq(x, 0.0), 0.0, log_choose(n, x))
    constant = where(many, -per_beta - log1p(n), choices)
    direct = (lbeta(x + alpha, rest + beta) - per_beta) + choices
    return where(few, direct, successes + failures - both + constant)


def _slopes(x: Node, n: Node, alpha: Node, beta: Node, out: Node) -> tuple[Node, ...]:
    rest = n - x
    return (
        digamma_rise(x + 1.0, alpha - 1.0) - digamma_rise(rest + 1.0, beta - 1.0),
        digamma_rise(rest + 1.0, x) - digamma_rise(rest + beta, x + alpha),
        slope(alpha, beta, x, rest), slope(beta, alpha, rest, x),
    )


log_mass: Primitive = primitive(
    "beta_binomial_log_mass", 4, expand=_log_mass, partials=_slopes, floating=True,
    domain=((2.0, 9.0), (10.0, 30.0), (0.2, 20.0), (0.2, 20.0)),
)


class BetaBinomial(OfDraws, Distribution):
    """Beta-binomial distribution, f(x) = C(n, x) B(x + alpha, n - x + beta) / B(alpha, beta) for x = 0, ..., n.

    Written ``BetaBinomial(n, alpha, beta)`` or ``BetaBinomial(n=, mean=, concentration=)``, those of the beta
    distribution of the probability: mean = alpha / (alpha + beta) and concentration = alpha + beta.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 6.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(BetaBinomial(3, 1.0, 1.0), np.array([0, 3, 4]))).round(4)
    array([-1.3863, -1.3863,    -inf])
    """

    discrete = True
    oracle = "scipy.stats.betabinom(n.astype(int), alpha, beta)"

    @parametrisation(n=count, alpha=positive, beta=positive)
    @staticmethod
    def by_counts(n: Node, alpha: Node, beta: Node) -> dict[str, Node]:
        return {"n": n, "alpha": alpha, "beta": beta}

    @parametrisation(n=count, mean=open_unit_interval, concentration=positive)
    @staticmethod
    def by_concentration(n: Node, mean: Node, concentration: Node) -> dict[str, Node]:
        return {"n": n, "alpha": mean * concentration, "beta": (1.0 - mean) * concentration}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count_up_to(p.n)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_mass(x, p.n, p.alpha, p.beta)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        log_odds = random.log_gamma(p.alpha) - random.log_gamma(p.beta)
        return random.draw(binomial_draw, p.n, log_sigmoid(log_odds), log_sigmoid(-log_odds))

    @staticmethod
    def urn(p: Parameters) -> tuple[Node, Node, Node]:
        return p.n, p.alpha, p.beta

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        support = BetaBinomial.support(p)
        return by_bisection(draws_quantile, q, BetaBinomial.urn(p), support, lambda at: BetaBinomial.cdf(at, p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.n * p.alpha / (p.alpha + p.beta)

    @staticmethod
    def variance(p: Parameters) -> Node:
        total = p.alpha + p.beta
        return p.n * (p.alpha / total) * (p.beta / total) * ((total + p.n) / (total + 1.0))
