"""A kernel's blocks shared among threads of the CPU."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.codegen.cpu.blocking import BLOCK, block_of, own_dims, striped
from vecdist.codegen.cpu.own_sums import finished, sums_of_all
from vecdist.codegen.cpu.parts import WIDE
from vecdist.codegen.cpu.render import needed_later
from vecdist.codegen.statements import PARTIAL
from vecdist.kernel.ir import Kernel, Loop
from vecdist.runtime.base import element_count, length_of
from vecdist.runtime.cpu import language as cpu_language
from vecdist.runtime.cpu.crew import Crew, Job
from vecdist.runtime.cpu.packing import ENTRY, Packed, Shared
from vecdist.runtime.cpu.processors import thread_count
from vecdist.runtime.once import Once

SHARES = 4  # of each thread, so that they end together
AGAIN = 300  # runs by one thread after which several are tried again
TRIES = 5  # runs of each kind, of which the shortest counts: any other is no fault of the kernel's
GAIN = 0.85  # of the time of one thread that several take at most where they pay: they take it from others, too
WORTH_TRYING = 60e-6  # seconds of one thread: waking others takes 30 to 50 microseconds
CERTAIN = 3e-4  # seconds of one thread from which several are not slower, where all of it is shared
UNTRIED = 10  # times as long: so much that one thread is not tried first
FASTEST, SLOWEST = 1e-11, 1e-8  # seconds of a statement: those of loops are run for a vector of elements at a time


@Once
def crew(threads: int) -> Crew:
    """So many threads, the one that calls among them."""
    return Crew(threads)


if hasattr(os, "register_at_fork"):  # threads do not survive a fork; a child starts its own
    os.register_at_fork(after_in_child=crew.forget)


@final
@dataclass(frozen=True)
class _Nest:
    """A nest at known lengths: its number, its stripes (of blocks), and what it ends."""

    number: int
    blocks: int
    stripes: int
    finished: tuple[int, ...]


@final
class Threaded:
    """The kernel over arrays of known lengths: the blocks and stripes that one thread would run, shared by many."""

    def __init__(self, kernel: Kernel, part: Packed, lengths: Mapping[str, int]) -> None:
        self.part, self.inputs = part, len(kernel.slots)
        shared = sum(element_count(kernel.outputs[n].shape, lengths) for n in kernel.shared_sums)
        limit = cpu_language.stripe_limit(shared)
        stripes: dict[int, int] = dict.fromkeys(sums_of_all(kernel), 1)
        levels = [level for level, _ in kernel.nests()]
        self.nests: list[_Nest] = []
        self.sums: list[tuple[int, str]] = []
        for number, ((level, loop), after) in enumerate(zip(kernel.nests(), [*levels[1:], None], strict=True), 1):
            blocks = -(-length_of(loop.dim, lengths) // block_size(loop, lengths))
            self.sums += [(blocks, PARTIAL[item.dtype.kind]) for item in loop.sums(kernel.root)]
            ended = () if after == level else tuple(finished(kernel, level))
            few = striped(kernel, loop)
            self.nests.append(_Nest(number, blocks, min(blocks, limit) if few else blocks, ended))
            stripes |= {n: max(stripes[n], min(blocks, limit)) for n in few}
        outputs = [(n, kernel.outputs[n], count) for n, count in stripes.items()]
        self.rows = {n: (k * element_count(o.shape, lengths), PARTIAL[o.dtype.kind]) for n, o, k in outputs}
        self.hoisted = len(needed_later(kernel))
        self.rooms: list[tuple[dict[int, np.ndarray], Shared]] = []
        self.threads = thread_count()
        self.jobs = [Job(nest.stripes, self.threads, SHARES) for nest in self.nests]

    def __call__(self, *given: Any) -> None:
        try:
            room = self.rooms.pop()
        except IndexError:
            room = self._room()
        try:
            self._run(*room, given)
        finally:
            self.rooms.append(room)

    def _room(self) -> tuple[dict[int, np.ndarray], Shared]:
        """Memory for one call at a time: sums of stripes, and the parts of the kernel with these and what is kept."""
        rows = {output: np.zeros(*size) for output, size in self.rows.items()}
        sums = [np.empty(*size) for size in self.sums]
        kept = (np.empty(self.hoisted, kind) for kind in WIDE.values())
        return rows, self.part.shared(*sums, *rows.values(), *kept)

    def _run(self, rows: Mapping[int, np.ndarray], shared: Shared, given: Sequence[Any]) -> None:
        for sums in rows.values():
            sums.fill(0)
        run = shared.given(*given)
        run.alone(0, 0)
        for nest, job in zip(self.nests, self.jobs, strict=True):
            if not run.together(crew(self.threads), nest.number, job):
                run.alone(nest.number, nest.stripes)
            for output in nest.finished:
                cpu_language.rows_added(rows[output], given[self.inputs + output])
        run.alone(len(self.nests) + 1, 0)


def may_pay(seconds: float, least: float | None = None) -> bool:
    """Whether to share among threads what one of them does in so long."""
    return seconds >= min(CERTAIN, WORTH_TRYING if least is None else least) and thread_count() > 1


@final
class Pace:
    """What is known of the speed of one thread: the seconds of a statement, of the quickest run that was timed."""

    def __init__(self) -> None:
        self.seconds = FASTEST
        self._seen = math.inf

    def note(self, work: int, took: float) -> None:
        """A run of so many statements took so long; short runs say more of what every call costs."""
        if took >= WORTH_TRYING / 4:
            self._seen = min(self._seen, took / max(work, 1))
            self.seconds: float = max(FASTEST, self._seen)


@final
class Trial:
    """A kernel at known lengths, whose first runs are timed: ``run`` is then that by one thread or by several.

    Results are the same bits in either way, so that the times of a busy machine decide nothing else.  Lists of times
    are replaced, never emptied: threads that call at once each have one that is whole.
    """

    def __init__(
        self, alone: Callable[..., None], shared: Callable[[], Callable[..., None]], work: int, pace: Pace
    ) -> None:
        self._alone, self._shared, self._work, self._pace = alone, shared, work, pace
        self._times: tuple[list[float], list[float]] = [], []
        self._left = 0
        self.run: Callable[..., None] = self._first
        if thread_count() == 1:
            self.run = alone
        elif work * pace.seconds >= UNTRIED * CERTAIN:
            self.run = shared()
        elif work * SLOWEST < WORTH_TRYING:
            self.run = alone

    def _first(self, *given: Any) -> None:
        """A run by one thread, timed."""
        alone, _ = self._times
        took = self._timed(self._alone, given, alone)
        self._pace.note(self._work, took)
        if len(alone) >= TRIES or took >= UNTRIED * CERTAIN:
            self.run = functools.partial(self._second, self._shared()) if min(alone) >= WORTH_TRYING else self._alone

    def _second(self, several: Callable[..., None], *given: Any) -> None:
        """A run by several threads, timed."""
        alone, together = self._times
        self._timed(several, given, together)
        if len(together) >= TRIES:  # none of one thread, where others have just decided: it is tried again later
            pays = bool(alone) and min(together) < GAIN * min(alone)
            self._times, self._left = ([], []), AGAIN
            self.run = several if pays else functools.partial(self._for_now, several)

    def _for_now(self, several: Callable[..., None], *given: Any) -> None:
        """A run by one thread, until it is tried again: others may have been busy with something else."""
        self._left -= 1
        if self._left > TRIES:
            self._alone(*given)
            return
        self._timed(self._alone, given, self._times[0])
        if self._left <= 0:
            self.run = functools.partial(self._second, several)

    def _timed(self, run: Callable[..., None], given: Sequence[Any], times: list[float]) -> float:
        start = time.perf_counter()
        run(*given)
        times.append(time.perf_counter() - start)
        return times[-1]


def share(run: Callable[[int, int], None], blocks: int) -> None:
    """``run(first, last)`` for ranges that make up the blocks, by a crew; the error of one of them is raised."""
    errors: list[BaseException] = []

    def part(place: int) -> None:
        _, first, last = (ctypes.c_int64 * 3).from_address(place)
        try:
            run(first, last)
        except BaseException as error:  # which machine code would not pass on
            errors.append(error)

    entry, threads = ENTRY(part), thread_count()
    address = ctypes.cast(entry, ctypes.c_void_p).value or 0
    if not crew(threads).share(address, np.zeros(3, np.int64), 0, Job(blocks, threads, SHARES)):
        run(0, blocks)
    if errors:
        raise errors[0]


def block_size(loop: Loop, lengths: Mapping[str, int]) -> int:
    """The iterations of an outermost loop that make up a block."""
    inner = [length_of(dim, lengths) for dim in own_dims(loop)]
    return block_of(loop, math.prod(inner), max, min) if inner else BLOCK
