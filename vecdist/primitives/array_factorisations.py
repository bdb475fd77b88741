"""What factorises and solves matrices of arrays: LAPACK by NumPy and SciPy, cuSOLVER and cuBLAS by CuPy."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

SMALL = 64
"""Rows up to which an inverse is a product, for which a library wakes no threads: these take longer than the work."""
SINGLY = 12
"""Rows from which a call for each of many matrices takes less than NumPy's for all, which knows no triangles."""


def cholesky_or_nan(a: Any) -> Any:
    """Cholesky factors, NaN where a matrix is not positive definite."""
    if not isinstance(a, np.ndarray):
        return importlib.import_module("vecdist.primitives.device_factorisations").cholesky_or_nan(a)
    try:
        return cholesky_or_error(a)
    except np.linalg.LinAlgError:
        return a + np.nan if a.ndim == 2 else np.stack([cholesky_or_nan(each) for each in a])


def cholesky_or_error(a: Any) -> Any:
    """Cholesky factors; ``LinAlgError`` where a matrix is not positive definite, which CuPy says when asked."""
    if isinstance(a, np.ndarray):
        factor = _lapack("potrf", a.dtype) if a.ndim == 2 and a.size else None
        return np.linalg.cholesky(a) if factor is None else _factored(factor, a)
    with importlib.import_module("cupyx").errstate(linalg="raise"):
        return importlib.import_module("cupy").linalg.cholesky(a)


def _factored(factor: Any, a: np.ndarray) -> np.ndarray:
    """The factor of one matrix, of which the lower triangle is read, by the library that solves with it."""
    upper, failed = factor(a.T, lower=False, clean=True)
    if failed:
        raise np.linalg.LinAlgError("Matrix is not positive definite")
    return upper.T


def solved_lower(factor: Any, b: Any) -> Any:
    """L^-1 B; what is above the diagonal of L is not read."""
    return _triangular(factor, b, transposed=False)


def solved_upper(factor: Any, b: Any) -> Any:
    """L'^-1 B."""
    return _triangular(factor, b, transposed=True)


def _triangular(factor: Any, b: Any, transposed: bool) -> Any:
    if not isinstance(factor, np.ndarray):
        return importlib.import_module("vecdist.primitives.device_systems").solved(factor, b, transposed)
    solve = _lapack("trtrs", factor.dtype) if _is_singly_done(factor) else None
    if solve is not None:
        return _each(lambda one, right: _solution(solve, one, right, transposed), factor, b)
    lower = np.tril(factor)
    return np.linalg.solve(lower.swapaxes(-1, -2) if transposed else lower, b)


def _is_singly_done(a: np.ndarray) -> bool:
    """Whether LAPACK is called for each matrix: for many small ones NumPy's loop over general ones takes less."""
    return bool(a.size) and (a.ndim == 2 or a.shape[-1] >= SINGLY)


def _each(function: Callable[..., Any], *given: np.ndarray) -> Any:
    """What a function makes of each of many matrices, in arrays with the same leading axes."""
    lead = given[0].shape[:-2]
    if not lead:
        return function(*given)
    flat = (each.reshape(-1, *each.shape[-2:]) for each in given)
    found = np.stack([function(*each) for each in zip(*flat, strict=True)])
    return found.reshape(*lead, *found.shape[1:])


def _solution(solve: Any, factor: np.ndarray, b: np.ndarray, transposed: bool) -> np.ndarray:
    """The solution of a triangular system; NaN where there is a zero on the diagonal."""
    found, failed = solve(factor.T, b, trans=int(not transposed))
    return np.full_like(b, np.nan) if failed else found


def solved_definite(a: Any, factor: Any, b: Any) -> Any:
    """A^-1 B, by the Cholesky factor of A."""
    if isinstance(factor, np.ndarray) and factor.ndim == 2 and (solve := _lapack("potrs", factor.dtype)) is not None:
        return solve(factor.T, b, lower=False)[0]  # rows of L are columns of L', as LAPACK has them
    return solved_upper(factor, solved_lower(factor, b))


def squared_distances(a: Any, factor: Any, b: Any) -> Any:
    """b' A^-1 b of each column of B, by the Cholesky factor of A."""
    found = solved_lower(factor, b)
    return (found * found).sum(-2)


def inverted_definite(a: Any, factor: Any) -> Any:
    """A^-1, by the Cholesky factor of A."""
    if not isinstance(factor, np.ndarray):
        return importlib.import_module("vecdist.primitives.device_systems").inverted(factor)
    invert = _lapack("trtri" if a.shape[-1] <= SMALL else "potri", factor.dtype) if _is_singly_done(factor) else None
    if invert is None:
        return np.linalg.inv(np.where(np.isnan(factor[..., :1, :1]), np.nan, a))
    return _each(lambda one: _inverse(invert, one), factor)


def _inverse(invert: Any, factor: np.ndarray) -> np.ndarray:
    """The inverse of L L', by that of L or by half of it."""
    half = invert(factor.T, lower=False)[0]
    if len(factor) <= SMALL:
        return half @ half.T
    whole = np.add(half.T, half, order="C")  # there is nothing on the other side of the diagonal, as in the factor
    whole.reshape(-1)[:: len(whole) + 1] *= 0.5
    return whole


def log_of_determinant(a: Any, factor: Any) -> Any:
    """log |A|, by the Cholesky factor of A."""
    library = np if isinstance(factor, np.ndarray) else importlib.import_module("cupy")
    return 2.0 * library.log(library.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)


@cache
def _lapack(name: str, dtype: np.dtype) -> Any:
    """A function of SciPy's LAPACK; none where SciPy is not installed."""
    try:
        library = importlib.import_module("scipy.linalg.lapack")
    except ImportError:
        return None
    return getattr(library, {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}[dtype] + name)


def _by_library(array: Any) -> Any:
    return np.linalg if isinstance(array, np.ndarray) else importlib.import_module("cupy").linalg


def sign_and_log(a: Any) -> tuple[Any, ...]:
    """The signs of determinants, and the logarithms of their sizes."""
    return tuple(_by_library(a).slogdet(a))


def eigenvectors(a: Any) -> tuple[Any, ...]:
    """The eigenvalues and vectors of symmetric matrices, of which the lower triangle is read."""
    return tuple(_by_library(a).eigh(a))


def eigenvalues(a: Any) -> Any:
    """The eigenvalues of symmetric matrices."""
    return _by_library(a).eigvalsh(a)


def singular_vectors(a: Any) -> tuple[Any, ...]:
    """U, the singular values, and V', with no more columns and rows than there are of these."""
    return tuple(_by_library(a).svd(a, full_matrices=False))


def singular_values(a: Any) -> Any:
    """The singular values of matrices."""
    return _by_library(a).svd(a, compute_uv=False)


def orthogonal_factors(a: Any) -> tuple[Any, ...]:
    """Q and R of matrices."""
    return tuple(_by_library(a).qr(a))


def pseudo_inverses(cut: float) -> Callable[[Any], Any]:
    """The function that gives pseudo-inverses, with no singular value that is below ``cut`` of the largest."""
    return lambda a: _by_library(a).pinv(a, cut)
