"""Vector stores of short rows: a thread that has a row for itself stores neighbours in one instruction.

Its results wait in registers until the loop that they are of is done.
"""

from __future__ import annotations

import math

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import Grid
from vecdist.codegen.cuda.vectorisation import VECTOR, WORD
from vecdist.codegen.statements import Item, Items, store_offset
from vecdist.kernel.code import Do, For, If, Set, replaced
from vecdist.kernel.expressions import ZERO, Constant, Expr, Name, word
from vecdist.kernel.ir import Loop
from vecdist.kernel.statements import Store, Temp, array_name

MOST = 16  # elements of a row that wait
TURN = Name("turn")


def stored_together(row: Items, rows: Loop, grid: Grid) -> Items:
    """A row with vector stores behind its loops, where one thread has all of it and its length is known."""
    if grid.lanes.get(rows) != 1:
        return row
    inner = {f"turn_{loop.index}": loop for loop in rows.body.every_loop() if not loop.sequential}

    def rule(item: Item) -> Items | None:
        if not (isinstance(item, For) and item.index in inner):
            return None
        loop = inner[item.index]
        waiting = [each for each in item.body if isinstance(each, Store) and _together(each, loop, grid) > 1]
        if not waiting or grid.turns(loop, rows) > MOST:
            return None
        own = {each: Name(f"s{number}_{loop.index}") for number, each in enumerate(waiting)}
        turn = Name(item.index)
        kept = tuple([Set(own[each][turn], each.value) if each in own else each for each in item.body])
        arrays = [_registers(each, own[each], loop, grid) for each in waiting]
        stores = [_stores(each, own[each], loop, grid) for each in waiting]
        return *arrays, For(item.index, item.stop, kept, item.start, item.step), *stores

    return replaced(row, rule)


def _together(item: Store, loop: Loop, grid: Grid) -> int:
    """How many elements that a loop stores lie side by side, in whole rows, and fit in one instruction."""
    output = grid.kernel.outputs[item.output]
    size = output.dtype.itemsize
    if item.indices[-1:] != (Name(loop.index),) or output.shape[-1] != loop.dim or size < WORD:
        return 1
    return math.gcd(grid.fixed[loop.dim], VECTOR // size)


def _registers(item: Store, name: Name, loop: Loop, grid: Grid) -> Set:
    return cuda.local_array(name.id, grid.fixed[loop.dim], cuda.memory_type(grid.kernel.outputs[item.output].dtype))


def _stores(item: Store, name: Name, loop: Loop, grid: Grid) -> If[Item]:
    """What waits is stored: neighbours together, if their array is aligned for that."""
    array, count = Name(array_name(Temp(item.output))), _together(item, loop, grid)
    place = store_offset(item.mapped(lambda index: TURN if index == Name(loop.index) else index), grid.kernel) or ZERO
    values: list[Expr] = [name[TURN + beside] for beside in range(count)]
    few = Do(word(f"store_{count}")(array, place, *values))
    one = Set(array[place], name[TURN])
    length = Constant(grid.fixed[loop.dim])
    return If(
        word("aligned")(array),
        (For("turn", length, (few,), ZERO, Constant(count)),),
        (For("turn", length, (one,)),),
    )
