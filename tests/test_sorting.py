"""NumPy's sorting, medians and quantiles on lazy arrays: values, dtypes and derivatives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from interpreting import by_interpreter, nothing_computed
from numerical import differences
from test_statistics import assert_numpys, axes_of, numbers

import vecdist
from vecdist import hvp, lazy, value_and_grad

CHEAP = settings(max_examples=25)
DTYPES = ("f8", "f4", "i4", "u1", "?")
SHAPES = array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)
METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)


@CHEAP
@given(SHAPES, st.sampled_from(DTYPES), st.booleans(), st.data())
def test_elements_in_order(shape, dtype, missing, data):
    x, axis = numbers(shape, dtype, missing), data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    assert_numpys(lambda x: np.sort(x, axis), x)
    assert_numpys(lambda x: np.argsort(x, axis, stable=True), x)
    assert_numpys(lambda x: x.argsort(axis, stable=True), x)
    if axis is not None:
        assert_numpys(lambda x: np.lexsort((x[::-1], x > 0, x), axis), x)
    count = x.size if axis is None else shape[axis]
    for place in range(-count, count):
        with by_interpreter():
            found = np.asarray(np.partition(lazy(x), [place, 0], axis))
            places = np.asarray(lazy(x).argpartition(place, axis))
        wanted = np.sort(x, axis)
        np.testing.assert_array_equal(np.take(found, place, axis or 0), np.take(wanted, place, axis or 0))
        flat = x if axis is not None else x.ravel()
        np.testing.assert_array_equal(np.take_along_axis(flat, places, axis or 0), wanted)


@CHEAP
@given(SHAPES, st.sampled_from(DTYPES), st.booleans(), st.booleans(), st.data())
def test_medians(shape, dtype, missing, keepdims, data):
    x, axis = numbers(shape, dtype, missing), data.draw(axes_of(shape))
    if not x.size and isinstance(axis, tuple):  # which NumPy cannot make one axis of
        return
    assert_numpys(lambda x: np.median(x, axis, keepdims=keepdims), x)
    assert_numpys(lambda x: np.nanmedian(x, axis, keepdims=keepdims), x)


SHARES = st.sampled_from([0.0, 0.3, 1, [0.5], [0.25, 0.1, 1.0], [0, 1], [[0.2, 0.6], [0.5, 0.9]]])


@settings(max_examples=40)
@given(array_shapes(max_dims=3, max_side=6), st.sampled_from(DTYPES), st.sampled_from(METHODS), st.booleans(), SHARES,
       st.data())
def test_quantiles(shape, dtype, method, missing, q, data):
    x, axis, keepdims = numbers(shape, dtype, missing), data.draw(axes_of(shape)), data.draw(st.booleans())
    q = q if method == "linear" else np.multiply(1.0, q).tolist()  # of integers NumPy's other methods make integers
    # NumPy has the quantiles of NaN alone in the dtype of the array, others in that of the shares
    q = np.asarray(q, "f4") if dtype == "f4" and not np.isscalar(q) else q
    how = {"axis": axis, "method": method, "keepdims": keepdims}
    assert_numpys(lambda x: np.quantile(x, q, **how), x)
    percents = 100 * q if np.isscalar(q) else np.multiply(100, q)
    assert_numpys(lambda x: np.percentile(x, percents, **how), x)
    if np.ndim(q) < 2:  # of more NumPy puts the first axis alone in front
        assert_numpys(lambda x: np.nanquantile(x, q, **how), x)
        assert_numpys(lambda x: np.nanpercentile(x, percents, **how), x)
    if method == "inverted_cdf":
        weights = np.arange(x.size).reshape(shape) % 4
        if (weights.sum(axis) > 0).all():
            assert_numpys(lambda x, w: np.quantile(x, q, weights=w, **how), x, weights)


def test_shares_of_another_precision_and_weights_of_an_axis():
    x, weights = numbers((3, 4), "f4"), np.array([0.0, 2.0, 0.5, 1.0])
    assert_numpys(lambda x: np.quantile(x, [0.3, 0.8], 1), x)
    assert_numpys(lambda x: np.percentile(x, np.float32(70.0), 0), x)
    assert_numpys(lambda x, w: np.nanquantile(x, [0.0, 0.3, 1.0], 1, method="inverted_cdf", weights=w), x,
                  np.stack([weights] * 3))
    assert_numpys(lambda x, w: np.quantile(x, 0.4, 1, method="inverted_cdf", weights=w), x, weights)
    assert_numpys(lambda x: np.nanmedian(x), np.ones((2, 0)))
    assert_numpys(lambda x: np.median(x, 1), np.ones((2, 0), "i4"))
    with by_interpreter():
        lazily = np.quantile(lazy(x), lazy(np.array([0.25, -0.1, 1.5, 1.0])), 0)
        np.testing.assert_allclose(lazily[[0, 3]], np.quantile(x, [0.25, 1.0], 0), rtol=1e-6)
        assert np.isnan(lazily[1:3]).all()


X = np.array([[0.7, -0.4, 1.3, 0.1, 0.45], [0.2, -1.1, 0.9, -2.0, 0.3]])
W = np.array([0.35, 1.2, 0.8, 2.0, 0.6])
M = np.where(np.eye(2, 5) > 0, np.nan, X)
SMOOTH = {
    "sort": lambda x, w: np.sort(x * w, 1) * w, "columns": lambda x, w: np.sort(x**2 * w, 0),
    "all": lambda x, w: np.sort(np.append(x, w), None) ** 2, "partition": lambda x, w: np.partition(x * w, 2, 1)[:, 2],
    "by another": lambda x, w: np.take_along_axis(x, np.argsort(x * w, 1), 1) * w,
    "medians": lambda x, w: np.median(x * w, 0) * np.nanmedian(M * x, 0),
    "quantiles": lambda x, w: np.quantile(x * w, [0.2, 0.65], 1), "shares": lambda x, w: np.quantile(x, w / 2.5) ** 2,
    "hazen": lambda x, w: np.percentile(x * w, 30.0, (0, 1), method="hazen") * w,
    "without nan": lambda x, w: np.nanquantile(M * x * w, [0.15, 0.7], 1, method="weibull"),
    "weighed": lambda x, w: np.quantile(x**2, 0.45, 1, method="inverted_cdf", weights=W) * w[0],
}


def weighed(name):
    def total(x, w):
        found = np.sin(SMOOTH[name](x, w))
        return (found * np.cos(np.arange(1.0, found.size + 1)).reshape(found.shape)).sum()

    return total


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_go_with_the_elements(name):
    """Those of first order by differences of NumPy, those along directions and of second order by differences."""
    directions = np.cos(np.arange(10.0)).reshape(2, 5), np.sin(np.arange(5.0) + 1)

    def slopes(x, w):
        return value_and_grad(weighed(name)(lazy(x), lazy(w)), wrt=(x, w))

    with by_interpreter():
        value, grads = slopes(X, W)
        ahead, behind = (slopes(X + h * directions[0], W + h * directions[1])[1] for h in (1e-5, -1e-5))
        seconds = hvp(weighed(name)(x := lazy(X), w := lazy(W)), (x, w), directions)
        along = vecdist.jvp(weighed(name)(x, w), (x, w), directions)[1]
    np.testing.assert_allclose(value, weighed(name)(X, W), rtol=1e-12)
    for place, grad in enumerate(grads):
        np.testing.assert_allclose(grad, differences(weighed(name), place, X, W), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(seconds[place], (ahead[place] - behind[place]) / 2e-5, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(along, sum((d * g).sum() for d, g in zip(directions, grads, strict=True)), rtol=1e-9)


@pytest.mark.parametrize("name", ["sort", "quantiles"])
def test_generated_programs(uncompiled, name):
    check_program(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
def test_compiled_programs(name):
    check_program(name)


def check_program(name):
    value, grads = value_and_grad(weighed(name)(lazy(X), lazy(W)), wrt=(X, W))
    with by_interpreter():
        wanted, truths = value_and_grad(weighed(name)(lazy(x := X.copy()), lazy(w := W.copy())), wrt=(x, w))
    np.testing.assert_allclose(value, wanted, rtol=1e-12)
    for grad, truth in zip(grads, truths, strict=True):
        np.testing.assert_allclose(grad, truth, rtol=1e-11, atol=1e-14)


def test_a_compiled_function_of_chains_and_of_other_lengths():
    """One program: how many elements there are is read from the arrays."""
    function = vecdist.compile(lambda x: (np.median(x) + np.quantile(x, 0.3)) * np.sort(x)[0], in_axes=(0,))
    for many in (X, X[:, :4], np.ones((3, 2))):
        values, (slopes,) = function.value_and_grad(many)
        for row, value, slope in zip(many, values, slopes, strict=True):
            with by_interpreter():
                wanted, grad = value_and_grad((np.median(y := lazy(row)) + np.quantile(y, 0.3)) * np.sort(y)[0], y)
            assert value == pytest.approx((np.median(row) + np.quantile(row, 0.3)) * np.sort(row)[0], rel=1e-13)
            assert value == pytest.approx(wanted, rel=1e-13)
            np.testing.assert_allclose(slope, grad, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: np.sort(x, 2), ValueError, "axis 2 is out of bounds"),
    (lambda x: np.sort(x[0, 0]), ValueError, "out of bounds"),
    (lambda x: np.sort(x, kind="slow"), ValueError, "np.sort has the kinds .*'slow'"),
    (lambda x: np.sort(x, order="a"), TypeError, "np.sort of a lazy array.*order"),
    (lambda x: np.partition(x, 5), ValueError, r"np.partition: a place of 5 is out of bounds of 5 elements"),
    (lambda x: np.argpartition(x, 0.5), TypeError, "np.argpartition wants whole numbers"),
    (lambda x: np.lexsort((x, x[0])), ValueError, r"keys of one shape, given \(2, 5\), \(5,\)"),
    (lambda x: np.median(x, 2), ValueError, "axis 2 is out of bounds"),
    (lambda x: np.quantile(x, 1.5), ValueError, r"np.quantile wants shares in the range \[0, 1\]"),
    (lambda x: np.percentile(x, [50, np.nan]), ValueError, r"np.percentile wants shares in the range \[0, 100\]"),
    (lambda x: np.quantile(x, 0.5, method="best"), ValueError, "np.quantile has the methods .*'best'"),
    (lambda x: np.quantile(x, 0.5, weights=np.ones(5), axis=1), ValueError, "weights by the method inverted_cdf"),
    (lambda x: np.quantile(x[:, :0], 0.5, 1), IndexError, r"axis 1 of an array of shape \(2, 0\)"),
    (lambda x: np.quantile(x > 0, 0.5), TypeError, "subtract"),
])
def test_what_does_not_fit_is_told(call, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        call(lazy(X))
