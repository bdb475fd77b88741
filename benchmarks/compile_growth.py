"""First value and gradient as models grow: many scalar log densities, long chains of operations; beside JAX."""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import timing

DENSITIES = (10, 30, 100, 300, 1000)
OPERATIONS = (100, 1000)
TARGETS = {"densities 1000": 15.0, "operations 1000": 2.0}  # seconds


def densities(count: int, normal: Callable[..., Any], xs: Any) -> Any:
    """A random walk: each step is normal about half of the last one."""
    total = normal(xs[0], 0.0, 1.0)
    for number in range(1, count):
        total = total + normal(xs[number], 0.5 * xs[number - 1], 1.0 + number / count)
    return total


def operations(count: int, xp: Any, x: Any) -> Any:
    """A chain, each of whose links needs the one before."""
    for number in range(count):
        x = xp.tanh(x) + number / count if number % 10 == 0 else 0.9 * x + 0.1
    return x.sum()


def vecdist_seconds(chosen: Namespace, kind: str, count: int) -> float:
    """Of an expression that is built, compiled and computed."""
    import vecdist
    from vecdist.distributions import Normal

    move, wait = timing.array_library(chosen.device).asarray, timing.wait_for(chosen.device)
    wait((vecdist.lazy(move(np.ones(3))) * 2.0).sum().compute())  # Numba is there, and a context
    given = [move(np.asarray(each, chosen.dtype)) for each in start(kind, count)]
    begin = time.perf_counter()
    xs = [vecdist.lazy(each) for each in given]
    normal = lambda x, mean, sd: vecdist.logpdf(Normal(mean, sd), x)  # noqa: E731
    value = densities(count, normal, xs) if kind == "densities" else operations(count, np, xs[0])
    wait(vecdist.value_and_grad(value, wrt=tuple(given)))
    return time.perf_counter() - begin


def jax_seconds(chosen: Namespace, kind: str, count: int) -> float:
    """Of a function that is traced, compiled and called."""
    timing.jax_device(chosen.device)
    import jax
    from jax.scipy.stats import norm

    jax.block_until_ready(jax.jit(lambda x: (x * 2.0).sum())(np.ones(3, chosen.dtype)))
    given = [jax.device_put(np.asarray(each, chosen.dtype)) for each in start(kind, count)]
    begin = time.perf_counter()
    of = (lambda xs: densities(count, norm.logpdf, xs)) if kind == "densities" else (
        lambda xs: operations(count, jax.numpy, xs[0])
    )
    jax.block_until_ready(jax.jit(jax.value_and_grad(of))(given))
    return time.perf_counter() - begin


def start(kind: str, count: int) -> list[np.ndarray]:
    """Scalars for a model, an array for a chain."""
    rng = np.random.default_rng(count)
    return list(rng.normal(size=count)) if kind == "densities" else [rng.normal(size=1000)]


WHO = {"vecdist": vecdist_seconds, "jax": jax_seconds}


def measured(chosen: Namespace, who: str, kind: str, count: int) -> Any:
    """In a process of its own, with an empty cache; or why it failed."""
    arguments = ("--step", f"{who} {kind} {count}", "--device", chosen.device, "--dtype", chosen.dtype)
    with timing.empty_folder() as folder:
        return timing.attempted(lambda: timing.fresh(__file__, *arguments, VECDIST_CACHE_DIR=folder))


def shown(found: Any) -> str:
    return timing.duration(found) if isinstance(found, float) else str(found)


def main(chosen: Namespace) -> None:
    """Print a row for each size of each kind."""
    timing.heading(f"First value and gradient as models grow, {chosen.dtype}", chosen.device)
    rows = []
    for kind, counts in (("densities", DENSITIES), ("operations", OPERATIONS)):
        for count in counts:
            ours, jax = (measured(chosen, who, kind, count) for who in WHO)
            target = TARGETS.get(f"{kind} {count}")
            beside = timing.ratio(ours / target) if target and isinstance(ours, float) else "-"
            each = timing.duration(ours / count) if isinstance(ours, float) else "-"
            rows.append((f"{count} {kind}", shown(ours), each, beside, shown(jax)))
    timing.table(("", "vecdist", "each", "to target", "jax.jit"), rows)


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    if chosen.step:
        who, kind, count = chosen.step.split()
        print(json.dumps(WHO[who](chosen, kind, int(count))))
    else:
        main(chosen)
