"""The log-uniform distribution."""

import math

from vecdist.constraints import Constraint, above, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import cosh, exp, log, sinh
from vecdist.primitives.floating import INFINITY, NAN, binary, lifted, polynomial
from vecdist.primitives.log_products import log_quotient, log_quotient_high, log_quotient_rest
from vecdist.primitives.logarithms import log_of_sum
from vecdist.primitives.rounding import product_rest
from vecdist.primitives.table import Primitive, primitive


def _log_share_partials(x: Node, start: Node, end: Node, out: Node) -> tuple[Node, Node, Node]:
    """That in the start is the share of what is left: no difference."""
    width = log_quotient(end, start)
    left = log_quotient(end, x) / width
    return 1.0 / width / x, -left / width / start, -out / width / end


log_share: Primitive = primitive(  # log(x / start) / log(end / start)
    "log_share", 3, expand=lambda x, start, end: log_quotient(x, start) / log_quotient(end, start),
    partials=_log_share_partials, floating=True, domain=((1.0, 2.0), (0.1, 1.0), (2.0, 30.0)),
)


def _log_area(x: Node, width: Node, rest: Node) -> Node:
    k, f, _ = binary(*lifted(x))
    area = (1.0 + f) * width
    logarithm = log_of_sum(area, product_rest(1.0 + f, width) + (1.0 + f) * rest, -k)
    return where(x + width < INFINITY, logarithm, const(NAN, x.dtype))


log_area: Primitive = primitive(  # log(x width) for x and width > 0, of which a rest is known
    "log_area", 3, expand=_log_area, partials=lambda x, width, rest, out: (1.0 / x, 1.0 / width, None),
    floating=True, domain=((0.1, 30.0), (0.1, 30.0), (-1e-17, 1e-17)),
)


class LogUniform(Distribution):
    """Log-uniform distribution, f(x) = 1 / (x log(high / low)) for low <= x <= high.

    Written ``LogUniform(low, high)``; it is the reciprocal distribution.
    Hamming (1970), On the distribution of numbers, Bell System Technical Journal 49.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(LogUniform(1.0, 10.0), np.array([0.5, 1.0, 10.0]))).round(4)
    array([   -inf, -0.834 , -3.1366])
    """

    oracle = "scipy.stats.loguniform(low, high)"

    @parametrisation(low=positive, high=above("low"))
    @staticmethod
    def by_bounds(low: Node, high: Node) -> dict[str, Node]:
        return {"low": low, "high": high, "width": log_quotient_high(high, low)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """One logarithm of each pair, and of what rounding takes from the width; two where there are fewer widths."""
        if len(x.shape) > len(p.width.shape):
            return -log(x) - log(p.width)
        return -log_area(x, p.width, log_quotient_rest(p.high, p.low))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return log_share(x, p.low, p.high)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return log_share(x, p.high, p.low)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """By the nearer end."""
        lower = q < 0.5
        return where(lower, p.low, p.high) * exp(where(lower, q, q - 1.0) * p.width)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return (p.high - p.low) / p.width

    @staticmethod
    def variance(p: Parameters) -> Node:
        """low high (sinh(h) / h) (cosh(h) - sinh(h) / h) for half the width h, by a series where that is small."""
        h = 0.5 * p.width
        small = h < 1.0
        s = square(where(small, h, 0.0))
        series = s * polynomial(s, tuple((2 * k + 2) / math.factorial(2 * k + 3) for k in range(9)))
        slope = sinh(h) / h
        return p.low * p.high * slope * where(small, series, cosh(h) - slope)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.low) + 0.5 * p.width + log(p.width)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.low
