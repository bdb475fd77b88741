"""The truncated Cauchy distribution."""

import math

from vecdist.constraints import Constraint, above_or_infinite, below_infinity, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import log1p_square
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import eq, maximum, minimum
from vecdist.primitives.elementary import log
from vecdist.primitives.trigonometric import arctan


class TruncatedCauchy(Distribution):
    """Truncated Cauchy distribution, f(x) = 1 / (angle scale (1 + z^2)) for low <= x <= high.

    Written ``TruncatedCauchy(loc, scale, low, high)``; z is (x - loc) / scale, the bounds may be infinite, and the
    angle is arctan(z_high) - arctan(z_low).
    Nadarajah and Kotz (2006), A truncated Cauchy distribution, International Journal of Mathematical Education 37.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(TruncatedCauchy(0.0, 1.0, 0.0, np.inf), np.array([-1.0, 0.0, 1.0]))).round(4)
    array([   -inf, -0.4516, -1.1447])
    """

    @parametrisation(loc=finite, scale=positive, low=below_infinity, high=above_or_infinite("low"))
    @staticmethod
    def by_scale(loc: Node, scale: Node, low: Node, high: Node) -> dict[str, Node]:
        z_low = where(eq(low, -math.inf), -math.inf, (low - loc) / scale)
        z_high = where(eq(high, math.inf), math.inf, (high - loc) / scale)
        return {
            "loc": loc, "scale": scale, "low": low, "high": high, "z_low": z_low, "z_high": z_high,
            "angle": angle_between(z_low, z_high),
        }

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        density = -log1p_square((x - p.loc) / p.scale) - (log(p.scale) + log(p.angle))
        return where(abs(x) < math.inf, density, -abs(x))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return angle_between(p.z_low, (x - p.loc) / p.scale) / p.angle

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return angle_between((x - p.loc) / p.scale, p.z_high) / p.angle

    @staticmethod
    def mode(p: Parameters) -> Node:
        return minimum(maximum(p.loc, p.low), p.high)


def angle_between(low: Node, high: Node) -> Node:
    """arctan(high) - arctan(low), by the difference of the reciprocals where both have the same sign."""
    same = low * high > 0.0
    a, b = 1.0 / where(same, low, 1.0), 1.0 / where(same, high, 1.0)
    return where(same, arctan((a - b) / (1.0 + a * b)), arctan(high) - arctan(low))
