"""Hamiltonian Monte Carlo: trajectories of a given length, of one that is learnt, or trees that end when they turn."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from vecdist.lazy.devices import Devices
from vecdist.samplers.density import Given, Target
from vecdist.samplers.draws import Draws
from vecdist.samplers.run import Wanted, sampled
from vecdist.samplers.trees import run as trees
from vecdist.samplers.warmup import Schedule


def hmc(
    density: Given, *, chains: int = 4, draws: int = 1000, warmup: int = 500, key: int = 0,
    initial: ArrayLike | None = None, metric: ArrayLike = "diagonal", trajectory: float = math.pi / 2,
    jitter: float = 0.5, step_size: float | None = None, acceptance: float = 0.8, max_steps: int = 512,
    device: str | Devices | None = None, progress: bool = True,
) -> Draws:  # fmt: skip
    """Draws by Hamiltonian Monte Carlo, trajectories of a given length (Duane et al. 1987; Neal 2011).

    ``density`` has ``ndim`` and ``trace(x)``, as a ``LogDensity`` has, or is a function from a lazy vector to a lazy
    scalar, which wants ``initial``.  A trajectory lasts 1 - jitter to 1 + jitter times ``trajectory``: in a time of
    pi / 2, a normal distribution of the metric's covariance gets to an independent draw.  All chains take equally many
    leapfrog steps, ``max_steps`` at most.

    ``warmup`` draws adapt the step size to a mean ``acceptance`` and the ``metric``: ``"unit"``, ``"diagonal"``,
    ``"dense"``, ``"low-rank"``, a diagonal and the 32 directions in which it is farthest off, from positions and
    gradients (Seyboldt, Carlson and Carpenter), or variances (D,) or a covariance (D, D) that stay.  In the first tenth
    of them every chain has a step size of its own; later a chain that fails takes smaller steps until it moves.
    Without a warmup ``step_size`` must be given, and no chain depends on any other.  ``initial`` has shape (D,) or
    (chains, D); without it chains begin uniformly between -2 and 2.  Chain c draws from a stream of its own of ``key``.
    ``device`` is ``"cpu"`` or ``"cuda"``; where it is left out, a GPU if the density or ``initial`` has CuPy arrays.
    ``vecdist.devices(...)`` share chains, in as many groups as these have pieces: draws are the same for any number of
    devices.  Nothing waits for a device but the adaptation and ``progress``.

    A chain whose energy is not finite rejects, and is marked as divergent; the others go on.  ``KeyboardInterrupt``
    returns what was drawn.  Raises ``ValueError`` where a chain cannot start, or an argument is out of range.

    >>> import numpy as np
    >>> from vecdist import logpdf
    >>> from vecdist.distributions import Normal
    >>> from vecdist.samplers import hmc
    >>> draws = hmc(lambda x: logpdf(Normal(3.0, 0.5), x).sum(), initial=np.zeros(2), chains=2, draws=20, warmup=0,
    ...             step_size=0.2, progress=False)
    >>> draws.positions.shape, bool(draws.divergences.any())
    ((2, 20, 2), False)
    """
    if not (trajectory > 0.0 and 0.0 <= jitter < 1.0):
        raise ValueError(f"trajectory is positive and jitter in [0, 1), given {trajectory} and {jitter}")
    wanted = Wanted(chains, draws, warmup, key, metric, step_size, acceptance, trajectory, progress)
    return sampled(Target.of(density, initial, device, shares=True), wanted, Schedule(jitter, max_steps), initial)


def chees(
    density: Given, *, chains: int = 64, draws: int = 1000, warmup: int = 500, key: int = 0,
    initial: ArrayLike | None = None, metric: ArrayLike = "diagonal", step_size: float | None = None,
    acceptance: float = 0.651, max_steps: int = 512, device: str | Devices | None = None, progress: bool = True,
) -> Draws:  # fmt: skip
    """Draws by ChEES-HMC: trajectories of a length that is learnt from all chains.

    Hoffman, Radul and Sountsov (2021), An adaptive-MCMC scheme for setting trajectory lengths in Hamiltonian Monte
    Carlo.  The length, spread uniformly from 0 to it, maximises the change of the squared distance from the mean, in
    units of the metric; ``acceptance`` is the harmonic mean that the step size aims at; all else is as for ``hmc``.
    Wants many chains, some tens; raises ``ValueError`` for fewer than 2, or a ``warmup`` of 0.

    >>> import numpy as np
    >>> from vecdist import logpdf
    >>> from vecdist.distributions import Normal
    >>> from vecdist.samplers import chees
    >>> draws = chees(lambda x: logpdf(Normal(3.0, 0.5), x).sum(), initial=np.zeros(2), chains=8, draws=5, warmup=10,
    ...               progress=False)
    >>> draws.positions.shape
    (8, 5, 2)
    """
    if chains < 2 or warmup < 1:
        raise ValueError(f"ChEES learns from 2 chains or more in a warmup; given {chains} chains, warmup {warmup}")
    wanted = Wanted(chains, draws, warmup, key, metric, step_size, acceptance, None, progress)
    return sampled(Target.of(density, initial, device, shares=True), wanted, Schedule(None, max_steps), initial)


def nuts(
    density: Given, *, chains: int = 4, draws: int = 1000, warmup: int = 1000, key: int = 0,
    initial: ArrayLike | None = None, metric: ArrayLike = "diagonal", step_size: float | None = None,
    acceptance: float = 0.8, max_depth: int = 10, device: str | None = None, progress: bool = True,
) -> Draws:  # fmt: skip
    """Draws by the No-U-Turn sampler: trees of leapfrog steps that double until they turn.

    Hoffman and Gelman (2014), The No-U-turn sampler, with draws from a tree in proportion to their densities, as
    Betancourt (2017), A conceptual introduction to Hamiltonian Monte Carlo, appendix A, has them.  No chain waits for
    another's deeper tree, or depends on it: each learns its own step size, for a mean ``acceptance``, and its own
    ``metric``, in windows that double.  A tree has 2**max_depth - 1 steps at most.  ``Draws.steps``, ``step_size`` and
    ``metric`` are each chain's own; all else is as for ``hmc``.  On a CPU threads take whole chains, where a gradient
    is one kernel; on a GPU a thread takes one, where there are 1024 chains of a small model (the kernel is compiled in
    some 2 seconds, and kept on disk); otherwise one launch has the next gradients of all chains.
    Raises ``ValueError`` where ``max_depth`` is not between 1 and 20, and what ``hmc`` raises.

    >>> import numpy as np
    >>> from vecdist import logpdf
    >>> from vecdist.distributions import Normal
    >>> from vecdist.samplers import nuts
    >>> draws = nuts(lambda x: logpdf(Normal(3.0, 0.5), x).sum(), initial=np.zeros(2), draws=200, warmup=200,
    ...              progress=False)
    >>> draws.positions.shape, draws.steps.shape, round(float(draws.positions.mean()))
    ((4, 200, 2), (4, 200), 3)
    """
    if not 1 <= max_depth <= 20:
        raise ValueError(f"max_depth is between 1 and 20, given {max_depth}")
    wanted = Wanted(chains, draws, warmup, key, metric, step_size, acceptance, None, progress)
    return trees.sampled(Target.of(density, initial, device), wanted, max_depth, initial)
