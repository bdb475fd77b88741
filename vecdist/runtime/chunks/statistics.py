"""What depends on data in chunks alone: computed in rounds of their own, once, kept with the data, and read no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, final

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf
from vecdist.graph.node import Node, topological
from vecdist.passes.bind import Bound
from vecdist.passes.order import Structure, specialised
from vecdist.runtime import pipeline
from vecdist.runtime.constants import constants


def known(asked: Structure, bound: Bound, kind: str) -> tuple[pipeline.Derived, Bound] | None:
    """A structure with what is known of its data, which fills slots behind all others.

    ``None`` where nothing is, or data are an edge case.
    """
    first = pipeline.first(asked)
    special, outputs = specialised(asked, first), len(first.roots)
    conditions = (*first.conditions, *special.conditions)
    if not special.constants and pipeline.reads_chunks(special.roots, bound):
        return None
    roots, flags = special.roots[:outputs], special.roots[outputs:]
    found = pipeline.Derived(first.graph, roots, flags, special.constants, conditions)
    leaves, _ = constants(found, bound, kind)
    return None if leaves is None else (found, bound.with_leaves(leaves))


def in_memory(bound: Bound) -> Bound:
    """What fills slots, with nothing in those of arrays in chunks, which are read no more."""
    leaves = [Leaf(None, np.empty(0), leaf.kind) if isinstance(leaf.array, Chunked) else leaf for leaf in bound.leaves]
    return replace(bound, leaves=tuple(leaves))


@final
class Kept:
    """The values of what depends on data alone, as long as the data live, for whatever asks for them.

    What has been asked for in one structure is known in others, of many parameters or of derivatives.
    """

    def __init__(self) -> None:
        self.names: dict[Any, object] = {}
        self.values: dict[object, Any] = {}

    @staticmethod
    def of(bound: Bound) -> Kept:
        """Those that are kept with the data that came first."""
        first = min((leaf for leaf in bound.leaves if leaf.constant), key=lambda leaf: leaf.born)
        return first.derived.setdefault(Kept, Kept())

    def named(self, bound: Bound) -> list[object]:
        """A name for each root, which says all of it but the names of lengths and the numbers of slots."""
        found: dict[Node, object] = {}
        for node in topological(bound.roots):
            slot, *attrs = node.attrs if node.op == "slot" else (None, *node.attrs)
            array = None if slot is None else bound.leaves[slot].born
            args = [found[arg] for arg in node.args]
            whole = (node.op, array, *_numbers((attrs, node.shape), bound.lengths), node.dtype, *args)
            found[node] = self.names.setdefault(whole, object())
        return [found[root] for root in bound.roots]


def _numbers(given: Any, lengths: Mapping[str, int]) -> Any:
    """What names lengths, with numbers in their place."""
    if isinstance(given, tuple | list):
        return tuple([_numbers(each, lengths) for each in given])
    return lengths.get(given, given) if isinstance(given, str) else given
