"""NumPy's functions that join arrays and put their elements elsewhere: values, dtypes and derivatives."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from interpreting import by_interpreter, nothing_computed
from numerical import differences

from vecdist import LazyArray, hessian, lazy, scan, value_and_grad
from vecdist import compile as compile_function

DTYPES = ("f8", "f4", "i4", "u1", "?")
CHEAP = settings(max_examples=25)


def numbers(shape, dtype="f8", start=0):
    """Numbers of both signs; among floats -0.0, infinities and NaN, which no part may take from another."""
    count = int(np.prod(shape, dtype=int))
    x = (np.arange(start, start + count) * 7 % 11 - 4.0) * (0.75 if np.dtype(dtype).kind == "f" else 1)
    if np.dtype(dtype).kind == "f":
        x[3::5] = np.resize([-0.0, np.inf, np.nan, -np.inf], x[3::5].shape)
    return abs(x).astype(dtype).reshape(shape) if dtype == "u1" else x.astype(dtype).reshape(shape)


def assert_numpys(call, *arrays):
    """The value, the sign of zeros, the shape and the dtype are NumPy's; nothing is computed before they are asked."""
    wanted = call(*arrays)
    with nothing_computed():
        found = call(*map(lazy, arrays))
    with by_interpreter():
        for mine, truth in zip(*([each] if not isinstance(each, list | tuple) else each for each in (found, wanted)),
                               strict=True):
            assert isinstance(mine, LazyArray) and (mine.shape, mine.dtype) == (truth.shape, truth.dtype)
            np.testing.assert_array_equal(np.asarray(mine), truth)
            if truth.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(np.asarray(mine)), np.signbit(truth))


SHAPES = array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4)


@st.composite
def neighbours(draw):
    """Arrays that fit beside each other along an axis, and that axis."""
    shape = draw(SHAPES)
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    arrays = []
    for start in range(draw(st.integers(1, 4))):
        own = list(shape)
        own[axis] = draw(st.integers(0, 3))
        arrays.append(numbers(own, draw(st.sampled_from(DTYPES)), start))
    return arrays, axis


@CHEAP
@given(neighbours())
def test_arrays_are_joined_along_every_axis(case):
    arrays, axis = case
    assert_numpys(lambda *parts: np.concatenate(parts, axis), *arrays)
    assert_numpys(lambda *parts: np.concatenate(parts, None), *arrays)
    assert_numpys(lambda *parts: np.append(parts[0], parts[-1], axis), *arrays)
    assert_numpys(lambda *parts: np.append(parts[0], parts[-1]), *arrays)


@CHEAP
@given(array_shapes(min_dims=0, max_dims=3, min_side=0), st.integers(1, 4), st.sampled_from(DTYPES))
def test_arrays_are_stacked_along_every_axis(shape, count, dtype):
    arrays = [numbers(shape, dtype if place else "f4", place) for place in range(count)]
    for axis in range(-len(shape) - 1, len(shape) + 1):
        assert_numpys(lambda *parts, axis=axis: np.stack(parts, axis), *arrays)
    for function in (np.hstack, np.vstack, np.dstack, *([np.column_stack] if len(shape) in {1, 2} else [])):
        assert_numpys(lambda *parts, function=function: function(parts), *arrays)
    for function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
        assert_numpys(function, *arrays)


@pytest.mark.parametrize("call", [
    lambda x, y: np.block([[x, x * 2], [y, y * 2]]), lambda x, y: np.block([x, x]), lambda x, y: np.block([[x], [y]]),
    lambda x, y: np.block([[[x]], [[x * 3]]]), lambda x, y: np.block(x), lambda x, y: np.block([[1.0, y[0]]]),
    lambda x, y: np.concatenate([x, np.ones((1, 3))]), lambda x, y: np.concatenate([x, y], dtype="f4"),
    lambda x, y: np.stack([x[0], [1, 2, 3]], dtype="f4"), lambda x, y: np.append(x, 2.5),
    lambda x, y: np.hstack([1, x[0]]),
])
def test_blocks_and_arrays_beside_lists_and_numbers(call):
    assert_numpys(call, np.arange(6.0).reshape(2, 3), np.arange(3.0).reshape(1, 3))


