"""What clients add to a kernel call: the eight schools through each way of calling them, beside pure JAX and PyMC."""

from __future__ import annotations

import ctypes
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import timing
from eight_schools import CONSTANT, EFFECTS, ERRORS
from timing import Contender

LOOP = 2000  # evaluations of a call, where a client has a loop of its own
DRAWS, TUNE, RUNS = 2000, 300, 3
ACCEPTED = 0.998  # of nutpie's proposals, which makes steps small and paths long: 29 gradients a draw at most here
KERNEL = "the kernel alone, one row"
WANTED = {"nutpie, by address": 1e-6, "JAX, foreign function in a loop": 1e-6, "Python": 3e-6}


def schools() -> Any:
    """The log density, non-centred: ten numbers, the last of which is log tau."""
    import vecdist
    from vecdist.distributions import HalfCauchy, Normal
    from vecdist.parameters import positive, real

    y, sigma = (vecdist.data(np.array(numbers)) for numbers in (EFFECTS, ERRORS))

    def model(eta: Any, mu: Any, tau: Any) -> Any:
        prior = vecdist.logpdf(Normal(0.0, 1.0), eta).sum(), vecdist.logpdf(Normal(0.0, 5.0), mu)
        rest = vecdist.logpdf(HalfCauchy(5.0), tau), vecdist.logpdf(Normal(mu + tau * eta, sigma), y).sum()
        return (*prior, *rest)

    return vecdist.LogDensity(model, eta=real(8), mu=real(), tau=positive())


def by_jax(x: Any) -> Any:
    """The same by formula, in JAX."""
    import jax.numpy as jnp

    eta, mu, log_tau = x[:8], x[8], x[9]
    z = (np.array(EFFECTS) - mu - jnp.exp(log_tau) * eta) / np.array(ERRORS)
    squares = (z * z + eta * eta).sum() + (mu / 5) ** 2
    return CONSTANT - 0.5 * squares - jnp.log1p(jnp.exp(2 * log_tau) / 25) + log_tau


def kernel(density: Any, x: np.ndarray) -> Contender:
    """The kernel alone: one C call for many rows."""
    rows, values, gradients = np.tile(x, (LOOP, 1)), np.empty(LOOP), np.empty((LOOP, x.size))
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, *[ctypes.c_void_p] * 4)(density.c_batch_address)
    given = LOOP, *(array.ctypes.data for array in (rows, values, gradients)), None
    return Contender(lambda: call(*given), lambda _: (rows, values, gradients))


def kernel_in_loop(density: Any, x: np.ndarray) -> Contender:
    """The kernel alone: a C call for each vector, from a compiled loop."""
    import numba

    value, gradient = np.empty(1), np.empty(x.size)
    call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint64, *[ctypes.c_void_p] * 4)(density.c_logp_address)
    size, at, slopes, result = x.size, x.ctypes.data, gradient.ctypes.data, value.ctypes.data

    @numba.njit
    def loop(count):
        total = 0
        for _ in range(count):
            total += call(size, at, slopes, result, 0)
        return total

    return Contender(lambda: loop(LOOP), lambda _: (x, value, gradient))


def in_loop(function: Callable[[Any], Any], x: np.ndarray) -> Contender:
    """A loop within a compiled program of JAX, each gradient at a point that the last one moves."""
    import jax

    def step(_: Any, state: Any) -> Any:
        value, gradient = jax.value_and_grad(function)(state[0])
        return state[0] + 1e-9 * gradient, state[1] + value

    loop = jax.jit(lambda x: jax.lax.fori_loop(0, LOOP, step, (x, 0.0)))
    return Contender(lambda: loop(x), jax.block_until_ready)


def by_torch(function: Callable[[Any], Any], x: np.ndarray) -> Contender:
    """Forward and backward, as an optimiser of torch calls them."""
    import torch

    tensor = torch.from_numpy(x).requires_grad_()
    return Contender(lambda: torch.autograd.grad(function(tensor), tensor), lambda _: None)


def by_pytensor(function: Callable[[Any], Any], x: np.ndarray) -> Contender:
    """A compiled function of PyTensor that gives value and gradient."""
    import pytensor

    variable = pytensor.tensor.dvector("x")
    value = function(variable)
    compiled = pytensor.function([variable], [value, pytensor.grad(value, variable)], trust_input=True)
    return Contender(lambda: compiled(x), lambda _: None)


def pymc_model() -> Any:
    """The model as PyMC has it, compiled for nutpie."""
    import nutpie
    import pymc

    with pymc.Model() as model:
        eta, mu = pymc.Normal("eta", 0.0, 1.0, shape=8), pymc.Normal("mu", 0.0, 5.0)
        tau = pymc.HalfCauchy("tau", 5.0)
        pymc.Normal("y", mu + tau * eta, np.array(ERRORS), observed=np.array(EFFECTS))
    return nutpie.compile_pymc_model(model)


