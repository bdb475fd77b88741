"""NumPy's statistics, choices and searches on lazy arrays: values, dtypes and derivatives."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from interpreting import by_interpreter, nothing_computed
from numerical import differences

from vecdist import LazyArray, hessian, lazy, value_and_grad

DTYPES = ("f8", "f4", "i4", "u1", "?")
CHEAP = settings(max_examples=25)
SHAPES = array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)


def numbers(shape, dtype="f8", missing=False):
    """Numbers with ties; ``missing`` ones are NaN, a row of them among others."""
    x = np.arange(int(np.prod(shape, dtype=int))) * 7 % 11 % 6 - 2.0
    if missing and np.dtype(dtype).kind == "f":
        x[1::3] = np.nan
        x[: shape[-1]] = np.nan
    return (abs(x) if dtype == "u1" else x).astype(dtype).reshape(shape)


def quietly(function, *args, **keywords):
    """What NumPy computes, without its warnings."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **keywords)


def assert_numpys(call, *arrays, rtol=1e-13):
    """The value, the shape and the dtype are NumPy's, and so is the refusal of what it refuses."""
    try:
        wanted = np.asarray(quietly(call, *arrays))
    except (ValueError, TypeError) as error:
        with nothing_computed(), pytest.raises(type(error)):
            call(*map(lazy, arrays))
        return
    wanted = wanted.astype("f4") if wanted.dtype == "f2" else wanted
    with nothing_computed():
        found = call(*map(lazy, arrays))
    assert isinstance(found, LazyArray) and (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    rtol = max(rtol, 2e-6) if wanted.dtype == "f4" else rtol
    with by_interpreter():
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=rtol)


def axes_of(shape):
    several = [(0, -1)] if len(shape) > 1 else [(0,)]
    return st.sampled_from([None, *range(-len(shape), len(shape)), *several])


@settings(max_examples=15)
@given(SHAPES, st.sampled_from(DTYPES), st.booleans(), st.data())
def test_statistics(shape, dtype, keepdims, data):
    x, axis = numbers(shape, dtype), data.draw(axes_of(shape))
    for ddof in (0, 2.5, 5):
        assert_numpys(lambda x, ddof=ddof: np.var(x, axis, ddof=ddof, keepdims=keepdims), x)
        assert_numpys(lambda x, ddof=ddof: np.std(x, axis, ddof=ddof, keepdims=keepdims), x, rtol=1e-7)
    assert_numpys(lambda x: np.std(x, axis, correction=1), x, rtol=1e-7)
    assert_numpys(lambda x: np.ptp(x, axis, keepdims=keepdims), x)
    assert_numpys(lambda x: np.count_nonzero(x, axis, keepdims=keepdims), x)
    if x.size:  # where weights add up to 0, NumPy has an error, and this NaN
        assert_numpys(lambda x: np.average(x, axis, keepdims=keepdims), x)
        assert_numpys(lambda x: np.average(x, axis, weights=np.ones(shape, "f4"), keepdims=keepdims), x)
    if isinstance(axis, int) and x.size:
        weights = np.arange(1.0, shape[axis] + 1)
        assert_numpys(lambda x, w: np.average(x, axis, w), x, weights)
        assert_numpys(lambda x, w: np.average(x, axis, w, returned=True)[1], x, weights)


def test_statistics_in_another_dtype_and_of_weights_along_several_axes():
    x, weights = numbers((2, 3, 4)), np.arange(1.0, 7.0).reshape(3, 2)
    assert_numpys(lambda x: np.var(x, 1, "f4"), x)
    assert_numpys(lambda x: np.nanstd(x, 1, "f4"), x)
    assert_numpys(lambda x, w: np.average(x, (1, 0), w), x, weights)


NAN = ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nancumsum", "nancumprod")


@CHEAP
@given(array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4), st.sampled_from(DTYPES), st.booleans(), st.data())
def test_reductions_leave_nan_out(shape, dtype, keepdims, data):
    x, axis = numbers(shape, dtype, missing=True), data.draw(axes_of(shape))
    for name in NAN:
        if "cum" not in name:
            assert_numpys(lambda x, name=name: getattr(np, name)(x, axis, keepdims=keepdims), x, rtol=1e-7)
        elif not isinstance(axis, tuple):
            assert_numpys(lambda x, name=name: getattr(np, name)(x, axis), x)
    assert_numpys(lambda x: np.nanvar(x, axis, ddof=1), x)


def test_what_is_infinite_is_not_left_out():
    x = np.array([[1.0, np.inf, np.nan], [2.0, 3.0, np.nan], [-np.inf, np.nan, -np.inf]])
    for name in NAN:
        assert_numpys(lambda x, name=name: getattr(np, name)(x, 1), x)


