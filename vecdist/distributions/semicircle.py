"""Wigner's semicircle distribution."""

import math
from typing import Any

from vecdist.constraints import Constraint, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import INFINITY, at_least, width
from vecdist.primitives.rounding import sum_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import arctan
from vecdist.special.formulas import angle_less_sine
from vecdist.special.odds import symmetric_quantile
from vecdist.special.parts import Parts, difference

TWO_OVER_PI = {8: (0.6366197723675814, -3.935735335036497e-17), 4: (0.63661975, 2.5682553e-08)}


def _left(x: Node, radius: Node) -> Parts:
    """1 - z^2 for z = x / radius."""
    a = abs(x)
    return difference(radius, a).over(radius).product(Parts(radius + a, sum_rest(radius, a)).over(radius))


def _log_density(x: Node, radius: Node) -> Node:
    """The logarithm of the density in two parts, which may be next to 1."""
    one = const(1.0, x.dtype)
    factor = Parts(*(one * part for part in TWO_OVER_PI[width(x)]))
    left = _left(x, radius)
    density = Parts(at_least(left.high, 0.0), left.rest).root().product(factor).over(radius)
    rest = density.rest / density.high
    return log(density.high) + where(abs(rest) < INFINITY, rest, 0.0)


def _log_density_partials(x: Node, radius: Node, out: Node) -> tuple[Node, Node]:
    """That in the radius is (2 z^2 - 1) / (1 - z^2) / radius."""
    z = Parts(x, 0.0 * x).over(radius)
    left = at_least(_left(x, radius).whole, 0.0)
    twice = z.product(z).times(const(2.0, x.dtype)) - Parts(const(1.0, x.dtype), const(0.0, x.dtype))
    return -z.high / left / radius, twice.whole / left / radius


def _cdf(x: Node, radius: Node) -> Node:
    """1/2 + (z sqrt(1 - z^2) + arcsin z) / pi in the middle; next to the ends without the difference from 0 or 1."""
    z = x / radius
    middle, root = abs(z) < 0.5, sqrt((1.0 - z) * (1.0 + z))
    angle = arctan(where(middle, z / root, sqrt((radius + x) / (radius - x))))
    outer = angle_less_sine(4.0 * where(middle, 0.0, angle)) / (2 * math.pi)
    return where(middle, 0.5 + (z * root + angle) / math.pi, outer)


def _cdf_partials(x: Node, radius: Node, out: Node) -> tuple[Node, Node]:
    """The density, which the slopes of the angle do not tell next to an end."""
    density = TWO_OVER_PI[8][0] * sqrt(at_least(_left(x, radius).whole, 0.0)) / radius
    return density, -(x / radius) * density


semicircle_log_density: Primitive = primitive(
    "semicircle_log_density", 2, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((-0.9, 0.9), (1.0, 30.0)),
)
semicircle_cdf: Primitive = primitive(
    "semicircle_cdf", 2, expand=_cdf, partials=_cdf_partials, floating=True, domain=((-0.9, 0.9), (1.0, 30.0)),
)


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
        return semicircle_log_density(x, p.radius)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return semicircle_cdf(x, p.radius)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return Semicircle.cdf(-x, p)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.radius * random.coordinate(0.5)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return 0.0 * p.radius

    mode: Any = mean
    median: Any = mean

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.radius) / 4.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.radius) + (math.log(math.pi) - 0.5)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """(1 + x / radius) / 2 has a beta distribution; in the middle with a step of Newton's method."""
        z, half = symmetric_quantile(q, 1.5), q - 0.5
        middle = abs(half) < 0.3
        near = where(middle, z, 0.0)
        root = sqrt(1.0 - square(near))
        step = near * root + arctan(near / root) - math.pi * where(middle, half, 0.0)
        return p.radius * (z - where(middle, 0.5 * step / root, 0.0))
