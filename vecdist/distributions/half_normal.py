"""The half-normal distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.special.error_functions import erf, erfc
from vecdist.special.formulas import log_both_tails
from vecdist.special.normal_tail import erfcinv, erfinv


class HalfNormal(Distribution):
    """Half-normal distribution, f(x) = exp(-(x / scale)^2 / 2) sqrt(2 / pi) / scale for x >= 0.

    Written ``HalfNormal(scale)`` or ``HalfNormal(precision=)``, those of the normal distribution that is folded.
    Leone, Nelson and Nottingham (1961), The folded normal distribution, Technometrics 3.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(HalfNormal(2.0), np.array([0.0, 2.0]))).round(4)
    array([-0.9189, -1.4189])
    """

    oracle = "scipy.stats.halfnorm(scale=scale)"
    certain: float | None = LIGHT

    @parametrisation(scale=positive)
    @staticmethod
    def by_scale(scale: Node) -> dict[str, Node]:
        return {"inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @parametrisation(precision=positive)
    @staticmethod
    def by_precision(precision: Node) -> dict[str, Node]:
        return {"inverse_scale": sqrt(precision), "log_scale": -0.5 * log(precision)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return x * p.inverse_scale

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -0.5 * square(HalfNormal.standardised(x, p)) - (p.log_scale + 0.5 * math.log(math.pi / 2))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return erf(math.sqrt(0.5) * HalfNormal.standardised(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return erfc(math.sqrt(0.5) * HalfNormal.standardised(x, p))

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return abs(random.normal()) / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> Node:
        return math.sqrt(2 / math.pi) / p.inverse_scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        return (1 - 2 / math.pi) / square(p.inverse_scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + 0.5 * math.log(math.pi / 2 * math.e)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.inverse_scale

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return math.sqrt(2) * erfinv(q) / p.inverse_scale

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return math.sqrt(2) * erfcinv(q) / p.inverse_scale

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_both_tails(HalfNormal.standardised(x, p))
