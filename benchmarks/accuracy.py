"""How far values and partial derivatives are from the truth, in every family: writes ACCURACY.md.

vecdist's CPU kernels are run by Python as their source stands, which takes no compiling, or compiled as for a user.
NumPyro and torch may be in another environment, whose Python ``--peers`` names.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, groupby
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import ball_quantiles
import balls
import hard_points
import numpy as np
import timing
from family_cases import Drawn, scipys
from flint import arb

import vecdist
from vecdist.distributions import FAMILIES

HERE = Path(__file__).resolve().parent
VERBS = ("logpdf", "cdf", "logcdf", "sf", "logsf", "ppf")
DTYPES = ("float64", "float32")
LOCATIONS = {"loc", "low", "high"}
OF_LOGARITHM = {"HurdleLogNormal", "LogNormal", "LogitNormal"}  # loc and scale are those of a logarithm
UNIT = {"Beta", "Kumaraswamy", "LogitNormal", "RelaxedBernoulli"}  # on the interval from 0 to 1
BOUND = 4.0  # units in the last place, which we want to stay within

Answers = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Task:
    """One verb of one family in one format."""

    family: str
    verb: str
    dtype: str
    points: int
    device: str
    compiled: bool
    answers: Answers  # of the peers

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


@dataclass(frozen=True)
class Errors:
    """Errors in units in the last place, NaN where the truth is not known; and where the largest is."""

    each: np.ndarray
    at: str

    @property
    def known(self) -> np.ndarray:
        return self.each[~np.isnan(self.each)]

    @property
    def largest(self) -> float:
        return float(self.known.max(initial=0.0))

    @property
    def most(self) -> float:
        return float(np.quantile(self.known, 0.99, method="lower")) if len(self.known) else 0.0


Found = dict[str, dict[str, Errors]]  # by contender, then by quantity


def questions(family: str, dtype: str, count: int, verb: str = "logpdf") -> dict[str, np.ndarray]:
    """Parameters and, last, x, or the probabilities of which quantiles are asked for."""
    drawn = hard_points.parameters(FAMILIES[family], np.dtype(dtype).type, count)
    if verb == "ppf":
        given = drawn | {"q": hard_points.probabilities(np.dtype(dtype).type, count)}
    else:
        given = drawn | {"x": hard_points.points(FAMILIES[family], drawn)}
    if {array.dtype for array in given.values()} != {np.dtype(dtype)}:
        raise TypeError(f"{family}: arrays of another format than {dtype}")
    return given


def measured_together(tasks: Sequence[Task]) -> list[Found | str]:
    """Tasks of one process, which share what balls remember; a text says why one failed."""
    balls.REMEMBERED.clear()
    return [timing.attempted(lambda task=task: measured(task)) for task in tasks]


def measured(task: Task) -> Found:
    """The errors of everyone who computes it."""
    given = questions(task.family, task.dtype, task.points, task.verb)
    *parameters, x = given.values()
    mine = ours(task, given)
    if task.verb == "ppf":
        rows = [root(task, row, start) for start, row in zip(mine[0], zip(x, *parameters, strict=True), strict=True)]
    else:
        function = balls.formula(task.verb, task.family)
        rows = [known(task, function, row) for row in zip(x, *parameters, strict=True)]
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
    with running(task):
        distribution = FAMILIES[task.family](**{name: arrays[name] for name in task.names})
        lazy = getattr(vecdist, task.verb)(distribution, point)
        value, partials = vecdist.value_and_partials(lazy, tuple(at[place] for place in task.places))
    return [array.get() if task.device == "cuda" else np.asarray(array) for array in (value, *partials)]


def running(task: Task) -> contextlib.AbstractContextManager[None]:
    """How kernels run."""
    if task.compiled or task.device == "cuda":
        return contextlib.nullcontext()
    sys.path.append(str(timing.ROOT / "tests"))
    from uncompiled import uncompiled

    return uncompiled()


def others(task: Task, given: Mapping[str, np.ndarray]) -> dict[str, list[np.ndarray]]:
    """What SciPy, in float64, and the peers find."""
    *parameters, x = given.values()
    oracle = scipys(FAMILIES[task.family], task.names, parameters)
    found: dict[str, list[np.ndarray]] = {}
    if task.dtype == "float64" and not isinstance(oracle, Drawn):
        mass = FAMILIES[task.family].discrete and task.verb == "logpdf"
        with np.errstate(all="ignore"):
            values = timing.attempted(lambda: getattr(oracle, "logpmf" if mass else task.verb)(x))
        if not isinstance(values, str):
            found["SciPy"] = [values]
    for peer in ("NumPyro", "torch"):
        start = f"{peer}/{task.family}/{task.dtype}"
        if task.verb == "logpdf" and f"{start}/0" in task.answers:
            last = len(task.names) + 1  # the place of x
            partials = [task.answers[f"{start}/{place or last}"] for place in task.places]
            found[peer] = [task.answers[f"{start}/0"], *partials]
    return found


def errors(values: np.ndarray, truths: Sequence[balls.Number | None], given: Mapping[str, np.ndarray]) -> Errors:
    """The errors of values, and a description of where the largest is."""
    pairs = zip(np.asarray(values), truths, strict=True)
    each = np.array([math.nan if truth is None else units(value, *truth) for value, truth in pairs])
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


def judged(family: str, verb: str) -> bool:
    """Whether truths are stated: of quantiles, where they are no whole numbers."""
    if verb == "ppf":
        return family in balls.CDF and not FAMILIES[family].discrete
    return balls.formula(verb, family) is not None


def has(family: str, verb: str) -> bool:
    """Whether vecdist has the verb for a family."""
    one = np.full(1, 0.5)
    try:
        getattr(vecdist, verb)(FAMILIES[family](*[one] * len(FAMILIES[family].parametrisations[0].names)), one)
    except NotImplementedError:
        return False
    return True


def peers(python: str, chosen: argparse.Namespace) -> Answers:
    """What NumPyro and torch find at all points, computed in the environment of ``python``."""
    arrays = {
        f"{family}/{dtype}/{name}": array
        for family in chosen.families for dtype in DTYPES
        for name, array in questions(family, dtype, chosen.points).items()
    }  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="vecdist-accuracy-") as folder:
        asked, answered = Path(folder) / "asked.npz", Path(folder) / "answered.npz"
        np.savez(asked, **arrays)
        subprocess.run([python, str(HERE / "peer_families.py"), str(asked), str(answered)], check=True)
        return dict(np.load(answered))


def document(chosen: argparse.Namespace, found: Mapping[tuple[str, str, str], Found], seconds: float) -> str:
    """Everything that was found, in Markdown."""
    sections = [section(verb, chosen, found) for verb in chosen.verbs]
    way = "CUDA kernels" if chosen.device == "cuda" else "CPU kernels" + (
        ", compiled" if chosen.compiled else ", their source run by Python"
    )
    counts = f"{chosen.points} points per family and format (a third as many for distribution functions)"
    made = f"Made by `python benchmarks/accuracy.py --device {chosen.device}` in {seconds:.0f} s: {counts}, {way}; "
    return TITLE + "\n" + made + timing.versions() + peer_versions(chosen.peers) + ".\n\n" + "\n".join(sections)


def peer_versions(python: str) -> str:
    """What the peers' Python has, where it is another one."""
    if python == sys.executable:
        return ""
    asked = (
        "import platform; from importlib import metadata;"
        "print('; peers with Python', platform.python_version(), end='');"
        "[print(',', name, metadata.version(name), end='') for name in ('numpyro', 'jax', 'torch', 'numpy')]"
    )
    return subprocess.run([python, "-c", asked], check=False, capture_output=True, text=True).stdout


