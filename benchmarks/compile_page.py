"""What compiling costs: every family's verbs with all their partial derivatives, and whole models with their gradients.

``--keep FILE`` keeps the times as JSON; ``--before FILE`` puts those of an earlier version beside, from another
checkout in which this script ran; ``--write`` writes the page, COMPILE.md.  Each row is compiled once, with an empty
cache, in one of ``--jobs`` processes, and is given in seconds of the processor: it matters little how many compile.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import timing

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(timing.ROOT / "tests"), str(timing.ROOT / "tests" / "distributions")]
VERBS = ("logpdf", "cdf", "logcdf", "sf", "logsf", "ppf")
POINTS = 64  # elements, or observations of a model
INTRODUCTION = """# What compiling costs

Seconds of the processor from an expression to its first values: Python, LLVM and on CUDA NVVM and nvJitLink, with an
empty cache.  Families: the value with all partial derivatives of elements; models: the log density with its gradient.
Left of the arrow is the version whose kernels Numba's front end read as Python, a question mark what that did not
compile within the two minutes of its run, in 30 processes.  A dash: the family has no such verb.
"""


def family_rows(device: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every family's verbs, with all partials."""
    from family_cases import parameters_of, points_of

    import vecdist
    from vecdist.distributions import FAMILIES

    move = timing.array_library(device).asarray
    for name, family in FAMILIES.items():
        names = family.parametrisations[0].names
        parameters = parameters_of(family, names, np.float64, POINTS)
        points = points_of(family, names, parameters)
        for verb in VERBS:
            x = np.linspace(0.05, 0.95, POINTS) if verb == "ppf" else points

            def value(verb: str = verb, family: Any = family, parameters: Any = parameters, x: Any = x) -> Any:
                given = [*map(move, parameters), move(x)]
                wrt = given[:-1] if family.discrete else given
                result = getattr(vecdist, verb)(family(*given[:-1]), given[-1])
                return vecdist.value_and_partials(result, wrt=tuple(wrt))

            yield f"{name} {verb}", value


def model_rows(device: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Models as users write them, and a normal vector of eight rows."""
    from models.catalogue import MODELS

    import vecdist
    from vecdist.distributions import MvNormal

    move = timing.array_library(device).asarray
    for name, model in MODELS.items():
        def value(model: Any = model) -> Any:
            given = {key: vecdist.lazy(move(array)) for key, array in model.arguments(POINTS).items()}
            return vecdist.value_and_grad(model.density(**given), wrt=tuple(given[key] for key in model.parameters))

        yield name, value

    def vector() -> Any:
        mean, factor = move(np.zeros(8)), move(np.eye(8) + 0.1)
        density = vecdist.logpdf(MvNormal(mean, covariance=factor), move(np.ones((5, 8)))).sum()
        return vecdist.value_and_grad(density, wrt=(mean, factor))

    yield "normal vectors of 8 rows, dense covariance", vector


def rows(device: str) -> dict[str, Callable[[], Any]]:
    return {**dict(model_rows(device)), **dict(family_rows(device))}


def seconds(task: tuple[str, str]) -> tuple[str, float | str | None]:
    """The processor's time of a first call, less that of a second; or why it failed, ``None`` for want of a formula."""
    device, name = task
    call, wait = _rows[name], timing.wait_for(device)
    try:
        start = time.process_time()
        wait(call())
        middle = time.process_time()
        wait(call())
        return name, 2 * middle - start - time.process_time()
    except NotImplementedError:
        return name, None
    except Exception as error:
        return name, timing.brief(error)


_rows: dict[str, Callable[[], Any]] = {}


def started(device: str) -> None:
    """A process that has compiled something: libraries are loaded, and a context is there."""
    import vecdist

    _rows.update(rows(device))
    x = timing.array_library(device).ones(3)
    timing.wait_for(device)((vecdist.lazy(x) * 2.0).sum().compute())


def measured(device: str, jobs: int) -> dict[str, Any]:
    """The times of all rows."""
    tasks = [(device, name) for name in rows("cpu")]
    context, found = multiprocessing.get_context("spawn"), {}
    with context.Pool(jobs, started, (device,), maxtasksperchild=40) as pool:
        for name, each in pool.imap_unordered(seconds, tasks, chunksize=1):
            found[name] = each
            print(f"{name}: {each}", file=sys.stderr, flush=True)
    return found


def beside(now: Any, before: Any) -> str:
    """A time, with the earlier one before it."""
    if now is None:
        return "-"
    text = now if isinstance(now, str) else f"{now:.2f}"
    earlier = before if isinstance(before, str) else "?" if before is None else f"{before:.1f}"
    return f"{earlier} → {text}"


def page(found: Mapping[str, Mapping[str, Any]], before: Mapping[str, Mapping[str, Any]]) -> str:
    """The tables of each device."""
    parts = [INTRODUCTION]
    for device, times in found.items():
        parts += [f"## {device}", "", times["told"], "", *tables(times["rows"], before.get(device, {}).get("rows", {}))]
    return "\n".join(parts)


def tables(now: Mapping[str, Any], old: Mapping[str, Any]) -> Iterator[str]:
    """What was measured on one device, with what was before."""
    numbers = {name: each for name, each in now.items() if isinstance(each, float)}
    whole, median = sum(numbers.values()), statistics.median(numbers.values())
    both = [name for name in numbers if isinstance(old.get(name), float)]
    longest = max(numbers, key=lambda name: numbers[name])
    yield (
        f"{len(numbers)} kernels: {whole:.0f} s in all, median {median:.2f} s, longest {numbers[longest]:.1f} s "
        f"({longest}).  The {len(both)} that were measured before: {sum(old[name] for name in both):.0f} s then and "
        f"{sum(numbers[name] for name in both):.0f} s now."
    )
    models = [name for name in now if not name.endswith(tuple(f" {verb}" for verb in VERBS))]
    yield from ("", "| model | seconds |", "| --- | ---: |")
    yield from (f"| {name} | {beside(now[name], old.get(name))} |" for name in models)
    yield from ("", f"| family | {' | '.join(VERBS)} |", f"| --- |{' ---: |' * len(VERBS)}")
    for family in dict.fromkeys(name.rpartition(" ")[0] for name in now if name not in models):
        names = [f"{family} {verb}" for verb in VERBS]
        yield f"| {family} | {' | '.join(beside(now.get(name), old.get(name)) for name in names)} |"
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--jobs", type=int, default=timing.processors())
    parser.add_argument("--keep", type=Path, help="keep, or find, the times of both devices here")
    parser.add_argument("--before", type=Path, help="times of an earlier version")
    parser.add_argument("--write", action="store_true", help="write the page from what was kept, and measure nothing")
    chosen = parser.parse_args()
    kept = json.loads(chosen.keep.read_text()) if chosen.keep and chosen.keep.exists() else {}
    if not chosen.write:
        with timing.empty_folder() as folder:
            os.environ["VECDIST_CACHE_DIR"] = folder
            told = f"{timing.device_name(chosen.device)}; {timing.versions()}"
            kept[chosen.device] = {"told": told, "rows": measured(chosen.device, chosen.jobs)}
        if chosen.keep:
            chosen.keep.write_text(json.dumps(kept))
        return
    before = json.loads(chosen.before.read_text()) if chosen.before else {}
    (HERE / "COMPILE.md").write_text(page(kept, before))


if __name__ == "__main__":
    main()