@CHEAP
@given(SHAPES, st.sampled_from(DTYPES), st.integers(-5, 5), st.data())
def test_elements_are_turned_rolled_and_repeated(shape, dtype, shift, data):
    x = numbers(shape, dtype)
    axis = data.draw(st.sampled_from([None, *range(-len(shape), len(shape))]))
    assert_numpys(lambda x: np.flip(x, axis), x)
    assert_numpys(lambda x: np.roll(x, shift, axis), x)
    assert_numpys(lambda x: np.repeat(x, abs(shift), axis), x)
    counts = np.arange(x.size if axis is None else shape[axis]) % 3
    assert_numpys(lambda x: np.repeat(x, counts, axis), x)
    times = data.draw(st.sampled_from([2, (2, 1), (1, 3, 0, 2)]))
    assert_numpys(lambda x: np.tile(x, times), x)
    assert_numpys(lambda x: np.array_split(x, 3, axis or 0), x)
    if len(shape) > 1:
        assert_numpys(np.fliplr, x)
        assert_numpys(lambda x: np.rot90(x, shift, (1, 0)), x)
        assert_numpys(lambda x: np.roll(x, (shift, 1), (0, 1)), x)
    assert_numpys(np.flipud, x)
    assert_numpys(lambda x: np.rollaxis(x, axis or 0, len(shape)), x)


@CHEAP
@given(array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=4), st.sampled_from(DTYPES),
       st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap"]),
       st.lists(st.integers(0, 7), min_size=2, max_size=2))
def test_arrays_are_padded(shape, dtype, mode, width):
    assert_numpys(lambda x: np.pad(x, width, mode), numbers(shape, dtype))
    assert_numpys(lambda x: np.pad(x, ((1, 2), *[(0, 3)] * (x.ndim - 1)), mode), numbers(shape, dtype))


@pytest.mark.parametrize("call", [
    lambda x: np.hsplit(x, 3), lambda x: np.vsplit(x, [1]), lambda x: np.dsplit(x, 2), lambda x: np.hsplit(x[0, 0], 2),
    lambda x: np.split(x, [1, 2], 1), lambda x: np.meshgrid(x[0, 0], x[0], x[:, 0, 0]),
    lambda x: np.meshgrid(x[0, 0], x[1, 0, :2], indexing="ij", sparse=True), lambda x: np.copy(x), lambda x: np.real(x),
    lambda x: np.astype(x, np.float32), lambda x: np.meshgrid(x[0, 0]),
])
def test_arrays_are_parted(call):
    assert_numpys(call, numbers((2, 3, 4)))


def test_arrays_are_unstacked():
    x = numbers((2, 3, 4))
    for part, wanted in zip(np.unstack(lazy(x), axis=1), np.moveaxis(x, 1, 0), strict=True):
        with by_interpreter():
            np.testing.assert_array_equal(np.asarray(part), wanted)
    assert not np.iscomplexobj(lazy(x)) and np.isrealobj(lazy(x))


def test_arrays_are_padded_by_values_of_each_side():
    assert_numpys(lambda x: np.pad(x, 2, constant_values=((1, -2), (3, 4))), numbers((2, 3)))
    assert_numpys(lambda x: np.pad(x, (0, 2), constant_values=1.5), numbers((2, 0), "i4"))
    assert_numpys(lambda x: np.pad(x, {-1: (1, 2), 0: 1}), numbers((2, 3)))


def test_zeros_beside_infinities_are_zeros():
    """Of one sign or the other, whatever is in what they are put beside."""
    x = np.array([-0.0, np.inf, np.nan, 1.0])
    for width in ((1, 2), (0, 1), (1, 0), 0):
        assert np.asarray(np.pad(lazy(x), width)).tobytes() == np.pad(x, width).tobytes()
        negative = np.pad(lazy(x), width, constant_values=-0.0)
        assert np.asarray(negative).tobytes() == np.pad(x, width, constant_values=-0.0).tobytes()
    square = np.pad(lazy(x.reshape(2, 2)), ((1, 0), (0, 3)))
    assert np.asarray(square).tobytes() == np.pad(x.reshape(2, 2), ((1, 0), (0, 3))).tobytes()
    y = x.copy()
    _, slope = value_and_grad((np.pad(lazy(y), 2) * np.arange(8.0)).sum(), y)
    np.testing.assert_array_equal(slope, [2.0, 3.0, 4.0, 5.0])


@CHEAP
@given(SHAPES, st.sampled_from(DTYPES), st.integers(0, 5), st.data())
def test_differences_of_neighbours(shape, dtype, order, data):
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    with np.errstate(invalid="ignore"):
        assert_numpys(lambda x: np.diff(x, order, axis), numbers(shape, dtype))
        assert_numpys(lambda x: np.diff(x, 1, axis, prepend=1, append=x.take([0, 0], axis) if x.shape[axis] else 2),
                      numbers(shape, dtype))


