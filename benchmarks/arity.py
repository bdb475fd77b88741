"""The product of k factors tanh(x_j) or tanh(-x_j), elementwise, with all of its k partials, for k from 1 to 10.

It is experiment B of Revels, Besard, Churavy, De Sutter and Vielma (2018), arXiv 1810.08297.
"""

from __future__ import annotations

import functools
from argparse import Namespace
from typing import Any

import numpy as np
import timing
from contest import Contest, double
from timing import Contender

COUNTS = range(1, 11)
CHECKED = 16  # rows
BY_TORCH = (1, 4, 10)  # the counts that torch is asked for: it compiles for seconds
NAMES = ("vecdist", "JAX", "torch.compile")


def contest(chosen: Namespace, k: int) -> Contest:
    """As many matrices as there are factors."""
    rng = np.random.default_rng(17)
    n = chosen.size
    given = [(0.02 + 0.96 * rng.random((n, n), dtype=np.float32)).astype(chosen.dtype) for _ in range(k)]
    rows = slice(None, None, max(1, n // CHECKED))
    wanted = by_hand(*double([x[rows] for x in given]))
    moved = (2 * k + 1) * given[0].nbytes
    title = f"Product of {k} tanh, value and partials"
    return Contest(title, chosen, given, k, n * n, wanted, partials=True, moved=moved, sample=rows)


def by_formula(m: Any, *given: Any) -> Any:
    """The product, in a library ``m``."""
    factors = [m.tanh(m.where(x > 0.5, x, -x)) for x in given]
    return functools.reduce(lambda product, factor: product * factor, factors)


def by_hand(*given: np.ndarray) -> list[np.ndarray]:
    """The product and its partials."""
    signs = [np.where(x > 0.5, 1.0, -1.0) for x in given]
    factors = [np.tanh(sign * x) for sign, x in zip(signs, given, strict=True)]
    value = functools.reduce(np.multiply, factors)
    return [value, *(value / f * sign * (1 - f * f) for sign, f in zip(signs, factors, strict=True))]


def build(c: Contest, name: str) -> Contender:
    """The formula in the library of that name, differentiated by it."""
    if name == "vecdist":
        return c.vecdist(functools.partial(by_formula, np))
    if name == "JAX":
        import jax.numpy as jnp

        return c.jax(functools.partial(by_formula, jnp))
    import torch

    return c.torch(functools.partial(by_formula, torch))


def row(chosen: Namespace, k: int, bandwidth: float) -> tuple[str, ...]:
    """How the contenders did with ``k`` factors."""
    c = contest(chosen, k)
    names = [name for name in NAMES if name != "torch.compile" or k in BY_TORCH]
    entries, errors = c.built({name: functools.partial(build, c, name) for name in names})
    timing.race(entries, chosen.device)
    floor = c.moved / bandwidth
    timing.record(c.title, chosen.dtype, entries, floor)
    times = [timing.duration(e.median) if isinstance(e, Contender) else e for e in entries.values()]
    ours = timing.leader(entries)
    to_floor = timing.ratio(ours.median / floor) if ours else "-"
    kernels = [str(timing.attempted(e.kernels)) if isinstance(e, Contender) else "-" for e in entries.values()]
    worst = [errors[name] or "-" for name in names]
    times += ["-"] * (len(NAMES) - len(names))
    return str(k), timing.duration(floor), to_floor, *times, "; ".join(kernels), "; ".join(worst)


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 1024, "cuda": 2048})
    bandwidth = timing.copy_bandwidth(chosen.device)
    rows = [row(chosen, k, bandwidth) for k in COUNTS]
    timing.heading(
        f"Product of k factors tanh(+-x), value and k partials, {chosen.size} x {chosen.size} of {chosen.dtype}",
        chosen.device,
        f"floor: (2k + 1) matrices at {bandwidth / 1e9:.4g} GB/s, a copy in this run",
        "kernels and errors in the order of the contenders",
    )
    timing.table(("factors", "floor", "vecdist to floor", *NAMES, "kernels", "errors"), rows)
