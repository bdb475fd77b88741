"""Windows, convolutions, filters and layers beside NumPy, SciPy and sums written out; derivatives by differences."""

import itertools

import numpy as np
import pytest
import scipy.signal
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from interpreting import by_interpreter, nothing_computed
from numerical import differences

import vecdist
from vecdist import LazyArray, hessian, lazy, signal, value_and_grad

MODES = ("full", "same", "valid")
DTYPES = ("f8", "f4", "i8", "i4")
CHEAP = settings(max_examples=40, deadline=None)
rng = np.random.default_rng(41)


def whole(shape, dtype="f8"):
    """Whole numbers: sums of their products have no rounding, whatever the order."""
    return rng.integers(-5, 6, shape).astype(dtype)


@CHEAP
@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from(MODES), st.sampled_from(DTYPES), st.sampled_from(DTYPES))
def test_numpys_convolutions(n, m, mode, first, second):
    a, v = whole(n, first), whole(m, second)
    for function in (np.convolve, np.correlate):
        with nothing_computed():
            found = function(lazy(a), lazy(v), mode)
        wanted = function(a, v, mode)
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        with by_interpreter():
            np.testing.assert_array_equal(np.asarray(found), wanted)


SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=3)


@CHEAP
@given(SHAPES, st.data(), st.sampled_from(MODES), st.sampled_from(["direct", "fft", "auto"]))
def test_scipys_convolutions_of_any_number_of_axes(shape, data, mode, method):
    other = [data.draw(st.integers(1, 5)) for _ in shape]
    a, b = whole(shape), whole(other)
    fits = [n >= m for n, m in zip(shape, other, strict=True)]
    assume(mode != "valid" or all(fits) or all(n <= m for n, m in zip(shape, other, strict=True)))
    with by_interpreter():
        for name in ("convolve", "correlate"):
            wanted = getattr(scipy.signal, name)(a, b, mode, method="direct")
            found = np.asarray(getattr(signal, name)(lazy(a), lazy(b), mode, method))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=0 if method == "direct" else 1e-12)
        np.testing.assert_allclose(
            np.asarray(signal.fftconvolve(lazy(a), lazy(b), mode)), scipy.signal.fftconvolve(a, b, mode), atol=1e-12
        )


@CHEAP
@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.data())
def test_sliding_window_view(shape, data):
    x = whole(shape)
    axes = data.draw(st.lists(st.integers(-len(shape), len(shape) - 1), min_size=1, max_size=2))
    widths = [data.draw(st.integers(1, shape[axis])) for axis in axes]
    view = np.lib.stride_tricks.sliding_window_view
    try:
        wanted = view(x, widths, axes)
    except ValueError:
        with pytest.raises(ValueError, match="do not fit"):
            view(lazy(x), widths, axes)
        return
    with by_interpreter():
        np.testing.assert_array_equal(np.asarray(view(lazy(x), widths, axes)), wanted)