@CHEAP
@given(SHAPES, st.sampled_from(DTYPES), st.booleans(), st.booleans(), st.data())
def test_the_place_of_extremes(shape, dtype, keepdims, missing, data):
    x, axis = numbers(shape, dtype, missing), data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    assert_numpys(lambda x: np.argmax(x, axis, keepdims=keepdims), x)
    assert_numpys(lambda x: np.argmin(x, axis, keepdims=keepdims), x)
    if x.size and axis is not None:
        places = np.argsort(numbers(shape), axis)[..., :2] if axis in {-1, len(shape) - 1} else np.argsort(x, axis)
        assert_numpys(lambda x, i: np.take_along_axis(x, i, axis), x, places)
        assert_numpys(lambda x, i: np.take_along_axis(x, i, axis), x, places - shape[axis])
        assert_numpys(lambda x: np.take_along_axis(x, np.expand_dims(np.argmax(x, axis), axis), axis), x)
    if x.size:
        assert_numpys(lambda x: np.take_along_axis(x, np.array([0, -1]), None), x)


def test_places_broadcast():
    x = numbers((2, 3, 4))
    assert_numpys(lambda x: np.take_along_axis(x, np.array([[[3, 0]]]), -1), x)
    assert_numpys(lambda x, i: np.take_along_axis(x[:1], i, 1), x, np.array([[[1]], [[2]]]))


@CHEAP
@given(st.integers(0, 9), st.sampled_from(["f8", "f4", "i4"]), st.sampled_from(["left", "right"]))
def test_searches(count, dtype, side):
    a = np.sort(numbers((count,), dtype, missing=count > 4))
    v = np.array([[-9.0, 0.0, 2.0], [np.nan, 9.0, 1.5]])
    assert_numpys(lambda a, v: np.searchsorted(a, v, side), a, v)
    assert_numpys(lambda a: np.searchsorted(a, 1, side), a)
    assert_numpys(lambda v: np.searchsorted(a, v, side), v)
    unsorted = numbers((count,), dtype)
    assert_numpys(lambda a, v: np.searchsorted(a, v, side, sorter=np.argsort(unsorted)), unsorted, v)


@pytest.mark.parametrize("ends", [{}, {"left": -1.0}, {"right": 7.5, "left": np.nan}])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_interpolation(count, ends):
    xp, fp = np.cumsum(1.0 + np.arange(count) % 3), np.cos(np.arange(count))
    x = np.concatenate([xp, xp + 0.3, xp - 0.2, [-np.inf, np.inf, np.nan]]).astype("f4").reshape(-1, 1)
    assert_numpys(lambda x, xp, fp: np.interp(x, xp, fp, **ends), x, xp, fp)
    assert_numpys(lambda x: np.interp(x, xp, fp, **ends), x[0, 0])


@pytest.mark.parametrize("call", [
    lambda x: np.select([x > 0, x < -1], [x, 2 * x]), lambda x: np.select([x > 0], [1], 2.5),
    lambda x: np.select([x > 0, [True, False, True]], [1, x.astype("f4")], 0),
    lambda x: np.select([x > 9], [x], np.nan),
    lambda x: np.select([x[:, :1] > 0, x > 0], [True, False], 2), lambda x: np.select([x > 0], [x, x]),
    lambda x: np.select([], []), lambda x: np.select([x], [x]),
])
def test_choices(call):
    assert_numpys(call, numbers((2, 3)))


@CHEAP
@given(st.lists(st.integers(0, 5), max_size=6), st.integers(0, 7), st.sampled_from(["f8", "f4", "i4"]))
def test_sums_of_groups(groups, least, dtype):
    x = np.array(groups, "u1")
    if groups:  # of none NumPy gives integers
        assert_numpys(lambda w: np.bincount(x, w, least), numbers(x.shape, dtype))
    else:
        assert np.bincount(x, lazy(numbers((0,), dtype)), least).shape == (least,)


