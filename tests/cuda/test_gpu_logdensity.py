"""Log densities on a real GPU: the same numbers as on the CPU, from CuPy vectors and models with NumPy data."""

import densities
import numpy as np
import pytest
from test_logdensity import MATRICES, matrix_model

import vecdist
from vecdist import LogDensity, logpdf, random
from vecdist.distributions import Normal
from vecdist.parameters import positive, real

pytestmark = pytest.mark.cuda


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.mark.parametrize("make", [densities.schools, densities.regression], ids=["schools", "regression"])
def test_values_and_gradients(cupy, make):
    density = make()
    for lead in ((), (1,), (7,), (2, 3)):
        x = np.random.default_rng(0).normal(size=(*lead, density.ndim))
        value, gradient = density.logdensity_and_gradient(cupy.asarray(x))
        assert isinstance(value, cupy.ndarray) and isinstance(gradient, cupy.ndarray)
        wanted, slopes = density.logdensity_and_gradient(x)
        np.testing.assert_allclose(value.get(), wanted, rtol=1e-12)
        np.testing.assert_allclose(gradient.get(), slopes, rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(density(cupy.asarray(x)).get(), wanted, rtol=1e-12)


def test_all_constraints(cupy):
    density = LogDensity(matrix_model, MATRICES)
    x = np.random.default_rng(1).normal(size=(3, density.ndim))
    found = density.unpack(cupy.asarray(x))
    for name, array in density.unpack(x).items():
        assert isinstance(found[name], cupy.ndarray)
        np.testing.assert_allclose(found[name].get(), array, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(density.pack(found), x, rtol=1e-9, atol=1e-9)
    values, gradients = density.logdensity_and_gradient(cupy.asarray(x))
    wanted, slopes = density.logdensity_and_gradient(x)
    np.testing.assert_allclose(values.get(), wanted, rtol=1e-11)
    np.testing.assert_allclose(gradients.get(), slopes, rtol=1e-9, atol=1e-10)


def test_parts_and_bad_points(cupy):
    density = densities.schools()
    x = np.random.default_rng(2).normal(size=(4, 5, 10))
    for ask in ("logprior", "loglikelihood"):
        found = getattr(density, ask)(cupy.asarray(x)).get()
        np.testing.assert_allclose(found, getattr(density, ask)(x), rtol=1e-12)
    found = density.pointwise_loglikelihood(cupy.asarray(x))["effects"].get()
    np.testing.assert_allclose(found, density.pointwise_loglikelihood(x)["effects"], rtol=1e-12)
    x[0, 0, 3] = np.nan
    assert density(cupy.asarray(x))[0, 0] == -np.inf


def test_models_of_data_on_the_gpu(cupy):
    y = vecdist.data(cupy.arange(5.0))
    density = LogDensity(
        lambda mu, sigma: logpdf(Normal(mu, sigma), y).sum(), mu=real(), sigma=positive(),
        predict=lambda key, mu, sigma: {"y": mu + sigma * random.normal(key, 5)},
    )
    start = density.initial_point(seed=1)
    assert isinstance(start, cupy.ndarray) and bool(cupy.isfinite(density(start)))
    draws = density.predictive(cupy.zeros((3, 2)), key=5)["y"]
    assert isinstance(draws, cupy.ndarray) and draws.shape == (3, 5)
    assert density.hessian(start).shape == (2, 2)


def test_given_arrays(cupy):
    density = densities.regression()
    x = cupy.asarray(np.random.default_rng(3).normal(size=(6, 3)))
    out = cupy.empty(6), cupy.empty((6, 3))
    density.logdensity_and_gradient(x, out=out)
    values, gradients = density.logdensity_and_gradient(x)
    assert bool((out[0] == values).all()) and bool((out[1] == gradients).all())
