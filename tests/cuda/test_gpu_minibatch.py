"""Batches of rows on a real GPU: the rows, the estimates and the draws of the CPU."""

import numpy as np
import pytest

import vecdist
from vecdist import LogDensity, logpdf
from vecdist.distributions import Bernoulli, Normal
from vecdist.parameters import real
from vecdist.samplers import sghmc, sgld

pytestmark = pytest.mark.cuda

ROWS = 5000
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(ROWS, 4)), (RNG.random(ROWS) < 0.3).astype(float)


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def logistic(beta, x, y):
    return {"prior": logpdf(Normal(0.0, 1.0), beta).sum(), "likelihood": logpdf(Bernoulli(logit=x @ beta), y)}


@pytest.mark.parametrize("on_device", [False, True])
def test_estimates(cupy, on_device):
    """Of rows in host memory, which are copied once, or on the device."""
    here = LogDensity(logistic, rows={"x": X, "y": Y}, beta=real(4))
    there = LogDensity(logistic, rows={"x": cupy.asarray(X), "y": cupy.asarray(Y)}, beta=real(4)) if on_device else here
    for lead, batch in (((), (300,)), ((7,), (300,)), ((7,), (7, 300))):
        v, rows = RNG.normal(size=(*lead, 4)), RNG.integers(0, ROWS, batch)
        wanted, slopes = here.logdensity_and_gradient(v, batch=rows)
        picked = {"x": X[rows], "y": Y[rows]}
        for given in (rows, cupy.asarray(rows), picked, {name: cupy.asarray(each) for name, each in picked.items()}):
            value, gradient = there.logdensity_and_gradient(cupy.asarray(v), batch=given)
            np.testing.assert_allclose(value.get(), wanted, rtol=1e-12)
            np.testing.assert_allclose(gradient.get(), slopes, rtol=1e-9, atol=1e-10)


def test_a_key_takes_the_rows_that_it_takes_on_the_cpu(cupy):
    for rows, size in ((10, 3), (1000, 100), (2**40 + 5, 1000)):
        keys, steps = np.arange(5)[:, None], np.array([0, 1, 2, 10, 50])
        found = vecdist.random.minibatch(cupy.asarray(keys), cupy.asarray(steps), size, rows)
        wanted = np.asarray(vecdist.random.minibatch(keys, steps, size, rows))
        np.testing.assert_array_equal(found.compute().get(), wanted)


@pytest.mark.parametrize("center", [None, np.full(4, 0.1)])
@pytest.mark.parametrize("sampler", [sgld, sghmc])
def test_draws_are_those_of_the_cpu(cupy, sampler, center):
    density = LogDensity(logistic, rows={"x": X, "y": Y}, beta=real(4))
    step = 1e-4 if sampler is sgld else 5e-3
    options = {"chains": 70, "draws": 6, "warmup": 2, "steps": 3, "key": 1, "batch": 100, "progress": False}
    here, there = (
        sampler(density, step_size=step, initial=np.zeros(4), center=center, device=device, **options)
        for device in ("cpu", "cuda")
    )
    assert isinstance(there.positions, cupy.ndarray) and not there.divergences.any()
    np.testing.assert_allclose(there.positions.get(), here.positions, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(there.log_densities.get(), here.log_densities, rtol=1e-8)
    np.testing.assert_allclose(there.noise, here.noise, rtol=1e-8)
