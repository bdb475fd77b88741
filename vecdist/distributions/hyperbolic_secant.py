"""The hyperbolic secant distribution."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, log, log1p, log_cosh
from vecdist.primitives.trigonometric import arctan, near_tan


class HyperbolicSecant(Distribution):
    """Hyperbolic secant distribution, f(x) = sech(z) / (pi scale) with z = (x - loc) / scale.

    Written ``HyperbolicSecant(loc, scale)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, section 23.11.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(HyperbolicSecant(0.0, 2.0), np.array([0.0, 2.0]))).round(4)
    array([-1.8379, -2.2717])
    """

    oracle = "scipy.stats.hypsecant(loc, scale)"
    symmetric = True
    certain: float | None = LIGHT

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return (x - p.loc) * p.inverse_scale

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -log_cosh(HyperbolicSecant.standardised(x, p)) - (p.log_scale + math.log(math.pi))

    @staticmethod
    def shorter_tail(z: Node) -> Node:
        """The tail that z lies in."""
        return 2 / math.pi * arctan(exp(where(z > 0.0, -z, z)))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        z = HyperbolicSecant.standardised(x, p)
        tail = HyperbolicSecant.shorter_tail(z)
        return where(z > 0.0, 1.0 - tail, tail)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        z = HyperbolicSecant.standardised(x, p)
        tail = HyperbolicSecant.shorter_tail(z)
        return where(z > 0.0, log1p(-tail), where(z < -40.0, z + math.log(2 / math.pi), log(tail)))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return math.pi**2 / 4 / square(p.inverse_scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + math.log(2 * math.pi)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        upper = q > 0.5
        z = log(near_tan(math.pi / 2 * where(upper, 1.0 - q, q)))
        return p.loc + where(upper, -z, z) / p.inverse_scale
