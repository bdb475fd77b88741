"""The generalized Pareto distribution."""

import math

from vecdist.constraints import Constraint, finite, interval, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import eq, square
from vecdist.primitives.elementary import exp, expm1, log, log1p
from vecdist.primitives.floating import at_least
from vecdist.special.formulas import expm1_over, infinite_where, log1p_by, log1p_decay
from vecdist.special.parts import NOTHING, difference


class GeneralizedPareto(Distribution):
    """Generalized Pareto distribution, f(x) = (1 + shape z)^(-1 / shape - 1) / scale with z = (x - loc) / scale >= 0.

    Written ``GeneralizedPareto(loc, scale, shape)``; it is the exponential distribution where the shape is 0.  A
    positive shape has a heavy tail, a negative one an upper end, loc - scale / shape.
    Coles (2001), An Introduction to Statistical Modeling of Extreme Values, section 4.2.1.

    >>> import numpy as np, vecdist
    >>> at_one = vecdist.logpdf(GeneralizedPareto(0.0, 1.0, np.array([-1.0, -0.5, 0.0, 0.5])), 1.0)
    >>> np.asarray(at_one).round(4)
    array([ 0.    , -0.6931, -1.    , -1.2164])
    """

    oracle = "scipy.stats.genpareto(shape, loc, scale)"

    @parametrisation(loc=finite, scale=positive, shape=finite)
    @staticmethod
    def by_shape(loc: Node, scale: Node, shape: Node) -> dict[str, Node]:
        return {"loc": loc, "scale": scale, "shape": shape}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        end = p.loc - p.scale / p.shape
        return interval(p.loc, where(p.shape < 0.0, end, math.inf))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        density = log1p_decay(p.shape, *difference(x, p.loc), p.scale) - log(p.scale)
        return where(eq(x, math.inf), -math.inf, density)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return -log1p_by(p.shape, *difference(x, p.loc), p.scale)

    @staticmethod
    def least_log_sf(x: Node, p: Parameters) -> Node:
        """No less than what has 0 as its exponential, and a slope of 0 there."""
        return at_least(GeneralizedPareto.log_sf(x, p), NOTHING)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return exp(GeneralizedPareto.least_log_sf(x, p))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return -expm1(GeneralizedPareto.least_log_sf(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * expm1_over(p.shape, -log1p(-q))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.loc + p.scale * expm1_over(p.shape, -log(q))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.shape >= 1.0, p.loc + p.scale / (1.0 - p.shape))

    @staticmethod
    def variance(p: Parameters) -> Node:
        spread = square(p.scale / (1.0 - p.shape)) / (1.0 - 2.0 * p.shape)
        return infinite_where(p.shape >= 0.5, spread)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return log(p.scale) + (p.shape + 1.0)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return where(p.shape < -1.0, p.loc - p.scale / p.shape, p.loc)
