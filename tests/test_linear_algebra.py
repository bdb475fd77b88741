"""NumPy's linear algebra of lazy arrays: values beside NumPy, derivatives beside differences, of any length."""

import numpy as np
import pytest

import vecdist
from vecdist import LazyArray, lazy
from vecdist.primitives import factorisations

rng = np.random.default_rng(7)


def definite(*shape):
    a = rng.normal(size=shape)
    return a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])


def regular(*shape):
    return rng.normal(size=shape) + 3.0 * np.eye(shape[-1])


FUNCTIONS = {
    "cholesky": (np.linalg.cholesky, (definite,)), "upper": (lambda a: np.linalg.cholesky(a, upper=True), (definite,)),
    "solve": (np.linalg.solve, (regular, lambda *shape: rng.normal(size=(*shape[:-1], 2)))),
    "inv": (np.linalg.inv, (regular,)), "det": (np.linalg.det, (regular,)),
    "slogdet": (lambda a: np.linalg.slogdet(a)[1], (regular,)), "eigvalsh": (np.linalg.eigvalsh, (definite,)),
    "eigenvectors": (lambda a: np.linalg.eigh(a)[1] ** 2, (definite,)),
    "norm": (np.linalg.norm, (regular,)), "norms": (lambda a: np.linalg.norm(a, 3, axis=-1), (regular,)),
    "columns": (lambda a: np.linalg.norm(a, 1, axis=(-2, -1)), (regular,)),
}  # fmt: skip
def of_definite(function):
    """A function of a positive definite matrix and its factor, and of vectors."""

    def run(a, *others):
        if not isinstance(a, LazyArray):
            return {"solution": np.linalg.solve, "inverse": np.linalg.inv, "logdet": lambda a: np.linalg.slogdet(a)[1]}[
                function
            ](a, *others)
        rule = {
            "solution": factorisations.definite_solution, "inverse": factorisations.definite_inverse,
            "logdet": factorisations.log_determinant,
        }[function]
        matrix = factorisations.symmetric(a.node)
        return LazyArray(rule(matrix, factorisations.cholesky(matrix), *(each.node for each in others)))

    return run


FUNCTIONS |= {
    "solution": (of_definite("solution"), (definite, lambda *shape: rng.normal(size=(*shape[:-1], 2)))),
    "inverse": (of_definite("inverse"), (definite,)), "logdet": (of_definite("logdet"), (definite,)),
}  # fmt: skip
SYMMETRIC = {"solution", "inverse", "logdet", "cholesky", "upper", "eigvalsh", "eigenvectors"}
SHAPES = [(1, 1), (4, 4), (3, 2, 2), (20, 20)]


def weighted(function, given):
    """The value of a function, and a number made of it by fixed weights."""
    value = function(*given)
    weights = np.random.default_rng(3).normal(size=np.shape(value))
    return value, (value * weights).sum()


def slopes(function, given):
    """The gradient of the number in each argument."""
    arrays = [lazy(each) for each in given]
    return vecdist.value_and_grad(weighted(function, arrays)[1], arrays)[1]


def moved(name, shape):
    """A direction; a symmetric one where only such matrices are meant."""
    found = rng.normal(size=shape)
    return found + found.swapaxes(-1, -2) if name in SYMMETRIC and shape[-1] == shape[-2] else found


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_derivatives(name, shape):
    function, makers = FUNCTIONS[name]
    given = [make(*shape) for make in makers]
    value = weighted(function, [lazy(each) for each in given])[0].compute()
    np.testing.assert_allclose(value, function(*given), rtol=1e-9, atol=1e-12)
    found = slopes(function, given)
    for place, each in enumerate(given):
        way = moved(name, each.shape)
        ahead, behind = ([*given[:place], each + step * way, *given[place + 1 :]] for step in (1e-5, -1e-5))
        along, difference = (found[place] * way).sum(), weighted(function, ahead)[1] - weighted(function, behind)[1]
        assert along == pytest.approx(difference / 2e-5, rel=2e-6, abs=1e-6)
        arrays = [lazy(other) for other in given]
        number = weighted(function, arrays)[1]
        assert vecdist.jvp(number, [arrays[place]], [way])[1] == pytest.approx(along, rel=1e-8, abs=1e-9)
        if shape[-1] < 20:
            (second,) = vecdist.hvp(number, [arrays[place]], [way])
            wanted = (slopes(function, ahead)[place] - slopes(function, behind)[place]) / 2e-5
            np.testing.assert_allclose(second, wanted, rtol=1e-5, atol=1e-6 * (1.0 + np.abs(wanted).max()))


def test_vectors_on_the_right_and_leading_axes_that_broadcast():
    a, b = regular(3, 3), rng.normal(size=3)
    np.testing.assert_allclose(np.linalg.solve(lazy(a), b).compute(), np.linalg.solve(a, b))
    many = rng.normal(size=(4, 3, 2))
    np.testing.assert_allclose(np.linalg.solve(lazy(a), many).compute(), np.linalg.solve(a, many))


