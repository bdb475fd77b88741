"""One round over pieces that are sent to devices: read ahead, sent and computed of side by side, each piece once.

A thread reads a piece into pinned memory while the one before is on its way, and a kernel runs on the one before that.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, final

import numpy as np

from vecdist.graph.chunked import counts_of
from vecdist.graph.memo import Memo
from vecdist.runtime.chunks.devices import BY_ADDRESS, Group, here, recorded
from vecdist.runtime.chunks.progress import Progress
from vecdist.runtime.chunks.rounds import Rows, ahead, piece_of, together
from vecdist.runtime.chunks.sharded import joined_arrays, write
from vecdist.runtime.chunks.work import Parts, Read, Tree, Work

DEEP = 3  # pieces at a time: one is read, one sent, and of one is computed
COPIERS = 8  # threads that copy rows to pinned memory; one is slower than a link
SHARE = 2**21  # bytes from which another of them is worth while

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
    with ThreadPoolExecutor(1, thread_name_prefix="vecdist-reader") as reader, _copiers() as copiers:
        try:
            for place, chunk in enumerate(chunks):
                lane = lanes[place % len(lanes)]
                slot = lane.slots[place // len(lanes) % DEEP]
                coming.append((lane, slot, chunk, reader.submit(slot.read, work, rows, known, chunk, copiers)))
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


def _copiers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(min(COPIERS, os.cpu_count() or 1), thread_name_prefix="vecdist-copier")


@final
class Lane:
    """The way of pieces to one GPU: memory for a few of them in turns, a stream that copies and one that computes."""

    def __init__(self, work: Work, rows: Rows, known: Mapping[int, Any], group: Group, place: int) -> None:
        self.work, self.group, self.place = work, group, place
        self.copying: Any = group.stream(place, "copies")
        beside = [read for read in work.reads if read.slot not in rows.arrays]
        cut = [read for read in work.reads if read.slot in rows.arrays]
        self.axes: dict[int, int | None] = {read.slot: read.axis for read in beside}
        with group.on(place) as stream:
            self.whole: dict[int, Any] = {read.slot: here(work.shaped(read, known[read.slot])) for read in beside}
            self.slots: list[Slot] = [Slot(rows, cut, group.numbers[place]) for _ in range(DEEP)]
            self.copying.wait_event(recorded(stream))

    def computed(self, slot: Slot, chunk: tuple[int, int]) -> Parts:
        """The parts of the piece in a slot, which is sent before."""
        import cupy

        first, count = chunk
        with cupy.cuda.Device(self.group.numbers[self.place]), self.copying as stream:
            slot.send(count, stream)
        with self.group.on(self.place) as stream:
            stream.wait_event(slot.sent)
            given = {at: array[:count] for at, array in slot.arrays.items()}
            parts = self.work(given | self._beside(chunk), first, count)
            slot.used = recorded(stream)
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
        parts = tuple(here(part) if self._apart else part.copy() for part in parts)
        self.group.stream(self.place).wait_event(recorded(first))
        return parts

    @property
    def _apart(self) -> bool:
        return self.group.numbers[self.place] != self.group.numbers[0]

    def close(self) -> None:
        """Wait until nothing is sent any more, and give back all memory."""
        self.copying.synchronize()
        self.slots.clear()


@final
class Slot:
    """Room for a piece: in pinned memory of the host, and on the current device, which has this ``number``.

    Events say when what was there is ``sent``, and when it is ``used``.
    """

    def __init__(self, rows: Rows, reads: list[Read], number: int | None) -> None:
        import cupy

        self.reads: list[Read] = reads
        self.number: int | None = number
        most = max(rows.counts)
        shapes = {read.slot: (most, *rows.arrays[read.slot].shape[1:]) for read in reads}
        self.arrays: dict[int, Any] = {read.slot: cupy.empty(shapes[read.slot], read.dtype) for read in reads}
        self.pinned: dict[int, np.ndarray] = {}
        self.host: dict[int, np.ndarray] = {}
        self.sent: Any = None
        self.used: Any = None

    def read(
        self, work: Work, rows: Rows, known: Mapping[int, Any], chunk: tuple[int, int], copiers: ThreadPoolExecutor
    ) -> None:
        """Read a piece, when the one before it is sent."""
        import cupy

        if self.sent is not None:
            self.sent.synchronize()
        with cupy.cuda.Device(self.number):
            for read in self.reads:
                piece = piece_of(work, read, rows, known, *chunk, loads=False)
                self.host[read.slot] = piece if is_pinned(piece) else self._copied(read, piece, copiers)

    def _copied(self, read: Read, piece: np.ndarray, copiers: ThreadPoolExecutor) -> np.ndarray:
        """A copy in pinned memory, made by several threads."""
        import cupyx

        if read.slot not in self.pinned:
            device = self.arrays[read.slot]
            self.pinned[read.slot] = cupyx.empty_pinned(device.shape, device.dtype)
        target = self.pinned[read.slot][: len(piece)]
        several = max(1, min(COPIERS, piece.nbytes // SHARE))
        ends = np.linspace(0, len(piece), several + 1).astype(int)
        shares = [slice(*pair) for pair in zip(ends[:-1], ends[1:], strict=True)]
        list(copiers.map(lambda share: np.copyto(target[share], piece[share]), shares))
        return target

    def send(self, count: int, stream: Any) -> None:
        """Send what was read, on the current stream."""
        import cupy

        if self.used is not None:
            stream.wait_event(self.used)
        for slot, host in self.host.items():
            target = self.arrays[slot][:count]
            cupy.cuda.runtime.memcpyAsync(target.data.ptr, host.ctypes.data, host.nbytes, BY_ADDRESS, stream.ptr)
        self.sent = recorded(stream)


def is_pinned(array: np.ndarray) -> bool:
    """Whether an array lies in pinned memory, which is sent as it lies."""
    import cupy

    runtime = cupy.cuda.runtime
    return bool(array.nbytes) and runtime.pointerGetAttributes(array.ctypes.data).type == runtime.memoryTypeHost
