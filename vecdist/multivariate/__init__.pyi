"""Families and their signatures, for editors and type checkers."""

# Written from the files of this folder by ``VECDIST_REGENERATE=1 python -m pytest tests/annotations``.

from typing import overload

from vecdist.lazy.array import Operand
from vecdist.multivariate.base import MULTIVARIATE, Multivariate
from vecdist.multivariate.categorical import Categorical as _Categorical
from vecdist.multivariate.dirichlet import Dirichlet as _Dirichlet
from vecdist.multivariate.dirichlet_multinomial import DirichletMultinomial as _DirichletMultinomial
from vecdist.multivariate.generalized_dirichlet import GeneralizedDirichlet as _GeneralizedDirichlet
from vecdist.multivariate.inverse_wishart import InverseWishart as _InverseWishart, InverseWishartCholesky as _InverseWishartCholesky
from vecdist.multivariate.lkj import LKJ as _LKJ
from vecdist.multivariate.lkj_cholesky import LKJCholesky as _LKJCholesky
from vecdist.multivariate.logistic_normal import LogisticNormal as _LogisticNormal
from vecdist.multivariate.matrix_normal import MatrixNormal as _MatrixNormal
from vecdist.multivariate.multinomial import Multinomial as _Multinomial
from vecdist.multivariate.multivariate_hypergeometric import MultivariateHypergeometric as _MultivariateHypergeometric
from vecdist.multivariate.mv_laplace import MvLaplace as _MvLaplace
from vecdist.multivariate.mv_log_normal import MvLogNormal as _MvLogNormal
from vecdist.multivariate.mv_normal import MvNormal as _MvNormal
from vecdist.multivariate.mv_student_t import MvStudentT as _MvStudentT
from vecdist.multivariate.negative_multinomial import NegativeMultinomial as _NegativeMultinomial
from vecdist.multivariate.ordered_logistic import OrderedLogistic as _OrderedLogistic
from vecdist.multivariate.ordered_probit import OrderedProbit as _OrderedProbit
from vecdist.multivariate.plackett_luce import PlackettLuce as _PlackettLuce
from vecdist.multivariate.poisson_binomial import PoissonBinomial as _PoissonBinomial
from vecdist.multivariate.von_mises_fisher import VonMisesFisher as _VonMisesFisher
from vecdist.multivariate.wishart import Wishart as _Wishart, WishartCholesky as _WishartCholesky
from vecdist.multivariate.zero_sum_normal import ZeroSumNormal as _ZeroSumNormal


__all__ = [
    "Categorical",
    "Dirichlet",
    "DirichletMultinomial",
    "GeneralizedDirichlet",
    "InverseWishart",
    "InverseWishartCholesky",
    "LKJ",
    "LKJCholesky",
    "LogisticNormal",
    "MULTIVARIATE",
    "MatrixNormal",
    "Multinomial",
    "Multivariate",
    "MultivariateHypergeometric",
    "MvLaplace",
    "MvLogNormal",
    "MvNormal",
    "MvStudentT",
    "NegativeMultinomial",
    "OrderedLogistic",
    "OrderedProbit",
    "PlackettLuce",
    "PoissonBinomial",
    "VonMisesFisher",
    "Wishart",
    "WishartCholesky",
    "ZeroSumNormal",
]


class Categorical(_Categorical):
    """Categorical distribution, f(x) = probs[x] for x = 0, 1, ..., K - 1."""

    @overload
    def __init__(self, probs: Operand) -> None: ...

    @overload
    def __init__(self, *, logits: Operand) -> None: ...


class Dirichlet(_Dirichlet):
    """Dirichlet distribution, f(x) = Γ(Σ alpha) ∏ x_k^(alpha_k - 1) / Γ(alpha_k) for x_k >= 0 with sum 1."""

    def __init__(self, alpha: Operand) -> None: ...


class DirichletMultinomial(_DirichletMultinomial):
    """Dirichlet multinomial distribution, f(x) = n B(A, n) / ∏ x_k B(alpha_k, x_k) for counts x with sum n."""

    def __init__(self, n: Operand, alpha: Operand) -> None: ...


class GeneralizedDirichlet(_GeneralizedDirichlet):
    """Generalized Dirichlet distribution of proportions x_1, ..., x_K with sum 1, of which what is left is broken."""

    def __init__(self, alpha: Operand, beta: Operand) -> None: ...


class InverseWishart(_InverseWishart):
    """Inverse Wishart distribution, f(X) = |X|^(-(df + K + 1) / 2) exp(-tr(Ψ X^-1) / 2) / c of matrices with K rows."""

    @overload
    def __init__(self, df: Operand, scale_matrix: Operand) -> None: ...

    @overload
    def __init__(self, *, df: Operand, scale_tril: Operand) -> None: ...


class InverseWishartCholesky(_InverseWishartCholesky):
    """Distribution of the Cholesky factors L of matrices X = L L' that have the distribution ``InverseWishart``."""

    @overload
    def __init__(self, df: Operand, scale_matrix: Operand) -> None: ...

    @overload
    def __init__(self, *, df: Operand, scale_tril: Operand) -> None: ...


class LKJ(_LKJ):
    """LKJ distribution of correlation matrices, f(R) = |R|^(concentration - 1) / c, of as many rows as R has."""

    def __init__(self, concentration: Operand) -> None: ...


class LKJCholesky(_LKJCholesky):
    """LKJ distribution of Cholesky factors of correlation matrices, f(L) = ∏ L_ii^(K - i + 2 concentration - 2) / c."""

    def __init__(self, concentration: Operand) -> None: ...


