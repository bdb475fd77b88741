"""Every family: the log density of elements with all its partial derivatives, beside the peers that have the family.

``--step Gamma,Normal`` measures only these.  All take longer than ``run_all.py`` gives a script: run it by itself.
"""

from __future__ import annotations

import statistics
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import Any

import balls
import numpy as np
import peer_families
import timing
from contest import Contest
from family_cases import Drawn, parameters_of, points_of, scipys
from timing import Contender, Entry

from vecdist.distributions import FAMILIES

SIZES = {"cpu": 2**16, "cuda": 2**22}
DISTINCT = 2**10  # data repeat after so many elements, which keeps preparing them short
CHECKED = 16  # elements that are compared with the truth
VALUE_ONLY = "SciPy, value only"

Family = type[Any]


def contest(family: Family, chosen: Namespace) -> Contest:
    """A family over random parameters and points, with the truth at some of them."""
    names = family.parametrisations[0].names
    few = min(DISTINCT, chosen.size)
    parameters = parameters_of(family, names, np.dtype(chosen.dtype).type, few)
    given = [*parameters, points_of(family, names, parameters)]
    count = len(names) if family.discrete else len(given)
    return Contest(
        family.__name__, chosen, [np.resize(array, chosen.size) for array in given], count, chosen.size,
        wanted(family.__name__, [array[:CHECKED] for array in given], count), partials=True, sample=slice(CHECKED),
    )  # fmt: skip


def wanted(name: str, given: list[np.ndarray], count: int) -> list[np.ndarray]:
    """The value and the partials of the first ``count`` arrays, by ball arithmetic."""
    *parameters, x = given
    formula = balls.formula("logpdf", name)
    places = [*range(1, len(given)), 0][:count]  # there, x is the first argument
    rows = [balls.truth(formula, at, places) for at in zip(x, *parameters, strict=True)]
    return [np.array([float(each[0]) if each else np.nan for each in column]) for column in zip(*rows, strict=True)]


def contenders(family: Family, c: Contest) -> Mapping[str, Callable[[], Contender]]:
    """Who has the family, vecdist first."""
    name, names = family.__name__, family.parametrisations[0].names
    found: dict[str, Callable[[], Contender]] = {"vecdist": lambda: by_vecdist(family, c)}
    if name in peer_families.NUMPYRO:
        found["NumPyro"] = lambda: c.jax(peer_families.numpyro_density(name, names))
    if name in peer_families.TORCH:
        found["torch.compile"] = lambda: c.torch(peer_families.torch_density(name, names))
    if c.device == "cpu" and family.oracle:
        found[VALUE_ONLY] = lambda: by_scipy(family, c)
    return found


def by_vecdist(family: Family, c: Contest) -> Contender:
    """One compiled function, one launch."""
    import vecdist

    return c.vecdist(lambda *at: vecdist.logpdf(family(*at[:-1]), at[-1]))


def by_scipy(family: Family, c: Contest) -> Contender:
    """SciPy's log density, without derivatives."""
    *parameters, x = c.given
    oracle = scipys(family, family.parametrisations[0].names, parameters)
    if isinstance(oracle, Drawn):
        raise TypeError("SciPy has it not")
    density = oracle.logpmf if family.discrete else oracle.logpdf
    return Contender(lambda: density(x), timing.wait_for("cpu"))


def measured(family: Family, chosen: Namespace) -> tuple[dict[str, Entry], str]:
    """The times of everyone, and the error of vecdist."""
    c = contest(family, chosen)
    known = all(np.isfinite(array).all() for array in c.wanted)
    tried = {
        name: timing.attempt(build, c.check if known and name == "vecdist" else lambda _: "-")
        for name, build in contenders(family, c).items()
    }
    entries = {name: entry for name, (entry, _) in tried.items()}
    timing.race(entries, chosen.device)
    return entries, tried["vecdist"][1]


def best_peer(entries: Mapping[str, Entry]) -> tuple[str, float] | None:
    """The fastest of those who give derivatives, and its time over vecdist's; SciPy's where there is none."""
    ran = {name: entry for name, entry in entries.items() if isinstance(entry, Contender)}
    rivals = {n: e for n, e in ran.items() if n not in ("vecdist", VALUE_ONLY)} or {
        n: e for n, e in ran.items() if n == VALUE_ONLY
    }
    if "vecdist" not in ran or not rivals:
        return None
    name = min(rivals, key=lambda rival: rivals[rival].median)
    return name, rivals[name].median / ran["vecdist"].median


def row(name: str, entries: Mapping[str, Entry], error: str, size: int) -> list[str]:
    """Nanoseconds per element, and the best peer's time over vecdist's."""
    peer = best_peer(entries)
    compared = [peer[0], timing.ratio(peer[1])] if peer else ["-", "-"]
    return [name, *(per_element(entries.get(column), size) for column in COLUMNS), error, *compared]


def per_element(entry: Entry | None, size: int) -> str:
    if entry is None:
        return "-"
    return "fails" if isinstance(entry, str) else f"{entry.median / size * 1e9:.3g}"


COLUMNS = ("vecdist", "NumPyro", "torch.compile", VALUE_ONLY)
HEAD = ("", *COLUMNS, "error of vecdist", "best peer", "to vecdist")
WIDTHS = (max(map(len, FAMILIES)), *map(len, COLUMNS), 16, len(VALUE_ONLY), 10)


def main(chosen: Namespace) -> None:
    """Print a row for each family as it is measured, and the median of the ratios."""
    title = f"Families, value and all partials of {chosen.size} elements of {chosen.dtype}, ns per element"
    timing.heading(title, chosen.device)
    timing.head(HEAD, WIDTHS)
    ratios, failures = [], []
    for name in chosen.step.split(",") if chosen.step else sorted(FAMILIES):
        entries, error = measured(FAMILIES[name], chosen)
        timing.line(row(name, entries, error, chosen.size), WIDTHS)
        peer = best_peer(entries)
        ratios += [peer[1]] if peer and peer[0] != VALUE_ONLY else []
        failures += [f"{name}, {who}: {entry}" for who, entry in entries.items() if isinstance(entry, str)]
    median = timing.ratio(statistics.median(ratios)) if ratios else "-"
    print(f"\nmedian of best peer to vecdist, over {len(ratios)} families of peers with derivatives: {median}")
    for failure in failures:
        print(f"\n{failure}")


if __name__ == "__main__":
    main(timing.options(__doc__, SIZES))
