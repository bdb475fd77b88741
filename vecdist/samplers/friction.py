"""Langevin dynamics with friction, by gradients of batches: every step of many chains is one kernel.

A step is that of Chen, Fox and Guestrin (2014), Stochastic gradient Hamiltonian Monte Carlo, equation 15, in units of a
metric M: v' = (1 - a) v + s M g + normal(0, 2 (a - b) s M), x' = x + v', where g is the estimated gradient of the log
density, a the friction, s the rate of learning and b = s M V / 2 for a variance V of the gradient.  With a = 1, b = 0
and s = step / 2 it is that of Welling and Teh (2011), Bayesian learning via stochastic gradient Langevin dynamics,
equation 4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from vecdist import random
from vecdist.graph.leaves import argument, on_host
from vecdist.lazy.array import LazyArray
from vecdist.lazy.derivatives import like
from vecdist.model.minibatch import Minibatch
from vecdist.passes.derivations import Derivation, gradient_of
from vecdist.passes.vmap import vmap
from vecdist.samplers.batches import Reading
from vecdist.samplers.density import Target
from vecdist.samplers.kernels import Run, evaluated, fused, value_and_gradient
from vecdist.samplers.replay import Launches

BATCHES, PAIR = 1, (3, 5)  # numbers of streams of batches; those of momenta are even


@final
class Estimate:
    """Log densities of chains with batches of their own: those of all rows where ``size`` is None.

    With a ``center`` differences from it are estimated, whose variance is less: control variates (Baker, Fearnhead, Fox
    and Nemeth 2019, Control variates for stochastic gradient MCMC).
    """

    def __init__(self, target: Target, size: int | None, center: Any) -> None:
        self.target: Target = target
        self.size: int = 1 if size is None else size
        self.rows: Minibatch | None = None if size is None else _rows(target.given)
        self.level, self.slope = 0.0, target.library.zeros(target.ndim)
        self.centered: bool = center is not None and self.rows is not None
        if self.rows and self.centered:
            middle = target.library.asarray(center, dtype=np.float64)
            level, self.slope = value_and_gradient(self.rows.likelihood, middle)(middle)
            self.level: float = float(level)

    def fused(
        self, batch: Callable[..., LazyArray], function: Callable[..., Any], arrays: Sequence[Any], **others: Any
    ) -> Run:
        """A kernel of ``arrays``, as of ``fused``, and of a ``batch``: its rows where these are out of memory."""
        if self.rows is None:
            return fused(function, arrays, **others)
        if self.rows.chunked:
            return Reading(self.rows, batch, self.size, function, arrays, self.target.library, **others)
        return fused(lambda *given: function(*given, batch(*given)), arrays, **others)

    def batch(self, keys: LazyArray, step: LazyArray) -> LazyArray:
        """The places of rows at a step, for each key its own."""
        assert self.rows is not None
        return random.minibatch(keys, step, self.size, self.rows.total)

    def values(self, x: LazyArray, center: LazyArray, batch: Sequence[LazyArray]) -> LazyArray:
        """The estimates for positions in rows, by a batch, or its rows; ``center`` has one for each."""
        one, middle = self.target.vector, self.target.vector
        if self.rows is None:
            return LazyArray(*vmap((self.target.value(one).node,), {one: x.node}))
        own = [argument(np.zeros(each.shape[1:], each.dtype), "batch") for each in batch]
        given = list(map(LazyArray, own))
        rows = dict(zip(self.rows.joint.rows, given, strict=True)) if self.rows.chunked else given[0]
        value = self.rows.trace(LazyArray(one), rows)
        leaves = {one: x.node, **{each: many.node for each, many in zip(own, batch, strict=True)}}
        if self.centered:
            value = value - self.rows.parts(LazyArray(middle), rows)[1] + self.level
            leaves[middle] = center.node
        return LazyArray(*vmap((value.astype(np.float64).node,), leaves))


def _rows(density: Any) -> Minibatch:
    found = getattr(density, "minibatch", None)
    if not isinstance(found, Minibatch):
        raise TypeError("batches are of a LogDensity with rows=; give batch=None for gradients of all that there is")
    return found


@final
class Friction:
    """The kernel of a step for C chains, and the arrays that it reads and writes; nothing here waits for the device.

    ``noise``, the variance V of gradients, is changed in place.  Batches go through the rows ``in_epochs``, or are new
    ones in each step: those of an epoch add up to all rows, and widen the distribution by less than V says.
    """

    def __init__(
        self, estimate: Estimate, keys: Any, center: Any, rates: np.ndarray, friction: float, metric: Any, steps: int,
        in_epochs: bool,
    ) -> None:  # fmt: skip
        target, library = estimate.target, estimate.target.library
        chains, ndim = shape = len(keys), target.ndim
        self.estimate: Estimate = estimate
        self.keys: Any = keys
        self.pair: list[Any] = [library.asarray(evaluated(random.fold_in(on_host(keys), each))) for each in PAIR]
        self.noise: Any = library.zeros(ndim)
        self.constants: Sequence[Any] = (
            library.asarray(rates), library.asarray(float(friction)), library.zeros(ndim) + library.asarray(metric),
            self.noise, estimate.slope, library.asarray(in_epochs, dtype=np.uint64),
        )  # fmt: skip
        self.center: Any = library.zeros(shape) + (0.0 if center is None else library.asarray(center))
        self.states: list[Sequence[Any]] = [
            (*(library.zeros(shape) for _ in range(3)), library.zeros(())) for _ in range(2)
        ]
        self.values: Any = library.zeros(chains)
        self.current = 0
        self._nodes = slice(None) if estimate.centered else slice(1)
        shapes = [(chains,), *(array.shape for array in self.states[0])]
        self._step = estimate.fused(
            self._batch, self._moved, self._arrays(0), shapes=shapes, derivation=Derivation("kick")
        )
        shapes = [(chains,), *[shape, shape][self._nodes]]
        self._slopes = estimate.fused(
            lambda keys, number, *_: estimate.batch(keys, number.astype(np.uint64)), self._sloped,
            (keys, *self._where(0)), shapes=shapes, derivation=gradient_of,
        )  # fmt: skip
        calls = [(self._step, self._arrays(at), (self.values, *self.states[1 - at])) for at in (0, 1)]
        self._draws = [
            Launches([calls[(first + step) % 2] for step in range(steps)], target.device == "cuda") for first in (0, 1)
        ]
        self._odd = steps % 2

    @property
    def state(self) -> tuple[Any, Any, Any]:
        """Positions, momenta, and how often each number of them has failed to move."""
        momenta, positions, failures, _ = self.states[self.current]
        return positions, momenta, failures

    def draw(self) -> Any:
        """Some steps of every chain; gives the positions at which log densities were estimated last."""
        self._draws[self.current]()
        self.current: int = (self.current + self._odd) % 2
        return self.states[1 - self.current][1]

    def slopes(self, keys: Any, positions: Any) -> tuple[Any, Any]:
        """Estimates of log densities and their gradients at positions (C, D), by batches of keys."""
        number, center = self.states[self.current][3], self.center
        library, chains = self.estimate.target.library, len(keys)
        out = [library.empty(chains), *(library.empty_like(center) for _ in (0, 1)[self._nodes])]
        self._slopes((keys, number, positions, center), out)
        value, *slopes = out
        return value, sum(slopes) + self.estimate.slope

    def variance(self) -> Any:
        """An estimate of the variance of gradients where the chains stand, by two batches of each."""
        first, second = (self.slopes(keys, self.state[0])[1] for keys in self.pair)
        return 0.5 * ((first - second) ** 2).mean(axis=0)

    def _where(self, at: int) -> Sequence[Any]:
        _, positions, _, number = self.states[at]
        return number, positions, self.center

    def _arrays(self, at: int) -> Sequence[Any]:
        momenta, positions, failures, number = self.states[at]
        return self.keys, number, positions, self.center, momenta, failures, *self.constants

    def _sloped(
        self, keys: LazyArray, number: LazyArray, x: LazyArray, center: LazyArray, *batch: LazyArray
    ) -> Sequence[LazyArray]:
        return self.estimate.values(x, center, batch), *(x, center)[self._nodes]

    def _batch(self, keys: LazyArray, number: LazyArray, *others: LazyArray) -> LazyArray:
        step, in_epochs = number.astype(np.uint64), others[-1]
        own, place = step * (1 - in_epochs), step * in_epochs
        return self.estimate.batch(random.fold_in(random.fold_in(keys, BATCHES), own), place)

    def _moved(
        self, keys: LazyArray, number: LazyArray, x: LazyArray, center: LazyArray, v: LazyArray, failures: LazyArray,
        rates: LazyArray, friction: LazyArray, metric: LazyArray, noise: LazyArray, slope: LazyArray,
        in_epochs: LazyArray, *batch: LazyArray,
    ) -> Sequence[LazyArray]:  # fmt: skip
        """What is needed for a step, beside the gradient."""
        step = number.astype(np.uint64)
        scale = rates[step] * metric
        spread = np.sqrt(2.0 * scale * np.maximum(friction - 0.5 * scale * noise, 0.0))
        there = (1.0 - friction) * v + spread * random.normal(random.fold_in(keys, 2 * step)[:, None], x.shape[1])
        there = there + scale * slope if self.estimate.centered else there
        values = self.estimate.values(x, center, batch)
        tied = LazyArray(like(there.node, v.node, x.node)), LazyArray(like(failures.node, x.node, center.node))
        finite: Any = np.isfinite(values)
        return values, *tied, finite[:, None], number + 1.0, scale, *(x, center)[self._nodes]
