"""Reductions that all threads of a CPU share: those of long arrays to few results, in pieces of neighbours.

Sums of columns are scattered, and what is reduced over all of an array is a block's each; what is left are extremes and
products of rows and columns, and sums of what is made with these, as in a ``logsumexp`` of few rows.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import length_in
from vecdist.passes.split_reductions import Split, Splittable, Step, axes_of

THREADS = 64  # pieces that keep them busy
APART = 4  # rows, or blocks of columns, from which on each is better read again by the thread that has it in its cache
BLOCK = 256  # columns that one thread takes at least
LEAST = 2**15  # elements of a piece, at least
LONG = 128  # the same along its own axis, which is longer than those whose turns are written out


def shared_reductions(found: Splittable, lengths: Mapping[str, int], tall: Collection[Node]) -> tuple[Split, ...]:
    """Which reductions are done in two steps at these lengths, and in how many pieces."""
    splits: dict[Node, Split] = {}
    for node in found.nodes:
        if node.op == "sum" and (node in tall or not _is_made_with(node, splits)):
            continue
        if (split := _split(node, lengths, APART if found.waiting else THREADS)) is not None:
            splits[node] = split
    return tuple(splits.values())


def _is_made_with(node: Node, splits: Mapping[Node, Split]) -> bool:
    """Whether what a sum is of is made with what others find along its axes."""
    below = topological(node.args)
    return any(each in splits and each.attrs[0] == node.attrs[0] for each in below)


def _split(node: Node, lengths: Mapping[str, int], busy: int) -> Split | None:
    (over, kept), shape = axes_of(node), node.args[0].shape

    def length(axes: Iterable[int]) -> int:
        return math.prod(length_in(shape[axis], lengths) for axis in axes)

    results = length(kept)
    threads = results if over[-1] > kept[-1] else -(-results // BLOCK)
    if threads >= busy:
        return None
    most = min(THREADS // threads, results * length(over) // (threads * LEAST))
    axis = max(over, key=lambda each: length([each]))
    most = min(most, length([axis]) // LONG)
    pieces = 2 ** (max(1, most).bit_length() - 1)
    step = Step((axis, *(each for each in over if each != axis)), pieces)
    return Split(node, (step,), wide=node.op == "prod") if pieces > 1 else None
