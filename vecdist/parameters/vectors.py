"""Parameters whose last axis is constrained as a whole.

Stan Reference Manual, chapter "Constraint Transforms": ordered vector, simplex, unit vector, sum to zero.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from vecdist.graph.shapes import Lengths
from vecdist.parameters.base import Parameter, Shape, count, declared, put
from vecdist.parameters.functions import constant, log_proportions, off_edge

SHORT = 8  # elements up to which a product with a matrix is cheaper than running sums


def ordered(n: int, shape: Lengths = ()) -> Parameter:
    """Vectors of ``n`` increasing numbers: x_1 = y_1, x_k = x_(k-1) + exp(y_k), with log Jacobian y_2 + ... + y_n.

    Raises ``ValueError`` for ``n`` below 1.

    >>> ordered(3).inverse(np.array([5.0, 6.0, 7.0])).tolist()
    [5.0, 0.0, 0.0]
    """
    return declared("ordered", shape, (count("ordered", n),), least=1)


def positive_ordered(n: int, shape: Lengths = ()) -> Parameter:
    """Vectors of ``n`` increasing positive numbers: x_k = exp(y_1) + ... + exp(y_k), with log Jacobian y_1 + ... + y_n.

    Raises ``ValueError`` for ``n`` below 1.

    >>> positive_ordered(3).inverse(np.array([1.0, 2.0, 3.0])).tolist()
    [0.0, 0.0, 0.0]
    """
    return declared("positive_ordered", shape, (count("positive_ordered", n),), least=1)


def simplex(n: int, shape: Lengths = ()) -> Parameter:
    """Vectors of ``n`` positive numbers whose sum is 1, by the isometric log-ratio transform.

    x = softmax(z), z the vector of sum zero with coordinates y in the orthonormal basis of ``sum_to_zero``; the log
    Jacobian, of the first n - 1 elements of x in y, is log x_1 + ... + log x_n + (log n) / 2.
    Egozcue et al. (2003), Isometric logratio transformations for compositional data analysis, Mathematical Geology 35.
    Raises ``ValueError`` for ``n`` below 2.

    >>> simplex(2).inverse(np.array([0.2, 0.8])).round(6).tolist()
    [-0.980258]
    """
    return declared("simplex", shape, (count("simplex", n),), least=2)


def sum_to_zero(n: int, shape: Lengths = ()) -> Parameter:
    """Vectors of ``n`` numbers whose sum is 0: x = V y, V an orthonormal basis (Helmert's), so that no Jacobian arises.

    With y normal of variance s² each x_k has variance s² (1 - 1/n).  Raises ``ValueError`` for ``n`` below 2.

    >>> sum_to_zero(2).inverse(np.array([1.0, -1.0])).round(12).tolist()
    [1.414213562373]
    """
    return declared("sum_to_zero", shape, (count("sum_to_zero", n),), least=2)


def unit_vector(n: int, shape: Lengths = ()) -> Parameter:
    """Vectors of ``n`` numbers whose squares sum to 1: x = y / |y|.

    The ``n`` unconstrained numbers have one more degree of freedom, |y|: the term -|y|² / 2 beside the density gives
    them a proper distribution, standard normal where x is uniform on the sphere.  The inverse is x itself.
    Raises ``ValueError`` for ``n`` below 2.

    >>> unit_vector(2).inverse(np.array([0.6, 0.8])).tolist()
    [0.6, 0.8]
    """
    return declared("unit_vector", shape, (count("unit_vector", n),), least=2)


def _ordered(y: Any) -> tuple[Any, Any]:
    first = constant(np.arange(y.shape[-1]) == 0, y)
    return np.cumsum(np.where(first, y, np.exp(y)), axis=-1), np.where(first, 0.0, y)


def _steps(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x[..., :1], np.log(off_edge(np.diff(x), x[..., 1:]))], axis=-1)


def _positive_steps(x: np.ndarray) -> np.ndarray:
    return np.log(off_edge(np.diff(x, prepend=0.0), x))


def _positive_ordered(y: Any) -> tuple[Any, Any]:
    return np.cumsum(np.exp(y), axis=-1), y


@functools.cache
def helmert(n: int) -> np.ndarray:
    """An orthonormal basis of the vectors of length ``n`` and sum 0, in the ``n`` - 1 columns of a matrix."""
    k, i = np.arange(n)[:, None], np.arange(1, n)
    basis = np.where(k < i, 1.0, np.where(k == i, -i, 0.0)) / np.sqrt(i * (i + 1.0))
    basis.flags.writeable = False
    return basis


def _zero_sum(y: Any) -> Any:
    """V y, V the matrix of ``helmert``."""
    n = y.shape[-1] + 1
    if n <= SHORT:
        return (constant(helmert(n), y) * y[..., None, :]).sum(axis=-1)
    i = np.arange(1, n)
    kept, left = (y * constant(np.sqrt(ratio), y) for ratio in ((i + 1) / i, i / (i + 1)))
    steps = _beside(kept, 0, 1) - _beside(left, 1, 0)  # from each element to the one before
    return np.cumsum(steps[..., ::-1], axis=-1)[..., ::-1]


def _beside(x: Any, before: int, behind: int) -> Any:
    """Rows with so many zeros before them, and behind."""
    return np.pad(x, [(0, 0)] * (x.ndim - 1) + [(before, behind)])


def _coordinates(x: np.ndarray) -> np.ndarray:
    """V' x."""
    i = np.arange(1, x.shape[-1])
    return (np.cumsum(x, axis=-1)[..., :-1] - i * x[..., 1:]) / np.sqrt(i * (i + 1.0))


def _one_less(event: Shape) -> Shape:
    return (event[0] - 1,)


def _simplex(y: Any) -> tuple[Any, Any]:
    log_x = log_proportions(_zero_sum(y))
    n = y.shape[-1] + 1
    return np.exp(log_x), log_x + 0.5 * math.log(n) / n


def _unit(y: Any) -> tuple[Any, Any]:
    squared = y * y
    return y / np.sqrt(squared.sum(axis=-1, keepdims=True)), -0.5 * squared


put("ordered", _ordered, _steps)
put("positive_ordered", _positive_ordered, _positive_steps)
put("simplex", _simplex, lambda x: _coordinates(np.log(x)), _one_less)
put("sum_to_zero", lambda y: (_zero_sum(y), None), _coordinates, _one_less)
put("unit_vector", _unit, lambda x: x)
