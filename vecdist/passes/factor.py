"""Move factors and conditions that do not vary along a sum out of it: done once, not for each element."""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.expr import Node, cast, rewrite, where
from vecdist.primitives.structure import align, extent, rebuilt, summed
from vecdist.shapes import Shape

Axes = tuple[int, ...]


def factor(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with less work in their sums: sum(c a) is c sum(a), and a condition c chooses between two sums."""
    return rewrite(roots, _factor_node)


def _factor_node(node: Node, args: tuple[Node, ...]) -> Node:
    node = rebuilt(node, args)
    if node.op == "sum" and node.dtype.kind == "f":
        return align(_total(args[0], args[0].shape, node.attrs[0]), node.shape)
    return node


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
