"""Effective samples per second of many chains: vecdist's samplers beside those of BlackJAX, NumPyro and nutpie.

Every sampler warms up and draws from the same density of one flat vector, in float64, with what it adapts by default, a
diagonal metric but for BlackJAX's ChEES, which adapts none.  It runs once to compile, and is timed with another key,
from its start to its last draw.  nutpie has no densities of its own, is given vecdist's, on the CPU, and begins where
it likes.  ``--step schools`` measures only that target.
"""

from __future__ import annotations

import functools
import math
import os
import time
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import timing

CHAINS = {"cpu": (64, 64), "cuda": (4096, 256)}  # of the schools, and of the regression
ROWS = {"cpu": (200, 10), "cuda": (100_000, 25)}  # of the regression
WARMUP, DRAWS = 300, 200
EFFECTS = (28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0)
ERRORS = (15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0)

Sampler = Callable[[int], tuple[Any, Any]]
"""From a key to draws of shape (chains, draws, D) and the mean number of leapfrog steps of a draw."""


@dataclass(frozen=True)
class Target:
    """A log density of a vector of length ``ndim``, by a library ``m``, of data that ``convert`` has moved to it."""

    name: str
    ndim: int
    data: tuple[np.ndarray, ...]
    formula: Callable[..., Any]

    def starts(self, chains: int) -> np.ndarray:
        """Where chains begin, the same for every sampler."""
        return np.random.default_rng(19).normal(size=(chains, self.ndim))

    def by(self, m: Any, convert: Callable[[np.ndarray], Any]) -> Callable[[Any], Any]:
        """The density as a function of a vector."""
        moved = [convert(array) for array in self.data]
        return lambda x: self.formula(m, x, *moved)


def schools(m: Any, x: Any, y: Any, errors: Any) -> Any:
    """The eight schools, non-centred."""
    raw, mean, log_scale = x[:8], x[8], x[9]
    scale = m.exp(log_scale)
    standard = (y - (mean + scale * raw)) / errors
    prior = -0.5 * (raw * raw).sum() - 0.5 * (mean / 5.0) ** 2 - m.log1p((scale / 5.0) ** 2) + log_scale
    return prior - 0.5 * (standard * standard).sum()


def logistic(m: Any, x: Any, rows: Any, signs: Any) -> Any:
    """A logistic regression with a standard normal prior."""
    score = (rows * x).sum(-1) * signs
    return -m.log1p(m.exp(-score)).sum() - 0.5 * (x * x).sum()


def targets(device: str) -> list[Target]:
    """The densities, and data made for them."""
    rng, (length, width) = np.random.default_rng(17), ROWS[device]
    rows = rng.normal(size=(length, width)) / math.sqrt(5.0)
    chance = 1.0 / (1.0 + np.exp(-rows @ rng.normal(size=width)))
    signs = np.where(rng.uniform(size=length) < chance, 1.0, -1.0)
    return [
        Target("eight schools", 10, (np.array(EFFECTS), np.array(ERRORS)), schools),
        Target(f"logistic regression, {length} rows of {width}", width, (rows, signs), logistic),
    ]


def by_vecdist(name: str, target: Target, chosen: Namespace, chains: int) -> Sampler:
    """A sampler of vecdist; the density is written with NumPy's functions."""
    import vecdist
    from vecdist import samplers

    library = timing.array_library(chosen.device)
    density = target.by(np, lambda array: vecdist.data(library.asarray(array)))
    start = library.asarray(target.starts(chains))

    def run(key: int) -> tuple[Any, Any]:
        sampler = getattr(samplers, name)
        draws = sampler(density, chains=chains, warmup=WARMUP, draws=DRAWS, key=key, initial=start, progress=False)
        return draws.positions, draws.steps.mean()

    return run


def by_blackjax(target: Target, chosen: Namespace, chains: int) -> Sampler:
    """ChEES-HMC, its warm-up and its draws in one jitted function."""
    import blackjax
    import jax
    import jax.numpy as jnp
    import optax

    device = timing.jax_device(chosen.device)
    density = target.by(jnp, lambda array: jax.device_put(array, device))

    def run(key: Any, start: Any) -> tuple[Any, Any]:
        warm, draw = jax.random.split(key)
        adaptation = blackjax.chees_adaptation(density, chains)
        (states, found), _ = adaptation.run(warm, start, 0.1, optax.adam(0.02), WARMUP)
        step = jax.vmap(blackjax.dynamic_hmc(density, **found).step)

        def one(states: Any, key: Any) -> tuple[Any, Any]:
            states, info = step(jax.random.split(key, chains), states)
            return states, (states.position, info.num_integration_steps)

        return jax.lax.scan(one, states, jax.random.split(draw, DRAWS))[1]

    jitted, start = jax.jit(run), jax.device_put(target.starts(chains), device)

    def sampled(key: int) -> tuple[Any, Any]:
        positions, steps = jitted(jax.random.key(key), start)
        return jax.block_until_ready(positions).swapaxes(0, 1), np.asarray(steps).mean()

    return sampled


