"""The negative binomial distribution."""

from vecdist.constraints import (
    Constraint,
    below_infinity,
    light_count,
    nonnegative,
    positive,
    positive_or_infinite,
    positive_unit_interval,
)
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import ceil, eq, maximum
from vecdist.primitives.elementary import exp, log, log1p, log_sigmoid, sigmoid
from vecdist.primitives.floating import at_most, width
from vecdist.primitives.logarithms import log1p_quotient
from vecdist.primitives.rounding import plain_log_rest
from vecdist.special.count_quantiles import beta_count_quantile
from vecdist.special.draws import poisson_draw
from vecdist.special.formulas import times
from vecdist.special.gamma_differences import lbeta_of_count
from vecdist.special.odds import cdf_of_shares, log_cdf_of_shares, log_sf_of_shares, sf_of_shares
from vecdist.special.staircase import settled

POISSON = {8: 2.0**70, 4: 2.0**40}  # a dispersion from which on it is no other distribution


def by_log_odds(r: Node, log_odds: Node) -> dict[str, Node]:
    """What the formulas are made of, by log(q / p)."""
    log_p, log_q = log_sigmoid(-log_odds), log_sigmoid(log_odds)
    return {"r": r, "p": sigmoid(-log_odds), "q": sigmoid(log_odds), "log_p": log_p, "log_q": log_q}


class NegativeBinomial(Distribution):
    """Negative binomial distribution, f(x) = Γ(x + r) / (x! Γ(r)) p^r (1 - p)^x for x = 0, 1, ...

    Written ``NegativeBinomial(r, p)`` with mean r (1 - p) / p, the failures before success number r; by the
    probability of what is counted, ``NegativeBinomial(r=, q=)`` with q = 1 - p or ``NegativeBinomial(r=, log_odds=)``
    with log_odds = log(q / p); or as a Poisson distribution whose rate has a gamma distribution,
    ``NegativeBinomial(shape=, rate=)`` with mean shape / rate, ``NegativeBinomial(mean=, dispersion=)`` or
    ``NegativeBinomial(log_mean=, dispersion=)`` with variance mean + mean^2 / dispersion, r being the dispersion:
    Stan's ``neg_binomial_2``, Poisson for an infinite one.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 5.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(NegativeBinomial(2.0, 0.25), np.array([0, 1, -1]))).round(4)
    array([-2.7726, -2.3671,    -inf])
    """

    discrete = True
    oracle = "scipy.stats.nbinom(r, p)"

    @parametrisation(r=positive, p=positive_unit_interval)
    @staticmethod
    def by_probability(r: Node, p: Node) -> dict[str, Node]:
        return {"r": r, "p": p, "q": 1.0 - p, "log_p": log(p), "log_q": log1p(-p), "log_p_lost": plain_log_rest(p)}

    @parametrisation(r=positive, q=Constraint("a number of at least 0, below 1", 0.0, 1.0, open_upper=True))
    @staticmethod
    def by_complement(r: Node, q: Node) -> dict[str, Node]:
        return {"r": r, "p": 1.0 - q, "q": q, "log_p": log1p(-q), "log_q": log(q)}

    @parametrisation(r=positive, log_odds=below_infinity)
    @staticmethod
    def by_log_odds(r: Node, log_odds: Node) -> dict[str, Node]:
        return by_log_odds(r, log_odds)

    @parametrisation(shape=positive, rate=positive)
    @staticmethod
    def by_rate(shape: Node, rate: Node) -> dict[str, Node]:
        p, q = rate / (1.0 + rate), 1.0 / (1.0 + rate)
        return {"r": shape, "p": p, "q": q, "log_p": -log1p(1.0 / rate), "log_q": -log1p(rate)}

    @parametrisation(mean=nonnegative, dispersion=positive_or_infinite)
    @staticmethod
    def by_mean(mean: Node, dispersion: Node) -> dict[str, Node]:
        r = at_most(dispersion, POISSON[width(dispersion)])
        p, q = r / (mean + r), mean / (mean + r)
        log_p, log_q = -log1p_quotient(mean, r), -log1p_quotient(r, mean)
        return {"r": r, "p": p, "q": q, "log_p": log_p, "log_q": log_q}

    @parametrisation(log_mean=below_infinity, dispersion=positive_or_infinite)
    @staticmethod
    def by_log_mean(log_mean: Node, dispersion: Node) -> dict[str, Node]:
        r = at_most(dispersion, POISSON[width(dispersion)])
        return by_log_odds(r, log_mean - log(r))

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return light_count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        orders = where(eq(x, 0.0), 0.0, lbeta_of_count(p.r, x + 1.0) + log(p.r + x))
        return times(x, p.log_q) + p.r * p.log_p - orders

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """A Poisson variable whose rate has a gamma distribution."""
        return random.draw(poisson_draw, exp(random.log_gamma(p.r) + (p.log_q - p.log_p)))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.r * exp(p.log_q - p.log_p)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.r * exp(p.log_q - 2.0 * p.log_p)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(ceil((p.r - 1.0) * exp(p.log_q - p.log_p)) - 1.0, 0.0)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return cdf_of_shares(p.r, x + 1.0, p.p, p.q, p.log_p, p.log_q)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return sf_of_shares(p.r, x + 1.0, p.p, p.q, p.log_p, p.log_q)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_cdf_of_shares(p.r, x + 1.0, p.p, p.q, p.log_p, p.log_q)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_sf_of_shares(p.r, x + 1.0, p.p, p.q, p.log_p, p.log_q)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        k = beta_count_quantile(const(0.0, q.dtype), p.r, exp(p.log_p - p.log_q), q)
        return settled(k, q, lambda at: NegativeBinomial.cdf(at, p), NegativeBinomial.support(p))
