"""Effective samples per gradient by metric: normal distributions that are long, or short, in a few directions.

Their scales differ, and their covariances are known.  Gradients are counted of the draws that are kept.
``--size`` measures only that number of coordinates.
"""

from __future__ import annotations

import functools
import time
from typing import Any

import numpy as np
import timing

DIRECTIONS = {50: 3, 100: 4, 200: 6}  # by the number of coordinates
FARTHEST = 30.0  # times as long, or as short, in standard deviations
RUNS = {  # chains, draws of the warm-up and draws
    "nuts": (4, 600, 400), "hmc": (16, 300, 300), "chees": (16, 300, 300),
}  # fmt: skip
METRICS = ("diagonal", "dense", "low-rank")


def covariance(ndim: int) -> np.ndarray:
    """A covariance with a few strong directions, a third of them short."""
    rng, count = np.random.default_rng(ndim), DIRECTIONS.get(ndim, 5)
    along = np.linalg.qr(rng.normal(size=(ndim, count)))[0]
    scale = np.exp(rng.normal(size=ndim))
    more = np.exp(rng.uniform(np.log(FARTHEST / 3.0), np.log(FARTHEST), count))
    more[::3] = 1.0 / more[::3]
    root = scale[:, None] * (np.eye(ndim) + (along * (more - 1.0)) @ along.T)
    return root @ root.T


def density(precision: np.ndarray, x: Any) -> Any:
    return -0.5 * (x * (precision * x).sum(axis=1)).sum()


def row(name: str, metric: str, found: np.ndarray) -> tuple[str, ...]:
    """The cells of a sampler with a metric."""
    from vecdist import samplers

    chains, warmup, count = RUNS[name]
    target, start = functools.partial(density, np.linalg.inv(found)), time.perf_counter()
    draws = getattr(samplers, name)(
        target, chains=chains, warmup=warmup, draws=count, initial=np.zeros(len(found)), metric=metric, progress=False
    )
    seconds = time.perf_counter() - start
    size = min(samplers.ess(draws.positions).min(), samplers.ess(draws.positions**2).min())
    gradients = draws.steps.sum() * (1 if draws.steps.ndim == 2 else chains)
    spread = draws.positions.reshape(-1, len(found)).std(axis=0) / np.sqrt(np.diag(found))
    each = f"{1000.0 * size / gradients:.2f}"
    return name, metric, f"{draws.steps.mean():.1f}", f"{size:,.0f}", each, f"{np.ptp(spread):.2f}", f"{seconds:.1f} s"


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    for ndim in [chosen.size] if chosen.size else DIRECTIONS:
        title = f"{ndim} coordinates, {DIRECTIONS.get(ndim, 5)} strong directions"
        timing.heading(title, "cpu", "Spread: how standard deviations of draws differ from the known ones.")
        rows = [row(name, metric, covariance(ndim)) for name in RUNS for metric in METRICS]
        heads = ("sampler", "metric", "steps", "effective samples", "per 1000 gradients", "spread", "with warm-up")
        timing.table(heads, rows)
