"""Declared parameters: their transforms, inverses and log Jacobian determinants."""

import pickle

import numpy as np
import pytest
from densities import differences
from interpreting import by_interpreter

from vecdist import lazy, value_and_grad
from vecdist.parameters import (
    Parameter,
    cholesky_corr,
    cholesky_cov,
    corr_matrix,
    cov_matrix,
    interval,
    lower,
    ordered,
    positive,
    positive_ordered,
    real,
    simplex,
    sum_to_zero,
    unit_vector,
    upper,
)


def everything(x):
    return np.ravel(x)


def all_but_last(x):
    return np.ravel(x[..., :-1])


def triangle(x):
    return np.ravel(x[..., *np.tril_indices(x.shape[-1])])


def below_diagonal(x):
    return np.ravel(x[..., *np.tril_indices(x.shape[-1], -1)])


# A declaration, its constrained and unconstrained shape, and the coordinates of x that y determines.
CASES = [
    (real(3), (3,), (3,), everything),
    (real((2, 2)), (2, 2), (2, 2), everything),
    (positive(), (), (), everything),
    (positive(4), (4,), (4,), everything),
    (lower(-1.5, 2), (2,), (2,), everything),
    (upper(np.array([[1.0], [2.0]]), (2, 3)), (2, 3), (2, 3), everything),
    (interval(0, 1), (), (), everything),
    (interval(-0.3, np.array([0.7, 9.0]), 2), (2,), (2,), everything),
    (ordered(1), (1,), (1,), everything),
    (ordered(4), (4,), (4,), everything),
    (positive_ordered(3, (2,)), (2, 3), (2, 3), everything),
    (simplex(2), (2,), (1,), all_but_last),
    (simplex(4, 3), (3, 4), (3, 3), all_but_last),
    (sum_to_zero(5, 2), (2, 5), (2, 4), None),
    (sum_to_zero(130), (130,), (129,), None),
    (simplex(101), (101,), (100,), all_but_last),
    (unit_vector(3), (3,), (3,), None),
    (cholesky_corr(2), (2, 2), (1,), below_diagonal),
    (cholesky_corr(4, 2), (2, 4, 4), (2, 6), below_diagonal),
    (corr_matrix(4), (4, 4), (6,), below_diagonal),
    (cholesky_cov(1), (1, 1), (1,), triangle),
    (cholesky_cov(3), (3, 3), (6,), triangle),
    (cov_matrix(3, (2,)), (2, 3, 3), (2, 6), triangle),
]
each_case = pytest.mark.parametrize(("parameter", "shape", "free", "coordinates"), CASES, ids=lambda x: str(x)[:24])


def point(parameter, seed=0):
    return np.random.default_rng(seed).normal(size=parameter.unconstrained_shape)


def volume(terms):
    return 0.0 if terms is None else np.sum(np.asarray(terms))


