"""The logistic normal distribution of proportions."""

from dataclasses import replace

from vecdist.constraints import finite, positive
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.lazy.views import index_view
from vecdist.multivariate import scatter
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import definite, each, triangular
from vecdist.multivariate.events import over_event, some
from vecdist.multivariate.mv_normal import MvNormal
from vecdist.multivariate.proportions import outside_simplex, with_zero
from vecdist.primitives.elementary import log
from vecdist.primitives.reductions import along


class LogisticNormal(Multivariate):
    """Logistic normal distribution of K proportions with sum 1, by K - 1 logarithms of their ratios to the last one.

    f(x) = g(log(x_1 / x_K), ..., log(x_(K-1) / x_K)) / ∏ x_k, where g is the density of ``MvNormal``.
    Written ``LogisticNormal(loc, covariance)``, ``LogisticNormal(loc=, scale_tril=)`` or
    ``LogisticNormal(loc=, scale_diag=)``, all of the logarithms: K - 1 numbers, and as many rows.
    Aitchison and Shen (1980), Logistic-normal distributions: some properties and uses, Biometrika 67.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(LogisticNormal(np.zeros(2), np.eye(2)), np.array([0.2, 0.3, 0.5]))), 4)
    1.1184
    """

    @parametrisation(loc=each(finite, "i"), covariance=replace(definite, axes="ii"))
    @staticmethod
    def by_covariance(loc: Node, covariance: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_matrix(covariance)}

    @parametrisation(loc=each(finite, "i"), scale_tril=replace(triangular, axes="ii"))
    @staticmethod
    def by_factor(loc: Node, scale_tril: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_lower(scale_tril)}

    @parametrisation(loc=each(finite, "i"), scale_diag=each(positive, "i"))
    @staticmethod
    def by_diagonal(loc: Node, scale_diag: Node) -> dict[str, object]:
        return {"loc": loc, "scatter": scatter.of_diagonal(scale_diag)}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return outside_simplex(x) | some(x <= 0.0)

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        return along("softmax", with_zero(MvNormal.draw(random, p)), (-1,))

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        logs = log(where(x <= 0.0, 1.0, x))
        ratios = index_view(logs, (..., slice(-1))) - index_view(logs, (..., slice(-1, None)))
        return MvNormal.log_density(ratios, p) - over_event(logs)