def test_chains_of_matrices():
    function = vecdist.compile(lambda a: np.linalg.slogdet(a @ a.T)[1] + np.linalg.inv(a).sum(), in_axes=(0,))
    many = regular(3, 4, 4)
    values, (found,) = function.value_and_grad(many)
    for a, value, slope in zip(many, values, found, strict=True):
        assert value == pytest.approx(2.0 * np.linalg.slogdet(a)[1] + np.linalg.inv(a).sum())
        inverse = np.linalg.inv(a)
        wanted = 2.0 * inverse.T - inverse.T @ np.ones((4, 4)) @ inverse.T
        np.testing.assert_allclose(slope, wanted, rtol=1e-9, atol=1e-12)


def test_float32_stays_float32():
    a = definite(6, 6).astype(np.float32)
    assert np.linalg.cholesky(lazy(a)).compute().dtype == np.float32
    _, slope = vecdist.value_and_grad(np.linalg.slogdet(lazy(a, "a"))[1], "a")
    assert slope.dtype == np.float32
    np.testing.assert_allclose(slope, np.linalg.inv(a), rtol=2e-4, atol=1e-5)


WITHOUT = {  # what a matrix may lack, and one that lacks it
    "cholesky": (np.linalg.cholesky, lambda a: -a), "inv": (np.linalg.inv, lambda a: a * (np.arange(len(a)) != 1)),
    "solve": (lambda a: np.linalg.solve(a, np.ones((a.shape[-1], 2))), lambda a: a * (np.arange(len(a)) != 1)),
}  # fmt: skip


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("rows", [3, 9, 40])
@pytest.mark.parametrize("name", WITHOUT)
def test_what_a_matrix_lacks_is_an_error_or_nan_of_its_own(name, rows):
    """An error where somebody waits for it; a NaN that is given is none of either."""
    function, spoil = WITHOUT[name]
    many = definite(4, rows, rows)
    many[2], many[3, 0, 0] = spoil(many[2]), np.nan
    found = vecdist.compile(lambda a: function(a).sum(), in_axes=(0,))(many)
    np.testing.assert_allclose(found[:2], [function(a).sum() for a in many[:2]], rtol=1e-9)
    assert np.isnan(found[2:]).all()
    with pytest.raises(np.linalg.LinAlgError, match=rf"np.linalg.{name}: \w+\[2\] = nan"):
        function(lazy(many)).compute()
    assert np.isnan(np.asarray(function(lazy(many[3])))[-1, -1])
    raising = vecdist.compile(lambda a: function(a).sum(), errors="raise")
    assert float(raising(many[0])) == pytest.approx(found[0])
    with pytest.raises(vecdist.InvalidMatrix):
        raising(many[2])


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("garbage", [np.nan, np.inf, 7.0])
@pytest.mark.parametrize("rows", [2, 4, 6])
def test_a_factor_depends_on_nothing_above_the_diagonal(rows, garbage):
    """As NumPy's; nor does it hide that there is none."""
    a = definite(rows, rows)
    above = np.where(np.triu(np.ones((rows, rows)), 1) > 0, garbage, a)
    np.testing.assert_allclose(np.asarray(np.linalg.cholesky(lazy(above))), np.linalg.cholesky(a), rtol=1e-12)
    with pytest.raises(vecdist.InvalidMatrix):
        np.linalg.cholesky(lazy(np.where(above == a, -a, above))).compute()


@pytest.mark.usefixtures("execution")
def test_matrices_that_are_views_of_vectors():
    v = np.array([2.0, 3.0])
    found = np.linalg.solve(lazy(v[:1])[:, None], np.array([1.0]))
    np.testing.assert_array_equal(np.asarray(found), [0.5])
    found = np.linalg.inv(np.broadcast_to(lazy(v)[:, None, None], (2, 1, 1)))
    np.testing.assert_allclose(np.asarray(found).ravel(), 1.0 / v)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.solve(np.broadcast_to(lazy(v), (2, 2)), v).compute()


def test_a_system_of_a_factor_is_a_triangular_one():
    a, b = definite(12, 12), rng.normal(size=(12, 2))
    factor = np.linalg.cholesky(lazy(a))
    for matrix, wanted in ((factor, np.linalg.cholesky(a)), (factor.mT, np.linalg.cholesky(a).T)):
        found = np.linalg.solve(matrix, b)
        assert found.node.op == "external" and str(found.node.attrs[0]) == "solve_triangular"
        np.testing.assert_allclose(np.asarray(found), np.linalg.solve(wanted, b), rtol=1e-10)


@pytest.mark.parametrize(("made", "error", "said"), [
    (lambda: np.linalg.cholesky(lazy(-np.eye(3))).compute(), np.linalg.LinAlgError, "positive definite"),
    (lambda: np.linalg.inv(lazy(np.zeros((3, 3)))).compute(), np.linalg.LinAlgError, "inverse = nan .* not singular"),
    (lambda: np.linalg.inv(lazy(np.ones((3, 2)))), np.linalg.LinAlgError, r"square matrices .* shape \(3, 2\)"),
    (lambda: np.linalg.solve(lazy(np.eye(3)), np.ones((2, 2))), ValueError, r"\(3, 3\) and a right side .* \(2, 2\)"),
    (lambda: np.linalg.eig(lazy(np.eye(3))), TypeError, "np.linalg.eig has no lazy form"),
], ids=["definite", "singular", "square", "fit", "eig"])  # fmt: skip
def test_what_is_refused(made, error, said):
    with pytest.raises(error, match=said):
        made()