@each_case
def test_shapes_and_inverses(parameter, shape, free, coordinates):
    assert (parameter.shape, parameter.unconstrained_shape) == (shape, free)
    assert parameter.size == np.prod(free)
    y = point(parameter)
    x, _ = parameter.forward(y)
    assert np.shape(x) == shape
    again = parameter.inverse(x)
    if parameter.constraint == "unit_vector":
        np.testing.assert_allclose(again, y / np.linalg.norm(y), rtol=1e-14)
    else:
        np.testing.assert_allclose(again, y, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(parameter.forward(again)[0], x, rtol=1e-12, atol=1e-14)


@each_case
def test_leading_axes_pass_through(parameter, shape, free, coordinates):
    many = np.stack([[point(parameter, 4 * i + j) for j in range(4)] for i in range(2)])
    x, terms = parameter.forward(many)
    for place in np.ndindex(2, 4):
        one, own = parameter.forward(many[place])
        np.testing.assert_allclose(x[place], one, rtol=1e-13)
        if terms is not None:
            np.testing.assert_allclose(terms[place], own, rtol=1e-13)
    if parameter.constraint != "unit_vector":
        np.testing.assert_allclose(parameter.inverse(x), many, rtol=1e-11, atol=1e-11)


@each_case
def test_log_jacobians(parameter, shape, free, coordinates):
    """Against the determinant of a matrix of differences."""
    y = point(parameter).ravel()

    def flat(y):
        return (coordinates or everything)(parameter.forward(y.reshape(free))[0])

    found = volume(parameter.forward(y.reshape(free))[1])
    if parameter.constraint == "unit_vector":  # a density of |y|, which x does not show
        assert found == pytest.approx(-0.5 * y @ y, rel=1e-15)
        return
    jacobian = differences(flat, y, step=2e-3)
    wanted = 0.5 * np.linalg.slogdet(jacobian.T @ jacobian)[1]
    assert found == pytest.approx(wanted, abs=1e-8)


@each_case
def test_the_graph_computes_the_same(parameter, shape, free, coordinates):
    y = point(parameter)
    x, terms = parameter.forward(y)
    with by_interpreter():
        found, of_graph = parameter.forward(lazy(y))
        assert found.shape == shape
        np.testing.assert_allclose(np.asarray(found), x, rtol=1e-13, atol=1e-15)
        assert volume(of_graph) == pytest.approx(volume(terms), rel=1e-13)


@each_case
def test_gradients(parameter, shape, free, coordinates):
    """Of a function of x and of the log Jacobian, against differences."""
    y = point(parameter)
    weights = np.random.default_rng(1).normal(size=shape)

    def total(y):
        x, terms = parameter.forward(y.reshape(free))
        return (weights * x).sum() + (0.0 if terms is None else terms.sum())

    with by_interpreter():
        leaf = lazy(y)
        _, found = value_and_grad(total(leaf), leaf)
    np.testing.assert_allclose(np.ravel(found), differences(total, y.ravel()), rtol=1e-9, atol=1e-9)


EXTREMES = np.array([-1e4, -745.2, -40.0, -1e-300, 0.0, 40.0, 709.8, 1e4])


@each_case
def test_extreme_values_give_no_nan(parameter, shape, free, coordinates):
    """The log Jacobian and its gradient are finite, in the graph."""
    for seed in range(20):
        y = np.random.default_rng(seed).choice(EXTREMES, free)
        if parameter.constraint == "unit_vector":
            y[0] = 1.0  # zeros have no direction
        with by_interpreter(), np.errstate(all="ignore"):
            leaf = lazy(y)
            x, terms = parameter.forward(leaf)
            if parameter.constraint != "cov_matrix" or y.max() < 300.0:  # products of numbers that are infinite there
                assert not np.isnan(np.asarray(x)).any(), y
            if terms is not None:
                value, slopes = value_and_grad(terms.sum(), leaf)
                assert np.isfinite(value) and np.isfinite(slopes).all(), y


@pytest.mark.parametrize("parameter", [real(), positive(), lower(3.0), upper(-3.0), interval(0, 1)], ids=str)
@pytest.mark.parametrize("y", [-1e308, 1e308, -np.inf, np.inf])
def test_the_ends_of_the_line(parameter, y):
    with by_interpreter(), np.errstate(all="ignore"):
        for given in (y, lazy(np.array(y))):
            x, terms = parameter.forward(given)
            assert not np.isnan(np.asarray(x)) and not np.isnan(volume(terms))


def test_bounds_are_kept():
    """Rounding takes no value across a bound, and the slope in the middle is a quarter of the width."""
    low, high = np.full(200, 0.1), np.linspace(0.2, 7.0, 200)
    parameter = interval(low, high, 200)
    with by_interpreter():
        for y in (-800.0, -37.0, 0.0, 37.0, 800.0):
            leaf = lazy(np.full(200, y))
            x = parameter.forward(leaf)[0]
            assert (np.asarray(x) >= low).all() and (np.asarray(x) <= high).all()
        _, slopes = value_and_grad(parameter.forward(leaf := lazy(np.zeros(200)))[0].sum(), leaf)
        np.testing.assert_allclose(slopes, 0.25 * (high - low), rtol=1e-15)


def test_simplexes_far_out_are_simplexes():
    for scale in (1.0, 30.0, 1e3, 1e6):
        x, terms = simplex(5).forward(scale * point(simplex(5)))
        assert x.sum() == pytest.approx(1.0, rel=1e-15) and (x >= 0).all() and np.isfinite(terms).all()


def test_factors_of_correlations_have_rows_of_norm_one():
    for scale in (0.1, 1.0, 10.0, 300.0):
        factor = cholesky_corr(6).forward(scale * point(cholesky_corr(6)))[0]
        np.testing.assert_allclose((factor**2).sum(axis=-1), 1.0, rtol=1e-13)
        assert (np.triu(factor, 1) == 0.0).all() and (np.diagonal(factor) >= 0.0).all()


def test_zero_sums_are_isotropic():
    """The map keeps lengths, and every element has the same variance."""
    for n in (2, 4, 8, 9, 100, 101, 400):
        x = sum_to_zero(n).forward(np.eye(n - 1))[0]
        rounding = n * np.finfo(float).eps
        np.testing.assert_allclose(x.sum(axis=-1), 0.0, atol=rounding)
        np.testing.assert_allclose(x @ x.T, np.eye(n - 1), atol=rounding)
        np.testing.assert_allclose((x**2).sum(axis=0), 1.0 - 1.0 / n, rtol=1e-12)


@pytest.mark.parametrize(("parameter", "outside"), [
    (positive(), 0.0), (positive(2), [1.0, -1.0]), (lower(0.0), 0.0), (upper(2.0), 3.0), (interval(0, 1), 0.0),
    (interval(0, 1), 1.5), (ordered(3), [1.0, 0.9, 2.0]), (positive_ordered(2), [-1.0, 2.0]), (real(), np.nan),
    (lower(2.0), 2.0 - 1e-9), (upper(2.0), 2.0 + 1e-9), (interval(1, 3), 3.0 + 1e-9), (ordered(2), [1.0, 1.0 - 1e-9]),
    (cov_matrix(2), [[1e-12, 5e-12], [5e-12, 1e-12]]), (cov_matrix(2), [[1.0, 1.1], [1.1, 1.0]]),
    (cov_matrix(1), [[-1.0]]), (corr_matrix(3), [[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]),
    (simplex(3), [0.2, 0.2, 0.2]), (simplex(2), [0.0, 1.0]), (sum_to_zero(2), [1.0, 1.0]), (unit_vector(2), [1.0, 1.0]),
    (cholesky_corr(2), [[1.0, 0.5], [0.6, 0.8]]), (corr_matrix(2), [[1.0, 2.0], [2.0, 1.0]]), (real(), np.inf),
    (corr_matrix(2), [[2.0, 0.0], [0.0, 2.0]]), (cholesky_cov(2), [[1.0, 0.0], [0.0, -1.0]]),
    (cov_matrix(2), [[1.0, 0.5], [0.4, 1.0]]),
])  # fmt: skip
def test_values_outside_of_a_constraint(parameter, outside):
    with pytest.raises(ValueError, match=f"outside {parameter.constraint}.*edge"):
        parameter.inverse(np.asarray(outside))


@each_case
@pytest.mark.parametrize("scale", [1.0, 10.0, 30.0, 100.0])
def test_what_rounding_puts_on_an_edge_is_taken_as_the_next_inside(parameter, shape, free, coordinates, scale):
    """Numbers far out give values that cannot be told from an edge; these have numbers, which give these values."""
    y = scale * np.random.default_rng(int(scale)).normal(size=(40, *free))
    with np.errstate(all="ignore"):
        x = np.asarray(parameter.forward(y)[0])
        again = np.asarray(parameter.forward(parameter.inverse(x))[0])
    for found, wanted in zip(again, x, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6 * abs(wanted).max())
    if parameter.constraint not in ("corr_matrix", "cov_matrix"):  # whose factors lose half of their digits
        np.testing.assert_allclose(again, x, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize(("parameter", "edge"), [
    (lower(2.0), 2.0), (upper(-2.0), -2.0), (interval(0, 1), 1.0), (interval(-1, 0), -1.0), (ordered(2), [1.0, 1.0]),
    (positive_ordered(2), [3.0, 3.0]), (cholesky_corr(2), [[1.0, 0.0], [1.0, 0.0]]),
    (corr_matrix(2), [[1.0, -1.0], [-1.0, 1.0]]), (cov_matrix(2), [[4.0, 6.0], [6.0, 9.0]]),
])  # fmt: skip
def test_edges_have_numbers_of_tens(parameter, edge):
    y = parameter.inverse(np.asarray(edge))
    assert (abs(y) < 40.0).all()
    np.testing.assert_allclose(parameter.forward(y)[0], edge, rtol=1e-15, atol=1e-15)


def test_one_matrix_without_a_factor_is_told_among_others():
    good = np.stack([np.eye(3)] * 4)
    assert cov_matrix(3, 4).inverse(good).tolist() == [[0.0] * 6] * 4
    good[2, 0, 1] = good[2, 1, 0] = 1.5
    with pytest.raises(ValueError, match="outside"):
        cov_matrix(3, 4).inverse(good)


@pytest.mark.parametrize(("declare", "error", "message"), [
    (lambda: simplex(1), ValueError, "simplex wants 2 or more elements, given 1"),
    (lambda: ordered(0), ValueError, "ordered wants 1 or more elements, given 0"),
    (lambda: cholesky_corr(1), ValueError, "2 or more"),
    (lambda: unit_vector(-3), ValueError, "2 or more"),
    (lambda: simplex(2.5), TypeError, "simplex wants a number of elements, given 2.5"),  # type: ignore[arg-type]
    (lambda: real(-1), ValueError, "no negative lengths, given -1"),
    (lambda: simplex(3, (2, -1)), ValueError, "no negative lengths"),
    (lambda: positive(1.5), TypeError, "a shape is a whole number or a tuple"),
    (lambda: positive("a"), TypeError, "a shape is a whole number or a tuple"),
    (lambda: interval(1.0, 1.0), ValueError, "lower bound less than the upper one"),
    (lambda: interval(0.0, np.nan), ValueError, "lower bound less than the upper one"),
    (lambda: lower(-np.inf), ValueError, "leave out one at infinity"),
    (lambda: lower(np.zeros(3), 2), ValueError, "shape"),
    (lambda: upper(np.zeros(3)), ValueError, r"bounds of shape \(3,\) for a parameter of shape \(\)"),
])
def test_wrong_declarations(declare, error, message):
    with pytest.raises(error, match=message):
        declare()


def test_declarations_are_shown_and_pickled():
    assert str(simplex(4, shape=(3,))) == "simplex(4, shape=(3,))"
    assert str(interval(0, 1.5)) == "interval(0.0, 1.5)" and str(cov_matrix(2)) == "cov_matrix(2)"
    for parameter, *_ in CASES:
        again = pickle.loads(pickle.dumps(parameter))
        assert isinstance(again, Parameter)
        y = point(parameter)
        np.testing.assert_array_equal(again.forward(y)[0], parameter.forward(y)[0])
