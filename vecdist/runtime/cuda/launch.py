"""Launches as plain words, for machine code that learns of arrays and stream with each call and makes nothing."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.codegen.cuda.grid import counters, partial_places
from vecdist.codegen.cuda.launch import workspace
from vecdist.runtime.base import Feed, Program, element_count
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


def launch(program: Program, lengths: Mapping[str, int], feeds: Sequence[Feed], arguments: int = 1) -> Launch:
    """The launch of a program of so many arguments on the current device.

    Raises ``NotImplementedError`` for a program of several steps, and one that reports invalid parameters.
    """
    if not isinstance(program, CudaProgram) or program.kernel.flagged:
        raise NotImplementedError("only a single kernel that reports nothing is launched by its address")
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
    parameters, results = [], itertools.count(GIVEN + arguments)
    for slot in kernel.slots:
        feed = feeds[slot.index]
        fixed = feed.array if slot.layout == "number" or feed.place is not None else feed.array.data.ptr
        parameters.append(_word(fixed) if feed.place is None else (0, GIVEN + feed.place))
        if slot.layout == "strided":
            parameters += [_word(feed.array.strides[axis] // feed.array.itemsize) for axis in slot.axes]
    for output in kernel.outputs:
        size = 0 if output.kept else element_count(output.shape, lengths) * output.dtype.itemsize
        own = output.kept or output.temporary
        parameters.append((room.take(size), SCRATCH) if own else (0, next(results)))
    parameters += [_word(lengths[name]) for name in kernel.lengths]
    parameters += [word for name in used for word in tail[name]]
    room_and_held = room.size, zeroed, (program, feeds)
    return Launch(found.function.ptr, found.blocks, found.memory, found.cooperative, parameters, *room_and_held)


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
