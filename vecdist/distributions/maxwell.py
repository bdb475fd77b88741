"""The Maxwell distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.special.formulas import EULER, exp_of_log
from vecdist.special.gamma_of_log import gamma_below, gamma_beyond, log_gamma_below, log_gamma_beyond
from vecdist.special.gamma_quantiles import log_below, log_beyond
from vecdist.special.parts import log_ratio_parts


class Maxwell(Distribution):
    """Maxwell distribution, f(x) = sqrt(2 / pi) x^2 / scale^3 exp(-(x / scale)^2 / 2) for x >= 0.

    The length of a vector of three normal elements.  Written ``Maxwell(scale)``.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 18.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Maxwell(2.0), np.array([0.0, 2.0]))).round(4)
    array([   -inf, -1.4189])
    """

    oracle = "scipy.stats.maxwell(scale=scale)"
    certain: float | None = LIGHT

    @parametrisation(scale=positive)
    @staticmethod
    def by_scale(scale: Node) -> dict[str, Node]:
        return {"scale": scale, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return square(x * p.inverse_scale)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        constant = 0.5 * math.log(2 / math.pi)
        return 2.0 * (log(x) - p.log_scale) - 0.5 * Maxwell.standardised(x, p) - (p.log_scale - constant)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.scale * sqrt(2.0 * random.gamma(const(1.5, p.scale.dtype)))

    @staticmethod
    def place(x: Node, p: Parameters) -> tuple[Node, Node, Node]:
        """What the gamma distribution function of z^2 / 2 is given: log(z^2 / 3), for the square may underflow."""
        ratio = log_ratio_parts(x, p.scale)
        relative = ratio + ratio
        return const(1.5, x.dtype), relative.rest, relative.high - math.log(3)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return gamma_below(*Maxwell.place(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return gamma_beyond(*Maxwell.place(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_gamma_below(*Maxwell.place(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_gamma_beyond(*Maxwell.place(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return math.sqrt(3) * exp_of_log(0.5 * log_below(const(1.5, q.dtype), q)) * p.scale

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return math.sqrt(3) * exp_of_log(0.5 * log_beyond(const(1.5, q.dtype), q)) * p.scale

    @staticmethod
    def mean(p: Parameters) -> Node:
        return math.sqrt(8 / math.pi) * p.scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        return (3 - 8 / math.pi) * square(p.scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + (0.5 * math.log(2 * math.pi) + EULER - 0.5)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return math.sqrt(2) * p.scale
