"""The page on accuracy: what was measured, in Markdown."""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import balls
import numpy as np
import timing

import vecdist
from vecdist.distributions import FAMILIES

BOUND = 4.0  # units in the last place, which we want to stay within
DTYPES = ("float64", "float32")
PEERS = {"float64": ("SciPy", "NumPyro", "torch"), "float32": ("NumPyro", "torch")}
SUMMARY = (
    "", "points", f"within {BOUND:g}", "99 %", "max", "not finite", "quantities", f"their 99 % within {BOUND:g}",
    f"their max within {BOUND:g}",
)  # fmt: skip
COLUMNS = [
    "", *(
        column for dtype in DTYPES
        for column in (
            f"{dtype} % within {BOUND:g}", "99 %", "max", "at", "known", "not finite",
            *(f"{peer} max" for peer in PEERS[dtype]),
        )
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
quantiles of the tails down to 1e-15 and numbers of any size, with some at the ends of the support and next to them;
probabilities are two thirds from the middle, the others down to 1e-15, and up to 1 less that.  They are drawn from a
seed that no test uses, and no formula was written for them.  "known" counts the points whose truth is determined: not
so are kinks, values beyond the format, what 700 bits do not tell, and what there was no time for.  "not finite" counts
results that are infinite or NaN where the truth is a number, numbers where it is beyond the format, and all NaN; they
are errors of "inf".  Next to an end of the support that parameters have to be added up for, and far out in a tail,
rounding an argument may change the result by more than the error that is shown.  SciPy has no derivatives and computes
in float64.
"""


@dataclass(frozen=True)
class Errors:
    """Errors in units in the last place, NaN where the truth is not known; and where the largest is."""

    each: np.ndarray
    at: str

    @property
    def known(self) -> np.ndarray:
        return self.each[~np.isnan(self.each)]

    @property
    def within(self) -> float:
        """The percentage within the bound."""
        return 100.0 * float((self.known <= BOUND).mean()) if len(self.known) else 100.0

    @property
    def not_finite(self) -> int:
        return int(np.isinf(self.each).sum())

    @property
    def largest(self) -> float:
        return float(self.known.max(initial=0.0))

    @property
    def most(self) -> float:
        return float(np.quantile(self.known, 0.99, method="lower")) if len(self.known) else 0.0


Found = dict[str, dict[str, Errors]]  # by contender, then by quantity


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


def document(chosen: argparse.Namespace, found: Mapping[tuple[str, str, str], Found], seconds: float) -> str:
    """Everything that was found, in Markdown."""
    sections = [section(verb, chosen, found) for verb in chosen.verbs]
    title = TITLE.replace("# Accuracy", "# Accuracy of CUDA kernels") if chosen.device == "cuda" else TITLE
    counts = f"{chosen.points} points per family and format, {chosen.tail_points} for distribution functions"
    way = f"or as many as {chosen.seconds:g} s of truths allow, compiled {chosen.device.upper()} kernels"
    made = (
        f"Made on {date.today()} by `python benchmarks/accuracy.py --device {chosen.device} --seed {chosen.seed}` in "
        f"{seconds:.0f} s of processors: {counts}, {way}; "
    )
    return title + "\n" + made + timing.versions() + peer_versions(chosen.peers) + ".\n\n" + "\n".join(sections)


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
    missing = [f for f in chosen.families if f not in families and judged(f, verb) and has(f, verb)]
    rows = [row for family in families for row in rows_of(family, verb, found)]
    unformulated = [f for f in chosen.families if f not in (*families, *missing) and has(f, verb)]
    lacking = [f for f in chosen.families if not has(f, verb)]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        print(f"## {verb}\n")
        timing.table(SUMMARY, summary(verb, found))
        print()
        timing.table(COLUMNS, rows)
        gaps = {"Missing here": missing, "No truth is stated for": unformulated, "vecdist has none for": lacking}
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
            row += [f"{mine.within:.1f}", shown(mine.most), shown(mine.largest), mine.at if mine.largest > 0.5 else "-"]
            row += [known, str(mine.not_finite)]
            row += [shown(by[who].largest) if who in by else "-" for who in PEERS[dtype]]
        yield row


def summary(verb: str, found: Mapping[tuple[str, str, str], Found]) -> Iterator[list[str]]:
    """How many points, and how many quantities at all of theirs, stay within the bound, by contender and format."""
    for dtype in DTYPES:
        for who in ("vecdist", *PEERS[dtype]):
            kept = [
                each for (_, of, kind), by in found.items() if (of, kind) == (verb, dtype)
                for each in by.get(who, {}).values()
            ]  # fmt: skip
            if kept:
                every = Errors(np.concatenate([each.each for each in kept]), "")
                calm, always = (sum(test(each) <= BOUND for each in kept) for test in (most_of, largest_of))
                yield [
                    f"{who}, {dtype}", str(len(every.known)), f"{every.within:.2f} %", shown(every.most),
                    shown(every.largest), str(every.not_finite), str(len(kept)), str(calm), str(always),
                ]  # fmt: skip


def most_of(errors: Errors) -> float:
    return errors.most


def largest_of(errors: Errors) -> float:
    return errors.largest


def shown(units: float) -> str:
    return f"{units:.1f}" if units < 100 else f"{units:.1e}" if units < math.inf else "inf"
