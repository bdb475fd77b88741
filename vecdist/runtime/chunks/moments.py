"""Means and variances of data in chunks, in one round.

Let c be near the mean, that of some rows.  With the means r of d - c and q of its square, the mean of d is c + r, and
its variance q - r^2: nothing cancels, for r^2 is little beside q.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import Leaf, on_host
from vecdist.graph.node import Node, topological
from vecdist.passes.bind import Bound
from vecdist.passes.partial_evaluation import WIDE, centred, mean_of
from vecdist.primitives.table import PRIMITIVES
from vecdist.runtime.interpreter import interpret

SOME = 2**16  # rows whose mean is near that of all

square = PRIMITIVES["square"]


@final
@dataclass(frozen=True)
class Moments:
    """The mean of an array of data, what its rounding leaves, and the variance; ``near`` fills ``slot``."""

    array: Node
    slot: Node
    near: np.ndarray

    @property
    def asked(self) -> tuple[Node, Node]:
        """The means that are found in one round."""
        apart = self.array - self.slot
        return mean_of(apart), mean_of(square(apart))

    @property
    def given(self) -> tuple[Node, Node, Node]:
        """The means that follow from these."""
        apart = centred(self.array)
        return mean_of(self.array), mean_of(apart), mean_of(square(apart))

    def values(self, found: Mapping[Node, Any]) -> dict[Node, Any]:
        """The values of what is given."""
        r, q = (found[node] for node in self.asked)
        near = self.near[()]
        mean = near + r
        return dict(zip(self.given, (mean, (near - mean) + r, max(q - r * r, 0.0 * q)), strict=True))


def in_one_round(bound: Bound) -> tuple[Bound, Sequence[Moments]]:
    """What is to be computed for the roots of ``bound``, and the moments that give those which it leaves out."""
    arrays = list(dict.fromkeys(array for root in bound.roots for array in _centred(root)))
    near = _near([mean_of(array) for array in arrays], bound)
    slots = [Node("slot", (), (len(bound.leaves) + at, "number", ()), (), WIDE) for at in range(len(near))]
    moments = [Moments(*each) for each in zip(arrays, slots, near, strict=True)] if near else []
    known = {node for each in moments for node in each.given}
    roots = [node for each in moments for node in each.asked] + [root for root in bound.roots if root not in known]
    leaves = [Leaf(None, each.near, "number") for each in moments]
    return Bound(tuple(dict.fromkeys(roots)), (*bound.leaves, *leaves), bound.lengths), moments


def _centred(root: Node) -> Iterator[Node]:
    """The array that a root is a mean of, without its mean, or of the square of that."""
    inner = root
    while inner.op in {"div", "view", "sum", "square"}:
        inner = inner.args[0]
    if inner.op == "sub" and mean_of(inner.args[0]) is inner.args[1]:
        apart = centred(inner.args[0])
        if root in (mean_of(apart), mean_of(square(apart))):
            yield inner.args[0]


def _near(means: Sequence[Node], bound: Bound) -> tuple[np.ndarray, ...]:
    """The means of the first rows; none where other arrays have rows too, or there are no rows."""
    slots = {node.attrs[0]: node for node in topological(means) if node.op == "slot"}
    arrays = {place: bound.leaves[place].array for place in slots}
    dims = {str(slots[place].shape[each.axis]) for place, each in arrays.items() if isinstance(each, Chunked)}
    count = min((SOME, *(bound.lengths[dim] for dim in dims)))
    beside = (slots[place].shape for place, each in arrays.items() if not isinstance(each, Chunked))
    if not count or not dims or any(dims.intersection(map(str, shape)) for shape in beside):
        return ()
    some = {place: _first(each, count) for place, each in arrays.items()}
    given = [some.get(place, np.empty(0)) for place in range(len(bound.leaves))]
    return interpret(means, given, bound.lengths | dict.fromkeys(dims, count))


def _first(array: Any, count: int) -> np.ndarray:
    """The first rows of an array in chunks, in memory; any other as it is."""
    if not isinstance(array, Chunked):
        return on_host(array)
    rows = array.rows(0, count)
    return on_host(rows if array.streams else rows.compute())
