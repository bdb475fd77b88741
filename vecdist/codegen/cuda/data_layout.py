"""Data layout: arrays that loops leave to each other lie along their long axis, not in the order of their axes.

What each of many rows has a few of, as the hidden values of a net for each of its data, is written and read by threads
that stand beside each other along the rows.  With the few last, each would have sectors of memory for itself; with the
rows last, neighbours in memory are those of threads (from an array of structures to a structure of arrays).  Nests that
do nothing but fill such arrays have their loops in the order of the axes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import final

from vecdist.codegen.collapsing import chain, is_plain
from vecdist.codegen.cuda.grid import elements
from vecdist.graph.shapes import Shape
from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import Name
from vecdist.kernel.ir import Block, Cases, Kernel, Loop, Output
from vecdist.kernel.statements import Load, Statement, Store, Temp

SHORT, LONG = 32, 64  # elements of what each row has a few of, and rows that are worth it
SECTOR = 32  # bytes that come from memory together

Order = tuple[int, ...]  # of axes that vary, as an array has them, by what they were


def laid_out(kernel: Kernel, lengths: Mapping[str, int]) -> Kernel:
    """A kernel whose arrays between loops lie along long axes; itself where they do so, or none are worth it."""
    in_order = {number for _, loop in kernel.nests() for number in _in_steps(loop)}
    found: dict[int | None, Order] = {
        number: order
        for number, output in enumerate(kernel.outputs)
        if number not in in_order and (order := _order(output, lengths))
    }
    if not found:
        return kernel
    for _, loop in kernel.nests():
        found |= _beside(loop, kernel, found, in_order)
    outputs = [_moved(output, found.get(number)) for number, output in enumerate(kernel.outputs)]
    return replace(kernel, root=_LaidOut(found).block(kernel.root), outputs=tuple(outputs))


def _order(output: Output, lengths: Mapping[str, int]) -> Order | None:
    """The axes that vary, with the last of the long ones behind the short ones, and others before it; or none."""
    sizes = [elements((dim,), lengths) for dim in _varying(output)]
    last = len(sizes) - 1
    while last >= 0 and sizes[last] <= SHORT:
        last -= 1
    own = math.prod(sizes[last + 1 :]) * output.dtype.itemsize
    several = last > 0 and math.prod(sizes[:last]) > 1 and sizes[last] >= LONG
    if not _may_move(output) or not several or own <= SECTOR:
        return None
    return (*range(last), *range(last + 1, len(sizes)), last)


def _beside(
    loop: Loop, kernel: Kernel, found: Mapping[int | None, Order], in_order: set[int]
) -> dict[int | None, Order]:
    """What a nest fills beside arrays of the same axes lies as these do."""
    stored = {item.output for item in loop.body.walk() if isinstance(item, Store)}
    orders = {_varying(kernel.outputs[number]): found[number] for number in sorted(stored & found.keys())}
    others = {number: kernel.outputs[number] for number in sorted(stored - found.keys() - in_order)}
    alike = {number: orders.get(_varying(each)) for number, each in others.items() if _may_move(each)}
    return {number: order for number, order in alike.items() if order}


def _varying(output: Output) -> Shape:
    return tuple([dim for dim in output.shape if dim != 1])


def _may_move(output: Output) -> bool:
    """Whether axes of an array may have any order: partial results have that in which their elements are read."""
    in_pieces = any(isinstance(dim, int) and dim > 1 for dim in output.shape)
    return output.temporary and not (output.summed or output.kept or in_pieces)


def _in_steps(loop: Loop) -> set[int]:
    """The arrays that loops in order read or write."""
    if not loop.sequential:
        return {number for each in loop.body.every_loop() for number in _in_steps(each)}
    return {number for item in loop.body.walk() if (number := _array(item)) is not None}


def _array(item: Statement | Loop) -> int | None:
    """The output that a statement stores to, or loads from."""
    if isinstance(item, Store):
        return item.output
    return item.source.output if isinstance(item, Load) and isinstance(item.source, Temp) else None


def _moved(output: Output, order: Order | None) -> Output:
    if order is None:
        return output
    varying = iter(_in_order(_varying(output), order))
    return replace(output, shape=tuple([dim if dim == 1 else next(varying) for dim in output.shape]))


def _in_order(found: Sequence, order: Order) -> tuple:
    return tuple([found[axis] for axis in order])


@final
class _LaidOut(Copy):
    """The loop nests of a kernel again, where some arrays have their axes in another order."""

    def __init__(self, orders: Mapping[int | None, Order]) -> None:
        super().__init__()
        self.orders = orders

    def copied(self, item: Statement | Cases, new: Block) -> Statement | Cases:
        if isinstance(item, Load | Store) and (number := _array(item)) in self.orders:
            item = replace(item, indices=_in_order(item.indices, self.orders[number]))
        return super().copied(item, new)

    def put(self, new: Block, level: int, loop: Loop) -> None:
        loops, around = chain(loop), new
        order = self._along_axes(loop, loops) if len(loops) > 1 and is_plain(loop) else loops
        if order == loops:
            super().put(new, level, loop)
            return
        for place, each in enumerate(order):
            body = Block(around, each.index)
            around.put(0 if place else level, replace(each, body=body))
            around = body
        self.blocks[loops[-1].body] = around
        for at, item in loops[-1].body.items:
            around.put(at, self.loop(item, around) if isinstance(item, Loop) else self.copied(item, around))

    def _along_axes(self, loop: Loop, loops: Sequence[Loop]) -> Sequence[Loop]:
        """Loops that stand in each other alone, in the order of the axes of all arrays that they fill."""
        stores = [item for item in loop.body.walk() if isinstance(item, Store)]
        if not all(item.output in self.orders for item in stores):
            return loops
        wanted = {_in_order(item.indices, self.orders[item.output]) for item in stores}
        places = {Name(each.index): each for each in loops}
        found = [[places[index] for index in indices if index in places] for indices in wanted]
        return found[0] if len(found) == 1 and len(found[0]) == len(loops) else loops
