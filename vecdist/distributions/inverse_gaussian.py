"""The inverse Gaussian distribution."""

import math

from vecdist.constraints import Constraint, positive, positive_or_infinite
from vecdist.distributions.base import Distribution, Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.primitives.arithmetic import sqrt, square
from vecdist.primitives.elementary import log
from vecdist.primitives.power import hypot
from vecdist.primitives.rounding import quotient_rest
from vecdist.primitives.table import Primitive, primitive
from vecdist.special.inverse_gaussian_tails import (
    inverse_gaussian_below,
    inverse_gaussian_beyond,
    log_inverse_gaussian_below,
    log_inverse_gaussian_beyond,
)
from vecdist.special.mills_quantiles import inverse_gaussian_quantile


def _away(x: Node, mean: Node) -> Node:
    """x / mean - 1, with all digits next to the mean."""
    return (x / mean - 1.0) + quotient_rest(x, mean)


def _distance_partials(x: Node, mean: Node, out: Node) -> tuple[Node, Node]:
    """1 / mean^2 - 1 / x^2, and twice the difference of x from the mean over its cube."""
    away, inverse, inverse_x = _away(x, mean), 1.0 / mean, 1.0 / x
    return (away * inverse_x) * (inverse + inverse_x), -2.0 * (away * inverse) * inverse


distance: Primitive = primitive(  # (x - mean)^2 / (mean^2 x), which does not overflow before it is a float no more
    "inverse_gaussian_distance", 2, expand=lambda x, mean: _away(x, mean) * (_away(x, mean) / x),
    partials=_distance_partials, floating=True, domain=((0.2, 9.0), (0.5, 4.0)),
)


def _log_kernel(x: Node, mean: Node, shape: Node) -> Node:
    return -1.5 * log(x) - 0.5 * shape * distance(x, mean)


def _log_kernel_partials(x: Node, mean: Node, shape: Node, out: Node) -> tuple[Node, ...]:
    """That in x as one product, for next to 0 both 1 / x and 1 / x^2 are infinite."""
    away, inverse, inverse_x = _away(x, mean), 1.0 / mean, 1.0 / x
    of_x = -inverse_x * (0.5 * shape * away * (inverse + inverse_x) + 1.5)
    return of_x, shape * ((away * inverse) * inverse), -0.5 * distance(x, mean)


log_kernel: Primitive = primitive(  # the logarithm of x^(-3 / 2) exp(-shape distance / 2)
    "inverse_gaussian_log_kernel", 3, expand=_log_kernel, partials=_log_kernel_partials,
    floating=True, domain=((0.2, 9.0), (0.5, 4.0), (0.5, 4.0)),
)


class InverseGaussian(Distribution):
    """Inverse Gaussian distribution, f(x) = sqrt(shape / (2 pi x^3)) exp(-shape (x - mean)^2 / (2 mean^2 x)) for x > 0.

    Written ``InverseGaussian(mean, shape)`` or ``InverseGaussian(mean=, phi=)`` with phi = shape / mean; it is the Wald
    distribution.  An infinite ``mean`` gives the Lévy distribution.
    Johnson, Kotz and Balakrishnan (1994), Continuous Univariate Distributions 1, chapter 15.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.logpdf(InverseGaussian(2.0, 1.0), np.array([0.0, 1.0, 2.0]))).round(4)
    array([   -inf, -1.0439, -1.9587])
    """

    oracle = "scipy.stats.invgauss(mean / shape, scale=shape)"

    @parametrisation(mean=positive_or_infinite, shape=positive)
    @staticmethod
    def by_shape(mean: Node, shape: Node) -> dict[str, Node]:
        return {"location": mean, "shape": shape}

    @parametrisation(mean=positive, phi=positive)
    @staticmethod
    def by_phi(mean: Node, phi: Node) -> dict[str, Node]:
        return {"location": mean, "shape": mean * phi}

    @staticmethod
    def support(p: Parameters) -> Constraint:
        return positive

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return 0.5 * (log(p.shape) - math.log(2 * math.pi)) + log_kernel(x, p.location, p.shape)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        """Michael, Schucany and Haas (1976), Generating random variates using transformations with multiple roots."""
        inverse, half = 1.0 / p.location, 0.5 * square(random.normal()) / p.shape
        x = 1.0 / (inverse + half + sqrt(half * (half + 2.0 * inverse)))
        return where(random.uniform() * (1.0 + x * inverse) < 1.0, x, 1.0 / (square(inverse) * x))

    @staticmethod
    def mean(p: Parameters) -> Node:
        return p.location

    @staticmethod
    def variance(p: Parameters) -> Node:
        return p.location * square(p.location) / p.shape

    @staticmethod
    def mode(p: Parameters) -> Node:
        return 1.0 / (hypot(1.0 / p.location, 1.5 / p.shape) + 1.5 / p.shape)

    @staticmethod
    def cdf(x: Node, p: Parameters) -> Node:
        return inverse_gaussian_below(x, p.location, p.shape)

    @staticmethod
    def sf(x: Node, p: Parameters) -> Node:
        return inverse_gaussian_beyond(x, p.location, p.shape)

    @staticmethod
    def log_cdf(x: Node, p: Parameters) -> Node:
        return log_inverse_gaussian_below(x, p.location, p.shape)

    @staticmethod
    def log_sf(x: Node, p: Parameters) -> Node:
        return log_inverse_gaussian_beyond(x, p.location, p.shape)

    @staticmethod
    def quantile(q: Node, p: Parameters) -> Node:
        return inverse_gaussian_quantile(p.location, p.shape, q)
