"""The Wishart distribution, of matrices and of their Cholesky factors."""

import math

from vecdist import linalg
from vecdist.distributions.base import Parameters, parametrisation
from vecdist.expr import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.domains import definite, degrees, triangular
from vecdist.multivariate.wishart_formulas import (
    any_not_positive,
    log_multigamma,
    log_volume_of_factoring,
    trace_of_quotient,
)


class Wishart(Multivariate):
    """Wishart distribution, f(X) = |X|^((df - K - 1) / 2) exp(-tr(V^-1 X) / 2) / c of matrices with K rows.

    Here c = 2^(df K / 2) |V|^(df / 2) Γ_K(df / 2), and df > K - 1.  Of X, (X + X') / 2 is read.
    Written ``Wishart(df, scale_matrix)`` or ``Wishart(df=, scale_tril=)`` with a lower triangular factor of V.
    Gupta and Nagar (2000), Matrix Variate Distributions, definition 3.2.1; V is the ``scale_matrix``, the mean df V.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(Wishart(3.0, np.eye(2)), np.array([[2.0, 0.5], [0.5, 1.0]]))), 4)
    -4.031
    """

    event = "kk"

    @parametrisation(df=degrees, scale_matrix=definite)
    @staticmethod
    def by_matrix(df: Node, scale_matrix: Node) -> dict[str, object]:
        return {"df": df, "factor": linalg.factored(linalg.symmetric(scale_matrix)).rows}

    @parametrisation(df=degrees, scale_tril=triangular)
    @staticmethod
    def by_factor(df: Node, scale_tril: Node) -> dict[str, object]:
        return {"df": df, "factor": linalg.triangular(scale_tril)}

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return any_not_positive(linalg.factored(linalg.symmetric(x)).pivots)

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        return _of_factor(linalg.factored(linalg.symmetric(x)).rows, p)


class WishartCholesky(Wishart):
    """Distribution of the Cholesky factors L of matrices X = L L' that have the distribution ``Wishart``.

    Written ``WishartCholesky(df, scale_matrix)`` or ``WishartCholesky(df=, scale_tril=)``.
    What is above the diagonal of L is not read.
    Muirhead (1982), Aspects of Multivariate Statistical Theory, theorem 2.1.9, has the Jacobian.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(WishartCholesky(3.0, np.eye(2)), np.array([[2.0, 0.0], [0.5, 1.0]]))), 4)
    -2.3834
    """

    @staticmethod
    def outside(x: Node, p: Parameters) -> Node | None:
        return any_not_positive([row[-1] for row in linalg.lower(x)])

    @staticmethod
    def log_density(x: Node, p: Parameters) -> Node:
        factor = linalg.triangular(x)
        return _of_factor(factor, p) + log_volume_of_factoring(factor)


def _of_factor(factor: linalg.Triangle, p: Parameters) -> Node:
    """The log density at L L'."""
    size = len(factor)
    powers = (p.df - (size + 1.0)) * linalg.log_diagonal(factor) - p.df * linalg.log_diagonal(p.factor)
    constant = log_multigamma(0.5 * p.df, size) + 0.5 * size * math.log(2.0) * p.df
    return powers - 0.5 * trace_of_quotient(p.factor, factor) - constant
