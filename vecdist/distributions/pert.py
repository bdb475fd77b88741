"""The PERT distribution."""

import math
from typing import Any, NamedTuple

from vecdist.constraints import Constraint, above, between, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.beta import Beta
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log, sigmoid
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import digamma_delta, lbeta, xlogy
from vecdist.special.formulas import times
from vecdist.special.odds import cdf_of_shares, log_cdf_of_shares, log_sf_of_shares, odds_of_cdf, sf_of_shares


class _Sides(NamedTuple):
    """Of an interval from low to high: what lies on either side of a point, and the exponents there."""

    ahead: Node
    behind: Node
    width: Node
    before: Node
    after: Node

    @property
    def scores(self) -> tuple[Node, Node]:
        """The derivatives of the log density in both exponents."""
        alpha, beta = 1.0 + self.before, 1.0 + self.after
        rising, falling = (log(side) - log(self.width) for side in (self.ahead, self.behind))
        return rising + digamma_delta(alpha, beta), falling + digamma_delta(beta, alpha)


def _sides(x: Node, low: Node, high: Node, peak: Node, weight: Node) -> _Sides:
    width = high - low
    return _Sides(x - low, high - x, width, weight * ((peak - low) / width), weight * ((high - peak) / width))


def _log_density(x: Node, low: Node, high: Node, peak: Node, weight: Node) -> Node:
    ahead, behind, width, before, after = _sides(x, low, high, peak, weight)
    rising = xlogy(before, ahead / width) + xlogy(after, behind / width)
    return rising - (lbeta(1.0 + before, 1.0 + after) + log(width))


def _over_tangent(dots: tuple[Node | None, ...], exponent: Node, side: Node, out: Node) -> Node | None:
    of_exponent, of_side = dots
    moved = None if of_side is None else -times(of_side, out)
    total = moved if of_exponent is None else of_exponent if moved is None else of_exponent + moved
    return None if total is None else times(total, 1.0 / side)


over: Primitive = primitive(  # an exponent over the length of its side: 0 where both are
    "pert_over", 2, expand=lambda exponent, side: times(exponent, 1.0 / side), tangent=_over_tangent, floating=True,
    domain=((0.1, 4.0), (0.1, 4.0)), oracle="numpy.divide",
)


def _leaning_tangent(dots: tuple[Node | None, ...], exponent: Node, logarithm: Node, out: Node) -> Node | None:
    of_exponent, of_logarithm = dots
    weak = None if of_exponent is None else times(of_exponent, logarithm)
    strong = None if of_logarithm is None else times(exponent, of_logarithm)
    if weak is None or strong is None:
        return strong if weak is None else weak
    return where(abs(strong) < math.inf, strong + weak, strong)


leaning: Primitive = primitive(  # an exponent times a logarithm, which a reciprocal outweighs
    "pert_leaning", 2, expand=times, tangent=_leaning_tangent, floating=True, domain=((0.1, 4.0), (-9.0, 0.0)),
    oracle="numpy.multiply",
)


def _log_density_partials(
    x: Node, low: Node, high: Node, peak: Node, weight: Node, out: Node
) -> tuple[Node, ...]:
    """At an end reciprocals outweigh logarithms, where the exponent is not 0."""
    sides = _sides(x, low, high, peak, weight)
    ahead, behind, width, before, after = sides
    rising, falling = sides.scores
    gap, at_low, at_high = rising - falling, over(before, ahead), over(after, behind)
    by_low = weight + 1.0 - where(at_low < math.inf, leaning(after, gap), 0.0)
    by_high = weight + 1.0 + where(at_high < math.inf, leaning(before, gap), 0.0)
    by_weight = leaning((peak - low) / width, rising) + leaning((high - peak) / width, falling)
    return at_low - at_high, by_low / width - at_low, at_high - by_high / width, weight / width * gap, by_weight


log_density: Primitive = primitive(
    "pert_log_density", 5, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.1, 0.9), (-1.0, 0.0), (1.0, 2.0), (0.2, 0.8), (0.5, 8.0)),
)


class Pert(Distribution):
    """PERT distribution, f(x) = (x - low)^(a - 1) (high - x)^(b - 1) / (B(a, b) (high - low)^(a + b - 1)).

    Written ``Pert(low, high, peak, weight=4)``: a beta variable over low <= x <= high whose mode is the peak, with
    a = 1 + weight (peak - low) / (high - low) and b = 1 + weight (high - peak) / (high - low).  The greater the weight,
    the nearer it is to the peak; its mean is (low + weight peak + high) / (weight + 2).
    Malcolm, Roseboom, Clark and Fazar (1959), Application of a technique for research and development program
    evaluation, Operations Research 7; Vose (2008), Risk Analysis, third edition, appendix III.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Pert(0.0, 4.0, 1.0), np.array([0.0, 1.0, 5.0]))).round(4)
    array([   -inf, -0.6399,    -inf])
    """

    oracle = (
        "scipy.stats.beta(1 + weight * (peak - low) / (high - low), 1 + weight * (high - peak) / (high - low), "
        "low, high - low)"
    )

    @parametrisation(low=finite, high=above("low"), peak=between("low", "high"), weight=positive)
    @staticmethod
    def by_peak(low: Node, high: Node, peak: Node, weight: Any = 4.0) -> dict[str, Node]:
        width = high - low
        before, after = weight * ((peak - low) / width), weight * ((high - peak) / width)
        return {
            "low": low, "high": high, "peak": peak, "weight": weight, "width": width, "before": before,
            "after": after, "alpha": 1.0 + before, "beta": 1.0 + after,
        }

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_density(x, p.low, p.high, p.peak, p.weight)

    @staticmethod
    def shares(x: Node, p: Parameters) -> tuple[Node, ...]:
        """What the tails are functions of: both shapes, and the shares of the interval on either side of ``x``."""
        lower, upper = (x - p.low) / p.width, (p.high - x) / p.width
        return p.alpha, p.beta, lower, upper, log(x - p.low) - log(p.width), log(p.high - x) - log(p.width)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return cdf_of_shares(*Pert.shares(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return sf_of_shares(*Pert.shares(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_cdf_of_shares(*Pert.shares(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_sf_of_shares(*Pert.shares(x, p))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.low + p.width * sigmoid(random.log_gamma(p.alpha) - random.log_gamma(p.beta))

    @staticmethod
    def placed(odds: Node, p: Parameters) -> Node:
        """Where the distances from the ends have this ratio, by the nearer one."""
        lower = odds < 1.0
        return where(lower, p.low + p.width * (odds / (1.0 + odds)), p.high - p.width / (1.0 + odds))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return Pert.placed(odds_of_cdf(q, p.alpha, p.beta), p)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return Pert.placed(1.0 / odds_of_cdf(q, p.beta, p.alpha), p)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.low + p.width * (p.alpha / (p.weight + 2.0))

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.width) * Beta.variance(p)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.width) + Beta.entropy(p)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.peak
