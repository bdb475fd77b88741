"""One round over pieces that are sent to devices: read ahead, sent and computed of side by side, each piece once.

A thread reads a piece while the one before is on its way, and a kernel runs on the one before that.  What is not pinned
goes through blocks of pinned memory that stay in the processor's cache, which several threads fill and send.
"""

from __future__ import annotations

import contextlib
import gc
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, final

import numpy as np

from vecdist.graph.chunked import counts_of
from vecdist.graph.memo import Memo
from vecdist.runtime.chunks.devices import Group, here, recorded
from vecdist.runtime.chunks.page_locked import passed
from vecdist.runtime.chunks.pinned import Senders, is_pinned
from vecdist.runtime.chunks.progress import Progress
from vecdist.runtime.chunks.rounds import Rows, ahead, piece_of, together
from vecdist.runtime.chunks.sharded import joined_arrays, write
from vecdist.runtime.chunks.work import Parts, Read, Tree, Work

DEEP = 3  # pieces at a time: one is read, one sent, and of one is computed

_fitting: Memo[list[int]] = Memo(64)  # how many rows of pieces fit into memory, where it was less than were asked for


def streamed(work: Work, rows: Rows, known: Mapping[int, Any], into: Mapping[int, Any]) -> Parts:
    """What a step gives for all pieces; pieces for which a GPU has not enough memory are halved."""
    if rows.devices.kind == "cpu":
        return by_threads(work, rows, known, into)
    import cupy

    fits = _fitting((work.step, work.lengths, rows.devices.numbers, max(rows.counts)), lambda: [max(rows.counts)])
    while True:
        cut = rows if fits[0] == max(rows.counts) else rows.in_chunks(counts_of(sum(rows.counts), fits[0]))
        try:
            return sent(work, cut, known, into)
        except cupy.cuda.memory.OutOfMemoryError:
            if fits[0] == 1:
                raise
            fits[0] = -(-fits[0] // 2)
            _warn(fits[0], rows)
        gc.collect()  # the error's frames hold each other, and memory of the pieces
        cupy.get_default_memory_pool().free_all_blocks()


def _warn(count: int, rows: Rows) -> None:
    size = sum(array.itemsize * count * int(np.prod(array.shape[1:])) for array in rows.arrays.values())
    warnings.warn(
        f"a GPU has not enough memory for pieces of {2 * count} rows: they are halved, to {count} rows of "
        f"{size / 2**20:.3g} MiB; sums are added in the order of these, and their last digits may differ",
        RuntimeWarning, stacklevel=2,
    )  # fmt: skip


def by_threads(work: Work, rows: Rows, known: Mapping[int, Any], into: Mapping[int, Any]) -> Parts:
    """What a step gives, each piece computed by the next of several threads of the processor."""
    group, folding = rows.devices, Folding(work, into)
    bar, coming = Progress(sum(rows.counts)), deque[tuple[tuple[int, int], Future[Parts]]]()
    with contextlib.closing(bar), contextlib.closing(ahead(work, rows, known)) as pieces:
        for place, (chunk, given) in enumerate(pieces):
            coming.append((chunk, group.submit(place % len(group), work, given, *chunk)))
            if len(coming) > len(group):
                folding.add(*_done(coming))
                bar.show(sum(chunk))
        while coming:
            folding.add(*_done(coming))
    return folding.total()


def _done(coming: deque[tuple[tuple[int, int], Future[Parts]]]) -> tuple[tuple[int, int], Parts]:
    chunk, part = coming.popleft()
    return chunk, part.result()


@final
class Folding:
    """The parts of pieces, folded as they come in their order, on the current device."""

    def __init__(self, work: Work, into: Mapping[int, Any]) -> None:
        self.work: Work = work
        self.tree: Tree = Tree(work.step.joins)
        self.joined: dict[int, Any] = joined_arrays(work, into)

    def add(self, chunk: tuple[int, int], parts: Parts) -> None:
        """Take the parts of the next piece."""
        joins = self.work.step.joins
        self.tree.add(tuple(part for part, join in zip(parts, joins, strict=True) if isinstance(join, str)))
        write(self.work, self.joined, parts, chunk)

    def total(self) -> Parts:
        """What fills the slots of the step."""
        return together(self.work, self.tree.total(), self.joined)


def sent(work: Work, rows: Rows, known: Mapping[int, Any], into: Mapping[int, Any]) -> Parts:
    """What a step gives on GPUs, each piece sent to the next of them."""
    group, bar = rows.devices, Progress(sum(rows.counts))
    for array in rows.arrays.values():
        passed(array.source)
    with contextlib.closing(bar), group.in_order() as join, contextlib.ExitStack() as lanes:
        each = [lanes.enter_context(contextlib.closing(Lane(work, rows, known, group, at))) for at in range(len(group))]
        folding = Folding(work, into)
        for lane, slot, chunk in _read(work, rows, known, each):
            parts = lane.computed(slot, chunk)
            with group.on(0):
                folding.add(chunk, lane.brought(parts))
            bar.show(sum(chunk))
        join()
        return folding.total()


def _read(
    work: Work, rows: Rows, known: Mapping[int, Any], lanes: list[Lane]
) -> Iterator[tuple[Lane, Slot, tuple[int, int]]]:
    """Each piece with rows, read into memory of the lane that takes it; as many as there are slots are read ahead."""
    chunks, work = [chunk for chunk in rows.chunks if chunk is not None], replace(work, kind="cpu")
    coming = deque[tuple[Lane, Slot, tuple[int, int], Future[None]]]()
    readers = ThreadPoolExecutor(2, thread_name_prefix="vecdist-reader")  # one reads while the other's rows are copied
    with contextlib.closing(Senders()) as senders, readers as reader:
        try:
            for place, chunk in enumerate(chunks):
                lane = lanes[place % len(lanes)]
                slot = lane.slots[place // len(lanes) % DEEP]
                coming.append((lane, slot, chunk, reader.submit(lane.read, slot, work, rows, known, chunk, senders)))
                if len(coming) == DEEP * len(lanes):
                    yield _ready(coming)
            while coming:
                yield _ready(coming)
        finally:
            for *_, reading in coming:
                reading.cancel()


def _ready(coming: deque[tuple[Lane, Slot, tuple[int, int], Future[None]]]) -> tuple[Lane, Slot, tuple[int, int]]:
    lane, slot, chunk, reading = coming.popleft()
    reading.result()
    return lane, slot, chunk


@final
class Lane:
    """The way of pieces to one GPU: memory for a few of them in turns, a stream that copies and one that computes."""

    def __init__(self, work: Work, rows: Rows, known: Mapping[int, Any], group: Group, place: int) -> None:
        self.work, self.group, self.place = work, group, place
        self.copying: Any = group.stream(place, "copies")
        beside = [read for read in work.reads if read.slot not in rows.arrays]
        self.cut: list[Read] = [read for read in work.reads if read.slot in rows.arrays]
        self.axes: dict[int, int | None] = {read.slot: read.axis for read in beside}
        with group.on(place) as stream:
            self.whole: dict[int, Any] = {read.slot: here(work.shaped(read, known[read.slot])) for read in beside}
            self.slots: list[Slot] = [Slot(rows, self.cut) for _ in range(DEEP)]
            self.copying.wait_event(recorded(stream))

    def read(
        self, slot: Slot, work: Work, rows: Rows, known: Mapping[int, Any], chunk: tuple[int, int], senders: Senders
    ) -> None:
        """Read a piece and send it, when the one before it in its slot is used; in another thread than all else."""
        with self.group.there(self.place):
            if slot.sent is not None:
                slot.sent.synchronize()  # what is held of the host may go
            self.copying.wait_event(slot.used)
            for read in self.cut:
                with senders.reading:
                    piece = piece_of(work, read, rows, known, *chunk, loads=False)
                slot.held[read.slot] = piece if is_pinned(piece) else None
                senders.send(slot.arrays[read.slot], piece, self.copying, lambda: self.group.there(self.place))
            slot.sent = recorded(self.copying)

    def computed(self, slot: Slot, chunk: tuple[int, int]) -> Parts:
        """The parts of the piece in a slot, which is on its way."""
        first, count = chunk
        with self.group.on(self.place) as stream:
            stream.wait_event(slot.sent)
            given = {at: array[:count] for at, array in slot.arrays.items()}
            parts = self.work(given | self._beside(chunk), first, count)
            stream.record(slot.used)
            return parts

    def _beside(self, chunk: tuple[int, int]) -> dict[int, Any]:
        """What is whole, and its rows where it stands beside pieces row by row."""
        first, count = chunk
        return {
            slot: array if axis is None else array[(*[slice(None)] * axis, slice(first, first + count))]
            for slot, array in self.whole.items() for axis in [self.axes[slot]]
        }  # fmt: skip

    def brought(self, parts: Parts) -> Parts:
        """Parts on the first device, whose stream is the current one; the lane's goes on when they are there."""
        if self.place == 0:
            return parts
        import cupy

        with self.group.on(self.place) as stream:
            computed = recorded(stream)
        first = cupy.cuda.get_current_stream()
        first.wait_event(computed)
        apart = self.group.numbers[self.place] != self.group.numbers[0]
        parts = tuple(here(part) if apart else part.copy() for part in parts)
        self.group.stream(self.place).wait_event(recorded(first))
        return parts

    def close(self) -> None:
        """Wait until nothing is sent any more, and give back all memory."""
        self.copying.synchronize()
        self.slots.clear()


@final
class Slot:
    """Room for a piece on the current device; events say when what was there is ``sent``, and when it is ``used``."""

    def __init__(self, rows: Rows, reads: list[Read]) -> None:
        import cupy

        most = max(rows.counts)
        shapes = {read.slot: (most, *rows.arrays[read.slot].shape[1:]) for read in reads}
        self.arrays: dict[int, Any] = {read.slot: cupy.empty(shapes[read.slot], read.dtype) for read in reads}
        self.held: dict[int, np.ndarray | None] = {}
        self.used: Any = cupy.cuda.Event(disable_timing=True)
        self.sent: Any = None
