"""Hamiltonian dynamics of many chains: every step is one kernel, and all that it needs stays on its device.

Momenta r are those of *whitened* positions u = A^-1 x, where the metric is A A^T: they are standard normal, and with
the gradient h = A^T grad log p(x) in u, the dynamics need A in one place, x' = x + step * A r (Neal 2011, section
5.4.1).
The half steps of r at either end of a trajectory belong to the kernels before and behind it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist import random
from vecdist.lazy.array import LazyArray, where
from vecdist.passes.derivations import Derivation
from vecdist.passes.vmap import vmap
from vecdist.samplers.density import Target
from vecdist.samplers.kernels import Run, fused
from vecdist.samplers.low_rank import applied
from vecdist.samplers.replay import Call, Launches

DIVERGENT = 1000.0  # an error of the energy beyond it is called divergent, as Stan does
ALIGNED = 32  # float64 numbers: parts of a record begin at multiples of 256 bytes
STRIDES = (32, 8, 2)  # even numbers of steps, each replayed as one


@final
class Record:
    """What is kept of every draw, in one piece of memory: positions, and a few numbers for each chain."""

    FIELDS = ("log_density", "energy", "acceptance", "divergent")

    def __init__(self, memory: Any, chains: int, ndim: int) -> None:
        """``memory`` may have leading axes, such as one for each draw."""
        row = -(-chains // ALIGNED) * ALIGNED
        lead, start = memory.shape[:-1], -(-chains * ndim // ALIGNED) * ALIGNED
        self.memory = memory
        self.position: Any = memory[..., : chains * ndim].reshape(*lead, chains, ndim)
        for place, name in enumerate(self.FIELDS):
            setattr(self, name, memory[..., start + place * row : start + place * row + chains])
        self.number: Any = memory[..., -1:].reshape(lead)

    log_density: Any
    energy: Any
    acceptance: Any
    divergent: Any

    @staticmethod
    def size(chains: int, ndim: int) -> int:
        """The numbers of a record."""
        round_up = [-(-count // ALIGNED) * ALIGNED for count in (chains * ndim, *[chains] * len(Record.FIELDS))]
        return sum(round_up) + ALIGNED


@final
@dataclass(frozen=True)
class State:
    """Where the chains stand after a draw: the record of the draw, and the whitened gradient there."""

    record: Record
    gradient: Any

    @staticmethod
    def empty(library: Any, chains: int, ndim: int) -> State:
        return State(Record(library.zeros(Record.size(chains, ndim)), chains, ndim), library.zeros((chains, ndim)))


@final
@dataclass(frozen=True)
class Phase:
    """A point of a trajectory of every chain; momenta are half a step ahead."""

    position: Any
    momentum: Any
    gradient: Any
    log_density: Any

    @staticmethod
    def empty(library: Any, chains: int, ndim: int) -> Phase:
        position, momentum, gradient = (library.zeros((chains, ndim)) for _ in range(3))
        return Phase(position, momentum, gradient, library.zeros(chains))


@final
class Dynamics:
    """The kernels of Hamiltonian Monte Carlo for C chains, and the arrays that they read and write.

    ``states`` are two, for the draw before and the draw to come; ``step``, one for each chain, and ``scale`` (A, its
    diagonal, or what ``LowRank`` packs) are changed in place.  Nothing here waits for the device.  With ``groups``,
    numbers of chains, a launch is of one group and then of the next.
    """

    def __init__(self, target: Target, keys: Any, scale: np.ndarray, groups: Sequence[int] = ()) -> None:
        library, chains, ndim = target.library, len(keys), target.ndim
        self.target: Target = target
        self.chains: int = chains
        self.keys: Any = keys
        self.step: Any = library.ones(chains)
        self.scale: Any = library.ones(scale.shape)
        self.scale[...] = library.asarray(scale)
        self.states: list[State] = [State.empty(library, chains, ndim) for _ in range(2)]
        self.phases: list[Phase] = [Phase.empty(library, chains, ndim) for _ in range(2)]
        self.start_energy: Any = library.zeros(chains)
        self.current = 0
        ends = np.cumsum([0, *(groups or (chains,))]).tolist()
        self.groups: list[slice] = [slice(*pair) for pair in itertools.pairwise(ends)]
        self._kernels = {rows.stop - rows.start: self._compiled(rows) for rows in self.groups}
        self._make_launches()

    @property
    def state(self) -> State:
        """Where the chains stand."""
        return self.states[self.current]

    @property
    def previous(self) -> State:
        """Where they stood before."""
        return self.states[1 - self.current]

    def draw(self, steps: int) -> None:
        """One draw of every chain, by a trajectory of ``steps`` leapfrog steps."""
        self._starts[self.current]()
        place = 0
        for stride in STRIDES:
            for _ in range(steps // stride):
                self._strides[stride]()
            steps %= stride
        if steps:
            self._single()
            place = 1
        self._ends[self.current, place]()
        self.current: int = 1 - self.current

    def proposal(self, steps: int) -> Phase:
        """Where the last trajectory, of ``steps`` steps, ended."""
        return self.phases[steps % 2]

    def evaluate(self, positions: Any = None) -> None:
        """The log density and the whitened gradient where the chains stand, or are put."""
        first, second = self.phases
        first.position[...] = self.state.record.position if positions is None else positions
        first.momentum[...] = 0.0
        for rows in self.groups:
            leapfrog, arrays, results = self._leapfrog(first, second, rows)
            leapfrog(arrays, results)
        self.state.record.position[...] = first.position
        self.state.record.log_density[...] = second.log_density
        self.state.gradient[...] = second.gradient

    def rescale(self, scale: np.ndarray) -> None:
        """Another A, or diagonal of it, from here on."""
        self.scale[...] = self.target.library.asarray(scale)
        self.evaluate()

    def _compiled(self, rows: slice) -> tuple[Run, Run, Run]:
        """The kernels that begin a trajectory, take a step and end it, for as many chains as in ``rows``."""
        matrix, row = (rows.stop - rows.start, self.target.ndim), (rows.stop - rows.start,)
        state, phase = self.states[0], self.phases[0]
        begin = fused(_begin, self._begin_arrays(state, rows), [matrix, matrix, row])
        leapfrog, arrays = _leapfrog(self.target), self._leapfrog_arrays(phase, rows)
        middle = fused(leapfrog, arrays, [row, matrix, matrix, matrix], Derivation("leapfrog"))
        end = fused(_end, self._end_arrays(state, phase, rows), [matrix, matrix, row, row, row, row, ()])
        return begin, middle, end

    def _begin_arrays(self, state: State, rows: slice) -> Sequence[Any]:
        record = state.record
        there = record.position[rows], record.log_density[rows], state.gradient[rows]
        return (self.keys[rows], record.number, *there, self.step[rows])

    def _leapfrog_arrays(self, phase: Phase, rows: slice) -> Sequence[Any]:
        return (phase.position[rows], phase.momentum[rows], self.step[rows], self.scale)

    def _end_arrays(self, state: State, phase: Phase, rows: slice) -> Sequence[Any]:
        record, h = state.record, state.gradient[rows]
        new = (phase.position[rows], phase.momentum[rows], phase.gradient[rows], phase.log_density[rows])
        start = (self.keys[rows], record.number, record.position[rows], h, record.log_density[rows])
        return (*start, *new, self.start_energy[rows], self.step[rows])

    def _begin(self, state: State, rows: slice) -> Call:
        begin, _, _ = self._kernels[rows.stop - rows.start]
        first = self.phases[0]
        started = (first.position[rows], first.momentum[rows], self.start_energy[rows])
        return begin, self._begin_arrays(state, rows), started

    def _leapfrog(self, source: Phase, target: Phase, rows: slice) -> Call:
        _, leapfrog, _ = self._kernels[rows.stop - rows.start]
        results = (target.log_density[rows], target.position[rows], target.momentum[rows], target.gradient[rows])
        return leapfrog, self._leapfrog_arrays(source, rows), results

    def _end(self, at: int, phase: Phase, rows: slice) -> Call:
        _, _, end = self._kernels[rows.stop - rows.start]
        state, record = self.states[1 - at], self.states[1 - at].record
        numbers = [getattr(record, name)[rows] for name in Record.FIELDS]
        results = (record.position[rows], state.gradient[rows], *numbers, record.number)
        return end, self._end_arrays(self.states[at], phase, rows), results

    def _make_launches(self) -> None:
        """What a draw consists of; on a GPU each of these is a CUDA graph."""
        on_gpu, (first, second) = self.target.device == "cuda", self.phases

        def launches(calls: Callable[[slice], Sequence[Call]]) -> Launches:
            return Launches([call for rows in self.groups for call in calls(rows)], on_gpu)

        def stride(length: int) -> Launches:
            pair = [(first, second), (second, first)]
            return launches(lambda rows: [self._leapfrog(*each, rows) for each in pair] * (length // 2))

        self._starts = [launches(lambda rows, state=state: [self._begin(state, rows)]) for state in self.states]
        self._single = launches(lambda rows: [self._leapfrog(first, second, rows)])
        self._strides = {length: stride(length) for length in STRIDES}
        self._ends = {
            (at, place): launches(lambda rows, at=at, phase=phase: [self._end(at, phase, rows)])
            for at in range(2)
            for place, phase in enumerate(self.phases)
        }


def _begin(
    keys: LazyArray, number: LazyArray, x: LazyArray, log_density: LazyArray, h: LazyArray, step: LazyArray
) -> Sequence[LazyArray]:
    """Fresh momenta, half a step on, and the energy before that."""
    stream = random.fold_in(keys, 2 * number.astype(np.uint64))
    r = random.normal(stream[:, None], x.shape[1])
    return x * 1.0, r + 0.5 * step[:, None] * h, 0.5 * (r * r).sum(axis=1) - log_density


def _leapfrog(target: Target) -> Callable[..., Sequence[LazyArray]]:
    """One step: positions, and what is needed to derive the log density in whitened positions there."""

    def moved(x: LazyArray, r: LazyArray, step: LazyArray, scale: LazyArray) -> Sequence[LazyArray]:
        own = step[:, None]
        u = own * r
        there = x + (applied(scale, u) if scale.ndim == 3 else product(scale, u))
        one = target.vector
        (values,) = vmap((target.value(one).node,), {one: there.node})
        return LazyArray(values), there, u, r, own

    return moved


def product(scale: LazyArray, u: LazyArray) -> LazyArray:
    """A u for each chain, of a diagonal or a matrix A."""
    return scale * u if scale.ndim == 1 else (scale * u[:, None, :]).sum(axis=2)


def _end(
    keys: LazyArray, number: LazyArray, x0: LazyArray, h0: LazyArray, log_density0: LazyArray,
    x: LazyArray, r: LazyArray, h: LazyArray, log_density: LazyArray, start: LazyArray, step: LazyArray,
) -> Sequence[LazyArray]:
    """Accept or reject; a chain whose energy is not finite rejects, and no other takes notice (Metropolis et al. 1953).

    A gradient that is not finite makes the momentum, and so the energy, not finite too.
    """
    r = r - 0.5 * step[:, None] * h
    energy = 0.5 * (r * r).sum(axis=1) - log_density
    error = energy - start
    finite = abs(error) < np.inf
    acceptance = where(finite, np.exp(np.minimum(-error, 0.0)), 0.0)
    u = random.uniform(random.fold_in(keys, 2 * number.astype(np.uint64) + 1))
    taken = u < acceptance
    divergent = where(finite, where(error > DIVERGENT, 1.0, 0.0), 1.0)
    rows = taken[:, None]
    chosen = where(taken, log_density, log_density0), where(taken, energy, start), acceptance, divergent
    return where(rows, x, x0), where(rows, h, h0), *chosen, number + 1.0
