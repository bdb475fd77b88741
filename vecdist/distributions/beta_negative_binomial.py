"""The beta-negative-binomial distribution."""

import math

from vecdist.constraints import Constraint, count, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import finite_variance
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log
from vecdist.primitives.special import lbeta, lgamma_delta


class BetaNegativeBinomial(Distribution):
    """Beta negative binomial distribution, f(x) = Γ(r + x) / (x! Γ(r)) B(alpha + r, beta + x) / B(alpha, beta).

    Written ``BetaNegativeBinomial(r, alpha, beta)``: x = 0, 1, ... failures before success number r, whose probability
    has the beta distribution of alpha and beta.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 6.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(BetaNegativeBinomial(1.0, 1.0, 1.0), np.array([0, 1, -1]))).round(4)
    array([-0.6931, -1.7918,    -inf])
    """

    discrete = True

    @parametrisation(r=positive, alpha=positive, beta=positive)
    @staticmethod
    def by_counts(r: Node, alpha: Node, beta: Node) -> dict[str, Node]:
        return {"r": r, "alpha": alpha, "beta": beta}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        many = x > p.alpha  # both forms are B(alpha + r, beta + x) / B(alpha, beta) over Γ(alpha + r) / Γ(alpha)
        start = where(many, p.beta, p.alpha + p.beta)
        end, step = where(many, p.beta + x, p.beta), where(many, p.alpha + p.r, x)
        difference = lgamma_delta(start, where(many, p.alpha, p.r + x)) - lgamma_delta(end, step)
        ratio = lgamma_delta(p.alpha, p.r) + where(many, difference, -difference)
        return ratio - (lbeta(p.r, x + 1.0) + log(p.r + x))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return where(p.alpha > 1.0, p.r * p.beta / (p.alpha - 1.0), math.inf)

    @staticmethod
    def variance(p: Parameters) -> Node:
        a = p.alpha - 1.0
        spread = p.r * p.beta * (a + p.r) * (a + p.beta) / ((a - 1.0) * square(a))
        return finite_variance(spread, a > 1.0, a > 0.0)
