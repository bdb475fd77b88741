"""NumPy's functions on lazy arrays, against NumPy's on arrays."""

import itertools

import numpy as np
import pytest
from interpreting import by_interpreter, nothing_computed

from vecdist import LazyArray, lazy
from vecdist.lazy.numpy_functions import FUNCTIONS

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 4))
ROW = RNG.normal(size=(1, 3, 1))
AXES = [None, 0, -1, np.int64(1), (), (0,), (0, 2), (-1, 0), (0, 1, 2), [1, 2]]


def assert_same(found, wanted):
    assert isinstance(found, LazyArray) and found.shape == wanted.shape and found.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6 if wanted.dtype == "f4" else 1e-13, atol=1e-14)


def numpy_axis(axis):
    return tuple(axis) if isinstance(axis, list) else axis


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES, ids=repr)
def test_sums_and_means(axis, keepdims):
    with by_interpreter():
        for dtype, function in itertools.product(("f8", "f4", "i4", "u2", "?"), (np.sum, np.mean)):
            x = (X * 3).astype(dtype)
            wanted = np.asarray(function(x, axis=numpy_axis(axis), keepdims=keepdims))
            wanted = wanted.astype("f8") if wanted.dtype == "f2" else wanted
            assert_same(function(lazy(x), axis=axis, keepdims=keepdims), wanted)
            assert_same(getattr(lazy(x), function.__name__)(axis, keepdims=keepdims), wanted)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_sums_and_means_in_another_dtype(dtype):
    x = np.array([[1.0, 2.0], [4.0, 5.0]])
    with by_interpreter():
        assert_same(np.sum(lazy(x), axis=0, dtype=dtype), np.sum(x, axis=0, dtype=dtype))
        assert_same(lazy(x).sum(dtype=dtype), np.asarray(x.sum(dtype=dtype)))
        if dtype != "i8":
            assert_same(np.mean(lazy(x), 1, dtype), np.mean(x, 1, dtype))


def test_sums_of_integers_wrap_as_in_numpy():
    small, big = np.array([100, 100], "i1"), np.array([2**64 - 1, 5], "u8")
    with by_interpreter():
        assert_same(lazy(small).sum(), np.asarray(small.sum()))
        assert_same(lazy(big).sum(), np.asarray(big.sum()))


def test_add_reduce_is_the_sum_over_the_first_axis():
    with by_interpreter():
        assert_same(np.add.reduce(lazy(X)), np.add.reduce(X))
        assert_same(np.add.reduce(lazy(X), axis=(0, 1), keepdims=True), np.add.reduce(X, axis=(0, 1), keepdims=True))


@pytest.mark.usefixtures("execution")
def test_compiled_sums_over_each_axis():
    assert_same(lazy(X).sum(axis=(0, 2)) + lazy(X).mean(axis=(0, 2)), X.sum(axis=(0, 2)) + X.mean(axis=(0, 2)))
    assert_same(lazy(X).mean(axis=1, keepdims=True), X.mean(axis=1, keepdims=True))


