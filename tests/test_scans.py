"""Running sums and products: NumPy's values along every axis, gradients and second derivatives."""

import numpy as np
import pytest
from reference import assert_same, interpreted

import vecdist as vd
from vecdist import lazy
from vecdist.runtime import pipeline

X = np.random.default_rng(5).uniform(0.5, 1.5, (3, 5, 4))
NAMES = ("cumsum", "cumprod")
ZEROS = {
    "none": [1.5, -0.5, 2.0, 0.7],
    "first": [0.0, -0.5, 2.0, 0.7],
    "inside": [1.5, -0.5, 0.0, 0.7],
    "last": [1.5, -0.5, 2.0, 0.0],
    "two": [1.5, 0.0, 2.0, 0.0],
}


def jacobian(function, x):
    """Central differences of a function of one array: the axes of its result, then those of ``x``."""
    steps = np.eye(x.size).reshape(x.size, *x.shape) * 1e-6
    columns = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
    return np.moveaxis(np.array(columns), 0, -1).reshape(*np.shape(columns[0]), *x.shape)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", NAMES)
def test_values_along_every_axis(uncompiled, name, axis):
    check_values(name, axis)


@pytest.mark.slow
@pytest.mark.parametrize("axis", [None, 1])
def test_compiled_values(axis):
    check_values("cumsum", axis)


def check_values(name, axis):
    numpy = getattr(np, name)
    for x in (X, X[:1], X[:, :1], X[:0], X[:, :0], X[::2, ::-1], X.T):
        np.testing.assert_allclose(np.asarray(numpy(lazy(x), axis)), numpy(x, axis), rtol=1e-14)
        np.testing.assert_allclose(np.asarray(getattr(lazy(x), name)(axis)), numpy(x, axis), rtol=1e-14)


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u8", "f4", "f8"])
@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_numpys(uncompiled, name, dtype):
    check_dtype(name, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["?", "i2", "u8", "f4"])  # one of each kind
@pytest.mark.parametrize("name", NAMES)
def test_compiled_dtypes_are_numpys(name, dtype):
    check_dtype(name, dtype)


def check_dtype(name, dtype):
    x = np.array([3, 1, 0, 1, 2, 3, 1, 2]).reshape(2, 4).astype(dtype)
    for axis in (None, 0, 1):
        found, wanted = getattr(np, name)(lazy(x), axis=axis), getattr(np, name)(x, axis=axis)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(found), wanted)
    assert getattr(lazy(x), name)(0, dtype="f4").dtype == np.float32


@pytest.mark.usefixtures("execution")
def test_numbers_and_short_arrays():
    assert np.cumsum(lazy(np.array(2.5))).shape == (1,)
    np.testing.assert_array_equal(np.asarray(np.cumprod(lazy(np.array([2.5])))), [2.5])
    with pytest.raises(ValueError, match="axis 1"):
        lazy(np.ones(3)).cumsum(1)


def test_float32_runs_in_float64():
    x = np.full(200_000, 0.1, "f4")
    assert abs(np.asarray(lazy(x).cumsum())[-1] / (200_000 * float(x[0])) - 1) < 1e-7


