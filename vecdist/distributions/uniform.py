"""The uniform distribution."""

from vecdist.constraints import Constraint, above, finite, interval
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.parts import difference


def _share_partials(x: Node, low: Node, high: Node, out: Node) -> tuple[Node, Node, Node]:
    """Those in the bounds by the parts on both sides of x."""
    inverse = 1.0 / (high - low)
    return inverse, -((high - x) * inverse) * inverse, -((x - low) * inverse) * inverse


share_between: Primitive = primitive(
    "share_between", 3, expand=lambda x, low, high: (x - low) / (high - low), partials=_share_partials, floating=True,
    domain=((0.1, 0.9), (-3.0, 0.0), (1.0, 3.0)),
)


class Uniform(Distribution):
    """Uniform distribution, f(x) = 1 / (high - low) for low <= x <= high.

    Written ``Uniform(low, high)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 26.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Uniform(-1.0, 3.0), np.array([-1.0, 0.0, 4.0]))).round(4)
    array([-1.3863, -1.3863,    -inf])
    """

    oracle = "scipy.stats.uniform(low, high - low)"

    @parametrisation(low=finite, high=above("low"))
    @staticmethod
    def by_bounds(low: Node, high: Node) -> dict[str, Node]:
        return {"low": low, "high": high}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.low, p.high)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        """By a length in two parts, whose logarithm may be next to 0; the product makes a NaN of a NaN."""
        length = difference(p.high, p.low)
        return 0.0 * x - (log(length.high) + length.rest / length.high)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return share_between(x, p.low, p.high)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return share_between(-x, -p.high, -p.low)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.low + q * (p.high - p.low)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return 0.5 * p.low + 0.5 * p.high

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.high - p.low) / 12.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.high - p.low)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.low
