"""Loop exchange: loops in rows that share what these read, as those of chains over a design, go through a strip each.

Such a loop comes outside of a strip of rows, whose elements are read from memory once and wait in a cache for all of
its turns.  What a turn adds to an element that all rows share, it adds up for a strip first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from vecdist.codegen.cpu.mixed import Item, Items, Pack, Product
from vecdist.codegen.statements import PARTIAL, type_name
from vecdist.kernel.code import Set, replaced, walk
from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import ZERO, Constant, Expr, Name, names
from vecdist.kernel.ir import Block, Loop, Output
from vecdist.kernel.statements import Accumulate, Load, Scatter, Statement, Total

LINE = 64  # bytes of a cache line, and of the widest vectors


def is_of_all(item: Scatter, inner: Loop, rows: Loop) -> bool:
    """Whether a turn of an inner loop adds something of each row to one element."""
    return {inner.index, *(block.index for block in rows.body.chain()[:-1])}.issuperset(names(*item.indices))


def exchanged(inner: Loop, rows: Loop, again: Sequence[Statement], outputs: Sequence[Output]) -> Loop:
    """An inner loop with the loop over rows inside, and what its turns add up for all rows behind that.

    What is cheaper to compute ``again`` than to keep comes first in it.
    """
    return _Exchange(inner, rows, again, outputs).loop_outside()


def packed(items: Items, inner: Loop, most: Expr) -> tuple[Items, Items]:
    """What copies the matrices that all turns of a loop multiply, and the items of a turn, which read the copies.

    Each has so many rows at ``most``.

    Vectors read whole lines of a cache, and rows, an odd number of lines apart, do not drive each other out.
    """
    copies: dict[tuple[Load, Expr], Pack] = {}

    def rule(item: Item) -> Items | None:
        if not isinstance(item, Product) or not isinstance(item.matrix, Load):
            return None
        if inner.index in names(*item.matrix.indices):
            return None
        key = replace(item.matrix, name=""), item.columns
        if key not in copies:
            line = Constant(LINE // item.matrix.dtype.itemsize)
            width = ((item.columns + line - 1) // line | 1) * line
            target = Name(f"tile{len(copies)}_{inner.index}")[ZERO]
            copies[key] = Pack(item.matrix, item.step, item.rows, item.columns, target, width, most * width)
        copy = copies[key]
        return (replace(item, matrix=copy.target, step=copy.width),)

    turn = replaced(items, rule)
    return tuple(copies.values()), turn


def tiles(items: Items) -> Iterator[Set]:
    """What makes room for the copies of blocks."""
    copies = {item.target.array: item for item in walk(items) if isinstance(item, Pack)}
    for array, item in copies.items():
        assert isinstance(array, Name)
        yield Set(array, Name("empty")(item.room, Name(type_name(item.matrix.dtype))))


@final
class _Exchange(Copy):
    def __init__(self, inner: Loop, rows: Loop, again: Sequence[Statement], outputs: Sequence[Output]) -> None:
        super().__init__()
        self.inner, self.rows, self.again, self.outputs = inner, rows, again, outputs
        self.outside = Block(rows.body.parent, inner.index)
        self.sums: list[tuple[Accumulate, Scatter]] = []

    def loop_outside(self) -> Loop:
        inside = self.block(self.inner.body, self.outside)
        inside.index = self.rows.index
        inside.items[:0] = [(0, item) for item in self.again]
        self.outside.put(0, replace(self.rows, body=inside))
        for item, scatter in self.sums:
            total = Total(f"{item.name}_all", item.name, np.dtype(PARTIAL[item.dtype.kind]))
            self.outside.put(1, total)
            self.outside.put(1, Scatter(scatter.output, scatter.indices, Name(total.name)))
        return replace(self.inner, body=self.outside)

    def at_home(self, item: Statement) -> Statement:
        if isinstance(item, Accumulate) and item.home not in self.blocks:
            return item
        if isinstance(item, Scatter) and is_of_all(item, self.inner, self.rows):
            dtype = self.outputs[item.output].dtype
            found = Accumulate(f"r{len(self.sums)}_{self.inner.index}", item.value, self.outside, dtype)
            self.sums.append((found, item))
            return found
        return super().at_home(item)
