"""Privatisation: sums of a nest that each thread of a block has for itself, in slots of shared memory, or in registers.

Several statements of a nest may add to one output.  What is made empty, flushed and added up belongs to the output, so
that each sum is counted once, however many statements add to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.statements import Item, Items, element_count, varying
from vecdist.graph.memo import cached_property
from vecdist.kernel.code import Code, For, If, Set, let, replaced
from vecdist.kernel.expressions import ONE, ZERO, Constant, Element, Expr, Name, joined
from vecdist.kernel.ir import Kernel, Loop, Output
from vecdist.kernel.statements import Scatter

REGISTERS = 40  # sums of one output that a thread may hold in registers
FLUSH = 16  # rows whose float32 parts are added up in float32
SLOTS, SLOT_BASE, SHIFT, TURNS = map(Name, ("slots", "slot_base", "shift", "turns"))
ELEMENT, OTHER, PLACE, ROW, WHOLE = map(Name, ("element", "other", "place", "row", "whole"))


def privatisable(kernel: Kernel) -> dict[Scatter, Loop]:
    """The scatters of a nest whose indices are inner loops, with the loop over rows: each thread meets them again.

    So it does what lies at known places, where there are inner loops.
    """
    found = {}
    for _, loop in kernel.nests():
        inner = {Name(item.index) for item in loop.body.walk() if isinstance(item, Loop)}
        for item in scatters(loop) if inner else ():
            places = {index for index in item.indices if not isinstance(index, Constant)}
            found |= {item: loop} if item.indices and places <= inner else {}
    return found


def scatters(loop: Loop) -> list[Scatter]:
    return [item for item in loop.body.walk() if isinstance(item, Scatter)]


def private_sums(kernel: Kernel, lanes: Mapping[Loop, int], threads: int) -> list[Private]:
    """What each of the ``threads`` of a block adds up for itself, in groups of ``lanes`` where these are known."""
    items: dict[tuple[int, Loop], list[Scatter]] = {}
    known = privatisable(kernel)
    others = {(item.output, loop) for _, loop in kernel.nests() for item in scatters(loop) if item not in known}
    for item, loop in known.items():
        if (item.output, loop) not in others and item.output not in kernel.far:
            items.setdefault((item.output, loop), []).append(item)
    return [
        Private(output, loop, tuple(found), kernel.outputs[output], kernel, lanes.get(loop), threads)
        for (output, loop), found in items.items()
    ]


@final
@dataclass(frozen=True, eq=False)
class Private:
    """The sums of one output in one nest: what each thread has found for the elements that it meets."""

    number: int
    loop: Loop
    items: tuple[Scatter, ...]
    output: Output
    kernel: Kernel
    lanes: int | None
    threads: int

    @cached_property
    def dims(self) -> list[Expr]:
        return varying(self.output.shape)

    @cached_property
    def strips(self) -> dict[str, int]:
        """The widths of strips, of which a block takes one."""
        inner = {each.dim for each in self.loop.body.every_loop()}
        return {dim: width for dim, width in self.kernel.strips if dim in inner}

    @cached_property
    def own(self) -> list[Expr]:
        """The lengths of the axes, of which a block may take a strip."""
        return [Constant(self.strips[str(dim)]) if str(dim) in self.strips else dim for dim in self.dims]

    @cached_property
    def axis(self) -> int:
        """The axis of which a lane meets but its own part: every statement shares it among the lanes; -1 for none."""
        shared = {Name(each.index) for each in self.loop.body.every_loop() if not each.sequential}
        found = (axis for axis in range(len(self.dims)) if self._indices(axis) <= shared)
        return next(found, -1)

    @property
    def split(self) -> bool:
        return self.axis >= 0

    def _indices(self, axis: int) -> set[Expr]:
        """What an axis is indexed with."""
        return {item.indices[axis] for item in self.items}

    def _parted(self, each: Sequence[Expr]) -> tuple[Expr, list[Expr]]:
        """What stands for the axis that lanes share, or else the first one, and for the others."""
        axis = max(self.axis, 0)
        return each[axis], [*each[:axis], *each[axis + 1 :]]

    @cached_property
    def registers(self) -> int:
        """The registers of a thread for the elements that its lane meets; 0 where there are none for them.

        Their places must be known to the compiler: lengths are, and no lane begins where the others do not.
        """
        first, rest = self._parted(self.dims)
        fixed = {**dict(self.kernel.fixed), **self.strips}
        lengths = [int(fixed.get(str(dim), 0)) for dim in (first, *rest)]
        alike = self._indices(0).isdisjoint(Name(each.index) for each in self.loop.body.every_loop())
        if self.lanes is None or not (self.split or alike):
            return 0
        own = -(-lengths[0] // self.lanes) if self.split else lengths[0]
        count = math.prod((own, *lengths[1:]))
        return count if count <= REGISTERS else 0

    @property
    def word(self) -> Name:
        """The type of a register."""
        return Name("f4" if self.output.dtype == np.float32 else "f8")

    @property
    def count(self) -> Expr:
        """The slots of one thread: the elements that its lane meets."""
        first, rest = self._parted(self.own)
        return joined("*", [(first + cuda.LANES - 1) // cuda.LANES if self.split else first, *rest])

    def size(self, lengths: Mapping[str, int], lanes: int) -> int:
        """The number of these slots."""
        first, rest = self._parted(self.own)
        one, *others = (int(lengths.get(str(dim), str(dim))) for dim in (first, *rest))
        return math.prod((-(-one // lanes) if self.split else one, *others))

    def place(self, item: Scatter) -> Element:
        """Where the element that a statement adds to is kept: a register, or a slot."""
        (first, rest), (_, dims) = self._parted(item.indices), self._parted(self.dims)
        place = first
        if self.split:
            place = Name(f"turn_{first}") if self.registers else first >> SHIFT
        for index, dim in zip(rest, dims, strict=True):
            place = place * dim + index
        return self.register(place) if self.registers else self.slot(place)

    def register(self, place: Expr) -> Element:
        return Name(f"sums_o{self.number}")[place]

    def slot(self, place: Expr) -> Element:
        """A slot of this thread; the slots of one place lie side by side, thread after thread."""
        return SLOTS[SLOT_BASE + (Name(f"slot_o{self.number}") + place) * self.threads + cuda.THREAD]

    def emptied(self) -> Iterator[Code]:
        """The registers, all of them zero."""
        if self.registers:
            yield cuda.local_array(f"sums_o{self.number}", self.registers, self.word.id)
            yield For("place", Constant(self.registers), (Set(self.register(PLACE), self.word(0)),))

    def flushed(self) -> Iterator[Code]:
        """The registers of a thread added to its slots."""
        if self.registers:
            slot, register = self.slot(PLACE), self.register(PLACE)
            body = Set(slot, slot + cuda.F8(register)), Set(register, self.word(0))
            yield For("place", Constant(self.registers), body)

    def of_block(self, first: bool) -> For[Code]:
        """The slots of a block that hold the same element added up; ``first`` where no earlier nest left any."""
        start, whole, behind = Name(f"slot_o{self.number}"), self.own, self.own[self.axis + 1 :]
        added = let("whole", WHOLE + SLOTS[SLOT_BASE + PLACE * self.threads + OTHER])
        if self.split:
            after, rest = joined("*", behind or [ONE]), joined("*", self._parted(whole)[1] or [ONE])
            row = ELEMENT // after % whole[self.axis] if self.axis else ELEMENT // after
            ahead = ELEMENT // (after * whole[self.axis]) * after if self.axis else ZERO
            place = start + (ROW // cuda.LANES) * rest + ahead + ELEMENT % after
            found = let("row", row), let("place", place)
            others = For("other", Constant(self.threads), (added,), ROW % cuda.LANES, cuda.LANES)
        else:
            found, others = (let("place", start + ELEMENT),), For("other", Constant(self.threads), (added,))
        element, count = self._of_output()
        part, parts = (cuda.MEMBER, cuda.MEMBERS) if self.strips else (cuda.BLOCK, cuda.BLOCKS)
        target = cuda.SUMS[Name(f"part_o{self.number}") + element * parts + part]
        body = let("whole", cuda.F8(0)), *found, others, Set(target, WHOLE if first else target + WHOLE)
        return For("element", count, body, cuda.THREAD, Constant(self.threads))

    def _of_output(self) -> tuple[Expr, Expr]:
        """The place of an element of a block in the output, and how many a block has."""
        if not self.strips:
            return ELEMENT, element_count(self.output.shape)
        width, rest = self.own[0], joined("*", self.own[1:] or [ONE])
        begin = cuda.STRIP * width
        return begin * rest + ELEMENT, cuda.lowest(width, self.dims[0] - begin) * rest


def privatised(items: Items, own: Sequence[Private]) -> Items:
    """Statements that add to what a thread has for itself, in the place of scatters."""
    keeper = {each.number: each for each in own}

    def rule(item: Item) -> Items | None:
        if not (isinstance(item, Scatter) and item.output in keeper):
            return None
        each = keeper[item.output]
        place = each.place(item)
        return (Set(place, place + (each.word if each.registers else cuda.F8)(item.value)),)

    return replaced(items, rule)


def begun(own: Sequence[Private]) -> Iterator[Code]:
    """The slots of each thread for a nest, and the registers before them, all of them zero."""
    begins, end = cuda.one_after_another((f"slot_o{each.number}", each.count) for each in own)
    yield from begins
    if own:
        threads = Constant(own[0].threads)
        yield For("place", end * threads, (Set(SLOTS[SLOT_BASE + PLACE], Constant(0.0)),), cuda.THREAD, threads)
    for each in own:
        yield from each.emptied()
    if any(each.registers for each in own):
        yield let("turns", ZERO)


def flushed_at_times(own: Sequence[Private]) -> Iterator[Code]:
    """After each row: what was added up in float32 goes to the slots from time to time."""
    narrow = [each for each in own if each.registers and each.word == Name("f4")]
    if narrow:
        yield let("turns", TURNS + 1)
        flushes = [item for each in narrow for item in each.flushed()]
        yield If(TURNS.equals(FLUSH), (let("turns", ZERO), *flushes))


def ended(own: Sequence[Private], earlier: Sequence[Private]) -> Iterator[Code]:
    """The slots of a block that hold the same element added up, to what ``earlier`` nests left."""
    for each in own:
        yield from each.flushed()
    if own:
        yield cuda.SYNC
        yield from (each.of_block(each.number not in {other.number for other in earlier}) for each in own)
        yield cuda.SYNC
