"""How loop nests run where one thread does everything: in order, as they stand, with sums in registers.

There are no blocks to share and no partial results to keep.  What later loops read of earlier ones lies in memory of
the function itself, for all lengths are known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from vecdist.codegen.statements import PARTIAL, Item, Items, start, store_offset, type_name
from vecdist.kernel.code import For, Set, let, replaced
from vecdist.kernel.expressions import Constant, Expr, Name, of_type
from vecdist.kernel.ir import Block, Kernel
from vecdist.kernel.statements import Scatter

PLACE = Name("place")


def planned(kernel: Kernel) -> Items:
    """Everything in order."""
    summed = [number for number, output in enumerate(kernel.outputs) if output.summed]
    items: list[Item] = [_each(kernel, number, total(kernel, number), zero(kernel, number)) for number in summed]
    for level in kernel.root.levels:
        items += _level(kernel.root, level)
        items += [_rounded(kernel, number) for number in kernel.finished(level) if is_widened(kernel, number)]
    return replaced(items, lambda item: (_added(item, kernel),) if isinstance(item, Scatter) else None)


def _level(block: Block, level: int) -> Iterator[Item]:
    """The statements of a level, then its loops."""
    yield from block.statements(level)
    for loop in block.loops(level):
        yield from (let(item.name, start(item)) for item in loop.sums(block))
        inner = [item for at in loop.body.levels for item in _level(loop.body, at)]
        yield For(loop.index, loop.length, tuple(inner))


def element_count(kernel: Kernel, number: int) -> int:
    """The number of elements of an output."""
    fixed = dict(kernel.fixed)
    return math.prod(fixed[dim] if isinstance(dim, str) else dim for dim in kernel.outputs[number].shape)


def wide(dtype: np.dtype) -> np.dtype:
    """The dtype in which sums of a dtype are added up."""
    return np.dtype(PARTIAL[dtype.kind])


def is_widened(kernel: Kernel, number: int) -> bool:
    """Whether a summed output is added up beside it, and rounded when it is whole."""
    output = kernel.outputs[number]
    return output.summed and wide(output.dtype) != output.dtype


def total(kernel: Kernel, number: int) -> Name:
    """The array in which a summed output is added up."""
    return Name(f"q{number}" if is_widened(kernel, number) else f"o{number}")


def zero(kernel: Kernel, number: int) -> Expr:
    return Name(type_name(wide(kernel.outputs[number].dtype)))(0)


def _each(kernel: Kernel, number: int, array: Name, value: Expr) -> For[Item]:
    """Give each element of an array, which is as long as an output, a value."""
    return For(PLACE.id, Constant(element_count(kernel, number)), (Set(array[PLACE], value),))


def _rounded(kernel: Kernel, number: int) -> For[Item]:
    """A sum in the dtype of its output."""
    whole = total(kernel, number)[PLACE]
    return _each(kernel, number, Name(f"o{number}"), of_type(kernel.outputs[number].dtype, whole))


def _added(item: Scatter, kernel: Kernel) -> Set:
    """An element of a summed output with what is added to it."""
    element = total(kernel, item.output)[store_offset(item, kernel)]
    return Set(element, element + Name(type_name(wide(kernel.outputs[item.output].dtype)))(item.value))
