"""The rows of constant data in the order of their groups, computed once and kept with the data."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from vecdist.graph.leaves import Leaf, on_host
from vecdist.graph.node import topological
from vecdist.passes.bind import Bound
from vecdist.passes.sort_by_key import Grouping, Sorting
from vecdist.runtime.base import length_of
from vecdist.runtime.interpreter import interpret
from vecdist.runtime.segments import segments


@final
@dataclass(frozen=True)
class Arranged:
    """The arrays of a grouping, as leaves, and how many pieces of which width each of its levels has."""

    leaves: tuple[Leaf, ...]
    shapes: tuple[tuple[int, int], ...]


def arranged(bound: Bound, groupings: Sequence[Grouping], kind: str) -> tuple[Bound, tuple[Sorting, ...]]:
    """``bound`` with the order of its rows in each grouping; ``kind`` is the library of its arrays."""
    if not groupings:
        return bound, ()
    first, *others = (bound.leaves[place] for place in bound.constant)
    leaves, lengths, sortings = list(bound.leaves), dict(bound.lengths), []
    for grouping in groupings:
        key = (grouping, *(leaf.born for leaf in others), *bound.lengths.items())
        if key not in first.derived:
            first.derived[key] = _arranged(grouping, bound, kind)
        found = first.derived[key]
        if found is not None:
            sortings.append(Sorting(grouping, len(found.shapes), len(sortings), len(leaves)))
            leaves += found.leaves
            lengths |= sortings[-1].lengths(found.shapes)
    return Bound(bound.roots, tuple(leaves), lengths), tuple(sortings)


def _arranged(grouping: Grouping, bound: Bound, kind: str) -> Arranged | None:
    """The order of the rows of a grouping; ``None`` where there are no rows, or an index is out of range."""
    sizes = [length_of(dim, bound.lengths) for dim in grouping.sizes]
    if not bound.lengths[grouping.dim]:
        return None
    xp = importlib.import_module(kind)
    slots = {node.attrs[0] for node in topological(grouping.indices) if node.op == "slot"}
    arrays = [on_host(leaf.array) if slot in slots else np.empty(0) for slot, leaf in enumerate(bound.leaves)]
    indices = interpret(grouping.indices, arrays, bound.lengths)
    if any(index.min() < 0 or index.max() >= size for index, size in zip(indices, sizes, strict=True)):
        return None
    found = segments([xp.asarray(index) for index in indices], sizes, xp)
    given = [array for level in found.levels for array in (level.order, level.count)]
    leaves = tuple(Leaf(None, array, kind) for array in (*given, *found.owners))
    return Arranged(leaves, tuple(level.order.shape for level in found.levels))
