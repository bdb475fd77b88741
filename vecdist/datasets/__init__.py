"""Small real data sets, shipped as plain text with their sources in the files' first lines."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple, final

import numpy as np


@final
class CoalDisasters(NamedTuple):
    """The years, and the number of disasters in each."""

    years: np.ndarray
    counts: np.ndarray


@final
class EightSchools(NamedTuple):
    """The estimated effect of coaching in each school, and its standard error, in points of the test."""

    effects: np.ndarray
    standard_errors: np.ndarray


def newcomb() -> np.ndarray:
    """Newcomb's 66 measurements of 1882 of the time that light takes for 7443.73 m (Stigler 1977).

    float64 deviations from 24800 ns, in nanoseconds, in the order of measurement; two of them are famous outliers.

    >>> from vecdist.datasets import newcomb
    >>> newcomb().shape, newcomb().min()
    ((66,), np.float64(-44.0))
    """
    return np.array(_numbers("newcomb"), np.float64)


def coal_disasters() -> CoalDisasters:
    """Explosions in British coal mines that killed ten or more men, per year, 1851 to 1962 (Jarrett 1979).

    Two int64 arrays of length 112: the calendar years, and the number of disasters in each.  Their rate falls around
    1890.

    >>> from vecdist.datasets import coal_disasters
    >>> years, counts = coal_disasters()
    >>> years[counts.argmax()], counts.max()
    (np.int64(1860), np.int64(6))
    """
    counts = np.array(_numbers("coal_disasters"), np.int64)
    return CoalDisasters(1851 + np.arange(len(counts), dtype=np.int64), counts)


def eight_schools() -> EightSchools:
    """Effects of coaching on the SAT-V score in eight schools, and their standard errors (Rubin 1981).

    Two float64 arrays of length 8, in points of the test.

    >>> from vecdist.datasets import eight_schools
    >>> eight_schools().effects
    array([28.,  8., -3.,  7., -1.,  1., 18., 12.])
    """
    effects, errors = np.array(_numbers("eight_schools"), np.float64).reshape(2, 8)
    return EightSchools(effects, errors)


def _numbers(name: str) -> list[int]:
    """The whole numbers of a file, without its comment lines."""
    lines = (files(__name__) / f"{name}.txt").read_text(encoding="ascii").splitlines()
    return [int(word) for line in lines if not line.startswith("#") for word in line.split()]


__all__ = ["CoalDisasters", "EightSchools", "coal_disasters", "eight_schools", "newcomb"]
