"""What a loop reads is there before it: values that wait for others, rows that go where others say."""

import numpy as np
import pytest
from interpreting import by_interpreter

from vecdist import lazy, value_and_grad

RNG = np.random.default_rng(5)
X, Y, W = RNG.normal(size=(33, 2, 33)), RNG.normal(size=(33, 2, 33)), RNG.normal(size=(33, 2, 33))
TABLE = RNG.normal(size=(40, 40))
ROWS = [0, 2, 3, 39]


def of_blocks(x, y):
    """A value that is kept for all loops, and is made of others that are stored."""
    h = np.arctan2(x[:, 0, 0], 1.0 + x[:, 0, 0] * x[:, 0, 0])
    b = np.block([[h[:2], h[:1]], [h[:1], h[:2]]])
    b = b * np.digitize(b, [-1.0, 0.2, 1.1])
    return (np.add.reduceat(-b, [0, 1], axis=0) * W[0, :, :3]).sum() + y.sum()


def guarded_by_sums(x, y):
    """Elements of what was joined, at places that sums say."""
    b = np.block([[x.ravel()[:2], y.ravel()[:1]], [y.ravel()[:1], x.ravel()[:2]]])
    largest = np.take_along_axis(b * b, np.argmax(b, axis=1)[:, None], axis=1)
    return (np.mod(largest, -1.0 - np.abs(y)) * W).sum()


def rows_that_are_picked(x, y):
    """Rows whose derivatives are added to rows of many columns, each where an index says."""
    table = lazy(TABLE)
    return ((table.sum(1) * x[0, 0, 0] * table)[ROWS] * TABLE[:4]).sum() + y.sum() + (x[:, :, :9][ROWS[:3]] * 0.5).sum()


@pytest.mark.parametrize("function", [of_blocks, guarded_by_sums, rows_that_are_picked])
def test_values_and_gradients(function):
    given = [lazy(X), lazy(Y)]
    value, slopes = value_and_grad(function(*given), given)
    with by_interpreter():
        truth, wanted = value_and_grad(function(*given), given)
    assert value == pytest.approx(float(truth), rel=1e-11)
    for mine, other in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("columns", [3, 16, 40])
def test_rows_of_a_table_that_are_picked(columns):
    """The derivative of each row goes to its own."""
    rng = np.random.default_rng(columns)
    table, weights = rng.normal(size=(40, columns)), rng.normal(size=(4, columns))
    given = lazy(table)
    value, (slope,) = value_and_grad(((given.sum(1)[:, None] * given)[ROWS] * weights).sum(), [given])
    wanted = np.zeros_like(table)
    wanted[ROWS] = weights * table[ROWS].sum(1)[:, None] + (weights * table[ROWS]).sum(1)[:, None]
    np.testing.assert_allclose(slope, wanted, rtol=1e-11, atol=1e-11)
    assert value == pytest.approx(((table.sum(1)[:, None] * table)[ROWS] * weights).sum(), rel=1e-11)


def test_correlations_of_variables_with_themselves_have_no_slope():
    """However they are rounded: beyond 1 they are 1."""
    given = lazy(np.random.default_rng(16).normal(size=(16, 7)))
    diagonal = np.diagonal(np.corrcoef(given))
    _, (slope,) = value_and_grad((diagonal * np.arange(1.0, 17.0)).sum(), [given])
    np.testing.assert_allclose(slope, 0.0, atol=1e-13)
    assert (np.abs(np.corrcoef(given).compute()) <= 1.0).all()
