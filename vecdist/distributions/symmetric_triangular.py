"""The symmetric triangular distribution."""

from vecdist.constraints import Constraint, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.ends import room
from vecdist.expr import Node, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import clamped, log, log1p


class SymmetricTriangular(Distribution):
    """Symmetric triangular distribution, f(x) = (1 - |z|) / scale with z = (x - loc) / scale, for -1 <= z <= 1.

    Written ``SymmetricTriangular(loc, scale)``; at its peak the derivatives in x and loc are 0.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 26.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(SymmetricTriangular(0.0, 2.0), np.array([0.0, 1.0, 3.0]))).round(4)
    array([-0.6931, -1.3863,    -inf])
    """

    oracle = "scipy.stats.triang(0.5, loc - scale, 2 * scale)"
    symmetric = True

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return interval(p.loc - p.scale, p.loc + p.scale)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        z, left = (x - p.loc) / p.scale, room(x, p.loc, p.scale)
        near = log1p(-where(left > 0.5, abs(z), 0.0))
        return where(left > 0.5, near, log(left)) - log(p.scale)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        z = clamped((x - p.loc) / p.scale, (-1.0, 1.0))
        return where(z < 0.0, 0.5 * square(1.0 + z), 1.0 - 0.5 * square(1.0 - z))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * where(q < 0.5, sqrt(2.0 * q) - 1.0, 1.0 - sqrt(2.0 * (1.0 - q)))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return square(p.scale) / 6.0

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + 0.5
