"""Elements picked of rows that were picked: by both indices at once, of the array that the rows are of.

What is added back to them then goes where it belongs, and not to the rows first, which may be many.  Between the two
picks may be functions of elements, as the logarithms of probabilities: these are then of what is picked.
"""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.graph.node import Node, rewrite
from vecdist.primitives.indexing import gather, picks_one
from vecdist.primitives.structure import STRUCTURE, rebuilt, view


def picks(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with one index in the place of two."""
    return rewrite(roots, _picked)


def _picked(node: Node, args: tuple[Node, ...]) -> Node:
    found = rebuilt(node, args)
    if not picks_one(found):
        return found
    value, index = args
    sooner = None if any(dim != 1 for dim in index.shape[:-2]) else _of_rows(value, index)
    return found if sooner is None else sooner


def _of_rows(value: Node, index: Node) -> Node | None:
    """The elements that an index picks of the last axis, where that is of rows which were picked."""
    if value.op == "gather":
        (source, row, *others), (start, _) = value.args, value.attrs
        if others or source.ndim != start + 2 or value.ndim != source.ndim:
            return None
        along = view(row, [(axis, 0, 1) for axis in range(row.ndim)], (*row.shape, 1))
        return gather(source, (along, index), (value.shape[start], 1), start)
    if value.op == "view":
        (source,), (entries,) = value.args, value.attrs
        inside = _of_rows(source, index) if _is_aligned(value) else None
        return None if inside is None else view(inside, [*entries[:-1], (None, 0, 1)], (*value.shape[:-1], 1))
    varying = {arg for arg in value.args if arg.ndim and arg.shape[-1] != 1}
    if value.op in STRUCTURE or value.op == "cases" or len(varying) != 1:
        return None
    (source,) = varying
    inside = _of_rows(source, index)
    if inside is None:
        return None
    args = tuple([inside if arg is source else arg for arg in value.args])
    return Node(value.op, args, value.attrs, (*value.shape[:-1], 1), value.dtype)


def _is_aligned(node: Node) -> bool:
    """Whether a view has all of the last two axes that vary as they were, behind others."""
    (source,), (entries,) = node.args, node.attrs
    last = range(-2, 0)
    return min(node.ndim, source.ndim) >= 2 and all(
        entries[axis] == (node.ndim + axis, 0, 1) and node.shape[axis] == source.shape[axis] for axis in last
    )
