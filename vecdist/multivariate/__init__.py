"""Families of vectors and matrices, one file each, loaded when they are named: a command writes where they are."""

from vecdist.names import found_later

# Written from the files of this folder by ``VECDIST_REGENERATE=1 python -m pytest tests/annotations``.
_WHERE = {
    "Categorical": "vecdist.multivariate.categorical",
    "Dirichlet": "vecdist.multivariate.dirichlet",
    "DirichletMultinomial": "vecdist.multivariate.dirichlet_multinomial",
    "GeneralizedDirichlet": "vecdist.multivariate.generalized_dirichlet",
    "InverseWishart": "vecdist.multivariate.inverse_wishart",
    "InverseWishartCholesky": "vecdist.multivariate.inverse_wishart",
    "LKJ": "vecdist.multivariate.lkj",
    "LKJCholesky": "vecdist.multivariate.lkj_cholesky",
    "LogisticNormal": "vecdist.multivariate.logistic_normal",
    "MULTIVARIATE": "vecdist.multivariate.base",
    "MatrixNormal": "vecdist.multivariate.matrix_normal",
    "Multinomial": "vecdist.multivariate.multinomial",
    "Multivariate": "vecdist.multivariate.base",
    "MultivariateHypergeometric": "vecdist.multivariate.multivariate_hypergeometric",
    "MvLaplace": "vecdist.multivariate.mv_laplace",
    "MvLogNormal": "vecdist.multivariate.mv_log_normal",
    "MvNormal": "vecdist.multivariate.mv_normal",
    "MvStudentT": "vecdist.multivariate.mv_student_t",
    "NegativeMultinomial": "vecdist.multivariate.negative_multinomial",
    "OrderedLogistic": "vecdist.multivariate.ordered_logistic",
    "OrderedProbit": "vecdist.multivariate.ordered_probit",
    "PlackettLuce": "vecdist.multivariate.plackett_luce",
    "PoissonBinomial": "vecdist.multivariate.poisson_binomial",
    "VonMisesFisher": "vecdist.multivariate.von_mises_fisher",
    "Wishart": "vecdist.multivariate.wishart",
    "WishartCholesky": "vecdist.multivariate.wishart",
    "ZeroSumNormal": "vecdist.multivariate.zero_sum_normal",
}

__getattr__, __dir__, __all__ = found_later(__name__, _WHERE, {"MULTIVARIATE": (__name__,)})
