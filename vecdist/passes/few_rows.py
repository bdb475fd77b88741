"""Few rows that are long, as those of several chains over the same data: their elements come first, the rows inside.

Row by row, a sum of each leaves most of a GPU idle, and reads again for each row what they share.  Where the loop over
elements is the outer one, each element is read once, is added to the sums of all rows, and threads are as many as
elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim, length_in
from vecdist.primitives.scans import SCANS
from vecdist.primitives.structure import is_reduction

IN_ORDER = {"recurrence", *SCANS}
LONG = 1024  # elements of a row from which on rows are long
OWN = 16  # rows of whose elements neighbours are read together, a thread for each
LANES = 32  # threads that may share the sums of rows
SLOTS = 32  # sums of a thread


@final
@dataclass(frozen=True)
class Rows:
    """What reduces each of several rows: the lengths along which these lie, of a row, and of what its elements hold.

    Rows have elements of their ``own`` where an array that is read varies along rows and elements.
    """

    node: Node
    rows: tuple[Dim, ...]
    elements: tuple[Dim, ...]
    columns: tuple[Dim, ...]
    own: bool


def reduced_rows(roots: Sequence[Node]) -> tuple[Rows, ...]:
    """The reductions of several rows each; none where something goes through elements in order."""
    nodes = list(topological(roots))
    if any(node.op in IN_ORDER for node in nodes):
        return ()
    return tuple(rows for node in nodes if is_reduction(node) for rows in _parted(node))


def _parted(node: Node) -> Iterator[Rows]:
    """A reduction of neighbouring axes behind others."""
    (source,), (axes, *_) = node.args, node.attrs
    varying = [axis for axis in range(-source.ndim, 0) if source.shape[axis] != 1]
    over = [place for place, axis in enumerate(varying) if axis in axes]
    if over and over[0] > 0 and over == list(range(over[0], over[-1] + 1)):
        dims = tuple([source.shape[axis] for axis in varying])
        rows, elements = dims[: over[0]], dims[over[0] : over[-1] + 1]
        yield Rows(node, rows, elements, dims[over[-1] + 1 :], _reads_both(source, rows, elements))


def _reads_both(source: Node, rows: Sequence[Dim], elements: Sequence[Dim]) -> bool:
    """Whether an array that is read for a value varies along rows and along their elements."""
    below = topological((source,), lambda node: () if is_reduction(node) else node.args)
    shapes = (set(node.shape) for node in below if node.op == "slot")
    return any(not shape.isdisjoint(rows) and not shape.isdisjoint(elements) for shape in shapes)


def few_rows(
    found: Sequence[Rows], lengths: Mapping[str, int], most: int
) -> tuple[tuple[Node, ...], tuple[Dim, ...]]:
    """The sums of long rows, at most ``most`` of them, and the lengths whose loops come first, in their order."""

    def length(dims: Iterable[Dim]) -> int:
        return math.prod(length_in(dim, lengths) for dim in dims)

    limits = {True: min(OWN, most), False: most}
    sums = [each for each in found if each.node.op == "sum" and length(each.rows) <= limits[each.own]]
    long = [each for each in sums if length((*each.elements, *each.columns)) >= LONG]
    inside = {dim for each in long for dim in (*each.rows, *each.columns)}
    inside.update(dim for each in found if each not in sums for dim in each.elements)
    first = tuple(dict.fromkeys(dim for each in long for dim in each.elements if dim not in inside))
    taken = [each for each in sums if not inside.issuperset(each.elements) and not set(first).isdisjoint(each.elements)]
    columns = _columns_first(taken, found, length)
    dims = [sorted((*each.rows, *each.columns), key=lambda dim: dim not in columns) for each in taken]
    if sum(-(-length(each[:1]) // LANES) * length(each[1:]) for each in dims) > SLOTS:
        return (), ()
    return tuple(each.node for each in taken), (*first, *columns) if taken else ()


def _columns_first(
    taken: Sequence[Rows], found: Sequence[Rows], length: Callable[[Iterable[Dim]], int]
) -> tuple[Dim, ...]:
    """The columns that are more than rows, where nothing reduces them: threads side by side take these."""
    reduced = {dim for each in found for dim in each.elements}
    wide = [dim for each in taken if length(each.columns) > length(each.rows) for dim in each.columns]
    return tuple(dict.fromkeys(dim for dim in wide if dim not in reduced))
