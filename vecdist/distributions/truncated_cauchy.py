"""The truncated Cauchy distribution."""

import math

from vecdist.constraints import Constraint, above_or_infinite, below_infinity, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import maximum, minimum
from vecdist.primitives.elementary import log
from vecdist.special.angles import angle_quantile, angle_share, log_angle
from vecdist.special.formulas import log1p_square


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
        at = (loc, scale, low, high)
        return {"loc": loc, "scale": scale, "low": low, "high": high, "log_mass": log_angle(*at)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        density = -log1p_square(x - p.loc, 1.0 / p.scale, log(p.scale)) - p.log_mass
        return where(abs(x) < math.inf, density, -abs(x))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return angle_quantile(q, p.loc, p.scale, p.low, p.high)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return angle_share(p.loc, p.scale, p.low, x, p.high)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return angle_share(-p.loc, p.scale, -p.high, -x, -p.low)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return minimum(maximum(p.loc, p.low), p.high)
