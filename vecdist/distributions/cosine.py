"""The raised cosine distribution."""

import math

from vecdist.constraints import Constraint, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import angle_less_sine
from vecdist.expr import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import clamped, log
from vecdist.primitives.trigonometric import sin


class Cosine(Distribution):
    """Raised cosine distribution, f(x) = (1 + cos(pi z)) / (2 scale) with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``Cosine(loc, scale)``.
    Rinne (2010), Location-Scale Distributions, section 5.2.3.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Cosine(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.6931, -1.3863,    -inf])
    """

    oracle = "scipy.stats.cosine(loc, scale / numpy.pi)"
    symmetric = True

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.loc - p.scale, p.loc + p.scale)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        z = clamped((x - p.loc) / p.scale, (-1.0, 1.0))
        return 2.0 * log(sin(math.pi / 2 * (1.0 - abs(z)))) - log(p.scale)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        z = clamped((x - p.loc) / p.scale, (-1.0, 1.0))
        return angle_less_sine(math.pi * (1.0 + z)) / (2 * math.pi)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) * (1 / 3 - 2 / math.pi**2)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + (math.log(4) - 1)
