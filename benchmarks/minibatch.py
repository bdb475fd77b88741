"""A minibatch of a logistic regression: value and gradient of the log posterior by rows that each call picks anew."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import timing
from contest import Contest
from timing import Contender

COLUMNS = 32
SIZES = (256, 4096)
BATCHES = 64  # that take turns, so that their rows are not in a cache from the call before


def contest(chosen: Any, size: int) -> Contest:
    """A design, outcomes, and the batches; what is wanted is that of the first batch."""
    rng = np.random.default_rng(14)
    x = rng.standard_normal((chosen.size, COLUMNS), dtype=np.float32).astype(chosen.dtype)
    beta = (0.2 * rng.normal(size=COLUMNS)).astype(chosen.dtype)
    y = (rng.random(chosen.size) < 0.4).astype(chosen.dtype)
    batches = rng.integers(0, chosen.size, (BATCHES, size))
    first = [each.astype(np.float64) for each in (beta, x[batches[0]], y[batches[0]])]
    title = f"Minibatch of {size} rows of {COLUMNS} columns"
    moved = size * (COLUMNS + 1) * x.itemsize
    wanted = by_hand(chosen.size, *first)
    return Contest(title, chosen, [beta, x, y, batches], 1, chosen.size, wanted, moved=moved, unit="rows")


def by_hand(rows: int, beta: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Value and gradient in NumPy or CuPy, of rows that are picked."""
    xp = timing.array_library("cpu" if isinstance(x, np.ndarray) else "cuda")
    logit, scale = x @ beta, rows / len(y)
    value = scale * (y * logit - xp.logaddexp(0.0, logit)).sum() - 0.5 * (beta**2).sum()
    return value, scale * ((y - 1.0 / (1.0 + xp.exp(-logit))) @ x) - beta


def by_turns(function: Callable[[Any], Any], batches: Any, wait: Callable[[Any], Any]) -> Contender:
    """A function of a batch, of each in its turn."""
    turns = itertools.cycle(list(batches))
    return Contender(lambda: function(next(turns)), wait)


def by_vecdist(c: Contest) -> Contender:
    """Rows of a model, and batches by their indices."""
    from vecdist import LogDensity, logpdf
    from vecdist.distributions import Bernoulli
    from vecdist.parameters import real

    def model(beta: Any, x: Any, y: Any) -> dict[str, Any]:
        return {"prior": -0.5 * (beta * beta).sum(), "likelihood": logpdf(Bernoulli(logit=x @ beta), y)}

    beta, x, y, batches = map(timing.array_library(c.device).asarray, c.given)
    density = LogDensity(model, rows={"x": x, "y": y}, beta=real(COLUMNS), dtype=c.chosen.dtype)
    wait = timing.wait_for(c.device)
    return by_turns(lambda batch: density.logdensity_and_gradient(beta, batch=batch), batches, wait)


def by_jax(c: Contest) -> Contender:
    """The formula, of rows that are picked, differentiated by JAX, jitted."""
    import jax

    def log_density(beta: Any, x: Any, y: Any, batch: Any) -> Any:
        logit = x[batch] @ beta
        return c.size / len(batch) * (y[batch] * logit - jax.nn.softplus(logit)).sum() - 0.5 * (beta**2).sum()

    beta, x, y, batches = (jax.device_put(array, timing.jax_device(c.device)) for array in c.given)
    fast = jax.jit(jax.value_and_grad(log_density))
    return by_turns(lambda batch: fast(beta, x, y, batch), batches, jax.block_until_ready)


def by_arrays(c: Contest) -> Contender:
    """Rows picked by NumPy or CuPy, and the formula by hand."""
    beta, x, y, batches = map(timing.array_library(c.device).asarray, c.given)
    return by_turns(lambda batch: by_hand(c.size, beta, x[batch], y[batch]), batches, timing.wait_for(c.device))


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 10**6, "cuda": 10**6})
    for size in SIZES:
        c = contest(chosen, size)
        c.run(
            {
                "vecdist": lambda c=c: by_vecdist(c),
                "JAX": lambda c=c: by_jax(c),
                "CuPy, by hand" if c.device == "cuda" else "NumPy, by hand": lambda c=c: by_arrays(c),
            },
            "rows lie anywhere, so that reading them takes longer than the floor, a copy, says",
        )
