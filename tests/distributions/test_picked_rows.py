"""Parameters of vectors that are picked of a table: as their rows are, and each row is looked at once."""

import numpy as np
import pytest
from interpreting import by_interpreter

import vecdist
from vecdist import InvalidParameter, LazyArray, lazy, logpdf, logpmf, value_and_grad
from vecdist.distributions import Categorical, Dirichlet, Multinomial, MvNormal
from vecdist.graph.node import const, topological, where
from vecdist.lazy.derivatives import gradient_of
from vecdist.passes.bind import bind
from vecdist.runtime.pipeline import lower

RNG = np.random.default_rng(5)
ROWS = RNG.integers(0, 4, 30)
PLACES = RNG.integers(0, 6, 30)
TABLE = RNG.dirichlet(np.ones(6), size=4)
SPREADS = np.array([np.diag(row) + 0.1 for row in RNG.uniform(1.0, 2.0, (4, 6))])
POINTS = RNG.normal(size=(30, 6))
COUNTS = RNG.multinomial(9, np.ones(6) / 6, 30)
FAMILIES = {
    "categorical": (TABLE, lambda p: logpmf(Categorical(p), PLACES)),
    "multinomial": (TABLE, lambda p: logpmf(Multinomial(9, p), COUNTS)),
    "concentrations": (TABLE * 5, lambda a: logpdf(Dirichlet(a), np.abs(POINTS) / np.abs(POINTS).sum(1)[:, None])),
    "means": (SPREADS[:, 0], lambda mean: logpdf(MvNormal(mean, np.eye(6)), POINTS)),
    "covariances": (SPREADS, lambda cov: logpdf(MvNormal(np.zeros(6), cov), POINTS)),
    "factors": (np.linalg.cholesky(SPREADS), lambda tril: logpdf(MvNormal(loc=np.zeros(6), scale_tril=tril), POINTS)),
}
PICKS = {
    "rows": lambda table: table[ROWS],
    "from the end": lambda table: table[ROWS - 4],
    "fewer than the table has": lambda table: table[ROWS[:3]][np.arange(30) % 3],
    "of two axes": lambda table: table.reshape(2, 2, *table.shape[1:])[ROWS // 2, ROWS % 2],
    "behind an axis": lambda table: table[None][:, ROWS][0],
    "all in an axis": lambda table: table.reshape(2, 2, *table.shape[1:])[ROWS // 2][np.arange(30), ROWS % 2],
}


def reading(name, pick, table):
    """The log densities, NaN where a row is none, of rows that are picked lazily and of those that NumPy picks."""
    _, density = FAMILIES[name]
    found = vecdist.compile(lambda table: density(PICKS[pick](table)), errors="nan")(table)
    wanted = vecdist.compile(density, errors="nan")(PICKS[pick](table))
    return found, wanted


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("pick", PICKS)
@pytest.mark.parametrize("name", FAMILIES)
def test_rows_of_a_table_are_as_rows(name, pick):
    table, density = FAMILIES[name]
    bad = table.copy()
    bad[2] = -bad[2]
    for each in (table, bad):
        found, wanted = reading(name, pick, each)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert np.isnan(found).any() == (each is bad and name != "means")
    with by_interpreter():
        _, slope = value_and_grad(density(PICKS[pick](lazy(table))).sum(), table)
    rows = PICKS[pick](table)
    _, slopes = value_and_grad(density(lazy(rows)).sum(), rows)
    summed = np.zeros_like(table)
    np.add.at(summed, PICKS[pick](np.arange(4)[:, None]).ravel(), slopes)
    np.testing.assert_allclose(slope, summed, rtol=1e-10, atol=1e-12)


@pytest.mark.usefixtures("uncompiled")
def test_what_is_not_picked_is_not_asked():
    bad = TABLE.copy()
    bad[3] = np.nan
    some = np.where(ROWS == 3, 0, ROWS)
    assert np.isfinite(np.asarray(logpmf(Categorical(lazy(bad)[some]), PLACES))).all()
    with pytest.raises(InvalidParameter, match="probs"):
        np.asarray(logpmf(Categorical(lazy(bad)[ROWS]), PLACES))
    nowhere = vecdist.compile(lambda table: logpmf(Categorical(table[ROWS + 2]), PLACES), errors="nan")(TABLE)
    np.testing.assert_array_equal(np.isnan(nowhere), ROWS + 2 > 3)


@pytest.mark.usefixtures("uncompiled")
def test_what_is_chosen_beside_picked_rows_is_looked_at():
    """NaN of some elements, or other numbers, are no index that is out of range."""
    table, mask = SPREADS[:, 0], RNG.random((30, 6)) < 0.7
    for there, other in ((mask, 0.0), (mask[:, :1], 0.0), (mask, np.nan), (mask[:, :1], np.nan)):
        rows = np.where(there, table[ROWS], other)
        wanted = np.asarray(vecdist.compile(lambda mean: logpdf(MvNormal(mean, np.eye(6)), POINTS))(rows))

        def chosen(table, there=there, other=other):
            return logpdf(MvNormal(np.where(there, table[ROWS], other), np.eye(6)), POINTS)

        def constant(table, there=there, other=other):
            mean = where(lazy(there).node, table[ROWS].node.args[0], const(other))
            return logpdf(MvNormal(LazyArray(mean), np.eye(6)), POINTS)

        for function in (chosen, constant):
            np.testing.assert_allclose(vecdist.compile(function)(table), wanted, rtol=1e-12)


def kernel_of(expression, *wrt):
    roots = (expression.node, *[each.node for each in wrt])
    return lower(bind(roots), gradient_of, "nan")[1]


def test_rows_are_looked_at_once():
    """No loop along the elements of a row for each that is picked, but for each of the table."""
    table = lazy(TABLE)
    kernel = kernel_of(logpmf(Categorical(table[ROWS]), PLACES).sum(), table)
    rows = [loop.body.every_loop() for _, loop in kernel.nests() if loop.dim == kernel_dim(kernel, ROWS)]
    assert rows and not any(rows)
    few = logpmf(Categorical(table[ROWS[:3]]), PLACES[:3])
    gathers = [node for node in topological((few.node,)) if node.op == "gather"]
    assert all(node.dtype.kind == "f" for node in gathers), "three rows are not worth the table"


def kernel_dim(kernel, rows):
    """The symbol of the length of an axis that an array of rows has."""
    return next(str(slot.shape[0]) for slot in kernel.slots if slot.shape and slot.dtype == rows.dtype)
