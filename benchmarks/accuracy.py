"""How far values and partial derivatives are from the truth, in every family: writes ACCURACY.md.

Kernels are compiled as for a user; the points are those of ``--seed``, which no test uses.  NumPyro and torch may be in
another environment, whose Python ``--peers`` names.  What was found is kept in the folder ``--keep``: where ``--limit``
ends a call, the next one with the same folder goes on, and the page tells what is missing yet.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import ball_quantiles
import balls
import hard_points
import numpy as np
import peer_families
import processes
import timing
from accuracy_page import DTYPES, Errors, Found, document, has, judged
from family_cases import Drawn, scipys
from flint import arb
from scipy.stats import rv_discrete

import vecdist
from vecdist.distributions import FAMILIES

HERE = Path(__file__).resolve().parent
VERBS = ("logpdf", "cdf", "logcdf", "sf", "logsf", "ppf")
LOCATIONS = {"loc", "low", "high"}
OF_LOGARITHM = {"HurdleLogNormal", "LogNormal", "LogitNormal"}  # loc and scale are those of a logarithm
UNIT = {"Beta", "Kumaraswamy", "LogitNormal", "RelaxedBernoulli"}  # on the interval from 0 to 1


@dataclass(frozen=True)
class Task:
    """One verb of one family in one format."""

    family: str
    verb: str
    dtype: str
    points: int
    seed: int
    seconds: float  # that may be spent on truths
    device: str
    peers: str  # the Python that has them
    folder: Path  # where what was found is kept

    def __str__(self) -> str:
        return f"{self.family}-{self.verb}-{self.dtype}-{self.device}-{self.points}-{self.seed}"

    @property
    def kept(self) -> Path:
        return self.folder / f"{self}.pickle"

    @property
    def names(self) -> tuple[str, ...]:
        return FAMILIES[self.family].parametrisations[0].names

    @property
    def places(self) -> list[int]:
        """What derivatives are taken in, of x and the parameters: all that are not whole numbers by nature."""
        return [0, *self.parameters] if not FAMILIES[self.family].discrete else self.parameters

    @property
    def parameters(self) -> list[int]:
        kinds = FAMILIES[self.family].parametrisations[0].constraints.values()
        return [place for place, kind in enumerate(kinds, 1) if not kind.whole]

    @property
    def quantities(self) -> list[str]:
        named = ("q" if self.verb == "ppf" else "x", *self.names)
        return [self.verb, *(f"d/d{named[place]}" for place in self.places)]


def questions(family: str, dtype: str, count: int, seed: int, verb: str = "logpdf") -> dict[str, np.ndarray]:
    """Parameters and, last, x, or the probabilities of which quantiles are asked for."""
    kind = np.dtype(dtype).type
    drawn = hard_points.parameters(FAMILIES[family], kind, count, seed)
    if verb == "ppf":
        given = drawn | {"q": hard_points.probabilities(FAMILIES[family], kind, count, seed)}
    else:
        given = drawn | {"x": hard_points.points(FAMILIES[family], drawn, seed)}
    if {array.dtype for array in given.values()} != {np.dtype(dtype)}:
        raise TypeError(f"{family}: arrays of another format than {dtype}")
    return given


def keep(tasks: Sequence[Task]) -> None:
    """Measure the verbs of a family in one format, which share compiled parts and true values; keep each."""
    for task in tasks:
        before = sum(os.times()[:4])
        found = timing.attempted(lambda task=task: measured(task))
        if isinstance(found, str):
            print(f"{task}: {found}", file=sys.stderr, flush=True)
            continue
        whole = task.kept.with_suffix(".new")
        whole.write_bytes(pickle.dumps((found, sum(os.times()[:4]) - before)))
        whole.replace(task.kept)


def measured(task: Task) -> Found:
    """The errors of everyone who computes it."""
    given = questions(task.family, task.dtype, task.points, task.seed, task.verb)
    *parameters, x = given.values()
    mine = ours(task, given)
    function = None if task.verb == "ppf" else balls.formula(task.verb, task.family)
    end, rows = time.process_time() + task.seconds, []
    for start, row in zip(mine[0], zip(x, *parameters, strict=True), strict=True):
        if time.process_time() > end:
            rows.append([None] * (1 + len(task.places)))
        else:
            rows.append(root(task, row, start) if function is None else known(task, function, row))
    contenders = {"vecdist": mine, **others(task, given)}
    return {
        who: {
            quantity: errors(values, [row[place] for row in rows], given)
            for place, (quantity, values) in enumerate(zip(task.quantities, found, strict=False))
        }
        for who, found in contenders.items()
    }


def known(task: Task, function: Callable[..., Any], row: Sequence[float]) -> list[balls.Number | None]:
    """The truths of a point, and the sizes whose rounding is the least error of each."""
    first, others = balls.amplification(task.verb, task.family, row)
    found = balls.truth(function, row, task.places)
    return [each and (each[0], each[1] * (others if place else first)) for place, each in enumerate(found)]


def root(task: Task, row: Sequence[float], start: Any) -> list[balls.Number | None]:
    """The truths of a quantile."""
    by_name = {name: float(v) for name, v in zip(task.names, row[1:], strict=True)}
    own = {} if task.family in OF_LOGARITHM else by_name
    loc = max((own[name] for name in LOCATIONS & set(own)), key=abs, default=0.0)
    scale, unit = own.get("scale", 1.0), task.family in UNIT
    return ball_quantiles.truth(task.family, row, start, task.places, loc, scale, unit)


def ours(task: Task, given: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """vecdist's value and partials."""
    xp = timing.array_library(task.device)
    arrays = {name: xp.asarray(array) for name, array in given.items()}
    *_, point = arrays.values()
    at = [point, *(arrays[name] for name in task.names)]
    distribution = FAMILIES[task.family](**{name: arrays[name] for name in task.names})
    lazy = getattr(vecdist, task.verb)(distribution, point)
    value, partials = vecdist.value_and_partials(lazy, tuple(at[place] for place in task.places))
    return [array.get() if task.device == "cuda" else np.asarray(array) for array in (value, *partials)]


