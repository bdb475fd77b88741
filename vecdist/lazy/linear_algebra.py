"""NumPy's linear algebra of lazy arrays, with matrices of any length in the last two axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from string import ascii_letters
from typing import Any, NamedTuple

import numpy as np

from vecdist.lazy import systems
from vecdist.lazy.array import LazyArray, as_lazy, matmul, operands, where
from vecdist.lazy.einsum import einsum
from vecdist.lazy.joining import along, concatenate
from vecdist.lazy.matrices import floats, pair, square, stacked
from vecdist.lazy.norms import NORMS, singular_values, tall
from vecdist.lazy.rearranging import diagonal
from vecdist.lazy.tensor_products import cross, tensordot, vecdot
from vecdist.primitives import factorisations as calls
from vecdist.primitives import orthogonal_factorisations as orthogonal


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its size."""

    sign: LazyArray
    logabsdet: LazyArray


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: LazyArray
    eigenvectors: LazyArray


class SVDResult(NamedTuple):
    """Left singular vectors as columns, singular values in descending order, and right vectors as rows."""

    U: LazyArray
    S: LazyArray
    Vh: LazyArray


class QRResult(NamedTuple):
    """Orthonormal columns, and an upper triangle."""

    Q: LazyArray
    R: LazyArray


def _cholesky(a: Any, *, upper: bool = False) -> LazyArray:
    found = LazyArray(systems.cholesky(square("cholesky", a)))
    return LazyArray(calls.swapped(found.node)) if upper else found


def _solve(a: Any, b: Any) -> LazyArray:
    (right,) = operands(b)
    if right.ndim == 1:  # as in NumPy 2: a vector, whatever the matrices
        return _solve(a, LazyArray(right)[:, None])[..., 0]
    return LazyArray(systems.solution(*pair("solve", a, b)))


def _inv(a: Any) -> LazyArray:
    return LazyArray(systems.inverse(square("inv", a)))


def _slogdet(a: Any) -> SlogdetResult:
    return SlogdetResult(*map(LazyArray, systems.sign_and_log_determinant(square("slogdet", a))))


def _det(a: Any) -> Any:
    sign, size = _slogdet(a)
    return sign * np.exp(size)


def _eigh(a: Any, UPLO: str = "L") -> EighResult:  # noqa: N803 (NumPy's name)
    node = square("eigh", a)
    return EighResult(*map(LazyArray, calls.eigen(calls.swapped(node) if UPLO == "U" else node)))


def _eigvalsh(a: Any, UPLO: str = "L") -> LazyArray:  # noqa: N803
    node = square("eigvalsh", a)
    return LazyArray(calls.eigenvalues_of(calls.swapped(node) if UPLO == "U" else node))


def _svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    if not compute_uv:
        return singular_values(a)
    a = stacked("svd", a)
    rows, columns = a.shape[-2:]
    if full_matrices and rows != columns:
        raise TypeError(
            f"np.linalg.svd of matrices of shape {a.shape[-2:]} wants full_matrices=False: what completes the vectors "
            "to a square of them has no derivative"
        )
    wide = rows < columns
    left, values, right = map(LazyArray, orthogonal.singular_value_decomposition(tall(a).node, wide))
    return SVDResult(right.mT, values, left.mT) if wide else SVDResult(left, values, right)


def _qr(a: Any, mode: str = "reduced") -> Any:
    """The columns beyond a square are what they are in the basis of the others."""
    a = stacked("qr", a)
    rows, columns = a.shape[-2:]
    if mode not in {"reduced", "complete", "r"} or (mode == "complete" and rows > columns):
        raise TypeError(f"np.linalg.qr of matrices of shape {a.shape[-2:]} has no mode {mode!r}; it has reduced and r")
    basis, upper = map(LazyArray, orthogonal.factors(a[..., : min(rows, columns)].node))
    if rows < columns:
        upper = concatenate([upper, matmul(basis.mT, a[..., rows:])], -1)
    return upper if mode == "r" else QRResult(basis, upper)


def _cut(a: LazyArray, given: float | None) -> float:
    """The share of the largest singular value below which others are none, as NumPy has it."""
    return max(a.shape[-2:]) * float(np.finfo(a.dtype).eps) if given is None else float(given)


def _pinv(a: Any, rcond: float | None = None, *, rtol: Any = ...) -> LazyArray:
    a = stacked("pinv", a)
    if rcond is not None and rtol is not ...:
        raise ValueError("np.linalg.pinv takes rcond or rtol, not both")
    cut = (1e-15 if rcond is None else rcond) if rtol is ... else _cut(a, rtol)
    return LazyArray(orthogonal.pseudo_inverse(a.node, float(cut)))


