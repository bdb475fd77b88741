"""The data sets: counts, sums and extremes as published, and that each file names its source."""

from importlib.resources import files

import numpy as np
import pytest

from vecdist.datasets import coal_disasters, eight_schools, newcomb


def test_newcomb():
    times = newcomb()
    assert times.shape == (66,) and times.dtype == np.float64
    assert times.sum() == 1730 and times.min() == -44 and times.max() == 40
    assert round(times.mean(), 3) == 26.212
    assert np.median(times) == 27 and sorted(times)[1] == -2  # the two outliers, and Stigler's median


def test_coal_disasters():
    years, counts = coal_disasters()
    assert years.shape == counts.shape == (112,) and counts.dtype == np.int64
    assert years[0] == 1851 and years[-1] == 1962
    assert counts.sum() == 191 and counts.min() == 0 and counts.max() == 6
    by_decade = [counts[years // 10 == decade].sum() for decade in range(185, 197)]
    assert by_decade == [25, 35, 35, 28, 12, 11, 7, 5, 16, 13, 2, 2]
    assert counts[years < 1891].mean() > 3 and counts[years >= 1891].mean() < 1  # the fall around 1890


def test_the_years_of_known_disasters():
    by_year = dict(zip(*coal_disasters(), strict=True))
    assert by_year[1942] == 3  # Sneyd, 1 January 1942, among them
    assert by_year[1947] == 4 and by_year[1957] == 1 and by_year[1960] == 1 and by_year[1962] == 1


def test_eight_schools():
    effects, errors = eight_schools()
    assert effects.tolist() == [28, 8, -3, 7, -1, 1, 18, 12]
    assert errors.tolist() == [15, 10, 16, 11, 9, 11, 10, 18]
    pooled = (effects / errors**2).sum() / (1 / errors**2).sum()
    assert round(pooled, 1) == 7.7  # the complete-pooling estimate of Rubin's table


@pytest.mark.parametrize("name", ["newcomb", "coal_disasters", "eight_schools"])
def test_every_file_names_its_source(name):
    header = [
        line for line in (files("vecdist.datasets") / f"{name}.txt").read_text().splitlines() if line[:1] == "#"
    ]
    assert any(line.startswith("# Source: ") for line in header)


def test_each_call_gives_a_fresh_array():
    newcomb()[:] = 0
    assert newcomb().sum() == 1730
