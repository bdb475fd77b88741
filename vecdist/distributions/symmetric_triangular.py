"""The symmetric triangular distribution."""

import math

from vecdist.distributions.base import Distribution, Parameters
from vecdist.distributions.compact import Compact
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.ends import left_of
from vecdist.special.parts import Parts, difference


def _log_density(distance: Node, rest: Node, scale: Node) -> Node:
    """The logarithm of one quotient, which may be next to 1."""
    left = left_of(scale, distance, rest)
    quotient = left.over(scale).over(scale)
    inside = (quotient.high > 2.0**-60) & (quotient.high < 2.0**60)
    whole = log(where(inside, quotient.high, left.high / scale))
    return whole + where(inside, quotient.rest / quotient.high, -log(scale))


def _log_density_partials(distance: Node, rest: Node, scale: Node, out: Node) -> tuple[Node, None, Node]:
    left = left_of(scale, distance, rest)
    per_left = 1.0 / left.high
    return -per_left, None, (Parts(distance, rest) - left).whole * per_left / scale


triangle_log_density: Primitive = primitive(  # log((scale - distance) / scale^2), of a distance in two parts
    "triangle_log_density", 3, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.1, 1.0), (-1e-17, 1e-17), (2.0, 5.0)),
)


class SymmetricTriangular(Compact, Distribution):
    """Symmetric triangular distribution, f(x) = (1 - |z|) / scale with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``SymmetricTriangular(loc, scale)``; at its peak the derivatives in x and loc are 0.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 26.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(SymmetricTriangular(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.6931, -1.3863,    -inf])
    """

    oracle = "scipy.stats.triang(0.5, loc - scale, 2 * scale)"

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        distance = difference(x, p.loc)
        return triangle_log_density(abs(distance.high), distance.magnitude().rest, p.scale)

    @classmethod
    def tail(cls, left: Node) -> Node:
        return 0.5 * square(left)

    @classmethod
    def log_tail(cls, left: Node) -> Node:
        return 2.0 * log(left) - math.log(2)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * where(q < 0.5, sqrt(2.0 * q) - 1.0, 1.0 - sqrt(2.0 * (1.0 - q)))

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) / 6.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + 0.5
