"""The cell update of a hierarchical multiscale LSTM, where two boundary controls choose one of three formulas.

It is experiment A of Revels, Besard, Churavy, De Sutter and Vielma (2018), arXiv 1810.08297.
"""

from __future__ import annotations

import functools
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import timing
from contest import Contest, double
from timing import Contender

SIZES = {"cpu": [1024], "cuda": [2048, 8192]}
CHECKED = 16  # rows
RUN = 128  # columns that uniform control gives the same choice: more than one warp computes
CHOICES = np.array([(1, 0), (0, 0), (1, 1), (0, 1)])  # flush, copy, flush, update


def contest(chosen: Namespace, n: int, uniform: bool) -> Contest:
    """Matrices, and controls for each column: the same choices in random order or in runs."""
    rng = np.random.default_rng(16)
    matrices = [rng.random((n, n), dtype=np.float32).astype(chosen.dtype) for _ in range(4)]
    order = np.arange(n) // RUN % 4 if uniform else rng.permutation(np.arange(n) // RUN % 4)
    given = [*matrices, *(np.ascontiguousarray(control) for control in CHOICES[order].T.astype(chosen.dtype))]
    rows = slice(None, None, max(1, n // CHECKED))
    wanted = by_hand(np, expit(np), *double([m[rows] for m in matrices]), *double(given[4:]))
    control = "uniform" if uniform else "random"
    title = f"LSTM cell of {n} x {n}, {control} control, value and four partials"
    moved = (4 + 5) * matrices[0].nbytes  # read and written
    return Contest(title, chosen, given, 4, n * n, wanted, partials=True, moved=moved, sample=rows)


def expit(m: Any) -> Any:
    """The logistic function, in NumPy or CuPy."""
    return lambda u: 1 / (1 + m.exp(-u))


def by_formula(m: Any, sigmoid: Any, c: Any, f: Any, i: Any, g: Any, z: Any, zb: Any) -> Any:
    """Flush where ``z``, else copy where not ``zb``, else update."""
    new = sigmoid(i) * m.tanh(g)
    return m.where(z == 1, new, m.where(zb == 0, c, sigmoid(f) * c + new))


def by_hand(m: Any, sigmoid: Any, c: Any, f: Any, i: Any, g: Any, z: Any, zb: Any) -> tuple[Any, ...]:
    """The value and its partials in ``c, f, i, g``."""
    flush, copy = z == 1, (z != 1) & (zb == 0)
    update = ~(flush | copy)
    zero = m.zeros_like(c)
    s, t, gate = sigmoid(i), m.tanh(g), sigmoid(f)
    value = m.where(copy, c, s * t + m.where(update, gate * c, zero))
    of_c = m.where(update, gate, m.where(copy, zero + 1, zero))
    of_f = m.where(update, gate * (1 - gate) * c, zero)
    return value, of_c, of_f, m.where(copy, zero, s * (1 - s) * t), m.where(copy, zero, s * (1 - t * t))


def by_vecdist(c: Contest) -> Contender:
    """The formula, one launch."""
    from scipy.special import expit

    return c.vecdist(functools.partial(by_formula, np, expit))


def by_jax(c: Contest, hand: bool) -> Contender:
    """The formula differentiated by JAX, or by hand; jitted."""
    import jax
    import jax.numpy as jnp

    given = jnp, jax.nn.sigmoid
    return c.jitted(functools.partial(by_hand, *given)) if hand else c.jax(functools.partial(by_formula, *given))


def by_torch(c: Contest, hand: bool) -> Contender:
    """The formula differentiated by torch, or by hand; through torch.compile."""
    import torch

    given = torch, torch.sigmoid
    return c.torched(functools.partial(by_hand, *given)) if hand else c.torch(functools.partial(by_formula, *given))


def contenders(c: Contest) -> dict[str, Callable[[], Contender]]:
    """Who competes, vecdist first."""
    return {
        "vecdist": lambda: by_vecdist(c),
        "JAX": lambda: by_jax(c, hand=False),
        "JAX, by hand": lambda: by_jax(c, hand=True),
        "torch.compile": lambda: by_torch(c, hand=False),
        "torch.compile, by hand": lambda: by_torch(c, hand=True),
    }


def compete(chosen: Namespace, n: int) -> None:
    """Print a table for each control, all timed in turns so that the two can be compared, and their ratio."""
    contests = [contest(chosen, n, uniform) for uniform in (False, True)]
    built = [c.built(contenders(c)) for c in contests]
    random, uniform = (entries for entries, _ in built)
    timing.race({(name, place): entry for place in (0, 1) for name, entry in built[place][0].items()}, chosen.device)
    for c, (entries, errors) in zip(contests, built, strict=True):
        c.report(entries, errors)
    both = {name: (entry, uniform[name]) for name, entry in random.items()}
    run = {name: pair for name, pair in both.items() if all(isinstance(entry, Contender) for entry in pair)}
    ratios = (f"{name} {timing.ratio(r.median / u.median)}" for name, (r, u) in run.items())
    print("\nThe time with random control, to that with uniform control: " + ", ".join(ratios))


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    for n in [chosen.size] if chosen.size else SIZES[chosen.device]:
        compete(chosen, n)
