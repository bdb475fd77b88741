"""Calls between kernels on a GPU: linear algebra and users' functions, beside the same on the CPU."""

import numpy as np
import pytest

import vecdist
from vecdist import gp, lazy, logpdf, signal
from vecdist.distributions import MvNormal, MvStudentT

pytestmark = pytest.mark.cuda
rng = np.random.default_rng(8)


def definite(*shape):
    a = rng.normal(size=shape)
    return a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])


def both(function, *arrays):
    """Value and gradients of a number that a function makes of arrays, on the CPU and on the GPU."""
    import cupy

    results = []
    for library in (np, cupy):
        given = [lazy(library.asarray(each)) for each in arrays]
        value, slopes = vecdist.value_and_grad(function(*given), given)
        results.append([np.asarray(cupy.asnumpy(each)) for each in (value, *slopes)])
    return results


ALGEBRA = {
    "cholesky": lambda a: (np.linalg.cholesky(a) ** 2).sum(axis=0)[:2].sum(),
    "solve": lambda a: np.linalg.solve(a, a * 0.5 + 1.0).sum(), "inv": lambda a: np.exp(np.linalg.inv(a)).sum(),
    "slogdet": lambda a: np.linalg.slogdet(a)[1].sum(), "eigvalsh": lambda a: np.sqrt(np.linalg.eigvalsh(a)).sum(),
    "svd": lambda a: (np.linalg.svd(a + a[..., :1])[2] ** 2)[..., 0, 1].sum(),
    "qr": lambda a: np.sin(np.linalg.qr(a)[1]).sum(),
    "svdvals": lambda a: np.sqrt(np.linalg.svdvals(a[..., :3])).sum(),
    "pinv": lambda a: np.linalg.pinv(a[..., :3]).sum(),
    "eigh": lambda a: (np.linalg.eigh(a)[1] ** 2)[..., 0].sum(), "det": lambda a: np.log(np.linalg.det(a)).sum(),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(20, 20), (3, 5, 5)], ids=str)
@pytest.mark.parametrize("name", ALGEBRA)
def test_linear_algebra(name, shape):
    on_cpu, on_gpu = both(ALGEBRA[name], definite(*shape))
    for mine, other in zip(on_gpu, on_cpu, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-10)


