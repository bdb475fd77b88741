"""The Yule-Simon distribution."""


from vecdist.constraints import Constraint, positive, positive_count
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.count_cdfs import yule_simon_quantile
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import floor, square
from vecdist.primitives.elementary import expm1, log, log1p
from vecdist.primitives.logarithms import log1mexp
from vecdist.special.count_quantiles import by_bisection
from vecdist.special.error_functions import lbeta, log_multinomial
from vecdist.special.formulas import infinite_where

MANY = 1000.0  # where no product is next to 1


class YuleSimon(Distribution):
    """Yule-Simon distribution, f(x) = alpha B(x, alpha + 1) for x = 1, 2, ...

    Written ``YuleSimon(alpha)``.
    Simon (1955), On a class of skew distribution functions, Biometrika 42.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpmf(YuleSimon(2.0), np.array([0, 1, 2]))).round(4)
    array([   -inf, -0.4055, -1.7918])
    """

    discrete = True
    oracle = "scipy.stats.yulesimon(alpha)"

    @parametrisation(alpha=positive)
    @staticmethod
    def by_alpha(alpha: Node) -> dict[str, Node]:
        return {"alpha": alpha}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive_count

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log(p.alpha) + lbeta(x, p.alpha + 1.0)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        """That of a factorial over a rising one, which is a product of few factors where x is small."""
        few = (x < 4.0) & (p.alpha < MANY)
        a = where(few, p.alpha, 1.0)
        two = a + 0.5 * a * (1.0 + a)
        three = two + (a / 3.0) * (1.0 + two)
        more = where(x > 2.0, three, where(x > 1.0, two, a))
        return -where(few, log1p(more), log_multinomial(x, p.alpha))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(YuleSimon.log_sf(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return by_bisection(yule_simon_quantile, q, (p.alpha,), positive_count, lambda at: YuleSimon.cdf(at, p))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """A geometric variable, whose probability p has the density alpha p^(alpha - 1): Devroye (1986), X.6.3."""
        log_p = -random.exponential() / p.alpha
        return 1.0 + floor(random.exponential() / -log1mexp(log_p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.alpha <= 1.0, p.alpha / (p.alpha - 1.0))

    @staticmethod
    def variance(p: Parameters) -> Node:
        a = p.alpha - 1.0
        return infinite_where(a <= 1.0, square(p.alpha / a) / (a - 1.0))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.alpha + 1.0
