"""The discrete Weibull distribution."""

from vecdist.constraints import Constraint, count, open_unit_interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import ceil, eq
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least
from vecdist.primitives.power import power
from vecdist.special.gumbel_mass import log_gumbel_mass
from vecdist.special.parts import Parts, log_parts
from vecdist.special.staircase import settled


class DiscreteWeibull(Distribution):
    """Discrete Weibull distribution, f(x) = q^(x^beta) - q^((x + 1)^beta) for x = 0, 1, ...

    Written ``DiscreteWeibull(q, beta)``.
    Nakagawa and Osaki (1975), The discrete Weibull distribution, IEEE Transactions on Reliability 24.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(DiscreteWeibull(0.5, 1.0), np.array([0, 1, -1]))).round(4)
    array([-0.6931, -1.3863,    -inf])
    """

    discrete = True

    @parametrisation(q=open_unit_interval, beta=positive)
    @staticmethod
    def by_decay(q: Node, beta: Node) -> dict[str, Node]:
        return {"q": q, "log_q": log(q), "beta": beta}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """By logarithms in two parts of x^beta log(1 / q): far out exponentials of exponentials amplify them."""
        at_zero = eq(x, 0.0)
        k = where(at_zero, 1.0, x)
        rarity = (-log_parts(p.q)).log()
        start, length = log_parts(k).times(p.beta) + rarity, (log_parts(k + 1.0) - log_parts(k)).times(p.beta)
        log_length = log(p.beta) + log(log1p(1.0 / k))
        excess = (length - Parts(exp(log_length), const(0.0, x.dtype))).whole
        mass = log_gumbel_mass(*start, log_length, excess)
        return where(at_zero, log1p(-p.q), mass)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return power(x + 1.0, p.beta) * p.log_q

    @staticmethod
    def least_log_sf(x: Node, p: Parameters) -> Node:
        """No less than what has 0 as its exponential, and a slope of 0 there."""
        return at_least(DiscreteWeibull.log_sf(x, p), -1e3)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return exp(DiscreteWeibull.least_log_sf(x, p))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(DiscreteWeibull.least_log_sf(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        k = ceil(power(log1p(-q) / p.log_q, 1.0 / p.beta)) - 1.0
        return settled(k, q, lambda k: DiscreteWeibull.cdf(k, p), count)
