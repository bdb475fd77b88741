"""Products of tiles with vectors, in vectors of the machine: for any numbers of rows and columns, beside NumPy's."""

import numba
import numpy as np
import pytest

from vecdist.runtime.cpu import tiles

gemv, gemv_transposed, pack = tiles.gemv, tiles.gemv_transposed, tiles.pack


def rows_first(x, first, step, vector, place, rows, columns, out, target):
    gemv(x, first, step, vector, place, rows, columns, out, target)


def columns_first(x, first, step, vector, place, rows, columns, out, target):
    gemv_transposed(x, first, step, vector, place, rows, columns, out, target)


by_rows, by_columns = numba.njit(rows_first), numba.njit(columns_first)


ROWS = [1, 2, 7, 15, 16, 17, 33, 100, 256]
COLUMNS = [1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 33, 64, 65, 100, 128, 129, 255, 256, 257, 520]


def tile(rng, rows, columns, dtype):
    """A matrix that begins somewhere in an array, whose rows are apart; around it there is nothing but NaN."""
    first, step = int(rng.integers(0, 5)), columns + int(rng.integers(0, 4))
    whole = np.full(first + rows * step, np.nan, dtype)
    inside = np.lib.stride_tricks.as_strided(whole[first:], (rows, columns), (step * whole.itemsize, whole.itemsize))
    inside[...] = rng.normal(size=(rows, columns))
    return whole, first, step, inside.astype(np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", ROWS)
def test_rows_times_a_vector(rows, dtype):
    rng = np.random.default_rng(rows)
    for columns in COLUMNS:
        x, first, step, matrix = tile(rng, rows, columns, dtype)
        vector = np.concatenate([[np.nan] * 3, rng.normal(size=columns)]).astype(dtype)
        out = np.full(2 + 256 + 16, 7.0, dtype)
        by_rows(x, first, step, vector, 3, rows, columns, out, 2)
        own = vector[3:].astype(np.float64)
        size = np.abs(matrix) @ np.abs(own)
        assert np.all(np.abs(out[2 : 2 + rows] - matrix @ own) <= 2 * np.finfo(dtype).eps * size)
        written = rows + 15 if rows < 16 else rows  # of few rows each is a whole vector at first
        assert np.all(out[:2] == 7) and np.all(out[2 + written :] == 7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", ROWS)
def test_a_vector_times_rows_is_added(rows, dtype):
    rng = np.random.default_rng(rows)
    for columns in COLUMNS:
        x, first, step, matrix = tile(rng, rows, columns, dtype)
        vector = np.concatenate([[np.nan] * 3, rng.normal(size=rows)]).astype(dtype)
        out = np.full(2 + columns + 20, 7.0)
        by_columns(x, first, step, vector, 3, rows, columns, out, 2)
        own = vector[3:].astype(np.float64)
        size = 7 + np.abs(own) @ np.abs(matrix)
        assert np.all(np.abs(out[2 : 2 + columns] - 7 - own @ matrix) <= 4 * np.finfo(dtype).eps * size)
        assert np.all(out[:2] == 7) and np.all(out[2 + columns :] == 7)


@pytest.mark.parametrize("place", [0, 5, 18])
def test_what_is_not_finite_stays_in_its_row(place):
    x, vector, out = np.ones((19, 5)), np.ones(5), np.zeros(256)
    x[place, 2] = np.nan
    by_rows(x.ravel(), 0, 5, vector, 0, 19, 5, out, 0)
    assert np.array_equal(np.isnan(out[:19]), np.arange(19) == place) and np.all(out[:19][np.arange(19) != place] == 5)
    sums = np.zeros(5)
    by_columns(x.ravel(), 0, 5, np.ones(19), 0, 19, 5, sums, 0)
    assert np.isnan(sums[2]) and np.all(np.delete(sums, 2) == 19)


def test_the_same_bits_wherever_a_row_stands():
    rng = np.random.default_rng(0)
    x, vector = rng.normal(size=(40, 37)).astype(np.float32), rng.normal(size=37).astype(np.float32)
    whole, part = np.zeros(256, np.float32), np.zeros(256, np.float32)
    by_rows(x.ravel(), 0, 37, vector, 0, 40, 37, whole, 0)
    for first in range(40):
        by_rows(x.ravel(), 37 * first, 37, vector, 0, 40 - first, 37, part, 0)
        assert np.array_equal(part[: 40 - first], whole[first:40])


@numba.njit
def copied(x, first, step, rows, columns, out, target, width):
    pack(x, first, step, rows, columns, out, target, width)


@pytest.mark.parametrize(("rows", "columns", "width"), [(1, 1, 1), (5, 7, 16), (256, 33, 48), (3, 1000, 1008)])
def test_rows_are_copied(rows, columns, width):
    x, first, step, matrix = tile(np.random.default_rng(rows), rows, columns, np.float32)
    out = np.full(3 + rows * width, 7, np.float32)
    copied(x, first, step, rows, columns, out, 3, width)
    found = out[3:].reshape(rows, width)
    assert np.array_equal(found[:, :columns], matrix.astype(np.float32)) and np.all(found[:, columns:] == 7)


@pytest.mark.parametrize("lanes", [4, 8])
def test_machines_of_shorter_vectors(lanes, monkeypatch):
    """Numbers of single precision in a vector are as many as a machine has lanes: here what others have."""
    monkeypatch.setattr(tiles.lanes, "lanes", lambda: lanes)
    monkeypatch.setitem(globals(), "by_rows", numba.njit(rows_first))
    monkeypatch.setitem(globals(), "by_columns", numba.njit(columns_first))
    for dtype in (np.float32, np.float64):
        for rows in (1, 6, 17):
            test_rows_times_a_vector(rows, dtype)
            test_a_vector_times_rows_is_added(rows, dtype)