EXPRESSIONS = {
    "of an expression": lambda x: np.exp(-lazy(x)).cumsum(1) * 2.0,
    "of a scan": lambda x: lazy(x).cumsum(0).cumsum(1),
    "of a reduction": lambda x: (lazy(x) - 0.5 * lazy(x).mean(axis=1, keepdims=True)).cumsum(1),
    "of repeated elements": lambda x: (lazy(x)[:, :1] + np.zeros((1, 6))).cumsum(1),
    "both": lambda x: lazy(x).cumsum(1) / lazy(x).cumprod(1),
    "sliced": lambda x: lazy(x).cumsum(1)[:, ::-1][:, 1:] - lazy(x)[:, :-1],
    "reduced": lambda x: lazy(x).cumsum(0).max(axis=0),
    "indexed": lambda x: lazy(x).cumsum(1)[:, np.array([0, 2, 2])],
    "broadcast": lambda x: lazy(x)[0].cumsum() * lazy(x),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_within_expressions(uncompiled, name, dtype):
    check_expression(name, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_within_compiled_expressions(name):
    check_expression(name, "f4")


def check_expression(name, dtype):
    for shape in ((3, 5), (300, 7), (2, 300), (1, 4), (4, 1)):
        x = np.random.default_rng(1).uniform(0.5, 1.5, shape).astype(dtype)
        if name == "indexed" and shape[1] < 3:
            continue
        result = EXPRESSIONS[name](x)
        (wanted,) = interpreted((result.node,))
        assert_same([np.asarray(result)], [wanted], rtol=1e-12 if dtype == "f8" else 1e-5)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_gradients(name, axis):
    x = X[0].copy()
    weights = np.random.default_rng(2).normal(size=x.size)

    def numpy(x):
        return (np.sin(getattr(np, name)(x, axis).ravel()) * weights).sum()

    value, (slope,) = vd.value_and_grad((np.sin(getattr(lazy(x), name)(axis).ravel()) * weights).sum(), (x,))
    np.testing.assert_allclose(value, numpy(x))
    np.testing.assert_allclose(slope, jacobian(numpy, x), rtol=1e-6, atol=1e-8)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("zeros", ZEROS)
def test_products_of_zeros(zeros):
    """Gradients, tangents and second derivatives; these with one zero at most."""
    x, weights = np.array(ZEROS[zeros]), np.array([0.3, -1.0, 2.0, 0.5])
    target = (lazy(x).cumprod() * weights).sum()
    _, (slope,) = vd.value_and_grad(target, (x,))
    np.testing.assert_allclose(slope, jacobian(lambda x: (np.cumprod(x) * weights).sum(), x), atol=1e-8)
    tangents = [np.asarray(vd.jvp(lazy(x).cumprod(), (x,), (e,))[1]) for e in np.eye(4)]
    np.testing.assert_allclose(np.transpose(tangents), jacobian(np.cumprod, x), atol=1e-8)
    if zeros != "two":
        found = [np.asarray(vd.hvp(target, x, e)) for e in np.eye(4)]
        np.testing.assert_allclose(found, second_differences(x, weights), atol=1e-5)


def second_differences(x, weights):
    """The Hessian of a weighted sum of running products, which are of degree 1 in each element."""
    def value(x):
        return (np.cumprod(x) * weights).sum()

    e = np.eye(x.size)
    return np.array([
        [(value(x + a + b) - value(x + a - b) - value(x - a + b) + value(x - a - b)) / 4 * (a @ b == 0) for b in e]
        for a in e
    ])


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("name", NAMES)
def test_bits_do_not_depend_on_threads(name, threads):
    x = np.random.default_rng(3).uniform(0.9, 1.1, (70, 300))
    for axis in (0, 1):
        found = np.asarray(getattr(lazy(x), name)(axis) * 1.0)
        np.testing.assert_array_equal(found, getattr(np, name)(x, axis=axis))


@pytest.mark.usefixtures("execution")
def test_hessians_of_many_rows():
    """Which give every scan a leading axis."""
    x = X[0].copy()
    found = vd.hessian(np.square(lazy(x).cumsum(1)).sum(), x)
    later = np.minimum.outer(4 - np.arange(4), 4 - np.arange(4))
    np.testing.assert_allclose(np.asarray(found), np.einsum("ik,jl->ijkl", np.eye(5), 2.0 * later), atol=1e-12)


def test_nothing_is_compiled_again_for_another_length():
    before = None
    for length in (50, 30, 7):
        x = np.random.default_rng(length).normal(size=length)
        vd.value_and_grad(lazy(x).cumsum().sum(), (x,))
        before = before or pipeline.compilations()
    assert pipeline.compilations() == before