@CHEAP
@given(array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=4), st.sampled_from(DTYPES), st.integers(-5, 5))
def test_diagonals_and_triangles(shape, dtype, offset):
    x = numbers(shape, dtype)
    for axes in ((0, 1), (-1, 0)):
        assert_numpys(lambda x, axes=axes: np.diagonal(x, offset, *axes), x)
        with np.errstate(invalid="ignore"):
            assert_numpys(lambda x, axes=axes: np.trace(x, offset, *axes), x)
    assert_numpys(lambda x: np.tril(x, offset), x)
    assert_numpys(lambda x: np.triu(x, offset), x)
    assert_numpys(lambda x: np.diag(x, offset), numbers(shape[-2:], dtype))
    assert_numpys(lambda x: np.diag(x, offset), x.ravel()[:4])
    assert_numpys(lambda x: np.diagflat(x[:2], offset), x)
    assert_numpys(np.tril, x.ravel()[:4])


X, Y = np.array([[0.7, -0.4, 1.3], [0.2, -1.1, 0.9]]), np.array([[0.3], [-0.8]])
SMOOTH = {
    "joined": lambda x, y: np.concatenate([x, np.exp(y), y * x], 1) ** 2,
    "stacked": lambda x, y: np.stack([x, y * x, np.broadcast_to(y, (2, 3))], 1) ** 3,
    "block": lambda x, y: np.exp(np.block([[x, y], [y, x]])),
    "turned": lambda x, y: np.flip(x) * np.fliplr(x) ** 2 * np.rot90(x, 2) * y,
    "rolled": lambda x, y: np.roll(x, 1, 1) * x * np.roll(x, 2) + y,
    "repeated": lambda x, y: np.repeat(x * y, 2, 1) ** 2 * np.tile(x, 2),
    "repeated by counts": lambda x, y: np.repeat(x * y, [2, 0, 3], 1) ** 2,
    "padded": lambda x, y: np.pad(x * y, ((1, 0), (2, 1)), constant_values=1.5) ** 3,
    "reflected": lambda x, y: np.pad(x * y, ((1, 0), (2, 1)), "reflect") ** 2 + np.pad(x[0], (1, 5), "wrap")[:6],
    "edges": lambda x, y: np.pad(x, 2, "edge") ** 2 * np.pad(x, 2, "symmetric") + y.sum(),
    "differences": lambda x, y: np.diff(x * y, 2) ** 2 + np.diff(x, axis=0, prepend=y.sum())[:, :1] ** 2,
    "diagonal": lambda x, y: np.diagonal(x, 1) ** 2 * y + np.trace(x**2),
    "matrix of a diagonal": lambda x, y: np.diag(x[0], 1)[:3, 1:] ** 2 + np.diag(y[:, 0], -1).sum() * x[:1],
    "triangles": lambda x, y: np.tril(x * y) ** 2 + np.triu(x * y, 1) ** 3,
}


def weighed(name):
    def total(x, y):
        found = SMOOTH[name](x, y)
        return (found * np.cos(np.arange(1.0, found.size + 1)).reshape(found.shape)).sum()

    return total


@pytest.mark.parametrize("name", SMOOTH)
def test_gradients(name):
    with by_interpreter():
        value, grads = value_and_grad(weighed(name)(lazy(X), lazy(Y)), wrt=(X, Y))
    np.testing.assert_allclose(value, weighed(name)(X, Y), rtol=1e-12)
    for place, grad in enumerate(grads):
        np.testing.assert_allclose(grad, differences(weighed(name), place, X, Y), rtol=1e-6, atol=1e-7)


EACH = ["joined", "rolled", "triangles"]  # that are formulas of any lengths


