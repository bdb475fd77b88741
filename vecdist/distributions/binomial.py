"""The binomial distribution."""

from vecdist.constraints import Constraint, count, count_up_to, real, unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const
from vecdist.primitives.arithmetic import ceil, maximum
from vecdist.primitives.elementary import exp, log, log1p, log_sigmoid, sigmoid
from vecdist.primitives.rounding import log1p_rest
from vecdist.special.count_quantiles import beta_count_quantile
from vecdist.special.draws import binomial_draw
from vecdist.special.error_functions import log_choose
from vecdist.special.formulas import times
from vecdist.special.odds import cdf_of_shares, log_cdf_of_shares, log_sf_of_shares, sf_of_shares
from vecdist.special.staircase import settled


class Binomial(Distribution):
    """Binomial distribution, f(x) = C(n, x) p^x (1 - p)^(n - x) for x = 0, ..., n.

    Written ``Binomial(n, p)`` or ``Binomial(n=, logit=)`` with logit = log(p / (1 - p)), infinite where p is 0 or 1.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 3.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Binomial(3, 0.25), np.array([0, 1, 4]))).round(4)
    array([-0.863, -0.863,   -inf])
    """

    discrete = True
    oracle = "scipy.stats.binom(n.astype(int), p)"

    @parametrisation(n=count, p=unit_interval)
    @staticmethod
    def by_probability(n: Node, p: Node) -> dict[str, Node]:
        return {"n": n, "p": p, "q": 1.0 - p, "log_p": log(p), "log_q": log1p(-p), "log_q_lost": log1p_rest(-p)}

    @parametrisation(n=count, logit=real)
    @staticmethod
    def by_logit(n: Node, logit: Node) -> dict[str, Node]:
        p, q = sigmoid(logit), sigmoid(-logit)
        return {"n": n, "p": p, "q": q, "log_p": log_sigmoid(logit), "log_q": log_sigmoid(-logit)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count_up_to(p.n)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_choose(p.n, x) + times(x, p.log_p) + times(p.n - x, p.log_q)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return random.draw(binomial_draw, p.n, p.log_p, p.log_q)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.n * exp(p.log_p)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.n * exp(p.log_p + p.log_q)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(ceil((p.n + 1.0) * exp(p.log_p)) - 1.0, 0.0)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return sf_of_shares(x + 1.0, p.n - x, p.p, p.q, p.log_p, p.log_q)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return cdf_of_shares(x + 1.0, p.n - x, p.p, p.q, p.log_p, p.log_q)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_sf_of_shares(x + 1.0, p.n - x, p.p, p.q, p.log_p, p.log_q)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_cdf_of_shares(x + 1.0, p.n - x, p.p, p.q, p.log_p, p.log_q)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        k = beta_count_quantile(const(1.0, q.dtype), p.n, exp(p.log_q - p.log_p), q)
        return settled(k, q, lambda at: Binomial.cdf(at, p), Binomial.support(p))
