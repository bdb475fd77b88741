"""The generalised logistic distribution of type I."""

import math

from vecdist.constraints import Constraint, finite, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import clamped, exp, expm1, log, log1p, log_sigmoid, sigmoid
from vecdist.primitives.logarithms import log1mexp, logexpm1
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import digamma, trigamma
from vecdist.special.formulas import EULER

FAR = {8: 1e300, 4: 1e37}  # deviations that tails and their slopes are products with
log_powers: Primitive = primitive(  # of sigmoid(z)^shape sigmoid(-z)
    "log_of_sigmoid_powers", 2, expand=lambda z, shape: shape * log_sigmoid(z) + log_sigmoid(-z),
    partials=lambda z, shape, out: (shape * sigmoid(-z) - sigmoid(z), log_sigmoid(z)), floating=True,
    domain=((-9.0, 9.0), (0.3, 4.0)),
)


class GeneralizedLogistic(Distribution):
    """Generalised logistic distribution of type I, f(x) = shape exp(-z) / (scale (1 + exp(-z))^(shape + 1)).

    With z = (x - loc) / scale; its distribution function is a power of the logistic one.
    Written ``GeneralizedLogistic(shape, loc, scale)``.
    Johnson, Kotz and Balakrishnan (1995), Continuous Univariate Distributions 2, section 23.10.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(GeneralizedLogistic(2.0, 0.0, 1.0), np.array([0.0, 1.0]))).round(4)
    array([-1.3863, -1.2466])
    """

    oracle = "scipy.stats.genlogistic(shape, loc, scale)"

    @parametrisation(shape=positive, loc=finite, scale=positive)
    @staticmethod
    def by_scale(shape: Node, loc: Node, scale: Node) -> dict[str, Node]:
        return {"shape": shape, "loc": loc, "inverse_scale": 1.0 / scale, "log_scale": log(scale)}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return finite

    @staticmethod
    def standardised(x: Node, p: Parameters) -> Node:
        far = FAR[x.dtype.itemsize]
        return clamped((x - p.loc) * p.inverse_scale, (-far, far))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return log_powers(GeneralizedLogistic.standardised(x, p), p.shape) + (log(p.shape) - p.log_scale)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return p.shape * log_sigmoid(GeneralizedLogistic.standardised(x, p))

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return exp(GeneralizedLogistic.log_cdf(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return -expm1(GeneralizedLogistic.log_cdf(x, p))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        """That of shape exp(-z) where there is no more."""
        z = GeneralizedLogistic.standardised(x, p)
        far = log(p.shape) - z
        return where(far < -40.0, far, log1mexp(p.shape * log_sigmoid(z)))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.loc - logexpm1(-log(q) / p.shape) / p.inverse_scale

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.loc - logexpm1(-log1p(-q) / p.shape) / p.inverse_scale

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.loc + (digamma(p.shape) + EULER) / p.inverse_scale

    @staticmethod
    def variance(p: Parameters) -> Node:
        return (trigamma(p.shape) + math.pi**2 / 6) / square(p.inverse_scale)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        return p.log_scale - log(p.shape) + digamma(p.shape) + 1.0 / p.shape + (1 + EULER)

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.loc + log(p.shape) / p.inverse_scale
