"""The time of one call on tiny arrays, which is all overhead, beside the same thing through jax.jit."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import timing
from timing import Contender

TARGET = {"cpu": 2e-6, "cuda": 8e-6}


def data(chosen: Namespace) -> list[np.ndarray]:
    """Two parameters and a few observations."""
    return [np.asarray(value, chosen.dtype) for value in (2.5, 1.25, np.linspace(0.5, 3.0, chosen.size))]


def by_vecdist(chosen: Namespace) -> dict[str, Callable[[], Contender]]:
    """A compiled function, called with NumPy or CuPy arrays."""
    import vecdist
    from vecdist.distributions import Gamma

    arrays = [timing.array_library(chosen.device).asarray(array) for array in data(chosen)]
    f, wait = vecdist.compile(lambda a, t, x: vecdist.logpdf(Gamma(a, t), x).sum()), timing.wait_for(chosen.device)
    return {
        "value": lambda: Contender(lambda: f(*arrays), wait),
        "value and gradient": lambda: Contender(lambda: f.value_and_grad(*arrays, wrt=(0, 1)), wait),
    }


def by_jax(chosen: Namespace) -> dict[str, Callable[[], Contender]]:
    """The same density, jitted, called with JAX's own arrays."""
    import jax
    from jax.scipy.stats import gamma

    arrays = [jax.device_put(array, timing.jax_device(chosen.device)) for array in data(chosen)]

    def density(a: Any, t: Any, x: Any) -> Any:
        return gamma.logpdf(x, a, scale=t).sum()

    f, g = jax.jit(density), jax.jit(jax.value_and_grad(density, (0, 1)))
    return {
        "value": lambda: Contender(lambda: f(*arrays), jax.block_until_ready),
        "value and gradient": lambda: Contender(lambda: g(*arrays), jax.block_until_ready),
    }


def awaited(contender: Contender) -> Contender:
    """The same calls, each of them waited for before the next."""
    return Contender(lambda: contender.wait(contender.call()), lambda _: None)


def rows(chosen: Namespace) -> Iterator[tuple[str, ...]]:
    """The rows of the table."""
    entries = {}
    for name, build in (("vecdist", by_vecdist), ("JAX", by_jax)):
        built = timing.attempted(lambda build=build: build(chosen))
        for what in ("value", "value and gradient"):
            entries[name, what] = timing.attempt(built[what])[0] if isinstance(built, dict) else built
    timing.race(entries, chosen.device)
    waiting = {key: awaited(entry) if isinstance(entry, Contender) else entry for key, entry in entries.items()}
    timing.race(waiting, chosen.device)
    for (name, what), entry in entries.items():
        ours = entries["vecdist", what]
        if isinstance(entry, Contender):
            compared = timing.ratio(entry.median / ours.median) if isinstance(ours, Contender) else "-"
            shown = (timing.duration(t) for t in (entry.median, entry.fastest, waiting[name, what].median))
            yield f"{name}, {what}", *shown, compared, timing.ratio(entry.median / TARGET[chosen.device])
        else:
            yield f"{name}, {what}: {entry}", *["-"] * 5


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 8, "cuda": 8})
    found = list(rows(chosen))
    timing.heading(
        f"One call, {chosen.size} elements of {chosen.dtype}",
        chosen.device,
        "issued: calls one after another, the last waited for; awaited: each waited for before the next",
    )
    target = f"to {timing.duration(TARGET[chosen.device])}"
    timing.table(("", "issued", "fastest", "awaited", "to vecdist", target), found)