@pytest.mark.parametrize("call", [
    lambda x: np.where(x > 0, x, 0), lambda x: np.where(x > 0, 1, 2.5), lambda x: np.where(X > 0, x, -1),
    lambda x: np.where(x, x, ROW), lambda x: np.where(ROW > 0, X, x), lambda x: np.where(x > 0, True, False),
    lambda x: np.where([True, False, True, False], x, X.astype("f4")),
    lambda x: np.clip(x, -0.5, 0.5), lambda x: np.clip(x, None, 0.5), lambda x: np.clip(x, ROW, None),
    lambda x: np.transpose(x), lambda x: np.transpose(x, (1, 0, 2)), lambda x: np.transpose(x, axes=[-1, 0, 1]),
    lambda x: np.reshape(x, (6, 4)), lambda x: np.reshape(x, -1), lambda x: np.reshape(x, (4, -1)),
    lambda x: np.ravel(x), lambda x: np.broadcast_to(x, (5, 2, 3, 4)),
    lambda x: np.broadcast_to(x[:, :1, 0], (2, 3)), lambda x: np.broadcast_to(x[0, 0, 0], 3),
    lambda x: np.expand_dims(x, 0), lambda x: np.expand_dims(x, (0, -1, np.int64(2))),
    lambda x: np.squeeze(x[:, :1, :1]), lambda x: np.squeeze(x[:, :1, :1], axis=-1),
    lambda x: np.squeeze(x[:1], axis=(0,)), lambda x: np.squeeze(x),
    lambda x: np.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, (0, 1), (2, 0)), lambda x: np.swapaxes(x, 0, -1),
    lambda x: np.zeros_like(x), lambda x: np.ones_like(x, dtype="i4"), lambda x: np.ones_like(x) * x,
    lambda x: x.T, lambda x: x.transpose(2, 0, 1), lambda x: x.transpose((2, 0, 1)), lambda x: x.transpose(None),
    np.round, np.around, lambda x: np.round(x * 9, 2), lambda x: np.round(x * 900, decimals=-2), np.fix,
    lambda x: np.round((x * 900).astype("i4"), -1), lambda x: np.round((x * 90).astype("i4"), 1),
    lambda x: np.nan_to_num(np.where(x > 1, np.nan, np.where(x > 0, np.inf, x))),
    lambda x: np.nan_to_num(np.where(x > 0.5, np.inf, np.where(x < 0, -np.inf, x)).astype("f4"), posinf=3, neginf=-x),
    np.isposinf, np.isneginf,
    lambda x: np.isclose(x, X + 1e-9), lambda x: np.isclose(x, X * np.array([1.0, 1 + 1e-6, np.nan, np.inf])),
    lambda x: np.isclose(np.where(x > 0, np.nan, x), np.where(X > 0, np.nan, X), equal_nan=True),
    lambda x: np.full_like(x, 2.5), lambda x: np.full_like(x, x[0, 0, 0], dtype="f4"), lambda x: np.empty_like(x) * 0,
    lambda x: np.broadcast_arrays(x, ROW)[1], lambda x: np.broadcast_arrays(x[0, 0], ROW)[0], np.matrix_transpose,
    lambda x: np.cumulative_sum(x, axis=1), lambda x: np.cumulative_prod(x, axis=-2, include_initial=True),
    lambda x: np.cumulative_sum(x[0, 0], include_initial=True), lambda x: np.trapezoid(x, axis=0, dx=0.5),
    lambda x: np.trapezoid(x, X[0, 0]), lambda x: np.trapezoid(x, x * 2, axis=1), lambda x: np.vdot(x, X),
    lambda x: x.argmax(1), lambda x: x.argmin(-1, keepdims=True), lambda x: x.clip(-0.5, ROW), lambda x: x.clip(max=0),
    lambda x: x.conj(), lambda x: x.conjugate(), lambda x: x.copy(), lambda x: x.diagonal(1, 1, 2),
    lambda x: x.flatten(), lambda x: abs(x).cumsum(2)[0, 0].searchsorted([0.0, 1.0]),
    lambda x: x.repeat(2, 1), lambda x: x.repeat([0, 2], 0), lambda x: x.round(1), lambda x: x.round(),
    lambda x: x[:1].squeeze(),
    lambda x: x[:1, :, :1].squeeze((0, -1)), lambda x: x.std(1, ddof=1), lambda x: x.var((0, 2), keepdims=True),
    lambda x: x.swapaxes(0, -1), lambda x: x.trace(1, 2, 1), lambda x: x.var(dtype="f4"), lambda x: x.cumsum(1),
    lambda x: x.cumprod(0), lambda x: x.prod(1), lambda x: x.any(0), lambda x: x.all(), lambda x: x.take([1, 0], 2),
    lambda x: x[0].dot(X[0, 0]),
    lambda x: np.tensordot(x, X[0]), lambda x: np.tensordot(x, X, ((0, 2), (0, 2))), lambda x: np.dot(2.5, x),
    lambda x: np.tensordot(x, X, 0), lambda x: np.tensordot(x, x, (1, [1])), lambda x: np.kron(x, X[0, :2]),
    lambda x: np.kron(x[0, 0], X[0, :2]), lambda x: np.cross(x[..., 1:], X[0, 0, :3]),
    lambda x: np.cross(x, X[::-1], axis=1),
    lambda x: np.cross(x[0, 0, 1:], x[1, 0, 1:]), lambda x: np.cross(x[:, :, 0], x[:, :, 1].T, axisb=0, axisc=0),
    lambda x: np.cov(x[0]), lambda x: np.cov(x[0], x[1, 0], bias=True), lambda x: np.cov(x[0], rowvar=False, ddof=0),
    lambda x: np.cov(x[0, 0]), lambda x: np.corrcoef(x[0]), lambda x: np.corrcoef(x[0, 0], X[0, 1]),
    lambda x: np.corrcoef(x[0, 0]), lambda x: np.cov(x[0].astype("f4"), dtype="f4"),
    lambda x: x.reshape(3, -1), lambda x: x.reshape((2, 1, 12)), lambda x: x.ravel(), lambda x: x.astype("i4"),
])
def test_functions_and_methods(call):
    wanted = call(X)
    with nothing_computed():
        found = call(lazy(X))
    with by_interpreter():
        assert_same(found, np.asarray(wanted))


