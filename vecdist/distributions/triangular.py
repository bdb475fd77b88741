"""The triangular distribution."""

import math

from vecdist.constraints import Constraint, above, between, finite, interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, sqrt, square
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.floating import width
from vecdist.primitives.table import Primitive, primitive


def _tail(x: Node, low: Node, high: Node, peak: Node) -> Node:
    return (high - x) / (high - low) * ((high - x) / (high - peak))


def _rest(x: Node, low: Node, high: Node, peak: Node) -> Node:
    """By the part below the peak and the one above it, where they are the less."""
    tail, width = _tail(x, low, high, peak), high - low
    above = (x - peak) * (((high - x) + (high - peak)) / (high - peak))
    return where(tail < 0.5, 1.0 - tail, ((peak - low) + above) / width)


def _tail_partials(x: Node, low: Node, high: Node, peak: Node, out: Node) -> tuple[Node, ...]:
    """All of them products, and that in the upper bound a sum of positive terms."""
    per_width, per_fall = 1.0 / (high - low), 1.0 / (high - peak)
    slope = (high - x) * per_width * per_fall
    tail = (high - x) * slope
    return -2.0 * slope, tail * per_width, slope * ((x - peak) * per_fall + (x - low) * per_width), tail * per_fall


ABOVE_PEAK = ((0.5, 0.9), (-3.0, 0.0), (1.0, 3.0), (0.1, 0.4))
falling_tail: Primitive = primitive(  # the probability of more than x, above the peak
    "falling_tail", 4, expand=_tail, partials=_tail_partials, floating=True, domain=ABOVE_PEAK,
)
falling_mass: Primitive = primitive(  # 1 less that
    "falling_mass", 4, expand=_rest, floating=True, domain=ABOVE_PEAK,
    partials=lambda *at: tuple(-slope for slope in _tail_partials(*at)),
)

LEAST = {8: 1e-140, 4: 1e-15}  # of a square that is far from underflow


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

    @classmethod
    def reach(cls, p: Parameters) -> Constraint:
        """From the support's ends; where the peak is at one of them, a tail begins half as far from each."""
        low, high = (where(eq(end, p.peak), p.peak + 0.5 * (end - p.peak), end) for end in (p.low, p.high))
        return interval(low, high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        rising = log(x - p.low) - log(p.peak - p.low)
        falling = log(p.high - x) - log(p.high - p.peak)
        height = math.log(2) - log(p.width)
        return height + where((x < p.peak) | eq(p.peak, p.high), rising, falling)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        rising = falling_tail(-x, -p.high, -p.low, -p.peak)
        return where((x < p.peak) | eq(p.peak, p.high), rising, falling_mass(x, p.low, p.high, p.peak))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        rising = falling_mass(-x, -p.high, -p.low, -p.peak)
        return where((x < p.peak) | eq(p.peak, p.high), rising, falling_tail(x, p.low, p.high, p.peak))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        """By the distance from the lower end where its square may be 0."""
        ahead, lower = x - p.low, Triangular.cdf(x, p)
        near = 2.0 * log(ahead) - log(p.width) - log(p.peak - p.low)
        tiny = (ahead < LEAST[width(x)]) & (p.peak > x)
        return where(tiny, near, where(lower < 0.5, log(lower), log1p(-Triangular.sf(x, p))))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        turned = Parameters(low=-p.high, high=-p.low, peak=-p.peak, width=p.width)
        return Triangular.log_cdf(-x, turned)

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
