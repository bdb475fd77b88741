"""One run of a sampler: where chains start, the warm-up, and the draws that are kept."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist import random
from vecdist.graph.leaves import on_host
from vecdist.samplers.adaptation import METRICS, factors
from vecdist.samplers.density import Target
from vecdist.samplers.draws import Draws
from vecdist.samplers.hamiltonian import Record
from vecdist.samplers.kernels import evaluated
from vecdist.samplers.low_rank import LowRank, unpacked
from vecdist.samplers.progress import Progress
from vecdist.samplers.replay import own_stream
from vecdist.samplers.shared import Dynamic, dynamics_of
from vecdist.samplers.starts import started
from vecdist.samplers.tails import warn_of_flat_directions
from vecdist.samplers.warmup import Schedule, Warmup


@final
@dataclass(frozen=True)
class Wanted:
    """What a user asks a sampler for."""

    chains: int
    draws: int
    warmup: int
    key: int
    metric: Any
    step_size: float | None
    acceptance: float
    trajectory: float | None
    progress: bool

    def check(self, ndim: int) -> None:
        """Raise ``ValueError`` for what cannot be meant."""
        if self.chains < 1 or self.draws < 0 or self.warmup < 0:
            raise ValueError(f"given {self.chains} chains, {self.draws} draws and {self.warmup} of warmup")
        if self.step_size is None and not self.warmup:
            raise ValueError("without a warmup step_size must be given")
        if self.step_size is not None and not 0.0 < self.step_size < math.inf:
            raise ValueError(f"step_size is positive, given {self.step_size}")
        if not 0.0 < self.acceptance < 1.0:
            raise ValueError(f"acceptance is between 0 and 1, given {self.acceptance}")
        if isinstance(self.metric, str):
            if self.metric not in METRICS:
                raise ValueError(f"metric is one of {', '.join(METRICS)}, or an array; given {self.metric!r}")
        elif np.shape(self.metric) not in ((ndim,), (ndim, ndim)):
            raise ValueError(f"a metric for {ndim} numbers has shape ({ndim},) or ({ndim}, {ndim})")

    @property
    def adapts(self) -> bool:
        """Whether the metric is learnt."""
        return isinstance(self.metric, str) and self.metric != "unit"

    def scale(self, ndim: int) -> np.ndarray:
        """The factor of the metric to begin with."""
        if isinstance(self.metric, str):
            own = {"dense": np.eye(ndim), "low-rank": LowRank.unit(ndim).packed}
            return own.get(self.metric, np.ones(ndim))
        return factors(np.asarray(on_host(self.metric), np.float64))


def sampled(target: Target, wanted: Wanted, schedule: Schedule, initial: Any) -> Draws:
    wanted.check(target.ndim)
    library, on_gpu = target.library, target.device == "cuda"
    with target.leading(), own_stream(on_gpu):
        keys = library.asarray(evaluated(random.fold_in(wanted.key, np.arange(wanted.chains))))
        scale = wanted.scale(target.ndim)
        dynamics = dynamics_of(target, keys, scale)

        def finite(positions: Any) -> Any:
            dynamics.evaluate(positions)
            return _finite(dynamics)

        started(target, keys, initial, finite)
        kept = library.empty((wanted.draws, Record.size(wanted.chains, target.ndim)))
        return _Run(dynamics, wanted, schedule, kept).drawn()


def _finite(dynamics: Dynamic) -> Any:
    """For each chain, whether its log density and gradient are finite."""
    library, state = dynamics.target.library, dynamics.state
    return library.isfinite(state.record.log_density) & library.isfinite(state.gradient).all(axis=1)


@final
class _Run:
    """One run: the warm-up, then the draws, which are kept in one array."""

    def __init__(self, dynamics: Dynamic, wanted: Wanted, schedule: Schedule, kept: Any) -> None:
        self.dynamics, self.wanted, self.schedule, self.kept = dynamics, wanted, schedule, kept
        self.step = wanted.step_size or first_step(dynamics.target.ndim)
        self.length = wanted.trajectory or self.step
        self.progress = Progress(wanted.warmup + wanted.draws, wanted.chains, wanted.progress)
        self.steps: list[int] = []
        self._seen = self._divergences = 0

    def drawn(self) -> Draws:
        """All draws, or those before an interruption."""
        interrupted = False
        try:
            self._warm_up()
            self._draw()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self.progress.close()
        found = self._result(interrupted)
        if not interrupted:
            self._look_far_out(found)
        return found

    def _look_far_out(self, draws: Draws) -> None:
        """Warn of a density that has no total; that takes a twentieth of the time of the run, at most."""
        target, state = self.dynamics.target, self.dynamics.state

        def evaluate(positions: np.ndarray) -> np.ndarray:
            self.dynamics.evaluate(target.library.asarray(positions))
            return on_host(state.record.log_density).copy()

        def gradients(positions: np.ndarray) -> np.ndarray:
            evaluate(positions)
            scale, whitened = factor_of(on_host(self.dynamics.scale)), on_host(state.gradient)
            return whitened / scale if scale.ndim == 1 else np.linalg.solve(scale.T, whitened.T).T

        names, budget = getattr(target.given, "param_unc_names", None), int(draws.steps.sum()) // 20
        warn_of_flat_directions(draws.positions, evaluate, names, budget, gradients)

    def _warm_up(self) -> None:
        wanted = self.wanted
        if not wanted.warmup:
            return
        warmup = Warmup(
            self.dynamics, self.schedule, wanted.warmup, self.step, wanted.acceptance, wanted.trajectory, wanted.adapts
        )
        for number in range(wanted.warmup):
            acceptance = warmup.draw(number)
            if self.progress.due:
                self.progress.show(number + 1, "warm-up", warmup.steps.step, acceptance, 0)
        self.step = warmup.steps.average
        self.length = wanted.trajectory or warmup.lengths.average

    def _draw(self) -> None:
        dynamics, warmup = self.dynamics, self.wanted.warmup
        dynamics.step[...] = self.step
        for number in range(self.wanted.draws):
            steps = self.schedule.steps(warmup + number, self.length, self.step)
            dynamics.draw(steps)
            self.kept[number] = dynamics.state.record.memory
            self.steps.append(steps)
            if self.progress.due or number + 1 == self.wanted.draws:
                self._show(number + 1)

    def _show(self, done: int) -> None:
        if not self.progress.shown:
            return
        record = self._record(slice(self._seen, done))
        self._seen, self._divergences = done, self._divergences + int(record.divergent.sum())
        acceptance = float(record.acceptance.mean())
        self.progress.show(self.wanted.warmup + done, "draws", self.step, acceptance, self._divergences)

    def _record(self, rows: slice) -> Record:
        return Record(self.kept[rows], self.wanted.chains, self.dynamics.target.ndim)

    def _result(self, interrupted: bool) -> Draws:
        record = self._record(slice(0, len(self.steps)))
        fields = record.log_density, record.energy, record.acceptance, record.divergent != 0.0
        log_densities, energies, acceptance, divergences = (numbers.swapaxes(0, 1) for numbers in fields)
        scale = factor_of(on_host(self.dynamics.scale))
        return Draws(
            record.position.swapaxes(0, 1),
            log_densities,
            energies,
            acceptance,
            divergences,
            np.array(self.steps, np.int64),
            self.step,
            self.length,
            scale**2 if scale.ndim == 1 else scale @ scale.T,
            interrupted,
            getattr(self.dynamics.target.given, "unpack", None),
        )


def factor_of(scale: np.ndarray) -> np.ndarray:
    """The factor A of a metric, or its diagonal; of one of low rank the whole matrix."""
    return unpacked(scale) if scale.ndim == 3 else scale


def first_step(ndim: int) -> float:
    """A step size to begin with, for a density of unit scale (Neal 2011, section 5.4.4)."""
    return ndim**-0.25
