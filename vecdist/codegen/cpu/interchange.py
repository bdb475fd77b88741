"""Loop interchange: an inner loop whose elements lie together for neighbouring rows has the rows of a strip innermost.

What it adds up for each row waits in a buffer; what it adds to an output of one element per column, in a register.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeGuard

import numpy as np

from vecdist.codegen.cpu.blocking import STRIP, is_interchanged, strip_mined
from vecdist.codegen.cpu.column_sums import SHORT, TOGETHER, copied, together
from vecdist.codegen.cpu.fission import Phase, Rows
from vecdist.codegen.cpu.mixed import Add, Item, Items
from vecdist.codegen.cpu.reductions import F4, F8, accumulator, beginning, is_narrow, narrow, narrowed
from vecdist.kernel.code import For, Set, let
from vecdist.kernel.expressions import Constant, Name, of_type
from vecdist.kernel.ir import Block, Loop, Output
from vecdist.kernel.statements import Accumulate, Assign, Load, Scatter, Total

COLUMNS = 64  # elements of each row that are added up in float32
TAKEN = {"sum", "max", "min"}  # what several columns are taken together for


def is_of_column(item: object, column: str, inner: Loop, rows: str) -> TypeGuard[Scatter]:
    """Whether a statement in an inner loop adds to an element of its column that is the same for all rows."""
    around = [block.index for block in inner.body.chain()]
    same = {Name(column), *map(Name, around[: around.index(rows)])}
    return isinstance(item, Scatter) and Name(column) in item.indices and same.issuperset(item.indices)


def narrow_columns(inner: Loop, loop: Loop, outputs: Sequence[Output]) -> list[Scatter]:
    """The scatters along the columns of a row that are added up in float32 over the rows of a strip."""
    if inner.sums(loop.body) or len(inner.dims()) > 1:
        return []
    own = [item for _, item in inner.body.items if is_of_column(item, inner.index, inner, loop.index)]
    return [item for item in own if outputs[item.output].dtype == np.float32]


def narrow_column(item: Scatter) -> str:
    """The name of what the rows of a strip add to a column."""
    return f"s_{item.value}_o{item.output}"


def expanded_sums(inner: Loop, loop: Loop, outputs: Sequence[Output]) -> dict[str, np.dtype]:
    """The buffers of sums that an inner loop does not finish in one run."""
    if not is_interchanged(inner, loop):
        return {narrow_column(item): np.dtype(np.float32) for item in narrow_columns(inner, loop, outputs)}
    sums = inner.sums(loop.body)
    wide = {item.name: accumulator(item) for item in sums}
    return wide | {narrow(item): item.dtype for item in sums if is_narrow(item)}


def interchanged(
    rows: Rows, phase: Phase, turns: For[Item], sums: Sequence[Accumulate], outputs: Sequence[Output]
) -> Items:
    """The turns of an inner loop with the rows of the strip innermost, and what the phase makes of its sums."""
    short, width = [item for item in sums if is_narrow(item)], max(1, COLUMNS // _elements(turns))
    loops = _columns(rows, phase, turns, sums, outputs)
    if short:
        starts = [rows.filled(narrow(item), F4(0)) for item in short]
        ends = [rows.filled(item.name, rows.at(item.name) + F8(rows.at(narrow(item)))) for item in short]
        inside = partial(_columns, rows, phase, sums=sums, outputs=outputs)
        loops = (strip_mined(turns, width, "first_column", "", lambda few: (*starts, *inside(few), *ends)),)
    last = [rows.expanded(Phase(phase.items), phase.items)] if phase.items else []
    return (*[_begun(rows, phase, item) for item in sums], *loops, *last)


def _elements(turns: For[Item]) -> int:
    """The elements of a column: those of the loops in it, as many as fill it where their number is not known."""
    first = turns.body[0]
    if isinstance(first, For):
        return (int(first.stop.value) if isinstance(first.stop, Constant) else COLUMNS) * _elements(first)
    return max(1, sum(isinstance(item, Accumulate) for item in turns.body))


def _begun(rows: Rows, phase: Phase, item: Accumulate) -> For[Item]:
    """A loop that fills the buffer of a reduction, whose start may be a value of the row."""
    if item.start is None:
        return rows.filled(item.name, beginning(item))
    return rows.expanded(replace(phase, items=()), (Set(rows.at(item.name), beginning(item)),))


def _columns(
    rows: Rows, phase: Phase, turns: For[Item], sums: Sequence[Accumulate], outputs: Sequence[Output]
) -> Items:
    """An interchanged loop: what it does for all rows, for some columns together, as long as there are so many."""
    first = turns.body[0]
    if isinstance(first, For):  # the only one that stands in it
        return (replace(turns, body=_columns(rows, phase, first, sums, outputs)),)
    if not _adds_alone(turns, sums):
        return (replace(turns, body=_column(rows, phase, turns, sums, outputs)),)
    if len(turns.body) > SHORT:
        return (replace(turns, body=_together(rows, phase, turns, sums, 1)),)
    left = (turns.stop - turns.start) % TOGETHER
    body = _together(rows, phase, turns, sums, TOGETHER)
    several = replace(turns, stop=turns.stop - left, step=Constant(TOGETHER), body=body)
    return several, replace(turns, start=turns.stop - left, body=_column(rows, phase, turns, sums, outputs))


def _adds_alone(turns: For[Item], sums: Sequence[Accumulate]) -> bool:
    """Whether a column adds to sums of rows, or is compared with extremes of them, and does nothing else."""
    added, names = [item for item in turns.body if isinstance(item, Accumulate)], {item.name for item in sums}
    if not all(isinstance(item, Assign | Load | Accumulate) for item in turns.body):
        return False
    return bool(added) and all(item.name in names and item.op in TAKEN for item in added)


def _together(rows: Rows, phase: Phase, turns: For[Item], sums: Sequence[Accumulate], count: int) -> Items:
    """So many columns in a straight line, for all rows: each sum is taken from its buffer once."""
    several = [copied(turns.body, turns.index, turn) if count > 1 else turns.body for turn in range(count)]
    body = tuple([item for one in several for item in one])
    taken = [let(_own(item), rows.at(_own(item))) for item in sums]
    kept = [Set(rows.at(_own(item)), Name(_own(item))) for item in sums]
    return (rows.expanded(replace(phase, items=()), (*taken, *_to_own(body, sums), *kept)),)


def _own(item: Accumulate) -> str:
    return narrow(item) if is_narrow(item) else item.name


def _to_own(body: Items, sums: Sequence[Accumulate]) -> Items:
    names = {item.name: _own(item) for item in sums}
    return tuple([replace(item, name=names[item.name]) if isinstance(item, Accumulate) else item for item in body])


def _column(
    rows: Rows, phase: Phase, turns: For[Item], sums: Sequence[Accumulate], outputs: Sequence[Output]
) -> Items:
    """One turn of an interchanged loop: all rows, for one column."""
    assert phase.loop is not None
    own_element = partial(is_of_column, column=turns.index, inner=phase.loop, rows=rows.loop.index)
    column, home = [item for item in turns.body if own_element(item)], Block(index=turns.index)
    own = {
        item: Accumulate(f"t{number}", item.value, home, outputs[item.output].dtype)
        for number, item in enumerate(dict.fromkeys(column))
    }
    body = tuple([line for item in turns.body for line in _in_column(rows, item, own, sums)])
    names = {item.name for item in sums}  # also of copies, where a loop inside is written out
    elsewhere = [item for item in turns.body if not (isinstance(item, Accumulate) and item.name in names)]
    return (
        *[let(item.name, F4(0) if is_narrow(item) else beginning(item)) for item in own.values()],
        *narrowed((rows.expanded(replace(phase, items=()), body),), elsewhere),
        *[replace(item, value=Name(total.name)) for item, total in own.items()],
    )


def _in_column(rows: Rows, item: Item, own: Mapping[Scatter, Accumulate], sums: Sequence[Accumulate]) -> Items:
    """A statement of an interchanged loop: sums are kept in registers for a column, in buffers for a row."""
    if isinstance(item, Scatter) and item in own:
        return (own[item],)
    names = {each.name for each in sums}
    if isinstance(item, Total) and item.accumulator in names:
        return (let(item.name, of_type(item.dtype, rows.at(item.accumulator))),)
    if isinstance(item, Accumulate) and item.name in names and item.op == "last":
        return (Set(rows.at(item.name), item.value),)
    if isinstance(item, Accumulate) and item.name in names:  # one of several where a loop inside is written out
        name = narrow(item) if is_narrow(item) else item.name
        return let(name, rows.at(name)), replace(item, name=name), Set(rows.at(name), Name(name))
    return (item,)


def _all_rows(rows: Rows, phase: Phase, columns: For[Item], body: Items) -> Items:
    """What all rows add to the columns of a tile, a few of them together where they do nothing else."""
    found = rows.expanded(phase, body)
    return together(rows, columns) if found.body == (columns,) else (found,)


def tiled(rows: Rows, phase: Phase, turns: For[Item], columns: Sequence[Scatter]) -> For[Item]:
    """The turns of an inner loop in tiles of columns, all rows for each, with sums of columns in float32."""
    place = Name(turns.index) - Name("first_column")
    at = {item: Name(f"b_{narrow_column(item)}")[place] for item in columns}
    body = [Add(at[item], item.value) if isinstance(item, Scatter) and item in at else item for item in turns.body]

    def tile(few: For[Item]) -> Items:
        return (
            replace(few, body=tuple([Set(place, F4(0)) for place in at.values()])),
            *_all_rows(rows, phase, few, narrowed((few,), turns.body)),
            replace(few, body=tuple([replace(item, value=place) for item, place in at.items()])),
        )

    return strip_mined(replace(turns, body=tuple(body)), STRIP, "first_column", "last_column", tile)
