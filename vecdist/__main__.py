"""``python -m vecdist``: one joint density of three real data sets, checked and timed; ``doctor`` beside it."""

from __future__ import annotations

import argparse
import importlib
import io
import math
import os
import platform
import sys
import textwrap
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

import vecdist
from vecdist import datasets, doctor
from vecdist.distributions import Gamma, HalfCauchy, HalfNormal, Normal, Poisson, StudentT
from vecdist.inspect.diagram import diagram
from vecdist.inspect.drawing import Box
from vecdist.inspect.explain import explain
from vecdist.lazy.array import LazyArray, lazy
from vecdist.lazy.compiled import Compiled, compile  # noqa: A004
from vecdist.runtime import pipeline
from vecdist.verbs.density import logpdf

START: Any = {
    "speed": 26.0, "spread": 5.0,
    "early": 3.0, "late": 1.0, "switch": 1890.5,
    "effect": 8.0, "scatter": 6.0, "offsets": np.linspace(-1.5, 1.5, 8),
}
COPIES = 5000  # of the two longer data sets, for a timing over many observations
TOLERANCE = 1e-7  # five-point differences of a value near -440 are good to about 1e-8
LOG_2PI = math.log(2 * math.pi)


def log_density(
    speed: LazyArray, spread: LazyArray,
    early: LazyArray, late: LazyArray, switch: LazyArray,
    effect: LazyArray, scatter: LazyArray, offsets: LazyArray,
    times: LazyArray, years: LazyArray, counts: LazyArray, effects: LazyArray, errors: LazyArray,
) -> LazyArray:
    """The joint log density of light, coal and schools, with priors (``speed`` and ``switch`` have flat ones).

    Light has two outliers, so its times are Student's t.  The rate of disasters goes over from ``early`` to ``late``
    around the year ``switch``.  The schools' effects scatter about a common one.
    """
    light = logpdf(StudentT(4.0, speed, spread), times).sum() + logpdf(HalfNormal(20.0), spread)
    rate = early + (late - early) / (1.0 + np.exp(switch - years))
    coal = logpdf(Poisson(rate), counts).sum() + logpdf(Gamma(2.0, 1.0), early) + logpdf(Gamma(2.0, 1.0), late)
    schools = logpdf(Normal(effect + scatter * offsets, errors), effects).sum()
    hierarchy = logpdf(Normal(0.0, 1.0), offsets).sum() + logpdf(HalfCauchy(10.0), scatter)
    return light + coal + schools + hierarchy + logpdf(Normal(0.0, 10.0), effect)


def data() -> dict[str, np.ndarray]:
    """The three data sets, by the names of ``log_density``'s arguments."""
    years, counts = datasets.coal_disasters()
    effects, errors = datasets.eight_schools()
    return {"times": datasets.newcomb(), "years": years, "counts": counts, "effects": effects, "errors": errors}


ByHand = tuple[float, Callable[[], tuple[Any, ...]]]


def light_by_hand(xp: Any, speed: Any, spread: Any, times: Any) -> ByHand:
    """What a careful user writes in NumPy: the value, and a function that goes on to the gradient."""
    z = (times - speed) / spread
    constant = math.lgamma(2.5) - math.lgamma(2.0) - 0.5 * math.log(4 * math.pi)
    value = len(z) * (constant - xp.log(spread)) - 2.5 * xp.log1p(z * z / 4.0).sum()
    value += -0.5 * (spread / 20.0) ** 2 - math.log(20.0) + 0.5 * math.log(2 / math.pi)

    def gradient() -> tuple:
        pull = 5.0 * z / (4.0 + z * z)
        return pull.sum() / spread, ((pull * z).sum() - len(z)) / spread - spread / 20.0**2

    return value, gradient


def coal_by_hand(xp: Any, early: Any, late: Any, switch: Any, years: Any, counts: Any, log_factorials: Any) -> ByHand:
    """The disasters, with their priors."""
    after = 1.0 / (1.0 + xp.exp(switch - years))
    rate = early + (late - early) * after
    value = (counts * xp.log(rate) - rate - log_factorials).sum()
    value += xp.log(early) - early + xp.log(late) - late

    def gradient() -> tuple:
        pull = counts / rate - 1.0
        slope = (late - early) * after * (after - 1.0)
        of_early = (pull * (1.0 - after)).sum() + 1.0 / early - 1.0
        of_late = (pull * after).sum() + 1.0 / late - 1.0
        return of_early, of_late, (pull * slope).sum()

    return value, gradient


