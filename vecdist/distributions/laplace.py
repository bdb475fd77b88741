"""The Laplace distribution."""

import math

from vecdist.constraints import Constraint, finite, positive, real
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, log, log1p, log_twice


class Laplace(Distribution):
    """Laplace distribution, f(x) = exp(-|x - loc| / scale) / (2 scale); at its peak the derivatives in x and loc are 0.

    Written ``Laplace(loc, scale)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 24.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Laplace(0.0, 2.0), np.array([0.0, -2.0]))).round(4)
    array([-1.3863, -2.3863])
    """

    oracle = "scipy.stats.laplace(loc, scale)"
    symmetric = True
    certain: float | None = LIGHT

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale), "log_width": log_twice(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return real

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return (x - p.loc) * p.inverse_scale

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -(abs(x - p.loc) * p.inverse_scale) - p.log_width

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        half = 0.5 * exp(Laplace.decay(x, p))
        return where(x < p.loc, half, 1.0 - half)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        decay = Laplace.decay(x, p)
        return where(x < p.loc, decay - math.log(2), log1p(-0.5 * exp(decay)))

    @staticmethod
    def decay(x: Node, p: Parameters) -> Node:
        """-|z|, at loc with the slopes that it has above."""
        z = Laplace.standardised(x, p)
        return where(x < p.loc, z, -z)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + where(q < 0.5, log(2.0 * q), -log(2.0 * (1.0 - q))) / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance(p: Parameters) -> Node:
        return 2.0 / square(p.inverse_scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + (1 + math.log(2))
