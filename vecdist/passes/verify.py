"""The grammar of a legal graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import BroadcastError, Dim, broadcast
from vecdist.passes.expand import ELEMENTARY
from vecdist.primitives.loops import complaint_of
from vecdist.primitives.scans import IN_ORDER
from vecdist.primitives.structure import STRUCTURE
from vecdist.primitives.table import PRIMITIVES

FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}
INDEXING = {"gather", "scatter"}
LEAVES = {"slot", "const", "extent", "position", "local"}
SPLIT = "cases"  # of a condition and two forms of one value
MIXED = {"where", "cast", "bits", "from_bits", "shl", "shr"}


class IllegalGraph(ValueError):
    """A graph breaks the grammar: a fault of the library, not of its user."""


def verify(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` unchanged, or an error naming the node that breaks the grammar."""
    roots = tuple(roots)
    for node in topological(roots):
        complaint = _complaint(node)
        if complaint:
            raise IllegalGraph(f"{node.op} {node.shape} {node.dtype}: {complaint}: {str(node)[:200]}")
    return roots


def _complaint(node: Node) -> str | None:
    if node.op in LEAVES:
        return "a leaf has no arguments" if node.args else None
    if node.op in STRUCTURE:
        return _structural_complaint(node)
    if node.op == SPLIT:
        return None if len(node.args) == 3 else "it takes a condition and two values"
    try:
        shape = broadcast(arg.shape for arg in node.args)
    except BroadcastError as error:
        return str(error)
    if node.op == "formula":
        return "its arguments are scalars" if any(arg.shape for arg in node.args) else None
    complaint = complaint_of(node.attrs[0], node.args) if node.op == "loop" else _elementary_complaint(node)
    return complaint or (None if shape == node.shape else f"its arguments broadcast to {shape}")


def _elementary_complaint(node: Node) -> str | None:
    entry = PRIMITIVES.get(node.op)
    if entry is None:
        return "no primitive of this name"
    if entry.code is None and (node.shape or node.op not in ELEMENTARY):
        return "neither target has code for it"
    if len(node.args) != entry.arity:
        return f"it takes {entry.arity} arguments"
    choice = node.op == "where" or entry.seldom
    if choice and [np.dtype(bool), *[node.dtype] * (entry.arity - 1)] != [arg.dtype for arg in node.args]:
        return "a condition is a boolean, and both branches have the dtype of the choice"
    if node.op not in MIXED and not choice and len({arg.dtype for arg in node.args}) > 1:
        return f"arguments of dtypes {[str(arg.dtype) for arg in node.args]}"
    if entry.boolean != (node.dtype == np.bool_) and node.op not in MIXED | {"and", "or"}:
        return "a comparison is a boolean, and nothing else is"
    return None


def _recurring(node: Node) -> tuple[Dim, ...]:
    step, carry, last = node.attrs
    start = node.args[carry]
    return start.shape if last else (node.args[step.carries].shape[0], *start.shape)


def _structural_complaint(node: Node) -> str | None:
    if node.op == "recurrence":
        return None if node.shape == _recurring(node) else "its result has the shape of a carry, of one step or of all"
    if node.op == "external":
        _, place, _, kinds = node.attrs
        return None if (node.shape, node.dtype) == kinds[place] else "it is the result of a call that it says it is"
    if node.op == "product":
        same = [arg.ndim for arg in node.args] == [2, 2] and len({arg.dtype for arg in node.args}) == 1
        return None if same else "it takes two matrices of one dtype"
    if node.op == "linear_recurrence":
        same = len(node.args) == 2 and {(arg.shape, arg.dtype) for arg in node.args} == {(node.shape, node.dtype)}
        return None if same else "its terms and factors have its shape and dtype"
    indices = node.args[1:]
    if len(node.args) != 1 + (node.attrs[1] if node.op in INDEXING else 0):
        return "it takes one argument, and as many index arrays as it has indexed axes"
    if any(index.dtype.kind not in "iu" for index in indices):
        return "an index is a whole number"
    sums = node.op in {"sum", "prod"} and {node.dtype, node.args[0].dtype} == FLOATS  # which are float64 anyway
    if node.dtype != node.args[0].dtype and not sums:
        return "it keeps the dtype of its argument"
    if STRUCTURE[node.op].reduces:
        (axes, *pieces), (source,) = node.attrs, node.args
        kept = dict(zip(axes, pieces, strict=False))
        if node.shape != tuple(kept.get(a, 1) if a in axes else source.shape[a] for a in range(-source.ndim, 0)):
            return "the axes of a reduction are kept with length 1, or the first with its pieces"
    if node.op in IN_ORDER and node.shape != node.args[0].shape:
        return "what works along an axis has the shape of its argument"
    if node.op in {"view", "pad"}:
        source = node.args[0] if node.op == "view" else node
        if len(node.attrs[0]) != source.ndim:
            return "one entry per axis of the source"
    return None
