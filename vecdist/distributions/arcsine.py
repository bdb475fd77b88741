"""The arcsine distribution."""

import math

from vecdist.constraints import Constraint, above, finite, interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import arctan, near_sin


def _share(x: Node, low: Node, high: Node) -> Node:
    return 2 / math.pi * arctan(sqrt(x - low) / sqrt(high - x))


def _share_partials(x: Node, low: Node, high: Node, out: Node) -> tuple[Node, ...]:
    """The density, and its parts by the distances from both ends."""
    below, beyond = x - low, high - x
    density = (1 / math.pi) / (sqrt(below) * sqrt(beyond))
    inverse = 1.0 / (high - low)
    of_low, of_high = sqrt(beyond) / sqrt(below), sqrt(below) / sqrt(beyond)
    return density, -(of_low * inverse) / math.pi, -(of_high * inverse) / math.pi


arcsine_share: Primitive = primitive(
    "arcsine_share", 3, expand=_share, partials=_share_partials, floating=True,
    domain=((0.1, 0.9), (-3.0, 0.0), (1.0, 3.0)),
)


class Arcsine(Distribution):
    """Arcsine distribution, f(x) = 1 / (pi sqrt((x - low) (high - x))) for low <= x <= high.

    Written ``Arcsine(low, high)``; the density is infinite at both ends.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 25.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Arcsine(-1.0, 1.0), np.array([0.0, 0.6]))).round(4)
    array([-1.1447, -0.9216])
    """

    oracle = "scipy.stats.arcsine(low, high - low)"

    @parametrisation(low=finite, high=above("low"))
    @staticmethod
    def by_bounds(low: Node, high: Node) -> dict[str, Node]:
        return {"low": low, "high": high}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -0.5 * (log(x - p.low) + log(p.high - x)) - math.log(math.pi)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return arcsine_share(x, p.low, p.high)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return arcsine_share(-x, -p.high, -p.low)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """By the distance from the nearer end."""
        below, beyond = (square(near_sin(math.pi / 2 * tail)) for tail in (q, 1.0 - q))
        return where(q < 0.5, p.low + (p.high - p.low) * below, p.high - (p.high - p.low) * beyond)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return 0.5 * p.low + 0.5 * p.high

    median = mean

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.high - p.low) / 8.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.high - p.low) + math.log(math.pi / 4)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.low
