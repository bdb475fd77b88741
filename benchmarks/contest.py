"""Contenders that compute the same thing from the same data: built, checked against float64, timed and printed."""

from __future__ import annotations

import functools
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import peers
import timing
from timing import Contender, Entry

TOLERANCE = {"float32": 1e-4, "float64": 1e-11}

Function = Callable[..., Any]


@dataclass(frozen=True)
class Contest:
    """A value, its derivatives in the first ``count`` arrays of ``given``, and what the time is measured by."""

    title: str
    chosen: Namespace
    given: Sequence[np.ndarray]  # in host memory
    count: int
    size: int  # elements, which a time is divided by
    wanted: Sequence[Any] = ()  # in float64: the value, then the derivatives
    partials: bool = False  # elementwise derivatives, not a scalar's gradient
    moved: float = 0.0  # bytes that must be read or written; 0: so few that there is no floor
    exps: float = 0.0  # exponentials that must be computed, where that may take longer
    sample: Any = field(default_factory=lambda: slice(None))  # the elements of arrays that are checked
    unit: str = "elements"

    @property
    def device(self) -> str:
        return self.chosen.device

    @property
    def first(self) -> tuple[int, ...]:
        return tuple(range(self.count))

    def vecdist(self, function: Function, given: Sequence[np.ndarray] | None = None, **options: Any) -> Contender:
        """vecdist's compiled function, with options for ``vecdist.compile``."""
        arrays = self.given if given is None else given
        return peers.compiled(function, arrays, self.device, self.first, self.partials, **options)

    def jax(self, function: Function, given: Sequence[np.ndarray] | None = None) -> Contender:
        """A function differentiated by JAX, jitted."""
        derive = peers.jax_partials if self.partials else peers.jax_gradient
        return self.jitted(derive(function, self.count), given)

    def jitted(self, function: Function, given: Sequence[np.ndarray] | None = None) -> Contender:
        """A function of JAX that gives value and derivatives, jitted."""
        return peers.jitted(function, self.given if given is None else given, self.device)

    def torch(self, function: Function) -> Contender:
        """A function differentiated by torch, through torch.compile."""
        derive = peers.torch_partials if self.partials else peers.torch_gradient
        return self.torched(derive(function, self.count))

    def torched(self, function: Function) -> Contender:
        """A function of torch that gives value and derivatives, through torch.compile."""
        return peers.torch_compiled(function, self.given, self.device)

    def arrays(self, function: Function) -> Contender:
        """A function of NumPy or CuPy, operation by operation."""
        given = [timing.array_library(self.device).asarray(array) for array in self.given]
        return Contender(lambda: function(*given), timing.wait_for(self.device))

    def check(self, result: Any) -> str:
        """The largest error: of a gradient, relative to its largest element; of elements, to those above 1."""
        found = [peers.on_host(array[self.sample] if self.partials else array) for array in flat(result)]
        if len(found) != len(self.wanted):
            raise ValueError(f"{len(found)} results, not {len(self.wanted)}")
        largest = max(error(f, w, self.partials) for f, w in zip(found, self.wanted, strict=True))
        return f"{largest:.1e}" + ("" if largest < TOLERANCE[self.chosen.dtype] else " WRONG")

    def floor(self) -> tuple[float | None, str]:
        """The least time that moving the bytes and computing the exponentials takes, and how it was found."""
        if not self.moved:
            return None, "too few bytes for a floor"
        bandwidth = timing.copy_bandwidth(self.device)
        moving = f"{self.moved / 1e6:.4g} MB at {bandwidth / 1e9:.4g} GB/s, a copy in this run"
        bounds = {moving: self.moved / bandwidth}
        if self.exps:
            rate = timing.exp_rate(self.device, self.chosen.dtype)
            library = "CuPy" if self.device == "cuda" else "NumPy"
            computing = f"{self.exps / 1e6:.4g} million exp at {rate / 1e9:.3g} per ns, {library}'s rate in this run"
            bounds[computing] = self.exps / rate
        what = max(bounds, key=lambda name: bounds[name])
        return bounds[what], f"floor {timing.duration(bounds[what])}: {what}"

    def built(self, contenders: Mapping[str, Callable[[], Contender]]) -> tuple[dict[str, Entry], dict[str, str]]:
        """Contenders that ran once, or why they did not; and the errors of their results."""
        tried = {name: timing.attempt(build, self.check) for name, build in contenders.items()}
        return {name: entry for name, (entry, _) in tried.items()}, {name: error for name, (_, error) in tried.items()}

    def run(self, contenders: Mapping[str, Callable[[], Contender]], *remarks: str) -> dict[str, Entry]:
        """Build, check, time and print every contender."""
        entries, errors = self.built(contenders)
        timing.race(entries, self.device)
        self.report(entries, errors, *remarks)
        return entries

    def report(self, entries: Mapping[str, Entry], errors: Mapping[str, str], *remarks: str) -> None:
        """Print how contenders did."""
        floor, described = self.floor()
        title = f"{self.title}, {self.size} {self.unit}"
        timing.heading(f"{title} of {self.chosen.dtype}", self.device, described, *remarks)
        timing.standings(entries, errors, self.size, floor)
        timing.record(title, self.chosen.dtype, entries, floor)


def flat(result: Any) -> Iterator[Any]:
    """The arrays of nested tuples."""
    if isinstance(result, tuple | list):
        for each in result:
            yield from flat(each)
    else:
        yield result


def error(found: np.ndarray, wanted: Any, elementwise: bool) -> float:
    """The largest error of an array."""
    if np.shape(found) != np.shape(wanted):
        raise ValueError(f"a result of shape {np.shape(found)}, not {np.shape(wanted)}")
    size = np.abs(wanted)
    scale = np.maximum(1.0, size) if elementwise else max(1e-300, float(np.max(size)))
    worst = float(np.max(np.abs(found - np.asarray(wanted)) / scale))
    return np.inf if np.isnan(worst) else worst


def double(given: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The arrays in float64, those of integers as they are."""
    return [array.astype(np.float64) if array.dtype.kind == "f" else array for array in given]


def chunked(function: Function, first: Sequence[np.ndarray], rows: Sequence[np.ndarray], length: int = 2**18) -> list:
    """The sum of what ``function`` gives for chunks of the rows, in float64 and in little memory."""
    parts = [
        list(flat(function(*double(first), *double([array[start : start + length] for array in rows]))))
        for start in range(0, len(rows[0]), length)
    ]
    return [functools.reduce(np.add, column) for column in zip(*parts, strict=True)]
