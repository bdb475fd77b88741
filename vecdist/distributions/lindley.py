"""The Lindley distribution."""

from vecdist.constraints import Constraint, nonnegative, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.expr import Node
from vecdist.primitives.arithmetic import maximum, square
from vecdist.primitives.elementary import expm1, log, log1p


class Lindley(Distribution):
    """Lindley distribution, f(x) = shape^2 (1 + x) exp(-shape x) / (1 + shape) for x >= 0.

    Written ``Lindley(shape)``.
    Ghitany, Atieh and Nadarajah (2008), Lindley distribution and its application, Mathematics and Computers in
    Simulation 78.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Lindley(1.0), np.array([0.0, 1.0]))).round(4)
    array([-0.6931, -1.    ])
    """

    @parametrisation(shape=positive)
    @staticmethod
    def by_shape(shape: Node) -> dict[str, Node]:
        return {"shape": shape}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return nonnegative

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return 2.0 * log(p.shape) - log1p(p.shape) + log1p(x) - p.shape * x

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log1p(p.shape / (1.0 + p.shape) * x) - p.shape * x

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(Lindley.log_sf(x, p))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return (p.shape + 2.0) / (p.shape * (p.shape + 1.0))

    @staticmethod
    def variance(p: Parameters) -> Node:
        s = p.shape
        return (2.0 + s * (4.0 + s)) / square(s * (1.0 + s))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return maximum(1.0 - p.shape, 0.0) / p.shape
