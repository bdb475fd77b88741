"""Wigner's semicircle distribution."""

import math

from vecdist.constraints import Constraint, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.ends import log1m_square
from vecdist.distributions.formulas import angle_less_sine
from vecdist.distributions.stream import Stream
from vecdist.expr import Node, const
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.incomplete_beta import betaincinv
from vecdist.primitives.trigonometric import arctan


class Semicircle(Distribution):
    """Semicircle distribution, f(x) = 2 sqrt(radius^2 - x^2) / (pi radius^2) for -radius <= x <= radius.

    Written ``Semicircle(radius)``.
    Wigner (1955), Characteristic vectors of bordered matrices with infinite dimensions, Annals of Mathematics 62.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Semicircle(2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-1.1447, -1.2886,    -inf])
    """

    oracle = "scipy.stats.semicircular(scale=radius)"

    @parametrisation(radius=positive)
    @staticmethod
    def by_radius(radius: Node) -> dict[str, Node]:
        return {"radius": radius}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(-p.radius, p.radius)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        inside = log1m_square(x, const(0.0, x.dtype), p.radius)
        return 0.5 * inside + (math.log(2 / math.pi) - log(p.radius))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return angle_less_sine(4.0 * arctan(sqrt((p.radius + x) / (p.radius - x)))) / (2 * math.pi)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return Semicircle.cdf(-x, p)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.radius * random.coordinate(0.5)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return 0.0 * p.radius

    median = mode = mean

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.radius) / 4.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.radius) + (math.log(math.pi) - 0.5)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        half = const(1.5, q.dtype)  # (1 + x / radius) / 2 has a beta distribution
        return p.radius * (2.0 * betaincinv(half, half, q) - 1.0)
