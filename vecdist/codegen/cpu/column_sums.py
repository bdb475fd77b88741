"""Sums of columns, to which loops over rows add: a few rows are taken together, one after another for each column.

A sum is then read and kept once for all of these.  Where a nest does nothing else, a thread goes through the rows of a
whole stripe, for which sums in float32 begin less often than for those of a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vecdist.codegen.cpu.fission import Rows, phases
from vecdist.codegen.cpu.mixed import Add, Item, Items
from vecdist.codegen.routines import is_routine
from vecdist.kernel.code import For
from vecdist.kernel.expressions import Constant, Element, Name, substituted
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Assign, Load, Scatter, Statement, renamed

TOGETHER = 4  # turns of a loop that are taken together, so that a sum is read and kept once for all of them
SHORT = 8  # statements of a turn, at most, where that pays
STRIP = 64  # rows whose elements are added up in float32


def adds_columns(kernel: Kernel, loop: Loop) -> bool:
    """Whether a loop over rows does nothing but add what stands in its columns to sums of these, shared by all rows."""
    inner = loop.body.every_loop()
    if len(inner) != 1 or inner[0].sequential or inner[0].size or loop.sums(kernel.root):
        return False
    items, column = [item for _, item in inner[0].body.items], (Name(inner[0].index),)
    added = [item for item in items if isinstance(item, Scatter)]
    own = bool(added) and all(item.indices == column and item.output in kernel.shared_sums for item in added)
    plain = all(isinstance(item, Assign | Load | Scatter) for item in items)
    quick = not any(isinstance(item, Assign) and is_routine(item.op) for item in items)
    return own and plain and quick and len(phases(loop)) == 1


def together(rows: Rows, columns: For[Item]) -> Items:
    """A loop over rows with one over their columns inside, for which a few rows are taken together, if it is short."""
    loop, body = rows.loop, columns.body
    if len(body) > SHORT or not all(isinstance(item, Assign | Load | Scatter | Add) for item in body):
        return (rows.over((columns,)),)
    left = (loop.stop - loop.start) % TOGETHER
    several = tuple([item for row in range(TOGETHER) for item in copied(body, loop.index, row)])
    whole = replace(loop, stop=loop.stop - left, step=Constant(TOGETHER), body=(replace(columns, body=several),))
    return whole, replace(loop, start=loop.stop - left, body=(columns,))


def copied(body: Items, index: str, turn: int) -> Iterator[Item]:
    """The statements of the turn so many behind, with names of their own."""
    own = {item.name: Name(f"{item.name}_{turn}") for item in body if isinstance(item, Assign | Load)}
    names = {index: Name(index) + turn if turn else Name(index), **own}
    for item in body:
        if isinstance(item, Statement):
            yield renamed(item, names)
        elif isinstance(item, Add):
            target = substituted(item.target, names)
            assert isinstance(target, Element)
            yield Add(target, substituted(item.value, names))
