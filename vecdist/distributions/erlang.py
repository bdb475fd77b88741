"""The Erlang distribution."""

from vecdist.constraints import positive, positive_count
from vecdist.distributions.base import parametrisation
from vecdist.distributions.gamma import Gamma
from vecdist.graph.node import Node, const
from vecdist.primitives.elementary import log
from vecdist.primitives.rounding import quotient_rest


class Erlang(Gamma):
    """Erlang distribution, f(x) = x^(shape - 1) exp(-x / scale) / ((shape - 1)! scale^shape) for x >= 0.

    Written ``Erlang(shape, scale)`` or ``Erlang(shape=, rate=)``; it is the gamma distribution of a whole shape.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 17.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Erlang(2, 0.5), np.array([1.0, 3.0]))).round(4)
    array([-0.6137, -3.5151])
    """

    oracle = "scipy.stats.gamma(shape, scale=scale)"

    @parametrisation(shape=positive_count, scale=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node) -> dict[str, Node]:
        rest = quotient_rest(const(1.0, scale.dtype), scale)
        return {"shape": shape, "rate": 1.0 / scale, "rate_rest": rest, "log_rate": -log(scale)}

    @parametrisation(shape=positive_count, rate=positive)
    @staticmethod
    def by_rate(shape: Node, rate: Node) -> dict[str, Node]:
        return {"shape": shape, "rate": rate, "rate_rest": const(0.0, rate.dtype), "log_rate": log(rate)}
