"""What the benchmarks share: devices, timing side by side, fresh processes, and tables in Markdown."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # the vecdist beside this folder, installed or not

PACKAGES = ("numpy", "scipy", "numba", "numba-cuda", "cupy", "cupy-cuda12x", "cupy-cuda13x", "jax", "numpyro", "torch")
ROUNDS = 7
TURN = {"cpu": 0.08, "cuda": 0.03}  # seconds of a contender's turn
MOST_CALLS = 2000  # of a turn
SLOW = 2.0  # seconds of a call, from which one call is timed and no more


def options(description: str | None, sizes: Mapping[str, int] | None = None) -> argparse.Namespace:
    """The command line of a benchmark; JAX, whose settings are environment variables, is imported after it."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--size", type=int, help="number of elements")
    parser.add_argument("--step", help="measure only this, in this process, and print it as JSON")
    chosen = parser.parse_args()
    if sizes and chosen.size is None:
        chosen.size = sizes[chosen.device]
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    os.environ["JAX_DEFAULT_MATMUL_PRECISION"] = "highest"  # the others multiply float32 in float32 too
    os.environ["JAX_ENABLE_X64"] = str(chosen.dtype == "float64").lower()
    if chosen.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    return chosen


def array_library(device: str) -> Any:
    """NumPy, or CuPy."""
    return importlib.import_module("cupy" if device == "cuda" else "numpy")


def wait_for(device: str) -> Callable[[Any], None]:
    """A function that returns when what NumPy or CuPy was asked for is there."""
    if device == "cpu":
        return lambda _: None
    synchronize = array_library(device).cuda.get_current_stream().synchronize
    return lambda _: synchronize()


@dataclass
class Contender:
    """A way to compute something: ``wait`` returns once a result of ``call`` is there, ``kernels`` says how it runs."""

    call: Callable[[], Any]
    wait: Callable[[Any], Any]
    kernels: Callable[[], Any] = lambda: "-"
    first: float = field(default=0.0, init=False)
    times: list[float] = field(default_factory=list, init=False)

    def warm(self) -> Any:
        """The result of the first call, which compiles; its time is kept apart."""
        start = time.perf_counter()
        result = self.call()
        self.wait(result)
        self.first = time.perf_counter() - start
        return result

    def turn(self, seconds: float) -> None:
        """Time as many calls, issued one after another, as fill ``seconds``; note their mean."""
        if self.times and self.fastest >= SLOW:
            return
        estimate = self.timed(1)
        if estimate < SLOW:
            estimate = min(estimate, self.timed(1))
        count = max(1, min(MOST_CALLS, int(seconds / max(estimate, 1e-7))))
        self.times.append(self.timed(count) / count if estimate < SLOW else estimate)

    def timed(self, count: int) -> float:
        """The seconds of ``count`` calls, and of waiting for the last."""
        call, result = self.call, None
        start = time.perf_counter()
        for _ in range(count):
            result = call()
        self.wait(result)
        return time.perf_counter() - start

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def fastest(self) -> float:
        return min(self.times)


Entry = Contender | str  # what cannot run says why


def attempt(build: Callable[[], Contender], check: Callable[[Any], str] = lambda result: "") -> tuple[Entry, str]:
    """A contender that ran once, and what ``check`` says of its result; or why there is none."""
    try:
        contender = build()
        return contender, check(contender.warm())
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed", ""
    except Exception as error:  # a peer that fails takes no one else down
        return brief(error), ""


def race(entries: Mapping[Any, Entry], device: str) -> None:
    """Time the contenders in turns, so that a slow spell of the machine meets all of them."""
    for _ in range(ROUNDS):
        for entry in entries.values():
            if isinstance(entry, Contender):
                entry.turn(TURN[device])


def attempted(measure: Callable[[], Any]) -> Any:
    """What ``measure`` gives, or why it gives nothing."""
    try:
        return measure()
    except Exception as error:
        return brief(error)


def brief(error: BaseException) -> str:
    """An error in one short line that fits a cell of a table."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).replace("|", "/")
    return text if len(text) <= 72 else text[:69] + "..."


def jax_device(device: str) -> Any:
    """JAX's processor or GPU; an error where it has none, rather than the other."""
    import jax

    return jax.devices("gpu" if device == "cuda" else "cpu")[0]


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def best(call: Callable[[], Any], device: str) -> float:
    """The seconds of a call, in the best of several turns."""
    contender = Contender(call, wait_for(device))
    contender.warm()
    for _ in range(ROUNDS):
        contender.turn(TURN[device])
    return contender.fastest


