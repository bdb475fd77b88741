"""Arrays in chunks: what Dask, or reading a file in pieces, adds to calls of the same kernel on each chunk by hand."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import timing
from timing import Contender

CHUNKS = (4, 16, 64)
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
    medians, hand = {name: entry.median for name, entry in entries.items()}, entries["each chunk by hand"].median
    lines = [
        (name, timing.duration(time), timing.ratio(time / hand), timing.duration(max(0.0, time - hand) / count))
        for name, time in medians.items()
    ]
    timing.table(("", "median", "to by hand", "more for each chunk"), lines)


if __name__ == "__main__":
    chosen = timing.options(__doc__, {"cpu": 2**24})
    with tempfile.TemporaryDirectory() as there:
        for number in CHUNKS:
            contest(chosen.size, chosen.dtype, number, there)