def schools_by_hand(xp: Any, effect: Any, scatter: Any, offsets: Any, effects: Any, errors: Any) -> ByHand:
    """The schools, with their priors."""
    z = (effects - effect - scatter * offsets) / errors
    value = -0.5 * (z * z + offsets * offsets).sum() - xp.log(errors).sum() - len(z) * LOG_2PI
    value += -0.5 * (effect / 10.0) ** 2 - math.log(10.0) - 0.5 * LOG_2PI
    value += -xp.log1p((scatter / 10.0) ** 2) - math.log(10.0) + math.log(2 / math.pi)

    def gradient() -> tuple:
        pull = z / errors
        return (
            pull.sum() - effect / 100.0,
            (pull * offsets).sum() - 2.0 * scatter / (100.0 + scatter * scatter),
            pull * scatter - offsets,
        )

    return value, gradient


def by_hand(xp: Any, p: Mapping[str, Any], d: Mapping[str, Any]) -> ByHand:
    """The same joint density in NumPy (or CuPy), and a function that goes on to its gradient."""
    light, of_light = light_by_hand(xp, p["speed"], p["spread"], d["times"])
    coal, of_coal = coal_by_hand(xp, p["early"], p["late"], p["switch"], d["years"], d["counts"], d["log_factorials"])
    schools, of_schools = schools_by_hand(xp, p["effect"], p["scatter"], p["offsets"], d["effects"], d["errors"])
    return light + coal + schools, lambda: (*of_light(), *of_coal(), *of_schools())


def by_scipy(p: Mapping[str, Any], d: Mapping[str, Any]) -> float:
    """The same value, by ``scipy.stats``."""
    from scipy import stats

    rate = p["early"] + (p["late"] - p["early"]) / (1.0 + np.exp(p["switch"] - d["years"]))
    return (
        stats.t.logpdf(d["times"], 4.0, p["speed"], p["spread"]).sum()
        + stats.poisson.logpmf(d["counts"], rate).sum()
        + stats.norm.logpdf(d["effects"], p["effect"] + p["scatter"] * p["offsets"], d["errors"]).sum()
        + stats.halfnorm.logpdf(p["spread"], 0.0, 20.0)
        + stats.gamma.logpdf(p["early"], 2.0) + stats.gamma.logpdf(p["late"], 2.0)
        + stats.norm.logpdf(p["effect"], 0.0, 10.0) + stats.halfcauchy.logpdf(p["scatter"], 0.0, 10.0)
        + stats.norm.logpdf(p["offsets"]).sum()
    )


