"""The reference: a graph evaluated by NumPy, node by node.  Every other backend is tested against it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

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
    roots = _expanded(tuple(roots))
    values: dict[Node, np.ndarray] = {}

    def length(dim: Dim) -> int:
        return lengths[dim] if isinstance(dim, str) else dim

    with np.errstate(all="ignore"):
        for node in topological(roots):
            values[node] = _evaluate(node, [values[arg] for arg in node.args], arrays, length)
    return tuple(
        np.broadcast_to(values[root], [length(dim) for dim in root.shape]).copy() for root in roots
    )


@functools.lru_cache(maxsize=64)
def _expanded(roots: tuple[Node, ...]) -> tuple[Node, ...]:
    """Equal expressions of other data are equal graphs, which need not be expanded again."""
    return expand(roots)


def _evaluate(node: Node, args: list, arrays: Sequence, length: Callable[[Dim], int]) -> np.ndarray:
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
    if node.op in STRUCTURE:
        structural = STRUCTURE[node.op].meaning
        assert structural is not None, node.op
        return np.asarray(structural(*args, node, length))
    meaning = PRIMITIVES[node.op].meaning
    assert meaning is not None, node.op
    value = meaning(*args, node.dtype) if node.op == "cast" else meaning(*args)
    return np.asarray(value, node.dtype)
