"""What samplers learn while they warm up: the step size, the length of trajectories, and the metric."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import on_host

METRICS = ("unit", "diagonal", "dense", "low-rank")


@final
class DualAveraging:
    """A step size for which a statistic of acceptance has a target mean (Hoffman and Gelman 2014, equation 6).

    ``step`` is the next one to try, ``average`` the one to keep.  Steps are drawn towards the first one; the paper's,
    towards ten times that, would fail in many chains together, and lengthen the trajectories of ChEES.
    """

    GAMMA, LATE, KAPPA = 0.1, 10.0, 0.75  # the paper has 0.05 for one chain; a mean of many is steadier
    FARTHEST = 300.0  # the logarithm of no step size is farther from 0: a density may be flat, or accept nothing

    def __init__(self, step: float, target: float) -> None:
        self.target = target
        self.restart(step)

    def restart(self, step: float) -> None:
        """Forget what was seen, and begin near ``step``."""
        self.step = self.average = step
        self._centre = math.log(step)
        self._count, self._error, self._log_average = 0, 0.0, 0.0

    def update(self, acceptance: float) -> None:
        """Learn from the acceptance of one draw."""
        self._count += 1
        n, weight = self._count, 1.0 / (self._count + self.LATE)
        self._error += weight * (self.target - acceptance - self._error)
        log_step = self._centre - math.sqrt(n) / self.GAMMA * self._error
        log_step = min(max(log_step, -self.FARTHEST), self.FARTHEST)
        self._log_average += n**-self.KAPPA * (log_step - self._log_average)
        self.step: float = math.exp(log_step)
        self.average: float = math.exp(self._log_average)


@final
class TrajectoryLength:
    """A length of trajectories that makes squared distances from the mean change most (Hoffman et al. 2021).

    Its logarithm climbs by Adam (Kingma and Ba 2015), without momentum; ``average`` is the one to keep.
    """

    RATE, DECAY, KAPPA = 0.025, 0.95, 0.5

    def __init__(self, length: float) -> None:
        self.restart(length)

    def restart(self, length: float) -> None:
        """Forget what was seen, and begin at ``length``."""
        self.length = self.average = length
        self._count, self._square, self._log_average = 0, 0.0, 0.0

    def update(self, slope: float, shortest: float, longest: float) -> None:
        """Climb by ``slope``, a derivative in the logarithm of the length, within limits."""
        self._count += 1
        if math.isfinite(slope):
            self._square += (1.0 - self.DECAY) * (slope * slope - self._square)
            scale = math.sqrt(self._square / (1.0 - self.DECAY**self._count))
            self.length *= math.exp(self.RATE * slope / scale) if scale > 0.0 else 1.0
        self.length: float = min(max(self.length, shortest), longest)
        weight = self._count**-self.KAPPA
        self._log_average += weight * (math.log(self.length) - self._log_average)
        self.average: float = math.exp(self._log_average)


@final
class Covariance:
    """The mean and covariance of all draws of all chains, block by block (Chan, Golub and LeVeque 1983).

    Blocks have the shape (draws, C, D), in NumPy or CuPy; a diagonal one keeps variances alone.
    """

    def __init__(self, dense: bool) -> None:
        self.dense = dense
        self.count, self._mean, self._squares = 0, 0.0, 0.0

    def update(self, block: Any) -> None:
        """Take in the draws of ``block``."""
        rows = block.reshape(-1, block.shape[-1])
        mean = rows.mean(axis=0)
        apart, more, shift = rows - mean, len(rows), mean - self._mean
        weight = self.count * more / (self.count + more)
        if self.dense:
            self._squares = self._squares + apart.T @ apart + weight * shift[:, None] * shift
        else:
            self._squares = self._squares + (apart * apart).sum(axis=0) + weight * shift * shift
        self.count += more
        self._mean = self._mean + shift * (more / self.count)

    def found(self) -> np.ndarray:
        """The covariance, or the variances."""
        return on_host(self._squares) / max(self.count - 1, 1)

    def regularised(self) -> np.ndarray:
        """The covariance, or the variances, drawn a little towards 1e-3 as Stan does (reference manual, HMC).
        """
        found = self.found()
        weight = self.count / (self.count + 5.0)
        return weight * found + 1e-3 * (1.0 - weight) * (np.eye(len(found)) if self.dense else 1.0)


@final
@dataclass(frozen=True)
class Windows:
    """The draws of a warm-up after which the metric is learnt anew: windows that double, as Stan's do.

    In the first tenth each chain finds the bulk by itself, and the last fifth is for the step size alone.
    """

    first: int
    ends: tuple[int, ...]

    @staticmethod
    def of(warmup: int) -> Windows:
        """The windows of so many draws; none where there are too few."""
        first, last, length = warmup // 10, warmup - warmup // 5, max(warmup // 10, 5)
        ends: list[int] = []
        at = first
        while at + length <= last:
            wide = last - at < 3 * length  # what is left after this one is no window of its own
            at = last if wide else at + length
            ends.append(at)
            length *= 2
        return Windows(first, tuple(ends))


def factors(covariance: np.ndarray) -> np.ndarray:
    """A factor A of a covariance A A^T: Cholesky's, or square roots of variances."""
    return np.sqrt(covariance) if covariance.ndim == 1 else np.linalg.cholesky(covariance)


def bit_reversed(number: int) -> float:
    """Element ``number`` of van der Corput's sequence in base 2, evenly spread over (0, 1).

    >>> [bit_reversed(n) for n in (1, 2, 3, 4)]
    [0.5, 0.25, 0.75, 0.125]
    """
    found, weight = 0.0, 0.5
    while number:
        found, number, weight = found + weight * (number % 2), number // 2, weight / 2
    return found


__all__: Sequence[str] = ("METRICS", "Covariance", "DualAveraging", "TrajectoryLength", "Windows", "bit_reversed")
