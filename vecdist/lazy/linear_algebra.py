"""NumPy's linear algebra of lazy arrays, with matrices of any length in the last two axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from vecdist.graph.node import Node, cast
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import LazyArray, operands
from vecdist.primitives import factorisations as calls
from vecdist.primitives.structure import full


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its size."""

    sign: LazyArray
    logabsdet: LazyArray


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: LazyArray
    eigenvectors: LazyArray


def floats(*values: Any) -> list[Node]:
    """Operands, whole numbers as float64, all of one dtype."""
    nodes = operands(*values)
    kind = np.result_type(*(node.dtype if node.dtype.kind == "f" else np.dtype(np.float64) for node in nodes))
    return [node if node.dtype == kind else cast(node, kind) for node in nodes]


def square(name: str, a: Any) -> Node:
    """The matrices that a function is given."""
    (node,) = floats(a)
    if node.ndim < 2 or node.shape[-1] != node.shape[-2]:
        raise np.linalg.LinAlgError(f"{name} wants square matrices in the last two axes, given shape {node.shape}")
    return node


def pair(name: str, a: Any, b: Any) -> tuple[Node, Node]:
    """Square matrices and what stands on their right, with the same leading axes."""
    left, right = floats(a, b)
    square(name, LazyArray(left))
    if right.ndim < 2 or right.shape[-2] != left.shape[-1]:
        raise ValueError(f"{name} is given matrices of shape {left.shape} and a right side of shape {right.shape}")
    try:
        lead = broadcast((left.shape[:-2], right.shape[:-2]))
    except ValueError as error:
        raise ValueError(f"{name}: leading axes of shapes {left.shape} and {right.shape} do not fit") from error
    return full(left, (*lead, *left.shape[-2:])), full(right, (*lead, *right.shape[-2:]))


def _cholesky(a: Any, *, upper: bool = False) -> LazyArray:
    found = LazyArray(calls.cholesky(square("cholesky", a), strict=True))
    return LazyArray(calls.swapped(found.node)) if upper else found


def _solve(a: Any, b: Any) -> LazyArray:
    (right,) = operands(b)
    if right.ndim == 1:  # as in NumPy 2: a vector, whatever the matrices
        return _solve(a, LazyArray(right)[:, None])[..., 0]
    return LazyArray(calls.solution(*pair("solve", a, b)))


def _inv(a: Any) -> LazyArray:
    return LazyArray(calls.inverse(square("inv", a)))


def _slogdet(a: Any) -> SlogdetResult:
    return SlogdetResult(*map(LazyArray, calls.sign_and_log_determinant(square("slogdet", a))))


def _det(a: Any) -> Any:
    sign, size = _slogdet(a)
    return sign * np.exp(size)


def _eigh(a: Any, UPLO: str = "L") -> EighResult:  # noqa: N803 (NumPy's name)
    node = square("eigh", a)
    return EighResult(*map(LazyArray, calls.eigen(calls.swapped(node) if UPLO == "U" else node)))


def _eigvalsh(a: Any, UPLO: str = "L") -> LazyArray:  # noqa: N803
    node = square("eigvalsh", a)
    return LazyArray(calls.eigenvalues_of(calls.swapped(node) if UPLO == "U" else node))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    """Norms of vectors, and those of matrices that need no singular values."""
    (node,) = floats(x)
    array = LazyArray(node)
    axes = tuple(range(array.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if ord is None or (ord == "fro" and len(axes) == 2) or (ord == 2 and len(axes) == 1):
        return np.sqrt((array * array).sum(axis=axes, keepdims=keepdims))
    if len(axes) == 1 and ord in {np.inf, -np.inf, 0, 1}:
        sizes = np.abs(array)
        by = {np.inf: sizes.max, -np.inf: sizes.min, 1: sizes.sum}
        return ((array != 0) * 1.0).sum(axis=axes, keepdims=keepdims) if ord == 0 else by[ord](axes, keepdims=keepdims)
    if len(axes) == 1 and isinstance(ord, int | float):
        return (np.abs(array) ** ord).sum(axis=axes, keepdims=keepdims) ** (1.0 / ord)
    if len(axes) == 2 and ord in {1, -1, np.inf, -np.inf}:
        inner, outer = axes if ord in {1, -1} else axes[::-1]
        totals = np.abs(array).sum(axis=inner, keepdims=True)
        found = totals.max(axis=outer, keepdims=True) if ord in {1, np.inf} else totals.min(axis=outer, keepdims=True)
        return found if keepdims else np.squeeze(found, axis=axes)
    raise TypeError(f"np.linalg.norm of order {ord!r} over {len(axes)} axes has no lazy form")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cholesky": _cholesky, "det": _det, "eigh": _eigh, "eigvalsh": _eigvalsh, "inv": _inv, "norm": _norm,
    "slogdet": _slogdet, "solve": _solve,
}  # fmt: skip
