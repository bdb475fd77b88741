"""The inverse gamma distribution."""

import math

from vecdist.constraints import Constraint, positive
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.error_functions import lgamma
from vecdist.special.formulas import infinite_where
from vecdist.special.gamma_of_argument import log_gamma_beyond_argument
from vecdist.special.gamma_of_log import gamma_below, gamma_beyond, log_gamma_below
from vecdist.special.gamma_quantiles import log_below, log_beyond
from vecdist.special.parts import Parts, log_parts, log_ratio_parts
from vecdist.special.stirling import digamma_part, lgamma_excess

log_and_inverse: Primitive = primitive(  # power log(x) + scale / x, whose slopes in x are infinite apart next to 0
    "log_and_inverse", 3, expand=lambda x, power, scale: power * log(x) + scale / x,
    partials=lambda x, power, scale, out: ((power - scale / x) / x, log(x), 1.0 / x),
    domain=((0.1, 30.0), (1.1, 30.0), (0.1, 30.0)),
)


def log_mean(relative: Parts, ratio: Node) -> dict[str, Node]:
    """The logarithm of scale / shape, for distribution functions, and that ratio for quantiles."""
    return {"log_mean": relative.high, "log_mean_rest": relative.rest, "ratio": ratio}


class InverseGamma(Distribution):
    """Inverse gamma distribution, f(x) = scale^shape x^(-shape - 1) exp(-scale / x) / Γ(shape) for x > 0.

    Written ``InverseGamma(shape, scale)`` or ``InverseGamma(mean=, sd=)``, where the shape is above 2.
    Gelman et al. (2013), Bayesian Data Analysis, third edition, appendix A.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(InverseGamma(2.0, 0.5), np.array([0.0, 1.0, 3.0]))).round(4)
    array([   -inf, -1.8863, -4.8488])
    """

    oracle = "scipy.stats.invgamma(shape, scale=scale)"

    @parametrisation(shape=positive, scale=positive)
    @staticmethod
    def by_scale(shape: Node, scale: Node) -> dict[str, Node]:
        relative = log_mean(log_ratio_parts(scale, shape), scale / shape)
        return {"shape": shape, "scale": scale, "log_scale": log(scale), **relative}

    @parametrisation(mean=positive, sd=positive)
    @staticmethod
    def by_mean(mean: Node, sd: Node) -> dict[str, Node]:
        squared = square(mean / sd)
        scale = mean * (squared + 1.0)
        shape = squared + 2.0
        relative = log_mean(log_ratio_parts(scale, shape), scale / shape)
        return {"shape": shape, "scale": scale, "log_scale": log(scale), **relative}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return (p.shape * p.log_scale - lgamma(p.shape)) - log_and_inverse(x, p.shape + 1.0, p.scale)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.scale / random.gamma(p.shape)

    @staticmethod
    def mean(p: Parameters) -> Node:
        return infinite_where(p.shape <= 1.0, p.scale / (p.shape - 1.0))

    @staticmethod
    def variance(p: Parameters) -> Node:
        spread = square(p.scale / (p.shape - 1.0)) / (p.shape - 2.0)
        return infinite_where(p.shape <= 2.0, spread)

    @staticmethod
    def entropy(p: Parameters) -> Node:
        spread = digamma_part(p.shape, 1.0) + lgamma_excess(p.shape)
        return (spread + 0.5 * math.log(2 * math.pi)) + (p.log_scale - 1.5 * log(p.shape))

    @staticmethod
    def mode(p: Parameters) -> Node:
        return p.scale / (p.shape + 1.0)

    @staticmethod
    def place(x: Node, p: Parameters) -> tuple[Node, Node, Node]:
        """What the gamma distribution function of scale / x is given."""
        relative = Parts(p.log_mean, p.log_mean_rest) - log_parts(x)
        return p.shape, relative.rest, relative.high

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return gamma_beyond(*InverseGamma.place(x, p))

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return gamma_below(*InverseGamma.place(x, p))

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_gamma_beyond_argument(p.shape, *(log_parts(p.scale) - log_parts(x)))

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_gamma_below(*InverseGamma.place(x, p))

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return p.ratio * exp(-log_beyond(p.shape, q))

    @staticmethod
    def upper_quantile(q: Node, p: Parameters) -> Node:
        return p.ratio * exp(-log_below(p.shape, q))
