"""The time of lazy calls on tiny arrays, which is all overhead, and of the passes over graphs of many log densities."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import timing

DENSITIES = (10, 100, 1000)
LONG = ["Normal", "StudentT", "Cauchy", "Logistic", "Gamma", "Weibull", "LogNormal", "Exponential"]

Call = Callable[[], Any]


def of_normal(a: Any, b: Any, x: Any) -> Any:
    from vecdist import logpdf
    from vecdist.distributions import Normal

    return logpdf(Normal(a, b), x).sum()


def of_gamma(a: Any, b: Any, x: Any) -> Any:
    from vecdist import logpdf
    from vecdist.distributions import Gamma

    return logpdf(Gamma(a, b), x).sum()


def of_regression(a: Any, b: Any, x: Any) -> Any:
    """A line through points, with priors of its slope, its height and the spread around it."""
    from vecdist import lazy, logpdf
    from vecdist.distributions import HalfNormal, Normal

    priors = logpdf(Normal(0.0, 10.0), a) + logpdf(HalfNormal(2.0), b) + logpdf(Normal(0.0, 1.0), lazy(a) * 0.5)
    return logpdf(Normal(lazy(a) * lazy(x) + 0.5, b), x).sum() + priors


def of_mixture(a: Any, b: Any, x: Any) -> Any:
    """Three gammas."""
    from vecdist import lazy, logpdf
    from vecdist.distributions import Gamma

    parts = [np.log(weight) + logpdf(Gamma(lazy(a) + place, b), x) for place, weight in enumerate((0.2, 0.3, 0.5))]
    return np.logaddexp(np.logaddexp(parts[0], parts[1]), parts[2]).sum()


def of_families(a: Any, b: Any, x: Any) -> Any:
    """Eight families."""
    from vecdist import distributions, logpdf

    kinds = [getattr(distributions, name) for name in LONG]
    given = {"StudentT": (3.0, a, b), "Exponential": (a,)}
    return sum(logpdf(kind(*given.get(kind.__name__, (a, b))), x).sum() for kind in kinds)


MODELS: Mapping[str, Callable[..., Any]] = {
    "Normal, sum": of_normal,
    "Gamma, sum": of_gamma,
    "regression with priors": of_regression,
    "mixture of 3 gammas": of_mixture,
    "sum of 8 families": of_families,
}


def rows(chosen: Namespace) -> Iterator[tuple[str, ...]]:
    """For each model the time to build it, and of value and gradient: the first time, later, and compiled."""
    import vecdist

    xp = timing.array_library(chosen.device)
    a, b, x = (xp.asarray(v, chosen.dtype) for v in (2.5, 1.25, np.linspace(0.5, 3.0, chosen.size)))
    for name, model in MODELS.items():
        compiled = vecdist.compile(model)
        once = lambda model=model: vecdist.value_and_grad(model(a, b, x), wrt=(a, b))  # noqa: E731
        first = seconds(once)
        build = timing.best(lambda model=model: model(a, b, x), chosen.device)
        later, alone = timing.best(once, chosen.device), seconds_of(compiled, (a, b, x), chosen.device)
        shown = (timing.duration(t) for t in (first, build, later, alone, later - build - alone))
        yield name, *shown
    yield drawn(chosen, xp.asarray(2.5, chosen.dtype))


def seconds_of(compiled: Any, arrays: Any, device: str) -> float:
    """Those of a compiled function, which is the kernel and little else."""
    return timing.best(lambda: compiled.value_and_grad(*arrays, wrt=(0, 1)), device)


def drawn(chosen: Namespace, a: Any) -> tuple[str, ...]:
    """The row of random draws, whose key is another each time."""
    import vecdist
    from vecdist.distributions import Normal

    keys = iter(range(10**9))
    build = lambda: vecdist.sample(next(keys), Normal(a, 1.0), chosen.size)  # noqa: E731
    first = seconds(lambda: build().compute())
    times = [timing.best(call, chosen.device) for call in (build, lambda: build().compute())]
    shown = [timing.duration(t) for t in (first, *times, times[1] - times[0])]
    return "draws of a Normal", *shown[:3], "-", shown[3]


def seconds(call: Call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def planning() -> Iterator[tuple[str, ...]]:
    """For graphs of many log densities the time to build them, to bind them, and of all passes to loop nests."""
    for count in DENSITIES:
        times = planned(count)
        yield f"{count} log densities", *map(timing.duration, times), timing.duration(sum(times) / count)


def planned(count: int) -> list[float]:
    """The seconds of each step for a sum of so many log densities, each of data of its own."""
    from vecdist.graph.leaves import leaf
    from vecdist.lazy.derivatives import gradient_of
    from vecdist.passes.bind import bind
    from vecdist.runtime import pipeline

    a, b = np.array(2.5), np.array(1.25)
    xs = [np.linspace(0.5, 3.0, 8) for _ in range(count)]
    times = [time.perf_counter()]
    graph = sum((of_normal, of_gamma)[place % 2](a, b, x) for place, x in enumerate(xs))
    times.append(time.perf_counter())
    bound = bind((graph.node, leaf(a), leaf(b)))
    times.append(time.perf_counter())
    pipeline.lower(bound, gradient_of)
    times.append(time.perf_counter())
    return np.diff(times).tolist()


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 8, "cuda": 8})
    found = list(rows(chosen))
    timing.heading(
        f"Lazy value and gradient in two scalars, {chosen.size} elements of {chosen.dtype}",
        chosen.device,
        "first: compiled, or loaded from disk; added: what a later call takes beyond build and the compiled function",
    )
    timing.table(("", "first", "build", "later", "compiled", "added"), found)
    timing.heading("Passes of value and gradient", chosen.device, "Normal and Gamma in turn, each of data of its own")
    timing.table(("", "build", "bind", "passes and loop nests", "each density"), list(planning()))
