"""The multivariate symmetric Laplace distribution."""

import math

import numpy as np

from vecdist.constraints import finite, positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, const, where
from vecdist.multivariate import scatter
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import definite, each, triangular
from vecdist.multivariate.events import each_of, event_length
from vecdist.primitives.arithmetic import sqrt
from vecdist.primitives.elementary import log
from vecdist.special.bessel_orders import log_kve


class MvLaplace(Multivariate):
    """Symmetric multivariate Laplace distribution, f(x) = 2 (q / 2)^(v / 2) K_v(sqrt(2 q)) / sqrt((2 pi)^K |Σ|).

    Here q = (x - loc)' Σ^-1 (x - loc), v = 1 - K / 2, and K_v is the modified Bessel function of the second kind: a
    normal distribution whose covariance Σ is multiplied by an exponential variable of mean 1, so that Σ is the
    covariance.  The density is infinite at ``loc`` where K is 2 or more.  Written ``MvLaplace(loc, covariance)``,
    ``MvLaplace(loc=, scale_tril=)`` with a lower triangular factor, or ``MvLaplace(loc=, scale_diag=)`` with the
    standard deviations of elements that are uncorrelated, though not independent.
    Kotz, Kozubowski and Podgórski (2001), The Laplace Distribution and Generalizations, chapter 5.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(MvLaplace(np.zeros(2), np.eye(2)), np.ones(2))), 4)
    -3.3172
    """

    @parametrisation(loc=each(finite), covariance=definite)
    @staticmethod
    def by_covariance(loc: Node, covariance: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_matrix(covariance)}

    @parametrisation(loc=each(finite), scale_tril=triangular)
    @staticmethod
    def by_factor(loc: Node, scale_tril: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_lower(scale_tril)}

    @parametrisation(loc=each(finite), scale_diag=each(positive))
    @staticmethod
    def by_diagonal(loc: Node, scale_diag: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_diagonal(scale_diag)}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return None

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.loc + each_of(sqrt(random.exponential())) * p.scatter.coloured(random)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        deviation = x - p.loc
        size, half = event_length(deviation), 0.5 * p.scatter.distance(deviation)
        apart = half > 0.0
        distance = where(apart, 2.0 * sqrt(where(apart, half, 1.0)), half)
        if size == 1:
            return -0.5 * math.log(2.0) - (p.scatter.log_volume + distance)
        order = const(0.5 * size - 1.0, x.dtype)
        inside = log_kve(order, where(apart, distance, 1.0)) - distance
        if size > 2:
            inside = inside - 0.5 * order * log(where(apart, half, 1.0))
        constant = math.log(2.0) - 0.5 * size * math.log(2.0 * math.pi)
        return where(half <= 0.0, np.inf, inside) + (constant - p.scatter.log_volume)

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        return scatter.variances(p.scatter)
