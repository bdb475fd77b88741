"""Elements picked of rows that were picked are picked by both indices at once."""

import numpy as np
import pytest

import vecdist
from vecdist import lazy, logpmf
from vecdist.distributions import Categorical
from vecdist.graph.node import topological
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.passes.order import Structure, derived

RNG = np.random.default_rng(3)
ROWS, KINDS, COLUMNS = RNG.integers(0, 4, 30), RNG.integers(-4, 4, 30), RNG.integers(0, 6, 30)
TABLE = RNG.dirichlet(np.ones(6), size=4)


def picked(table, rows=ROWS, columns=COLUMNS):
    return logpmf(Categorical(table[rows]), columns)


def graph(function, array):
    x = lazy(array)
    return derived(Structure(bind((function(x).sum().node, x.node)).roots, gradient_of)).all


def scatters(function, array=TABLE):
    return [(node.attrs, node.args[0].shape) for node in topological(graph(function, array)) if node.op == "scatter"]


@pytest.mark.parametrize("rows", [ROWS, KINDS], ids=["from the start", "from the end"])
def test_one_index_in_the_place_of_two(rows):
    (found,) = scatters(lambda table: picked(table, rows))
    assert found[0] == (0, 2)  # into rows and columns at once
    assert sum(dim != 1 for dim in found[1]) == 1  # and no row of all columns for each element


def test_values_and_gradients():
    function = vecdist.compile(lambda table: picked(table).sum())
    value, gradient = function.value_and_grad(TABLE, wrt=0)
    np.testing.assert_allclose(value, np.log(TABLE[ROWS, COLUMNS]).sum())
    counts = np.zeros_like(TABLE)
    np.add.at(counts, (ROWS, COLUMNS), 1.0)
    np.testing.assert_allclose(gradient, counts / TABLE)


def test_chains_of_tables():
    tables = RNG.dirichlet(np.ones(6), size=(3, 4))
    function = vecdist.compile(lambda table: picked(table).sum(), in_axes=0)
    values, gradients = function.value_and_grad(tables, wrt=0)
    for table, value, gradient in zip(tables, values, gradients, strict=True):
        alone = vecdist.compile(lambda table: picked(table).sum()).value_and_grad(table, wrt=0)
        np.testing.assert_allclose(value, alone[0])
        np.testing.assert_allclose(gradient, alone[1])


def test_rows_of_what_is_computed_with_other_rows_stay():
    """Both factors vary along the columns: no one array has the element that is picked."""
    other = RNG.random((30, 6))
    found = scatters(lambda table: logpmf(Categorical(table[ROWS] + other), COLUMNS))
    assert [attrs for attrs, _ in found] == [(0, 1)]


def test_one_element_of_each_row_is_chosen_where_it_came_from():
    """Of rows that were not picked, the gradient is no sum by index."""
    scores = RNG.normal(size=(30, 6))
    assert not scatters(lambda x: logpmf(Categorical(logits=x), COLUMNS), scores)
    function = vecdist.compile(lambda x: logpmf(Categorical(logits=x), COLUMNS).sum())
    value, gradient = function.value_and_grad(scores, wrt=0)
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    np.testing.assert_allclose(value, np.log(shares[np.arange(30), COLUMNS]).sum())
    np.testing.assert_allclose(gradient, (np.arange(6) == COLUMNS[:, None]) - shares, atol=1e-14)


@pytest.mark.parametrize("seed", range(12))
def test_random_picks(seed):
    rng = np.random.default_rng(seed)
    count, columns, n = (int(rng.integers(1, 7)) for _ in range(3))
    table, rows, which = rng.random((count, columns)) + 0.1, rng.integers(-count, count, n), rng.integers(0, columns, n)
    change = [np.log, np.sqrt, lambda x: 2.0 * x, lambda x: np.where(rows[:, None] > 0, x, 3.0)][seed % 4]

    def function(x):
        return np.take_along_axis(change(x[rows]), which[:, None], axis=1).sum()

    value, gradient = vecdist.compile(function).value_and_grad(table, wrt=0)
    np.testing.assert_allclose(value, function(table))
    step, wanted = 1e-6, np.zeros_like(table)
    for place in np.ndindex(table.shape):
        move = np.zeros_like(table)
        move[place] = step
        wanted[place] = (function(table + move) - function(table - move)) / (2 * step)
    np.testing.assert_allclose(gradient, wanted, atol=1e-7)
