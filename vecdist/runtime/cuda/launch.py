"""Launches as plain words, for machine code that learns of arrays and stream with each call and makes nothing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.codegen.cuda.grid import counters, partial_places
from vecdist.codegen.cuda.launch import workspace
from vecdist.graph.shapes import Shape
from vecdist.kernel.ir import Slot
from vecdist.runtime.base import Feed, Program, element_count
from vecdist.runtime.batched import Batched
from vecdist.runtime.cuda.backend import CudaProgram

NOTHING, SCRATCH, GIVEN = range(3)  # buffers: of address 0, working memory, and the first argument; behind all, results
ALIGNED = 256  # bytes


@final
@dataclass(frozen=True)
class Launch:
    """A launch, but for its stream and the addresses of its buffers.

    A parameter of the kernel is a word of 8 bytes and the buffer whose address is to be added to it.  The ``scratch``
    bytes of working memory, of which the first ``zeroed`` are zero, are of one call alone.
    """

    function: int
    blocks: int
    memory: int
    cooperative: bool
    parameters: Sequence[tuple[int, int]]
    scratch: int
    zeroed: int
    held: Any


def launches(program: Program, lengths: Mapping[str, int], feeds: Sequence[Feed], arguments: int = 1) -> list[Launch]:
    """The launches of a program of so many arguments on the current device, one after another: of its batches.

    Raises ``NotImplementedError`` for a program of several steps, and one that reports invalid parameters.
    """
    inner = program.program if isinstance(program, Batched) else program
    if not isinstance(inner, CudaProgram) or inner.kernel.flagged:
        raise NotImplementedError("only a single kernel that reports nothing is launched by its address")
    if not isinstance(program, Batched):
        return [_launch(inner, lengths, feeds, arguments, _Part())]
    batch = program.batch
    parts = [_Part(batch.dim, start) for start in batch.starts(lengths)]
    return [_launch(inner, batch.of(lengths), feeds, arguments, part) for part in parts]


@final
@dataclass(frozen=True)
class _Part:
    """Where a launch begins in arrays whose first axis has this length."""

    dim: str = ""
    start: int = 0

    def before(self, shape: Shape, size: int) -> int:
        """The bytes before it, of an array with so many for each place."""
        return self.start * size if self.dim in shape else 0


def _launch(
    program: CudaProgram, lengths: Mapping[str, int], feeds: Sequence[Feed], arguments: int, part: _Part
) -> Launch:
    import cupy

    kernel, room = program.kernel, _Room()
    found = program.extent(cupy.cuda.device.get_device_id(), lengths)
    tail = {name: [_word(number)] for name, number in found.numbers.items()}
    sizes = {"arrivals": (counters(kernel), 4), "sums": (program.grid.sum_places(lengths, found.blocks), 8)}
    used = workspace(program.grid)
    for name, (length, size) in sizes.items():
        if name in used:  # a Numba array: its owners, length, size of an element, address, shape and strides
            place = room.take(length * size)
            tail[name] = [*map(_word, (0, 0, length, size)), (place, SCRATCH), _word(length), _word(size)]
    zeroed = room.size
    tail["partials"] = [(room.take(partial_places(program.grid, found.blocks) * 8), SCRATCH)]
    parameters = [word for slot in kernel.slots for word in _slot_words(slot, feeds[slot.index], part, lengths)]
    results = itertools.count(GIVEN + arguments)
    for output in kernel.outputs:
        size = 0 if output.kept else element_count(output.shape, lengths) * output.dtype.itemsize
        own = output.kept or output.temporary
        before = part.before(output.shape, size // lengths.get(part.dim, 1))
        parameters.append((room.take(size), SCRATCH) if own else (before, next(results)))
    parameters += [_word(lengths[name]) for name in kernel.lengths]
    parameters += [word for name in used for word in tail[name]]
    room_and_held = room.size, zeroed, (program, feeds)
    return Launch(found.function.ptr, found.blocks, found.memory, found.cooperative, parameters, *room_and_held)


def _slot_words(slot: Slot, feed: Feed, part: _Part, lengths: Mapping[str, int]) -> list[tuple[int, int]]:
    """What fills a slot: a number, or the address of an array, and strides where it is not dense."""
    if slot.layout == "number":
        return [_word(feed.array) if feed.place is None else (0, GIVEN + feed.place)]
    if slot.layout == "dense":
        place = element_count(slot.shape, lengths) * slot.dtype.itemsize // lengths.get(part.dim, 1)
    else:
        place = feed.array.strides[0] if feed.array.ndim else 0
    before = part.before(slot.shape, place)
    address = _word(feed.array.data.ptr + before) if feed.place is None else (before, GIVEN + feed.place)
    axes = slot.axes if slot.layout == "strided" else ()
    return [address, *(_word(feed.array.strides[axis] // feed.array.itemsize) for axis in axes)]


class _Room:
    """Working memory that is given out piece by piece."""

    def __init__(self) -> None:
        self.size = 0

    def take(self, size: int) -> int:
        """Where a piece of so many bytes begins."""
        place = self.size
        self.size += -(-size // ALIGNED) * ALIGNED
        return place


def _word(value: Any) -> tuple[int, int]:
    """A number as a parameter: its bytes come first in the word."""
    return int.from_bytes(np.asarray(value).tobytes().ljust(8, b"\0"), "little", signed=True), NOTHING
