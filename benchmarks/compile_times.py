"""What a first call costs: importing, compiling a model of some thirty nodes, finding it compiled, other lengths."""

from __future__ import annotations

import importlib
import json
import statistics
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import timing

TARGETS = {"import": 0.15, "cold, cpu": 2.0, "cold, cuda": 2.5, "cached": 0.15}
IMPORTS = 5  # processes
LENGTHS = (1000, 1001, 300_000)
NAMES = {
    "import vecdist": "import vecdist",
    "and what a model names": "from vecdist import compile, logpdf; from vecdist.distributions import Gamma, StudentT",
}
IMPORT = """
import json, sys, time
start = time.perf_counter(); import numpy; middle = time.perf_counter(); before = set(sys.modules)
NAMES; end = time.perf_counter()
loaded = {name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names - {"vecdist", "numpy"}
print(json.dumps({"seconds": end - start, "beyond": end - middle, "loaded": sorted(loaded)}))
"""


def data(size: int, dtype: str) -> list[np.ndarray]:
    """Four parameters, an explaining variable, and what it explains."""
    rng = np.random.default_rng(7)
    u = rng.normal(size=size)
    given = (0.3, 0.7, -0.2, 0.5, u, 0.3 + np.tanh(0.7 * u) + rng.normal(size=size))
    return [np.asarray(value, dtype) for value in given]


def small(xp: Any, d: Namespace, level: Any, slope: Any, log_scale: Any, tail: Any, u: Any, y: Any) -> Any:
    """A regression."""
    return d.normal(y, level + xp.tanh(slope * u), xp.exp(log_scale)).sum() + log_scale * tail


def large(xp: Any, d: Namespace, level: Any, slope: Any, log_scale: Any, tail: Any, u: Any, y: Any) -> Any:
    """A regression with heavy tails and priors."""
    scale, freedom = xp.exp(log_scale), 1.0 + xp.exp(tail)
    likelihood = d.student(y, freedom, level + xp.tanh(slope * u), scale).sum() + log_scale + tail
    priors = d.normal(level, 0.0, 5.0) + d.normal(slope, 0.0, 1.0)
    return likelihood + priors + d.gamma(scale, 2.0, 0.5) + d.gamma(freedom, 2.0, 4.0)


MODELS = {"small": small, "large": large}


def vecdist_steps(chosen: Namespace, model: Callable) -> dict[str, Any]:
    """The seconds of importing Numba (and starting CuPy), of the first call, and of calls with other lengths."""
    libraries = seconds(lambda: start_libraries(chosen.device))
    import vecdist
    from vecdist.distributions import Gamma, Normal, StudentT

    d = Namespace(
        normal=lambda x, mean, sd: vecdist.logpdf(Normal(mean, sd), x),
        student=lambda x, freedom, centre, scale: vecdist.logpdf(StudentT(freedom, centre, scale), x),
        gamma=lambda x, shape, scale: vecdist.logpdf(Gamma(shape, scale), x),
    )

    def density(*given: Any) -> Any:
        return model(np, d, *given)

    f, wait = vecdist.compile(density), timing.wait_for(chosen.device)
    move = timing.array_library(chosen.device).asarray
    given = [[move(array) for array in data(size, chosen.dtype)] for size in LENGTHS]
    first, *others = [seconds(lambda a=a: wait(f.value_and_grad(*a, wrt=(0, 1, 2, 3)))) for a in given]
    nodes = repr(density(*map(vecdist.lazy, given[0]))).partition(" node")[0].rpartition(" ")[2]
    compiled = vecdist.runtime.pipeline.compilations()
    return {"libraries": libraries, "first": first, "others": others, "compiled": compiled, "nodes": nodes}


def start_libraries(device: str) -> None:
    """Import Numba, and on a GPU import CuPy and create its context."""
    importlib.import_module("numba")
    if device == "cuda":
        timing.array_library(device).zeros(1).get()