def section(verb: str, chosen: argparse.Namespace, found: Mapping[tuple[str, str, str], Found]) -> str:
    """The tables of a verb, and what they leave out."""
    families = [f for f in chosen.families if all((f, verb, dtype) in found for dtype in DTYPES)]
    failed = [f for f in chosen.families if f not in families and judged(f, verb) and has(f, verb)]
    rows = [row for family in families for row in rows_of(family, verb, found)]
    unformulated = [f for f in chosen.families if f not in (*families, *failed) and has(f, verb)]
    lacking = [f for f in chosen.families if not has(f, verb)]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        print(f"## {verb}\n")
        timing.table(("", "quantities", f"within {BOUND:g}", "median", "not finite"), summary(verb, found))
        print()
        timing.table(COLUMNS, rows)
        gaps = {"Failed in this run": failed, "No truth is stated for": unformulated, "vecdist has none for": lacking}
        for gap, names in gaps.items():
            if names:
                print(f"\n{gap}: {', '.join(names)}.")
    return re.sub(r" {2,}|-{4,}", lambda found: found[0][:3].strip() or " ", printed.getvalue())  # no padding


def rows_of(family: str, verb: str, found: Mapping[tuple[str, str, str], Found]) -> Iterator[list[str]]:
    """A row for each quantity of a family."""
    for quantity in found[family, verb, "float64"]["vecdist"]:
        row = [f"{family} {quantity}"]
        for dtype in DTYPES:
            by = {who: kept[quantity] for who, kept in found[family, verb, dtype].items() if quantity in kept}
            mine = by["vecdist"]
            known = f"{len(mine.known)} of {len(mine.each)}"
            row += [shown(mine.largest), shown(mine.most), mine.at if mine.largest > 0.5 else "-", known]
            row += [shown(by[who].largest) if who in by else "-" for who in PEERS[dtype]]
        yield row


