"""Threads beside one that compiles: what that takes then, calls of a known structure, and another new one."""

from __future__ import annotations

import json
import threading
import time
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import numpy as np
import timing

SIZE = 1000


def of_known(x: Any) -> Any:
    from vecdist import lazy

    return (lazy(x) * 2.0 + 1.0).sum()


def of_other(x: Any) -> Any:
    from vecdist import lazy, logpdf
    from vecdist.distributions import Normal

    return logpdf(Normal(0.5, 2.0), lazy(x)).sum()


def of_gamma(x: Any) -> Any:
    from vecdist import lazy, logpdf
    from vecdist.distributions import Gamma

    return logpdf(Gamma(2.5, lazy(x)), 1.5).sum()


def of_tails(x: Any) -> Any:
    from vecdist import lazy, logcdf
    from vecdist.distributions import Beta, Gamma

    return logcdf(Gamma(2.5, lazy(x)), 1.5).sum() + logcdf(Beta(lazy(x), 3.0), 0.25).sum()


MODELS: dict[str, Callable[[Any], Any]] = {"Gamma, log density": of_gamma, "Gamma and Beta, log cdf": of_tails}


def timed(work: Callable[[], Any], found: dict[str, Any], name: str) -> threading.Thread:
    """A thread that does something, and notes the seconds that this took."""

    def run() -> None:
        start = time.perf_counter()
        work()
        found[name] = time.perf_counter() - start

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def latencies(call: Callable[[], Any], going: Callable[[], bool]) -> np.ndarray:
    """The seconds of calls, one after another."""
    times = []
    while going():
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return np.array(times)


def measured(chosen: Namespace, model: Callable[[Any], Any], beside: str) -> dict[str, Any]:
    """The seconds of a model's first call, and of what is called beside it: ``nothing``, ``known`` or ``other``."""
    import vecdist

    wait = timing.wait_for(chosen.device)
    x = timing.array_library(chosen.device).linspace(0.1, 0.9, SIZE).astype(chosen.dtype)

    def first(of: Callable[[Any], Any]) -> None:
        wait(vecdist.value_and_grad(of(x), x))

    def known() -> None:
        wait(of_known(x).compute())

    known()  # which imports Numba, and these the families
    model(x), of_other(x)
    found: dict[str, Any] = {}
    if beside == "known":
        before = iter(range(1000))
        found["before"] = float(np.median(latencies(known, lambda: next(before, None) is not None)))
    thread = timed(lambda: first(model), found, "model")
    if beside == "known":
        times = latencies(known, thread.is_alive)
        found |= {"median": float(np.median(times)), "most": float(times.max())}
    if beside == "other":
        timed(lambda: first(of_other), found, "other").join()
    thread.join()
    if beside == "nothing":
        timed(lambda: first(of_other), found, "other").join()
    return found


def row(chosen: Namespace, model: str) -> tuple[str, ...]:
    """What a model takes alone and beside others, and they beside it; each in a process of its own."""
    found = {}
    for beside in ("nothing", "known", "other"):
        with timing.empty_folder() as folder:
            arguments = ("--step", f"{beside}/{model}", "--device", chosen.device, "--dtype", chosen.dtype)
            found[beside] = timing.fresh(__file__, *arguments, VECDIST_CACHE_DIR=folder)
    alone, known, other = found["nothing"], found["known"], found["other"]
    calls = (known[name] for name in ("model", "before", "median", "most"))
    return model, *map(timing.duration, (alone["model"], *calls, alone["other"], other["other"]))


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    if chosen.step:
        beside, _, model = chosen.step.partition("/")
        print(json.dumps(measured(chosen, MODELS[model], beside)))
    else:
        timing.heading(
            f"First value and gradient beside other threads, {SIZE} elements of {chosen.dtype}",
            chosen.device,
            "the first call of a model, alone and while another thread calls a known structure; the median of such "
            "calls before and meanwhile, and the longest; the first call of a Normal density, after it and beside it",
        )
        columns = ("", "alone", "beside calls", "a call", "meanwhile", "the longest", "another alone", "beside it")
        timing.table(columns, [row(chosen, model) for model in MODELS])
