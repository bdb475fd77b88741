"""How long a prepared program runs, on its own device."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

LAUNCHES = 5  # timed together, so that what Python does between two of them hides behind the first
ROUNDS = 7
ENOUGH = 0.5  # seconds of runs over arrays in chunks, from which on there are no more


def seconds(run: Callable[[], Any], device: str) -> float:
    """The time that ``run`` takes, the median of several rounds after some to warm up."""
    run()
    if device == "cpu":
        _try_threads(run)
    timed = _on_cpu if device == "cpu" else _on_gpu
    return statistics.median(timed(run) for _ in range(ROUNDS)) / LAUNCHES


def of_rounds(run: Callable[[], Any]) -> float:
    """The time that ``run`` takes, which may be long: the median of a few runs, after some to warm up."""
    _runs(run, 3 * ROUNDS)
    return statistics.median(_runs(run, ROUNDS))


def _runs(run: Callable[[], Any], most: int) -> list[float]:
    """The times of so many runs, or of those that are enough."""
    found: list[float] = []
    while len(found) < most and sum(found) < ENOUGH:
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return found


def _try_threads(run: Callable[[], Any]) -> None:
    """Runs after which it is known how many threads pay."""
    from vecdist.runtime.cpu.threads import TRIES

    for _ in range(2 * TRIES):
        run()


def _on_cpu(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    for _ in range(LAUNCHES):
        run()
    return time.perf_counter() - start


def _on_gpu(run: Callable[[], Any]) -> float:
    import cupy

    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    for _ in range(LAUNCHES):
        run()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end) / 1e3
