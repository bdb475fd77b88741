"""Samplers that read a few rows of the data for each step: stochastic gradient Langevin and Hamiltonian dynamics."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike

from vecdist import random
from vecdist.graph.leaves import on_host
from vecdist.samplers.density import Given, Target
from vecdist.samplers.draws import StochasticDraws
from vecdist.samplers.friction import Estimate, Friction
from vecdist.samplers.kernels import evaluated
from vecdist.samplers.progress import Progress
from vecdist.samplers.replay import own_stream
from vecdist.samplers.starts import started

Steps: TypeAlias = float | Callable[[np.ndarray], ArrayLike]
"""The size of all steps, or a function of an array of their numbers, from 0."""


def polynomial(a: float, b: float = 1.0, power: float = 0.55) -> Callable[[np.ndarray], np.ndarray]:
    """Step sizes a (b + t)^-power, which fall to 0 so slowly that chains get everywhere for a power in (0.5, 1].

    Welling and Teh (2011), below equation 2.

    >>> import numpy as np
    >>> from vecdist.samplers import polynomial
    >>> polynomial(0.1, 1.0, 0.5)(np.array([0, 3])).tolist()
    [0.1, 0.05]
    """
    return lambda t: a * (b + t) ** -power


def sgld(
    density: Given, *, step_size: Steps, batch: int | None = 256, chains: int = 4, draws: int = 1000, warmup: int = 500,
    steps: int = 1, key: int = 0, initial: ArrayLike | None = None, center: ArrayLike | None = None,
    metric: ArrayLike = 1.0, device: str | None = None, progress: bool = True,
) -> StochasticDraws:  # fmt: skip
    """Draws by stochastic gradient Langevin dynamics (Welling and Teh 2011, equation 4).

    x' = x + step / 2 M g + normal(0, step M), where g is the gradient of the log density estimated from a ``batch`` of
    rows, for each chain its own, in epochs (``vecdist.random.minibatch``), and M the ``metric``, variances (D,).
    ``density`` is a ``LogDensity`` with ``rows=``, which may be out of memory, as of ``vecdist.chunked`` or Dask: those
    of a batch are read before each step; or with ``batch=None`` it is anything that ``hmc`` takes.  Nothing is
    rejected: draws are of a distribution that is near in as much as steps are small, and noisy gradients widen it.
    ``step_size`` is a number, or a function of the numbers of steps, such as ``polynomial``; average then by
    ``np.average(..., weights=draws.step_sizes)``.

    ``center``, a vector near the mode, takes from each gradient what the batch gives there, and adds that of all rows,
    so that the noise is of the distance from it: control variates (Baker et al. 2019).  Without it steps must be so
    small that the noise of gradients is little beside what a step adds.

    A draw is the last of ``steps`` steps.  ``warmup`` draws are left out.  ``initial``, ``key``, ``chains`` and
    ``device`` are as for ``hmc``; chains begin at the ``center`` where that alone is given.  From where the log
    density is not finite a chain goes back, a number of a step that is not finite is taken for 0, and either draw is
    marked as divergent.  ``KeyboardInterrupt`` returns what was drawn.  Raises ``ValueError`` where a chain cannot
    start, or an argument is out of range.

    >>> import numpy as np, vecdist
    >>> from vecdist.parameters import real
    >>> from vecdist.samplers import sgld
    >>> model = lambda mu, y: {"likelihood": -0.5 * (y - mu) ** 2}
    >>> density = vecdist.LogDensity(model, mu=real(), rows={"y": np.arange(100.0)})
    >>> draws = sgld(density, step_size=1e-3, batch=10, center=np.array([49.5]), chains=2, warmup=50, draws=50,
    ...              progress=False)
    >>> draws.positions.shape, bool(abs(draws.unpacked["mu"].mean() - 49.5) < 0.2)
    ((2, 50, 1), True)
    """
    asked = _Asked(batch, chains, draws, warmup, steps, key, progress, in_epochs=True)
    target = Target.of(density, initial, device)
    rates = 0.5 * asked.sizes(step_size)
    return _sampled(target, asked, rates, 1.0, 0.0, center, initial, metric, 2.0 * rates)


def sghmc(
    density: Given, *, step_size: Steps, friction: float = 0.1, noise: ArrayLike | None = None,
    batch: int | None = 256, chains: int = 4, draws: int = 1000, warmup: int = 500, steps: int = 10, key: int = 0,
    initial: ArrayLike | None = None, center: ArrayLike | None = None, metric: ArrayLike = 1.0,
    device: str | None = None, progress: bool = True,
) -> StochasticDraws:  # fmt: skip
    """Draws by stochastic gradient Hamiltonian Monte Carlo (Chen, Fox and Guestrin 2014, equation 15).

    v' = (1 - a) v + e^2 M g + normal(0, 2 (a - b) e^2 M), x' = x + v', for a ``step_size`` e, as of a leapfrog step,
    and the share a, the ``friction``, of a momentum that each step takes.  b = e^2 M V / 2 is what the variance V of
    estimated gradients adds by itself, which is left out of the noise that is added.  ``noise`` is V, for each number
    (D,); where it is not given it is estimated in the ``warmup``, from two batches for each draw.  What it says holds
    of batches that do not depend on each other: they are new ones in each step, not those of epochs.  Correlations
    within a gradient remain, and where b is above a the distribution is too wide: take smaller steps, larger batches,
    more friction, or a ``center``.

    All else is as for ``sgld``.

    >>> import numpy as np
    >>> from vecdist import logpdf
    >>> from vecdist.distributions import Normal
    >>> from vecdist.samplers import sghmc
    >>> draws = sghmc(lambda x: logpdf(Normal(3.0, 0.5), x).sum(), initial=np.zeros(2), step_size=0.1, batch=None,
    ...               chains=2, warmup=20, draws=20, progress=False)
    >>> draws.positions.shape
    (2, 20, 2)
    """
    if not 0.0 < friction <= 1.0:
        raise ValueError(f"friction is above 0 and at most 1, given {friction}")
    asked = _Asked(batch, chains, draws, warmup, steps, key, progress, in_epochs=False)
    target = Target.of(density, initial, device)
    sizes = asked.sizes(step_size)
    return _sampled(target, asked, sizes**2, friction, noise, center, initial, metric, sizes)


@final
@dataclass(frozen=True)
class _Asked:
    """What a user asks for, of either sampler."""

    batch: int | None
    chains: int
    draws: int
    warmup: int
    steps: int
    key: int
    progress: bool
    in_epochs: bool

    def sizes(self, step_size: Steps) -> np.ndarray:
        """The size of every step; ``ValueError`` for what cannot be meant."""
        if self.chains < 1 or self.draws < 0 or self.warmup < 0 or self.steps < 1:
            given = f"{self.chains} chains, {self.draws} draws and {self.warmup} of warmup, of {self.steps} steps"
            raise ValueError(f"given {given}")
        count = (self.warmup + self.draws) * self.steps
        sizes: Any = step_size(np.arange(count)) if callable(step_size) else step_size
        found = np.broadcast_to(np.asarray(sizes, float), count).copy()
        if not ((found > 0.0) & (found < math.inf)).all():
            raise ValueError(f"step sizes are positive, given {found[~((found > 0.0) & (found < math.inf))][0]}")
        return found


def _sampled(
    target: Target, asked: _Asked, rates: np.ndarray, friction: float, noise: Any, center: Any, initial: Any,
    metric: Any, sizes: np.ndarray,
) -> StochasticDraws:  # fmt: skip
    for name, given, number in (("center", center, ()), ("metric", metric, ((),)), ("noise", noise, ((),))):
        if given is not None and np.shape(given) not in ((target.ndim,), *number):
            raise ValueError(f"{name} has shape {np.shape(given)}; wanted ({target.ndim},)")
    with own_stream(target.device == "cuda"):
        keys = target.library.asarray(evaluated(random.fold_in(asked.key, np.arange(asked.chains))))
        estimate = Estimate(target, asked.batch, center)
        dynamics = Friction(estimate, keys, center, rates, friction, metric, asked.steps, asked.in_epochs)
        first = center if initial is None else initial

        def finite(positions: Any) -> Any:
            value, slopes = dynamics.slopes(dynamics.pair[0], positions)
            return target.library.isfinite(value) & target.library.isfinite(slopes).all(axis=1)

        dynamics.state[0][...] = started(target, keys, first, finite)
        return _Run(dynamics, asked, noise, sizes[asked.steps - 1 :: asked.steps]).drawn()


@final
class _Run:
    """One run: the warm-up, then the draws."""

    def __init__(self, dynamics: Friction, asked: _Asked, noise: Any, sizes: np.ndarray) -> None:
        target = dynamics.estimate.target
        self.dynamics, self.asked, self.noise, self.sizes = dynamics, asked, noise, sizes
        self.progress = Progress(asked.warmup + asked.draws, asked.chains, asked.progress)
        self.positions: Any = target.library.empty((asked.draws, asked.chains, target.ndim))
        self.values, self.failures = (target.library.empty((asked.draws, asked.chains)) for _ in range(2))
        self.before: Any = target.library.zeros(asked.chains)
        self.done = 0

    def drawn(self) -> StochasticDraws:
        """All draws, or those before an interruption."""
        interrupted = False
        try:
            self._warm_up()
            self._draw()
        except KeyboardInterrupt:
            interrupted = True
        finally:
            self.progress.close()
        return self._result(interrupted)

    def _warm_up(self) -> None:
        dynamics, warmup, learns = self.dynamics, self.asked.warmup, self.noise is None and self.asked.batch is not None
        if self.noise is not None:
            dynamics.noise[...] = dynamics.estimate.target.library.asarray(self.noise)
        found = 0.0
        for number in range(warmup):
            dynamics.draw()
            found += dynamics.variance() if learns else 0.0
            if self.progress.due:
                self.progress.show(number + 1, "warm-up", self.sizes[number], None, 0)
        if learns and warmup:
            dynamics.noise[...] = found / warmup

    def _draw(self) -> None:
        dynamics, warmup = self.dynamics, self.asked.warmup
        self.before[...] = dynamics.state[2].sum(axis=1)
        for number in range(self.asked.draws):
            self.positions[number] = dynamics.draw()
            self.values[number], self.failures[number] = dynamics.values, dynamics.state[2].sum(axis=1)
            self.done = number + 1
            if self.progress.due or self.done == self.asked.draws:
                failed = int((self.failures[number] - self.before).sum()) if self.progress.shown else 0
                self.progress.show(warmup + self.done, "draws", self.sizes[warmup + number], None, failed)

    def _result(self, interrupted: bool) -> StochasticDraws:
        done, first = self.done, self.asked.warmup
        failures = self.dynamics.estimate.target.library.concatenate([self.before[None], self.failures[:done]])
        return StochasticDraws(
            self.positions[:done].swapaxes(0, 1),
            self.values[:done].T,
            (failures[1:] > failures[:-1]).T,
            self.sizes[first : first + done],
            on_host(self.dynamics.noise).copy(),
            interrupted,
            getattr(self.dynamics.estimate.target.given, "unpack", None),
        )
