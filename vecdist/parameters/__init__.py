"""Declarations of parameters for ``LogDensity``: where they may lie, by Stan's names."""

from vecdist.parameters.base import Parameter
from vecdist.parameters.matrices import cholesky_corr, cholesky_cov, corr_matrix, cov_matrix
from vecdist.parameters.scalars import interval, lower, positive, real, upper
from vecdist.parameters.vectors import ordered, positive_ordered, simplex, sum_to_zero, unit_vector

__all__ = [
    "Parameter",
    "cholesky_corr",
    "cholesky_cov",
    "corr_matrix",
    "cov_matrix",
    "interval",
    "lower",
    "ordered",
    "positive",
    "positive_ordered",
    "real",
    "simplex",
    "sum_to_zero",
    "unit_vector",
    "upper",
]
