"""Bradford's distribution."""

from vecdist.constraints import Constraint, above, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.elementary import expm1, log, log1p
from vecdist.primitives.floating import polynomial
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.parts import difference

LOW = 0.1  # a c of which a series has all digits
SERIES = tuple((-1) ** k / (k * (k - 1)) for k in range(2, 19))


def _slope(c: Node, out: Node) -> tuple[Node]:
    """((1 + c) log(1 + c) - c) / (c (1 + c) log(1 + c)), by a series where the first terms would cancel."""
    rise, small = log1p(c), where(c < LOW, c, 0.0)
    rest = where(c < LOW, small * small * polynomial(small, SERIES), (1.0 + c) * rise - c)
    return (rest / c / ((1.0 + c) * rise),)


log_over_rise: Primitive = primitive(  # log(c / log(1 + c)) for c > 0
    "log_over_rise", expand=lambda c: log(c / log1p(c)), partials=_slope, floating=True, domain=((0.01, 30.0),),
)
LITTLE = 1e-20  # a share of the interval that is nothing beside 1


class Bradford(Distribution):
    """Bradford's distribution, f(x) = c / (w log(1 + c) (1 + c (x - low) / w)) for low <= x <= high, w = high - low.

    Written ``Bradford(c, low, high)``: of references by their distance from a subject.
    Leimkuhler (1967), The Bradford distribution, Journal of Documentation 23.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Bradford(1.0, 0.0, 2.0), np.array([0.0, 1.0, 2.0]))).round(4)
    array([-0.3266, -0.7321, -1.0198])
    """

    oracle = "scipy.stats.bradford(c, low, high - low)"

    @parametrisation(c=positive, low=finite, high=above("low"))
    @staticmethod
    def by_bounds(c: Node, low: Node, high: Node) -> dict[str, Node]:
        return {"c": c, "low": low, "high": high, "rise": log1p(c)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """By w + c (x - low), whose logarithm may be next to 0."""
        width, ahead = difference(p.high, p.low), difference(x, p.low)
        whole = width.high + p.c * ahead.high
        lost = width.rest + p.c * ahead.rest
        return log_over_rise(p.c) - (log(whole) + lost / whole)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return log1p(p.c * ((x - p.low) / (p.high - p.low))) / p.rise

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        """By the nearer end."""
        before = 0.5 * (p.low + p.high) > x
        return where(before, 1.0 - Bradford.cdf(x, p), Bradford.left(x, p) / p.rise)

    @staticmethod
    def left(x: Node, p: Parameters) -> Node:
        """log(1 + c) times the upper tail."""
        return -log1p(-(p.c / (1.0 + p.c)) * ((p.high - x) / (p.high - p.low)))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        """By the distance from the upper end where there is next to nothing."""
        rest = (p.high - x) / (p.high - p.low)
        near = log(p.high - x) - log(p.high - p.low) + log(p.c / (1.0 + p.c))
        beyond = where(rest < LITTLE, near, log(Bradford.left(x, p))) - log(p.rise)
        return where(rest > 0.5, log1p(-Bradford.cdf(x, p)), beyond)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        """By the nearer end."""
        width = p.high - p.low
        lower = p.low + width * (expm1(where(q < 0.5, q, 0.0) * p.rise) / p.c)
        upper = p.high + width * (expm1((where(q < 0.5, 1.0, q) - 1.0) * p.rise) * ((1.0 + p.c) / p.c))
        return where(q < 0.5, lower, upper)
