"""The truncated normal distribution."""

import math
from collections.abc import Callable

from vecdist.constraints import Constraint, above_or_infinite, below_infinity, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.normal import Normal
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, maximum, minimum, square
from vecdist.primitives.elementary import cosh, exp, log, sigmoid, sinh
from vecdist.primitives.floating import at_least, at_most
from vecdist.primitives.logarithms import log1mexp
from vecdist.special.normal_interval import edge_share
from vecdist.special.normal_mass import log_lower_share, log_mass_between, lower_edge, upper_edge
from vecdist.special.normal_share_quantile import share_quantile
from vecdist.special.quadrature import integral

REACH = 40.0  # scales
DECAY, FINE = 55.0, 0.03125  # of what is left out as an exponent, and the step of a double exponential formula


class TruncatedNormal(Distribution):
    """Truncated normal distribution, f(x) = phi(z) / (scale (Phi(z_high) - Phi(z_low))) for low <= x <= high.

    Written ``TruncatedNormal(loc, scale, low, high)``; z is (x - loc) / scale, and the bounds may be infinite.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 13.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(TruncatedNormal(0.0, 1.0, 0.0, np.inf), np.array([-1.0, 0.0, 1.0]))).round(4)
    array([   -inf, -0.2258, -0.7258])
    """

    oracle = "scipy.stats.truncnorm((low - loc) / scale, (high - loc) / scale, loc, scale)"

    @parametrisation(loc=finite, scale=positive, low=below_infinity, high=above_or_infinite("low"))
    @staticmethod
    def by_scale(loc: Node, scale: Node, low: Node, high: Node) -> dict[str, Node]:
        z_low = where(eq(low, -math.inf), -math.inf, (low - loc) / scale)
        z_high = where(eq(high, math.inf), math.inf, (high - loc) / scale)
        return {
            "loc": loc, "scale": scale, "inverse_scale": 1.0 / scale, "log_scale": log(scale), "low": low, "high": high,
            "z_low": z_low, "z_high": z_high, "log_mass": log_mass_between(loc, scale, low, high),
        }

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return where(abs(x) < math.inf, Normal.log_density(x, p) - p.log_mass, -square(x))

    @staticmethod
    def end_densities(p: Parameters) -> tuple[Node, Node]:
        at = (p.loc, p.scale, p.low, p.high)
        return lower_edge(*at) * p.inverse_scale, upper_edge(*at) * p.inverse_scale

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """Between bounds beyond which no float has any mass."""
        low = at_least(p.low, minimum(p.high, p.loc) - REACH * p.scale)
        high = at_most(p.high, maximum(p.low, p.loc) + REACH * p.scale)
        return share_quantile(q, p.loc, p.scale, low, high)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + (edge_share(-p.z_low, -p.z_high) - edge_share(p.z_high, p.z_low)) / p.inverse_scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        """By an integral over distances from the point of the interval that is the nearest to loc."""
        base, width = maximum(minimum(p.z_high, 0.0), p.z_low), (p.high - p.low) * p.inverse_scale
        reach = DECAY / (abs(base) + 0.1 * DECAY)
        below = where(p.z_low >= 0.0, 0.0, minimum(where(p.z_high <= 0.0, width, -p.z_low), reach))
        above = where(p.z_high <= 0.0, 0.0, minimum(where(p.z_low >= 0.0, width, p.z_high), reach))
        given = (base, below, above + below)

        def mass(t: Node, base: Node, below: Node, length: Node) -> tuple[Node, Node]:
            """A distance by t, Takahasi and Mori's double exponential formula, and what there is of the mass."""
            share = sigmoid(math.pi * sinh(t))
            z = length * share - below
            return z, exp(-z * (base + 0.5 * z)) * cosh(t) * share * (1.0 - share)

        def moment(term: Callable[..., Node], *more: Node) -> Node:
            return integral(lambda t, *at: term(*mass(t, *at[:3]), *at[3:]), -4.0, 4.0, FINE, (*given, *more))

        whole = moment(lambda z, weight: weight)
        mean = moment(lambda z, weight: z * weight) / whole
        return moment(lambda z, weight, mean: square(z - mean) * weight, mean) / whole / square(p.inverse_scale)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return minimum(maximum(p.loc, p.low), p.high)

    @staticmethod
    def log_tails(x: Node, p: Parameters) -> tuple[Node, Node]:
        """Both by themselves, each accurate where it is the less."""
        lower = log_lower_share(p.loc, p.scale, p.low, x, p.high)
        return lower, log_lower_share(-p.loc, p.scale, -p.high, -x, -p.low)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        lower, upper = TruncatedNormal.log_tails(x, p)
        return where(lower < -0.5, lower, log1mexp(upper))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        lower, upper = TruncatedNormal.log_tails(x, p)
        return where(upper < -0.5, upper, log1mexp(lower))
