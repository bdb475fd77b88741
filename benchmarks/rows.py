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
from timing import Contender

COLUMNS = 16, 100, 500, 2000, 32768
Formula = Callable[..., Any]


@dataclass(frozen=True)
class Race:
    """A formula of words and arrays, of ``count`` of which a gradient is wanted; of no arrays: of its values alone."""

    name: str
    formula: Formula
    arrays: Sequence[str]  # "x" for elements, "row" for a number of each row, "column" for one of each column
    count: int
    moves: float  # how often as many elements must be read or written as there are


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


RACES = [
    Race("sum of weighted logsumexp and its gradient", log_sums, ("x", "row"), 1, 2),
    Race("softmax", softmax, ("x",), 0, 2),
    Race("layer norm", standardised, ("x", "column", "column"), 0, 2),
    Race("sum of weighted layer norm and its gradient", weighted, ("x", "column", "column", "x"), 3, 3),
    Race("normal densities and their gradient in a mean and a scale of each row", densities, ("row", "row", "x"), 2, 1),
]


@dataclass(frozen=True)
class Words:
    """What a library calls its functions."""

    m: Any
    logsumexp: Callable[..., Any]


def jax_words() -> Words:
    import jax.numpy as jnp
    import jax.scipy.special

    return Words(jnp, jax.scipy.special.logsumexp)


def vecdist_words() -> Words:
    import vecdist

    return Words(np, vecdist.logsumexp)


def torch_words() -> Words:
    import torch

    def logsumexp(x: Any, axis: int) -> Any:
        return torch.logsumexp(x, axis)

    return Words(torch, logsumexp)


def contest(race: Race, rows: int, columns: int, chosen: Namespace) -> Contest:
    """Standard normal numbers, and what they come to in float64; values of rows are checked for the first ones."""
    rng = np.random.default_rng(23)
    shapes = {"x": (rows, columns), "row": (rows,), "column": (columns,)}
    given = [rng.standard_normal(shapes[each], dtype=np.float32).astype(chosen.dtype) for each in race.arrays]
    title = f"{race.name}, {rows} x {columns}"
    moved = race.moves * rows * columns * given[0].itemsize
    wanted = of_values(race, given) if not race.count else with_gradient(race, double(given))
    return Contest(title, chosen, given, race.count, rows * columns, wanted, not race.count, moved, sample=slice(64))


def of_values(race: Race, given: Sequence[np.ndarray]) -> list[Any]:
    few = [array[:64] if name != "column" else array for name, array in zip(race.arrays, given, strict=True)]
    return [race.formula(Words(np, scipy.special.logsumexp), *double(few))]


def with_gradient(race: Race, given: Sequence[np.ndarray]) -> list[Any]:
    """The value and the derivatives, by hand."""
    value = race.formula(Words(np, scipy.special.logsumexp), *given)
    if race.formula is log_sums:
        x, weights = given
        return [value, scipy.special.softmax(x, axis=-1) * weights[:, None]]
    if race.formula is densities:
        means, log_scales, x = given
        each = (x - means[:, None]) / np.exp(log_scales)[:, None]
        return [value, each.sum(-1) / np.exp(log_scales), (each * each - 1.0).sum(-1)]
    x, slopes, _, weights = given
    scale = np.sqrt(x.var(-1) + 1e-5)[:, None]
    each, pull = (x - x.mean(-1)[:, None]) / scale, weights * slopes
    own = (pull - pull.mean(-1)[:, None] - each * (pull * each).mean(-1)[:, None]) / scale
    return [value, own, (weights * each).sum(0), weights.sum(0)]


def contenders(race: Race, c: Contest) -> dict[str, Callable[[], Contender]]:
    """vecdist and its peers, each in its own words."""

    def by_vecdist() -> Contender:
        import vecdist

        words = vecdist_words()
        if race.count:
            return c.vecdist(lambda *arrays: race.formula(words, *arrays))
        given = [timing.array_library(c.device).asarray(array) for array in c.given]
        fast = vecdist.compile(lambda *arrays: race.formula(words, *arrays))
        return Contender(lambda: fast(*given), timing.wait_for(c.device))

    def by_jax() -> Contender:
        words = jax_words()
        return (c.jax if race.count else c.jitted)(lambda *arrays: race.formula(words, *arrays))

    def by_torch() -> Contender:
        words = torch_words()
        return (c.torch if race.count else c.torched)(lambda *arrays: race.formula(words, *arrays))

    return {"vecdist": by_vecdist, "JAX": by_jax, "torch.compile": by_torch}


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**21, "cuda": 2**24})
    for race in RACES:
        for columns in COLUMNS:
            c = contest(race, max(1, chosen.size // columns), columns, chosen)
            c.run(contenders(race, c))
