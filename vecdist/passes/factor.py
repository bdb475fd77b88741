"""Move factors and conditions to where they vary least: done once, not for each element."""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.graph.node import Node, cast, rewrite, where
from vecdist.graph.shapes import Shape, broadcast
from vecdist.primitives.structure import align, extent, rebuilt, summed

Axes = tuple[int, ...]


def factor(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with less work in their sums: sum(c a) is c sum(a), and a condition c chooses between two sums.

    Where NaN stands for a sum a + b unless c holds, and b varies less, NaN stands for b.
    """
    return rewrite(roots, _factor_node)


def _factor_node(node: Node, args: tuple[Node, ...]) -> Node:
    node = rebuilt(node, args)
    if node.op == "sum" and node.dtype.kind == "f":
        return align(_total(args[0], args[0].shape, node.attrs[0]), node.shape)
    if node.op == "where" and node.args[2].is_const() and node.args[2].value != node.args[2].value:
        return _spoilt(node.args[1], node.args[0], node.args[2])
    return node


def _spoilt(term: Node, condition: Node, nan: Node) -> Node:
    """``term``, or NaN unless ``condition`` holds: through that part of a sum which varies least."""
    chosen = where(condition, term, nan)
    if term.op in {"add", "sub"}:
        for place, part in enumerate(term.args):
            if _axes(broadcast([part.shape, condition.shape])) < _axes(term.shape):
                parts = [_spoilt(part, condition, nan) if at == place else arg for at, arg in enumerate(term.args)]
                spoilt = rebuilt(term, tuple(parts))
                return spoilt if spoilt.shape == chosen.shape else chosen
    return chosen


def _axes(shape: Shape) -> int:
    """The number of axes along which an array varies."""
    return sum(dim != 1 for dim in shape)


def _total(term: Node, full: Shape, axes: Axes) -> Node:
    """The sum over ``axes`` of ``term`` repeated to the shape ``full``; axes in front may be missing."""
    varying = tuple(axis for axis in axes if _varies(term, (axis,)))
    repeated = [full[axis] for axis in axes if axis not in varying and full[axis] != 1]
    total = _sum(term, varying) if varying else term
    if not repeated or total.is_const(0):
        return total
    return total * cast(extent(repeated), total.dtype)


def _sum(term: Node, axes: Axes) -> Node:
    if term.op == "neg":
        return -_sum(term.args[0], axes)
    if term.op == "mul":
        for fixed, other in (term.args, term.args[::-1]):
            if not _varies(fixed, axes):
                return fixed * _total(other, term.shape, axes)
    if term.op == "where" and not _varies(term.args[0], axes):
        condition, *branches = term.args
        return where(condition, *(_total(branch, term.shape, axes) for branch in branches))
    return summed(term, axes)


def _varies(node: Node, axes: Axes) -> bool:
    return any(-axis <= node.ndim and node.shape[axis] != 1 for axis in axes)