def others(task: Task, given: Mapping[str, np.ndarray]) -> dict[str, list[np.ndarray]]:
    """What SciPy, in float64, and the peers find."""
    *parameters, x = given.values()
    oracle = scipys(FAMILIES[task.family], task.names, parameters)
    found: dict[str, list[np.ndarray]] = {}
    if task.dtype == "float64" and not isinstance(oracle, Drawn) and not too_many_terms(task, oracle, x):
        mass = FAMILIES[task.family].discrete and task.verb == "logpdf"
        with np.errstate(all="ignore"):
            values = timing.attempted(lambda: getattr(oracle, "logpmf" if mass else task.verb)(x))
        if not isinstance(values, str):
            found["SciPy"] = [values]
    return found | (peers(task, given) if task.verb == "logpdf" else {})


def too_many_terms(task: Task, oracle: Any, x: np.ndarray) -> bool:
    """Whether SciPy would sum more masses than we do, of which it makes an array: of terabytes, or what there is."""
    summed = getattr(type(oracle.dist), "_cdf", None) is rv_discrete._cdf
    return summed and task.verb != "logpdf" and bool(x.max() > balls.LONGEST)


def peers(task: Task, given: Mapping[str, np.ndarray]) -> dict[str, list[np.ndarray]]:
    """What NumPyro and torch find, computed by the processor in the environment that has them."""
    having = [peer for peer, (table, _) in peer_families.PEERS.items() if task.family in table]
    if not having:
        return {}
    case, last = f"{task.family}/{task.dtype}", len(task.names) + 1  # the place of x
    with tempfile.TemporaryDirectory(prefix="vecdist-accuracy-") as folder:
        asked, answered = Path(folder) / "asked.npz", Path(folder) / "answered.npz"
        np.savez(asked, **{f"{case}/{name}": array for name, array in given.items()})
        command = [task.peers, str(HERE / "peer_families.py"), str(asked), str(answered)]
        subprocess.run(command, check=False, env={**os.environ, "JAX_PLATFORMS": "cpu"})
        answers = dict(np.load(answered)) if answered.exists() else {}
    return {
        peer: [answers[f"{peer}/{case}/{place}"] for place in (0, *(place or last for place in task.places))]
        for peer in having if f"{peer}/{case}/0" in answers
    }  # fmt: skip


