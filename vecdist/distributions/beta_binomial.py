"""The beta-binomial distribution."""

from vecdist.constraints import Constraint, count, count_up_to, open_unit_interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node, where
from vecdist.primitives.elementary import log1p
from vecdist.primitives.special import lbeta, lgamma_delta, log_choose


class BetaBinomial(Distribution):
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
        total, rest, many = p.alpha + p.beta, p.n - x, p.n > p.alpha + p.beta
        # B(x + alpha, n - x + beta) over B(x + 1, n - x + 1) or B(alpha, beta): of large numbers, small differences
        successes = lgamma_delta(where(many, x + 1.0, p.alpha), where(many, p.alpha - 1.0, x))
        failures = lgamma_delta(where(many, rest + 1.0, p.beta), where(many, p.beta - 1.0, rest))
        both = lgamma_delta(where(many, p.n + 2.0, total), where(many, total - 2.0, p.n))
        constant = where(many, -lbeta(p.alpha, p.beta) - log1p(p.n), log_choose(p.n, x))
        return successes + failures - both + constant

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.n * p.alpha / (p.alpha + p.beta)

    @staticmethod
    def variance(p: Parameters) -> Node:
        total = p.alpha + p.beta
        return p.n * (p.alpha / total) * (p.beta / total) * ((total + p.n) / (total + 1.0))
