"""The matrix normal distribution."""

import math
from dataclasses import replace

from vecdist import linalg
from vecdist.constraints import finite
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.lazy.array import LazyArray
from vecdist.lazy.views import index_view
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import definite, each, triangular
from vecdist.multivariate.events import each_of, event_length, over_event
from vecdist.primitives.arithmetic import square
from vecdist.primitives.elementary import log
from vecdist.primitives.factorisations import diagonal, lower_part, swapped


class MatrixNormal(Multivariate):
    """Matrix normal distribution, f(X) = exp(-tr(V^-1 D' U^-1 D) / 2) / ((2 pi)^(n p / 2) |U|^(p / 2) |V|^(n / 2)).

    X and ``loc`` are n by p matrices, D = X - loc, U is the ``row_covariance`` and V the ``column_covariance``: of
    elements the covariance is cov(X_ij, X_kl) = U_ik V_jl.
    Written ``MatrixNormal(loc, row_covariance, column_covariance)``, or ``MatrixNormal(loc=, row_tril=, column_tril=)``
    with lower triangular factors of both.
    Gupta and Nagar (2000), Matrix Variate Distributions, theorem 2.2.1.

    >>> import numpy as np, vecdist
    >>> some = MatrixNormal(np.zeros((2, 3)), np.array([[2.0, 1.0], [1.0, 2.0]]), np.eye(3))
    >>> round(float(vecdist.logpdf(some, np.ones((2, 3)))), 4)
    -8.1615
    """

    event = "rk"

    @parametrisation(loc=each(finite, "rk"), row_covariance=replace(definite, axes="rr"), column_covariance=definite)
    @staticmethod
    def by_covariances(loc: Node, row_covariance: Node, column_covariance: Node) -> dict[str, Node]:
        rows, columns = (linalg.cholesky(LazyArray(a)).node for a in (row_covariance, column_covariance))
        return {"loc": loc, "rows": rows, "columns": columns}

    @parametrisation(loc=each(finite, "rk"), row_tril=replace(triangular, axes="rr"), column_tril=triangular)
    @staticmethod
    def by_factors(loc: Node, row_tril: Node, column_tril: Node) -> dict[str, Node]:
        return {"loc": loc, "rows": row_tril, "columns": column_tril}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return None

    @staticmethod
    def draw(random: Stream, p: Parameters) -> Node:
        z = random.over(event_length(p.rows)).over(p.size).normal()
        left, right = LazyArray(lower_part(p.rows)), LazyArray(swapped(lower_part(p.columns)))
        return p.loc + (left @ LazyArray(z) @ right).node

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        deviation = x - p.loc
        rows, columns = (float(length) for length in deviation.shape[-2:])
        white = _whitened(p.columns, swapped(_whitened(p.rows, swapped(deviation))))
        volume = columns * _log_volume(p.rows) + rows * _log_volume(p.columns)
        return -0.5 * over_event(square(white), 2) - (volume + 0.5 * rows * columns * math.log(2.0 * math.pi))

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return p.loc

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        of_rows, of_columns = (over_event(square(lower_part(factor))) for factor in (p.rows, p.columns))
        return each_of(of_rows) * index_view(of_columns, (..., None, slice(None)))


def _whitened(factor: Node, lines: Node) -> Node:
    """L^-1 z of each line of a matrix."""
    return swapped(linalg.solve_triangular(LazyArray(factor), LazyArray(swapped(lines)), lower=True).node)


def _log_volume(factor: Node) -> Node:
    """The logarithm of the determinant of a factor."""
    return over_event(log(diagonal(factor)))