def copy_bandwidth(device: str) -> float:
    """The bytes per second, read and written, that copying large arrays moves: the best of several copies."""
    xp = array_library(device)
    size = 2**28 if device == "cpu" else 2**30
    source, target = xp.ones(size // 8), xp.zeros(size // 8)
    if device == "cuda":
        return 2 * size / best(lambda: xp.copyto(target, source), device)
    parts = [np.array_split(array, processors()) for array in (target, source)]
    with ThreadPoolExecutor(processors()) as pool:
        return 2 * size / best(lambda: list(pool.map(np.copyto, *parts)), device)


def exp_rate(device: str, dtype: str) -> float:
    """The exponentials per second of NumPy in a near cache, or of CuPy in registers: the best of several tries."""
    xp, repeats = array_library(device), 64
    if device == "cuda":
        values = xp.ones(2**22, dtype)
        code = f"y = x; for (int i = 0; i < {repeats}; ++i) y = exp(-y);"
        loop = xp.ElementwiseKernel("T x", "T y", code, "repeated_exp")
        return values.size * repeats / best(lambda: loop(values), device)
    values, results = np.full((processors(), 2**14), -0.5, dtype), np.empty((processors(), 2**14), dtype)

    def repeat(given: np.ndarray, result: np.ndarray) -> None:
        for _ in range(repeats):
            np.exp(given, out=result)

    with ThreadPoolExecutor(processors()) as pool:
        return values.size * repeats / best(lambda: list(pool.map(repeat, values, results)), device)


def fresh(*command: str, **variables: str) -> Any:
    """What a new Python process, given ``command``, prints as JSON in its last line."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": path, **variables}
    python = [sys.executable, *command]
    done = subprocess.run(python, capture_output=True, text=True, env=environment, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    return json.loads(done.stdout.splitlines()[-1])


def empty_folder() -> tempfile.TemporaryDirectory:
    """A folder for a cache that holds nothing yet."""
    return tempfile.TemporaryDirectory(prefix="vecdist-bench-", ignore_cleanup_errors=True)


def device_name(device: str) -> str:
    """The processor or GPU, as the system calls it."""
    if device == "cuda":
        xp = array_library(device)
        return xp.cuda.runtime.getDeviceProperties(xp.cuda.Device().id)["name"].decode()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} processors"


def versions() -> str:
    """What is installed of everything that takes part."""
    import vecdist

    found = [f"vecdist {vecdist.__version__}", f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def heading(title: str, device: str, *lines: str) -> None:
    """Print the title of a table, what it was measured with, and what more there is to say of it."""
    print(f"\n### {title}\n")
    for line in (f"{device_name(device)}; {versions()}", *lines):
        print(line + "  ")
    print()


def record(title: str, dtype: str, entries: Mapping[str, Entry], floor: float | None) -> None:
    """Add to the file that the variable VECDIST_BENCH_SUMMARY names how each of vecdist's entries did."""
    path = os.environ.get("VECDIST_BENCH_SUMMARY")
    peers = [e.median for name, e in entries.items() if isinstance(e, Contender) and not name.startswith("vecdist")]
    for name, entry in entries.items():
        if not path or not name.startswith("vecdist"):
            continue
        line = {"title": title + name.removeprefix("vecdist"), "dtype": dtype, "time": "does not run"}
        if isinstance(entry, Contender):
            line["time"] = duration(entry.median)
            line["floor"] = ratio(entry.median / floor) if floor else "-"
            line["peer"] = ratio(min(peers) / entry.median) if peers else "-"
        with Path(path).open("a") as file:
            file.write(json.dumps(line) + "\n")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table that is Markdown, with its columns lined up."""
    cells = [[str(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    head(columns, widths)
    for row in cells[1:]:
        line(row, widths)


def head(columns: Sequence[str], widths: Sequence[int]) -> None:
    """Print the first two lines of a Markdown table."""
    line(columns, widths)
    line(["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])], widths)


def line(cells: Sequence[str], widths: Sequence[int]) -> None:
    """Print a row of a Markdown table: its name on the left, numbers on the right of their columns."""
    name, *rest = cells
    numbers = (text.rjust(width) for text, width in zip(rest, widths[1:], strict=True))
    print("| " + " | ".join([name.ljust(widths[0]), *numbers]) + " |", flush=True)


def duration(seconds: float) -> str:
    """A time with the unit that suits it."""
    unit, length = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e-3)) if seconds >= s), ("us", 1e-6))
    return f"{seconds / length:.3g} {unit}"


def ratio(value: float) -> str:
    """A ratio, to two or three digits."""
    if value < 0.1:
        return f"{value:.1g}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def leader(entries: Mapping[str, Entry]) -> Contender | None:
    """What the others are compared with: the first entry of vecdist that runs."""
    ours = (entry for name, entry in entries.items() if name.startswith("vecdist") and isinstance(entry, Contender))
    return next(ours, None)


def standings(entries: Mapping[str, Entry], notes: Mapping[str, str], size: int, floor: float | None) -> None:
    """Print how the contenders did, beside vecdist and beside the least time that is possible."""
    ours = leader(entries)
    rows = []
    for name, entry in entries.items():
        if isinstance(entry, str):
            rows.append((f"{name}: {entry}", *["-"] * 8))
            continue
        compared = ratio(entry.median / ours.median) if ours else "-"
        times = (duration(entry.median), duration(entry.fastest), f"{entry.median / size * 1e9:.3g}")
        of_floor = ratio(entry.median / floor) if floor else "-"
        first = duration(entry.first)
        rows.append((name, *times, compared, of_floor, attempted(entry.kernels), notes[name], first))
    named = ("to vecdist", "to floor", "kernels", "error", "first call")
    table(("", "median", "fastest", "ns/element", *named), rows)
