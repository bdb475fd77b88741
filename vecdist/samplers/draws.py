"""What samplers give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import on_host
from vecdist.samplers.diagnostics import ess, rhat


class Positions:
    """What is told of positions of shape (C, N, D), by whatever they were drawn."""

    positions: Any
    unpacking: Callable[[Any], dict[str, Any]] | None

    @property
    def unpacked(self) -> dict[str, Any]:
        """The draws by name, constrained, NumPy arrays of shape (C, N, *shape); as ``"x"`` where there are no names."""
        positions = on_host(self.positions)
        return {"x": positions} if self.unpacking is None else self.unpacking(positions)

    @property
    def ess(self) -> np.ndarray:
        """The effective sample size of the mean of each number of a position, of all chains together."""
        return ess(self.positions)

    @property
    def rhat(self) -> np.ndarray:
        """The rank-normalised split R-hat of each number of a position."""
        return rhat(self.positions)


@final
@dataclass(frozen=True, eq=False)
class Draws(Positions):
    """Draws of C chains, N of each, from a density of vectors of length D.

    ``positions`` has shape (C, N, D); ``log_densities``, ``energies``, ``acceptance`` (probabilities) and
    ``divergences`` (booleans) have shape (C, N); they are float64 arrays of the library in which the density is
    computed, NumPy or CuPy.  ``steps`` (N,) counts leapfrog steps, the same in all chains, ``step_size`` and
    ``trajectory_length`` are those that were learnt, and ``metric`` is the covariance (D, D), or the variances (D,), by
    which positions were scaled.  In draws by ``nuts`` each chain has its own: ``steps`` has shape (C, N), ``step_size``
    (C,), ``metric`` (C, D, D) or (C, D), and ``trajectory_length`` is ``None``.  ``interrupted`` says that fewer draws
    are there than were asked for.
    """

    positions: Any
    log_densities: Any
    energies: Any
    acceptance: Any
    divergences: Any
    steps: np.ndarray
    step_size: float | np.ndarray
    trajectory_length: float | None
    metric: np.ndarray
    interrupted: bool = False
    unpacking: Callable[[Any], dict[str, Any]] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        chains, draws, ndim = self.positions.shape
        told = f"{draws} draws of {ndim} numbers in each of {chains} chains"
        step = float(np.median(self.step_size))
        return f"<{told}, step size {step:.3g}{', interrupted' if self.interrupted else ''}>"


@final
@dataclass(frozen=True, eq=False)
class StochasticDraws(Positions):
    """Draws by stochastic gradients: N of each of C chains, from a density of vectors of length D.

    ``positions`` has shape (C, N, D), ``log_densities`` (C, N), estimates from the batch of that step, and
    ``divergences`` (C, N) says which draws have steps that failed; they are arrays of the library in which the density
    is computed, NumPy or CuPy.  ``step_sizes`` (N,) are those at the draws, by which averages are weighted where they
    fall.  ``noise`` (D,) is what the variance of estimated gradients was taken for.  ``interrupted`` says that fewer
    draws are there than were asked for.
    """

    positions: Any
    log_densities: Any
    divergences: Any
    step_sizes: np.ndarray
    noise: np.ndarray
    interrupted: bool = False
    unpacking: Callable[[Any], dict[str, Any]] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        chains, draws, ndim = self.positions.shape
        told = f"{draws} draws of {ndim} numbers in each of {chains} chains"
        return f"<{told} by stochastic gradients{', interrupted' if self.interrupted else ''}>"