def _lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[LazyArray, ...]:
    """The residuals are those of full rank, which is not known yet: NumPy has none where it is less."""
    a, b = (LazyArray(node) for node in floats(a, b))
    if a.ndim != 2 or b.ndim not in {1, 2} or a.shape[0] != b.shape[0]:
        raise np.linalg.LinAlgError(f"lstsq wants a matrix and right sides of as many rows: {a.shape} and {b.shape}")
    cut = _cut(a, rcond)
    found = matmul(LazyArray(orthogonal.pseudo_inverse(a.node, cut)), b)
    apart = (b - matmul(a, found)).reshape(len(b), -1)
    residuals = (apart * apart).sum(0)
    values = singular_values(a)
    rank = (values > cut * values.max()).sum()
    return found, residuals if a.shape[0] > a.shape[1] else residuals[:0], rank, values


def _multi_dot(arrays: Any) -> LazyArray:
    """One product after another, in the order with the fewest operations."""
    every = [as_lazy(each) for each in arrays]
    if len(every) < 2:
        raise ValueError(f"np.linalg.multi_dot wants two arrays or more, given {len(every)}")
    ends = {0, len(every) - 1}
    if any(each.ndim != 2 and not (place in ends and each.ndim == 1) for place, each in enumerate(every)):
        raise np.linalg.LinAlgError("multi_dot wants matrices, and vectors at its ends")
    letters = ascii_letters[: len(every) + 1]
    terms = [letters[place : place + 2] for place in range(len(every))]
    terms[0], terms[-1] = terms[0][-every[0].ndim :], terms[-1][: every[-1].ndim]
    outer = letters[: every[0].ndim - 1] + letters[len(letters) - every[-1].ndim + 1 :]
    return einsum(f"{','.join(terms)}->{outer}", *every)


def _matrix_power(a: Any, n: int) -> LazyArray:
    """As many squares as there are digits."""
    base, count = as_lazy(a), operator.index(n)
    square("matrix_power", base)
    if count < 0:
        base, count = _inv(base), -count
    found = None
    while count:
        if count % 2:
            found = base if found is None else matmul(found, base)
        base, count = matmul(base, base) if count > 1 else base, count // 2
    return as_lazy(np.broadcast_to(_unit(base.shape[-1]).astype(base.dtype), base.shape)) if found is None else found


def _unit(length: int) -> LazyArray:
    """A matrix with ones on its diagonal."""
    return where(LazyArray(along(0, length, 2)) == LazyArray(along(1, length, 2)), 1, 0)


def _tensorsolve(a: Any, b: Any, axes: Any = None) -> LazyArray:
    a, b = as_lazy(a), as_lazy(b)
    if axes is not None:
        a = np.moveaxis(a, axes, range(a.ndim - len(axes), a.ndim))
    shape, length = a.shape[b.ndim :], b.size
    if a.size != length * length:
        raise np.linalg.LinAlgError(f"tensorsolve wants as many equations as unknowns, given {a.shape} and {b.shape}")
    return _solve(a.reshape(length, length), b.ravel()).reshape(shape)


def _tensorinv(a: Any, ind: int = 2) -> LazyArray:
    a = as_lazy(a)
    if ind <= 0:
        raise ValueError(f"np.linalg.tensorinv wants 1 axis of equations or more, given ind={ind}")
    rows = math.prod(a.shape[:ind])
    return _inv(a.reshape(rows, -1)).reshape(*a.shape[ind:], *a.shape[:ind])


def _outer(x1: Any, x2: Any, /) -> LazyArray:
    a, b = as_lazy(x1), as_lazy(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"np.linalg.outer wants two vectors, given shapes {a.shape} and {b.shape}")
    return a[:, None] * b


def _trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> LazyArray:
    return diagonal(x, offset, -2, -1).sum(-1, dtype)


def _cross(x1: Any, x2: Any, /, *, axis: int = -1) -> LazyArray:
    return cross(x1, x2, axis=axis)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **NORMS,
    "cholesky": _cholesky,
    "cross": _cross,
    "det": _det,
    "diagonal": lambda x, /, *, offset=0: diagonal(x, offset, -2, -1),
    "eigh": _eigh,
    "eigvalsh": _eigvalsh,
    "inv": _inv,
    "lstsq": _lstsq,
    "matmul": lambda x1, x2, /: matmul(x1, x2),
    "matrix_power": _matrix_power,
    "matrix_transpose": lambda x, /: as_lazy(x).mT,
    "multi_dot": _multi_dot,
    "outer": _outer,
    "pinv": _pinv,
    "qr": _qr,
    "slogdet": _slogdet,
    "solve": _solve,
    "svd": _svd,
    "tensordot": lambda x1, x2, /, *, axes=2: tensordot(x1, x2, axes),
    "tensorinv": _tensorinv,
    "tensorsolve": _tensorsolve,
    "trace": _trace,
    "vecdot": lambda x1, x2, /, *, axis=-1: vecdot(x1, x2, axis),
}
