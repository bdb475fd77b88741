"""The mode of a log density, and the normal distribution that fits it there."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from vecdist import random
from vecdist.graph.leaves import on_host
from vecdist.lazy.array import as_lazy
from vecdist.lazy.derivatives import hessian
from vecdist.samplers.density import Given, Target
from vecdist.samplers.kernels import value_and_gradient

PAIRS = 10  # changes of position and gradient that the inverse Hessian is made of
ARMIJO, WOLFE = 1e-4, 0.9
HALVINGS = 60

Downhill = Callable[[np.ndarray], tuple[float, np.ndarray]]
"""The negative log density and its gradient."""


@final
@dataclass(frozen=True, eq=False)
class Mode:
    """A maximum of a log density: ``converged`` says whether the gradient there is as small as was wanted."""

    position: np.ndarray
    log_density: float
    gradient: np.ndarray
    evaluations: int
    converged: bool


@final
@dataclass(frozen=True, eq=False)
class Laplace:
    """A normal distribution with the mode of a density, and the curvature there: its mean, and its covariance L L^T."""

    mean: np.ndarray
    covariance: np.ndarray
    factor: np.ndarray
    log_evidence: float

    def draws(self, count: int, key: int = 0) -> np.ndarray:
        """Independent draws of it, of shape (count, D)."""
        normal = np.asarray(random.normal(key, (count, len(self.mean))))
        return self.mean + normal @ self.factor.T


def find_map(
    density: Given, initial: ArrayLike | None = None, tolerance: float = 1e-8, evaluations: int = 2000,
    device: str | None = None,
) -> Mode:  # fmt: skip
    """A maximum of a log density near ``initial`` (zeros where that is left out), by L-BFGS (Nocedal 1980).

    ``density`` and ``device`` are those that ``hmc`` takes.  It ends where no element of the gradient exceeds
    ``tolerance``, or where rounding allows no further gain, which is called converged where the gradient is within the
    square root of it.  Raises ``ValueError`` where the log density or its gradient is not finite at ``initial``.

    >>> import numpy as np
    >>> from vecdist import logpdf
    >>> from vecdist.distributions import Normal
    >>> from vecdist.samplers import find_map
    >>> find_map(lambda x: logpdf(Normal([1.0, 2.0], 0.5), x).sum(), np.zeros(2)).position.round(6)
    array([1., 2.])
    """
    target = Target.of(density, initial, device)
    start = np.zeros(target.ndim) if initial is None else np.array(on_host(initial), np.float64)
    downhill = _Counted(_downhill(target, start))
    value, slope = downhill(start)
    if start.ndim != 1 or not (math.isfinite(value) and np.isfinite(slope).all()):
        raise ValueError("the log density or its gradient is not finite at the initial point, one vector")
    with np.errstate(all="ignore"):  # a density without bound may overflow
        at, value, slope = _descended(downhill, start, value, slope, tolerance, evaluations)
    steepest = abs(slope).max(initial=0.0)
    return Mode(at, -value, -slope, downhill.count, bool(steepest <= math.sqrt(tolerance)))


def laplace(
    density: Given, initial: ArrayLike | None = None, mode: Mode | None = None, device: str | None = None
) -> Laplace:
    """Laplace's approximation: the normal distribution with the mode and the curvature of a density.

    ``log_evidence`` is log p(mode) + D/2 log(2 pi) + 1/2 log det(covariance) (MacKay 2003, chapter 27).  The mode is
    found from ``initial`` unless it is given.  Raises ``ValueError`` where the search did not converge, or the
    curvature is not that of a maximum.

    >>> import numpy as np
    >>> from vecdist import logpdf
    >>> from vecdist.distributions import Normal
    >>> from vecdist.samplers import laplace
    >>> fit = laplace(lambda x: logpdf(Normal(1.0, [0.5, 2.0]), x).sum(), np.zeros(2))
    >>> fit.covariance.round(6).tolist(), abs(round(fit.log_evidence, 6))
    ([[0.25, 0.0], [0.0, 4.0]], 0.0)
    """
    mode = find_map(density, initial, device=device) if mode is None else mode
    if not mode.converged:
        raise ValueError(f"no mode was found: the gradient is still {abs(mode.gradient).max():.3g}")
    target = Target.of(density, mode.position, device)
    given = target.library.asarray(mode.position)
    precision = -np.asarray(on_host(hessian(target.trace(as_lazy(given)), given)))
    precision = 0.5 * (precision + precision.T)
    try:
        lower = np.linalg.cholesky(precision)
    except np.linalg.LinAlgError:
        raise ValueError("the Hessian is not negative definite where the gradient vanishes: no maximum") from None
    covariance = np.linalg.inv(precision)
    covariance = 0.5 * (covariance + covariance.T)
    log_volume = 0.5 * target.ndim * math.log(2 * math.pi) - np.log(np.diag(lower)).sum()
    return Laplace(mode.position, covariance, np.linalg.cholesky(covariance), float(mode.log_density + log_volume))


@final
class _Counted:
    """A function, and how often it was called."""

    def __init__(self, function: Downhill) -> None:
        self.function, self.count = function, 0

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        self.count += 1
        return self.function(x)


def _downhill(target: Target, start: np.ndarray) -> Downhill:
    uphill = value_and_gradient(target.trace, target.library.asarray(start))

    def downhill(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = uphill(target.library.asarray(x))
        return -float(value), -np.asarray(on_host(slope))

    return downhill


def _descended(
    downhill: _Counted, at: np.ndarray, value: float, slope: np.ndarray, tolerance: float, evaluations: int
) -> tuple[np.ndarray, float, np.ndarray]:
    """Where the descent ends, with value and gradient."""
    pairs: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=PAIRS)
    while abs(slope).max(initial=0.0) > tolerance and downhill.count < evaluations:
        direction = -_inverse_times(pairs, slope)
        first = 1.0 if pairs else min(1.0, 1.0 / float(np.linalg.norm(slope)))
        found = _searched(downhill, at, value, slope, direction, first)
        if found is None and not pairs:
            break
        if found is None:  # what was learnt of the curvature misleads
            pairs.clear()
            continue
        there, value, steep = found
        change, bend = there - at, steep - slope
        if change @ bend > 0.0:
            pairs.append((change, bend))
        at, slope = there, steep
    return at, value, slope


def _inverse_times(pairs: deque[tuple[np.ndarray, np.ndarray]], slope: np.ndarray) -> np.ndarray:
    """The inverse Hessian times a vector (Nocedal and Wright 2006, algorithm 7.4)."""
    result, weights = slope.copy(), []
    for change, bend in reversed(pairs):
        weights.append(change @ result / (change @ bend))
        result -= weights[-1] * bend
    if pairs:
        change, bend = pairs[-1]
        result *= change @ bend / (bend @ bend)
    for (change, bend), weight in zip(pairs, reversed(weights), strict=True):
        result += (weight - bend @ result / (change @ bend)) * change
    return result


def _searched(
    downhill: _Counted, at: np.ndarray, value: float, slope: np.ndarray, direction: np.ndarray, length: float
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """A point on a line that satisfies the weak Wolfe conditions (Lewis and Overton 2013, algorithm 2.6).

    Where rounding hides the conditions, the best point with a lower value; ``None`` where there is none.
    """
    fall, low, high = float(slope @ direction), 0.0, math.inf
    best: tuple[np.ndarray, float, np.ndarray] | None = None
    if not fall < 0.0:
        return None
    for _ in range(HALVINGS):
        there = at + length * direction
        new, steep = downhill(there)
        finite = math.isfinite(new) and bool(np.isfinite(steep).all())
        if finite and new < (best[1] if best else value):
            best = there, new, steep
        if not finite or new > value + ARMIJO * length * fall:
            high = length
        elif steep @ direction < WOLFE * fall:
            low = length
        else:
            return there, new, steep
        length = 0.5 * (low + high) if high < math.inf else 2.0 * low
    return best
