"""The time of each element as there are more of them: in the gamma sum, and in chains of the eight schools."""

from __future__ import annotations

import functools
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence

import eight_schools
import gamma
import timing
from contest import Contest
from timing import Contender, Entry

SIZES = {"cpu": [2**20, 2**22, 2**24], "cuda": [2**power for power in range(20, 31, 2)]}
CHAINS = {"cpu": [10**power for power in range(6)], "cuda": [10**power for power in range(7)]}

Builders = Mapping[str, Callable[[Contest], Contender]]


def measured(c: Contest, builders: Builders) -> dict[str, Entry]:
    """The contenders, timed; one that is wrong is an entry that says so."""
    entries, errors = c.built({name: functools.partial(build, c) for name, build in builders.items()})
    wrong = {name: f"error {error}" for name, error in errors.items() if "WRONG" in error}
    entries.update(wrong)
    timing.race(entries, c.device)
    return entries


def cells(entries: Sequence[Entry], sizes: Sequence[int]) -> list[tuple[str, str, str]]:
    """For each size the time, the nanoseconds of an element, and their ratio to the fewest of all sizes."""
    each = [e.median / n if isinstance(e, Contender) else None for e, n in zip(entries, sizes, strict=True)]
    best = min((time for time in each if time is not None), default=0.0)
    return [
        (timing.duration(time * n), f"{time * 1e9:.3g}", timing.ratio(time / best)) if time else (str(entry), "-", "-")
        for time, entry, n in zip(each, entries, sizes, strict=True)
    ]


def table(title: str, chosen: Namespace, contest: Callable[[int], Contest], sizes: Sequence[int], b: Builders) -> None:
    """Measure every size, and print a row for each."""
    found = [measured(contest(size), b) for size in sizes]
    columns = [cells([entries[name] for entries in found], sizes) for name in b]
    rows = [(str(size), *sum(parts, ())) for size, *parts in zip(sizes, *columns, strict=True)]
    timing.heading(f"{title}, {chosen.dtype}", chosen.device, "to best: an element's time, to its least at any size")
    timing.table(("", *(head for name in b for head in (name, "ns/element", "to best"))), rows)


if __name__ == "__main__":
    chosen = timing.options(__doc__)
    table(
        "Growth of the gamma sum and its gradient in two scalars",
        chosen,
        lambda size: gamma.contest("", Namespace(**{**vars(chosen), "size": size}), summed=True),
        SIZES[chosen.device],
        {"vecdist": gamma.by_vecdist, "JAX, by hand": gamma.jax_by_hand},
    )
    table(
        "Growth of the eight schools, value and gradient, over chains",
        chosen,
        lambda chains: eight_schools.contest(chosen, chains),
        CHAINS[chosen.device],
        {"vecdist": eight_schools.by_vecdist, "JAX": eight_schools.by_jax},
    )
