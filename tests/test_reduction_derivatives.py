"""Derivatives of products, extremes, sums of exponentials and Einstein sums, against finite differences."""

import numpy as np
import pytest
from interpreting import by_interpreter
from scipy import special, stats

from vecdist import hessian, lazy, log_mix, log_softmax, logpdf, logsumexp, mixture, softmax, value_and_grad
from vecdist.distributions import Normal

NAN, INF = np.nan, np.inf
SIGMA, Y = np.array([0.5, 1.0, 2.0]), np.array([-3.0, 0.0, 0.7, 10.0])


def differences(function, x, step=1e-4):
    """The derivative of ``function``, whose values may be arrays, in each element of ``x``: five points, order four."""
    result = []
    for place in np.ndindex(x.shape):
        shift = np.zeros(x.shape)
        shift[place] = step
        near, far = (function(x + k * shift) - function(x - k * shift) for k in (1, 2))
        result.append((8 * near - far) / (12 * step))
    return np.reshape(result, (*x.shape, *np.shape(result[0])))


M = np.array([[0.7, -0.4, 1.3], [0.2, -1.1, 0.9]])
SMOOTH = {
    "prod": (lambda x: x.prod(axis=1), lambda x: np.prod(x, axis=1)),
    "prod of all": (lambda x: np.prod(x) * x, lambda x: np.prod(x) * x),
    "prod over rows": (lambda x: np.prod(x, axis=0, keepdims=True) * x, lambda x: np.prod(x, axis=0) * x),
    "max": (lambda x: x.max(axis=1) ** 2, lambda x: x.max(axis=1) ** 2),
    "min": (lambda x: np.exp(np.min(x, axis=0)), lambda x: np.exp(np.min(x, axis=0))),
    "range": (lambda x: (x - x.min()) / (x.max() - x.min()), lambda x: (x - x.min()) / (x.max() - x.min())),
    "logsumexp": (lambda x: logsumexp(x, axis=1), lambda x: special.logsumexp(x, axis=1)),
    "logsumexp of all": (lambda x: logsumexp(x * x), lambda x: special.logsumexp(x * x)),
    "softmax": (lambda x: softmax(x, axis=0), lambda x: special.softmax(x, axis=0)),
    "log_softmax": (lambda x: log_softmax(x) * x, lambda x: special.log_softmax(x, axis=-1) * x),
    "log_mix": (lambda x: log_mix(log_softmax(x[0]), x), lambda x: special.logsumexp(
        special.log_softmax(x[0]) + x, axis=1)),
    "mixture": (lambda x: logpdf(mixture(softmax(x[0]), Normal(x[1], SIGMA)), Y), lambda x: np.log(
        stats.norm.pdf(Y[:, None], x[1], SIGMA) @ special.softmax(x[0]))),
    "einsum": (lambda x: np.einsum("ij,kj->ik", x, x * x), lambda x: x @ (x * x).T),
    "outer": (lambda x: np.outer(x, x[0]), lambda x: np.outer(x, x[0])),
    "inner": (lambda x: np.inner(x, x) ** 2, lambda x: np.inner(x, x) ** 2),
    "matmul": (lambda x: x @ x.T @ x, lambda x: x @ x.T @ x),
}