@pytest.mark.parametrize(
    ("left", "right"), [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((0,), (0,)), ((4, 2, 3), (3,)),
        ((2, 3), (4, 3, 5)), ((4, 1, 2, 3), (5, 3, 2)), ((3,), (4, 3, 2)), ((4, 2, 3), (3, 5)),
    ]
)
def test_matrix_products(left, right):
    a, b = RNG.normal(size=left), RNG.normal(size=right)
    with by_interpreter():
        for found in (lazy(a) @ b, a @ lazy(b), np.matmul(a, lazy(b))):
            assert_same(found, np.asarray(a @ b))
        for found in (np.dot(lazy(a), b), lazy(a).dot(b)):
            assert_same(found, np.asarray(np.dot(a, b)))
    integers = (lazy(np.array([1, 2], "i4")) @ np.array([3, 4], "i4"), lazy(np.ones(2, "f4")) @ np.ones(2, "f4"))
    assert [found.dtype for found in integers] == [np.int32, np.float32]


def test_a_range_is_a_method_though_numpys_arrays_have_none():
    with by_interpreter():
        assert_same(lazy(X).ptp(1, keepdims=True), np.ptp(X, 1, keepdims=True))


def test_functions_that_answer_at_once():
    x = lazy(X)
    assert np.allclose(x, X) and np.allclose(X, x) and np.array_equal(x, X) and not np.array_equal(x, X + 1)


@pytest.mark.parametrize("call", [
    np.linalg.eig, np.unique, np.nonzero, np.roots, np.linalg.eigvals,
])
def test_functions_without_a_lazy_form_say_how_to_go_on(call):
    message = r"np\.[a-z.]+ has no lazy form.*; use np\.[a-z.]+\(np\.asarray"
    with nothing_computed(), pytest.raises(TypeError, match=message):
        call(lazy(X))


def test_the_error_names_the_function_where_it_lives():
    with pytest.raises(TypeError, match=r"np\.linalg\.eig has no lazy form"):
        np.linalg.eig(lazy(X))


@pytest.mark.parametrize("call", [
    lambda x: np.sum(x, initial=3), lambda x: np.sum(x, where=X > 0), lambda x: np.sum(x, out=np.zeros(())),
    lambda x: np.mean(x, where=X > 0), lambda x: np.reshape(x, (6, 4), order="F"),
    lambda x: np.add.reduce(x, initial=1), lambda x: np.broadcast_to(x, X.shape, subok=True),
])
def test_arguments_without_a_lazy_form_are_named(call):
    with pytest.raises(TypeError, match=r"np\.[\w.]+ of a lazy array: got an unexpected .* '\w+'; it takes a"):
        call(lazy(X))


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: x.sum(axis=3), ValueError, "axis 3 is out of bounds"),
    (lambda x: x.sum(axis=(0, 0)), ValueError, "repeated axis"),
    (lambda x: x.sum(axis=1.5), TypeError, "float"),
    (lambda x: x.mean(axis=-4), ValueError, "axis -4 is out of bounds"),
    (lambda x: x.sum(dtype=complex), TypeError, "complex128"),
    (lambda x: x.astype("f2"), TypeError, "float16"),
    (lambda x: x.reshape(5, 5), ValueError, r"shape \(2, 3, 4\) cannot be reshaped to \(5, 5\)"),
    (lambda x: x.reshape(-1, -1), ValueError, "cannot be reshaped"),
    (lambda x: x.reshape(-1, 5), ValueError, "cannot be reshaped"),
    (lambda x: x.reshape(-2, -12), ValueError, "cannot be reshaped"),
    (lambda x: x.transpose(0, 1), ValueError, "no permutation of the 3 axes"),
    (lambda x: x.transpose(0, 1, 3), ValueError, "axis 3 is out of bounds"),
    (lambda x: x.transpose(0, 1, 1), ValueError, "repeated axis"),
    (lambda x: np.broadcast_to(x, (3, 4)), ValueError, r"shape \(2, 3, 4\) does not broadcast to \(3, 4\)"),
    (lambda x: np.broadcast_to(x, (2, 3, 5)), ValueError, "does not broadcast"),
    (lambda x: np.expand_dims(x, 5), ValueError, "axis 5 is out of bounds"),
    (lambda x: np.squeeze(x, axis=0), ValueError, r"axis 0 of an array of shape \(2, 3, 4\) has a length other than 1"),
    (lambda x: np.squeeze(x, axis=3), ValueError, "axis 3 is out of bounds"),
    (lambda x: np.moveaxis(x, 3, 0), ValueError, "axis 3 is out of bounds"),
    (lambda x: np.moveaxis(x, (0, 1), 0), ValueError, "moves 2 axes to 1 places"),
    (lambda x: np.swapaxes(x, 0, 3), ValueError, "axis 3 is out of bounds"),
    (lambda x: np.where(x > 0), TypeError, "three arguments"),
    (lambda x: x @ np.ones((3, 3)), ValueError, r"shapes \(2, 3, 4\) and \(3, 3\)"),
    (lambda x: x[0] @ np.ones(3), ValueError, r"inner lengths differ.*\(3, 4\) and \(3,\)"),
    (lambda x: x @ 2.0, ValueError, "1 axis or more"),
])
def test_wrong_arguments(call, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        call(lazy(X))


def test_every_function_is_numpys():
    assert all(callable(getattr(np, name)) for name in FUNCTIONS)
