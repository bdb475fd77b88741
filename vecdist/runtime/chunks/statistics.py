"""What depends on data in chunks alone: computed in rounds of their own, once, kept with the data, and read no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf
from vecdist.passes.bind import Bound
from vecdist.passes.order import Structure, specialised
from vecdist.runtime import pipeline


def known(asked: Structure, bound: Bound, kind: str) -> tuple[pipeline.Derived, Bound] | None:
    """A structure with what is known of its data, which fills slots behind all others.

    ``None`` where nothing is, or data are an edge case.
    """
    first = pipeline.first(asked)
    special, outputs = specialised(asked, first), len(first.roots)
    conditions = (*first.conditions, *special.conditions)
    if not special.constants:
        return None
    roots, flags = special.roots[:outputs], special.roots[outputs:]
    found = pipeline.Derived(first.graph, roots, flags, special.constants, conditions)
    leaves = pipeline.constants(found, bound, kind)
    return None if leaves is None else (found, bound.with_leaves(leaves))


def in_memory(bound: Bound) -> Bound:
    """What fills slots, with nothing in those of arrays in chunks, which are read no more."""
    leaves = [Leaf(None, np.empty(0), leaf.kind) if isinstance(leaf.array, Chunked) else leaf for leaf in bound.leaves]
    return replace(bound, leaves=tuple(leaves))
