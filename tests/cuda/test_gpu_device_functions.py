"""Device functions in kernels on a real GPU: what the CPU finds, and samplers written by hand."""

import densities
import device_samplers
import numpy as np
import pytest

import vecdist
from vecdist import LogDensity, device_function, logpdf
from vecdist.distributions import Gamma, Normal
from vecdist.parameters import real

# Numba warns that small grids leave a GPU idle, as they do.
pytestmark = [pytest.mark.cuda, pytest.mark.filterwarnings("ignore:.*Grid size")]
THREADS = 128


@pytest.fixture
def cuda():
    from vecdist.runtime.cuda.compiler import cuda

    return cuda


def evaluated(cuda, function, points):
    """Values and slopes of many points, one to a thread."""

    @cuda.jit
    def kernel(points, values, slopes):
        place = cuda.grid(1)
        if place < points.shape[0]:
            values[place] = function(points[place], slopes[place])

    count = len(points)
    values, slopes = cuda.to_device(np.empty(count)), cuda.to_device(np.empty(points.shape))
    kernel[-(-count // THREADS), THREADS](cuda.to_device(points), values, slopes)
    return values.copy_to_host(), slopes.copy_to_host()


MODELS = [densities.schools, densities.regression, densities.recurrence]


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_log_densities(cuda, make):
    density = make()
    points = np.random.default_rng(0).normal(size=(1001, density.ndim))
    points[7] = np.nan
    values, slopes = evaluated(cuda, device_function(density, gradient=True), points)
    wanted, gradients = density.logdensity_and_gradient(points)
    assert values[7] == -np.inf
    np.testing.assert_allclose(values, wanted, rtol=1e-12)
    there = np.arange(1001) != 7
    np.testing.assert_allclose(slopes[there], gradients[there], rtol=1e-10, atol=1e-11)


def test_numbers_and_draws(cuda):
    function = device_function(lambda x, a, b: logpdf(Gamma(a, b), x), gradient=True)
    draw = device_function(lambda key: vecdist.sample(key, Normal(0.0, 1.0)), [np.int64])

    @cuda.jit
    def kernel(x, out):
        place = cuda.grid(1)
        if place < x.size:
            value, (in_x, in_a, in_b) = function(x[place], 2.5, 1.5)
            out[place, 0], out[place, 1], out[place, 2], out[place, 3] = value, in_x, in_a, in_b
            out[place, 4] = draw(place)

    x = np.linspace(0.01, 20.0, 1000)
    out = cuda.to_device(np.empty((1000, 5)))
    kernel[-(-1000 // THREADS), THREADS](cuda.to_device(x), out)
    found = out.copy_to_host()
    for row, point in zip(found[::97], x[::97], strict=True):
        value, slopes = function(point, 2.5, 1.5)
        np.testing.assert_allclose(row[:4], [value, *slopes], rtol=1e-12)
    np.testing.assert_allclose(found[:, 4], [draw(key) for key in range(1000)], rtol=1e-12, atol=1e-14)


def test_arrays_of_cupy_are_read_where_they_lie(cuda):
    cupy = pytest.importorskip("cupy")
    seen = cupy.arange(8.0)[::2]
    density = LogDensity(lambda mu: logpdf(Normal(mu, 1.0), vecdist.lazy(seen)).sum(), mu=real())
    function = device_function(density, gradient=True)
    points = np.linspace(-1.0, 1.0, 5).reshape(5, 1)
    for shift in (0.0, 10.0):
        seen += shift
        values, slopes = evaluated(cuda, function, points)
        centred = seen.get() - points
        np.testing.assert_allclose(values, (-0.5 * centred**2 - 0.5 * np.log(2 * np.pi)).sum(axis=1), rtol=1e-13)
        np.testing.assert_allclose(slopes[:, 0], centred.sum(axis=1), rtol=1e-13)
    with pytest.raises(TypeError, match="holds CuPy arrays"):
        function(np.zeros(1), np.zeros(1))


def test_samplers_written_by_hand_find_the_moments(cuda):
    """A chain for each thread."""
    target, chains, count = device_samplers.target(), 256, 500
    jit = cuda.jit(device=True)
    walk = device_samplers.metropolis(jit, device_function(target))
    leap = device_samplers.hamiltonian(jit, device_function(target, gradient=True))

    @cuda.jit
    def kernel(x, new, work, draws, walked, leapt):
        place = cuda.grid(1)
        if place < x.shape[0]:
            walk(x[place], new[place], 1.0, draws[place], walked[place])
            leap(x[place], work[place], 0.4, 5, draws[place], leapt[place])

    draws = device_samplers.drawn(chains * count).reshape(chains, count, 3)
    starts = np.tile(device_samplers.MEANS, (chains, 1))
    x, new, work, draws = map(cuda.to_device, (starts, np.empty((chains, 2)), np.empty((chains, 3, 2)), draws))
    walked, leapt = (cuda.to_device(np.zeros((chains, 2, 2))) for _ in range(2))
    kernel[2, THREADS](x, new, work, draws, walked, leapt)
    device_samplers.check(walked.copy_to_host().sum(axis=0), chains * count, close=0.05)
    device_samplers.check(leapt.copy_to_host().sum(axis=0), chains * count, close=0.03)
