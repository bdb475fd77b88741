"""What a sum over N elements and its gradient in two scalars allocate, beside the data and the sums themselves."""

from __future__ import annotations

import json
import sys
import tracemalloc
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import timing

WARM = 2**20  # elements of a first call, which compiles and starts threads
PARAMETERS = (2.5, 1.25)


def data(size: int, dtype: str) -> np.ndarray:
    """Positive observations, made without an array beside them."""
    x = np.random.default_rng(3).random(size, dtype=np.dtype(dtype).type)
    x += np.asarray(0.5, dtype)
    return x


def by_vecdist(chosen: Namespace) -> Callable[[np.ndarray], Callable[[], Any]]:
    """Value and gradient by a compiled function."""
    import vecdist
    from vecdist.distributions import Gamma

    xp, wait = timing.array_library(chosen.device), timing.wait_for(chosen.device)
    f = vecdist.compile(lambda a, t, x: vecdist.logpdf(Gamma(a, t), x).sum())
    a, t = (xp.asarray(p, chosen.dtype) for p in PARAMETERS)

    def on(x: np.ndarray) -> Callable[[], Any]:
        there = xp.asarray(x)
        return lambda: wait(f.value_and_grad(a, t, there, wrt=(0, 1)))

    return on


def by_jax(chosen: Namespace) -> Callable[[np.ndarray], Callable[[], Any]]:
    """The same by jax.jit."""
    import jax
    from jax.scipy.stats import gamma

    device = timing.jax_device(chosen.device)
    f = jax.jit(jax.value_and_grad(lambda a, t, x: gamma.logpdf(x, a, scale=t).sum(), (0, 1)))
    parameters = [jax.device_put(np.asarray(p, chosen.dtype), device) for p in PARAMETERS]

    def on(x: np.ndarray) -> Callable[[], Any]:
        given = jax.block_until_ready([*parameters, jax.device_put(x, device)])
        compiled = f.lower(*given).compile()
        return lambda: jax.block_until_ready(compiled(*given))

    return on


def by_arrays(chosen: Namespace) -> Callable[[np.ndarray], Callable[[], Any]]:
    """The formula by hand, operation by operation, in NumPy or CuPy."""
    xp, wait = timing.array_library(chosen.device), timing.wait_for(chosen.device)
    a, t = PARAMETERS

    def on(x: np.ndarray) -> Callable[[], Any]:
        there = xp.asarray(x)
        return lambda: wait((((a - 1) * xp.log(there) - there / t).sum(), xp.log(there).sum(), (there / t - a).sum()))

    return on


CONTENDERS = {"vecdist": by_vecdist, "jax.jit": by_jax, "by hand": by_arrays}


def of_process(call: Callable[[], Any]) -> int:
    """The growth of the process at its peak, or what Python's allocators saw, whichever is more."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    call()
    traced = tracemalloc.get_traced_memory()[1]
    return max(traced, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit)


def of_pool(call: Callable[[], Any]) -> int:
    """The growth of CuPy's memory pool, which keeps what it once took."""
    pool = timing.array_library("cuda").get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.total_bytes()
    call()
    return pool.total_bytes() - before


def of_jax(call: Callable[[], Any]) -> int:
    """The growth of JAX's memory on the GPU at its peak."""
    device = timing.jax_device("cuda")
    before = device.memory_stats()["bytes_in_use"]
    call()
    return device.memory_stats()["peak_bytes_in_use"] - before


def step(chosen: Namespace) -> int:
    """The bytes that a contender takes at its peak for a call over N elements, in this process."""
    on = CONTENDERS[chosen.step](chosen)
    on(data(WARM, chosen.dtype))()
    call = on(data(chosen.size, chosen.dtype))
    if chosen.device == "cpu":
        return of_process(call)
    return of_jax(call) if chosen.step == "jax.jit" else of_pool(call)


def compare(chosen: Namespace) -> None:
    """Print what every contender takes, each measured in a new process."""
    size = chosen.size * np.dtype(chosen.dtype).itemsize
    given = ("--device", chosen.device, "--dtype", chosen.dtype, "--size", str(chosen.size))
    rows = []
    for name in CONTENDERS:
        taken = timing.attempted(lambda name=name: timing.fresh(__file__, "--step", name, *given))
        missing = isinstance(taken, str)
        rows.append((f"{name}: {taken}", "-", "-") if missing else (name, f"{taken / 1e6:.3f}", f"{taken / size:.4f}"))
    timing.heading(
        f"Memory of a sum and its gradient in two scalars, {chosen.size} elements of {chosen.dtype}",
        chosen.device,
        f"the data are {size / 1e6:.4g} MB; what a call takes beside them, at its peak",
    )
    timing.table(("", "MB", "to the data"), rows)


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**24, "cuda": 2**24})
    if chosen.step:
        print(json.dumps(step(chosen)))
    else:
        compare(chosen)
