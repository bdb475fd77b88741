"""Running results along one axis, forwards or backwards: sums, products and linear recurrences.

All of them are linear recurrences h_t = a_t h_{t-1} + b_t, or have derivatives that are: with y_t = y_{t-1} x_t the
tangent is d_t = x_t d_{t-1} + y_{t-1} dx_t, and the cotangents l_t = c_t + x_{t+1} l_{t+1} run the other way.  Nothing
is divided by a factor, so that derivatives of any order are right with any zeros.  Of running extremes the factors
say how much of the one before is in each: all, nothing, or a half where both are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.graph.node import Node, const, where
from vecdist.primitives.arithmetic import eq, isnan
from vecdist.primitives.structure import STRUCTURE, Structural, full, turned_around, view

SCANS = {
    "cumsum": "sum", "cumprod": "prod", "cummax": "max", "cummin": "min", "linear_recurrence": "linear",
}  # fmt: skip
"""Running results, and how each takes an element in."""
IN_ORDER = {*SCANS, "shifted"}  # what has as attributes the one axis along which elements follow each other


def running(op: str, x: Node, axis: int, backwards: bool = False) -> Node:
    """``x`` up to and with each element along ``axis`` (negative) taken together; from the end, where ``backwards``."""
    return in_order(op, (x,), ((axis,), backwards))


def linear_recurrence(factors: Node, terms: Node, axis: int, backwards: bool = False) -> Node:
    """h_t = factors_t h_{t-1} + terms_t along ``axis`` (negative), from 0 on; both have the shape of the result."""
    return in_order("linear_recurrence", (terms, factors), ((axis,), backwards))


def shifted(x: Node, axis: int, backwards: bool = False, first: int = 0) -> Node:
    """The element before each one along ``axis`` (negative), in the order of a scan, and ``first`` before the first."""
    return in_order("shifted", (x,), ((axis,), backwards, first))


def in_order(op: str, args: tuple[Node, ...], attrs: tuple) -> Node:
    """An operation of ``IN_ORDER``; of an axis with one element, what it is of that.

    Of what is turned around it runs the other way, and is turned around.
    """
    x, ((axis,), *_) = args[0], attrs
    turned = [turned_around(arg, axis) for arg in args]
    if all(turned):
        (_, backwards, *rest) = attrs
        other = in_order(op, tuple([arg.args[0] for arg in args]), ((axis,), not backwards, *rest))
        return view(other, x.attrs[0], x.shape)
    if x.shape[axis] != 1:
        return Node(op, args, attrs, x.shape, x.dtype)
    return full(const(attrs[2], x.dtype), x.shape) if op == "shifted" else x


def accumulated(node: Node) -> np.dtype:
    """The dtype in which a scan runs: float32 would lose the small elements behind a large sum."""
    return np.dtype(np.float64) if node.dtype.kind == "f" else node.dtype


def _summed(node: Node, x: Node, turned: bool = False) -> Node:
    """The running sum of ``x`` along the axis of a scan, perhaps the other way."""
    ((axis,), backwards) = node.attrs
    return running("cumsum", full(x, node.shape), axis, backwards != turned)


def _cotangents(cotangent: Node, node: Node, factors: Node) -> Node:
    """What each term of a recurrence adds to all results from its own on."""
    ((axis,), backwards) = node.attrs
    later = shifted(factors, axis, not backwards)
    return linear_recurrence(later, full(cotangent, node.shape), axis, not backwards)


def _tangents(node: Node, factors: Node, dot: Node) -> Node:
    return linear_recurrence(factors, full(dot, node.shape), *_direction(node))


def _direction(node: Node) -> tuple[int, bool]:
    ((axis,), backwards) = node.attrs
    return axis, backwards


def _before(node: Node, first: int) -> Node:
    """The result before each one."""
    return shifted(node, *_direction(node), first)


def _before_kept(node: Node) -> Node:
    """How much of the extreme before is in each one: nothing in the first."""
    (x,), one = node.args, const(1.0, node.dtype)
    before = _before(node, 0)
    better = before >= x if node.op == "cummax" else before <= x
    kept = where(eq(before, x), 0.5, where(better | isnan(before), one, 0.0))
    return kept * shifted(full(one, node.shape), *_direction(node))


def _extreme_tangent(node: Node, dot: Node) -> Node:
    kept = _before_kept(node)
    return _tangents(node, kept, (1.0 - kept) * dot)


def _extreme_adjoint(cotangent: Node, node: Node) -> Node:
    kept = _before_kept(node)
    return _cotangents(cotangent, node, kept) * (1.0 - kept)


def _shift(node: Node, x: Node, turned: bool = False) -> Node:
    ((axis,), backwards, _) = node.attrs
    return shifted(full(x, node.shape), axis, backwards != turned)


def _along(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The meaning of an operation in order, by a function along the first axis that computes in a wide dtype."""

    def meaning(*given: Any) -> np.ndarray:
        *arrays, node, _ = given
        ((axis,), backwards, *rest) = node.attrs
        turn = slice(None, None, -1 if backwards else 1)
        found = function(*(np.moveaxis(x, axis, 0)[turn].astype(accumulated(node)) for x in arrays), *rest)
        return np.moveaxis(found.astype(node.dtype)[turn], 0, axis)

    return meaning


def _recurrence(terms: np.ndarray, factors: np.ndarray) -> np.ndarray:
    found = np.array(terms)
    for place in range(1, len(found)):
        found[place] += factors[place] * found[place - 1]
    return found


STRUCTURE |= {
    "cumsum": Structural(
        meaning=_along(lambda x: np.cumsum(x, axis=0)),
        adjoint=lambda cotangent, node: _summed(node, cotangent, turned=True),
        tangent=_summed,
    ),
    "cumprod": Structural(
        meaning=_along(lambda x: np.cumprod(x, axis=0)),
        adjoint=lambda cotangent, node: _cotangents(cotangent, node, node.args[0]) * _before(node, 1),
        tangent=lambda node, dot: _tangents(node, node.args[0], full(dot, node.shape) * _before(node, 1)),
    ),
    "cummax": Structural(
        meaning=_along(lambda x: np.maximum.accumulate(x, axis=0)), adjoint=_extreme_adjoint, tangent=_extreme_tangent
    ),
    "cummin": Structural(
        meaning=_along(lambda x: np.minimum.accumulate(x, axis=0)), adjoint=_extreme_adjoint, tangent=_extreme_tangent
    ),
    "linear_recurrence": Structural(
        meaning=_along(_recurrence),
        adjoint=lambda cotangent, node: _cotangents(cotangent, node, node.args[1]),
        tangent=lambda node, dot: _tangents(node, node.args[1], dot),
        second=(
            lambda cotangent, node: _cotangents(cotangent, node, node.args[1]) * _before(node, 0),
            lambda node, dot: _tangents(node, node.args[1], full(dot, node.shape) * _before(node, 0)),
        ),
    ),
    "shifted": Structural(
        moves=True,
        meaning=_along(lambda x, first: np.concatenate([np.full_like(x[:1], first), x[:-1]])),
        adjoint=lambda cotangent, node: _shift(node, cotangent, turned=True),
        tangent=_shift,
    ),
}
