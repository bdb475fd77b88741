"""The Wishart distribution, of matrices and of their Cholesky factors."""

from vecdist.distributions.base import Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.events import each_of
from vecdist.multivariate.lower import Lower, bartlett, of_diagonal
from vecdist.multivariate.scale_matrices import ByScaleMatrix, OfFactors, OfMatrices, log_constant
from vecdist.primitives.arithmetic import square


class _Wishart(ByScaleMatrix):
    @classmethod
    def log_density_at(cls, factor: Lower, p: Parameters) -> Node:
        size = factor.size
        powers = (p.df - (size + 1.0)) * factor.log_diagonal() - p.df * p.factor.log_diagonal()
        return powers - 0.5 * p.factor.quotient(factor) - log_constant(p.df, size)

    @classmethod
    def drawn_factor(cls, random: Stream, p: Parameters) -> Lower:
        """The factor L A of a matrix, by the factor L of the scale matrix and Bartlett's A."""
        return p.factor.times(bartlett(random, p.df, range(p.size)))


class Wishart(_Wishart, OfMatrices, Multivariate):
    """Wishart distribution, f(X) = |X|^((df - K - 1) / 2) exp(-tr(V^-1 X) / 2) / c of matrices with K rows.

    Here c = 2^(df K / 2) |V|^(df / 2) Γ_K(df / 2), and df > K - 1.  Of X, (X + X') / 2 is read.
    Written ``Wishart(df, scale_matrix)`` or ``Wishart(df=, scale_tril=)`` with a lower triangular factor of V.
    Gupta and Nagar (2000), Matrix Variate Distributions, definition 3.2.1; V is the ``scale_matrix``, the mean df V.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(Wishart(3.0, np.eye(2)), np.array([[2.0, 0.5], [0.5, 1.0]]))), 4)
    -4.031
    """

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        return each_of(each_of(p.df)) * p.factor.squared()

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        matrix = p.factor.squared()
        return each_of(each_of(p.df)) * (square(matrix) + of_diagonal(matrix))


class WishartCholesky(_Wishart, OfFactors, Multivariate):
    """Distribution of the Cholesky factors L of matrices X = L L' that have the distribution ``Wishart``.

    Written ``WishartCholesky(df, scale_matrix)`` or ``WishartCholesky(df=, scale_tril=)``.
    What is above the diagonal of L is not read.
    Muirhead (1982), Aspects of Multivariate Statistical Theory, theorem 2.1.9, has the Jacobian.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(WishartCholesky(3.0, np.eye(2)), np.array([[2.0, 0.0], [0.5, 1.0]]))), 4)
    -2.3834
    """
