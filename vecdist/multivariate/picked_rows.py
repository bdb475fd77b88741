"""Parameters whose events are picked of a table that has fewer: what holds of each of those is asked once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

from vecdist.graph.node import Node, const, where
from vecdist.graph.shapes import Shape
from vecdist.lazy.views import index_view
from vecdist.primitives.indexing import gather


@final
@dataclass(frozen=True)
class PickedRows:
    """A table of events of so many axes, and how they are picked: ``there`` says where an index is one of it."""

    axes: int
    table: Node
    indices: tuple[Node, ...]
    picked: Shape
    start: int
    there: tuple[Node, ...]

    def of(self, condition: Node) -> Node:
        """Whether a condition of the events of the table holds for each that is picked; there is none, where not."""
        found = gather(condition, self.indices, self.picked, self.start)
        for there in self.there:
            found = where(index_view(there, (..., *(0,) * self.axes)), found, const(False, bool))
        return found


def picked_rows(x: Node, axes: int) -> PickedRows | None:
    """Of events with so many axes that are picked, where they are more than the table has."""
    there, node = list[Node](), x.args[0] if x.op == "checked" else x
    while _is_missing(node, axes):
        there.append(node.args[0])
        node = node.args[1]
    if node.op != "gather" or not axes:
        return None
    (table, *indices), (start, count) = node.args, node.attrs
    after = table.ndim - start - count
    picked, rows = node.shape[start : node.ndim - after], table.shape[start : start + count]
    if after < axes or math.prod(map(int, picked)) <= math.prod(map(int, rows)):
        return None
    return PickedRows(axes, table, tuple(indices), picked, start, tuple(there))


def _is_missing(node: Node, axes: int) -> bool:
    """Whether some events are NaN, all of each: those whose index is out of range."""
    if node.op != "where" or node.args[2].op != "const" or not math.isnan(node.args[2].value):
        return False
    there = node.args[0]
    return there.ndim >= axes and all(dim == 1 for dim in there.shape[there.ndim - axes :])
