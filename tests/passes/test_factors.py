"""What Cholesky factors are taken for: found in what users write, and the same as by the derivatives of factors."""

from unittest import mock

import numpy as np
import pytest
from interpreting import by_interpreter

import vecdist
from vecdist import lazy
from vecdist.graph.node import topological
from vecdist.passes import order
from vecdist.passes.bind import bind
from vecdist.passes.derivations import gradient_of
from vecdist.passes.factors import factors
from vecdist.passes.order import Structure, derived

ROWS = 9


def matrices(rng, *lead):
    a = rng.normal(size=(*lead, ROWS, ROWS))
    return a @ a.swapaxes(-1, -2) + np.eye(ROWS)


def normal(a, x):
    """A log density as users write it."""
    factor = np.linalg.cholesky(a)
    z = np.linalg.solve(factor, x)
    return -0.5 * (z**2).sum() - np.log(np.diag(factor)).sum()


def calls(found):
    each = {(node.attrs[0], node.args) for node in topological(found) if node.op == "external"}
    return sorted(str(call) for call, _ in each)


def test_a_users_normal_density_takes_no_more_calls_than_ours():
    rng = np.random.default_rng(1)
    a, x = lazy(matrices(rng)), lazy(rng.normal(size=ROWS))
    found = derived(Structure(bind((normal(a, x).node, a.node, x.node)).roots, gradient_of, "nan"))
    assert calls(found.all) == ["cholesky", "inv", "solve_triangular", "solve_triangular"]


def test_its_gradient_is_that_of_the_formula():
    rng = np.random.default_rng(2)
    a, x = matrices(rng), rng.normal(size=ROWS)
    value, (of_a, of_x) = vecdist.value_and_grad(normal(lazy(a, "a"), lazy(x, "x")), ("a", "x"))
    inverse = np.linalg.inv(a)
    near = inverse @ x
    assert float(value) == pytest.approx(normal(a, x), rel=1e-13)
    np.testing.assert_allclose(of_x, -near, rtol=1e-10)
    np.testing.assert_allclose(of_a, 0.5 * (np.outer(near, near) - inverse), rtol=1e-9, atol=1e-11)


SQUARES = [lambda z: z**2, lambda z: z * z, np.square]
DIAGONALS = [  # the last two are not whole diagonals
    lambda factor: np.diagonal(factor, axis1=-2, axis2=-1), lambda factor: factor[..., range(ROWS), range(ROWS)],
    lambda factor: np.diagonal(factor, 1, -2, -1) ** 2 + 1.0,
    lambda factor: np.diagonal(factor[..., :5, :5], 0, -2, -1),
]  # fmt: skip


def program(rng):
    """Something made of a factor of matrices, and of columns: a function of these."""
    lead = [(), (3,), (2, 1)][rng.integers(3)]
    columns, square, diagonal = int(rng.integers(0, 4)), SQUARES[rng.integers(3)], DIAGONALS[rng.integers(4)]
    own = (ROWS, columns) if columns else (ROWS, 1)
    axes = [None, -2, -1, (-2, -1), tuple(range(len(lead) + 2))][rng.integers(5)]
    over = [None, -1][rng.integers(2)]
    turned, weighted = rng.random() < 0.2, rng.random() < 0.3

    def function(a, x):
        factor = np.linalg.cholesky(a)
        z = np.linalg.solve(factor.mT if turned else factor, x)
        z = z if columns else z[..., 0]
        squares = square(z).sum(axes if columns else over)
        logs = np.log(diagonal(factor))
        logs = (logs * (1.0 + np.arange(logs.shape[-1])) if weighted else logs).sum(over)
        return (squares * np.cos(squares)).sum() + (logs * np.sin(logs)).sum()

    return function, (matrices(rng, *lead), rng.normal(size=(*lead, *own)))


def slopes(function, given):
    arrays = [lazy(each) for each in given]
    return vecdist.value_and_grad(function(*arrays), arrays)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    function, given = program(np.random.default_rng(seed))
    with by_interpreter():
        value, found = slopes(function, given)
        without = [each for each in order.ON_VALUES if each is not factors]
        with mock.patch.object(order, "ON_VALUES", tuple(without)):
            _, wanted = slopes(function, given)
    assert float(value) == pytest.approx(float(function(*given)), rel=1e-11)
    for mine, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9 * np.abs(other).max())


def test_something_is_found_in_most_of_them():
    hits = 0
    for seed in range(60):
        function, given = program(np.random.default_rng(seed))
        (root,) = bind((function(*map(lazy, given)).node,)).roots
        root = order.split_checks((root,))[0]
        hits += factors(root) != root
    assert 30 < hits < 60


def test_a_diagonal_is_as_long_as_its_matrix():
    """Where a part is looked at, its length is one of its own."""
    factor = np.linalg.cholesky(lazy(matrices(np.random.default_rng(3))))
    whole, part = (np.log(np.diagonal(each)).sum().node for each in (factor, factor[:5, :5]))
    (root,), (other,) = (order.split_checks(bind((each,)).roots)[0] for each in (whole, part))
    assert "logdet" in calls(factors((root,))) and "logdet" not in calls(factors((other,)))


def test_chains_of_densities():
    rng = np.random.default_rng(4)
    many, x = matrices(rng, 5), rng.normal(size=ROWS)
    values, (found,) = vecdist.compile(normal, in_axes=(0, None)).value_and_grad(many, x, wrt=(0,))
    for a, value, slope in zip(many, values, found, strict=True):
        inverse = np.linalg.inv(a)
        near = inverse @ x
        assert value == pytest.approx(normal(a, x), rel=1e-12)
        np.testing.assert_allclose(slope, 0.5 * (np.outer(near, near) - inverse), rtol=1e-9, atol=1e-11)
