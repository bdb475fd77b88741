"""The discrete Weibull distribution."""

from vecdist.constraints import Constraint, count, open_unit_interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import log1mexp_of_exp, power_of_distance
from vecdist.distributions.staircase import settled
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import ceil, eq
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import INFINITY, at_least, width
from vecdist.primitives.logarithms import LARGE, log1mexp
from vecdist.primitives.power import power


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
        """Where x is large, by the logarithm of the growth of x^beta: the growth itself may underflow."""
        at_zero, far = eq(x, 0.0), x > LARGE[width(x)]
        k = where(at_zero | far, 1.0, x)
        here, rise = power(k, p.beta), p.beta * log1p(1.0 / k)
        growth = where((rise < 0.7) | eq(here, INFINITY), here * expm1(rise), power(k + 1.0, p.beta) - here)
        near = log1mexp(at_least(growth * p.log_q, -1e4))  # exp of it is 0 long before it overflows
        rarity = (1.0 - p.beta) * log(where(far, x, 1.0)) - (log(p.beta) + log(-p.log_q))
        fall = where(far, log1mexp_of_exp(at_least(rarity, -9.0)), near)
        return where(at_zero, log1p(-p.q), power_of_distance(x, p.beta) * p.log_q + fall)

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