def by_loops(x, w, stride, padding, dilation, groups):
    """A layer by its definition, element by element."""
    before, behind = np.broadcast_to(np.transpose(np.atleast_1d(padding)), (2, x.ndim - 2)) if np.ndim(padding) < 2 \
        else np.transpose(padding)
    around = np.pad(x, [(0, 0), (0, 0), *zip(before, behind, strict=True)])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, w.shape[2:], strict=True)]
    counts = [(n - r) // s + 1 for n, r, s in zip(around.shape[2:], reach, stride, strict=True)]
    result, each = np.zeros((x.shape[0], w.shape[0], *counts)), w.shape[0] // groups
    for place in np.ndindex(*result.shape):
        n, o, *k = place
        for j in np.ndindex(*w.shape[1:]):
            at = [s * a + d * b for s, a, d, b in zip(stride, k, dilation, j[1:], strict=True)]
            result[place] += around[(n, (o // each) * w.shape[1] + j[0], *at)] * w[(o, *j)]
    return result


@st.composite
def layers(draw):
    count = draw(st.integers(1, 2))
    numbers = lambda low, high: tuple(draw(st.integers(low, high)) for _ in range(count))  # noqa: E731
    groups, inputs, each = draw(st.integers(1, 2)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    widths, stride, dilation, padding = numbers(1, 3), numbers(1, 3), numbers(1, 2), numbers(0, 2)
    least = [max(1, d * (k - 1) + 1 - 2 * p) for d, k, p in zip(dilation, widths, padding, strict=True)]
    lengths = tuple(draw(st.integers(low, low + 3)) for low in least)
    x, w = (draw(st.integers(1, 2)), groups * inputs, *lengths), (groups * each, inputs, *widths)
    return x, w, {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}


@CHEAP
@given(layers())
def test_layers_by_their_definition(case):
    shape, filters, given = case
    x, w = whole(shape), whole(filters)
    with by_interpreter():
        found = np.asarray(signal.conv(lazy(x), lazy(w), **given))
        np.testing.assert_array_equal(found, by_loops(x, w, **given))


@CHEAP
@given(layers())
def test_gradients_of_layers(case):
    shape, filters, given = case
    x, w = whole(shape), whole(filters)
    c = whole(by_loops(x, w, **given).shape)
    function = lambda x, w: (by_loops(x, w, **given) * c).sum()  # noqa: E731
    with by_interpreter():
        leaves = lazy(x), lazy(w)
        _, found = value_and_grad((signal.conv(*leaves, **given) * c).sum(), leaves)
    for place in range(2):  # which is linear in each, so that a large step has no error
        np.testing.assert_allclose(found[place], differences(function, place, x, w, step=1.0), rtol=0, atol=1e-9)


COMPILED = {
    "overlapping": ((2, 4, 9), (6, 2, 3), {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}),
    "plane": ((2, 3, 8, 7), (4, 3, 3, 2), {"padding": (1, 0)}),
    "apart": ((1, 2, 12), (2, 2, 2), {"stride": 4}),
    "one place": ((3, 2, 5), (2, 2, 5), {}),
    "one weight": ((2, 2, 6), (3, 2, 1), {"stride": 3}),
    "space": ((1, 2, 4, 5, 3), (2, 2, 2, 2, 2), {"stride": (1, 2, 1)}),
}


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("case", COMPILED)
def test_compiled_values_and_gradients(case, dtype):
    shape, filters, given = COMPILED[case]
    x, w = rng.normal(size=shape).astype(dtype), rng.normal(size=filters).astype(dtype)

    def model(x, w):
        return (signal.conv(x, w, **given) ** 2).sum()

    value, slopes = vecdist.compile(model).value_and_grad(x, w)
    with by_interpreter():
        leaves = lazy(x.astype("f8")), lazy(w.astype("f8"))
        wanted, truth = value_and_grad(model(*leaves), leaves)
    rtol = 1e-12 if dtype == "f8" else 2e-5
    np.testing.assert_allclose(value, wanted, rtol=rtol)
    for mine, other in zip(slopes, truth, strict=True):
        np.testing.assert_allclose(mine, other, rtol=rtol, atol=rtol * abs(other).max())


def test_second_derivatives_and_chains():
    x, w = rng.normal(size=7), rng.normal(size=3)

    def model(x, w):
        return np.tanh(np.convolve(x, w)).sum() + (np.correlate(x, w, "same") ** 2).sum()

    leaf = lazy(w)
    found = hessian(model(x, leaf), leaf)

    def slope(v, place):
        inner = lazy(v)
        return value_and_grad(model(x, inner), inner)[1][place]

    truth = [differences(lambda v, place=place: slope(v, place), 0, w, step=1e-5) for place in range(3)]
    np.testing.assert_allclose(found, truth, rtol=1e-6, atol=1e-6)
    many = rng.normal(size=(4, 3))
    values, (slopes,) = vecdist.compile(model, in_axes=(None, 0)).value_and_grad(x, many, wrt=(1,))
    for row in range(4):
        one = lazy(many[row])
        value, own = value_and_grad(model(x, one), one)
        np.testing.assert_allclose(values[row], value, rtol=1e-12)
        np.testing.assert_allclose(slopes[row], own, rtol=1e-10)


def test_a_long_convolution_is_one_kernel():
    x, w = rng.normal(size=5000), rng.normal(size=65)
    series = lazy(x)
    expression = (np.convolve(series, w, "valid") ** 2).sum()
    assert len(vecdist.explain(expression, wrt=series).kernels) == 1
    value, slope = value_and_grad(expression, series)
    y = np.convolve(x, w, "valid")
    np.testing.assert_allclose(value, y @ y, rtol=1e-12)
    np.testing.assert_allclose(slope, 2 * np.correlate(y, w, "full"), rtol=1e-10, atol=1e-10)


@CHEAP
@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 6), st.booleans(), st.integers(0, 1))
def test_filters(over, under, length, begun, axis):
    b, a = whole(over), whole(under)
    a[0] = 2.0
    x = whole((length, 2) if axis == 0 else (2, length))
    order = max(over, under) - 1
    state = whole((order, 2) if axis == 0 else (2, order)) if begun and order else None
    with by_interpreter():
        found = signal.lfilter(lazy(b), lazy(a), lazy(x), axis, state)
    wanted = scipy.signal.lfilter(b, a, x, axis, state)
    pairs = zip(found, wanted, strict=True) if state is not None else [(found, wanted)]
    with by_interpreter():
        for mine, other in pairs:
            np.testing.assert_allclose(np.asarray(mine), other, rtol=1e-12, atol=1e-9)


def test_gradients_of_a_filter():
    b, a, x = rng.normal(size=3), np.array([1.0, -0.5, 0.2]), rng.normal(size=12)
    leaves = [lazy(each) for each in (b, a, x)]
    value, found = value_and_grad((signal.lfilter(*leaves) ** 2).sum(), leaves)
    function = lambda b, a, x: (scipy.signal.lfilter(b, a, x) ** 2).sum()  # noqa: E731
    np.testing.assert_allclose(value, function(b, a, x), rtol=1e-12)
    for place, slope in enumerate(found):
        np.testing.assert_allclose(slope, differences(function, place, b, a, x), rtol=1e-6, atol=1e-6)


def test_what_does_not_fit_is_refused():
    x, w = lazy(np.ones((1, 2, 5))), lazy(np.ones((2, 2, 3)))
    for call, told in (
        (lambda: np.convolve(lazy(np.ones((2, 2))), w), r"\(2, 2\)"),
        (lambda: np.convolve(lazy(np.ones(0)), np.ones(2)), r"\(0,\) and \(2,\)"),
        (lambda: np.convolve(lazy(np.ones(3)), np.ones(2), "half"), "half"),
        (lambda: signal.convolve(x, np.ones(3)), r"\(1, 2, 5\) and \(3,\)"),
        (lambda: signal.convolve(np.ones((3, 1)), lazy(np.ones((1, 3))), "valid"), r"\(3, 1\), \(1, 3\)"),
        (lambda: signal.convolve(x, x, method="slow"), "slow"),
        (lambda: signal.conv(x, lazy(np.ones((2, 3, 3)))), r"\(1, 2, 5\) and \(2, 3, 3\)"),
        (lambda: signal.conv(x, lazy(np.ones((2, 2, 6)))), r"\(2, 2, 6\)"),
        (lambda: signal.conv(x, w, stride=0), "stride is 0"),
        (lambda: signal.conv(x, w, stride=2, padding="same"), "stride"),
        (lambda: signal.conv(x, lazy(np.ones((3, 2))), groups=2), r"\(3, 2\)"),
        (lambda: signal.lfilter(np.ones((2, 2)), np.ones(1), x), r"\(2, 2\)"),
        (lambda: signal.lfilter(np.ones(3), np.ones(1), x, zi=np.ones(3)), r"\(1, 2, 2\)"),
        (lambda: np.lib.stride_tricks.sliding_window_view(x, 9, -1), "9 elements"),
    ):
        with pytest.raises(ValueError, match=told):
            call()


@pytest.mark.parametrize(("padding", "lengths"), [*itertools.product(["same", "valid"], [(5,), (6, 4)])])
def test_named_paddings(padding, lengths):
    x, w = whole((1, 1, *lengths)), whole((1, 1, *[2] * len(lengths)))
    with by_interpreter():
        found = signal.conv(lazy(x), lazy(w), padding=padding)
        assert isinstance(found, LazyArray)
        assert found.shape[2:] == (lengths if padding == "same" else tuple(n - 1 for n in lengths))
        pairs = [(0, 1)] * len(lengths) if padding == "same" else [(0, 0)] * len(lengths)
        ones = (1,) * len(lengths)
        np.testing.assert_array_equal(np.asarray(found), by_loops(x, w, ones, pairs, ones, 1))
