"""Sums that each row has of its own: a lane adds up what it meets in registers, and the lanes of a row meet at its end.

The gradient of many chains in what their elements share is one: the elements of a chain add to its columns, again and
again.  Lanes take elements; each has all columns, which are few and known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import WARP, Grid, statements
from vecdist.codegen.cuda.privatisation import PLACE, REGISTERS, WHOLE, scatters
from vecdist.codegen.cuda.reductions import HOP, in_turn
from vecdist.codegen.statements import Item, Items
from vecdist.kernel.code import Code, Do, For, If, Set, let, replaced
from vecdist.kernel.expressions import Constant, Element, Name
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Scatter

LESS = 1.25  # times less to compute, from which on it pays that lanes have few registers left


def is_less(before: Kernel, after: Kernel, lengths: Mapping[str, int]) -> bool:
    """Whether a kernel has much less to compute than another, and lanes have room for all that elements add to.

    It never has where blocks take a chain each, or a strip of all: what they add up is at hand.
    """
    grid = Grid(after)
    kept = [own for _, rows in after.shared_nests() for own in sums_of_rows(rows, grid)]
    if before.by_block or before.strips or len(grid.atomic_outputs) > len(Grid(before).atomic_outputs) + len(kept):
        return False
    return LESS * _work(after, lengths) < _work(before, lengths) and all(_has_one_order(own, after) for own in kept)


def _has_one_order(own: OwnSums, kernel: Kernel) -> bool:
    """Whether elements are added to once beside what a row has: of two numbers the sum is the same in either order."""
    others = [item for _, rows in kernel.nests() if rows is not own.rows for item in scatters(rows)]
    return sum(item.output == own.number for item in others) <= 1


def _work(kernel: Kernel, lengths: Mapping[str, int]) -> int:
    """The statements of all turns of all nests."""
    return sum(loop.turns(lengths) * statements(loop.body, lengths) for _, loop in kernel.shared_nests())


@final
@dataclass(frozen=True)
class OwnSums:
    """What one output has of a row: so many sums along its last axes, which inner loops of a lane go through."""

    number: int
    rows: Loop
    lengths: tuple[int, ...]
    word: str

    @property
    def count(self) -> int:
        return math.prod(self.lengths)

    def place(self, item: Scatter) -> Element:
        """The register of the element that a statement adds to."""
        place, *others = item.indices[1:] or (Constant(0),)
        for index, length in zip(others, self.lengths[1:], strict=True):
            place = place * length + index
        return self.register[place]

    @property
    def register(self) -> Name:
        return Name(f"own_o{self.number}")

    def emptied(self) -> Iterator[Code]:
        yield cuda.local_array(self.register.id, self.count, self.word)
        yield For("place", Constant(self.count), (Set(self.register[PLACE], Name(self.word)(0)),))

    def flushed(self) -> For[Item]:
        """What the lanes of a row have found added up, and added to the sums of the output."""
        target = cuda.SUMS, Name(f"at_o{self.number}") + (Name(self.rows.index) * self.count + PLACE)
        meet = in_turn(cuda.lowest(cuda.LANES, WARP), let("whole", WHOLE + cuda.shuffled(cuda.MASK, WHOLE, HOP)))
        left = If((cuda.LANE % WARP).equals(0), (Do(cuda.atomic_add(*target, WHOLE)),))
        body: Items = let("whole", cuda.F8(self.register[PLACE])), *meet, left
        return For("place", Constant(self.count), body)


def sums_of_rows(rows: Loop, grid: Grid) -> list[OwnSums]:
    """The outputs of which each row has sums of its own that a lane has room for."""
    items: dict[int, list[Scatter]] = {}
    for item in scatters(rows):
        items.setdefault(item.output, []).append(item)
    found = [_own(number, every, rows, grid) for number, every in items.items() if number in grid.atomic_outputs]
    return [each for each in found if each is not None]


def _own(number: int, items: list[Scatter], rows: Loop, grid: Grid) -> OwnSums | None:
    around = [_around(item, rows, grid) for item in items]
    for item, loops in zip(items, around, strict=True):
        inner = {Name(loop.index) for loop in loops[1:]}
        if item.indices[:1] != (Name(rows.index),) or not inner.issuperset(item.indices[1:]):
            return None
    output = grid.kernel.outputs[number]
    few = all(_has_few(item, loops, grid) for item, loops in zip(items, around, strict=True))
    dims = [str(dim) for dim in output.shape if dim != 1][1:]
    lengths = tuple([int(grid.fixed.get(dim, dim if dim.isdigit() else 0)) for dim in dims])
    own = OwnSums(number, rows, lengths, "f4" if few and output.dtype == np.float32 else "f8")
    return own if 0 < own.count <= REGISTERS else None


def _around(item: Scatter, rows: Loop, grid: Grid) -> list[Loop]:
    """The loops around a statement in a row, from that on which lanes share; none where it stands in no such loop."""
    for shared in grid.shared(rows.body):
        if any(each is item for each in shared.body.walk()):
            below = [each for each in shared.body.walk() if isinstance(each, Loop)]
            return [shared, *(loop for loop in below if any(each is item for each in loop.body.walk()))]
    return []


def _has_few(item: Scatter, loops: list[Loop], grid: Grid) -> bool:
    """Whether a lane adds so few numbers to each element that it may in float32."""
    inside = {Name(loop.index) for loop in loops[1:]}
    return all(loop.index in grid.kernel.brief for loop in loops[:1]) and inside.issubset(item.indices)


def in_registers(row: Items, own: list[OwnSums]) -> Items:
    """The body of a loop over rows whose sums are in registers until its end."""
    keeper = {each.number: each for each in own}

    def rule(item: Item) -> Items | None:
        if not (isinstance(item, Scatter) and item.output in keeper):
            return None
        place = keeper[item.output].place(item)
        return (Set(place, place + Name(keeper[item.output].word)(item.value)),)

    starts: list[Item] = [item for each in own for item in each.emptied()]
    ends: list[Item] = [each.flushed() for each in own]
    return (*starts, *replaced(row, rule), *ends)
