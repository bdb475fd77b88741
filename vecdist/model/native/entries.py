"""Entries for C: functions without Python that give the log density and its gradient of one vector, or of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast, final

import numpy as np
from numba.core import types

from vecdist.graph.shapes import Shape
from vecdist.kernel.ir import Kernel, Loop
from vecdist.model.evaluation import Prepared
from vecdist.model.native.language import c_entry
from vecdist.runtime.base import Feed, element_count
from vecdist.runtime.cpu.backend import CpuProgram
from vecdist.runtime.cpu.call_loops import EACH, GRADIENTS, HEAD, KIND, LINE, MANY, MEMORY, NUMBER, ONE, VALUES, VECTORS
from vecdist.runtime.cpu.packing import words
from vecdist.runtime.exports import places

Growth = tuple[int, int]  # a number, and how much more for each vector


@final
@dataclass(frozen=True)
class Entry:
    """A launch as C calls it, which ``call_loops.entry`` is told of; it lives as long as this object, as do its data.

    It returns 0, or 1 where a value or an element of a gradient is not finite, or -1 where the vectors have another
    length or memory is short.
    """

    table: np.ndarray
    work: float
    """The statements that it runs for each vector, roughly."""
    has_rows: bool
    """Whether most of them stand around inner loops, as those of a regression around the sums over columns."""
    held: Any

    @property
    def told(self) -> int:
        """Where its table lies."""
        return self.table.ctypes.data

    @cached_property
    def function(self) -> Any:
        """The function for C, at its ``address``, which takes nothing but vectors and what is filled."""
        return c_entry(self.told, self.table[KIND] == ONE)


def for_one(prepared: Prepared, size: int) -> Entry | None:
    """``int f(uint64 D, double* x, double* gradient, double* value, void*)`` of a launch for one vector.

    ``None`` where the launch is not one compiled kernel of the CPU.
    """
    return _entry(prepared, _known(prepared), 1, size, ONE)


def for_each(prepared: Prepared, size: int) -> Entry | None:
    """``int f(int64 B, double* X, double* values, double* gradients, void*)``: launches for one vector, in turn.

    What a kernel does for the rows of one vector, it does for each.  ``None`` as for one.
    """
    return _entry(prepared, _known(prepared), 1, size, EACH)


def _known(prepared: Prepared) -> dict[str, Growth]:
    return {name: (length, 0) for name, length in prepared.lengths.items()}


def for_many(two: Prepared, three: Prepared, size: int) -> Entry | None:
    """``int f(int64 B, double* X, double* values, double* gradients, void*)`` of launches for two and three vectors.

    Their lengths tell those that grow with the number of vectors.  ``None`` as for one.
    """
    if two.program is not three.program:
        return None
    grown = {name: three.lengths[name] - length for name, length in two.lengths.items()}
    lengths = {name: (two.lengths[name] - 2 * each, each) for name, each in grown.items()}
    return _entry(two, lengths, 2, size, MANY)


def _entry(prepared: Prepared, lengths: Mapping[str, Growth], rows: int, size: int, kind: int) -> Entry | None:
    """An entry of a launch for so many rows."""
    program = prepared.program
    if not isinstance(program, CpuProgram):
        return None
    filling = _Filling(program, lengths, size)
    for feed in (prepared.feeds[slot.index] for slot in program.slots):
        filling.input(feed)
    results = iter([VALUES, GRADIENTS])
    for output in program.source.kernel.outputs:
        filling.output(output, None if output.temporary else next(results))
    for name in program.lengths:
        filling.fill(NUMBER, lengths[name])
    slopes = 0 if next(results, None) else size
    known = filling.words
    head = (program.address, known.size, known.ctypes.data, len(filling.fills), kind, size, slopes, *filling.room)
    assert len(head) == HEAD
    table = np.array([*head, *(word for fill in filling.fills for word in fill)], np.int64)
    work, has_rows = program.work(prepared.lengths) / rows, _has_rows(program.source.kernel)
    return Entry(table, work, has_rows, (known, program, prepared.feeds))


@final
class _Filling:
    """The words of a kernel's arguments, one after another: what is known of them, and what is filled in each call."""

    def __init__(self, program: CpuProgram, lengths: Mapping[str, Growth], size: int) -> None:
        self.kinds, self.lengths, self.size = program.signature, lengths, size
        self.starts: Iterator[tuple[Any, int]] = iter([*zip(self.kinds, places(self.kinds), strict=False)])
        self.words: np.ndarray = np.zeros(places(self.kinds)[-1], np.int64)
        self.fills: list[tuple[int, int, int, int]] = []
        self.room: Growth = 0, 0

    def input(self, feed: Feed) -> None:
        """An array or a number that is known, or the vectors."""
        if feed.place is not None:
            self.array(VECTORS, (0, self.size), (0, 0))
            return
        kind, start = next(self.starts)
        array = feed.array.reshape(-1) if isinstance(kind, types.CPointer) else feed.array
        given = [*words((kind,), (array,))]
        self.words[start : start + len(given)] = given

    def output(self, output: Any, what: int | None) -> None:
        """The values or gradients, or an array in memory that the kernel works in."""
        count, more = self.count(output.shape)
        if what is not None:
            self.array(what, (count, more), (0, 0))
            return
        self.array(MEMORY, (count, more), self.room)
        sizes = (-(-number * output.dtype.itemsize // LINE) * LINE for number in (count, more))
        self.room = cast("Growth", tuple([used + size for used, size in zip(self.room, sizes, strict=True)]))

    def count(self, shape: Shape) -> Growth:
        """The elements of an array: so many, and so many more for each vector."""
        one, two = (element_count(shape, self.at(rows)) for rows in (1, 2))
        return 2 * one - two, two - one

    def at(self, rows: int) -> dict[str, int]:
        """The lengths for so many vectors."""
        return {name: first + each * rows for name, (first, each) in self.lengths.items()}

    def array(self, what: int, count: Growth, start: Growth) -> None:
        """An array of so many elements that is given with each call."""
        kind, place = next(self.starts)
        self.fills.append((place, what, *start))
        if isinstance(kind, types.Array):
            self.fills.append((place + 1, NUMBER, *count))
            self.words[place + 2] = kind.dtype.bitwidth // 8  # type: ignore[attr-defined]

    def fill(self, what: int, number: Growth) -> None:
        """A number."""
        _, place = next(self.starts)
        self.fills.append((place, what, *number))


def _has_rows(kernel: Kernel) -> bool:
    """Whether a loop has inner loops, and more statements around them than in them."""
    for _, loop in kernel.shared_nests():
        own = sum(not isinstance(item, Loop) for _, item in loop.body.items)
        inner = sum(not isinstance(item, Loop) for item in loop.body.walk()) - own
        if 0 < inner < own:
            return True
    return False