class LogisticNormal(_LogisticNormal):
    """Logistic normal distribution of K proportions with sum 1, by K - 1 logarithms of their ratios to the last one."""

    @overload
    def __init__(self, loc: Operand, covariance: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale_tril: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale_diag: Operand) -> None: ...


class MatrixNormal(_MatrixNormal):
    """Matrix normal distribution, f(X) = exp(-tr(V^-1 D' U^-1 D) / 2) / ((2 pi)^(n p / 2) |U|^(p / 2) |V|^(n / 2))."""

    @overload
    def __init__(self, loc: Operand, row_covariance: Operand, column_covariance: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, row_tril: Operand, column_tril: Operand) -> None: ...


class Multinomial(_Multinomial):
    """Multinomial distribution, f(x) = n! ∏ probs_k^x_k / x_k! for counts x with sum n."""

    @overload
    def __init__(self, n: Operand, probs: Operand) -> None: ...

    @overload
    def __init__(self, *, n: Operand, logits: Operand) -> None: ...


class MultivariateHypergeometric(_MultivariateHypergeometric):
    """Multivariate hypergeometric distribution, f(x) = ∏ C(population_k, x_k) / C(Σ population, n) for counts of sum n."""

    def __init__(self, population: Operand, n: Operand) -> None: ...


class MvLaplace(_MvLaplace):
    """Symmetric multivariate Laplace distribution, f(x) = 2 (q / 2)^(v / 2) K_v(sqrt(2 q)) / sqrt((2 pi)^K |Σ|)."""

    @overload
    def __init__(self, loc: Operand, covariance: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale_tril: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale_diag: Operand) -> None: ...


class MvLogNormal(_MvLogNormal):
    """Multivariate log-normal distribution, of vectors whose logarithms have the distribution ``MvNormal``."""

    @overload
    def __init__(self, loc: Operand, covariance: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale_tril: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, precision: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale_diag: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, cov_factor: Operand, cov_diag: Operand) -> None: ...


class MvNormal(_MvNormal):
    """Multivariate normal distribution, f(x) = exp(-d' Σ^-1 d / 2) / sqrt((2 pi)^K |Σ|) with d = x - loc."""

    @overload
    def __init__(self, loc: Operand, covariance: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale_tril: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, precision: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, scale_diag: Operand) -> None: ...

    @overload
    def __init__(self, *, loc: Operand, cov_factor: Operand, cov_diag: Operand) -> None: ...


class MvStudentT(_MvStudentT):
    """Multivariate Student distribution, f(x) = c (1 + d' Σ^-1 d / df)^(-(df + K) / 2) with d = x - loc."""

    @overload
    def __init__(self, df: Operand, loc: Operand, scale_matrix: Operand) -> None: ...

    @overload
    def __init__(self, *, df: Operand, loc: Operand, scale_tril: Operand) -> None: ...

    @overload
    def __init__(self, *, df: Operand, loc: Operand, scale_diag: Operand) -> None: ...


class NegativeMultinomial(_NegativeMultinomial):
    """Negative multinomial distribution, f(x) = Γ(r + Σ x) / Γ(r) p^r ∏ q_k^x_k / x_k! for counts x, with p = 1 - Σ q."""

    @overload
    def __init__(self, r: Operand, q: Operand) -> None: ...

    @overload
    def __init__(self, *, r: Operand, mean: Operand) -> None: ...


class OrderedLogistic(_OrderedLogistic):
    """Ordered logistic distribution, f(x) = σ(c_x - eta) - σ(c_(x-1) - eta) for x = 0, 1, ..., J."""

    def __init__(self, eta: Operand, cutpoints: Operand) -> None: ...


class OrderedProbit(_OrderedProbit):
    """Ordered probit distribution, f(x) = Φ(c_x - eta) - Φ(c_(x-1) - eta) for x = 0, 1, ..., J."""

    def __init__(self, eta: Operand, cutpoints: Operand) -> None: ...


class PlackettLuce(_PlackettLuce):
    """Plackett-Luce distribution of rankings, f(x) = ∏_j w_(x_j) / (w_(x_j) + w_(x_(j+1)) + ... + w_(x_K))."""

    @overload
    def __init__(self, scores: Operand) -> None: ...

    @overload
    def __init__(self, *, logits: Operand) -> None: ...


class PoissonBinomial(_PoissonBinomial):
    """Poisson binomial distribution of the number of successes in K trials that have probabilities of their own."""

    @overload
    def __init__(self, probs: Operand) -> None: ...

    @overload
    def __init__(self, *, logits: Operand) -> None: ...


class VonMisesFisher(_VonMisesFisher):
    """Von Mises-Fisher distribution, f(x) = exp(-concentration |x - loc|^2 / 2) / c of vectors x with norm 1."""

    def __init__(self, loc: Operand, concentration: Operand) -> None: ...


class Wishart(_Wishart):
    """Wishart distribution, f(X) = |X|^((df - K - 1) / 2) exp(-tr(V^-1 X) / 2) / c of matrices with K rows."""

    @overload
    def __init__(self, df: Operand, scale_matrix: Operand) -> None: ...

    @overload
    def __init__(self, *, df: Operand, scale_tril: Operand) -> None: ...


class WishartCholesky(_WishartCholesky):
    """Distribution of the Cholesky factors L of matrices X = L L' that have the distribution ``Wishart``."""

    @overload
    def __init__(self, df: Operand, scale_matrix: Operand) -> None: ...

    @overload
    def __init__(self, *, df: Operand, scale_tril: Operand) -> None: ...


class ZeroSumNormal(_ZeroSumNormal):
    """Normal distribution of vectors with sum 0, f(x) = exp(-Σ x_k^2 / (2 scale^2)) / (sqrt(2 pi) scale)^(K - 1)."""

    def __init__(self, scale: Operand) -> None: ...