@pytest.mark.parametrize("name", EACH)
def test_generated_programs(uncompiled, name):
    check_program(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
def test_compiled_programs(name):
    check_program(name)


def check_program(name):
    """One launch computes what the interpreter does, also for other lengths."""
    for x, y in ((X, Y), (np.tile(X, (2, 2)), np.tile(Y, (2, 1)))):
        if name not in EACH and x is not X:
            continue
        value, grads = value_and_grad(weighed(name)(lazy(x), lazy(y)), wrt=(x, y))
        with by_interpreter():
            wanted, truths = value_and_grad(weighed(name)(lazy(x.copy()), lazy(y)), wrt=(y,))
        np.testing.assert_allclose(value, wanted, rtol=1e-12)
        np.testing.assert_allclose(grads[1], truths[0], rtol=1e-11)


def test_the_hessian_of_a_join(uncompiled):
    """That of f(a)^T f(a) for f = (a, exp(a)) is 2 + 4 exp(2 a) on the diagonal."""
    a = np.array([0.2, -0.5, 0.7])
    joined = np.concatenate([lazy(a), np.exp(lazy(a))])
    np.testing.assert_allclose(hessian((joined**2).sum(), wrt=a), np.diag(2 + 4 * np.exp(2 * a)), rtol=1e-12)


def test_a_gradient_comes_from_its_own_part_alone(uncompiled):
    """Beside what is infinite or NaN, and whose derivatives are, a part has the derivative that it has alone."""
    a, b = np.array([1.0, 4.0]), np.array([0.0, np.nan, -np.inf])
    joined = np.concatenate([np.sqrt(lazy(a)), np.log(lazy(b))])
    _, (of_a,) = value_and_grad(joined[:2].sum() + joined[2:].sum() * 0.0, wrt=(a,))
    np.testing.assert_array_equal(of_a, 0.5 / np.sqrt(a))


def test_joined_arrays_are_compiled_once_for_all_lengths(uncompiled):
    @compile_function
    def total(a, b):
        return (np.concatenate([a, b, np.flip(a)]) * np.arange(1.0, 2 * len(a) + len(b) + 1)).sum()

    for n, m in itertools.product((2, 5), (3, 4)):
        a, b = np.arange(1.0, n + 1), np.arange(2.0, m + 2)
        wanted = (np.concatenate([a, b, a[::-1]]) * np.arange(1.0, 2 * n + m + 1)).sum()
        assert float(np.asarray(total(a, b))) == wanted


def autoregression(weights, shocks):
    """Steps that keep a window of what was before; of plain arrays the same in a loop."""
    def step(window, shock):
        new = (window * weights).sum() + shock
        return np.concatenate([new[None], window[:-1]]), new * np.roll(window, 1)[0]

    if isinstance(shocks, LazyArray):
        return (scan(step, np.zeros(3), shocks)[1] ** 2).sum()
    window, total = np.zeros(3), 0.0
    for shock in shocks:
        window, y = step(window, shock)
        total += y**2
    return total


@pytest.mark.usefixtures("execution")
def test_a_window_moves_along_steps():
    weights, shocks = np.array([0.3, -0.2, 0.1]), np.cos(np.arange(9.0))
    value, grads = value_and_grad(autoregression(lazy(weights), lazy(shocks)), wrt=(weights, shocks))
    np.testing.assert_allclose(value, autoregression(weights, shocks), rtol=1e-12)
    for place, grad in enumerate(grads):
        np.testing.assert_allclose(grad, differences(autoregression, place, weights, shocks), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: np.concatenate([x, x[:, :1]]), ValueError, r"shapes \(2, 3\) and \(2, 1\).*along axis 0"),
    (lambda x: np.concatenate([x, x[0]]), ValueError, r"shapes \(2, 3\) and \(3,\)"),
    (lambda x: np.concatenate([x[0, 0], x[0, 0]]), ValueError, "np.stack"),
    (lambda x: np.stack([x, x[0]]), ValueError, r"shapes \(2, 3\) and \(3,\) cannot be stacked"),
    (lambda x: np.concatenate([x, x], 2), ValueError, "axis 2 is out of bounds"),
    (lambda x: np.concatenate([x, x], casting="no"), TypeError, "casting"),
    (lambda x: np.concatenate([x, x], dtype="i4"), TypeError, "float64 to int32"),
    (lambda x: np.block([[x], x]), ValueError, "equally deep"),
    (lambda x: np.split(x, 2, 1), ValueError, "length 3 cannot be divided into 2"),
    (lambda x: np.repeat(x, [1, 2], 1), ValueError, r"repeats of shape \(2,\) do not fit axis 1 of shape \(2, 3\)"),
    (lambda x: np.dsplit(x, 1), ValueError, r"shape \(2, 3\) has not the 3 axes"),
    (lambda x: np.meshgrid(x, indexing="yx"), ValueError, "'yx'"),
    (lambda x: np.repeat(x, -1), ValueError, "-1 of each"),
    (lambda x: np.repeat(x, lazy(np.array([1]))), TypeError, "wants repeats that are known"),
    (lambda x: np.pad(x, -1), ValueError, "below 0"), (lambda x: np.pad(x, 1, "maximum"), TypeError, "'maximum'"),
    (lambda x: np.pad(x[:, :0], 1, "edge"), ValueError, r"no elements of axis 1 of an array of shape"),
    (lambda x: np.diff(x, -1), ValueError, "-1"), (lambda x: np.diff(x[0, 0]), ValueError, "a number"),
    (lambda x: np.diagonal(x[0]), ValueError, r"\(3,\)"), (lambda x: np.diagonal(x, 0, 1, 1), ValueError, "1 and 1"),
    (lambda x: np.diag(x[None]), ValueError, r"\(1, 2, 3\)"), (lambda x: np.tril(x[0, 0]), ValueError, "np.tril"),
    (lambda x: np.fliplr(x[0]), ValueError, r"np.fliplr of an array of shape \(3,\)"),
])
def test_what_does_not_fit_is_told(call, error, message):
    with nothing_computed(), pytest.raises(error, match=message):
        call(lazy(X))
