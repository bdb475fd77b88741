"""The geometric distribution."""

from vecdist.constraints import Constraint, count, positive_unit_interval, real
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import ceil, eq
from vecdist.primitives.elementary import exp, expm1, log, log1p, log_sigmoid, sigmoid
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.formulas import times
from vecdist.special.staircase import settled


def _power_slopes(k: Node, log_q: Node, q: Node, power: Node) -> tuple[Node, None, Node]:
    """That in q is k q^(k - 1), though q be 0."""
    at_zero = where(eq(k, 1.0), const(1.0, q.dtype), 0.0)
    return times(power, log_q), None, k * where(q > 0.0, power / q, at_zero)


def _rest_slopes(k: Node, log_q: Node, q: Node, rest: Node) -> tuple[Node, None, Node]:
    of_k, _, of_q = _power_slopes(k, log_q, q, exp(k * log_q))
    return -of_k, None, -of_q


falling_power: Primitive = primitive(  # exp(k log_q) for k >= 1, with the slopes of q^k in q
    "falling_power", 3, expand=lambda k, log_q, q: exp(k * log_q), partials=_power_slopes, floating=True,
)
falling_rest: Primitive = primitive(  # 1 less that
    "falling_rest", 3, expand=lambda k, log_q, q: -expm1(k * log_q), partials=_rest_slopes, floating=True,
)


class Geometric(Distribution):
    """Geometric distribution, f(x) = p (1 - p)^x for x = 0, 1, ...: the failures before the first success.

    Written ``Geometric(p)`` or ``Geometric(logit=)`` with logit = log(p / (1 - p)), infinite where p is 1. Of the
    number of trials up to that success, 1, 2, ..., ask at the number less 1.
    Johnson, Kemp and Kotz (2005), Univariate Discrete Distributions, third edition, chapter 5.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Geometric(0.25), np.array([0, 1, -1]))).round(4)
    array([-1.3863, -1.674 ,    -inf])
    """

    discrete = True
    oracle = "scipy.stats.geom(p, -1)"

    @parametrisation(p=positive_unit_interval)
    @staticmethod
    def by_probability(p: Node) -> dict[str, Node]:
        return {"log_p": log(p), "log_q": log1p(-p), "q": 1.0 - p}

    @parametrisation(logit=real)
    @staticmethod
    def by_logit(logit: Node) -> dict[str, Node]:
        return {"log_p": log_sigmoid(logit), "log_q": log_sigmoid(-logit), "q": sigmoid(-logit)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return p.log_p + times(x, p.log_q)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return falling_rest(x + 1.0, p.log_q, p.q)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return falling_power(x + 1.0, p.log_q, p.q)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return (x + 1.0) * p.log_q

    @staticmethod
    def mean(p: Parameters) -> Node:
        return exp(p.log_q - p.log_p)

    @staticmethod
    def variance(p: Parameters) -> Node:
        return exp(p.log_q - 2.0 * p.log_p)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return -(times(exp(p.log_q - p.log_p), p.log_q) + p.log_p)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.log_p

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        k = ceil(log1p(-q) / p.log_q) - 1.0
        return where(q <= exp(p.log_p), 0.0, settled(k, q, lambda k: Geometric.cdf(k, p), count))
