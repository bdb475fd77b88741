"""Rows that are reduced: their log-sum-exp, softmax, layer norm and the density of normal rows, with gradients.

The same number of elements in short rows and in long ones, which lie together in memory.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
import timing
from contest import Contest, double
from random_workloads import Words, judges, ours, theirs
from timing import Contender

COLUMNS = 16, 100, 500, 2000, 32768
Formula = Callable[..., Any]


@dataclass(frozen=True)
class Race:
    """A formula of words and arrays: its values, or where there are ``slopes`` its value and these, by hand."""

    name: str
    formula: Formula
    arrays: Sequence[str]  # "x" for elements, "row" for a number of each row, "column" for one of each column
    moves: float  # how often as many elements must be read or written as there are
    count: int = 0  # of arrays that a gradient is asked for in
    slopes: Formula | None = None


def log_sums(w: Any, x: Any, weights: Any) -> Any:
    return (w.logsumexp(x, axis=-1) * weights).sum()


def softmax(w: Any, x: Any) -> Any:
    return w.m.exp(x - w.logsumexp(x, axis=-1)[:, None])


def standardised(w: Any, x: Any, slopes: Any, levels: Any) -> Any:
    apart = x - x.mean(axis=-1)[:, None]
    return apart / w.m.sqrt((apart * apart).mean(axis=-1) + 1e-5)[:, None] * slopes + levels


def weighted(w: Any, x: Any, slopes: Any, levels: Any, weights: Any) -> Any:
    return (standardised(w, x, slopes, levels) * weights).sum()


def densities(w: Any, means: Any, log_scales: Any, x: Any) -> Any:
    each = (x - means[:, None]) * w.m.exp(-log_scales)[:, None]
    return (-0.5 * each * each - log_scales[:, None]).sum()


def log_sums_slopes(x: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    return [scipy.special.softmax(x, axis=-1) * weights[:, None]]


def weighted_slopes(x: np.ndarray, slopes: np.ndarray, _: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
    scale = np.sqrt(x.var(-1) + 1e-5)[:, None]
    each, pull = (x - x.mean(-1)[:, None]) / scale, weights * slopes
    own = (pull - pull.mean(-1)[:, None] - each * (pull * each).mean(-1)[:, None]) / scale
    return [own, (weights * each).sum(0), weights.sum(0)]


def densities_slopes(means: np.ndarray, log_scales: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
    each = (x - means[:, None]) / np.exp(log_scales)[:, None]
    return [each.sum(-1) / np.exp(log_scales), (each * each - 1.0).sum(-1)]


WEIGHTED, DENSITIES = ("x", "column", "column", "x"), ("row", "row", "x")
OF_EACH = "normal densities and their gradient in a mean and a scale of each row"
RACES = [
    Race("sum of weighted logsumexp and its gradient", log_sums, ("x", "row"), 2, 1, log_sums_slopes),
    Race("softmax", softmax, ("x",), 2),
    Race("layer norm", standardised, ("x", "column", "column"), 2),
    Race("sum of weighted layer norm and its gradient", weighted, WEIGHTED, 3, 3, weighted_slopes),
    Race(OF_EACH, densities, DENSITIES, 1, 2, densities_slopes),
]


def in_torch() -> Words:
    """PyTorch's functions."""
    import torch

    def logsumexp(x: Any, axis: int) -> Any:
        return torch.logsumexp(x, axis)

    return Words(torch, logsumexp, {})


def contest(race: Race, rows: int, columns: int, chosen: Namespace) -> Contest:
    """Standard normal numbers, and what they come to in float64; values of rows are checked for the first ones."""
    rng = np.random.default_rng(23)
    shapes = {"x": (rows, columns), "row": (rows,), "column": (columns,)}
    given = [rng.standard_normal(shapes[each], dtype=np.float32).astype(chosen.dtype) for each in race.arrays]
    title, moved = f"{race.name}, {rows} x {columns}", race.moves * rows * columns * given[0].itemsize
    wanted = truth(race, given)
    return Contest(title, chosen, given, race.count, rows * columns, wanted, not race.count, moved, sample=slice(64))


def truth(race: Race, given: Sequence[np.ndarray]) -> list[Any]:
    """The value and the derivatives in float64; of values those of the first rows."""
    if race.slopes:
        return [race.formula(judges(), *double(given)), *race.slopes(*double(given))]
    few = [array[:64] if name != "column" else array for name, array in zip(race.arrays, given, strict=True)]
    return [race.formula(judges(), *double(few))]


def contenders(race: Race, c: Contest) -> dict[str, Callable[[], Contender]]:
    """vecdist and its peers, each in its own words."""

    def by_vecdist() -> Contender:
        import vecdist

        words = ours()
        if race.count:
            return c.vecdist(lambda *arrays: race.formula(words, *arrays))
        given = [timing.array_library(c.device).asarray(array) for array in c.given]
        fast = vecdist.compile(lambda *arrays: race.formula(words, *arrays))
        return Contender(lambda: fast(*given), timing.wait_for(c.device))

    def by_jax() -> Contender:
        words = theirs()
        return (c.jax if race.count else c.jitted)(lambda *arrays: race.formula(words, *arrays))

    def by_torch() -> Contender:
        words = in_torch()
        return (c.torch if race.count else c.torched)(lambda *arrays: race.formula(words, *arrays))

    return {"vecdist": by_vecdist, "JAX": by_jax, "torch.compile": by_torch}


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**21, "cuda": 2**24})
    for race in RACES:
        for columns in COLUMNS:
            c = contest(race, max(1, chosen.size // columns), columns, chosen)
            c.run(contenders(race, c))
