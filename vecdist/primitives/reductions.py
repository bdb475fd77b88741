"""Reductions other than sums: products, extremes and the logarithm of a sum of exponentials."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vecdist.expr import Node, cast, where
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.elementary import exp, log
from vecdist.primitives.structure import STRUCTURE, Structural, summed

Axes = tuple[int, ...]


def reduced(op: str, x: Node, axes: Axes) -> Node:
    """``x`` reduced by ``op`` over ``axes`` (negative), each kept with length 1."""
    kept = tuple(1 if axis in axes else x.shape[axis] for axis in range(-x.ndim, 0))
    return Node(op, (x,), (axes,), kept, x.dtype)


def _extreme_weight(node: Node) -> Node:
    """1 at the extreme; elements that share it share its derivative."""
    (x,) = node.args
    chosen = cast(eq(x, node), node.dtype)
    return chosen / summed(chosen, node.attrs[0])


def _product_weight(node: Node) -> Node:
    """The product of all other elements, which no zero among them spoils."""
    (x,), (axes,) = node.args, node.attrs
    zero = eq(x, 0)
    others = reduced("prod", where(zero, 1, x), axes)
    zeros = summed(cast(zero, node.dtype), axes)
    return where(zero, where(eq(zeros, 1), others, 0), where(eq(zeros, 0), node / where(zero, 1, x), 0))


def _softmax(node: Node) -> Node:
    """exp(x - logsumexp(x)); 0 where all of them are 0."""
    (x,) = node.args
    return where(eq(node, -np.inf), 0, exp(x - node))


def _logsumexp(x: Node, axes: Axes) -> Node:
    """Stable: exponentials of differences from the largest, none of them above 1."""
    largest = reduced("max", x, axes)
    shift = where(eq(abs(largest), np.inf), 0, largest)
    return log(summed(exp(x - shift), axes)) + shift


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
    "logsumexp": _reduction(_softmax, expand=_logsumexp),
}
