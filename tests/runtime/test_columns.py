"""Sums of columns on a CPU, and reductions along any axes, of random lengths: beside NumPy in float64."""

import warnings

import numpy as np
import pytest
import random_axes
from interpreting import by_interpreter

import vecdist
from vecdist import lazy, logsumexp
from vecdist.runtime.cpu import threads

LENGTHS = [(1, 1), (3, 5), (4, 300), (63, 257), (64, 256), (66, 1000), (1001, 7), (5000, 33), (2, 9000), (17, 4100)]


def several(x):
    """Sums that every row adds to, one after another, and elements that read them."""
    mean = x.mean(axis=0)
    spread = ((x - mean) ** 2).mean(axis=0)
    return (x - mean) / np.sqrt(spread + 1.0) + np.abs(x).sum(axis=0)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_of_columns(dtype):
    """Rows that are not a multiple of those that are taken together, columns of more than one tile."""
    compiled = vecdist.compile(several)
    for number, lengths in enumerate(LENGTHS):
        x = np.random.default_rng(number).normal(1.0, 1.0, lengths).astype(dtype)
        np.testing.assert_allclose(compiled(x), several(x.astype("f8")), rtol=1e-6 if dtype == "f4" else 1e-13)


def weights(x):
    """Shares of few long rows: a largest element and a sum, both found in pieces."""
    return np.exp(x - logsumexp(x, axis=1, keepdims=True))


@pytest.mark.parametrize(("function", "lengths"), [(several, (30_011, 37)), (weights, (2, 150_001))])
def test_reductions_have_the_same_bits_for_any_number_of_threads(function, lengths, monkeypatch):
    """Whoever runs a stripe goes through all its rows, a strip at a time; pieces are as many as lengths say."""
    monkeypatch.setattr(threads, "CERTAIN", 0.0)
    x = np.random.default_rng(5).normal(size=lengths).astype("f4")
    found = set()
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "thread_count", lambda: count)  # noqa: B023
        compiled = vecdist.compile(function)
        found |= {compiled(x).tobytes() for _ in range(3)}
    assert len(found) == 1


def judged(seed, dtype, *sizes):
    """A reduction of a seed beside the interpreter in float64."""
    given = random_axes.reduction(seed, dtype, *sizes)
    found = vecdist.compile(given)(*given.arrays)
    with by_interpreter(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = np.asarray(given(*[lazy(array.astype("f8")) for array in given.arrays]).compute())
    tolerance = 1e-10 if dtype == "f8" else 1e-4
    atol = tolerance * max(1.0, np.sqrt(wanted.size))
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=atol)


@pytest.mark.parametrize("part", range(8))
def test_random_axes(part):
    """Of up to some thousand elements, with NaN and infinities."""
    for seed in range(3000 + part, 3032, 8):
        judged(seed, "f4" if seed % 4 == 3 else "f8", 60_000, 9000)


@pytest.mark.parametrize("part", range(8))
def test_random_short_axes(part):
    """Of one to twenty elements, whose loops are written out: many statements add to one sum."""
    for seed in range(5000 + part, 5056, 8):
        judged(seed, "f4", 4000, 20, 0.8)


@pytest.mark.parametrize("lengths", [(7, 3, 5), (500, 3, 5), (9, 17, 4)])
def test_tables_in_one_row_of_numbers(lengths):
    """A table of short axes beside each row, which lie one behind another in an array of one axis."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=np.prod(lengths)).astype("f4"), rng.normal(size=lengths[1:]).astype("f4")
    found = vecdist.compile(lambda x, y: (x.reshape(lengths) * y).sum())(x, y)
    np.testing.assert_allclose(found, (x.astype("f8").reshape(lengths) * y).sum(), rtol=1e-5)


@pytest.mark.parametrize("part", range(8))
def test_random_axes_in_pieces(part):
    """The same where few elements are many for a thread."""
    for seed in range(4000 + part, 4040, 8):
        with random_axes.settings(random_axes.SHARED):
            judged(seed, "f4" if seed % 4 == 3 else "f8", 400, 60)
