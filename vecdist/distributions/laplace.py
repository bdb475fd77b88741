"""The Laplace distribution."""

import math

from vecdist.constraints import Constraint, finite, positive, real
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node
from vecdist.primitives.elementary import log


class Laplace(Distribution):
    """Laplace distribution, f(x) = exp(-|x - loc| / scale) / (2 scale); at its peak the derivatives in x and loc are 0.

    Written ``Laplace(loc, scale)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 24.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Laplace(0.0, 2.0), np.array([0.0, -2.0]))).round(4)
    array([-1.3863, -2.3863])
    """

    oracle = "scipy.stats.laplace(loc, scale)"

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return real

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -(abs(x - p.loc) * p.inverse_scale) - (p.log_scale + math.log(2.0))
