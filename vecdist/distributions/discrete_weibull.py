"""The discrete Weibull distribution."""

from vecdist.constraints import Constraint, count, open_unit_interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import power_of_distance
from vecdist.distributions.staircase import settled
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import ceil
from vecdist.primitives.elementary import expm1, log, log1p
from vecdist.primitives.floating import at_least
from vecdist.primitives.logarithms import log1mexp
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
        return {"log_q": log(q), "beta": beta}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        here, next_one = power_of_distance(x, p.beta), power(x + 1.0, p.beta)
        growth = where(x > 0.0, here * expm1(p.beta * log1p(1.0 / x)), next_one)
        fall = at_least(growth * p.log_q, -1e4)  # exp of it is 0 long before it overflows
        return here * p.log_q + log1mexp(fall)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return power(x + 1.0, p.beta) * p.log_q

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(DiscreteWeibull.log_sf(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        k = ceil(power(log1p(-q) / p.log_q, 1.0 / p.beta)) - 1.0
        return settled(k, q, lambda k: DiscreteWeibull.cdf(k, p), count)
