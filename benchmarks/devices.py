"""Weak scaling over devices of one host: rows, or chains, that grow with the number of devices which share them.

Where the host has fewer GPUs than are asked for, one is listed several times: what is measured then is the cost of
sharing alone, for its work grows, too.  Processors are listed several times anyway.  ``--step`` names one case.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np
import timing
from timing import Contender

COUNTS = (1, 2, 4, 8)
CHAINS = {"cpu": 32, "cuda": 4096}  # of a device
BLOCK = 2**16  # rows that are drawn; the others repeat them
SHAPE, SCALE = np.float32(1.7), np.float32(2.5)


@dataclass(frozen=True)
class Case:
    """A function of parameters and rows of data, so many for each device, and the axes of chains of its parameters."""

    name: str
    rows: dict[str, int]
    function: Callable[..., Any]
    parameters: tuple[np.ndarray, ...]
    data: Callable[[np.random.Generator], tuple[np.ndarray, ...]]
    chains: bool = False

    def arrays(self, library: Any, count: int) -> list[Any]:
        """So many rows of data, in the memory of the library."""
        blocks = self.data(np.random.default_rng(5))
        whole, rest = divmod(count, BLOCK)
        return [
            library.concatenate([*[block] * whole, block[:rest]]) for block in map(library.asarray, blocks)
        ]


def gamma(shape: Any, scale: Any, x: Any) -> Any:
    from vecdist import logpdf
    from vecdist.distributions import Gamma

    return logpdf(Gamma(shape, scale), x).sum()


def logistic(slopes: Any, rows: Any, seen: Any) -> Any:
    from vecdist import logpdf
    from vecdist.distributions import Bernoulli

    return logpdf(Bernoulli(logit=rows @ slopes), seen).sum()


def table(width: int) -> Callable[[np.random.Generator], tuple[np.ndarray, ...]]:
    """Rows of a regression, and what was seen of them."""

    def made(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        rows = rng.normal(size=(BLOCK, width)).astype(np.float32)
        return rows, (rng.random(BLOCK) < 0.4).astype(np.float32)

    return made


def positive_rows(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (rng.gamma(2.0, 2.0, BLOCK).astype(np.float32),)


def slopes(*shape: int) -> tuple[np.ndarray, ...]:
    return (np.random.default_rng(3).normal(size=shape).astype(np.float32) * np.float32(0.1),)


CASES = [
    Case("Gamma sum", {"cpu": 2**21, "cuda": 2**28}, gamma, (np.asarray(SHAPE), np.asarray(SCALE)), positive_rows),
    Case("logistic regression", {"cpu": 2**15, "cuda": 2**20}, logistic, slopes(64), table(64)),
    Case("8 chains over a regression", {"cpu": 2**16, "cuda": 2**21}, logistic, slopes(8, 24), table(24), chains=True),
]  # fmt: skip


def contender(case: Case, device: str, shared: Sequence[Any], parameters: Sequence[Any]) -> Contender:
    """Value and gradient in all parameters."""
    import vecdist

    axes = (*[0] * len(parameters), *[None] * len(shared)) if case.chains else None
    fast, wrt = vecdist.compile(case.function, in_axes=axes), tuple(range(len(parameters)))
    return Contender(lambda: fast.value_and_grad(*parameters, *shared, wrt=wrt), timing.wait_for(device))


def counts(device: str) -> list[int]:
    """As many as there are, of several GPUs; where there is one, or a processor, it is listed several times."""
    there = timing.array_library(device).cuda.runtime.getDeviceCount() if device == "cuda" else 1
    return [count for count in COUNTS if there == 1 or count <= there]


def listed(device: str, count: int) -> tuple[list[Any], bool]:
    """So many devices, and whether each is one of its own."""
    if device == "cpu":
        return ["cpu"] * count, False
    there = timing.array_library(device).cuda.runtime.getDeviceCount()
    return ([*range(count)], True) if count <= there else ([0] * count, False)


@contextlib.contextmanager
def launched_one_by_one() -> Any:
    """Inside, no launches are replayed as CUDA graphs."""
    with mock.patch("vecdist.runtime.chunks.replayed.replayed", return_value=None):
        yield


def flat(found: Any, convert: Callable[[Any], Any]) -> np.ndarray:
    value, grads = found
    return np.concatenate([np.ravel(convert(each)) for each in (value, *grads)])


def contest(case: Case, device: str, size: int | None) -> None:
    """Print the times of a case on growing numbers of devices."""
    import vecdist
    from vecdist.graph.leaves import on_host

    library, each = timing.array_library(device), size or case.rows[device]
    parameters = [library.asarray(array) for array in case.parameters]
    same = case.arrays(library, min(each, 2 * BLOCK) - 7)
    entries: dict[Any, Contender] = {"one array": contender(case, device, case.arrays(library, each), parameters)}
    bits, without = {}, {}
    for count in counts(device):
        group = vecdist.devices(listed(device, count)[0])
        bits[count] = flat(contender(case, device, [*map(group.shard, same)], parameters).warm(), on_host)
        entries[count] = contender(case, device, [*map(group.shard, case.arrays(library, each * count))], parameters)
    for entry in entries.values():
        entry.warm()
    timing.race(entries, device)
    if device == "cuda":
        with launched_one_by_one():
            without = {count: timing.best(entries[count].call, device) for count in counts(device)}
    timing.heading(f"{case.name}: {each} rows for each device", device)
    alone, one = entries["one array"].median, entries[1].median
    lines = [("in one array", timing.duration(alone), "-", "-", "-")]
    for count in counts(device):
        time, apart = entries[count].median, listed(device, count)[1]
        agree = np.array_equal(bits[count].view(np.uint8), bits[1].view(np.uint8))
        lines.append((told(device, count), timing.duration(time), share(one, time, count, apart),
                      timing.duration(without[count]) if without else "-", str(agree)))  # fmt: skip
    timing.table(("devices", "time", "efficiency", "without graphs", "the bits of one"), lines)


def told(device: str, count: int) -> str:
    return f"{count}" if listed(device, count)[1] or count == 1 else f"{count}, all of them one {device}"


def share(one: float, time: float, count: int, apart: bool) -> str:
    """How much of the time is work: of one device that is listed several times, all of theirs."""
    return timing.ratio((one if apart else one * count) / time)


def schools(x: Any) -> Any:
    """The eight schools, non-centred."""
    effects, errors = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    scale = np.exp(x[9])
    standard = (effects - (x[8] + scale * x[:8])) / errors
    prior = -0.5 * (x[:8] * x[:8]).sum() - 0.5 * (x[8] / 5.0) ** 2 - np.log1p((scale / 5.0) ** 2) + x[9]
    return prior - 0.5 * (standard * standard).sum()


@dataclass(frozen=True)
class Schools:
    """The eight schools as samplers take them."""

    ndim: int = 10

    def trace(self, x: Any) -> Any:
        return schools(x)


def chains(device: str) -> None:
    """Print the times of draws of chains that devices share."""
    import vecdist
    from vecdist.graph.leaves import on_host
    from vecdist.samplers import hmc

    each, asked = CHAINS[device], {"draws": 200, "warmup": 0, "step_size": 0.2, "progress": False}
    ways: dict[Any, Callable[[], Any]] = {"alone": lambda: hmc(Schools(), chains=each, device=device, **asked)}
    bits = {}
    for count in counts(device):
        group = vecdist.devices(listed(device, count)[0])
        ways[count] = lambda group=group, count=count: hmc(Schools(), chains=each * count, device=group, **asked)
        bits[count] = hmc(Schools(), chains=each - 3, device=group, **asked | {"draws": 20}).positions
    entries = {name: Contender(way, lambda _: None) for name, way in ways.items()}
    for entry in entries.values():
        entry.warm()
    timing.race(entries, device)
    timing.heading(f"200 draws of HMC of the eight schools: {each} chains for each device", device)
    one = entries[1].median
    lines = [("not shared", timing.duration(entries["alone"].median), "-", "-")]
    for count in counts(device):
        time = entries[count].median
        agree = np.array_equal(on_host(bits[count]), on_host(bits[1]))
        lines.append((told(device, count), timing.duration(time),
                      share(one, time, count, listed(device, count)[1]), str(agree)))  # fmt: skip
    timing.table(("devices", "time", "efficiency", "the bits of one"), lines)


def not_run(device: str) -> None:
    """Say of which numbers of devices there was no machine."""
    missing = [str(count) for count in COUNTS[1:] if not listed(device, count)[1]]
    if missing and device == "cuda":
        print(f"\nNot run: {', '.join(missing)} GPUs, each one of its own, which this host does not have.")


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    for each in CASES:
        if not chosen.step or chosen.step in each.name:
            contest(each, chosen.device, chosen.size)
    if not chosen.step or chosen.step in "chains":
        chains(chosen.device)
    not_run(chosen.device)
