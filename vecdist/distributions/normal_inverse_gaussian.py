"""The normal-inverse Gaussian distribution."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node, const
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.bessel_orders import log_kve
from vecdist.primitives.elementary import log
from vecdist.primitives.power import hypot

within_alpha = Constraint(
    "a number between -alpha and alpha, both excluded",
    lower=lambda p: -p.alpha,
    upper=lambda p: p.alpha,
    open_lower=True,
    open_upper=True,
)


class NormalInverseGaussian(Distribution):
    """Normal-inverse Gaussian distribution, f(x) = alpha delta K1(alpha q) exp(delta g + beta d) / (pi q).

    Written ``NormalInverseGaussian(loc, alpha, beta, delta)`` with d = x - loc, q = sqrt(delta^2 + d^2) and
    g = sqrt(alpha^2 - beta^2).
    Barndorff-Nielsen (1997), Normal inverse Gaussian distributions and stochastic volatility modelling, Scandinavian
    Journal of Statistics 24.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(NormalInverseGaussian(0.0, 2.0, 1.0, 1.0), np.array([0.0, 2.0]))).round(4)
    array([-0.6866, -2.4436])
    """

    oracle = "scipy.stats.norminvgauss(alpha * delta, beta * delta, loc, delta)"

    @parametrisation(loc=finite, alpha=positive, beta=within_alpha, delta=positive)
    @staticmethod
    def by_tails(loc: Node, alpha: Node, beta: Node, delta: Node) -> dict[str, Node]:
        gamma = sqrt((alpha - beta) * (alpha + beta))
        return {"loc": loc, "alpha": alpha, "beta": beta, "delta": delta, "gamma": gamma}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """The exponent delta g + beta d - alpha q as a quotient, whose terms do not cancel."""
        d = x - p.loc
        q = hypot(p.delta, d)
        rest = (p.gamma * d - p.delta * p.beta) * (
            (p.gamma * d - p.delta * p.beta) / (p.alpha * q + p.beta * d + p.delta * p.gamma)
        )
        scaled = log_kve(const(1.0, x.dtype), p.alpha * q)
        return scaled - rest - log(q) + (log(p.alpha) + log(p.delta) - math.log(math.pi))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + p.delta * p.beta / p.gamma

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.delta / p.gamma * square(p.alpha / p.gamma)
