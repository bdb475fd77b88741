"""What factorises and solves matrices of arrays: LAPACK by NumPy and SciPy, cuSOLVER and cuBLAS by CuPy."""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.primitives.host_library import FEW, NUMPY, SCIPY, quiet, routine, threads_for
from vecdist.primitives.host_products import product

SMALL = 64
"""Rows up to which an inverse is a product, for which a library wakes no threads: these take longer than the work."""
SINGLY = 12
"""Rows from which a call for each of many matrices takes less than NumPy's for all, which knows no triangles."""
SERIAL = 2**28
"""The product of rows, columns and the fewer of both up to which threads gain little at eigenvalues and the like."""


def _or_nan(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that gives NaN of those matrices of which NumPy's raises an error."""

    @functools.wraps(function)
    def found(*given: Any) -> Any:
        try:
            return function(*given)
        except np.linalg.LinAlgError:
            last = given[-1]
            return np.full_like(last, np.nan) if last.ndim == 2 else np.stack([*map(found, *given)])

    return found


@_or_nan
def factored(a: Any) -> Any:
    """Cholesky factors; NaN where a matrix is not positive definite."""
    if not isinstance(a, np.ndarray):
        return importlib.import_module("vecdist.primitives.device_factorisations").factored(a)
    work = a.shape[-1] ** 3 // 3
    factor = _lapack("potrf", a.dtype) if a.size and (a.ndim == 2 or work > FEW) else None
    with threads_for(work, NUMPY if factor is None else SCIPY):
        return np.linalg.cholesky(a) if factor is None else _each(lambda one: _factor(factor, one), a)


def _factor(factor: Any, a: np.ndarray) -> np.ndarray:
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
        with threads_for(factor.shape[-1] * b.shape[-2] * b.shape[-1] // 2):
            return _each(lambda one, right: _solution(solve, one, right, transposed), factor, b)
    lower = np.tril(factor)
    return solved(lower.swapaxes(-1, -2) if transposed else lower, b)


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
        with threads_for(len(b) * b.size):
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
        return inverted(np.where(np.isnan(factor[..., :1, :1]), np.nan, a))
    with threads_for(a.shape[-1] ** 3 * 2 // 3):
        return _each(lambda one: _inverse(invert, one), factor)


def _inverse(invert: Any, factor: np.ndarray) -> np.ndarray:
    """The inverse of L L', by that of L or by half of it."""
    half = invert(factor.T, lower=False)[0]
    if len(factor) <= SMALL:
        return product(half, half.T)
    whole = np.add(half.T, half, order="C")  # there is nothing on the other side of the diagonal, as in the factor
    whole.reshape(-1)[:: len(whole) + 1] *= 0.5
    return whole


def log_of_determinant(a: Any, factor: Any) -> Any:
    """log |A|, by the Cholesky factor of A."""
    library = np if isinstance(factor, np.ndarray) else importlib.import_module("cupy")
    return 2.0 * library.log(library.diagonal(factor, axis1=-2, axis2=-1)).sum(-1)


@functools.cache
def _lapack(name: str, dtype: np.dtype) -> Any:
    """A function of SciPy's LAPACK; none where SciPy is not installed."""
    try:
        library = importlib.import_module("scipy.linalg.lapack")
    except ImportError:
        return None
    return getattr(library, {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}[dtype] + name)


def _by_library(name: str, alone: bool, *given: Any, **options: Any) -> Any:
    """What a function of NumPy's, perhaps ``alone``, without threads, or of CuPy's gives."""
    if not isinstance(given[0], np.ndarray):
        return getattr(importlib.import_module("cupy").linalg, name)(*given, **options)
    with quiet(NUMPY) if alone else contextlib.nullcontext():
        return getattr(np.linalg, name)(*given, **options)


def _routine(name: str, work: int, a: Any) -> Callable[..., None] | None:
    """What is called for each of many matrices of NumPy's, where threads pay; there is none for CuPy's."""
    return routine(name, a.dtype) if isinstance(a, np.ndarray) and a.size and work > FEW else None


@_or_nan
def solved(a: Any, b: Any) -> Any:
    """A^-1 B; NaN where A is singular, which a GPU's library may leave infinite."""
    work = b.shape[-2] ** 2 * b.shape[-1] + b.shape[-2] ** 3 // 3
    solve = _routine("lapack.gesv", work, a)
    if solve is None:
        return _by_library("solve", work <= FEW, a, b)
    return _each(functools.partial(_eliminated, solve), a, b)


def solved_transposed(a: Any, b: Any) -> Any:
    """A'^-1 B."""
    return solved(a.swapaxes(-1, -2), b)


def _eliminated(solve: Callable[..., None], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (rows, columns), factors, found = b.shape, np.array(a, order="F"), np.array(b, a.dtype, order="F")
    pivots, state = np.empty(rows, np.intc), np.zeros(1, np.intc)
    solve(rows, columns, factors, rows, pivots, found, rows, state)
    if state[0]:
        raise np.linalg.LinAlgError("Singular matrix")
    return found


@_or_nan
def inverted(a: Any) -> Any:
    """A^-1; NaN where A is singular, which a GPU's library may leave infinite."""
    work = a.shape[-1] ** 3 * 4 // 3
    if _routine("lapack.gesv", work, a) is None:
        return _by_library("inv", work <= FEW, a)
    return solved(a, np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape))


def sign_and_log(a: Any) -> tuple[Any, ...]:
    """The signs of determinants, and the logarithms of their sizes."""
    work = a.shape[-1] ** 3 // 3
    factorise = _routine("lapack.getrf", work, a)
    if factorise is None:
        return tuple(_by_library("slogdet", work <= FEW, a))
    found = _each(functools.partial(_determinant, factorise), a)
    return found[..., 0], found[..., 1]


def _determinant(factorise: Callable[..., None], a: np.ndarray) -> np.ndarray:
    """The sign and the logarithm, of the matrix turned: they are the same."""
    rows, factors = len(a), np.array(a, order="C")
    pivots, state = np.empty(rows, np.intc), np.empty(1, np.intc)
    factorise(rows, rows, factors, rows, pivots, state)
    diagonal, turns = np.diagonal(factors), np.count_nonzero(pivots != np.arange(1, rows + 1))
    return np.array((np.sign(diagonal).prod() * (-1) ** turns, np.log(np.abs(diagonal)).sum()), a.dtype)


def _by_turns(name: str, a: Any, *given: Any, **options: Any) -> Any:
    """What a function gives that hardly gains by threads."""
    least, most = sorted(a.shape[-2:])
    return _by_library(name, least**2 * most <= SERIAL, a, *given, **options)


def eigenvectors(a: Any) -> tuple[Any, ...]:
    """The eigenvalues and vectors of symmetric matrices, of which the lower triangle is read."""
    return tuple(_by_turns("eigh", a))


def eigenvalues(a: Any) -> Any:
    """The eigenvalues of symmetric matrices."""
    return _by_turns("eigvalsh", a)


def singular_vectors(a: Any) -> tuple[Any, ...]:
    """U, the singular values, and V', with no more columns and rows than there are of these."""
    return tuple(_by_turns("svd", a, full_matrices=False))


def singular_values(a: Any) -> Any:
    """The singular values of matrices."""
    return _by_turns("svd", a, compute_uv=False)


def orthogonal_factors(a: Any) -> tuple[Any, ...]:
    """Q and R of matrices."""
    return tuple(_by_turns("qr", a))


def pseudo_inverses(cut: float) -> Callable[[Any], Any]:
    """The function that gives pseudo-inverses, with no singular value that is below ``cut`` of the largest."""
    return lambda a: _by_turns("pinv", a, cut)
