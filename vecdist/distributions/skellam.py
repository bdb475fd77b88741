"""The Skellam distribution."""

from vecdist.constraints import Constraint, integer, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.bessel_orders import log_ive
from vecdist.primitives.elementary import log


class Skellam(Distribution):
    """Skellam distribution, f(x) = exp(-rate1 - rate2) (rate1 / rate2)^(x / 2) I|x|(2 sqrt(rate1 rate2)), x whole.

    Written ``Skellam(rate1, rate2)``; it is the distribution of the difference of two Poisson variables.
    Skellam (1946), The frequency distribution of the difference between two Poisson variates, Journal of the Royal
    Statistical Society 109.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(Skellam(2.0, 1.0), np.array([-1, 0, 1]))).round(4)
    array([-2.1267, -1.5525, -1.4335])
    """

    discrete = True
    oracle = "scipy.stats.skellam(rate1, rate2)"

    @parametrisation(rate1=positive, rate2=positive)
    @staticmethod
    def by_rates(rate1: Node, rate2: Node) -> dict[str, Node]:
        return {"rate1": rate1, "rate2": rate2, "root1": sqrt(rate1), "root2": sqrt(rate2)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return integer

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        tilt = 0.5 * x * (log(p.rate1) - log(p.rate2)) - square(p.root1 - p.root2)
        return tilt + log_ive(abs(x), 2.0 * p.root1 * p.root2)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.rate1 - p.rate2

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.rate1 + p.rate2
