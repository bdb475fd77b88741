"""The geometric distribution."""

from vecdist.constraints import Constraint, count, positive_unit_interval, real
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import times
from vecdist.expr import Node
from vecdist.primitives.elementary import log, log1p, log_sigmoid


class Geometric(Distribution):
    """Geometric distribution, f(x) = p (1 - p)^x for x = 0, 1, ...: the failures before the first success.

    Written ``Geometric(p)`` or ``Geometric(logit=)`` with logit = log(p / (1 - p)), infinite where p is 1.
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
        return {"log_p": log(p), "log_q": log1p(-p)}

    @parametrisation(logit=real)
    @staticmethod
    def by_logit(logit: Node) -> dict[str, Node]:
        return {"log_p": log_sigmoid(logit), "log_q": log_sigmoid(-logit)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return p.log_p + times(x, p.log_q)
