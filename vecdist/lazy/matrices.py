"""Matrices in the last two axes, as functions of them are given them."""

from __future__ import annotations

from typing import Any

import numpy as np

from vecdist.graph.node import Node, cast
from vecdist.graph.shapes import broadcast
from vecdist.lazy.array import LazyArray, operands
from vecdist.primitives.structure import full


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


def stacked(name: str, a: Any) -> LazyArray:
    """The matrices that a function is given, of any shape."""
    (node,) = floats(a)
    if node.ndim < 2:
        raise np.linalg.LinAlgError(f"{name} wants matrices in the last two axes, given shape {node.shape}")
    return LazyArray(node)
