"""Chains that several devices share: each has some groups of them, and what is kept of draws lies on the first.

The groups depend on the numbers of chains and pieces alone, and every launch is of one group: so do the bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias, final

import numpy as np

from vecdist.graph.chunked import Chunked
from vecdist.graph.leaves import array_kind
from vecdist.graph.node import topological
from vecdist.lazy.devices import Devices
from vecdist.runtime.chunks.devices import Group, copy_to, here
from vecdist.runtime.chunks.sharded import counts_of, places_of
from vecdist.samplers.density import Target
from vecdist.samplers.hamiltonian import Dynamics, Phase, Record, State

Dynamic: TypeAlias = "Dynamics | SharedDynamics"
AT = ("position", "momentum", "gradient")  # of a proposal


def dynamics_of(target: Target, keys: Any, scale: np.ndarray) -> Dynamic:
    """The dynamics of chains on one device, or on those that share them."""
    return (Dynamics if target.devices is None else SharedDynamics)(target, keys, scale)


@final
class SharedDynamics:
    """As ``Dynamics``, of chains that several devices share: ``state`` and the like are copies on the first of them.

    Those of a draw have no gradients, but for a metric of low rank: these are there after ``evaluate``.
    """

    def __init__(self, target: Target, keys: Any, scale: np.ndarray) -> None:
        assert target.devices is not None
        _check_rows(target)
        library, ndim = target.library, target.ndim
        self.target: Target = target
        self.chains: int = len(keys)
        self.step: Any = library.ones(self.chains)
        self.scale: Any = library.ones(scale.shape)
        self.scale[...] = library.asarray(scale)
        self.states: list[State] = [State.empty(library, self.chains, ndim) for _ in range(2)]
        self.current = 0
        self._phase = Phase.empty(library, self.chains, ndim)
        self._group: Group = target.devices.group
        self._parts = list(self._parted(target.devices, keys, scale))

    def _parted(self, devices: Devices, keys: Any, scale: Any) -> Iterator[tuple[Dynamics | None, slice]]:
        """The dynamics of each device that has chains, and which they are."""
        counts = [count for count in counts_of(self.chains, devices.pieces) if count]
        ends = np.cumsum([0, *counts]).tolist()
        with self._group.in_order():
            for place in range(len(self._group)):
                own = places_of(len(counts), len(self._group), place)
                rows = slice(ends[own.start], ends[own.stop])
                with self._group.on(place):
                    there = self.target.there()
                    yield Dynamics(there, here(keys[rows]), scale, [counts[at] for at in own]) if own else None, rows

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
        self.current: int = 1 - self.current

        def drawn(part: Dynamics, rows: slice) -> None:
            _copy(part.step, self.step[rows])
            part.draw(steps)
            _copy_record(self.state.record, rows, part.state.record)
            if self.scale.ndim == 3:  # which is learnt from gradients, too
                _copy(self.state.gradient[rows], part.state.gradient)

        self._each(drawn)

    def proposal(self, steps: int) -> Phase:
        """Where the last trajectory, of ``steps`` steps, ended."""

        def fetched(part: Dynamics, rows: slice) -> None:
            for name in AT:
                _copy(getattr(self._phase, name)[rows], getattr(part.proposal(steps), name))

        self._each(fetched)
        return self._phase

    def evaluate(self, positions: Any = None) -> None:
        """The log density and the whitened gradient where the chains stand, or are put."""
        there = self.state.record.position if positions is None else positions

        def evaluated(part: Dynamics, rows: slice) -> None:
            _copy(part.step, self.step[rows])
            _copy(part.scale, self.scale)
            part.evaluate(here(there[rows]))
            _copy_record(self.state.record, rows, part.state.record)
            _copy(self.state.gradient[rows], part.state.gradient)

        self._each(evaluated)

    def rescale(self, scale: np.ndarray) -> None:
        """Another A, or diagonal of it, from here on."""
        self.scale[...] = self.target.library.asarray(scale)
        self.evaluate()

    def _each(self, task: Callable[[Dynamics, slice], None]) -> None:
        """Do it to the chains of each device, after what was asked of the first before; processors have threads."""

        def own(place: int) -> None:
            part, rows = self._parts[place]
            if part is not None:
                task(part, rows)

        group = self._group
        with group.in_order():
            (group.in_turn if group.kind == "cuda" else group.each)(own)


def _check_rows(target: Target) -> None:
    """Raise ``ValueError`` where rows of data are in chunks: those are shared by devices, or chains are."""
    leaves = (node.attrs[0] for node in topological((target.value(target.vector).node,)) if node.op == "leaf")
    found = next((leaf for leaf in leaves if isinstance(leaf.array, Chunked)), None)
    if found is not None:
        raise ValueError(
            f"devices share chains, or the rows of {found!r}, but not both: give no device, and all chains go through "
            "the rows together"
        )


def _copy_record(target: Record, rows: slice, source: Record) -> None:
    for name in ("position", *Record.FIELDS):
        _copy(getattr(target, name)[rows], getattr(source, name))
    _copy(target.number, source.number)


def _copy(target: Any, source: Any) -> None:
    """Copy an array to another, perhaps of another device."""
    if array_kind(target) == "cupy":
        copy_to(target, source)
    else:
        target[...] = source
