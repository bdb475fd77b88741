"""The multivariate normal distribution."""

import math

from vecdist.constraints import finite, positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate import scatter
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import definite, each, triangular
from vecdist.multivariate.events import length


class MvNormal(Multivariate):
    """Multivariate normal distribution, f(x) = exp(-d' Σ^-1 d / 2) / sqrt((2 pi)^K |Σ|) with d = x - loc.

    Written ``MvNormal(loc, covariance)``; ``MvNormal(loc=, scale_tril=)`` with a lower triangular factor,
    Σ = scale_tril scale_tril'; ``MvNormal(loc=, precision=)`` with the inverse of Σ; ``MvNormal(loc=, scale_diag=)``
    with standard deviations of independent elements; ``MvNormal(loc=, cov_factor=, cov_diag=)`` with
    Σ = cov_factor cov_factor' + diag(cov_diag).  Matrices of more than 8 rows are factored between kernels.
    Kotz, Balakrishnan and Johnson (2000), Continuous Multivariate Distributions 1, second edition, chapter 45.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(MvNormal(np.zeros(2), np.array([[2.0, 1.0], [1.0, 2.0]])), np.ones(2))), 4)
    -2.7205
    """

    @parametrisation(loc=each(finite), covariance=definite)
    @staticmethod
    def by_covariance(loc: Node, covariance: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_matrix(covariance)}

    @parametrisation(loc=each(finite), scale_tril=triangular)
    @staticmethod
    def by_factor(loc: Node, scale_tril: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_lower(scale_tril)}

    @parametrisation(loc=each(finite), precision=definite)
    @staticmethod
    def by_precision(loc: Node, precision: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_inverse(precision)}

    @parametrisation(loc=each(finite), scale_diag=each(positive))
    @staticmethod
    def by_diagonal(loc: Node, scale_diag: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_diagonal(scale_diag)}

    @parametrisation(loc=each(finite), cov_factor=each(finite, "kr"), cov_diag=each(positive))
    @staticmethod
    def by_low_rank(loc: Node, cov_factor: Node, cov_diag: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_low_rank(cov_factor, cov_diag)}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return None

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return p.loc + p.scatter.coloured(random)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        deviation = x - p.loc
        constant = 0.5 * math.log(2.0 * math.pi) * length(deviation)
        return -0.5 * p.scatter.distance(deviation) - (p.scatter.log_volume + constant)

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        return scatter.variances(p.scatter)
