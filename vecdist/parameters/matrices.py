"""Parameters whose last two axes are a matrix: correlations and covariances, and their Cholesky factors.

Stan Reference Manual, chapter "Constraint Transforms": Cholesky factors of correlation and covariance matrices.  The
unconstrained numbers are the entries of a lower triangle, row by row.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from vecdist.graph.shapes import Lengths
from vecdist.parameters.base import Parameter, Shape, count, declared, put
from vecdist.parameters.functions import EPS, LN2, constant, log_cosh

NEAR = 1e-6  # of the scale of an element: so far may a matrix be from one with a Cholesky factor


def cholesky_corr(n: int, shape: Lengths = ()) -> Parameter:
    """Cholesky factors of correlation matrices: lower triangular, rows of norm 1, a positive diagonal.

    With canonical partial correlations tanh y_ij, L_ij = tanh(y_ij) / (cosh y_i1 ... cosh y_i(j-1)); the log Jacobian,
    of the entries below the diagonal, is the sum of -(i - j + 1) log cosh y_ij.
    Lewandowski, Kurowicka and Joe (2009), Journal of Multivariate Analysis 100.

    Raises ``ValueError`` for ``n`` below 2.

    >>> cholesky_corr(3).inverse(np.eye(3)).tolist()
    [0.0, 0.0, 0.0]
    """
    return _square("cholesky_corr", n, shape, 2)


def corr_matrix(n: int, shape: Lengths = ()) -> Parameter:
    """Correlation matrices R = L L', L as in ``cholesky_corr``, with log Jacobian Σ -(n - j + 1) log cosh y_ij.

    Raises ``ValueError`` for ``n`` below 2.

    >>> corr_matrix(3).inverse(np.eye(3)).tolist()
    [0.0, 0.0, 0.0]
    """
    return _square("corr_matrix", n, shape, 2)


def cholesky_cov(n: int, shape: Lengths = ()) -> Parameter:
    """Cholesky factors of covariance matrices, which have a positive diagonal.

    L_ij = y_ij below the diagonal, L_ii = exp(y_ii), with log Jacobian Σ y_ii.
    Raises ``ValueError`` for ``n`` below 1.

    >>> cholesky_cov(2).inverse(np.array([[1.0, 0.0], [0.5, 1.0]])).tolist()
    [0.0, 0.5, 0.0]
    """
    return _square("cholesky_cov", n, shape, 1)


def cov_matrix(n: int, shape: Lengths = ()) -> Parameter:
    """Covariance matrices S = L L', L as in ``cholesky_cov``; log Jacobian n log 2 + Σ (n - i + 2) y_ii.

    Raises ``ValueError`` for ``n`` below 1.

    >>> cov_matrix(2).inverse(np.eye(2)).tolist()
    [0.0, 0.0, 0.0]
    """
    return _square("cov_matrix", n, shape, 1)


def _square(constraint: str, n: Any, shape: Any, least: int) -> Parameter:
    rows = count(constraint, n)
    return declared(constraint, shape, (rows, rows), least=least)


def _below(event: Shape) -> Shape:
    return (event[0] * (event[0] - 1) // 2,)


def _with_diagonal(event: Shape) -> Shape:
    return (event[0] * (event[0] + 1) // 2,)


@functools.cache
def _places(free: int, diagonal: int) -> np.ndarray:
    """The place among ``free`` numbers of each entry of a lower triangle, 0 elsewhere; with or without a diagonal."""
    n = round((np.sqrt(8 * free + 1) + (1 if diagonal < 0 else -1)) / 2)
    places = np.zeros((n, n), np.int64)
    places[np.tril_indices(n, diagonal)] = np.arange(free)
    return places


def _triangle(y: Any, diagonal: int) -> tuple[Any, int]:
    """A lower triangular matrix of ``y``, and the number of its rows."""
    places = _places(y.shape[-1], diagonal)
    n = len(places)
    inside = constant(np.tri(n, n, diagonal, dtype=bool), y)
    return np.where(inside, y[..., constant(places, y)], 0.0), n


def _corr_factor(y: Any) -> tuple[Any, Any, int]:
    """The Cholesky factor of a correlation matrix, log cosh of what it is made of, and the number of its rows."""
    v, n = _triangle(y, -1)
    log_root = log_cosh(v)
    rest = np.exp(log_root - np.cumsum(log_root, axis=-1))
    below, diagonal = constant(np.tri(n, n, -1, dtype=bool), y), constant(np.eye(n), y)
    return np.where(below, np.tanh(v), diagonal) * rest, log_root, n


def _weights(n: int, of_factor: bool) -> np.ndarray:
    i, j = np.indices((n, n))
    return np.where(j < i, i - j + 1.0 if of_factor else n - j, 0.0)


def _cholesky_corr(y: Any) -> tuple[Any, Any]:
    factor, log_root, n = _corr_factor(y)
    return factor, constant(-_weights(n, of_factor=True), y) * log_root


def _corr(y: Any) -> tuple[Any, Any]:
    factor, log_root, n = _corr_factor(y)
    return _squared(factor), constant(-_weights(n, of_factor=False), y) * log_root


def _squared(factor: Any) -> Any:
    """L L'."""
    return (factor[..., :, None, :] * factor[..., None, :, :]).sum(axis=-1)


