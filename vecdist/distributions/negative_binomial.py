"""The negative binomial distribution."""

from vecdist.constraints import Constraint, below_infinity, count, nonnegative, positive, positive_unit_interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import times
from vecdist.expr import Node
from vecdist.primitives.arithmetic import maximum, minimum
from vecdist.primitives.elementary import log, log1p, log_sigmoid
from vecdist.primitives.special import lbeta


class NegativeBinomial(Distribution):
    """Negative binomial distribution, f(x) = Γ(x + r) / (x! Γ(r)) p^r (1 - p)^x for x = 0, 1, ...

    Written ``NegativeBinomial(r, p)`` with mean r (1 - p) / p, the failures before success number r; or
    ``NegativeBinomial(mean=, dispersion=)`` or ``NegativeBinomial(log_mean=, dispersion=)`` with variance
    mean + mean^2 / dispersion, r being the dispersion: Stan's ``neg_binomial_2``, Poisson in the limit of a large one.
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
        return {"r": r, "log_p": log(p), "log_q": log1p(-p)}

    @parametrisation(mean=nonnegative, dispersion=positive)
    @staticmethod
    def by_mean(mean: Node, dispersion: Node) -> dict[str, Node]:
        logit = log(mean) - log(dispersion)
        both = log1p(minimum(mean, dispersion) / maximum(mean, dispersion))
        return {"r": dispersion, "log_p": -(both + maximum(logit, 0.0)), "log_q": -(both + maximum(-logit, 0.0))}

    @parametrisation(log_mean=below_infinity, dispersion=positive)
    @staticmethod
    def by_log_mean(log_mean: Node, dispersion: Node) -> dict[str, Node]:
        logit = log_mean - log(dispersion)
        return {"r": dispersion, "log_p": log_sigmoid(-logit), "log_q": log_sigmoid(logit)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return times(x, p.log_q) + p.r * p.log_p - (lbeta(p.r, x + 1.0) + log(p.r + x))
