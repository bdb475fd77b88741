"""Whether an operation works on the rows of an array alike, so that those of a chunk need no others."""

from __future__ import annotations

from collections.abc import Callable

from vecdist.graph.node import Node, topological
from vecdist.primitives.scans import IN_ORDER
from vecdist.primitives.structure import STRUCTURE, is_reduction
from vecdist.primitives.windows import OVERLAPPING

WHY = {
    "view": ("a slice, an element or a reversal", "takes rows by their places"),
    "pad": ("joining", "puts rows at other places"),
    "reshape": ("reshape", "makes other rows of the elements"),
    "gather": ("indexing", "picks rows by index"),
    "scatter": ("adding by index", "adds up rows by index into rows"),
    "product": ("a product", "has rows on both sides"),
}
INSTEAD = (
    "do that to the arrays before, by their own library, or load them if they fit into memory, x.compute() or "
    "np.asarray(x)"
)


def refusal(node: Node, why: str | None = None) -> str:
    """What is said of an operation that needs rows of several chunks."""
    name, reason = WHY.get(node.op, (node.op, "goes through all rows in their order"))
    name, reason = str(node.attrs[0]) if node.op == "external" else name, why or reason
    return f"{name} of an array in chunks {reason}, for which the rows of one chunk are not enough; {INSTEAD}"


def row_axis(node: Node, rows: frozenset[str]) -> str | None:
    """The length of rows in the shape of a node, if there is one.

    ``ValueError`` where there are two, or where a row of the node is made of other rows of its arguments.
    """
    found = [dim for dim in node.shape if dim in rows]
    if len(found) > 1:
        raise ValueError(refusal(node, "has rows along two axes, each with each"))
    own = str(found[0]) if found else None
    if own is None or node.op not in STRUCTURE:
        return own
    if any(own in arg.shape for arg in node.args) and not _alike(node, own):
        raise ValueError(refusal(node))
    return own


def _alike(node: Node, rows: str) -> bool:
    """Whether a structural operation, some of whose arguments have these rows, as it has, works on each alike."""
    if is_reduction(node) or node.op == "kept":
        return True
    return RULES.get(node.op, lambda node, rows: STRUCTURE[node.op].along)(node, rows)


def _moved(node: Node, rows: str) -> bool:
    source, target = node.args[0], node
    if rows not in source.shape:
        return True
    if node.op == "pad":
        source, target = node, node.args[0]
    entry = node.attrs[0][source.shape.index(rows)]
    return entry[0] is not None and entry[1:] == (0, 1) and target.shape[entry[0]] == rows


def _reshaped(node: Node, rows: str) -> bool:
    source = node.args[0].shape
    place = source.index(rows)
    return source[: place + 1] == node.shape[: place + 1]


def _indexed(node: Node, rows: str) -> bool:
    """Of rows that are picked from, or added up into, none are those that indices name."""
    start, count = node.attrs
    indexed = (node.args[0] if node.op == "gather" else node).shape[start : start + count]
    return rows not in indexed


def _in_order(node: Node, rows: str) -> bool:
    ((axis,), *_) = node.attrs
    return node.shape[axis] != rows


def _windowed(node: Node, rows: str) -> bool:
    place = node.shape.index(rows) - node.ndim
    return all(place not in (axis, places) for axis, places, *_ in node.attrs[0])


def _recurring(node: Node, rows: str) -> bool:
    """Recurrences side by side are alike; rows are not if they are steps, or if a step makes anything of all."""
    step, *_ = node.attrs
    inner = [each for each in topological(step.news) if each.op in STRUCTURE]
    return node.args[step.carries].shape[0] != rows and not any(rows in each.shape for n in inner for each in n.args)


def _called(node: Node, rows: str) -> bool:
    """A call of many small arrays at once, along whose leading axes rows stand."""
    call = node.attrs[0]
    if not call.axes:
        return False
    letters, _ = call.axes
    return all(rows not in arg.shape[arg.ndim - len(own) :] for arg, own in zip(node.args, letters, strict=True))


def _multiplied(node: Node, rows: str) -> bool:
    left, right = node.args
    return (rows not in right.shape and rows == node.shape[0]) or (rows not in left.shape and rows == node.shape[1])


RULES: dict[str, Callable[[Node, str], bool]] = {
    "view": _moved, "pad": _moved, "reshape": _reshaped, "gather": _indexed, "scatter": _indexed,
    "product": _multiplied,
    "recurrence": _recurring, "external": _called,
    **dict.fromkeys(IN_ORDER, _in_order), **dict.fromkeys(OVERLAPPING, _windowed),
}  # fmt: skip