ORDERS = {
    "sort": lambda x: (np.sort(x, 0)[1:] * np.sort(x, 1)[1:, ::-1]).sum(),
    "median": lambda x: np.sin(np.median(x, 1)).sum(),
    "quantiles": lambda x: (np.quantile(x, [0.2, 0.7], 0) ** 2).sum(), "lexsort": lambda x: x[np.lexsort(x.T)][0].sum(),
    "nan": lambda x: np.nanquantile(np.where(x > 1, np.nan, x), 0.3, 1, method="hazen").sum(),
    "all": lambda x: (np.sort(x, None)[3:9] ** 2).sum(), "isin": lambda x: np.where(np.isin(x, x[0]), x, 2 * x).sum(),
    "histogram": lambda x: (np.histogram(x, 4, weights=x)[0] ** 2).sum(),
    "polyfit": lambda x: np.polyfit(x[0], x[1], 2).sum(),
    "parts": lambda x: (np.frexp(x)[0] * np.nextafter(x, 3.0)).sum() + np.spacing(x).sum(),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", ORDERS)
def test_orders(name, dtype):
    on_cpu, on_gpu = both(ORDERS[name], np.random.default_rng(5).normal(size=(6, 10)).astype(dtype))
    near = {"rtol": 1e-10, "atol": 1e-12} if dtype == "f8" else {"rtol": 1e-3, "atol": 1e-4}
    for mine, other in zip(on_gpu, on_cpu, strict=True):
        np.testing.assert_allclose(mine, other, **near)


@pytest.mark.parametrize("lead", [(), (1,), (3,), (2, 2)], ids=str)
@pytest.mark.parametrize("length", [17, 64, 200])
def test_systems_and_inverses(length, lead):
    import cupy

    from vecdist.primitives import array_factorisations as library

    a, b = definite(*lead, length, length), rng.normal(size=(*lead, length, 3))
    factor = cupy.asarray(np.linalg.cholesky(a)) + cupy.triu(cupy.ones((length, length)), 1)  # of which nothing is read
    lower = np.tril(factor.get())
    for found, left in (
        (library.solved_lower(factor, cupy.asarray(b)), lower),
        (library.solved_upper(factor, cupy.asarray(b)), lower.swapaxes(-1, -2)),
    ):
        np.testing.assert_allclose(found.get(), np.linalg.solve(left, b), rtol=1e-9, atol=1e-12)
    inverse = library.inverted_definite(cupy.asarray(a), cupy.asarray(lower))
    np.testing.assert_allclose(inverse.get(), np.linalg.inv(a), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("family", ["normal", "student", "factor", "precision"])
def test_long_vectors(family):
    loc, matrix, x = rng.normal(size=24), definite(24, 24), rng.normal(size=(5, 24))
    made = {
        "normal": lambda m, a: MvNormal(m, a), "student": lambda m, a: MvStudentT(4.0, m, a),
        "factor": lambda m, a: MvNormal(loc=m, scale_tril=np.linalg.cholesky(a)),
        "precision": lambda m, a: MvNormal(loc=m, precision=a),
    }[family]
    on_cpu, on_gpu = both(lambda m, a, x: logpdf(made(m, a), x).sum(), loc, matrix, x)
    for mine, other in zip(on_gpu, on_cpu, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-11)


TRANSFORMS = {
    "rfft": lambda x: (np.abs(np.fft.rfft(x)) ** 2).sum(), "odd": lambda x: np.log(np.abs(np.fft.rfft(x[:, 1:]))).sum(),
    "irfft2": lambda x: (np.fft.irfft2(np.fft.rfft2(x) * (2.0 + 0.5j)) ** 3).sum(),
    "fft": lambda x: np.real(np.fft.ifft(np.square(np.fft.fft(x, axis=0)))).sum(),
    "fftconvolve": lambda x: (signal.fftconvolve(x, x[:2, :3]) ** 2).sum(),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMS)
def test_fourier_transforms(name):
    on_cpu, on_gpu = both(TRANSFORMS[name], rng.normal(size=(6, 10)))
    for mine, other in zip(on_gpu, on_cpu, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-9)


LAYERS = {
    "image": ((4, 3, 20, 18), (5, 3, 3, 3), {"padding": 1}),
    "strides": ((2, 4, 15, 9), (6, 2, 2, 3), {"stride": (2, 1),
    "groups": 2, "dilation": 2}), "long": ((1, 1, 70000), (1, 1, 65), {}), "series": ((70, 3, 50), (2, 3, 50), {}),
    "many": ((300, 2, 9), (40, 2, 4), {"padding": 2}),
    "space": ((2, 2, 9, 8, 7), (3, 2, 3, 2, 3), {"padding": (1, 0, 1)}),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_of_convolutions(name, dtype):
    shape, filters, given = LAYERS[name]
    x, w = rng.normal(size=shape).astype(dtype), rng.normal(size=filters).astype(dtype)
    on_cpu, on_gpu = both(lambda x, w: np.square(signal.conv(x, w, **given)).sum(), x, w)
    rtol = 1e-10 if dtype == "f8" else 1e-4
    for mine, other in zip(on_gpu, on_cpu, strict=True):
        np.testing.assert_allclose(mine, other, rtol=rtol, atol=rtol * np.abs(other).max())


def test_a_matrix_that_is_not_definite_has_no_density():
    import cupy

    bad = cupy.asarray(np.diag(np.arange(-1.0, 19.0)))
    with pytest.raises(vecdist.InvalidParameter, match="pivot of covariance"):
        float(logpdf(MvNormal(cupy.zeros(20), bad), cupy.zeros(20)))


def test_gaussian_processes_of_chains():
    places, y = np.linspace(0.0, 1.0, 30), rng.normal(size=30)

    def model(length, places, y):
        return gp.marginal(gp.matern(places, length_scale=np.exp(length)), y, 0.4)

    lengths = np.array([-1.0, -0.5, 0.2])
    import cupy

    found = []
    for library in (np, cupy):
        function = vecdist.compile(model, in_axes=(0, None, None))
        values, (slopes,) = function.value_and_grad(*map(library.asarray, (lengths, places, y)), wrt=(0,))
        found.append([cupy.asnumpy(values), cupy.asnumpy(slopes)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_functions_of_users_see_cupy_arrays_of_the_current_stream():
    import cupy

    seen = []

    def sine(x):
        seen.append((type(x), cupy.cuda.get_current_stream()))
        return cupy.sin(x)

    wave = vecdist.external(sine, vjp=lambda given, results, back: (back[0] * cupy.cos(given[0]),))
    x = rng.normal(size=1000)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        given = lazy(cupy.asarray(x))
        value, slope = vecdist.value_and_grad(np.exp(wave(2.0 * given)).sum(), given)
        stream.synchronize()
    assert seen == [(cupy.ndarray, stream)]
    assert float(value) == pytest.approx(np.exp(np.sin(2.0 * x)).sum())
    np.testing.assert_allclose(cupy.asnumpy(slope), 2.0 * np.cos(2.0 * x) * np.exp(np.sin(2.0 * x)), rtol=1e-10)
