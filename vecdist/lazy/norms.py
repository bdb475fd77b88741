"""Norms of vectors and matrices, singular values, and what NumPy tells of matrices by them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.lazy.matrices import floats, square, stacked
from vecdist.primitives.factorisations import inverse
from vecdist.primitives.orthogonal_factorisations import singular_values_of


def tall(a: LazyArray) -> LazyArray:
    """Matrices with no more columns than rows: transposed ones where those that are given have more."""
    return a.mT if a.shape[-2] < a.shape[-1] else a


def singular_values(x: Any, /) -> LazyArray:
    return LazyArray(singular_values_of(tall(stacked("svdvals", x)).node))


def _largest(x: LazyArray, axes: Any, keepdims: bool = False) -> LazyArray:
    """The largest of sizes, 0 where there are none."""
    there = all(x.shape[axis] for axis in x.axes(axes))
    return x.max(axes, keepdims) if there else x.sum(axes, keepdims=keepdims)


def _of_vectors(x: LazyArray, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:  # noqa: A002
    """Norms over any number of axes, as of one vector."""
    if ord is None or ord == 2:
        return np.sqrt((x * x).sum(axes, keepdims=keepdims))
    sizes = abs(x)
    if ord == 0:
        return (x != 0).astype(x.dtype).sum(axes, keepdims=keepdims)
    if ord == 1:
        return sizes.sum(axes, keepdims=keepdims)
    if ord in {np.inf, -np.inf}:
        return _largest(sizes, axes, keepdims) if ord > 0 else sizes.min(axes, keepdims)
    if not isinstance(ord, int | float):
        raise ValueError(f"norms of vectors have numbers as orders, not {ord!r}")
    return (sizes**ord).sum(axes, keepdims=keepdims) ** (1.0 / ord)


def _of_matrices(x: LazyArray, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:  # noqa: A002
    if ord is None or ord == "fro":
        return _of_vectors(x, 2, axes, keepdims)
    if ord in {"nuc", 2, -2}:
        values = singular_values(np.moveaxis(x, axes, (-2, -1)))  # type: ignore[call-overload]
        found = values.sum(-1) if ord == "nuc" else _largest(values, -1) if ord == 2 else values.min(-1)
    elif ord in {1, -1, np.inf, -np.inf}:
        inner, outer = axes if ord in {1, -1} else axes[::-1]
        totals = abs(x).sum(inner, keepdims=True)
        found = np.squeeze(_largest(totals, outer, True) if ord in {1, np.inf} else totals.min(outer, True), axes)
    else:
        raise ValueError(f"norms of matrices have the orders fro, nuc, inf, 1 and 2, and negative ones, not {ord!r}")
    return np.expand_dims(found, axes) if keepdims else found


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    (node,) = floats(x)
    array = LazyArray(node)
    axes = tuple(range(array.ndim)) if axis is None else normalize_axis_tuple(axis, array.ndim)
    if len(axes) == 1 or (axis is None and ord is None):
        return _of_vectors(array, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(f"np.linalg.norm of order {ord!r} is over one axis or two, not {len(axes)}")
    return _of_matrices(array, ord, axes, keepdims)


def _vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:  # noqa: A002
    (node,) = floats(x)
    array = LazyArray(node)
    return _of_vectors(array, ord, array.axes(axis), keepdims)


def _matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:  # noqa: A002
    return _of_matrices(stacked("matrix_norm", x), ord, (-2, -1), keepdims)


def _cond(x: Any, p: Any = None) -> Any:
    if p in {None, 2, -2}:
        values = singular_values(x)
        return values[..., -1] / values[..., 0] if p == -2 else values[..., 0] / values[..., -1]
    matrices = square("cond", x)
    size, other = (_of_matrices(LazyArray(each), p, (-2, -1), False) for each in (matrices, inverse(matrices)))
    return size * other


def _matrix_rank(A: Any, tol: Any = None, *, rtol: Any = None) -> LazyArray:  # noqa: N803
    a = as_lazy(A)
    if a.ndim < 2:
        return (a != 0).any().astype(np.int64)
    values = singular_values(a)
    if tol is None:
        share = max(a.shape[-2:]) * float(np.finfo(values.dtype).eps) if rtol is None else _of_each(rtol)
        return (values > _largest(values, -1, True) * share).sum(-1)
    return (values > _of_each(tol)).sum(-1)


def _of_each(limit: Any) -> Any:
    """A number for all matrices, or one for each."""
    return as_lazy(limit)[..., None] if np.ndim(limit) else limit


NORMS: dict[str, Callable[..., Any]] = {
    "cond": _cond,
    "matrix_norm": _matrix_norm,
    "matrix_rank": _matrix_rank,
    "norm": _norm,
    "svdvals": singular_values,
    "vector_norm": _vector_norm,
}
