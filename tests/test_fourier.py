"""Fourier transforms of lazy arrays beside NumPy's, of any length, axis and norm; derivatives of their real parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from interpreting import by_interpreter, nothing_computed
from numerical import differences

import vecdist
from vecdist import hessian, lazy, value_and_grad
from vecdist.lazy.complex_arrays import ComplexArray

CHEAP = settings(max_examples=40, deadline=None)
NORMS = st.sampled_from([None, "backward", "ortho", "forward"])
rng = np.random.default_rng(43)


def assert_numpys(call, *arrays):
    wanted = call(*arrays)
    with nothing_computed():
        found = call(*[as_lazy(each) for each in arrays])
    assert found.shape == wanted.shape and found.dtype == wanted.dtype
    with by_interpreter():
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12 * (1 + abs(wanted).max()))


def as_lazy(x):
    return ComplexArray(lazy(x.real), lazy(x.imag)) if np.iscomplexobj(x) else lazy(x)


@CHEAP
@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.data(), NORMS)
def test_transforms_along_one_axis(shape, data, norm):
    x, y = rng.normal(size=shape), rng.normal(size=shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = data.draw(st.one_of(st.none(), st.integers(1, 9)))
    for function in (np.fft.fft, np.fft.ifft, np.fft.rfft, np.fft.ihfft):
        assert_numpys(lambda x, function=function: function(x, n, axis, norm), x)
    for function in (np.fft.fft, np.fft.ifft):
        assert_numpys(lambda z, function=function: function(z, n, axis, norm), x + 1j * y)
    if n is not None or shape[axis] > 1:
        for function in (np.fft.irfft, np.fft.hfft):
            assert_numpys(lambda z, function=function: function(z, n, axis, norm), x + 1j * y)


@CHEAP
@given(st.lists(st.integers(2, 5), min_size=2, max_size=3), NORMS, st.booleans())
def test_transforms_over_several_axes(shape, norm, sized):
    z = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    axes = (-2, -1)
    s = (3, 4) if sized else None
    for name in ("fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn"):
        assert_numpys(lambda z, name=name: getattr(np.fft, name)(z, s, axes, norm), z)
    for name in ("rfft2", "rfftn"):
        assert_numpys(lambda x, name=name: getattr(np.fft, name)(x, s, axes, norm), z.real.copy())
    for name in ("fftshift", "ifftshift"):
        assert_numpys(getattr(np.fft, name), z)


@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_derivatives(n):
    x, weights = rng.normal(size=(2, n)), rng.normal(size=(2, n // 2 + 1))

    def through(x):
        z = np.fft.rfft(x)
        back = np.fft.irfft(z * (1.0 + 0.5j) / (2.0 + z), n)
        return (np.abs(z) ** 2 * weights).sum() + (back**3).sum() + np.real(np.fft.fft(x, axis=0)[1]).sum()

    leaf = lazy(x)
    with by_interpreter():
        value, found = value_and_grad(through(leaf), leaf)
        second = hessian(through(leaf), leaf)
    np.testing.assert_allclose(value, through(x), rtol=1e-12)
    np.testing.assert_allclose(found, differences(through, 0, x), rtol=1e-5, atol=1e-6)

    def slope(x, at):
        inner = lazy(x)
        return value_and_grad(through(inner), inner)[1][at]

    with by_interpreter():
        truth = [differences(lambda x, at=at: slope(x, at), 0, x, step=1e-5) for at in np.ndindex(x.shape)]
    np.testing.assert_allclose(second, np.reshape(truth, second.shape), rtol=1e-5, atol=1e-5)


def test_complex_arithmetic():
    a, b = (rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3)) for _ in range(2))
    for call in (
        lambda a, b: a + b, lambda a, b: a - 2.0 * b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: -a,
        lambda a, b: np.conj(a) + 1j, lambda a, b: np.exp(a), lambda a, b: np.square(a), lambda a, b: abs(a),
        lambda a, b: np.angle(a), lambda a, b: np.real(a) + np.imag(b), lambda a, b: np.sum(a, axis=0),
        lambda a, b: a[:, 1] * a.conj()[:, 0], lambda a, b: a.sum(), lambda a, b: b.real / a,
    ):
        assert_numpys(call, a, b)
    tiny = np.array([1e-200 + 1e-200j])
    with by_interpreter():
        np.testing.assert_allclose(np.asarray(as_lazy(a) / as_lazy(tiny)), a / tiny, rtol=1e-12)
    assert len(as_lazy(a)) == 2 and "shape=(2, 3)" in repr(as_lazy(a)) and as_lazy(a).ndim == 2


def test_compiled_and_in_chains():
    x = rng.normal(size=(3, 16))

    def power(x):
        return np.log(np.abs(np.fft.rfft(x))).sum()

    values, (slopes,) = vecdist.compile(power, in_axes=(0,)).value_and_grad(x)
    for row in range(3):
        np.testing.assert_allclose(values[row], power(x[row]), rtol=1e-12)
        np.testing.assert_allclose(slopes[row], differences(power, 0, x[row]), rtol=1e-5, atol=1e-6)


def test_float32_stays():
    x = rng.normal(size=8).astype("f4")
    found = np.fft.rfft(lazy(x))
    assert found.dtype == np.complex64 and np.asarray(found).dtype == np.complex64
    np.testing.assert_allclose(np.asarray(found), np.fft.rfft(x), rtol=1e-5, atol=1e-5)


def test_what_is_refused():
    z = np.fft.rfft(lazy(np.ones(8)))
    for call, told in (
        (lambda: np.fft.rfft(lazy(np.ones(8)), norm="half"), "norm"), (lambda: np.fft.rfft(lazy(np.ones(8)), 0), "0"),
        (lambda: np.fft.irfft(z, 0), "irfft"), (lambda: np.fft.fftn(lazy(np.ones((2, 2))), (2,), (0, 1)), "lengths"),
    ):
        with pytest.raises(ValueError, match=told):
            call()
    with pytest.raises(TypeError, match="rfft"):
        np.fft.rfft(z)
    with pytest.raises(TypeError, match="sin"):
        np.sin(z)
    with pytest.raises(ValueError, match="no memory"):
        np.asarray(z, copy=False)
