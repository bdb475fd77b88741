"""The Gumbel distribution."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import LIGHT, Distribution, Parameters, parametrisation
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least
from vecdist.special.formulas import EULER, less_exp, log1mexp_of_exp
from vecdist.special.parts import NOTHING, Parts, difference, log_of_minus_log


class Gumbel(Distribution):
    """Gumbel distribution of a maximum, f(x) = exp(-z - exp(-z)) / scale with z = (x - loc) / scale.

    Written ``Gumbel(loc, scale)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, chapter 22.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(Gumbel(0.0, 2.0), np.array([0.0, 2.0]))).round(4)
    array([-1.6931, -2.061 ])
    """

    oracle = "scipy.stats.gumbel_r(loc, scale)"
    certain: float | None = LIGHT

    @parametrisation(loc=finite, scale=positive)
    @staticmethod
    def by_scale(loc: Node, scale: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        return -difference(p.loc, x).over(p.scale).high

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return less_exp(*difference(p.loc, x).over(p.scale)) - p.log_scale

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return -difference(p.loc, x).over(p.scale).exp()

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return exp(at_least(Gumbel.log_cdf(x, p), NOTHING))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return -expm1(at_least(Gumbel.log_cdf(x, p), NOTHING))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log1mexp_of_exp((x - p.loc) * p.inverse_scale)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc - p.scale * log_of_minus_log(Parts(q, 0.0 * q), -log(q))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.loc - p.scale * log(-log1p(-q))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + EULER * p.scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        return math.pi**2 / 6 * square(p.scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale + (EULER + 1.0)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.loc
