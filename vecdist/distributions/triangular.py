"""The triangular distribution."""

import math

from vecdist.constraints import Constraint, above, between, finite, interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import eq, sqrt, square
from vecdist.primitives.elementary import log


class Triangular(Distribution):
    """Triangular distribution: f(x) rises in a line from 0 at low to 2 / (high - low) at peak, and falls to 0 at high.

    Written ``Triangular(low, high, peak)``, where the peak may be at an end.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 26.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Triangular(0.0, 4.0, 1.0), np.array([0.5, 1.0, 5.0]))).round(4)
    array([-1.3863, -0.6931,    -inf])
    """

    oracle = "scipy.stats.triang((peak - low) / (high - low), low, high - low)"

    @parametrisation(low=finite, high=above("low"), peak=between("low", "high"))
    @staticmethod
    def by_peak(low: Node, high: Node, peak: Node) -> dict[str, Node]:
        return {"low": low, "high": high, "peak": peak, "width": high - low}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        rising = log(x - p.low) - log(p.peak - p.low)
        falling = log(p.high - x) - log(p.high - p.peak)
        height = math.log(2) - log(p.width)
        return height + where((x < p.peak) | eq(p.peak, p.high), rising, falling)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        rising = (x - p.low) / p.width * ((x - p.low) / (p.peak - p.low))
        falling = (p.high - x) / p.width * ((p.high - x) / (p.high - p.peak))
        return where((x < p.peak) | eq(p.peak, p.high), rising, 1.0 - falling)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        rising = (x - p.low) / p.width * ((x - p.low) / (p.peak - p.low))
        falling = (p.high - x) / p.width * ((p.high - x) / (p.high - p.peak))
        return where((x < p.peak) | eq(p.peak, p.high), 1.0 - rising, falling)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        rises, falls = p.peak - p.low, p.high - p.peak
        upper = p.high - sqrt((1.0 - q) * p.width * falls)
        return where(q * p.width < rises, p.low + sqrt(q * p.width * rises), upper)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return (p.low + p.high + p.peak) / 3.0

    @staticmethod
    def variance(p: Parameters) -> Node:
        rises, falls = p.peak - p.low, p.high - p.peak
        return (square(rises) + rises * falls + square(falls)) / 18.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.width) + (0.5 - math.log(2))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.peak
