"""Running results as loop nests: rows side by side, each in order along its axis."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vecdist.graph.node import Node
from vecdist.kernel.context import Context
from vecdist.kernel.expressions import Name, length
from vecdist.kernel.statements import Accumulate, Store, Total
from vecdist.primitives.scans import SCANS, accumulated
from vecdist.primitives.structure import view

if TYPE_CHECKING:
    from vecdist.kernel.lower import _Lowering


def output(lowering: _Lowering, number: int, node: Node) -> int:
    """Fill an output with running results: rows side by side, each in order along the axis; the level is returned.

    There is a loop around the one along the axis in any case, for its results begin anew in each row.
    """
    (x, *_), ((axis,), backwards) = node.args, node.attrs
    rows = [place for place, dim in enumerate(x.shape) if dim != 1 and place != x.ndim + axis]
    places = {place: at for at, place in enumerate(rows)} | {x.ndim + axis: max(1, len(rows))}
    shape = (*([x.shape[place] for place in rows] or ["1"]), x.shape[axis])
    moved = [view(arg, [(places.get(place), 0, 1) for place in range(x.ndim)], shape) for arg in node.args]
    context, level = lowering.over_axes(shape, moved, in_order=True)
    *outer, row, along = (index for index in context.indices if index is not None)
    if backwards:
        along = replace(along, value=length(shape[-1]) - 1 - along.value)
    indices = (*outer, row, along)
    values = [lowering.value(each, Context(indices)) for each in moved]
    at = max([value.level for value in values if value.block is along.block], default=0)
    running, result = lowering.name("a"), lowering.name("v")
    taken = [value.of for value in values]
    along.block.put(at, Accumulate(running, taken[0], row.block, accumulated(node), SCANS[node.op], *taken[1:]))
    along.block.put(at, Total(result, running, node.dtype))
    where = tuple(indices[places[place]].value for place in sorted(places))
    along.block.put(at, Store(number, where, Name(result)))
    return level
