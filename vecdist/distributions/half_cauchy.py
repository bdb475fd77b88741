"""The half-Cauchy distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log, log1p
from vecdist.primitives.table import primitive
from vecdist.primitives.trigonometric import arctan, near_tan
from vecdist.special.formulas import log1p_square


def _share_beyond(x: Node, inverse_scale: Node) -> Node:
    z = x * inverse_scale
    far = z > 1.0
    angle = 2 / math.pi * arctan(where(far, 1.0 / z, z))
    return where(far, angle, 1.0 - angle)


def _slopes(x: Node, inverse_scale: Node) -> tuple[Node, Node]:
    """By the density, of which there is nothing where z or its own slopes overflow."""
    density = 2 / math.pi / (1.0 + square(x * inverse_scale))
    return inverse_scale * density, x * density


share_below = primitive(
    "half_cauchy_share_below", 2, expand=lambda x, inverse_scale: 2 / math.pi * arctan(x * inverse_scale),
    partials=lambda x, inverse_scale, out: _slopes(x, inverse_scale), floating=True, domain=((0.1, 9.0), (0.3, 3.0)),
)
share_beyond = primitive(
    "half_cauchy_share_beyond", 2, expand=_share_beyond,
    partials=lambda x, inverse_scale, out: tuple(-slope for slope in _slopes(x, inverse_scale)),
    floating=True, domain=((0.1, 9.0), (0.3, 3.0)),
)


class HalfCauchy(Distribution):
    """Half-Cauchy distribution, f(x) = 2 / (pi scale (1 + (x / scale)^2)) for x >= 0.

    Written ``HalfCauchy(scale)``.
    Gelman (2006), Prior distributions for variance parameters in hierarchical models, Bayesian Analysis 1.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(HalfCauchy(2.0), np.array([0.0, 2.0]))).round(4)
    array([-1.1447, -1.8379])
    """

    oracle = "scipy.stats.halfcauchy(scale=scale)"
    certain: float | None = math.inf

    @parametrisation(scale=positive)
    @staticmethod
    def by_scale(scale: Node) -> dict[str, Node]:
        return {"inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return x * p.inverse_scale

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -log1p_square(x, p.inverse_scale, p.log_scale) - (p.log_scale + math.log(math.pi / 2))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return share_below(x, p.inverse_scale)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return share_beyond(x, p.inverse_scale)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        """That of 2 / (pi z) where there is no more."""
        far = p.log_scale - log(x) + math.log(2 / math.pi)
        near = where(x * p.inverse_scale > 1.0, log(HalfCauchy.sf(x, p)), log1p(-HalfCauchy.cdf(x, p)))
        return where(x * p.inverse_scale > 1e9, far, near)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        upper = q > 0.5
        z = near_tan(math.pi / 2 * where(upper, 1.0 - q, q))
        return where(upper, 1.0 / z, z) / p.inverse_scale

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        upper = q < 0.5
        z = near_tan(math.pi / 2 * where(upper, q, 1.0 - q))
        return where(upper, 1.0 / z, z) / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> float:
        return math.inf

    @staticmethod
    def variance(p: Parameters) -> float:
        return math.inf

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + math.log(2 * math.pi)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 0.0 * p.inverse_scale
