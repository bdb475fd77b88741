"""Warming up: after each draw of all chains, the step size, the length of trajectories and the metric are learnt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import on_host
from vecdist.lazy.array import LazyArray, as_lazy, where
from vecdist.samplers.adaptation import Covariance, DualAveraging, TrajectoryLength, Windows, bit_reversed, factors
from vecdist.samplers.hamiltonian import product
from vecdist.samplers.kernels import fused
from vecdist.samplers.low_rank import LowRank, applied, of_covariances, packed_inverse
from vecdist.samplers.shared import Dynamic

WORST = 0.01  # the acceptance below which a chain fails; a harmonic mean takes it as this, or it would rule alone
FEW = 8  # leapfrog steps of a draw at step sizes of their own: energy won by falling is given up before it leads astray
SMALLER, LARGER = 0.3, 4.0  # by these changes the share of a chain that failed, and of one that did not
LEAST, MOST = 1e-100, 1e100  # limits of shares: a density may be flat, or accept nothing
FIRST_STEP = 0.5  # once the metric fits
BLOCK = 16  # draws that the covariance takes in together


@final
class Schedule:
    """The number of leapfrog steps of each draw: a trajectory's length, spread evenly by ``jitter`` around it.

    Fractions of the length are 1 - jitter + jitter * 2 v for v in van der Corput's sequence; with ``jitter=None`` they
    are v itself, as ChEES has it.  All chains take the same steps, and the numbers of chains and draws change none.
    """

    def __init__(self, jitter: float | None, most: int) -> None:
        self.jitter: float | None = jitter
        self.most: int = most

    def fraction(self, number: int) -> float:
        """The part of the length that draw ``number`` takes."""
        v = bit_reversed(number + 1)
        return v if self.jitter is None else 1.0 + self.jitter * (2.0 * v - 1.0)

    def steps(self, number: int, length: float, step: float) -> int:
        """The leapfrog steps of draw ``number``."""
        wanted = self.fraction(number) * length / step
        return self.most if not wanted < self.most else max(1, math.ceil(wanted))


@final
class Report:
    """Means over all chains of what the last draw was like, read by the host in one piece.

    ``acceptance`` is what the step size is learnt from: the mean of all chains, or for ChEES the harmonic mean of those
    that did not diverge, times the part that they are of all.  ``slope`` is the derivative of the criterion of ChEES in
    the logarithm of the length.

    Each chain takes a ``share`` (C,) of a step, which stays on the device.  A chain that fails, as one does that began
    far out where the density is steep, takes a smaller one until it moves, and then larger ones again.  While its share
    is below 1 it counts as one that rejects (in the harmonic mean as one that diverged), and stops no other.
    """

    def __init__(self, dynamics: Dynamic, chees: bool) -> None:
        library = dynamics.target.library
        self.dynamics: Dynamic = dynamics
        self.chees: bool = chees
        self.inverse: Any = library.asarray(inverse_of(on_host(dynamics.scale)))
        self.share: Any = library.ones(dynamics.chains)
        self._next_share = library.ones(dynamics.chains)
        self._numbers = library.zeros(2)
        self._out = [self._numbers[place : place + 1].reshape(()) for place in range(2 if chees else 1)]
        self._out.append(self._next_share)
        self._run = fused(_chees if chees else _mean, self._arrays(1), [out.shape for out in self._out])

    def __call__(self, steps: int) -> Sequence[float]:
        """The acceptance and the slope, per unit of time, of the last draw, of ``steps`` steps."""
        self._run(self._arrays(steps), self._out)
        numbers = self._numbers
        return (numbers.get() if hasattr(numbers, "get") else numbers).tolist()

    def hand_out(self, step: float, most: float) -> None:
        """Every chain gets its share of ``step`` for the next draw, but no share larger than ``most``."""
        library = self.dynamics.target.library
        library.minimum(self._next_share, most, out=self.share)
        library.multiply(self.share, step, out=self.dynamics.step)

    def median_share(self) -> float:
        """The median of the next shares, which from here on are shares of that part."""
        median = float(self.dynamics.target.library.median(self._next_share))
        self._next_share /= median
        return median

    def _arrays(self, steps: int) -> Sequence[Any]:
        record, phase = self.dynamics.state.record, self.dynamics.proposal(steps)
        if not self.chees:
            return (record.acceptance, self.share)
        before = self.dynamics.previous.record.position
        end = (phase.position, phase.momentum, phase.gradient)
        return (before, *end, self.dynamics.step, self.inverse, record.acceptance, record.divergent, self.share)


def _mean(acceptance: LazyArray, share: LazyArray) -> Sequence[LazyArray]:
    return where(share < 1.0, 0.0, acceptance).mean(), _changed(share, acceptance)


def _changed(share: LazyArray, acceptance: LazyArray) -> LazyArray:
    return as_lazy(np.clip(share * where(acceptance < WORST, SMALLER, LARGER), LEAST, MOST))


def _chees(
    x0: LazyArray, x: LazyArray, r: LazyArray, h: LazyArray, step: LazyArray, inverse: LazyArray,
    acceptance: LazyArray, divergent: LazyArray, share: LazyArray,
) -> Sequence[LazyArray]:
    """The criterion of Hoffman et al. (2021) in whitened positions, each chain weighted by its acceptance."""
    fine = (divergent == 0.0) & (share >= 1.0)
    good = where(fine, 1.0, 0.0).sum()
    harmonic = good / where(fine, 1.0 / np.maximum(acceptance, WORST), 0.0).sum()
    accepted = where(good > 0.0, harmonic, 0.0) * (good / divergent.shape[0])
    each = where(share < 1.0, 0.0, acceptance)
    total = np.maximum(each.sum(), WORST)
    counts = (each > 0.0)[:, None]
    weights, ends = each[:, None], where(counts, x, 0.0)
    start = _whitened(x0 - x0.mean(axis=0), inverse)
    end = _whitened(ends - (weights * ends).sum(axis=0) / total, inverse)
    change = (end * end).sum(axis=1) - (start * start).sum(axis=1)
    momentum = where(counts, r - 0.5 * step[:, None] * h, 0.0)
    slope = (each * change * (end * momentum).sum(axis=1)).sum() / total
    return accepted, slope, _changed(share, acceptance)


def _whitened(x: LazyArray, inverse: LazyArray) -> LazyArray:
    return applied(inverse, x) if inverse.ndim == 3 else product(inverse, x)


@final
class Warmup:
    """The adaptation of one run, fed with one draw after another."""

    def __init__(
        self, dynamics: Dynamic, schedule: Schedule, draws: int, step: float, accept: float, length: float | None,
        adapts_metric: bool,
    ) -> None:
        self.dynamics: Dynamic = dynamics
        self.schedule: Schedule = schedule
        self.steps: DualAveraging = DualAveraging(step, accept)
        self.fixed_length = length
        self.lengths: TrajectoryLength = TrajectoryLength(step if length is None else length)
        windows = Windows.of(draws)
        self.windows: Windows = windows if adapts_metric else Windows(windows.first, ())
        self.report: Report = Report(dynamics, length is None)
        self.low_rank: LowRank = LowRank.unit(dynamics.target.ndim)
        self._forget()

    @property
    def learns_length(self) -> bool:
        return self.fixed_length is None

    def draw(self, number: int) -> float:
        """Make draw ``number`` and learn from it; returns the acceptance that is learnt from."""
        apart = number < self.windows.first
        step, length = self.steps.step, self.lengths.length
        steps = self.schedule.steps(number, FEW, 1.0) if apart else self.schedule.steps(number, length, step)
        self.report.hand_out(step, MOST if apart else 1.0)
        self.dynamics.draw(steps)
        acceptance, slope = self.report(steps)
        if apart:
            if number + 1 == self.windows.first:
                self._join()
            return acceptance
        self.steps.update(acceptance)
        if self.learns_length:
            slope *= self.schedule.fraction(number) * length
            self.lengths.update(slope, self.steps.step, self.steps.step * self.schedule.most)
        if self.windows.ends and number < self.windows.ends[-1]:
            self._remember(number)
        return acceptance

    def _join(self) -> None:
        """One step size for all chains from here on: in the middle of those that they found."""
        self.steps.restart(self.steps.step * self.report.median_share())
        if self.learns_length:
            self.lengths.restart(FEW * self.steps.step)

    def _remember(self, number: int) -> None:
        """Take in positions; at the end of a window, change the metric."""
        state, wants_slopes = self.dynamics.state, self.dynamics.scale.ndim == 3
        seen = (state.record.position, state.gradient)[: 1 + wants_slopes]
        self._block.append([each.copy() for each in seen])
        ends = number + 1 in self.windows.ends
        if ends or len(self._block) == BLOCK:
            for learnt, rows in zip((self.metric, self.slopes), zip(*self._block, strict=True), strict=False):
                learnt.update(self.dynamics.target.library.stack(rows))
            self._block = []
        if not ends:
            return
        self._rescale(self._learnt() if wants_slopes else factors(self.metric.regularised()))
        self._forget()
        if number + 1 == self.windows.ends[0]:  # time has another unit now
            self.steps.restart(FIRST_STEP)
            if self.learns_length:
                self.lengths.restart(math.pi / 2)
        else:
            self.steps.restart(self.steps.average)

    def _rescale(self, scale: np.ndarray) -> None:
        self.report.inverse[...] = self.dynamics.target.library.asarray(inverse_of(scale))
        self.dynamics.rescale(scale)

    def _learnt(self) -> np.ndarray:
        """A factor of low rank, from covariances of positions and gradients; the old one, where these say nothing."""
        left = self.low_rank.gradients(self.slopes.found())  # of whitened gradients: their covariance from both sides
        found = of_covariances(self.metric.found(), self.low_rank.gradients(left.T), self.metric.count)
        self.low_rank: LowRank = self.low_rank if found is None else found
        return self.low_rank.packed

    def _forget(self) -> None:
        """Begin to learn from positions anew, and from gradients where they are wanted."""
        self._block: list[Any] = []
        self.metric, self.slopes = (Covariance(self.dynamics.scale.ndim > 1) for _ in range(2))


def inverse_of(scale: np.ndarray) -> np.ndarray:
    """The inverse of a factor, of its diagonal, or of one of low rank, packed alike."""
    if scale.ndim == 3:
        return packed_inverse(scale)
    return 1.0 / scale if scale.ndim == 1 else np.linalg.inv(scale)
