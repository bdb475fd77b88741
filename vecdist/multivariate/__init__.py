"""Families of vectors and matrices, one file each: a command writes the lines that import them."""

# ruff: noqa: F401 (what is imported is public)

# Written from the files of this folder by ``VECDIST_REGENERATE=1 python -m pytest tests/annotations``.
from vecdist.multivariate.base import MULTIVARIATE, Multivariate
from vecdist.multivariate.categorical import Categorical
from vecdist.multivariate.dirichlet import Dirichlet
from vecdist.multivariate.dirichlet_multinomial import DirichletMultinomial
from vecdist.multivariate.inverse_wishart import InverseWishart, InverseWishartCholesky
from vecdist.multivariate.lkj import LKJ
from vecdist.multivariate.lkj_cholesky import LKJCholesky
from vecdist.multivariate.multinomial import Multinomial
from vecdist.multivariate.mv_normal import MvNormal
from vecdist.multivariate.mv_student_t import MvStudentT
from vecdist.multivariate.ordered_logistic import OrderedLogistic
from vecdist.multivariate.ordered_probit import OrderedProbit
from vecdist.multivariate.wishart import Wishart, WishartCholesky

__all__ = ["MULTIVARIATE", "Multivariate", *sorted(MULTIVARIATE)]  # noqa: PLE0604 # pyright: ignore[reportUnsupportedDunderAll]