def jax_steps(chosen: Namespace, model: Callable) -> dict[str, Any]:
    """The same of JAX: its import and start, the first call, and calls with other lengths, which compile again."""
    libraries = seconds(lambda: timing.jax_device(chosen.device))
    import jax
    from jax.scipy.stats import gamma, norm, t

    d = Namespace(
        normal=norm.logpdf, student=t.logpdf, gamma=lambda x, shape, scale: gamma.logpdf(x, shape, scale=scale)
    )
    f = jax.jit(jax.value_and_grad(lambda *given: model(jax.numpy, d, *given), (0, 1, 2, 3)))
    given = [[jax.device_put(array) for array in data(size, chosen.dtype)] for size in LENGTHS]
    first, *others = [seconds(lambda a=a: jax.block_until_ready(f(*a))) for a in given]
    return {"libraries": libraries, "first": first, "others": others, "compiled": f._cache_size()}


STEPS = {"vecdist": vecdist_steps, "jax": jax_steps}


def seconds(function: Callable[[], Any]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def step(chosen: Namespace, name: str, model: str, folder: str) -> Any:
    """A step in a process of its own, with its cache in ``folder``; or why it failed."""
    arguments = ("--step", f"{name} {model}", "--device", chosen.device, "--dtype", chosen.dtype)
    return timing.attempted(lambda: timing.fresh(__file__, *arguments, VECDIST_CACHE_DIR=folder))


def row(name: str, found: Any, target: float | None = None) -> tuple[str, ...]:
    """What a step found, as a row of the table."""
    if isinstance(found, str):
        return f"{name}: {found}", *["-"] * (4 + len(LENGTHS) - 1)
    beside = timing.ratio(found["first"] / target) if target else "-"
    times = [timing.duration(found[what]) for what in ("libraries", "first")]
    return name, *times, beside, *map(timing.duration, found["others"]), str(found["compiled"])


def importing(device: str) -> None:
    """Print what importing vecdist takes and loads: the package, and the modules of some names."""
    rows, loaded = [], set[str]()
    for title, names in NAMES.items():
        found = [timing.fresh("-c", IMPORT.replace("NAMES", names)) for _ in range(IMPORTS)]
        whole, beyond = (statistics.median(each[what] for each in found) for what in ("seconds", "beyond"))
        loaded |= set(found[0]["loaded"])
        times = timing.duration(whole), timing.duration(beyond), timing.ratio(whole / TARGETS["import"])
        rows.append((title, *times))
    beside = ", ".join(sorted(loaded)) or "nothing"
    timing.heading("Importing vecdist", device, f"beside NumPy and the standard library it loads {beside}")
    timing.table(("", "with NumPy", "beyond NumPy", f"with NumPy, to {timing.duration(TARGETS['import'])}"), rows)


def first_calls(chosen: Namespace, model: str) -> None:
    """Print what the first calls of a model take, cold and cached, beside JAX."""
    with timing.empty_folder() as folder:
        cold, cached, jax = (step(chosen, name, model, folder) for name in ("vecdist", "vecdist", "jax"))
    nodes = cold["nodes"] if isinstance(cold, dict) else "some"
    timing.heading(
        f"First value and gradient of a model of {nodes} nodes, {chosen.dtype}",
        chosen.device,
        "each row a new process; libraries: importing Numba (and CuPy, with its context) or JAX; then the first call, "
        f"at length {LENGTHS[0]}, first calls at other lengths, and how many programs all of these needed",
    )
    rows = [
        row("vecdist, empty cache", cold, TARGETS[f"cold, {chosen.device}"]),
        row("vecdist, cached", cached, TARGETS["cached"]),
        row("jax.jit", jax),
    ]
    others = [f"length {length}" for length in LENGTHS[1:]]
    timing.table(("", "libraries", "first call", "to target", *others, "programs"), rows)


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    if chosen.step:
        name, model = chosen.step.split()
        print(json.dumps(STEPS[name](chosen, MODELS[model])))
    else:
        importing(chosen.device)
        with timing.empty_folder() as unused:
            step(chosen, "vecdist", "small", unused)  # reads the libraries' files from disk, so that no time below does
        for model in MODELS:
            first_calls(chosen, model)
