"""Sums of columns, to which loops over rows add: some rows at a time, one after another for each column.

A sum is then read and kept once for all of these.  Where a nest does nothing else, a thread goes through the rows of a
whole stripe, for which sums in float32 begin less often than for those of a block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vecdist.codegen.cpu.fission import Rows, phases
from vecdist.codegen.cpu.mixed import Add, Item, Items
from vecdist.codegen.routines import is_routine
from vecdist.kernel.code import For
from vecdist.kernel.expressions import Constant, Element, Expr, Name, substituted
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Assign, Load, Scatter, renamed

TOGETHER = 4  # rows
SHORT = 8  # statements of an element, at most, of which as many rows are in registers
STRIP = 64  # rows whose elements are added up in float32


def adds_columns(kernel: Kernel, loop: Loop) -> bool:
    """Whether a loop over rows does nothing but add what stands in its columns to sums of these, shared by all rows."""
    inner = loop.body.every_loop()
    if len(inner) != 1 or len(phases(loop)) != 1 or inner[0].sequential or inner[0].size or loop.sums(kernel.root):
        return False
    items, column = [item for _, item in inner[0].body.items], (Name(inner[0].index),)
    added = [item for item in items if isinstance(item, Scatter)]
    plain = all(isinstance(item, Assign | Load | Scatter) and not _is_slow(item) for item in items)
    return plain and bool(added) and all(item.indices == column and item.output in kernel.shared_sums for item in added)


def _is_slow(item: Item) -> bool:
    return isinstance(item, Assign) and is_routine(item.op)


def together(rows: Rows, columns: For[Item]) -> Items:
    """A loop over rows with one over their columns inside, for which a few rows are taken together, if it is short."""
    loop, body = rows.loop, columns.body
    if len(body) > SHORT or not all(isinstance(item, Assign | Load | Scatter | Add) for item in body):
        return (rows.over((columns,)),)
    left = (loop.stop - loop.start) % TOGETHER
    several = tuple([_of_row(item, body, loop.index, row) for row in range(TOGETHER) for item in body])
    whole = replace(loop, stop=loop.stop - left, step=Constant(TOGETHER), body=(replace(columns, body=several),))
    return whole, replace(loop, start=loop.stop - left, body=(columns,))


def _of_row(item: Item, body: Items, index: str, row: int) -> Item:
    """A statement for the row so many behind, with names of its own."""
    own = {each.name: Name(f"{each.name}_{row}") for each in body if isinstance(each, Assign | Load)}
    names: Mapping[str, Expr] = {index: Name(index) + row if row else Name(index), **own}
    if isinstance(item, Add):
        target, value = substituted(item.target, names), substituted(item.value, names)
        assert isinstance(target, Element)
        return Add(target, value)
    assert isinstance(item, Assign | Load | Scatter)
    return renamed(item, names)
