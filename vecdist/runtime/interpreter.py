"""The reference: a graph evaluated by NumPy, node by node.  Every other backend is tested against it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim
from vecdist.passes.expand import expand
from vecdist.primitives.structure import STRUCTURE
from vecdist.primitives.table import PRIMITIVES


def interpret(
    roots: Sequence[Node], arrays: Sequence[np.ndarray], lengths: Mapping[str, int]
) -> tuple[np.ndarray, ...]:
    """The values of ``roots``: ``arrays`` fill the slots, ``lengths`` gives the symbolic dimensions their numbers."""
    return evaluate(*_expanded(tuple(roots)), arrays, lengths)


def evaluate(
    roots: Sequence[Node], nodes: Iterable[Node], arrays: Sequence[np.ndarray], lengths: Mapping[str, int]
) -> tuple[np.ndarray, ...]:
    """The values of ``roots``, of which ``nodes`` are all that they need, in order, and nothing that expands."""
    values: dict[Node, np.ndarray] = {}

    def length(dim: Dim) -> int:
        return lengths[dim] if isinstance(dim, str) else dim

    with np.errstate(all="ignore"):
        for node in nodes:
            values[node] = _evaluate(node, [values[arg] for arg in node.args], arrays, length)
    return tuple(
        np.broadcast_to(values[root], [length(dim) for dim in root.shape]).copy() for root in roots
    )


@functools.lru_cache(maxsize=64)
def _expanded(roots: tuple[Node, ...]) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """Equal expressions of other data are equal graphs, which need not be expanded again, nor put in order."""
    roots = expand(roots)
    return roots, tuple(topological(roots))


def _evaluate(node: Node, args: list, arrays: Sequence, length: Callable[[Dim], int]) -> np.ndarray:
    entry = PRIMITIVES.get(node.op)
    if entry is not None:
        assert entry.meaning is not None, node.op
        return np.asarray(entry.meaning(*args, node.dtype) if node.op == "cast" else entry.meaning(*args), node.dtype)
    if node.op == "const":
        return np.asarray(node.value, node.dtype)
    if node.op == "slot":
        shape = [length(dim) for dim in node.shape]
        return np.asarray(arrays[node.attrs[0]], node.dtype).reshape(shape)
    if node.op == "extent":
        return np.asarray(float(np.prod([length(dim) for dim in node.attrs[0]])))
    if node.op == "position":
        shape = [length(dim) for dim in node.shape]
        return np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
    structural = STRUCTURE[node.op].meaning
    assert structural is not None, node.op
    return np.asarray(structural(*args, node, length))