def sampling(model: Any, alone: Contender) -> tuple[float, float, float]:
    """The seconds of one more gradient in nutpie's NUTS, in one thread, of one more draw, and of the kernel meanwhile.

    Runs of as many draws differ in how long their paths may grow; a line through their times has the slope wanted.  A
    draw costs as much as a hundred gradients, and its noise is not to be taken for theirs: steps are small, so that
    paths become long, and the time is that of the processor, which does not run on while others do.
    """
    import nutpie

    steps, times, kernels = [], [], []
    for seed in range(RUNS + 1):
        for depth in (1, 3, 6):
            start = time.process_time()
            tree = nutpie.sample(
                model, draws=DRAWS, tune=TUNE, chains=1, cores=1, seed=seed, progress_bar=False, maxdepth=depth,
                target_accept=ACCEPTED,
            )  # fmt: skip
            seconds = time.process_time() - start
            alone.call()
            kernels.append((time.process_time() - start - seconds) / LOOP)
            if seed:  # the first ones warm up
                groups = (tree[name]["n_steps"] for name in ("sample_stats", "warmup_sample_stats"))
                steps.append(sum(float(numbers.sum()) for numbers in groups))
                times.append(seconds)
    slope, rest = np.polyfit(steps, times, 1)
    return slope, rest / (DRAWS + TUNE), statistics.median(kernels)


def timed(density: Any) -> dict[str, float]:
    """The seconds of an evaluation through each client, in turns; those that cannot run are left out, and said."""
    import vecdist.interop as clients

    x = density.pack({"eta": np.full(8, 0.2), "mu": 4.0, "tau": 3.0})
    builds: dict[str, tuple[Callable[[], Contender], int]] = {
        "the kernel alone, many rows": (lambda: kernel(density, x), LOOP),
        KERNEL: (lambda: kernel_in_loop(density, x), LOOP),
        "Python": (lambda: Contender(lambda: density.logdensity_and_gradient(x), lambda _: None), 1),
        "JAX, foreign function in a loop": (lambda: in_loop(clients.jax.function(density), x), LOOP),
        "JAX, callback in a loop": (lambda: in_loop(clients.jax.function(density, foreign=False), x), LOOP),
        "pure JAX in a loop": (lambda: in_loop(by_jax, x), LOOP),
        "torch, forward and backward": (lambda: by_torch(clients.torch.function(density), x), 1),
        "PyTensor, compiled function": (lambda: by_pytensor(clients.pymc.function(density), x), 1),
    }
    entries = {name: timing.attempt(build)[0] for name, (build, _) in builds.items()}
    timing.race(entries, "cpu")
    told = {name: entry for name, entry in entries.items() if isinstance(entry, str)}
    for name, reason in told.items():
        print(f"{name}: {reason}")
    return {name: entry.median / builds[name][1] for name, entry in entries.items() if name not in told}


def rows(density: Any) -> Iterator[tuple[str, ...]]:
    """The rows of the table."""
    import vecdist.interop as clients

    found = timed(density)
    alone = found[KERNEL]
    models = {
        "nutpie, by address": lambda: clients.nutpie.model(density),
        "nutpie, by Python": lambda: clients.nutpie.model(density, native=False),
        "nutpie with PyMC's model": pymc_model,
    }
    for name, seconds in found.items():
        yield row(name, seconds, alone, "-")
    loop = kernel_in_loop(density, density.pack({"eta": np.full(8, 0.2), "mu": 4.0, "tau": 3.0}))
    loop.warm()
    for name, build in models.items():
        measured = timing.attempted(lambda build=build: sampling(build(), loop))
        if isinstance(measured, str):
            yield f"{name}: {measured}", *["-"] * 4
        else:
            yield row(name, measured[0], measured[2], timing.duration(measured[1]))


def row(name: str, seconds: float, alone: float, of_draw: str) -> tuple[str, ...]:
    """A row of the table; only what calls vecdist's kernel has something beyond it."""
    ours = not any(words in name for words in ("alone", "pure", "PyMC's"))
    beyond = timing.duration(seconds - alone) if ours else "-"
    target = timing.duration(WANTED[name]) if name in WANTED else "-"
    return name, timing.duration(seconds), beyond, target, of_draw


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    os.environ["JAX_ENABLE_X64"] = "true"
    found = list(rows(schools()))
    timing.heading(
        "Eight schools through clients, value and gradient, float64",
        "cpu",
        "a gradient: of a step of NUTS with nutpie, whose own work is in it; a draw: what is not of its gradients",
    )
    timing.table(("", "a gradient", "beyond the kernel", "wanted below", "a draw"), found)
