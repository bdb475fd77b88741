"""Give an expression a leading axis: the same expression for many values of some of its leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vecdist.expr import Node, topological
from vecdist.primitives.structure import Entry, full, reshape, view
from vecdist.shapes import Dim, Shape, broadcast


def batch(roots: Sequence[Node], leaves: Mapping[Node, Node]) -> tuple[Node, ...]:
    """``roots`` where each leaf is replaced by one with a leading axis, which the results have too."""
    length: Dim = next(iter(leaves.values())).shape[0]
    many: dict[Node, Node] = dict(leaves)
    for node in topological(roots):
        if node in many or not any(arg in many for arg in node.args):
            continue
        many[node] = _batched(node, [many.get(arg, arg) for arg in node.args], [a in many for a in node.args])
    return tuple(full(many.get(root, root), (length, *root.shape)) for root in roots)


def _batched(node: Node, args: Sequence[Node], leading: Sequence[bool]) -> Node:
    length = next(arg.shape[0] for arg, has in zip(args, leading, strict=True) if has)
    if node.op == "sum":
        shape: Shape = (length, *node.shape)
        return Node("sum", tuple(args), node.attrs, shape, node.dtype)
    if node.op in {"view", "pad"}:
        shifted: list[Entry] = [(0, 0, 1)]
        shifted += [(None if to is None else to + 1, start, step) for to, start, step in node.attrs[0]]
        return Node(node.op, tuple(args), (tuple(shifted),), (length, *node.shape), node.dtype)
    if node.op == "reshape":
        return reshape(args[0], (length, *node.shape))
    aligned = tuple(
        _aligned(arg, node.ndim) if has else arg for arg, has in zip(args, leading, strict=True)
    )
    return Node(node.op, aligned, node.attrs, broadcast(arg.shape for arg in aligned), node.dtype)


def _aligned(arg: Node, ndim: int) -> Node:
    """``arg`` with axes of length 1 behind its leading axis, so that the others align with ``ndim`` axes."""
    new = ndim - (arg.ndim - 1)
    entries = [(0, 0, 1), *((axis + new, 0, 1) for axis in range(1, arg.ndim))]
    return view(arg, entries, (arg.shape[0], *(1,) * new, *arg.shape[1:]))
