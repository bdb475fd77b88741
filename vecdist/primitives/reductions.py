"""Reductions other than sums: products, extremes and the logarithm of a sum of exponentials."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vecdist.graph.node import Node, cast, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import log, shifted_exp
from vecdist.primitives.structure import STRUCTURE, Structural, full, summed

Axes = tuple[int, ...]


def reduced(op: str, x: Node, axes: Axes) -> Node:
    """``x`` reduced by ``op`` over ``axes`` (negative), each kept with length 1; itself where each had that length."""
    if all(x.shape[axis] == 1 for axis in axes):
        return x
    kept = tuple(1 if axis in axes else x.shape[axis] for axis in range(-x.ndim, 0))
    return Node(op, (x,), (axes,), kept, x.dtype)


def _extreme_weight(node: Node) -> Node:
    """1 at the extreme; elements that share it share its derivative."""
    (x,) = node.args
    chosen = cast(eq(x, node), node.dtype)
    return chosen / summed(chosen, node.attrs[0])


def _product_weight(node: Node) -> Node:
    """The product of all other elements, which zeros among them do not spoil, nor its own derivative."""
    (x,), (axes,) = node.args, node.attrs
    zero = eq(x, 0)
    rest = reduced("prod", where(zero, 1, x), axes)
    zeros = summed(cast(zero, node.dtype), axes)
    other_zero = summed(where(zero, x, 0), axes) - x  # 0, with the slope of the one other element that is zero
    of_zero = where(eq(zeros, 1), rest, where(eq(zeros, 2), rest * other_zero, 0))
    return where(zero, of_zero, node / where(zero, 1, x))


def along(op: str, x: Node, axes: Axes) -> Node:
    """An operation along ``axes`` (negative) that leaves the shape as it is."""
    return Node(op, (x,), (axes,), x.shape, x.dtype)


def _shift(x: Node, axes: Axes) -> Node:
    """The largest element, 0 where that is infinite: what makes exponentials of differences stable."""
    largest = reduced("max", x, axes)
    return where(eq(abs(largest), np.inf), 0, largest)


def _logsumexp(x: Node, axes: Axes) -> Node:
    shift = _shift(x, axes)
    return log(summed(shifted_exp(x - shift), axes)) + shift


def _softmax(x: Node, axes: Axes) -> Node:
    """Parts of the whole, not exponentials of x - logsumexp(x), which lose digits far from 0; 0 where all are 0."""
    parts = shifted_exp(x - _shift(x, axes))
    whole = summed(parts, axes)
    return parts * where(eq(whole, 0), 0, 1 / whole)


def _log_softmax(x: Node, axes: Axes) -> Node:
    apart = x - _shift(x, axes)
    return apart - log(summed(shifted_exp(apart), axes))


def _through_softmax(dot: Node, node: Node) -> Node:
    """Its Jacobian is symmetric: diag(s) - s s'."""
    return node * (dot - summed(full(dot, node.shape) * node, node.attrs[0]))


def _back_through_log_softmax(cotangent: Node, node: Node) -> Node:
    parts = along("softmax", node.args[0], node.attrs[0])
    return cotangent - parts * summed(full(cotangent, node.shape), node.attrs[0])


def _through_log_softmax(node: Node, dot: Node) -> Node:
    return dot - summed(dot * along("softmax", node.args[0], node.attrs[0]), node.attrs[0])


def _reduction(
    weight: Callable[[Node], Node], function: Callable | None = None, expand: Callable[..., Node] | None = None
) -> Structural:
    """A reduction whose derivative in each element is ``weight``."""

    def meaning(x: np.ndarray, node: Node, length: Callable) -> np.ndarray:
        assert function is not None
        wide = x.astype(np.float64) if node.op == "prod" and x.dtype.kind == "f" else x
        return function(wide, axis=node.attrs[0], keepdims=True).astype(node.dtype)

    return Structural(
        meaning=meaning,
        adjoint=lambda cotangent, node: cotangent * weight(node),
        tangent=lambda node, dot: summed(dot * weight(node), node.attrs[0]),
        reduces=True,
        expand=expand,
    )


STRUCTURE |= {
    "prod": _reduction(_product_weight, np.prod),
    "max": _reduction(_extreme_weight, np.max),
    "min": _reduction(_extreme_weight, np.min),
    "logsumexp": _reduction(lambda node: along("softmax", node.args[0], node.attrs[0]), expand=_logsumexp),
    "softmax": Structural(_through_softmax, lambda node, dot: _through_softmax(dot, node), along=True, expand=_softmax),
    "log_softmax": Structural(_back_through_log_softmax, _through_log_softmax, along=True, expand=_log_softmax),
}
