"""Sums of a nest that each thread of a block keeps for itself: in *slots* of shared memory, and in registers before.

Several statements of a nest may add to one output.  What is made empty, flushed and added up belongs to the output, so
that each sum is counted once, however many statements add to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from vecdist.codegen.statements import element_count
from vecdist.graph.memo import cached_property
from vecdist.kernel.ir import Kernel, Loop, Output, Scatter

REGISTERS = 32  # sums of one output that a thread may hold in registers


def slotted(kernel: Kernel) -> dict[Scatter, Loop]:
    """The scatters of a nest whose indices are inner loops, with the loop over rows: their threads keep slots."""
    found = {}
    for _, loop in kernel.nests():
        inner = {item.index for item in loop.body.walk() if isinstance(item, Loop)}
        for item in loop.body.walk():
            if isinstance(item, Scatter) and item.indices and set(item.indices) <= inner:
                found[item] = loop
    return found


def kept_slots(kernel: Kernel, lanes: int | None, threads: int) -> list[Slots]:
    """What each of the ``threads`` of a block keeps for a nest, in teams of so many lanes where that is known."""
    items: dict[tuple[int, Loop], list[Scatter]] = {}
    for item, loop in slotted(kernel).items():
        items.setdefault((item.output, loop), []).append(item)
    return [
        Slots(output, loop, tuple(found), kernel.outputs[output], dict(kernel.fixed), lanes, threads)
        for (output, loop), found in items.items()
    ]


@final
@dataclass(frozen=True, eq=False)
class Slots:
    """The sums of one output in one nest: what each thread has found for the elements that it meets."""

    number: int
    loop: Loop
    items: tuple[Scatter, ...]
    output: Output
    fixed: Mapping[str, int]
    lanes: int | None
    threads: int

    @cached_property
    def dims(self) -> list[str]:
        return [str(dim) for dim in self.output.shape if dim != 1]

    @cached_property
    def split(self) -> bool:
        """Whether a lane meets but its own part of the first axis: every statement shares it among the lanes."""
        shared = {each.index for each in self.loop.body.every_loop() if not each.sequential}
        return all(item.indices[0] in shared for item in self.items)

    @cached_property
    def registers(self) -> int:
        """The registers of a thread for the elements that its lane meets; 0 where there are none for them.

        Their places must be known to the compiler: lengths are, and no lane begins where the others do not.
        """
        lengths = [int(self.fixed.get(dim, 0)) for dim in self.dims]
        if self.lanes is None or not (self.split or self._alike):
            return 0
        own = -(-lengths[0] // self.lanes) if self.split else lengths[0]
        count = math.prod((own, *lengths[1:]))
        return count if count <= REGISTERS else 0

    @property
    def _alike(self) -> bool:
        """Whether no statement shares the first axis among lanes."""
        shared = {each.index for each in self.loop.body.every_loop()}
        return all(item.indices[0] not in shared for item in self.items)

    @property
    def word(self) -> str:
        """The type of a register."""
        return "f4" if self.output.dtype == np.float32 else "f8"

    @property
    def count(self) -> str:
        """The slots of one thread: the elements that its lane meets."""
        first, *rest = self.dims
        return " * ".join([f"(({first} + lanes - 1) // lanes)" if self.split else first, *rest])

    def size(self, lengths: Mapping[str, int], lanes: int) -> int:
        """The number of these slots."""
        first, *rest = (int(lengths.get(dim, dim)) for dim in self.dims)
        return math.prod((-(-first // lanes) if self.split else first, *rest))

    def place(self, item: Scatter) -> str:
        """Where the element that a statement adds to is kept: a register, or a slot."""
        first, *rest = item.indices
        if self.registers:
            place = f"turn_{first}" if self.split else first
        else:
            place = f"({first} >> shift)" if self.split else first
        for index, dim in zip(rest, self.dims[1:], strict=True):
            place = f"({place} * {dim} + {index})"
        return f"sums_o{self.number}[{place}]" if self.registers else self.slot(place)

    def slot(self, place: str) -> str:
        """A slot of this thread; the slots of one place lie side by side, thread after thread."""
        return f"slots[slot_base + (slot_o{self.number} + {place}) * {self.threads} + thread]"

    def empty(self) -> Iterator[str]:
        """The registers, all of them zero."""
        if self.registers:
            yield f"    sums_o{self.number} = cuda.local.array({self.registers}, memory_{self.word})"
            yield f"    for place in range({self.registers}):"
            yield f"        sums_o{self.number}[place] = {self.word}(0)"

    def flush(self, pad: str) -> Iterator[str]:
        """Add the registers of a thread to its slots."""
        if self.registers:
            yield f"{pad}for place in range({self.registers}):"
            yield f"{pad}    {self.slot('place')} = {self.slot('place')} + f8(sums_o{self.number}[place])"
            yield f"{pad}    sums_o{self.number}[place] = {self.word}(0)"

    def of_block(self, first: bool) -> Iterator[str]:
        """Add the slots of a block that hold the same element; ``first`` where no earlier nest left any."""
        rest = " * ".join(self.dims[1:]) or "1"
        yield f"    for element in range(thread, {element_count(self.output.shape)}, {self.threads}):"
        yield "        whole = f8(0)"
        if self.split:
            yield f"        row = element // ({rest})"
            yield f"        place = slot_o{self.number} + (row // lanes) * ({rest}) + element % ({rest})"
            yield f"        for other in range(row % lanes, {self.threads}, lanes):"
        else:
            yield f"        place = slot_o{self.number} + element"
            yield f"        for other in range({self.threads}):"
        yield f"            whole = whole + slots[slot_base + place * {self.threads} + other]"
        target = f"sums[part_o{self.number} + element * blocks + block]"
        yield f"        {target} = {'whole' if first else f'{target} + whole'}"
