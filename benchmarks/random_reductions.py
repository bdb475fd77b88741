"""Random reductions beside JAX: arrays of one to four axes, of which some are reduced, for results or for each element.

Timed are values, of functions that read their array once or several times; they are judged by NumPy in float64.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import timing
from contest import Contest
from random_workloads import Words, judges, ours, standings, theirs
from timing import Contender

MOST = {"cpu": 2**21, "cuda": 2**24}  # elements, of which there are at least an eighth
Axes = tuple[int, ...]


def centred(w: Words, x: Any, axes: Axes) -> Any:
    return x - x.mean(axis=axes, keepdims=True)


def standardised(w: Words, x: Any, axes: Axes) -> Any:
    apart = centred(w, x, axes)
    return apart / w.m.sqrt((apart * apart).mean(axis=axes, keepdims=True) + 1e-5)


def between(w: Words, x: Any, axes: Axes) -> Any:
    low, high = x.min(axis=axes, keepdims=True), x.max(axis=axes, keepdims=True)
    return (x - low) / (high - low + 1.0)


FUNCTIONS: dict[str, Callable[[Words, Any, Axes], Any]] = {
    "sum": lambda w, x, axes: x.sum(axis=axes),
    "maximum": lambda w, x, axes: x.max(axis=axes),
    "sum of positives": lambda w, x, axes: w.m.where(x > 0.0, x, 0.0).sum(axis=axes),
    "sum of tanh": lambda w, x, axes: w.m.tanh(x).sum(axis=axes),
    "variance": lambda w, x, axes: (centred(w, x, axes) ** 2).mean(axis=axes),
    "logsumexp": lambda w, x, axes: w.logsumexp(x, axis=axes),
    "softmax": lambda w, x, axes: w.m.exp(x - w.logsumexp(x, axis=axes, keepdims=True)),
    "centred": centred, "standardised": standardised, "between": between,
}  # fmt: skip


@dataclass(frozen=True)
class Reduction:
    """A function of an array, some of whose axes are reduced."""

    name: str
    shape: tuple[int, ...]
    axes: Axes
    x: np.ndarray

    def __call__(self, w: Words, x: Any) -> Any:
        return FUNCTIONS[self.name](w, x, self.axes)


def drawn(seed: int, chosen: Namespace) -> Reduction:
    """The reduction of a seed."""
    rng = np.random.default_rng(seed)
    ndim, size = int(rng.choice([1, 2, 2, 2, 3, 3, 4])), MOST[chosen.device] * rng.uniform(0.125, 1.0)
    parts = rng.dirichlet([1.0] * ndim)
    shape = tuple(max(2, round(size**part)) for part in parts)
    count = int(rng.integers(1, ndim + 1))
    axes = tuple(sorted(int(axis) for axis in rng.choice(ndim, count, replace=False)))
    x = rng.standard_normal(shape, dtype=np.float32).astype(chosen.dtype)
    return Reduction(str(rng.choice(list(FUNCTIONS))), shape, axes, x)


def contested(work: Reduction, chosen: Namespace) -> tuple[list[Contender], list[str]]:
    """Both libraries' values, each called once, and how far they are from NumPy's."""
    import vecdist

    mine, other = ours(), theirs()
    wanted = work(judges(), work.x.astype(np.float64))
    contest = Contest("", chosen, [work.x], 0, work.x.size, [wanted], True, sample=...)
    fast, given = vecdist.compile(lambda x: work(mine, x)), timing.array_library(chosen.device).asarray(work.x)
    entries = [Contender(lambda: fast(given), timing.wait_for(chosen.device)), contest.jitted(lambda x: work(other, x))]
    return entries, [contest.check(entry.warm()) for entry in entries]


def main(chosen: Namespace) -> None:
    """Draw, check and time reductions, and print them from the worst to the best."""
    rows = []
    for seed in range(chosen.size):
        work = drawn(seed, chosen)
        entries, errors = contested(work, chosen)
        timing.race(dict(enumerate(entries)), chosen.device)
        ratio = entries[1].median / entries[0].median
        told = f"{seed}: {work.name} of {work.shape} along {work.axes}"
        times = [timing.duration(entry.median) for entry in entries]
        rows.append((ratio, (told, timing.ratio(ratio), *times, *errors)))
        print(*rows[-1][1], flush=True)
    title = f"{chosen.size} random reductions of {chosen.dtype}"
    standings(title, chosen.device, "JAX", ("reduction", "ratio", "vecdist", "JAX", "error", "JAX's"), rows)


if __name__ == "__main__":
    main(timing.options(__doc__, {"cpu": 200, "cuda": 200}))