def errors(values: np.ndarray, truths: Sequence[balls.Number | None], given: Mapping[str, np.ndarray]) -> Errors:
    """The errors of values, and a description of where the largest is; NaN is one whatever the truth."""
    pairs = zip(np.asarray(values), truths, strict=True)
    each = np.array([
        units(value, *truth) if truth is not None else math.inf if np.isnan(value) else math.nan
        for value, truth in pairs
    ])  # fmt: skip
    place = int(np.argmax(np.where(np.isnan(each), -1.0, each)))
    return Errors(each, ", ".join(f"{name}={array[place]:.6g}" for name, array in given.items()))


def units(value: Any, true: arb, largest: float) -> float:
    """An error in units in the last place of the larger of the truth and its largest addend."""
    kind = np.finfo(value.dtype)
    size = max(abs(float(true)), largest)
    if abs(float(true)) > kind.max:
        return 0.0 if abs(value) >= kind.max and (value > 0) == (float(true) > 0) else math.inf
    if size > kind.max:
        return math.nan
    if not np.isfinite(value):
        return math.inf
    unit = float(max(np.spacing(kind.dtype.type(size)), kind.tiny))
    return float((arb(float(value)) - true).abs_lower()) / unit


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--seed", type=int, required=True, help="of all points: one that was not used before")
    parser.add_argument("--points", type=int, default=400, help="of each family and format, for log densities")
    parser.add_argument("--tail-points", type=int, default=200, help="for distribution functions, quantiles")
    parser.add_argument("--seconds", type=float, default=2.5, help="of a processor for the truths of one verb")
    parser.add_argument("--families", nargs="+", default=sorted(FAMILIES), choices=sorted(FAMILIES), metavar="FAMILY")
    parser.add_argument("--verbs", nargs="+", default=list(VERBS), choices=VERBS, metavar="VERB")
    parser.add_argument("--peers", default=sys.executable, help="the Python that has NumPyro and torch")
    parser.add_argument("--jobs", type=int, default=timing.processors(), help="processes")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="of what this and earlier calls found")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds after which nothing more is computed")
    parser.add_argument("--output", type=Path, help="ACCURACY.md, or ACCURACY_CUDA.md, beside this file")
    return parser.parse_args()


def main(chosen: argparse.Namespace) -> None:
    start = time.perf_counter()
    with contextlib.nullcontext(chosen.keep) if chosen.keep else tempfile.TemporaryDirectory() as folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tasks = [*all_tasks(chosen, Path(folder))]
        left = [task for task in tasks if not task.kept.exists()]
        kinds = groupby(left, lambda task: (task.family, task.dtype, task.verb in ("logpdf", "ppf") and task.verb))
        groups = sorted(([*group] for _, group in kinds), key=expense, reverse=True)
        processes.each(keep, groups, chosen.jobs, chosen.limit)
        kept = {task: pickle.loads(task.kept.read_bytes()) for task in tasks if task.kept.exists()}
    wall = time.perf_counter() - start
    print(f"{len(kept)} of {len(tasks)} after {wall:.0f} s", file=sys.stderr)
    found = {(task.family, task.verb, task.dtype): each for task, (each, _) in kept.items()}
    page = chosen.output or HERE / ("ACCURACY_CUDA.md" if chosen.device == "cuda" else "ACCURACY.md")
    page.write_text(document(chosen, found, sum(seconds for _, seconds in kept.values())))


def all_tasks(chosen: argparse.Namespace, folder: Path) -> Iterator[Task]:
    """What the page holds, family by family."""
    alike = chosen.seed, chosen.seconds, chosen.device, chosen.peers, folder
    for family in chosen.families:
        verbs = [verb for verb in chosen.verbs if judged(family, verb) and has(family, verb)]
        for dtype in DTYPES:
            for verb in verbs:
                yield Task(family, verb, dtype, chosen.points if verb == "logpdf" else chosen.tail_points, *alike)


def expense(tasks: Sequence[Task]) -> int:
    """What grows with the time that tasks take: how many values and derivatives are compiled."""
    return sum(len(task.quantities) * (1 if task.verb == "logpdf" else 3) for task in tasks)


if __name__ == "__main__":
    main(options())
