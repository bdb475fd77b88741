"""What depends on data alone: computed once for them, where they are what a graph takes them for."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf, on_host
from vecdist.graph.node import Node, cast, topological
from vecdist.passes.bind import Bound
from vecdist.passes.order import Derived, Structure
from vecdist.passes.partial_evaluation import scalar
from vecdist.primitives.reductions import reduced
from vecdist.runtime.base import element_count
from vecdist.runtime.interpreter import interpret
from vecdist.runtime.libraries import LIBRARY

SMALL = 2**17  # elements of a value, which NumPy has computed before a kernel would be compiled

Known = tuple[Structure, Derived, list[Leaf]]


def specialised_to(
    bound: Bound, kind: str, asked: Structure, derive: Callable[[Structure], Derived]
) -> Known | None:
    """What is asked, without what its data refute, as it is derived, and what fills the slots of its constants.

    ``None`` where these do not stand for its data, as a mean is not finite: then each element is computed.
    """
    while True:
        graph = derive(asked)
        leaves, failing = constants(graph, bound, kind)
        if leaves is not None:
            return asked, graph, leaves
        if failing <= asked.refuted:
            return None
        asked = asked._replace(refuted=asked.refuted | failing)


def constants(graph: Derived, bound: Bound, kind: str) -> tuple[list[Leaf] | None, frozenset[Node]]:
    """What fills the slots of the constants of a graph, computed once for its data, and which conditions fail.

    ``None`` where one does (as of an element outside the support), or where a mean is not finite.
    """
    if not (graph.constants or graph.conditions):
        return [], frozenset()
    first, *others = (bound.leaves[place] for place in bound.constant)
    store = first.derived  # which lives as long as the data do; parameters are no part of it
    key = (graph.constants, graph.conditions, *(leaf.born for leaf in others), *bound.lengths.items())
    if key not in store:
        store[key] = _constants(graph, bound, kind)
    values, failing = store[key]
    if values is None:
        return None, failing
    return [Leaf(None, value, LIBRARY[kind] if np.ndim(value) else "number") for value in values], failing


def _constants(graph: Derived, bound: Bound, kind: str) -> tuple[list[Any] | None, frozenset[Node]]:
    tested = [node for node in graph.conditions if all(bound.lengths.get(str(dim), dim) for dim in node.shape)]
    holding = [reduced("min", cast(node, np.int8), tuple(range(-node.ndim, 0))) for node in tested]
    roots = (*graph.constants, *(scalar(node) for node in holding))
    found = computed(Bound(roots, bound.leaves, bound.lengths), kind) if roots else []
    values, holds = found[: len(graph.constants)], found[len(graph.constants) :]
    failing = frozenset(node for node, each in zip(tested, holds, strict=True) if not each)
    usable = not failing and all(np.isfinite(each) for each in values if not np.ndim(each))
    return values if usable else None, failing


def computed(bound: Bound, kind: str) -> list[Any]:
    """The values of roots: arrays, and numbers of the host."""
    from vecdist.runtime import pipeline
    from vecdist.runtime.chunks import program

    if any(isinstance(leaf.array, Chunked) for leaf in bound.leaves):
        return program.computed(bound, kind)
    nodes = [*topological(bound.roots)]
    if any(element_count(node.shape, bound.lengths) > SMALL for node in nodes):
        return pipeline.results(pipeline.compiled(bound, kind), bound)
    read = {node.attrs[0] for node in nodes if node.op == "slot"}
    arrays: list[Any] = [on_host(leaf.array) if place in read else None for place, leaf in enumerate(bound.leaves)]
    library = importlib.import_module(LIBRARY[kind])
    found = interpret(bound.roots, arrays, bound.lengths)
    return [library.asarray(value) if np.ndim(value) else value[()] for value in found]
