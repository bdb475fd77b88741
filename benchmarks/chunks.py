"""Arrays in chunks: what Dask, or reading a file in pieces, adds to calls of the same kernel on each chunk by hand.

Beside it: columns of Parquet, batches of rows, data of which sums alone are needed, many chains in one pass, and what
is predicted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import timing
from timing import Contender

CHUNKS = (4, 16, 64)
CHAINS = 64
STEPS = 20
SHAPE, SCALE = np.array(1.7), np.array(2.5)


def density(shape: Any, scale: Any, x: Any) -> Any:
    """The log density of gamma variables."""
    import vecdist
    from vecdist.distributions import Gamma

    return vecdist.logpdf(Gamma(shape, scale), x).sum()


def by_hand(pieces: list[np.ndarray]) -> Callable[[], Any]:
    """Value and gradient of each piece, added up."""
    import vecdist

    fast = vecdist.compile(density)

    def called() -> Any:
        found = [fast.value_and_grad(SHAPE, SCALE, piece, wrt=(0, 1)) for piece in pieces]
        return sum(value for value, _ in found), *(sum(slopes[at] for _, slopes in found) for at in (0, 1))

    return called


def of_chunks(x: Any) -> Callable[[], Any]:
    """Value and gradient of an array in chunks."""
    import vecdist

    fast = vecdist.compile(density)

    def called() -> Any:
        value, slopes = fast.value_and_grad(SHAPE, SCALE, x, wrt=(0, 1))
        return value, *slopes

    return called


def contest(size: int, dtype: str, count: int, folder: str) -> None:
    """Print the ways to compute the same of so many chunks."""
    import dask
    import dask.array

    import vecdist

    x = np.random.default_rng(4).gamma(2.0, 2.0, size).astype(dtype)
    rows, path = -(-size // count), f"{folder}/{count}"
    file = np.memmap(path, x.dtype, "w+", shape=x.shape)
    file[:] = x
    firsts = range(0, size, rows)
    ways: dict[str, Callable[[], Any]] = {
        "vecdist, Dask's threads": of_chunks(dask.array.from_array(x, chunks=rows)),
        "vecdist, a file in pieces": of_chunks(vecdist.chunked(file, rows=rows)),
        "each chunk by hand": by_hand([x[first : first + rows] for first in firsts]),
        "the file, read and no more": lambda: sum(np.array(file[first : first + rows])[-1] for first in firsts),
        "vecdist, in memory": of_chunks(x),
    }  # fmt: skip
    entries = {name: Contender(call, lambda _: None) for name, call in ways.items()}
    found = {name: entry.warm() for name, entry in entries.items()}
    for name in list(ways)[:3]:
        np.testing.assert_allclose(found[name], found["vecdist, in memory"], rtol=1e-5 if dtype == "float32" else 1e-12)
    timing.race(entries, "cpu")
    title = f"Gamma sum and gradient, {size} elements of {dtype} in {count} chunks"
    timing.heading(title, "cpu", f"dask {dask.__version__}")
    report(entries, "each chunk by hand", count)


def report(entries: dict[str, Contender], base: str, count: int) -> None:
    """A table of medians, beside one of them."""
    medians, hand = {name: entry.median for name, entry in entries.items()}, entries[base].median
    base = base.removeprefix("each chunk ")
    lines = [
        (name, timing.duration(time), timing.ratio(time / hand), timing.duration(max(0.0, time - hand) / count))
        for name, time in medians.items()
    ]
    timing.table(("", "median", f"to {base}", "more for each chunk"), lines)


def race(title: str, ways: dict[str, Callable[[], Any]], base: str, count: int) -> None:
    """Time ways side by side and print them."""
    entries = {name: Contender(call, lambda _: None) for name, call in ways.items()}
    for entry in entries.values():
        entry.warm()
    timing.race(entries, "cpu")
    timing.heading(title, "cpu")
    report(entries, base, count)


def parquet(size: int, dtype: str, folder: str) -> None:
    """A column of Parquet, in row groups, and the same numbers in a file of nothing else."""
    import pyarrow
    import pyarrow.parquet

    import vecdist

    x = np.random.default_rng(4).gamma(2.0, 2.0, size).astype(dtype)
    rows, path = -(-size // CHUNKS[1]), f"{folder}/x.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": x, "other": x}), path, row_group_size=rows)
    file = np.memmap(f"{folder}/x", x.dtype, "w+", shape=x.shape)
    file[:] = x
    opened = pyarrow.parquet.ParquetFile(path)
    groups = range(opened.num_row_groups)

    def read() -> Any:
        return [opened.read_row_group(at, ["x"]).column(0).to_numpy()[-1] for at in groups]

    ways = {
        "a column of Parquet": of_chunks(vecdist.chunked(path, columns="x", rows=rows)),
        "a memmap": of_chunks(vecdist.chunked(file, rows=rows)),
        "the column, read and no more": read,
    }
    title = f"Gamma sum and gradient of a column of Parquet, {size} elements of {dtype} in {len(groups)} row groups"
    race(title, ways, "a memmap", len(groups))


def of_data(size: int, dtype: str) -> None:
    """Sums over data that never change, known after the first pass."""
    import vecdist

    x = np.random.default_rng(4).gamma(2.0, 2.0, size).astype(dtype)
    rows = -(-size // CHUNKS[1])

    def sums(held: Any) -> Callable[[], Any]:
        called = vecdist.compile(lambda shape, scale: density(shape, scale, held))
        return lambda: called.value_and_grad(SHAPE, SCALE, wrt=(0, 1))

    held = vecdist.chunked(x, rows=rows)
    ways = {
        "in pieces": sums(held),
        "in pieces, as data": sums(vecdist.data(held)),
        "in memory, as data": sums(vecdist.data(x)),
    }
    race(f"Gamma sum and gradient of data, {size} elements of {dtype}", ways, "in pieces", CHUNKS[1])


def of_chains(size: int, dtype: str) -> None:
    """Values and gradients of many chains, in one pass, and one by one."""
    import vecdist
    from vecdist.parameters import positive

    x = np.random.default_rng(4).gamma(2.0, 2.0, size).astype(dtype)
    rows = -(-size // CHUNKS[1])
    points = np.random.default_rng(5).normal(0.0, 0.1, (CHAINS, 2))

    def chains(held: Any) -> Any:
        return vecdist.LogDensity(lambda shape, scale: density(shape, scale, held), shape=positive(), scale=positive())

    chunked, memory = chains(vecdist.chunked(x, rows=rows)), chains(x)
    ways = {
        f"{CHAINS} chains in one pass": lambda: chunked.logdensity_and_gradient(points),
        f"{CHAINS} passes": lambda: [chunked.logdensity_and_gradient(point) for point in points],
        "in memory": lambda: memory.logdensity_and_gradient(points),
    }
    race(f"{CHAINS} chains, {size} elements of {dtype} in {CHUNKS[1]} pieces", ways, "in memory", CHUNKS[1])


def of_batches(size: int, dtype: str, folder: str) -> None:
    """Steps of sgld, whose batches are rows of an array in memory, of a file, and of Dask."""
    import dask.array

    import vecdist
    from vecdist.parameters import positive
    from vecdist.samplers import sgld

    x = np.random.default_rng(4).gamma(2.0, 2.0, size).astype(dtype)
    file = np.memmap(f"{folder}/rows", x.dtype, "w+", shape=x.shape)
    file[:] = x

    def model(shape: Any, scale: Any, x: Any) -> dict[str, Any]:
        return {"likelihood": vecdist.logpdf(vecdist.distributions.Gamma(shape, scale), x)}

    def steps(rows: Any) -> Callable[[], Any]:
        chains = vecdist.LogDensity(model, rows={"x": rows}, shape=positive(), scale=positive())
        asked: dict[str, Any] = {"step_size": 1e-9, "warmup": 0, "draws": STEPS, "progress": False}
        return lambda: sgld(chains, initial=np.zeros(2), **asked).positions

    ways = {
        "in memory": steps(x),
        "a file": steps(vecdist.chunked(file)),
        "Dask's threads": steps(dask.array.from_array(x, chunks=-(-size // CHUNKS[1]))),
    }
    title = f"{STEPS} steps of sgld, 4 chains with batches of 256 of {size} rows of {dtype}; more for each step"
    race(title, ways, "in memory", STEPS)


def foretold(size: int, dtype: str) -> None:
    """What explain predicts from the first chunks, and what all of them take."""
    import dask.array

    import vecdist

    x = np.random.default_rng(4).gamma(2.0, 2.0, size).astype(dtype)
    rows = -(-size // CHUNKS[-1])
    dasks = dask.array.from_array(x, chunks=rows)
    lines = []
    for name, held in (("a file in pieces", vecdist.chunked(x, rows=rows)), ("Dask's threads", vecdist.lazy(dasks))):
        for total in (density(SHAPE, SCALE, held), ((held - held.mean()) ** 2).mean()):
            found = vecdist.explain(total)
            times = found.predicted_seconds or 0.0, found.seconds
            durations = map(timing.duration, times)
            lines.append((name, str(len(found.rounds)), *durations, timing.ratio(times[0] / times[1])))
    timing.heading(f"Seconds as explain predicts them, {size} elements of {dtype} in {CHUNKS[-1]} chunks", "cpu")
    timing.table(("", "rounds", "predicted", "measured", "ratio"), lines)


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**24})
    with tempfile.TemporaryDirectory() as there:
        for number in CHUNKS:
            contest(chosen.size, chosen.dtype, number, there)
        parquet(chosen.size, chosen.dtype, there)
        of_batches(chosen.size, chosen.dtype, there)
    of_data(chosen.size, chosen.dtype)
    of_chains(chosen.size // 16, chosen.dtype)
    foretold(chosen.size, chosen.dtype)
