"""Running sums, products and recurrences on a GPU: every way that threads share rows, and the same bits again."""

import numpy as np
import pytest

import vecdist
from vecdist import lazy
from vecdist.graph.leaves import on_host
from vecdist.lazy.array import LazyArray
from vecdist.primitives.scans import linear_recurrence

pytestmark = pytest.mark.cuda
SHAPES = {
    "one row in many pieces": ((2**22 + 77,), 0),
    "few rows in pieces": ((3, 300_001), 1),
    "rows of blocks": ((300, 5000), 1),
    "rows of warps": ((40_000, 300), 1),
    "rows of threads": ((200_000, 5), 1),
    "few columns": ((300_001, 3), 0),
    "columns of warps": ((4000, 1000), 0),
    "columns of threads": ((100, 2**15), 0),
    "inside": ((30, 70, 90), 1),
    "no rows": ((0, 500), 1),
    "empty rows": ((50, 0), 1),
}


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def drawn(shape, dtype):
    rng = np.random.default_rng(7)
    return tuple(rng.normal(size=shape).astype(dtype) for _ in range(2))


def again(expression):
    """An array of a GPU on the host; computed twice, it has the same bits."""
    first, second = (on_host(LazyArray(expression.node).compute()) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    return first


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("name", SHAPES)
def test_sums(cupy, name, dtype):
    shape, axis = SHAPES[name]
    x = (10.0 * drawn(shape, "f8")[0]).astype(dtype)
    found = again(np.cumsum(lazy(cupy.asarray(x)), axis))
    wanted = np.cumsum(x, axis, dtype="i8" if dtype == "i4" else "f8")
    if dtype == "i4":
        np.testing.assert_array_equal(found, wanted)
    else:
        size = np.cumsum(np.abs(x), axis, dtype="f8")  # what rounding errors are relative to
        assert (np.abs(found - wanted) <= {"f4": 1.2e-7, "f8": 4e-15}[dtype] * size).all()


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_recurrences(cupy, name, backwards):
    """Against the CPU, where a thread goes through a row in order."""
    shape, axis = SHAPES[name]
    factors, terms = drawn(shape, "f8")
    factors = np.tanh(factors)

    def expression(*given):
        return LazyArray(linear_recurrence(*(lazy(each).node for each in given), axis - len(shape), backwards))

    found = again(expression(cupy.asarray(factors), cupy.asarray(terms)))
    np.testing.assert_allclose(found, np.asarray(expression(factors, terms)), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", ["one row in many pieces", "few rows in pieces", "rows of warps", "columns of warps"])
def test_gradients_of_products(cupy, name):
    """With zeros in some rows, against the CPU."""
    shape, axis = SHAPES[name]
    x, weights = drawn(shape, "f8")
    x = np.exp(1e-3 * x)
    x.reshape(-1)[:: x.size // 5 + 1] = 0.0

    def slopes(x, weights):
        return vecdist.value_and_grad((lazy(x).cumprod(axis) * weights).sum(), (x,))

    value, (slope,) = slopes(cupy.asarray(x), cupy.asarray(weights))
    wanted, (by_cpu,) = slopes(x, weights)
    np.testing.assert_allclose(float(value), float(wanted), rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(on_host(slope), by_cpu, rtol=1e-9, atol=1e-8)


@pytest.mark.parametrize("name", ["few rows in pieces", "rows of warps", "columns of warps", "inside", "no rows"])
def test_logarithms_of_sums_of_exponentials(cupy, name):
    """With their gradients, of numbers so far apart that any sum would overflow; against the CPU."""
    shape, axis = SHAPES[name]
    x, weights = drawn(shape, "f8")
    x *= 300.0
    x.reshape(-1)[::17] = -np.inf

    def slopes(x, weights):
        return vecdist.value_and_grad((vecdist.logcumsumexp(lazy(x), axis)[..., 1:] * weights[..., 1:]).sum(), (x,))

    found = again(vecdist.logcumsumexp(lazy(cupy.asarray(x)), axis))
    np.testing.assert_allclose(found, np.logaddexp.accumulate(x, axis), rtol=1e-11)
    finite = np.where(np.isinf(x), -1e4, x)
    value, (slope,) = slopes(cupy.asarray(finite), cupy.asarray(weights))
    wanted, (by_cpu,) = slopes(finite, weights)
    np.testing.assert_allclose(float(value), float(wanted), rtol=1e-9)
    np.testing.assert_allclose(on_host(slope), by_cpu, rtol=1e-9, atol=1e-12)


def test_methods_of_ufuncs(cupy):
    x = drawn((3, 400), "f8")[0]
    given = lazy(cupy.asarray(x))
    for method in (np.maximum.accumulate, np.logaddexp.reduce, np.hypot.reduce, np.fmin.accumulate):
        np.testing.assert_allclose(on_host(method(given, axis=1).compute()), method(x, axis=1), rtol=1e-12)
    pieces = np.add.reduceat(given, [0, 30, 7], axis=1)
    np.testing.assert_allclose(on_host(pieces.compute()), np.add.reduceat(x, [0, 30, 7], axis=1), rtol=1e-12)
