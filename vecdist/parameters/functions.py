"""Functions of lazy, NumPy and CuPy arrays alike: kernels and ``unpack`` compute by one formula."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecdist.graph.leaves import array_kind
from vecdist.lazy.array import LazyArray, data
from vecdist.primitives import elementary
from vecdist.wrappers.mixture import log_softmax

LN2 = float(np.log(2.0))
EPS = float(np.finfo(np.float64).eps)


def constant(array: np.ndarray, like: Any) -> Any:
    """An array that never changes, of the library of ``like``."""
    if isinstance(like, LazyArray):
        return data(array)
    if array_kind(like) == "cupy":
        import cupy

        return cupy.asarray(array)
    return array


def sigmoid(y: Any) -> Any:
    """1 / (1 + exp(-y))."""
    return LazyArray(elementary.sigmoid(y.node)) if isinstance(y, LazyArray) else np.exp(-np.logaddexp(0.0, -y))


def log_slope_of_sigmoid(y: Any) -> Any:
    """log(sigmoid(y) sigmoid(-y)) = -|y| - 2 log(1 + exp(-|y|))."""
    if isinstance(y, LazyArray):
        return LazyArray(elementary.log_sigmoid(y.node) + elementary.log_sigmoid(-y.node))
    return -abs(y) - 2.0 * np.log1p(np.exp(-abs(y)))


def log_cosh(y: Any) -> Any:
    """log cosh y = |y| + log((1 + exp(-2 |y|)) / 2)."""
    if isinstance(y, LazyArray):
        return LazyArray(elementary.log_cosh(y.node))
    return abs(y) + np.log1p(np.exp(-2.0 * abs(y))) - LN2


def log_proportions(z: Any) -> Any:
    """z - log sum exp z, along the last axis."""
    if isinstance(z, LazyArray):
        return log_softmax(z)
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


def off_edge(distance: Any, size: Any) -> Any:
    """Distances from an edge of NumPy arrays beside it: the least that numbers of a size can have, where that is 0.

    So a value that was rounded onto the edge is taken as the next inside.  From 0 there is no such step: numbers beside
    it are as precise as any, and what is 0 was not rounded.
    """
    return np.where(distance == 0.0, EPS * abs(size), distance)
