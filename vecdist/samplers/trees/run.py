"""One run of NUTS: where chains start, who gives them gradients, and for how long before somebody is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias, final

import numpy as np

from vecdist import random
from vecdist.graph.leaves import on_host
from vecdist.lazy.array import LazyArray
from vecdist.model.evaluation import Evaluation
from vecdist.model.native.calls import Native
from vecdist.model.native.entries import Entry
from vecdist.runtime.cpu import calling, threads
from vecdist.samplers.density import Target
from vecdist.samplers.draws import Draws
from vecdist.samplers.kernels import evaluated
from vecdist.samplers.progress import Progress
from vecdist.samplers.run import Wanted
from vecdist.samplers.starts import started
from vecdist.samplers.tails import warn_of_flat_directions
from vecdist.samplers.trees import persistent, places
from vecdist.samplers.trees.chains import Chains
from vecdist.samplers.trees.compiled import machine

SPAN = 0.05  # seconds of work between two looks at the clock and at Ctrl-C
LONG = 1_000_000  # statements of a gradient from which the threads of fewer chains share one
MANY = 1024  # chains from which a kernel of a thread for each pays, which takes two seconds to compile when it is new
PER_CHAIN = 20  # elements, for each chain, that a thread of a GPU may read for a gradient
Turns: TypeAlias = Callable[[int], None]
"""Gives every chain so many gradients at most."""


def sampled(target: Target, wanted: Wanted, deepest: int, initial: Any) -> Draws:
    """All draws, or those before an interruption."""
    wanted.check(target.ndim)
    gradients = Gradients(target)
    keys = evaluated(random.fold_in(wanted.key, np.arange(wanted.chains)))

    def finite(positions: Any) -> Any:
        values, slopes = gradients(positions)
        return target.library.isfinite(values) & target.library.isfinite(slopes).all(axis=1)

    start = on_host(started(target, target.library.asarray(keys), initial, finite))
    return _Run(gradients, Chains(wanted, deepest, keys, start)).drawn()


@final
class Gradients:
    """Values and gradients of a target at points of shape (n, D), as arrays of its library."""

    def __init__(self, target: Target) -> None:
        def roots(x: LazyArray) -> list[LazyArray]:
            return [target.value(x.node)]

        self.target: Target = target
        self._evaluation = Evaluation(roots, gradient=True)
        self._native = Native(self._evaluation, target.ndim) if target.device == "cpu" else None

    def __call__(self, points: Any) -> tuple[Any, Any]:
        entry = self.entry
        if entry is None or entry.work >= LONG:
            values, gradients = self._evaluation(points)
            return values, gradients
        values, gradients, rows = np.empty(len(points)), np.empty(points.shape), np.ascontiguousarray(points)
        run, code = machine().points, calling.entry()
        threads.share(lambda first, last: run(code, entry.told, first, last, rows, values, gradients), len(rows))
        return values, gradients

    @property
    def entry(self) -> Entry | None:
        """The machine code of one point on the CPU, where there is one."""
        return None if self._native is None else self._native.entry(many=False)


def alone(entry: Entry, chains: Chains) -> Turns:
    """Threads take chains, each of which goes its own way, in machine code."""
    run, code, count = machine().turns, calling.entry(), len(chains.keys)
    which, values, slopes = np.arange(count), np.empty(count), np.empty(chains.point.shape)

    def turns(most: int) -> None:
        arrays = which, values, slopes, *chains.arrays
        threads.share(lambda first, last: run(code, entry.told, first, last, most, *arrays), count)
        chains.learn()

    return turns


def together(gradients: Gradients, chains: Chains) -> Turns:
    """One launch for the next gradients of all chains that are not done, whatever they want them for."""
    run, asarray = machine().turns, gradients.target.library.asarray

    def turns(most: int) -> None:
        for _ in range(most):
            which = chains.unfinished
            if not len(which):
                return
            size = min(1 << (len(which) - 1).bit_length(), len(chains.keys))  # few sizes, each a launch to prepare
            values, slopes = gradients(asarray(chains.point[np.resize(which, size)]))
            run(0, 0, 0, len(which), 1, which, *map(_dense, (values, slopes)), *chains.arrays)
            chains.learn()

    return turns


def _dense(array: Any) -> np.ndarray:
    return np.ascontiguousarray(on_host(array))


@final
class _Run:
    """One run."""

    def __init__(self, gradients: Gradients, chains: Chains) -> None:
        self.gradients, self.chains, wanted = gradients, chains, chains.wanted
        self.progress = Progress(wanted.warmup + wanted.draws, wanted.chains, wanted.progress)
        self.there: persistent.Persistent | None = None

    def drawn(self) -> Draws:
        """All draws, or those before an interruption."""
        interrupted, target = False, self.gradients.target
        try:
            self._run(self._turns())
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self.progress.close()
        self._collect()
        found = self.chains.result(interrupted, target.library, getattr(target.given, "unpack", None))
        if not interrupted:
            self._look_far_out(found)
        return found

    def _turns(self) -> Turns:
        entry, chains = self.gradients.entry, self.chains
        if self.gradients.target.device == "cuda" and len(chains.keys) >= MANY:
            found = persistent.code_of(self.gradients.target, chains, PER_CHAIN * len(chains.keys))
            if found is not None:
                self.there = persistent.Persistent(found, self.gradients.target.library, chains)
                return self.there
        if entry is not None and (entry.work < LONG or len(chains.keys) >= threads.thread_count()):
            return alone(entry, chains)
        return together(self.gradients, chains)

    def _run(self, turns: Turns) -> None:
        """Turns until all chains are done, ever as many as take some time."""
        chains, most = self.chains, 1
        while len(chains.unfinished):
            start = time.perf_counter()
            turns(most)
            took = time.perf_counter() - start
            most = max(1, min(2 * most, int(most * SPAN / max(took, 1e-9))))
            if self.progress.due or not len(chains.unfinished):
                self._show()

    def _collect(self) -> None:
        """Have what chains have become where it is looked at."""
        if self.there is not None:
            self.there.collect()

    def _show(self) -> None:
        if not self.progress.shown:
            return
        self._collect()
        chains, warmup = self.chains, self.chains.wanted.warmup
        kept = np.arange(chains.wanted.draws) < (chains.drawn - warmup)[:, None]
        acceptance, divergent = (chains.told[..., places.TOLD.index(name)] for name in ("acceptance", "divergent"))
        what = "draws" if kept.any() else "warm-up"
        step = float(np.median(chains.numbers[:, places.STEP]))
        accepted = float(acceptance[kept].mean()) if kept.any() else None
        self.progress.show(int(chains.drawn.mean()), what, step, accepted, int(divergent[kept].sum()))

    def _look_far_out(self, draws: Draws) -> None:
        """Warn of a density that has no total; that takes a twentieth of the time of the run, at most."""
        target = self.gradients.target

        def at(result: int) -> Callable[[np.ndarray], np.ndarray]:
            return lambda positions: on_host(self.gradients(target.library.asarray(positions))[result])

        names, budget = getattr(target.given, "param_unc_names", None), int(draws.steps.sum(axis=1).mean()) // 20
        warn_of_flat_directions(draws.positions, at(0), names, budget, at(1))
