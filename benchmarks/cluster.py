"""A cluster on paper: how a pass over 10^12 rows on 100 machines would go, simulated with constants measured here.

What a row costs a core, a task its scheduler and its worker, and how large the parts of a sum are, is measured on this
machine; the network, and how evenly machines run, are assumed and said.  A pass is simulated event by event: one
scheduler hands out chunks and folds of parts one after another, workers run them, parts travel.  The simulation is
held against passes of a cluster of processes on this machine.
"""

from __future__ import annotations

import heapq
import itertools
import math
import pickle
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import timing

TOGETHER = 8  # parts that a fold takes
SHAPE, SCALE = np.array(1.7), np.array(2.5)
ROWS = 10**12
MACHINES = (1, 10, 100, 1000)
CHUNKS = (10**7, 10**8, 10**9)  # rows


@dataclass(frozen=True)
class Costs:
    """Seconds, of a row on a core, of a task for the scheduler and for its worker; bytes of a part; the network."""

    row: float
    scheduled: float
    task: float
    part: float
    latency: float = 1e-4  # assumed: a switch, and the two ends
    bandwidth: float = 1.25e9  # assumed: bytes a second of 10 gigabit
    uneven: float = 0.05  # assumed: the deviation of a task's time, of which it is a part
    cores: int = 32  # assumed: of a machine, one worker of so many threads each

    def message(self) -> float:
        """Seconds that a part takes from one machine to another."""
        return self.latency + self.part / self.bandwidth


@dataclass(frozen=True)
class Pass:
    """A pass over all rows: how long it took, and how much of that every core computed."""

    seconds: float
    efficiency: float
    tasks: int
    depth: int
    moved: float


