"""The inverse Wishart distribution, of matrices and of their Cholesky factors."""

import numpy as np

from vecdist.distributions.base import Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node, where
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.events import each_of
from vecdist.multivariate.lower import Lower, bartlett, of_diagonal
from vecdist.multivariate.scale_matrices import ByScaleMatrix, OfFactors, OfMatrices, log_constant
from vecdist.primitives.arithmetic import square


class _InverseWishart(ByScaleMatrix):
    @classmethod
    def log_density_at(cls, factor: Lower, p: Parameters) -> Node:
        size = factor.size
        powers = p.df * p.factor.log_diagonal() - (p.df + (size + 1.0)) * factor.log_diagonal()
        return powers - 0.5 * factor.quotient(p.factor) - log_constant(p.df, size)

    @classmethod
    def drawn_factor(cls, random: Stream, p: Parameters) -> Lower:
        """The factor L T^-1 of a matrix, by the factor L of Ψ: T' T has the Wishart distribution of the identity.

        That is Bartlett's decomposition with rows and columns in reverse order.
        """
        return p.factor.over(bartlett(random, p.df, range(p.size - 1, -1, -1)))


class InverseWishart(_InverseWishart, OfMatrices, Multivariate):
    """Inverse Wishart distribution, f(X) = |X|^(-(df + K + 1) / 2) exp(-tr(Ψ X^-1) / 2) / c of matrices with K rows.

    Here c = 2^(df K / 2) |Ψ|^(-df / 2) Γ_K(df / 2), and df > K - 1.  Of X, (X + X') / 2 is read.
    Written ``InverseWishart(df, scale_matrix)`` or ``InverseWishart(df=, scale_tril=)`` with a triangular factor of Ψ.
    Gupta and Nagar (2000), Matrix Variate Distributions, section 3.4; Ψ is the ``scale_matrix``.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(InverseWishart(3.0, np.eye(2)), np.array([[2.0, 0.5], [0.5, 1.0]]))), 4)
    -5.067
    """

    @staticmethod
    def mean_of(p: Parameters) -> Node:
        over = each_of(each_of(p.df)) - (p.size + 1.0)
        return where(over > 0.0, p.factor.squared() / where(over > 0.0, over, 1.0), np.nan)

    @staticmethod
    def variance_of(p: Parameters) -> Node:
        matrix, over = p.factor.squared(), each_of(each_of(p.df)) - (p.size + 3.0)
        known = where(over > 0.0, over, 1.0)
        found = (known + 4.0) * square(matrix) + (known + 2.0) * of_diagonal(matrix)
        return where(over > 0.0, found / ((known + 3.0) * square(known + 2.0) * known), np.nan)


class InverseWishartCholesky(_InverseWishart, OfFactors, Multivariate):
    """Distribution of the Cholesky factors L of matrices X = L L' that have the distribution ``InverseWishart``.

    Written ``InverseWishartCholesky(df, scale_matrix)`` or ``InverseWishartCholesky(df=, scale_tril=)``.
    What is above the diagonal of L is not read.
    Muirhead (1982), Aspects of Multivariate Statistical Theory, theorem 2.1.9, has the Jacobian.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(InverseWishartCholesky(3.0, np.eye(2)), np.array([[2.0, 0.0], [0.5, 1.0]]))), 4)
    -4.5736
    """