def _cov_factor(y: Any) -> tuple[Any, Any, int]:
    """The Cholesky factor of a covariance matrix, the logarithms of its diagonal in one, and the number of its rows."""
    v, n = _triangle(y, 0)
    diagonal = constant(np.eye(n, dtype=bool), y)
    return np.where(diagonal, np.exp(v), v), np.where(diagonal, v, 0.0), n


def _cholesky_cov(y: Any) -> tuple[Any, Any]:
    factor, log_diagonal, _ = _cov_factor(y)
    return factor, log_diagonal


def _cov(y: Any) -> tuple[Any, Any]:
    factor, log_diagonal, n = _cov_factor(y)
    powers = np.arange(n + 1.0, 1.0, -1.0)
    return _squared(factor), constant(powers, y) * log_diagonal + LN2 / n


def _partial_correlations(factor: np.ndarray) -> np.ndarray:
    """The unconstrained numbers of L: sinh y_ij is L_ij over the norm of what follows it in its row.

    Where that was rounded to 0, it is taken as what is rounded so.
    """
    n = factor.shape[-1]
    squares = np.tril(factor) ** 2
    behind = np.flip(np.cumsum(np.flip(squares[..., 1:], -1), -1), -1)
    rows, columns = np.tril_indices(n, -1)
    return np.arcsinh(factor[..., rows, columns] / np.sqrt(np.maximum(behind[..., rows, columns], EPS**2)))


def _entries(factor: np.ndarray) -> np.ndarray:
    """The unconstrained numbers of the Cholesky factor of a covariance matrix."""
    rows, columns = np.tril_indices(factor.shape[-1])
    entries = factor[..., rows, columns]
    return np.where(rows == columns, np.log(entries), entries)


def _cholesky(matrix: np.ndarray) -> np.ndarray:
    """The Cholesky factor, with NaN where there is none; of a matrix that was rounded to a singular one, of one beside.

    Column by column; a pivot that is no more than rounding is taken as that, elements stay within the norm of their
    row, and what this makes is looked at again.
    """
    sizes = np.diagonal(matrix, axis1=-2, axis2=-1)
    factor = np.zeros(matrix.shape)
    for j in range(matrix.shape[-1]):
        rest = matrix[..., j:, j] - (factor[..., j:, :j] * factor[..., None, j, :j]).sum(axis=-1)
        root = np.sqrt(np.maximum(rest[..., 0], EPS * sizes[..., j]))
        most = np.sqrt(np.maximum(sizes[..., j:] - (factor[..., j:, :j] ** 2).sum(axis=-1), 0.0))
        factor[..., j:, j] = np.clip(rest / root[..., None], -most, most)
        factor[..., j, j] = root
    scale = np.sqrt(sizes[..., :, None] * sizes[..., None, :])
    right = (abs(_squared(factor) - matrix) <= NEAR * scale).all(axis=(-2, -1), keepdims=True)
    return np.where(right, factor, np.nan)


put("cholesky_corr", _cholesky_corr, _partial_correlations, _below)
put("corr_matrix", _corr, lambda x: _partial_correlations(_cholesky(x)), _below)
put("cholesky_cov", _cholesky_cov, _entries, _with_diagonal)
put("cov_matrix", _cov, lambda x: _entries(_cholesky(x)), _with_diagonal)