def blackjax_nuts(target: Target, chosen: Namespace, chains: int) -> Sampler:
    """NUTS with a warm-up in windows, each chain by itself, in one jitted function."""
    import blackjax
    import jax
    import jax.numpy as jnp

    device = timing.jax_device(chosen.device)
    density = target.by(jnp, lambda array: jax.device_put(array, device))

    def run(key: Any, start: Any) -> tuple[Any, Any]:
        warm, draw = jax.random.split(key)
        (state, found), _ = blackjax.window_adaptation(blackjax.nuts, density).run(warm, start, WARMUP)
        step = blackjax.nuts(density, **found).step

        def one(state: Any, key: Any) -> tuple[Any, Any]:
            state, info = step(key, state)
            return state, (state.position, info.num_integration_steps)

        return jax.lax.scan(one, state, jax.random.split(draw, DRAWS))[1]

    jitted, start = jax.jit(jax.vmap(run)), jax.device_put(target.starts(chains), device)

    def sampled(key: int) -> tuple[Any, Any]:
        positions, steps = jitted(jax.random.split(jax.random.key(key), chains), start)
        return jax.block_until_ready(positions), np.asarray(steps).mean()

    return sampled


def by_nutpie(target: Target, chosen: Namespace, chains: int) -> Sampler:
    """NUTS in Rust, by the density of vecdist; ``ModuleNotFoundError`` on a GPU, which it has not."""
    import nutpie

    import vecdist
    from vecdist import interop
    from vecdist.parameters import real

    if chosen.device != "cpu":
        raise ModuleNotFoundError(name="nutpie for GPUs")
    density = vecdist.LogDensity(target.by(np, vecdist.data), x=real(target.ndim))
    model = interop.nutpie.model(density)

    def sampled(key: int) -> tuple[Any, Any]:
        trace = nutpie.sample(
            model, draws=DRAWS, tune=WARMUP, chains=chains, cores=os.cpu_count(), seed=key, progress_bar=False
        )
        return np.asarray(trace.posterior["x"]), float(trace.sample_stats["n_steps"].mean())

    return sampled


def by_numpyro(target: Target, chosen: Namespace, chains: int) -> Sampler:
    """NUTS, its chains vectorized."""
    import jax
    import jax.numpy as jnp
    from numpyro.infer import MCMC, NUTS

    device = timing.jax_device(chosen.device)
    density = target.by(jnp, lambda array: jax.device_put(array, device))
    kernel = NUTS(potential_fn=lambda x: -density(x))
    mcmc = MCMC(
        kernel, num_warmup=WARMUP, num_samples=DRAWS, num_chains=chains, chain_method="vectorized", progress_bar=False
    )
    start = jax.device_put(target.starts(chains), device)

    def sampled(key: int) -> tuple[Any, Any]:
        mcmc.run(jax.random.key(key), init_params=start, extra_fields=("num_steps",))
        positions = jax.block_until_ready(mcmc.get_samples(group_by_chain=True))
        return positions, np.asarray(mcmc.get_extra_fields()["num_steps"]).mean()

    return sampled


def measured(build: Callable[[], Sampler]) -> tuple[str, ...]:
    """The cells of a row: first run, a run, leapfrog steps of a draw, effective samples, and these per second."""
    from vecdist.graph.leaves import on_host
    from vecdist.samplers import ess

    try:
        sampler = build()
        start = time.perf_counter()
        sampler(1)
        first = time.perf_counter() - start
        start = time.perf_counter()
        draws, steps = sampler(2)
        seconds = time.perf_counter() - start
    except ModuleNotFoundError as error:
        return (f"{error.name} is not installed", *["-"] * 4)
    draws = np.asarray(on_host(draws))
    both = np.concatenate([draws, draws**2], axis=-1)
    size = ess(both, rank_normalised=True).min()
    return timing.duration(first), timing.duration(seconds), f"{steps:.1f}", f"{size:,.0f}", f"{size / seconds:,.0f}"


def contest(target: Target, chosen: Namespace, chains: int) -> None:
    """Print how the samplers do on a target."""
    title = f"{target.name}: {chains} chains, {WARMUP} draws of warm-up and {DRAWS} of each"
    timing.heading(title, chosen.device, "The least effective sample size of all numbers and their squares.")
    contenders = {
        "vecdist ChEES": functools.partial(by_vecdist, "chees"),
        "vecdist HMC": functools.partial(by_vecdist, "hmc"),
        "vecdist NUTS": functools.partial(by_vecdist, "nuts"),
        "nutpie NUTS": by_nutpie,
        "BlackJAX ChEES": by_blackjax,
        "BlackJAX NUTS": blackjax_nuts,
        "NumPyro NUTS": by_numpyro,
    }
    rows = [(name, *measured(functools.partial(build, target, chosen, chains))) for name, build in contenders.items()]
    timing.table(("sampler", "first run", "run", "steps", "effective samples", "per second"), rows)


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    os.environ["JAX_ENABLE_X64"] = "true"  # whatever the command line says of it
    for target, chains in zip(targets(chosen.device), CHAINS[chosen.device], strict=True):
        if not chosen.step or chosen.step in target.name:
            contest(target, chosen, chosen.size or chains)
