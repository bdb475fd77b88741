"""The Lomax distribution."""


from vecdist.constraints import Constraint, beginning, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import expm1, log, log1p
from vecdist.primitives.log_products import log_quotient
from vecdist.primitives.logarithms import log1p_quotient
from vecdist.special.formulas import infinite_where


class Lomax(Distribution):
    """Lomax distribution, f(x) = shape / scale (1 + z)^(-shape - 1) with z = (x - loc) / scale >= 0.

    Written ``Lomax(loc, scale, shape)``, in Stan's order; it is the Pareto distribution of type II.
    Arnold (2015), Pareto Distributions, second edition, section 1.2.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Lomax(0.0, 2.0, 3.0), np.array([-1.0, 0.0, 2.0]))).round(4)
    array([   -inf,  0.4055, -2.3671])
    """

    oracle = "scipy.stats.lomax(shape, loc, scale)"

    @parametrisation(loc=finite, scale=positive, shape=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node, shape: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "shape": shape}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return beginning(p.loc)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_quotient(p.shape, p.scale) - (p.shape + 1.0) * log1p_quotient(x - p.loc, p.scale)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return -p.shape * log1p_quotient(x - p.loc, p.scale)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(Lomax.log_sf(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * expm1(-log1p(-q) / p.shape)

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * expm1(-log(q) / p.shape)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.shape <= 1.0, p.loc + p.scale / (p.shape - 1.0))

    @staticmethod
    def variance(p: Parameters) -> Node:
        spread = square(p.scale / (p.shape - 1.0)) * (p.shape / (p.shape - 2.0))
        return infinite_where(p.shape <= 2.0, spread)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return 1.0 + 1.0 / p.shape + (log(p.scale) - log(p.shape))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.loc
