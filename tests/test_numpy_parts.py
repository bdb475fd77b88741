"""NumPy's slopes, ranges, histograms, polynomials, selections and parts of floats on lazy arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from interpreting import by_interpreter, nothing_computed
from numerical import differences
from test_statistics import assert_numpys, numbers, quietly

import vecdist
from vecdist import LazyArray, hessian, hvp, lazy, value_and_grad

CHEAP = settings(max_examples=20)
DTYPES = ("f8", "f4", "i4", "u1", "?")
SHAPES = array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)


def places(x, axis):
    return np.cumsum(1.0 + np.arange(x.shape[axis]) % 3)


@CHEAP
@given(SHAPES, st.sampled_from(["f8", "f4", "i4"]), st.integers(1, 2), st.data())
def test_slopes_and_differences(shape, dtype, edge_order, data):
    x, axis = numbers(shape, dtype), data.draw(st.integers(-len(shape), len(shape) - 1))
    assert_numpys(lambda x: np.gradient(x, axis=axis, edge_order=edge_order), x, rtol=1e-12)
    assert_numpys(lambda x: np.gradient(x, 0.25, axis=axis, edge_order=edge_order), x, rtol=1e-12)
    if shape[axis] > 1:  # of fewer NumPy asks for the first step
        at = places(x, axis)
        assert_numpys(lambda x, at: np.gradient(x, at, axis=axis, edge_order=edge_order), x, at, rtol=1e-12)
    assert_numpys(lambda x: np.ediff1d(x, to_begin=[1], to_end=x[:1]), x)
    assert_numpys(np.ediff1d, x)
    assert_numpys(lambda x: np.unwrap(4 * x, axis=axis), x)
    assert_numpys(lambda x: np.unwrap(x, 2.5, axis, period=4), x)
    assert_numpys(lambda x: np.unwrap(x, axis=axis, period=3), x)


def test_slopes_along_several_axes():
    x = numbers((3, 4))
    for found, wanted in zip(np.gradient(lazy(x), 2.0, places(x, 1)), np.gradient(x, 2.0, places(x, 1)), strict=True):
        with by_interpreter():
            np.testing.assert_allclose(found, wanted, rtol=1e-13)


ENDS = st.sampled_from([(0.5, 2.0), (-1.0, -30.0), (np.array([1.0, 2.0]), 8.0), (np.float32(0.25), np.float32(3.0)),
                        (1, 5)])


@CHEAP
@given(ENDS, st.integers(0, 6), st.booleans(), st.sampled_from([0, -1]), st.sampled_from([None, "f4", "i8"]))
def test_ranges(ends, num, endpoint, axis, dtype):
    ends = [np.asarray(end) for end in ends]
    how = {"endpoint": endpoint, "axis": axis, "dtype": dtype}
    assert_numpys(lambda a, b: np.linspace(a, b, num, **how), *ends)
    assert_numpys(lambda a, b: np.linspace(a, b, num, retstep=True, endpoint=endpoint)[1], *ends)
    if dtype != "i8":  # whose roundings are those of another power
        assert_numpys(lambda a, b: np.logspace(a, b, num, **how), *ends, rtol=1e-12)
        assert_numpys(lambda a, b: np.geomspace(a, b, num, **how), *ends, rtol=1e-12)
    assert_numpys(lambda a: np.linspace(a, 3.0, num), ends[0])


BINS = st.sampled_from([1, 7, np.array([-2.0, 0.0, 1.0, 1.5, 3.0]), np.array([-1, 0, 2]), np.array([0.5])])


@CHEAP
@given(SHAPES, st.sampled_from(DTYPES[:4]), BINS, st.booleans(), st.booleans())
def test_histograms(shape, dtype, bins, density, weighed):
    x, weights = numbers(shape, dtype), np.arange(np.prod(shape)).reshape(shape) * 0.5
    how = {"density": density, "weights": weights if weighed else None}
    for span in (None, (-1.0, 2.5), (1, 1)):
        assert_numpys(lambda x, span=span: np.histogram(x, bins, span, **how)[0], x, rtol=1e-12)
        assert_numpys(lambda x, span=span: np.histogram_bin_edges(x, bins, span), x, rtol=1e-12)
    if not np.isscalar(bins):
        for edges in (bins, bins[::-1]):
            assert_numpys(lambda x, edges=edges: np.digitize(x, edges), x)
            assert_numpys(lambda x, edges=edges: np.digitize(x, edges, right=True), x)


@settings(max_examples=6)
@given(st.integers(0, 9), st.integers(1, 3), st.sampled_from(["f8", "f4", "i4"]), st.booleans(), st.booleans())
def test_histograms_of_several_coordinates(count, coordinates, dtype, density, weighed):
    x, weights = numbers((count, coordinates), dtype), np.arange(count) * 0.5
    how = {"density": density, "weights": weights if weighed else None}
    for bins in (3, [np.array([-2.0, 0.0, 1.5])] * coordinates, [2, np.array([0, 1]), 4][:coordinates]):
        assert_numpys(lambda x, bins=bins: np.histogramdd(x, bins, **how)[0], x, rtol=1e-12)
        assert_numpys(lambda x, bins=bins: np.histogramdd(x, bins, [(0, 2)] * coordinates, **how)[1][-1], x, rtol=1e-12)
    for place in range(3):
        assert_numpys(lambda x, place=place: np.histogram2d(x[:, 0], x[:, -1], 4, **how)[place], x, rtol=1e-12)
        assert_numpys(lambda x, place=place: np.histogram2d(x[:, 0], x[:, -1], np.array([0, 1, 3]), **how)[place], x)


@CHEAP
@given(st.integers(1, 5), st.integers(1, 5), SHAPES, st.sampled_from(["f8", "f4", "i4"]))
def test_polynomials(first, second, shape, dtype):
    p, q, x = numbers((first,), dtype), numbers((second,)), numbers(shape, dtype)
    assert_numpys(np.polyval, p, x, rtol=1e-12)
    assert_numpys(np.polyadd, p, q)
    assert_numpys(np.polysub, p, q)
    assert_numpys(np.polymul, p, q)
    assert_numpys(np.poly, q)
    at = np.arange(first + 2.0)
    assert_numpys(lambda y: np.polyfit(at, y, first), np.sin(at + second), rtol=1e-9)
    assert_numpys(lambda y, w: np.polyfit(at, y, first // 2, w=w), np.sin(np.outer(at, at)), at + 1.0, rtol=1e-9)
    assert_numpys(np.polyder, p)
    assert_numpys(lambda p: np.polyder(p, 2), p)
    assert_numpys(lambda p: np.polyint(p, 2, [1.0, 2.0]), p)
    assert_numpys(np.polyint, p)
    assert_numpys(lambda x: np.vander(x.ravel(), second), x, rtol=1e-12)
    assert_numpys(lambda x: np.vander(x.ravel(), increasing=True), x[:4], rtol=1e-12)
    assert_numpys(np.sinc, x / 3, rtol=1e-12)
    assert_numpys(np.i0, x, rtol=1e-12)


@CHEAP
@given(SHAPES, st.sampled_from(DTYPES), st.data())
def test_elements_are_kept_left_out_and_put_in(shape, dtype, data):
    x, axis = numbers(shape, dtype), data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    count = x.size if axis is None else shape[axis]
    chosen = st.lists(st.integers(-count, count - 1), max_size=4) if count else st.just([])
    where, mask = data.draw(chosen), np.arange(count) % 3 == 1
    for obj in (where, mask, slice(1, None, 2), *where[:1]):
        assert_numpys(lambda x, obj=obj: np.delete(x, obj, axis), x)
        assert_numpys(lambda x, obj=obj: np.insert(x, obj, 3, axis), x)
    assert_numpys(lambda x: np.insert(x, 0, x[:1] if axis is not None else x.ravel(), axis), x)
    assert_numpys(lambda x: x.compress(mask, axis), x)
    assert_numpys(lambda x: np.extract(numbers(shape) > 0, x), x)
    assert_numpys(lambda x: np.isin(x, [2, -1, 3, 2]), x)
    assert_numpys(lambda x, y: np.isin(x, y, invert=True), x, numbers((3,), dtype))
    assert_numpys(lambda x: np.isin(x, []), x)
    assert_numpys(lambda x: np.piecewise(x, [x > 0, x == 0], [lambda v: v * 2, 5, lambda v: v + v]), x)
    if x.size:
        assert_numpys(lambda x: np.piecewise(x.ravel(), x.ravel() > 0, [lambda v, a: v * a, 1], 3), x)
    for mode in ("wrap", "clip"):
        assert_numpys(lambda x, m=mode: np.choose(x, [x, 7.5, np.array(1)], mode=m), x.astype("i8"))
    assert_numpys(lambda x: x.choose([x + 1, 10, 20, 30]), abs(x.astype("i8")) % 4)


@CHEAP
@given(SHAPES, st.sampled_from(DTYPES), st.booleans(), st.data())
def test_the_place_of_extremes_beside_nan(shape, dtype, keepdims, data):
    x, axis = numbers(shape, dtype), data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    if dtype[0] == "f":
        x[..., 1::2] = np.nan
    for function in (np.nanargmax, np.nanargmin):
        try:
            quietly(function, x, axis)
        except ValueError:  # of NaN alone, which is seen when it is computed
            continue
        else:
            assert_numpys(lambda x, f=function: f(x, axis, keepdims=keepdims), x)


def test_real_numbers_beside_complex_ones():
    x = numbers((2, 3))
    for function in (np.angle, lambda x: np.angle(x, deg=True), np.isreal, np.iscomplex, np.imag, np.real_if_close):
        assert_numpys(function, x)
    assert_numpys(lambda i: np.ix_(i, [0, 2])[1] + np.ix_(i, [0, 2])[0], np.array([1, 0]))
    y = lazy(x)
    assert np.array_equiv(y, x[:1]) == np.array_equiv(x, x[:1]) and np.common_type(y, np.ones(1, int)) == np.float64
    assert np.can_cast(y, "f4") == np.can_cast(x.dtype, "f4")
    for function in (np.tril_indices_from, np.triu_indices_from):
        np.testing.assert_array_equal(function(y, 1), function(x, 1))
    np.testing.assert_array_equal(np.diag_indices_from(y[:, :2]), np.diag_indices_from(x[:, :2]))


PLACES = [
    ((np.array([0, 2, 0]),), 1.0), (np.array([[0, 1], [1, 1]]), np.arange(4.0)), (1, np.arange(4.0)),
    ((slice(None), np.array([1, -1, 1])), np.arange(3.0)), ((1, slice(0, 2)), 2.0), (np.zeros(0, int), 1.0),
    ((np.array([0, 1, 0]), np.array([1, 1, 1])), np.array([1.0, 2.0, 3.0])), (np.array([1, 0, 1]) > 0, 2.0),
]


@pytest.mark.parametrize(("places", "values"), PLACES)
def test_values_are_added_at_places(places, values):
    for dtype in ("f8", "i4"):
        x, values = numbers((3, 4), dtype), np.asarray(values).astype(dtype)
        wanted = x.copy()
        np.add.at(wanted, places, values)
        with by_interpreter():
            found = np.asarray(vecdist.add_at(lazy(x), places, lazy(values)))
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_rows_of_nan_alone_have_no_extremes():
    x = np.array([[1.0, np.nan], [np.nan, np.nan]])
    with pytest.raises(ValueError, match=r"np.nanargmax: the largest of a row\[1\] = .*wanted a number beside NaN"):
        np.asarray(np.nanargmax(lazy(x), 1))


MASKS = [
    lambda x, m: x[m(3)], lambda x, m: x[m(3, 4)], lambda x, m: x[:, m(4)], lambda x, m: x[..., m(5)],
    lambda x, m: x[m(3, 4, 5)], lambda x, m: x[1, m(4)], lambda x, m: x[..., m(4, 5)],
    lambda x, m: x[m(3), None, 1:, 2],
    lambda x, m: x[m(3), ..., m(5)[:5]], lambda x, m: x[m(3), [0, 2]], lambda x, m: x[m(3).tolist()],
    lambda x, m: x[m(3) & False], lambda x, m: x[None, ..., m(5)], lambda x, m: x[m(2)], lambda x, m: x[m(3), m(3)],
]


def mask(*shape):
    return np.arange(np.prod(shape)).reshape(shape) % 3 != 1


@pytest.mark.parametrize("pick", MASKS)
def test_masks_that_are_known(pick):
    x = numbers((3, 4, 5))
    try:
        wanted = pick(x, mask)
    except IndexError:
        with nothing_computed(), pytest.raises(IndexError):
            pick(lazy(x), mask)
        return
    assert_numpys(lambda x: pick(x, mask), x)
    weights = np.cos(np.arange(wanted.size)).reshape(wanted.shape)
    with by_interpreter():
        _, slope = value_and_grad((pick(x := lazy(numbers((3, 4, 5))), mask) * weights).sum(), x)
    wanted = pick(np.arange(60).reshape(3, 4, 5), mask)
    np.testing.assert_allclose(slope.ravel()[wanted.ravel()], weights.ravel())
    assert np.count_nonzero(slope) <= wanted.size


def test_masks_that_are_marked_as_data():
    x = lazy(numbers((3, 4)))
    with by_interpreter():
        np.testing.assert_array_equal(x[vecdist.data(mask(3))], numbers((3, 4))[mask(3)])
        np.testing.assert_array_equal(np.compress(vecdist.data(mask(4)), x, 1), numbers((3, 4))[:, mask(4)])
    with pytest.raises(IndexError, match="not known yet"):
        x[lazy(mask(3))]


FLOATS = [0.0, -0.0, 1.0, -1.0, 1.5, np.inf, -np.inf, np.nan, 3e5, -7e-5, 0.1]
POWERS = (-3000, -1100, -1074, -1060, -1022, -300, -140, -127, -1, 0, 3, 127, 128, 1023, 1024, 2000, 2098, 5000)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_parts_of_floats(dtype):
    limits = np.finfo(dtype)
    ends = [limits.max, limits.tiny, limits.smallest_subnormal, 5 * limits.smallest_subnormal]
    x = np.array([*FLOATS, *ends, *[-end for end in ends]], dtype)
    for y in (np.inf, -np.inf, 0.0, np.nan, 1.0):
        assert_bits(lambda x, y=y: np.nextafter(x, np.array(y, dtype)), x)
    assert_bits(np.spacing, x)
    for function in (np.frexp, np.modf):
        for place in range(2):
            assert_bits(lambda x, f=function, place=place: f(x)[place], x)
    for power in POWERS:
        assert_bits(lambda x, n=power: np.ldexp(x, np.int32(n)), x)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_digits_of_integers(dtype):
    limits = np.iinfo(dtype)
    x = np.array([limits.min, limits.max, 0, 1, 5, 100], dtype)
    assert_bits(np.bitwise_count, x)
    for count in (0, 1, 3, 7, 8, 31, 63, 64, 100):
        assert_bits(lambda x, n=count: x << np.array(n, dtype), x)
        assert_bits(lambda x, n=count: x >> np.array(n, dtype), x)


def assert_bits(call, x):
    """To the last digit, with the sign of zeros."""
    wanted = quietly(call, x)
    with nothing_computed():
        found = call(lazy(x))
    assert isinstance(found, LazyArray) and found.dtype == wanted.dtype
    with by_interpreter():
        found = np.asarray(found)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found[wanted == 0] * 1.0), np.signbit(wanted[wanted == 0] * 1.0))


X = np.array([[0.7, -0.4, 1.3, 0.1], [0.2, -1.1, 0.9, -1.7]])
W = np.array([0.3, 1.2, 0.8, 2.0])
SMOOTH = {
    "slopes": lambda x, w: np.gradient(x * w, np.cumsum(w), axis=1, edge_order=2) * np.gradient(x, w[0], axis=0),
    "differences": lambda x, w: np.ediff1d(x * w, to_end=w) ** 2, "turns": lambda x, w: np.unwrap(5 * x * w),
    "range": lambda x, w: np.linspace(x[0], w, 5) ** 2, "powers": lambda x, w: np.logspace(x[0, :2], w[:2], 4),
    "ratios": lambda x, w: np.geomspace(w[0], w[1], 5) * x[0, 0],
    "weights": lambda x, w: np.histogram(X, 3, weights=x * w)[0] ** 2,
    "bins": lambda x, w: np.histogram_bin_edges(x * w, 4) ** 2,
    "polynomial": lambda x, w: np.polyval(w * x[0], x) + np.polyval(np.polyint(w), x) * np.polyval(np.polyder(w), x),
    "powers of each": lambda x, w: np.vander(w * x[0], 3),
    "ratio": lambda x, w: np.sinc(x * w) + np.i0(x) + np.sinc(x / 50),
    "added": lambda x, w: vecdist.add_at(np.sin(x), (slice(None), [0, 2, 0]), w[:3] * x[:, 1:]) ** 2 if isinstance(
        x, LazyArray) else added(np.sin(x), w[:3] * x[:, 1:]) ** 2,
    "fitted": lambda x, w: np.polyfit(w, np.stack([x[0], x[1] * w], 1), 1) * np.poly(w[:3])[1:3, None],
    "boxes": lambda x, w: np.histogramdd(X.T, 2, weights=w * x[0])[0] ** 2,
    "left out": lambda x, w: np.delete(x * w, [0, 2], 1) ** 2,
    "put in": lambda x, w: np.insert(x, [1, 3], w[:2], 1) ** 2,
    "kept": lambda x, w: np.compress([True, False, True], x * w, 1) ** 2 * (x * w)[:, W > 1],
    "pieces": lambda x, w: np.piecewise(x * w, [x > 0.5, x < 0], [np.sin, np.exp, lambda v: v**2]),
    "choice": lambda x, w: np.choose(np.array([0, 1, 1, 0]), [x * w, w**2]),
    "parts": lambda x, w: np.ldexp(np.frexp(x * w)[0], np.array([1, 2, 0, -1])) * np.nextafter(w, 9.0) + np.spacing(x),
}


def added(x, values):
    """What ``add_at`` adds in the test above."""
    np.add.at(x, (slice(None), [0, 2, 0]), values)
    return x


def weighed(name):
    def total(x, w):
        found = SMOOTH[name](x, w)
        return (found * np.cos(np.arange(1.0, found.size + 1)).reshape(found.shape)).sum()

    return total


@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives(name):
    def slopes(x, w):
        return value_and_grad(weighed(name)(lazy(x), lazy(w)), wrt=(x, w))

    ways = np.cos(np.arange(8.0)).reshape(2, 4), np.sin(np.arange(4.0) + 1)
    with by_interpreter():
        value, grads = slopes(X, W)
        ahead, behind = (slopes(X + h * ways[0], W + h * ways[1])[1] for h in (1e-5, -1e-5))
        seconds = hvp(weighed(name)(x := lazy(X), w := lazy(W)), (x, w), ways)
    for found, one, other in zip(seconds, ahead, behind, strict=True):
        np.testing.assert_allclose(found, (one - other) / 2e-5, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(value, weighed(name)(X, W), rtol=1e-11)
    for place, grad in enumerate(grads):
        np.testing.assert_allclose(grad, differences(weighed(name), place, X, W), rtol=1e-6, atol=1e-7)


def test_curvature_at_the_removable_point():
    with by_interpreter():
        for point in (0.0, 1e-3, 0.0318, 0.0319, 0.4):
            x = np.array(point)
            y = np.pi * x
            wanted = -np.pi**2 / 3 if not point else np.pi**2 * (
                (2 / y**3 - 1 / y) * np.sin(y) - 2 * np.cos(y) / y**2)
            assert hessian(np.sinc(lazy(x)), x) == pytest.approx(wanted, rel=1e-6 if point == 1e-3 else 1e-10)


@pytest.mark.parametrize("name", ["slopes", "weights", "put in", "parts", "range"])
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
    np.testing.assert_allclose(grads[1], truths[0], rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: np.gradient(x, 1.0, 2.0, 3.0), TypeError, "2 axes was given 3 spacings"),
    (lambda x: np.gradient(x, edge_order=3), ValueError, "edge orders 1 and 2"),
    (lambda x: np.gradient(x, np.ones(3), axis=1), ValueError, r"\(3,\) places do not fit axis 1"),
    (lambda x: np.gradient(x[:1], axis=0), ValueError, "wants 2 elements or more"),
    (lambda x: np.ediff1d(x.astype(int), to_end=0.5), TypeError, "float64"),
    (lambda x: np.linspace(x, 1.0, -1), ValueError, "-1 numbers"),
    (lambda x: np.histogram(x, "auto"), TypeError, "no bins 'auto'"),
    (lambda x: np.histogram(x, 0), ValueError, "one bin"),
    (lambda x: np.histogram(x, [2, 1]), ValueError, "edges that rise"),
    (lambda x: np.histogram(x, 3, (2, 1)), ValueError, "range from 2 to 1"),
    (lambda x: np.histogram(x, 3, weights=W), ValueError, r"weights of shape \(4,\)"),
    (lambda x: np.digitize(x, [1, 3, 2]), ValueError, "rise or fall"),
    (lambda x: np.digitize(1.0, x[0]), TypeError, "np.digitize of a lazy array wants edges that are known"),
    (lambda x: np.polyval(x, x), ValueError, r"one axis, given shape \(2, 4\)"),
    (lambda x: np.polyder(x[0], -1), ValueError, "-1"), (lambda x: np.vander(x), ValueError, r"\(2, 4\)"),
    (lambda x: np.polyint(x[0], 3, [1, 2]), ValueError, "order 3 wants a constant or 3, given 2"),
    (lambda x: np.delete(x, 4, 1), IndexError, "4 is out of bounds"),
    (lambda x: np.insert(x, 6, 1.0, 1), IndexError, "6"),
    (lambda x: np.delete(x, x > 0), TypeError, "np.delete of a lazy array wants places that are known"),
    (lambda x: np.compress(x[0] > 0, x, 1), TypeError, "wants conditions that are known"),
    (lambda x: np.compress([0, 0, 0, 0, 1], x, 1), IndexError, "out of bounds"),
    (lambda x: x[x > 0], IndexError, "np.where"), (lambda x: x[np.ones(3, bool)], IndexError, r"mask of shape \(3,\)"),
    (lambda x: np.choose(x, [x, x]), TypeError, "dtype float64"),
    (lambda x: np.piecewise(x, [x > 0], [1, 2, 3]), ValueError, "3 functions do not fit 1 conditions"),
    (lambda x: np.nonzero(x), TypeError, "np.nonzero has no lazy form: how long the result is depends on the elements"),
    (lambda x: np.put(x, 0, 1), TypeError, "np.put has no lazy form: it writes into an array"),
    (lambda x: np.add.at(x, 0, 1.0), TypeError, "np.add.at writes into an array.*vecdist.add_at"),
    (lambda x: vecdist.add_at(x, [0, 1], W[:3]), ValueError, r"shape \(3,\) do not fit places of shape \(2, 4\)"),
    (lambda x: vecdist.add_at(x.astype(int), 0, 0.5), TypeError, "cannot add float64 to an array of int64"),
    (lambda x: np.histogramdd(x, [1, 2]), ValueError, "2 bins and 4 ranges of 4 coordinates"),
    (lambda x: np.polyfit(x, x, 1), TypeError, "np.polyfit of degree 1"),
    (lambda x: np.poly(x), TypeError, "zeros along"),
    (lambda x: np.ix_(x[0]), ValueError, "whole numbers along one axis"),
    (lambda x: np.apply_along_axis(np.sum, 0, x), TypeError, "it calls a function"),
])
def test_what_does_not_fit_is_told(call, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        call(lazy(X))
