"""Rows of the host's memory, and of a file, that are sent to GPUs in pieces: the share of the link that is used.

The link is what copies of large pinned blocks reach, with nothing else going on, to all GPUs at once.  Data are rows
of a sum of gamma log densities, with its gradient in both parameters.
"""

from __future__ import annotations

import mmap
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import timing

PIECE = 2**26  # bytes of a piece
LARGE = 2**30  # bytes of a copy that measures the link
BEST_OF = 3
PASSES = 17  # before those that are timed: arrays in memory are copied in the first of them


def fastest(call: Callable[[], Any], gpus: list[int]) -> float:
    """The seconds of the fastest of a few calls, each with all GPUs idle before and after it."""
    found = []
    for _ in range(BEST_OF):
        begin = time.perf_counter()
        call()
        synchronised(gpus)
        found.append(time.perf_counter() - begin)
    return min(found)


def synchronised(gpus: list[int]) -> None:
    import cupy

    for each in gpus:
        with cupy.cuda.Device(each):
            cupy.cuda.Device(each).synchronize()


def link(gpus: list[int]) -> float:
    """Bytes a second that reach the GPUs together, from pinned memory."""
    import cupy
    import cupyx

    lanes = []
    for each in gpus:
        with cupy.cuda.Device(each):
            lanes.append((each, cupyx.empty_pinned(LARGE, np.uint8), cupy.empty(LARGE, np.uint8), cupy.cuda.Stream()))

    def copies() -> None:
        for _ in range(4):
            for each, source, target, stream in lanes:
                with cupy.cuda.Device(each), stream:
                    target.set(source, stream=stream)

    copies()
    return 4 * LARGE * len(gpus) / fastest(copies, gpus)


def call_of(source: Any, gpus: list[int]) -> Callable[[], Any]:
    """Value and gradient of rows that are sent to these GPUs."""
    import cupy

    import vecdist
    from vecdist.distributions import Gamma

    shape, scale = cupy.asarray(1.7, source.dtype), cupy.asarray(2.5, source.dtype)
    x = vecdist.chunked(source, rows=PIECE // source.itemsize, device=vecdist.devices(gpus))

    def density(a: Any, t: Any) -> Any:
        return vecdist.logpdf(Gamma(a, t), x).sum()

    fast = vecdist.compile(density)
    return lambda: fast.value_and_grad(shape, scale, wrt=(0, 1))


def sources(chosen: Namespace, folder: str) -> dict[str, Any]:
    """The same rows as an array, in pinned memory, and in a file that the system keeps in memory."""
    import cupyx

    rows = np.empty(chosen.size, chosen.dtype)
    rows[:] = np.resize(np.random.default_rng(0).gamma(2.0, 2.0, 2**20).astype(chosen.dtype), chosen.size)
    pinned = cupyx.empty_pinned(rows.shape, rows.dtype)
    pinned[:] = rows
    rows.tofile(Path(folder) / "rows")
    file = np.memmap(Path(folder) / "rows", chosen.dtype, mode="r")
    if hasattr(mmap, "MADV_SEQUENTIAL"):
        file._mmap.madvise(mmap.MADV_SEQUENTIAL)
    return {"an array": rows, "pinned": pinned, "a file": file}


def main(chosen: Namespace) -> None:
    """Print the bytes a second of each source, to one GPU and to all."""
    import cupy

    there = cupy.cuda.runtime.getDeviceCount()
    rows = []
    with tempfile.TemporaryDirectory(prefix="vecdist-bench-") as folder:
        given = sources(chosen, folder)
        for count in [count for count in (1, 2, 4, 8) if count <= there]:
            gpus, size = list(range(count)), chosen.size * np.dtype(chosen.dtype).itemsize
            most = link(gpus)
            for name, source in given.items():
                call = call_of(source, gpus)
                for _ in range(PASSES):
                    call()
                rate = size / fastest(call, gpus)
                rows.append((f"{name}, {count} GPUs", *(f"{each / 1e9:.1f}" for each in (rate, most)),
                             timing.ratio(rate / most)))  # fmt: skip
    size = chosen.size * np.dtype(chosen.dtype).itemsize / 2**30
    timing.heading(f"Rows sent in pieces of {PIECE >> 20} MiB: {size:.3g} GiB of {chosen.dtype}", chosen.device)
    timing.table(("rows", "GB/s", "link", "share"), rows)


if __name__ == "__main__":
    main(timing.options(__doc__, {"cpu": 2**20, "cuda": 3 * 10**9}))
