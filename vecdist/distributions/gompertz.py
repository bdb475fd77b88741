"""The Gompertz distribution."""

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const
from vecdist.primitives.arithmetic import maximum, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least, at_most
from vecdist.primitives.log_products import log_product, log_quotient
from vecdist.special.parts import NOTHING, Parts
from vecdist.special.quadrature import integral

MOST = 1e4  # whose exponential is infinite
STEP = 0.25  # in log v: exp(-v) does not fall off at distances of pi / 2


class Gompertz(Distribution):
    """Gompertz distribution, f(x) = shape rate exp(rate x - shape (exp(rate x) - 1)) for x >= 0.

    Written ``Gompertz(shape, rate)`` or ``Gompertz(shape=, scale=)`` with scale = 1 / rate.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 22.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Gompertz(1.0, 2.0), np.array([0.0, 0.5]))).round(4)
    array([ 0.6931, -0.0251])
    """

    oracle = "scipy.stats.gompertz(shape, scale=1 / rate)"

    @parametrisation(shape=positive, rate=positive)
    @staticmethod
    def by_rate(shape: Node, rate: Node) -> dict[str, Node]:
        return {"shape": shape, "rate": rate, "log_rise": log_product(shape, rate)}

    @parametrisation(shape=positive, scale=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node) -> dict[str, Node]:
        return {"shape": shape, "rate": 1.0 / scale, "log_rise": log_quotient(shape, scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return p.log_rise + at_most(p.rate * x, MOST) + Gompertz.log_sf(x, p)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return -p.shape * Parts(x, const(0.0, x.dtype)).times(p.rate).expm1()

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return exp(at_least(Gompertz.log_sf(x, p), NOTHING))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(at_least(Gompertz.log_sf(x, p), NOTHING))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return log1p(-log1p(-q) / p.shape) / p.rate

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return log1p(-log(q) / p.shape) / p.rate

    @staticmethod
    def mean(p: Parameters) -> Node:
        """By an integral, as the variance: rate x is log(1 + v / shape) for an exponential v."""
        return Gompertz.mean_in_scales(p) / p.rate

    @staticmethod
    def mean_in_scales(p: Parameters) -> Node:
        return integral(lambda s, shape: exp(s - exp(s)) * log1p(exp(s) / shape), -40.0, 4.0, STEP, (p.shape,))

    @staticmethod
    def variance(p: Parameters) -> Node:
        def term(s: Node, shape: Node, mean: Node) -> Node:
            return exp(s - exp(s)) * square(log1p(exp(s) / shape) - mean)

        return integral(term, -40.0, 4.0, STEP, (p.shape, Gompertz.mean_in_scales(p))) / square(p.rate)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(-log(p.shape), 0.0) / p.rate
