"""A kernel's blocks shared among threads of the CPU."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.codegen.cpu.render import BLOCK
from vecdist.codegen.statements import PARTIAL
from vecdist.kernel.ir import Kernel, Loop
from vecdist.runtime.base import element_count, length_of
from vecdist.runtime.cpu import language as cpu_language

SHARES = 4  # of each thread, so that they end together
TRIES = 5  # runs of each kind, of which the shortest counts: any other is no fault of the kernel's
GAIN = 0.85  # of the time of one thread that several take at most where they pay: they take it from others, too
WORTH_TRYING = 60e-6  # seconds of one thread: waking others takes 30 to 50 microseconds
CERTAIN = 3e-4  # seconds of one thread from which several are not slower
PATIENT = 0.1  # seconds of one thread from which a run waits for what several run to be compiled: that takes as long
LONG = 1e-2  # seconds of a run from which it tells more of the kernel than of the machine
BESIDE = "vecdist compiles"  # the name of a thread that does
FASTEST, LIKELY, SLOWEST = 1e-11, 1e-10, 1e-8  # seconds of a statement: loops take a vector of elements at a time


def thread_count() -> int:
    """The threads to use: the processors this process may run on, or ``NUMBA_NUM_THREADS`` where that is set."""
    given = os.environ.get("NUMBA_NUM_THREADS")
    if given:
        return max(1, int(given))
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


@functools.cache
def pool() -> ThreadPoolExecutor:
    """The threads beside the one that calls."""
    return ThreadPoolExecutor(thread_count(), thread_name_prefix="vecdist")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # threads do not survive a fork; a child starts its own


@final
@dataclass(frozen=True)
class _Nest:
    """A nest at known lengths: its blocks with the dtypes of their sums, and its stripes where it adds to outputs."""

    run: Callable[..., None]
    blocks: int
    stripes: int
    sums: tuple[str, ...]
    added: tuple[int, ...]
    finished: tuple[int, ...]


@final
class Threaded:
    """The kernel over arrays of known lengths: the blocks and stripes that one thread would run, shared by many."""

    def __init__(self, kernel: Kernel, pieces: tuple[Any, Sequence[Any], Any], lengths: Mapping[str, int]) -> None:
        self.prelude: Any
        self.finish: Any
        self.prelude, nests, self.finish = pieces
        self.inputs: int = len(kernel.slots)
        counts = {n: element_count(o.shape, lengths) for n, o in enumerate(kernel.outputs) if o.summed}
        stripes = cpu_language.stripe_limit(sum(counts.values()))
        self.scattered = {n: (stripes * count, PARTIAL[kernel.outputs[n].dtype.kind]) for n, count in counts.items()}
        levels = [level for level, _ in kernel.nests()]
        self.nests = []
        for (level, loop), run, after in zip(kernel.nests(), nests, [*levels[1:], None], strict=True):
            blocks, added = -(-length_of(loop.dim, lengths) // block_size(loop, lengths)), tuple(loop.scatters())
            sums = tuple(PARTIAL[item.dtype.kind] for item in loop.sums(kernel.root))
            finished = () if after == level else tuple(kernel.finished(level))
            own = min(blocks, stripes) if added else blocks
            self.nests.append(_Nest(run, blocks, own, sums, added, finished))

    def __call__(self, *given: Any) -> None:
        hoisted = self.prelude(*given)
        rows = {output: np.zeros(*size) for output, size in self.scattered.items()}
        partials: list[np.ndarray] = []
        for nest in self.nests:
            partials += [np.empty(nest.blocks, dtype) for dtype in nest.sums]
            own = [rows[output] for output in nest.added]
            share(functools.partial(_swapped, nest.run, (*partials, *own, *hoisted, *given)), nest.stripes)
            for output in nest.finished:
                cpu_language.rows_added(rows[output], given[self.inputs + output])
        self.finish(*partials, *hoisted, *given)


def may_pay(seconds: float, least: float | None = None) -> bool:
    """Whether to share among threads what one of them does in so long."""
    return seconds >= min(CERTAIN, WORTH_TRYING if least is None else least) and thread_count() > 1


@final
class Pace:
    """What is known of the speed of one thread: the seconds of a statement, of the quickest run that was timed.

    That is the least they are, and ``likely`` what they are: as usual, unless a run was long, or quicker than that.
    """

    def __init__(self) -> None:
        self.seconds = FASTEST
        self.likely = LIKELY
        self._seen = math.inf

    def note(self, work: int, took: float) -> None:
        """A run of so many statements took so long; short runs say more of what every call costs."""
        if took >= WORTH_TRYING / 4:
            self._seen = min(self._seen, took / max(work, 1))
            self.seconds: float = max(FASTEST, self._seen)
        if took >= LONG or took < self.likely * work:
            self.likely: float = took / max(work, 1)


@final
class Trial:
    """A kernel at known lengths, whose first runs are timed: ``run`` is then that by one thread or by several.

    Results are the same bits in either way, so that the times of a busy machine decide nothing else, and neither does
    when what several run is compiled: it is beside the runs of one thread, where these are short.
    """

    def __init__(
        self, alone: Callable[..., None], shared: Callable[[], Callable[..., None]], work: int, pace: Pace
    ) -> None:
        self._alone, self._shared, self._work, self._pace = alone, shared, work, pace
        self._times: tuple[list[float], list[float]] = [], []
        self.run: Callable[..., None] = self._first
        if thread_count() == 1:
            self.run = alone
        elif work * pace.likely >= PATIENT:
            self.run = shared()
        elif work * pace.seconds >= CERTAIN:
            self._prepare(lambda several: several)
        elif work * SLOWEST < WORTH_TRYING:
            self.run = alone

    def _first(self, *given: Any) -> None:
        """A run by one thread, timed."""
        took = self._timed(self._alone, given, self._times[0])
        self._pace.note(self._work, took)
        if len(self._times[0]) >= TRIES or took >= CERTAIN:
            self.run = self._alone
            if min(self._times[0]) >= WORTH_TRYING:
                self._prepare(lambda several: functools.partial(self._second, several))

    def _prepare(self, chosen: Callable[[Callable[..., None]], Callable[..., None]]) -> None:
        """Have what several threads run compiled by one more, and run what is ``chosen`` of it then."""
        self.run = functools.partial(self._meanwhile, beside(self._shared), chosen)

    def _meanwhile(self, maker: threading.Thread, chosen: Callable[..., Callable[..., None]], *given: Any) -> None:
        """A run while that is made.  What was not, by an error or in a child of this process, is made now."""
        if maker.is_alive():
            self._alone(*given)
        else:
            self.run = chosen(self._shared())
            self.run(*given)

    def _second(self, several: Callable[..., None], *given: Any) -> None:
        """A run by several threads, timed."""
        self._timed(several, given, self._times[1])
        if len(self._times[1]) >= TRIES:
            self.run = several if min(self._times[1]) < GAIN * min(self._times[0]) else self._alone

    def _timed(self, run: Callable[..., None], given: Sequence[Any], times: list[float]) -> float:
        start = time.perf_counter()
        run(*given)
        times.append(time.perf_counter() - start)
        return times[-1]


def beside(make: Callable[[], Any]) -> threading.Thread:
    """A thread that makes what is kept where it is made; an error is left to whoever makes it again."""

    def quietly() -> None:
        with contextlib.suppress(Exception):
            make()

    thread = threading.Thread(target=quietly, name=BESIDE)
    with contextlib.suppress(RuntimeError):  # at the end of the process no thread can be started
        thread.start()
    return thread


def settled() -> None:
    """Wait for what is compiled beside runs, so that the next ones are timed as those after them will be."""
    for thread in threading.enumerate():
        if thread.name == BESIDE:
            thread.join()


def _swapped(nest: Callable[..., None], arguments: Sequence[Any], first: int, last: int) -> None:
    nest(first, last, *arguments)


def share(run: Callable[[int, int], None], blocks: int) -> None:
    """``run(first, last)`` for ranges that make up the blocks: each thread takes the next one that is left."""
    parts = min(blocks, SHARES * thread_count())
    cuts = [blocks * part // max(parts, 1) for part in range(parts + 1)]
    left = iter(list(zip(cuts, cuts[1:], strict=False)))

    def take() -> None:
        for first, last in left:
            run(first, last)

    others = [pool().submit(take) for _ in range(min(parts, thread_count()) - 1)]
    take()
    for other in others:
        if not other.cancel():  # one that has not begun is not needed any more
            other.result()


def block_size(loop: Loop, lengths: Mapping[str, int]) -> int:
    """The iterations of an outermost loop that make up a block."""
    inner = 1
    for dim in loop.dims()[1:]:
        inner *= length_of(dim, lengths)
    return max(1, BLOCK // max(1, inner)) if len(loop.dims()) > 1 else BLOCK
