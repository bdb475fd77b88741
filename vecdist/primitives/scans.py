"""Running sums and products along one axis, forwards or backwards.

The derivative of a product divides by its factors.  Where one is zero, the products without it are those of an array
that has 1 there; where a second one is zero, no product without one of them is left.  So first derivatives are right
with any zeros, second ones with one zero along the axis.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vecdist.graph.node import Node, cast, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.structure import STRUCTURE, Structural, full

SCANS = {"cumsum": "sum", "cumprod": "prod"}  # and the reduction that each runs


def running(op: str, x: Node, axis: int, backwards: bool = False) -> Node:
    """``x`` up to and with each element along ``axis`` (negative) taken together; from the end, where ``backwards``."""
    return x if x.shape[axis] == 1 else Node(op, (x,), ((axis,), backwards), x.shape, x.dtype)


def accumulated(node: Node) -> np.dtype:
    """The dtype in which a scan runs: float32 would lose the small elements behind a large sum."""
    return np.dtype(np.float64) if node.dtype.kind == "f" else node.dtype


def _like(node: Node, x: Node, turned: bool = False) -> Node:
    """The running sum of ``x`` along the axis of a scan, perhaps the other way."""
    ((axis,), backwards) = node.attrs
    return running("cumsum", full(x, node.shape), axis, backwards != turned)


def _factors(node: Node) -> tuple[Node, Node, Node, Node]:
    """Of a running product: where a factor is zero, where it is the first zero, factors that one may divide by, and
    the products without the first zero.
    """
    (x,), ((axis,), backwards) = node.args, node.attrs
    zero = eq(x, 0)
    first = zero & eq(_like(node, cast(zero, np.int64)), 1)
    return zero, first, where(zero, 1, x), running("cumprod", where(first, 1, x), axis, backwards)


def _product_adjoint(cotangent: Node, node: Node) -> Node:
    zero, first, factors, others = _factors(node)
    each = where(zero, 0, _like(node, cotangent * node, turned=True) / factors)
    return each + where(first, _like(node, cotangent * others, turned=True), 0)


def _product_tangent(node: Node, dot: Node) -> Node:
    zero, first, factors, others = _factors(node)
    return node * _like(node, where(zero, 0, dot / factors)) + others * _like(node, where(first, dot, 0))


def _meaning(function: Callable) -> Callable[..., np.ndarray]:
    def meaning(x: np.ndarray, node: Node, length: Callable) -> np.ndarray:
        ((axis,), backwards) = node.attrs
        ordered = np.flip(x, axis) if backwards else x
        found = function(ordered.astype(accumulated(node)), axis=axis).astype(node.dtype)
        return np.flip(found, axis) if backwards else found

    return meaning


STRUCTURE |= {
    "cumsum": Structural(
        meaning=_meaning(np.cumsum),
        adjoint=lambda cotangent, node: _like(node, cotangent, turned=True),
        tangent=_like,
    ),
    "cumprod": Structural(meaning=_meaning(np.cumprod), adjoint=_product_adjoint, tangent=_product_tangent),
}
