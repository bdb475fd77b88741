"""Run every benchmark on a device, and keep what they print in RESULTS.md, in the device's own section."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import timing

HERE = Path(__file__).resolve().parent
LIMIT = 400  # seconds of one script
MODELS = [
    "constant_data.py",
    "groups.py",
    "regression.py",
    "designs.py",
    "joint_models.py",
    "models_of_chains.py --dtype float64",
    "models_of_chains.py",
    "minibatch.py",
    "eight_schools.py",
    "mixture.py",
    "matrix_product.py --dtype float64",
    "lstm_cell.py",
    "prefix.py",
    "rows.py",
    "rows.py --dtype float64",
    "recurrences.py --dtype float64",
    "gaussian_process.py --dtype float64",
    "small_matrices.py --dtype float64",
    "convolution.py",
    "arity.py",
    "branches.py",
    "growth.py",
]
RUNS = {
    "cpu": [
        "gamma_elementwise.py",
        "gamma_elementwise.py --dtype float64",
        "gamma_sum.py",
        "gamma_sum.py --dtype float64",
        f"gamma_sum.py --size {2**24}",
        *MODELS,
        "groups.py --dtype float64",
        "regression.py --dtype float64",
        "eight_schools.py --dtype float64 --size 1",
        "mixture.py --dtype float64",
        "chunks.py",
        "call_overhead.py",
        "lazy_calls.py",
        "compile_times.py",
        "compile_beside.py",
        "memory.py",
    ],
    "cuda": [
        "gamma_elementwise.py",
        "gamma_elementwise.py --dtype float64",
        "gamma_sum.py",
        "gamma_sum.py --dtype float64",
        *MODELS,
        "groups.py --dtype float64",
        "regression.py --dtype float64",
        "eight_schools.py --dtype float64",
        "mixture.py --dtype float64",
        "lstm_cell.py --dtype float64",
        "call_overhead.py",
        "lazy_calls.py",
        "compile_times.py",
        "compile_beside.py",
        "memory.py",
    ],
    "gpus": ["devices.py", "streaming.py"],  # all of a host together
}


def output(line: str, device: str, folder: Path) -> str:
    """What a script prints, or why it failed; shown while it runs on, and kept in ``folder`` with its summary."""
    script, *arguments = line.split()
    kept = folder / f"{device} {line}.md"
    if kept.exists():
        return kept.read_text()
    summary = kept.with_suffix(".json")
    summary.write_text("")
    command = [sys.executable, str(HERE / script), "--device", device.replace("gpus", "cuda"), *arguments]
    variables = {**os.environ, "VECDIST_BENCH_SUMMARY": str(summary)}
    start = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False, env=variables)
        text = done.stdout if done.returncode == 0 else f"\n`{line}` failed:\n\n```\n{done.stderr[-2000:]}\n```\n"
    except subprocess.TimeoutExpired:
        text = f"\n`{line}` took more than {LIMIT} s\n"
    print(f"{text}\n({line}: {time.perf_counter() - start:.0f} s)", flush=True)
    kept.write_text(text)
    return text


def overview(summaries: Iterable[Path]) -> str:
    """A table of how vecdist did in each benchmark."""
    found = [json.loads(line) for summary in summaries for line in summary.read_text().splitlines()]
    rows = [[line.get(column, "-") for column in ("title", "dtype", "time", "floor", "peer")] for line in found]
    columns = ("value and gradient", "dtype", "vecdist", "to floor", "best peer to vecdist")
    if not rows:
        return ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        timing.table(columns, rows)
    return printed.getvalue()


def section(device: str, folder: Path) -> str:
    """The section of a device: when it was made, a summary, and every table."""
    tables = "".join(output(line, device, folder) for line in RUNS[device])
    made = f"Made by `python benchmarks/run_all.py --device {device}` on {datetime.date.today()}."
    summaries = (folder / f"{device} {line}.json" for line in RUNS[device])
    return f"## {device}\n\n{made}\n\n{overview(summaries)}{tables.lstrip()}"


def merged(before: str, device: str, new: str) -> str:
    """The document with the device's section replaced, or added at the end."""
    _, *sections = re.split(r"^(?=## )", before, flags=re.MULTILINE)
    kept = {re.match(r"## (\w+)", text)[1]: text.strip() for text in sections}
    kept[device] = new.strip()
    return "\n\n".join([TITLE.strip(), *(kept[name] for name in sorted(kept))]) + "\n"


TITLE = """# Results

Times are medians over rounds in which all take turns, after a first call that compiles; calls are issued one after
another and the last is waited for. Ratios are what carries over from a shared machine: "to vecdist" is the time divided
by that of vecdist, "to floor" divided by the least time that moving the bytes, or computing the exponentials, takes.
"error" is the largest against NumPy and SciPy in float64: of a gradient relative to its largest element, of elementwise
results relative to those above 1. "kernels" counts the launches of a call, scalar ones included. The first table of a
device says of each benchmark how vecdist did; "best peer to vecdist" is the fastest peer's time divided by vecdist's.
"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=list(RUNS), default="cpu")
    parser.add_argument("--output", type=Path, default=HERE / "RESULTS.md")
    parser.add_argument("--keep", type=Path, help="a folder of what scripts printed, where a run that was cut goes on")
    chosen = parser.parse_args()
    before = chosen.output.read_text() if chosen.output.exists() else TITLE
    with tempfile.TemporaryDirectory(prefix="vecdist-bench-", ignore_cleanup_errors=True) as passing:
        folder = chosen.keep or Path(passing)
        folder.mkdir(parents=True, exist_ok=True)
        chosen.output.write_text(merged(before, chosen.device, section(chosen.device, folder)))