def tree(chunks: int) -> list[int]:
    """How many parts there are on each level of the tree: chunks, their folds, and so on to one."""
    levels = [chunks]
    while levels[-1] > 1:
        levels.append(-(-levels[-1] // TOGETHER))
    return levels


def simulated(rows: int, per_chunk: int, machines: int, costs: Costs, seed: int = 0) -> Pass:
    """A pass, event by event: tasks are handed out one by one, when their parts are there and a core is free."""
    rng, levels = np.random.default_rng(seed), tree(-(-rows // per_chunk))
    whole, work = per_chunk * costs.row, rows * costs.row
    ready = deque((0, number) for number in range(levels[0]))
    missing = {(level, n): min(TOGETHER, levels[level - 1] - TOGETHER * n)
               for level in range(1, len(levels)) for n in range(levels[level])}  # fmt: skip
    free, scheduler, now = machines * costs.cores, 0.0, 0.0
    events: list[tuple[float, int, int, int]] = []
    order = itertools.count()
    while ready or events:
        while ready and free:
            level, number = ready.popleft()
            scheduler = max(scheduler, now) + costs.scheduled
            last = rows - per_chunk * (levels[0] - 1) if (level, number) == (0, levels[0] - 1) else per_chunk
            took = whole * last / per_chunk if level == 0 else TOGETHER * costs.message() * (machines > 1)
            took = (took + costs.task) * math.exp(costs.uneven * rng.standard_normal())
            heapq.heappush(events, (scheduler + costs.latency * (machines > 1) + took, next(order), level, number))
            free -= 1
        now, _, level, number = heapq.heappop(events)
        free += 1
        above = level + 1, number // TOGETHER
        if above in missing:
            missing[above] -= 1
            if not missing[above]:
                ready.append(above)
    moved = costs.part * sum(levels[:-1]) + costs.part * machines
    return Pass(now, work / (now * machines * costs.cores), sum(levels), len(levels) - 1, moved)


def density(shape: Any, scale: Any, x: Any) -> Any:
    """The log density of gamma variables."""
    import vecdist
    from vecdist.distributions import Gamma

    return vecdist.logpdf(Gamma(shape, scale), x).sum()


def best(call: Any, count: int = 5) -> float:
    """The shortest of a few calls."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def passes(workers: int, sizes: tuple[int, ...], per_chunk: int) -> Iterator[float]:
    """Seconds of passes over so many chunks each, by a cluster of processes on this machine, of one thread each."""
    import dask.array
    from distributed import Client, LocalCluster

    import vecdist

    rows = np.random.default_rng(4).gamma(2.0, 2.0, per_chunk).astype("f4")
    fast = vecdist.compile(density)
    cluster = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster):
        for chunks in sizes:
            pieces = [dask.array.from_array(rows, chunks=-1, name=f"rows-{n}") for n in range(chunks)]
            held = dask.array.concatenate(pieces).persist()
            yield best(lambda held=held: fast.value_and_grad(SHAPE, SCALE, held, wrt=(0, 1)))


def measured(per_chunk: int) -> Costs:
    """What a row and a task cost here."""
    import vecdist

    rows = np.random.default_rng(4).gamma(2.0, 2.0, per_chunk).astype("f4")
    fast = vecdist.compile(density)
    with timing_of_one_thread():
        fast.value_and_grad(SHAPE, SCALE, rows, wrt=(0, 1))
        row = best(lambda: fast.value_and_grad(SHAPE, SCALE, rows, wrt=(0, 1))) / per_chunk
    few, many = passes(1, (8, 264), 1000)
    each = (many - few) / 256 / (1.0 + 1.0 / (TOGETHER - 1))
    part = len(pickle.dumps([np.float64(0.0)] * 3))
    return Costs(row, each / 2, each / 2, part)


def timing_of_one_thread() -> Any:
    """What gives kernels one thread, as a worker's are."""
    from unittest import mock

    return mock.patch("vecdist.runtime.cpu.threads.thread_count", return_value=1)


def main(chosen: Any) -> None:
    """Measure, hold the simulation against a cluster of this machine, and print the passes that nobody ran."""
    costs = measured(chosen.size)
    handing = timing.duration(costs.scheduled)
    said = f"a row {costs.row * 1e9:.3g} ns of a core; a part {costs.part:.0f} bytes; "
    said += f"a task {handing} of client and scheduler, and as much of its worker"
    timing.heading("The simulation beside passes of processes on this machine", chosen.device, said)
    here = replace(costs, latency=0.0, cores=1, uneven=0.0)
    table = []
    for workers in (1, 2, 3):
        for chunks, found in zip((16, 48), passes(workers, (16, 48), chosen.size), strict=True):
            paper = simulated(chunks * chosen.size, chosen.size, workers, here).seconds
            times = timing.duration(found), timing.duration(paper), timing.ratio(paper / found)
            table.append((f"{workers} workers, {chunks} chunks of {chosen.size}", *times))
    timing.table(("", "measured", "simulated", "ratio"), table)
    assumed = (f"assumed: {costs.cores} cores a machine, {timing.duration(costs.latency)} latency, "
               f"{costs.bandwidth / 1e9:.3g} GB/s, times that deviate by {costs.uneven:.0%}, rows there")  # fmt: skip
    timing.heading(f"{ROWS:.0e} rows on paper", chosen.device, said, assumed)
    together = replace(costs, row=costs.row / costs.cores, cores=1)  # a chunk's kernel is shared by a machine's threads
    lines = []
    for machines in MACHINES:
        lines += [line(machines, per_chunk, costs, "a core") for per_chunk in CHUNKS]
        lines.append(line(machines, ROWS // machines // 2, together, "a machine"))
    timing.table(("", "a chunk", "tasks", "depth of the tree", "moved", "a pass", "efficiency"), lines)


def line(machines: int, per_chunk: int, costs: Costs, each: str) -> tuple[Any, ...]:
    """A line of the table: a pass with chunks of so many rows, each of a core or of a whole machine."""
    found = simulated(ROWS, per_chunk, machines, costs)
    times = timing.duration(per_chunk * costs.row), timing.duration(found.seconds)
    name = f"{machines} machines, chunks of {per_chunk:.0e} for {each}"
    return name, times[0], found.tasks, found.depth, f"{found.moved / 1e6:.3g} MB", times[1], f"{found.efficiency:.1%}"


if __name__ == "__main__":
    main(timing.options(__doc__, {"cpu": 2**22}))
