"""Views: NumPy's indexing, without a copy, and gradients through every kind of view."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, basic_indices
from interpreting import by_interpreter, nothing_computed
from reference import assert_same, interpreted

from vecdist import lazy, value_and_grad
from vecdist.graph.node import topological
from vecdist.primitives.structure import joined
from vecdist.runtime import pipeline

X = np.arange(24.0).reshape(2, 3, 4)
KEYS = [
    0, -1, np.int64(1), slice(None), slice(1, None), slice(None, None, -1), slice(None, None, 2), slice(5, 1, -1), ...,
    None, (0, 1, 2), (slice(None), 1), (..., 1), (..., None), (None, ..., None, 0), (0, ..., slice(None, None, -2)),
    (slice(-100, 100), slice(2, 0, -1)), (slice(0, 0),), (slice(5, 9), 0), (slice(None), slice(1, 1), None), (),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_indexing_is_numpys(key):
    with nothing_computed():
        found = lazy(X)[key]
    assert found.shape == X[key].shape
    with by_interpreter():
        np.testing.assert_array_equal(np.asarray(found), X[key])
        np.testing.assert_array_equal(np.asarray((lazy(X) * 2)[key]), X[key] * 2)


@st.composite
def chains(draw):
    """An array's shape, and keys that index it one after another."""
    shape = draw(array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
    array, keys = np.zeros(shape), []
    for _ in range(draw(st.integers(1, 3))):
        keys.append(draw(basic_indices(array.shape, allow_newaxis=True, allow_ellipsis=True, max_dims=4)))
        array = array[keys[-1]]
    return shape, keys


@given(chains())
def test_views_of_views_are_numpys(chain):
    shape, keys = chain
    wanted = np.arange(math.prod(shape), dtype=float).reshape(shape)
    found = lazy(wanted) + 1
    for key in keys:
        found, wanted = found[key], wanted[key]
    assert found.shape == np.shape(wanted)
    with by_interpreter():
        np.testing.assert_array_equal(np.asarray(found), wanted + 1)


@given(chains())
def test_views_of_views_are_joined(chain):
    shape, keys = chain
    found = lazy(np.arange(math.prod(shape), dtype=float).reshape(shape)) + 1
    for key in keys:
        found = found[key]
    one = joined(found.node)
    assert one.op != "view" or one.args[0].op != "view"
    assert_same(interpreted((one,)), interpreted((found.node,)))


def test_a_compiled_view_reads_what_it_selects():
    found = lazy(X)[::-1, 1:, None, ::-2] * lazy(X)[0, 0, 0]
    np.testing.assert_array_equal(np.asarray(found + 1), X[::-1, 1:, None, ::-2] * X[0, 0, 0] + 1)


def test_a_view_is_no_copy():
    operations = [n.op for n in topological(((lazy(X)[1:, ::2].T.reshape(2, 4)).node,))]
    assert set(operations) <= {"leaf", "view", "reshape"}


@pytest.mark.usefixtures("execution")
def test_starts_are_arguments_of_the_program():
    x = np.arange(10.0)

    def middle(start, stop):
        return np.asarray(lazy(x)[start:stop] * 2)

    middle(1, 8)
    before = pipeline.compilations()
    for start, stop in ((2, 9), (5, 7), (4, 10), (1, 3)):
        np.testing.assert_array_equal(middle(start, stop), x[start:stop] * 2)
    assert pipeline.compilations() == before


@pytest.mark.parametrize(("key", "message"), [
    (2, "index 2 is out of range for axis 0 of length 2"),
    ((0, -4), "index -4 is out of range for axis 1 of length 3"),
    ((0, 0, 0, 0), "4 indices for an array of 3 axes"),
    ((..., 0, ...), "more than one"),
    (1.5, "not float"), ("a", "not str"),
    (True, "not bool"), (np.bool_(True), "not bool"), (X[0] > 3, "a mask of shape .* does not fit axis 0"),
])
def test_indices_that_are_none(key, message):
    with nothing_computed(), pytest.raises(IndexError, match=message):
        lazy(X)[key]


def test_a_lazy_index_is_refused():
    with nothing_computed(), pytest.raises(IndexError, match="booleans"):
        lazy(X)[lazy(X) > 0]


def test_a_lazy_array_cannot_be_assigned_to():
    with pytest.raises(TypeError, match="a lazy array does not change"):
        lazy(X)[0] = 1.0


VECTOR = np.array([0.7, -0.4, 1.3, 0.2, -1.1, 0.9])
VIEWS = {
    "neighbours": lambda y: y[1:] * y[:-1],
    "second differences": lambda y: (y[2:] - 2 * y[1:-1] + y[:-2]) ** 2,
    "reversed": lambda y: y[::-1] * np.exp(y),
    "every other": lambda y: y[::2] * y[1::2],
    "backwards in steps": lambda y: y[4::-2] * y[:3],
    "one element": lambda y: y[2] * y,
    "a slice of nothing": lambda y: y[3:3].sum() + y,
    "reshaped": lambda y: np.reshape(y, (2, 3)) * np.reshape(y, (3, 2)).T,
    "axes by an array": lambda y: np.transpose(np.reshape(y, (1, 2, 3)), np.array([2, 0, 1])) ** 2,
    "transposed product": lambda y: np.reshape(y, (2, 3)) @ np.reshape(y, (3, 2)),
    "outer product": lambda y: y[:, None] * y[None, ::-1],
    "spread": lambda y: np.broadcast_to(y, (3, 6)) * np.arange(18.0).reshape(3, 6) * y,
    "spread rows": lambda y: np.broadcast_to(np.reshape(y, (6, 1)), (6, 2)) * np.array([1.0, 3.0]),
    "view of an expression": lambda y: np.tanh(y * 2)[1:4] * y[3:0:-1],
    "view of a sum": lambda y: np.reshape(y, (2, 3)).sum(axis=1)[::-1] * np.reshape(y, (2, 3)).sum(axis=1),
    "moved axes": lambda y: np.moveaxis(np.reshape(y, (1, 2, 3)), 2, 0)[:, 0] * np.reshape(y, (3, 2)),
}


def finite_differences(function, x, step=1e-6):
    """The gradient of a scalar function of an array, by central differences."""
    result = np.empty(x.shape)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        result[index] = (function(up) - function(down)) / (2 * step)
    return result


@pytest.mark.parametrize("name", VIEWS)
def test_gradients_through_views(name):
    def weighed(y):
        found = VIEWS[name](y)
        return (found * np.arange(1.0, found.size + 1).reshape(found.shape)).sum()

    y = VECTOR.copy()
    with by_interpreter():
        value, grad = value_and_grad(weighed(lazy(y)), wrt=y)
    np.testing.assert_allclose(value, weighed(y), rtol=1e-12)
    np.testing.assert_allclose(grad, finite_differences(weighed, y), rtol=1e-6, atol=1e-7)


@pytest.mark.usefixtures("execution")
def test_a_compiled_gradient_through_views():
    def total(y):
        pairs = y[1:] * y[:-1] + y[-2::-1] * np.reshape(y, (2, 3))[1, 2]
        return (pairs * np.arange(1.0, 6.0)).sum() + (np.reshape(y, (2, 3)) * np.reshape(y, (3, 2)).T).sum()

    y = VECTOR.copy()
    value, grad = value_and_grad(total(lazy(y)), wrt=y)
    np.testing.assert_allclose(value, total(y), rtol=1e-12)
    np.testing.assert_allclose(grad, finite_differences(total, y), rtol=1e-6)