def weighed(found):
    """A scalar of results that have different weights."""
    return (found * np.arange(1.0, found.size + 1).reshape(found.shape)).sum()


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients_and_hessians(name):
    function, reference = SMOOTH[name]
    x = M.copy()
    with by_interpreter():
        value, slope = value_and_grad(weighed(function(lazy(x))), x)
        second = hessian(weighed(function(lazy(x))), x)
        curvature = differences(lambda x: value_and_grad(weighed(function(lazy(x))), x)[1], x)
    np.testing.assert_allclose(value, weighed(np.asarray(reference(x))), rtol=1e-12)
    wanted = differences(lambda x: weighed(np.asarray(reference(x))), x)
    np.testing.assert_allclose(slope, wanted, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(second, curvature, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("values", [
    [0.0, 2.0, 3.0], [2.0, 0.0, -0.0], [0.0, 0.0, 0.0], [1.5, -2.0, 4.0], [-0.0, 5.0, 1.0],
])
def test_products_of_zeros_have_their_derivatives(values):
    x = np.array(values)
    with by_interpreter():
        value, slope = value_and_grad(lazy(x).prod(), x)
    assert value == x.prod()
    np.testing.assert_array_equal(slope, [x[1] * x[2], x[0] * x[2], x[0] * x[1]])


@pytest.mark.parametrize("values", [[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [1.5, -2.0, 4.0]])
def test_products_of_zeros_have_their_second_derivatives(values):
    a, b, c = x = np.array(values)
    with by_interpreter():
        found = hessian(lazy(x).prod(), x)
    np.testing.assert_allclose(found, [[0.0, c, b], [c, 0.0, a], [b, a, 0.0]], rtol=1e-14)


def test_a_compiled_product_of_zeros_has_its_derivatives():
    x = np.array([[0.0, 2.0, 3.0], [2.0, 0.0, 0.0], [1.5, -2.0, 4.0], [NAN, 1.0, 1.0]])
    value, slope = value_and_grad((lazy(x).prod(axis=1) * np.array([1.0, 2.0, 3.0, 0.0])).sum(), x)
    assert np.isnan(value)
    np.testing.assert_allclose(slope[:3], [[6.0, 0.0, 0.0], [0.0, 0.0, 0.0], [-24.0, 18.0, -9.0]], rtol=1e-14)


@pytest.mark.parametrize(("function", "values", "wanted"), [
    (np.max, [1.0, 3.0, 3.0], [0.0, 0.5, 0.5]),
    (np.max, [2.0, 2.0, 2.0], [1 / 3, 1 / 3, 1 / 3]),
    (np.max, [-INF, -INF, 4.0], [0.0, 0.0, 1.0]),
    (np.max, [INF, 1.0, INF], [0.5, 0.0, 0.5]),
    (np.max, [0.0, -0.0, -1.0], [0.5, 0.5, 0.0]),
    (np.min, [1.0, 3.0, 1.0], [0.5, 0.0, 0.5]),
    (np.min, [-INF, 3.0, 1.0], [1.0, 0.0, 0.0]),
    (logsumexp, [-INF, -INF, -INF], [0.0, 0.0, 0.0]),
    (logsumexp, [-INF, 0.0, 0.0], [0.0, 0.5, 0.5]),
    (logsumexp, [NAN, 1.0, 2.0], [NAN, NAN, NAN]),
])
def test_derivatives_of_ties_and_infinities(function, values, wanted):
    x = np.array(values)
    with by_interpreter():
        _, slope = value_and_grad(function(lazy(x)), x)
    np.testing.assert_allclose(slope, wanted, rtol=1e-13)


@pytest.mark.usefixtures("execution")
def test_compiled_derivatives_of_ties():
    x = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [-INF, -INF, 4.0]])
    _, slope = value_and_grad((lazy(x).max(axis=1) * 6.0).sum(), x)
    np.testing.assert_allclose(slope, [[0.0, 3.0, 3.0], [2.0, 2.0, 2.0], [0.0, 0.0, 6.0]], rtol=1e-15)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("shape", [(1, 2, 1), (3, 2, 4), (3, 70, 4), (2, 2, 300)])
def test_products_over_two_axes_of_an_array_that_is_turned_around(shape):
    """The inner of two loops, which is written out where it is short, multiplies what rows have in buffers."""
    x = np.asfortranarray(1.0 + 0.1 * np.random.default_rng(7).normal(size=shape))
    value, slopes = value_and_grad((lazy(x).prod(axis=(0, 1)) * 2.0).sum() + lazy(x).max(axis=(0, 1)).sum(), wrt=x)
    wanted = 2.0 * x.prod(axis=(0, 1))
    np.testing.assert_allclose(value, wanted.sum() + x.max(axis=(0, 1)).sum(), rtol=1e-12)
    np.testing.assert_allclose(slopes, wanted / x + (x == x.max(axis=(0, 1), keepdims=True)), rtol=1e-12)
