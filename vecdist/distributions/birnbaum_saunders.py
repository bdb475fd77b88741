"""The Birnbaum-Saunders distribution."""

import math

from vecdist.constraints import Constraint, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import maximum, minimum, size, sqrt, square
from vecdist.primitives.elementary import log_cosh
from vecdist.primitives.power import hypot
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.formulas import times
from vecdist.special.normal_tail import log_ndtr, ndtr, ndtri
from vecdist.special.parts import log_parts, log_ratio_parts


def score(x: Node, shape: Node, scale: Node) -> Node:
    """(r - 1 / r) / shape with r = sqrt(x / scale), by one difference."""
    return (x - scale) / sqrt(x) / sqrt(scale) / shape


def square_of_score(x: Node, shape: Node, scale: Node) -> Node:
    """With fewer roundings than by the roots."""
    distance = x - scale
    return (distance / x) * (distance / scale) / shape / shape


def _log_density(x: Node, shape: Node, scale: Node) -> Node:
    """With (r + 1 / r) / 2 as the hyperbolic cosine of log r."""
    rise = log_cosh(0.5 * log_ratio_parts(x, scale).whole)
    rest = (log_parts(x) + log_parts(shape)).whole
    return -0.5 * square_of_score(x, shape, scale) + (rise - rest) - 0.5 * math.log(2 * math.pi)


def _log_density_partials(x: Node, shape: Node, scale: Node, out: Node) -> tuple[Node, ...]:
    """By w = (r + 1 / r) / shape and t = (x - scale) / (x + scale): where one end counts, terms of one sign."""
    ratio = sqrt(x) / sqrt(scale)
    w = (ratio + 1.0 / ratio) / shape
    more, less = maximum(x, scale), minimum(x, scale)
    t = ((x - scale) / more) / (1.0 + less / more)
    pull = 0.5 * times(t, (w - 1.0) * (w + 1.0))
    return -(1.0 + pull) / x, (square_of_score(x, shape, scale) - 1.0) / shape, pull / scale


log_density: Primitive = primitive(
    "birnbaum_saunders_log_density", 3, expand=_log_density, partials=_log_density_partials, floating=True,
    domain=((0.1, 3.0), (0.3, 4.0), (0.5, 2.0)),
)


class BirnbaumSaunders(Distribution):
    """Birnbaum-Saunders distribution, f(x) = (r + 1 / r) exp(-((r - 1 / r) / shape)^2 / 2) / (2 sqrt(2 pi) shape x).

    Written ``BirnbaumSaunders(shape, scale)``, for x > 0; r is sqrt(x / scale), and (r - 1 / r) / shape is a
    standard normal variable: of times to failure by fatigue.
    Birnbaum and Saunders (1969), A new family of life distributions, Journal of Applied Probability 6.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(BirnbaumSaunders(1.0, 2.0), np.array([0.0, 2.0, 8.0]))).round(4)
    array([   -inf, -1.6121, -3.9002])
    """

    oracle = "scipy.stats.fatiguelife(shape, scale=scale)"

    @parametrisation(shape=positive, scale=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node) -> dict[str, Node]:
        return {"shape": shape, "scale": scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_density(x, p.shape, p.scale)

    @staticmethod
    def z(x: Node, p: Parameters) -> Node:
        return score(x, p.shape, p.scale)

    @staticmethod
    def place(z: Node, p: Parameters) -> Node:
        """Where the normal variable is z: scale r^2, r or its reciprocal being a sum of positive terms."""
        half = 0.5 * p.shape * z
        root = size(half) + hypot(half, const(1.0, half.dtype))
        return where(half < 0.0, p.scale / root / root, p.scale * root * root)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return BirnbaumSaunders.place(random.normal(), p)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return ndtr(BirnbaumSaunders.z(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return ndtr(-BirnbaumSaunders.z(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_ndtr(BirnbaumSaunders.z(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_ndtr(-BirnbaumSaunders.z(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return BirnbaumSaunders.place(ndtri(q), p)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return BirnbaumSaunders.place(-ndtri(q), p)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.scale * (1.0 + 0.5 * square(p.shape))

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.shape * p.scale) * (1.0 + 1.25 * square(p.shape))

    @staticmethod
    def median(p: Parameters) -> Node:
        return p.scale