def summary(verb: str, found: Mapping[tuple[str, str, str], Found]) -> Iterator[list[str]]:
    """How many quantities stay within the bound, by contender and format."""
    for dtype in DTYPES:
        for who in ("vecdist", *PEERS[dtype]):
            largest = np.array([
                kept.largest
                for (_, of, kind), by in found.items() if (of, kind) == (verb, dtype)
                for kept in by.get(who, {}).values()
            ])  # fmt: skip
            if len(largest):
                within, middle = int((largest <= BOUND).sum()), shown(float(np.median(largest)))
                yield [f"{who}, {dtype}", str(len(largest)), str(within), middle, str(int(np.isinf(largest).sum()))]


def shown(units: float) -> str:
    return f"{units:.1f}" if units < 100 else f"{units:.1e}" if units < math.inf else "inf"


PEERS = {"float64": ("SciPy", "NumPyro", "torch"), "float32": ("NumPyro", "torch")}
COLUMNS = [
    "", *(
        column for dtype in DTYPES
        for column in (f"{dtype} max", "99 %", "at", "known", *(f"{peer} max" for peer in PEERS[dtype]))
    ),
]  # fmt: skip
TITLE = """# Accuracy

Errors of values and partial derivatives in units in the last place (ulp): of the result, or of the largest of the terms
that the log density is a sum of where that is larger, for no sum is known better than its terms.  A probability next
to 0 is no better known than its logarithm: its ulp, those of its derivatives, and those of the logarithm of the other
tail, which is next to -1 times it, are multiplied by that.  A quantile likewise: by log(|x - loc| / scale), next to 1
its derivatives by log(1 - x) where that is the end of the support.  Below the least normal number that is the unit.
Truths are balls of 700 bits (python-flint), of quantiles roots of them; derivatives are differences.

Parameters cover six decades each (whole numbers five, some fewer); points are a third each quantiles of the bulk,
quantiles of the tails down to 1e-15 and numbers of any size, with some next to the ends of the support; probabilities
are two thirds from the middle, the others down to 1e-15, and up to 1 less that.  "known" counts
the points whose truth is determined: not so are kinks, values beyond the format, and what 700 bits do not tell.  "inf"
is a result that is infinite or NaN where the truth is a number, or a number where it is beyond the format.  Next to an
end of the support that parameters have to be added up for, and far out in a tail, rounding an argument may change the
result by more than the error that is shown.  SciPy has no derivatives and computes in float64.
"""


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--points", type=int, default=192, help="of each family and format")
    parser.add_argument("--families", nargs="+", default=sorted(FAMILIES), choices=sorted(FAMILIES), metavar="FAMILY")
    parser.add_argument("--verbs", nargs="+", default=list(VERBS), choices=VERBS, metavar="VERB")
    parser.add_argument("--peers", default=sys.executable, help="the Python that has NumPyro and torch")
    parser.add_argument("--compiled", action="store_true", help="compile the CPU kernels")
    parser.add_argument("--jobs", type=int, default=timing.processors(), help="processes")
    parser.add_argument("--output", type=Path, default=HERE / "ACCURACY.md")
    return parser.parse_args()


def main(chosen: argparse.Namespace) -> None:
    start = time.perf_counter()
    answers = attempted_peers(chosen)
    tasks = [
        Task(family, verb, dtype, chosen.points if verb == "logpdf" else max(1, chosen.points // 3), chosen.device,
             chosen.compiled, {key: each for key, each in answers.items() if key.split("/")[1] == family})
        for family in chosen.families for dtype in DTYPES for verb in chosen.verbs
        if judged(family, verb) and has(family, verb)
    ]  # fmt: skip
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("spawn")) as pool:
        groups = [[*group] for _, group in groupby(tasks, lambda task: (task.family, task.dtype))]
        results = chain.from_iterable(pool.map(measured_together, groups))
        pairs = [(task, each) for task, each in zip(tasks, results, strict=True)]
    for task, each in pairs:
        if isinstance(each, str):
            print(f"{task.family}, {task.verb}, {task.dtype}: {each}", file=sys.stderr)
    found = {(task.family, task.verb, task.dtype): each for task, each in pairs if not isinstance(each, str)}
    chosen.output.write_text(document(chosen, found, time.perf_counter() - start))


def attempted_peers(chosen: argparse.Namespace) -> Answers:
    """The peers' answers; none where they do not run, which the tables then show by a dash."""
    try:
        return peers(chosen.peers, chosen) if "logpdf" in chosen.verbs else {}
    except subprocess.CalledProcessError as error:
        print(f"no peers: {error}", file=sys.stderr)
        return {}


if __name__ == "__main__":
    main(options())