def differences(value: Callable[..., Any], parameters: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """The gradient of ``value`` by five-point differences, an error of the fourth order."""
    gradients = []
    for name, at in parameters.items():
        slopes = np.empty(at.shape)
        for index in np.ndindex(at.shape):
            step = 1e-3 * max(1.0, abs(float(at[index])) ** 0.5)

            def moved(steps: int, name: str = name, index: tuple = index, step: float = step) -> float:
                there = {other: array.copy() for other, array in parameters.items()}
                there[name][index] += steps * step
                return float(value(there))

            slopes[index] = (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * step)
        gradients.append(slopes)
    return gradients


def relative_error(found: Any, wanted: Any) -> float:
    """The largest difference between two sequences of arrays, relative where they are above 1."""
    pairs = [(np.asarray(a), np.asarray(b)) for a, b in zip(found, wanted, strict=True)]
    return max(float(np.max(np.abs(a - b) / np.maximum(1.0, np.abs(b)))) for a, b in pairs)


def seconds(function: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """The median time of a call, over about a quarter of a second."""
    function()
    wait()
    times: list[float] = []
    while len(times) < 5 or (sum(times) < 0.25 and len(times) < 2000):
        start = time.perf_counter()
        function()
        wait()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


class Job:
    """The density, its parameters and data on one device."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.xp: Any = importlib.import_module("cupy" if device == "cuda" else "numpy")
        self.compiled: Compiled = compile(log_density, errors="raise")
        self.parameters: dict[str, Any] = {name: np.asarray(start, np.float64) for name, start in START.items()}
        self.data: dict[str, Any] = data()

    def moved(self, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Arrays on the device."""
        return {name: self.xp.asarray(array) for name, array in arrays.items()}

    def wait(self) -> None:
        if self.device == "cuda":
            self.xp.cuda.get_current_stream().synchronize()

    def host(self, array: Any) -> np.ndarray:
        return array.get() if self.device == "cuda" else np.asarray(array)

    def value_and_grad(self, parameters: Mapping[str, np.ndarray]) -> tuple[float, list[np.ndarray]]:
        given = self.moved(dict(parameters) | self.data)
        value, gradients = self.compiled.value_and_grad(*given.values(), wrt=tuple(range(len(START))))
        return float(value), [self.host(gradient) for gradient in gradients]


def show(job: Job) -> None:
    """Print the graph of the joint density, and what became of its value and gradients."""
    arrays = {name: lazy(array, name) for name, array in job.moved(job.parameters | job.data).items()}
    target = log_density(**arrays)
    print("\nthe graph of the joint log density (in a notebook it is drawn)\n")
    print(textwrap.indent(graph(target), "  "))
    start = time.perf_counter()
    explanation = explain(target, wrt=tuple(arrays[name] for name in START))
    print(f"\nits value and {len(START)} gradients: {_count(len(explanation.kernels), 'kernel')}\n")
    facts = [fact for kernel in explanation.kernels for fact in kernel.facts()]
    seconds_taken = time.perf_counter() - start
    facts.append(("ready after", f"{seconds_taken:.2f} s (a kernel that an earlier run compiled is loaded)"))
    width = 2 + max(len(name) for name, _ in facts)
    for name, fact in facts:
        print(textwrap.fill(f"{name:<{width}}{fact}", 116, initial_indent="  ", subsequent_indent=" " * (2 + width)))


def graph(target: LazyArray) -> str:
    """A line for each step, from the arrays to the result: what a drawing shows, as text."""
    boxes, _ = diagram(target.node)
    names: list[str] = []
    rows = []
    for number, box in enumerate(boxes):
        names.append(box.label if box.kind == "leaf" else f"%{number}")
        if box.kind != "leaf":
            inputs = [None if place is None else names[place] for place in box.inputs]
            rows.append((f"{names[-1]:<4}= {_step(box, inputs)}", box.detail))
    width = max(len(step) for step, _ in rows)
    return "\n".join(f"{step:<{width}}    {shape}" for step, shape in rows)


def _step(box: Box, inputs: list[str | None]) -> str:
    """A box in terms of its inputs; a number has no input, it stands in the label or the port."""
    given = [name for name in inputs if name is not None]
    if box.kind == "elementwise" and not box.label.isidentifier():
        return f" {box.label} ".join(given) if len(given) > 1 else f"{box.label} {given[0]}"
    ports = [port if name is None else f"{port}={name}" for port, name in zip(box.ports, inputs, strict=False)]
    return f"{box.label}({', '.join(ports or given)})"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def check(job: Job) -> bool:
    """Evaluate, print the value and gradients beside finite differences, and say whether they agree."""
    value, gradients = job.value_and_grad(job.parameters)
    wanted = differences(lambda parameters: job.value_and_grad(parameters)[0], job.parameters)
    print(f"\nvalue {value:.9f}\n")
    print(f"  {'gradient in':<14}{'vecdist':>16}{'differences':>16}")
    for name, found, expected in zip(START, gradients, wanted, strict=True):
        for index in np.ndindex(found.shape):
            label = name + "".join(f"[{i}]" for i in index)
            print(f"  {label:<14}{found[index]:>16.9f}{expected[index]:>16.9f}")
    constants = {"log_factorials": log_factorials(job.data["counts"])}
    hand, of_hand = by_hand(np, job.parameters, job.data | constants)
    errors = {
        "gradients against finite differences": relative_error(gradients, wanted),
        "gradients against those by hand": relative_error(gradients, of_hand()),
        "value against plain NumPy": relative_error([value], [hand]),
    }
    if doctor.version("scipy"):
        errors["value against SciPy"] = relative_error([value], [by_scipy(job.parameters, job.data)])
    print("\n  largest relative error of the")
    for what, error in errors.items():
        print(f"    {what:<40}{error:.1e}{'' if error < TOLERANCE else '   WRONG'}")
    return all(error < TOLERANCE for error in errors.values())


def log_factorials(counts: np.ndarray) -> np.ndarray:
    """``log(n!)`` of each count: constant, so what NumPy users compute once, outside."""
    return np.array([math.lgamma(n + 1.0) for n in range(int(counts.max()) + 1)])[counts]


def timings(job: Job, copies: int) -> None:
    """Print how long each way takes, over the data repeated ``copies`` times."""
    d = job.data | {name: np.tile(job.data[name], copies) for name in ("times", "years", "counts")}
    arrays = list(job.moved(job.parameters | d).values())
    positions = tuple(range(len(START)))
    ways: dict[str, list[Callable[[], Any]]] = {
        "vecdist": [lambda: job.compiled(*arrays), lambda: job.compiled.value_and_grad(*arrays, wrt=positions)],
    }
    for xp in dict.fromkeys([job.xp, np]):
        p = {name: xp.asarray(array) for name, array in job.parameters.items()}
        e = {name: xp.asarray(array) for name, array in (d | {"log_factorials": log_factorials(d["counts"])}).items()}
        ways["NumPy, gradient by hand" if xp is np else "CuPy, gradient by hand"] = [
            partial(by_hand, xp, p, e), partial(_with_gradient, xp, p, e),
        ]
    if doctor.version("scipy"):
        ways["SciPy, no gradient"] = [lambda: by_scipy(job.parameters, d)]
    count = sum(d[name].size for name in ("times", "counts", "effects"))
    print(f"\n  {f'{count} observations':<32}{'value':>12}{'ratio':>8}{'with gradient':>16}{'ratio':>8}")
    ours: list[float] = []
    for name, calls in ways.items():
        times = [seconds(call, job.wait) for call in calls]
        ours = ours or times
        cells = [f"{_time(t):>12}{t / mine:>8.1f}" for t, mine in zip(times, ours, strict=False)]
        print(f"    {name:<30}" + "    ".join(cells))


def _with_gradient(xp: Any, p: Mapping[str, Any], d: Mapping[str, Any]) -> tuple:
    value, gradient = by_hand(xp, p, d)
    return value, gradient()


def _time(value: float) -> str:
    return f"{1e6 * value:.1f} us" if value < 1e-3 else f"{1e3 * value:.2f} ms"


def run(device: str) -> int:
    """The main job on a device; the exit status: 0, 1 where a check fails, 2 where the device cannot be used."""
    if device == "cuda" and (problems := doctor.cuda_problems()):
        print("vecdist cannot use a GPU here:", file=sys.stderr)
        for problem in problems:
            print(f"  {problem}", file=sys.stderr)
        return 2
    job = Job(device)
    where = ", ".join(map(str, doctor.devices()[:1])) if device == "cuda" else f"{os.cpu_count()} processors"
    versions = f"vecdist {vecdist.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    print(f"{versions}; {device}: {where}\n")
    print(f"light    {job.data['times'].size} passage times of light (Newcomb 1882), Student's t")
    print(f"coal     {job.data['counts'].sum()} disasters in {job.data['counts'].size} years (Jarrett 1979), Poisson")
    print("schools  the effects of coaching in 8 schools (Rubin 1981), Normal, hierarchical")
    show(job)
    right = check(job)
    timings(job, 1)
    before = pipeline.compilations()
    timings(job, COPIES)
    print(f"\n  compiled anew for the longer data: {_count(pipeline.compilations() - before, 'kernel')}")
    print("\nright" if right else "\nWRONG: see the largest relative errors above")
    return 0 if right else 1


def replace_unprintable(stream: Any) -> None:
    """Let a terminal that does not know a minus sign or a cross print a question mark, not stop."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")


def main(arguments: list[str] | None = None) -> int:
    """The command line: the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m vecdist",
        description="Build one joint log density of three real data sets, show its graph and kernels, check value and "
        "gradients, and time them against plain NumPy (and SciPy where it is installed).",
        epilog="exit status: 0 right, 1 something is wrong, 2 the device cannot be used",
    )
    parser.add_argument(
        "command", nargs="?", choices=["run", "doctor"], default="run",
        help="run: the main job (default); doctor: print versions, devices and cache, and what is wrong with them",
    )
    parser.add_argument(
        "--device", choices=["cpu", "cuda"], default="cpu", help="where the main job runs (default: cpu)"
    )
    chosen = parser.parse_args(arguments)
    replace_unprintable(sys.stdout)
    if chosen.command == "doctor":
        return 1 if doctor.report() else 0
    return run(chosen.device)


if __name__ == "__main__":
    sys.exit(main())
