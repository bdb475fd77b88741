"""The inverse Wishart distribution, of matrices and of their Cholesky factors."""

from vecdist import linalg
from vecdist.distributions.base import Parameters
from vecdist.distributions.stream import Stream
from vecdist.graph.node import Node
from vecdist.multivariate.base import Multivariate
from vecdist.multivariate.scale_matrices import ByScaleMatrix, OfFactors, OfMatrices, log_constant
from vecdist.multivariate.wishart_formulas import bartlett, trace_of_quotient


class _InverseWishart(ByScaleMatrix):
    @classmethod
    def log_density_at(cls, factor: linalg.Triangle, p: Parameters) -> Node:
        size = len(factor)
        powers = p.df * linalg.log_diagonal(p.factor) - (p.df + (size + 1.0)) * linalg.log_diagonal(factor)
        return powers - 0.5 * trace_of_quotient(factor, p.factor) - log_constant(p.df, size)

    @classmethod
    def drawn_factor(cls, random: Stream, p: Parameters) -> linalg.Triangle:
        """The factor L T^-1 of a matrix, by the factor L of Ψ: T' T has the Wishart distribution of the identity.

        That is Bartlett's decomposition with rows and columns in reverse order.
        """
        inner = bartlett(random, [p.df - float(p.size - 1 - i) for i in range(p.size)])
        return [linalg.solved_transposed(inner[: i + 1], row) for i, row in enumerate(p.factor)]


class InverseWishart(_InverseWishart, OfMatrices, Multivariate):
    """Inverse Wishart distribution, f(X) = |X|^(-(df + K + 1) / 2) exp(-tr(Ψ X^-1) / 2) / c of matrices with K rows.

    Here c = 2^(df K / 2) |Ψ|^(-df / 2) Γ_K(df / 2), and df > K - 1.  Of X, (X + X') / 2 is read.
    Written ``InverseWishart(df, scale_matrix)`` or ``InverseWishart(df=, scale_tril=)`` with a triangular factor of Ψ.
    Gupta and Nagar (2000), Matrix Variate Distributions, section 3.4; Ψ is the ``scale_matrix``.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(InverseWishart(3.0, np.eye(2)), np.array([[2.0, 0.5], [0.5, 1.0]]))), 4)
    -5.067
    """


class InverseWishartCholesky(_InverseWishart, OfFactors, Multivariate):
    """Distribution of the Cholesky factors L of matrices X = L L' that have the distribution ``InverseWishart``.

    Written ``InverseWishartCholesky(df, scale_matrix)`` or ``InverseWishartCholesky(df=, scale_tril=)``.
    What is above the diagonal of L is not read.
    Muirhead (1982), Aspects of Multivariate Statistical Theory, theorem 2.1.9, has the Jacobian.

    >>> import numpy as np, vecdist
    >>> round(float(vecdist.logpdf(InverseWishartCholesky(3.0, np.eye(2)), np.array([[2.0, 0.0], [0.5, 1.0]]))), 4)
    -4.5736
    """
