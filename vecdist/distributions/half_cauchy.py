"""The half-Cauchy distribution."""

import math

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.formulas import log1p_square
from vecdist.expr import Node
from vecdist.primitives.elementary import log


class HalfCauchy(Distribution):
    """Half-Cauchy distribution, f(x) = 2 / (pi scale (1 + (x / scale)^2)) for x >= 0.

    Written ``HalfCauchy(scale)``.
    Gelman (2006), Prior distributions for variance parameters in hierarchical models, Bayesian Analysis 1.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(HalfCauchy(2.0), np.array([0.0, 2.0]))).round(4)
    array([-1.1447, -1.8379])
    """

    oracle = "scipy.stats.halfcauchy(scale=scale)"

    @parametrisation(scale=positive)
    @staticmethod
    def by_scale(scale: Node) -> dict[str, Node]:
        return {"inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return -log1p_square(x * p.inverse_scale) - (p.log_scale + math.log(math.pi / 2))