GROUPS = np.array([0, 3, 3, 1])
X = np.array([[0.7, -0.4, 1.3, 0.1], [0.2, -1.1, 0.9, -2.0]])
W = np.array([0.3, 1.2, 0.8, 2.0])
M = np.where(np.eye(2, 4) > 0, np.nan, X)
KNOTS = np.array([-1.5, -0.5, 0.3, 1.0])
SMOOTH = {
    "variance": lambda x, w: np.var(x * w, 1, ddof=1), "deviation": lambda x, w: np.std(x * w, 0),
    "range": lambda x, w: np.ptp(x * w, 1) ** 2, "average": lambda x, w: np.average(x**2, 1, w),
    "sums": lambda x, w: np.nansum(M * x * w, 1) * np.nanmean(M * x, 1) + np.nanprod(M * w * x, 0)[:2],
    "deviations": lambda x, w: np.nanstd(M * x * w, 1) * np.nanvar(M * w, 1, ddof=1) * x[:, 0],
    "extremes": lambda x, w: np.nanmax(M * x * w, 1) * np.nanmin(M * x, 1) * w[0],
    "sums of groups": lambda x, w: np.bincount(GROUPS, x[0] * w) ** 2 * np.bincount(GROUPS, w, 4)[GROUPS],
    "covariance": lambda x, w: np.cov(x * w) + np.corrcoef(x, w)[:2, 1:],
    "stacks": lambda x, w: np.matmul(np.stack([x, x * w, x**2]), np.stack([x, x * w, x])[None].swapaxes(2, 3)),
    "tensors": lambda x, w: np.tensordot(np.stack([x, x * w]), np.outer(w, w), ([2], [0])) + np.kron(x, w[:2])[:, :4],
    "crossed": lambda x, w: np.cross(x[:, :3] * w[0], w[1:]) ** 2,
    "choice": lambda x, w: np.select([x > 1, x < 0], [x * w, x**2], w**3),
    "at places": lambda x, w: np.take_along_axis(x * w, np.argmax(x, 1)[:, None], 1) ** 2,
    "interpolation": lambda x, w: np.interp(x, np.cumsum(w) - 2.0, x[0] * w), "knots": lambda x, w: (
        np.interp(x, KNOTS, w, left=0.0) * x),
}


def weighed(name):
    def total(x, w):
        found = SMOOTH[name](x, w)
        return (found * np.cos(np.arange(1.0, found.size + 1)).reshape(found.shape)).sum()

    return total


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name):
    with by_interpreter():
        value, grads = value_and_grad(weighed(name)(lazy(X), lazy(W)), wrt=(X, W))
    np.testing.assert_allclose(value, weighed(name)(X, W), rtol=1e-12)
    for place, grad in enumerate(grads):
        np.testing.assert_allclose(grad, differences(weighed(name), place, X, W), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["deviation", "at places", "interpolation", "sums of groups"])
def test_generated_programs(uncompiled, name):
    check_program(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
def test_compiled_programs(name):
    check_program(name)


def check_program(name):
    value, grads = value_and_grad(weighed(name)(lazy(X), lazy(W)), wrt=(X, W))
    with by_interpreter():
        wanted, truths = value_and_grad(weighed(name)(lazy(X.copy()), lazy(W)), wrt=(W,))
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    np.testing.assert_allclose(grads[1], truths[0], rtol=1e-11)


def test_the_hessian_of_a_variance():
    x = np.array([0.2, -0.5, 0.7])
    with by_interpreter():
        found = hessian(np.var(lazy(x)), wrt=x)
    np.testing.assert_allclose(found, 2 / 3 * (np.eye(3) - 1 / 3), rtol=1e-12, atol=1e-15)


def test_derivatives_at_the_edges():
    """A deviation of equal numbers has the slope of ``abs`` at 0; what is left out has none."""
    x = np.array([2.0, 2.0, 2.0])
    with by_interpreter():
        assert value_and_grad(np.std(lazy(x)), wrt=x)[1].tolist() == [0.0, 0.0, 0.0]
        y = np.array([1.0, np.nan, 3.0])
        for function in (np.nansum, np.nanmean, np.nanvar, np.nanmax, np.nanprod):
            _, slopes = value_and_grad(function(lazy(y) ** 2), wrt=y)
            assert slopes[1] == 0.0 and np.isfinite(slopes).all()


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: np.average(x, weights=W), ValueError, r"weights of shape \(4,\) do not fit axis None of shape \(2, 4\)"),
    (lambda x: np.take_along_axis(x, np.zeros((3, 2), int), 1), ValueError,
     r"indices of shape \(3, 2\) along axis 1 do not fit an array of shape \(2, 4\)"),
    (lambda x: np.take_along_axis(x, np.array([0]), 1), ValueError, r"\(2, 4\) wants indices of as many axes.*\(1,\)"),
    (lambda x: np.take_along_axis(x, x, 1), IndexError, "dtype float64"),
    (lambda x: np.interp(x, KNOTS, W[:2]), ValueError, r"shapes \(4,\) and \(2,\)"),
    (lambda x: np.interp(x, KNOTS, W, period=3.0), TypeError, "period"),
    (lambda x: np.searchsorted(x, 1.0), ValueError, r"shape \(2, 4\)"),
    (lambda x: np.searchsorted(x[0], 1.0, "up"), ValueError, "'up'"),
    (lambda x: np.bincount(GROUPS, x[0, :2]), ValueError, r"shapes \(4,\) and \(2,\)"),
    (lambda x: np.bincount(GROUPS - 1, x[0]), ValueError, "from 0 on"),
    (lambda x: np.bincount(x[0] > 0, x[0]), TypeError, "no length yet"),
    (lambda x: np.select([x > 0], [np.ones(3)]), ValueError, r"shapes \(2, 4\) and \(3,\)"),
    (lambda x: np.var(x, out=np.ones(2)), TypeError, "out"),
])
def test_what_does_not_fit_is_told(call, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        call(lazy(X))
