"""The Pareto distribution."""


from vecdist.constraints import Constraint, beginning, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.special.formulas import infinite_where
from vecdist.special.parts import log_ratio_parts


class Pareto(Distribution):
    """Pareto distribution, f(x) = shape scale^shape x^(-shape - 1) for x >= scale.

    Written ``Pareto(shape, scale)``.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 20.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Pareto(3.0, 2.0), np.array([1.0, 2.0, 4.0]))).round(4)
    array([   -inf,  0.4055, -2.3671])
    """

    oracle = "scipy.stats.pareto(shape, scale=scale)"

    @parametrisation(shape=positive, scale=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node) -> dict[str, Node]:
        return {"shape": shape, "scale": scale}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return beginning(p.scale)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log(p.shape) - log(x) + Pareto.log_sf(x, p)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return -p.shape * log_ratio_parts(x, p.scale).whole

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(Pareto.log_sf(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.scale * exp(-log1p(-q) / p.shape)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.shape <= 1.0, p.scale * (p.shape / (p.shape - 1.0)))

    @staticmethod
    def variance(p: Parameters) -> Node:
        spread = square(p.scale / (p.shape - 1.0)) * (p.shape / (p.shape - 2.0))
        return infinite_where(p.shape <= 2.0, spread)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return 1.0 + 1.0 / p.shape + (log(p.scale) - log(p.shape))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.scale

    @staticmethod
    def upper_quantile_of_log(y: Node, p: Parameters) -> Node:
        return p.scale * exp(-y / p.shape)
