"""Samplers on a real GPU: the draws of the CPU, the right moments, and chains that do not depend on each other."""

import numpy as np
import pytest

import vecdist
from vecdist import logpdf
from vecdist.datasets import eight_schools
from vecdist.distributions import HalfCauchy, Normal
from vecdist.parameters import positive, real
from vecdist.samplers import chees, find_map, hmc, laplace, nuts
from vecdist.samplers.density import Target
from vecdist.samplers.hamiltonian import Dynamics
from vecdist.samplers.replay import own_stream
from vecdist.samplers.trees import run

pytestmark = pytest.mark.cuda

MEAN = np.array([1.0, -2.0, 30.0])
COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 2.0, -3.0], [0.0, -3.0, 25.0]])
PRECISION = np.linalg.inv(COVARIANCE)
FIXED = {"draws": 40, "warmup": 0, "step_size": 0.3, "progress": False}


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def gaussian(cupy):
    """A normal distribution, as a function of a vector whose arrays lie on the device."""
    mean, precision = cupy.asarray(MEAN), cupy.asarray(PRECISION)

    def log_density(x):
        apart = x - mean
        return -0.5 * (apart[:, None] * precision * apart).sum()

    return log_density


def on_cpu(x):
    apart = x - MEAN
    return -0.5 * (apart[:, None] * PRECISION * apart).sum()


def schools():
    y, errors = map(vecdist.data, eight_schools())

    def model(eta, mu, tau):
        prior = logpdf(Normal(0.0, 1.0), eta).sum(), logpdf(Normal(0.0, 5.0), mu), logpdf(HalfCauchy(5.0), tau)
        return {"prior": prior, "likelihood": logpdf(Normal(mu + tau * eta, errors), y)}

    return vecdist.LogDensity(model, eta=real(8), mu=real(), tau=positive())


@pytest.mark.parametrize("metric", [[1.0, 2.0, 25.0], COVARIANCE], ids=["diagonal", "dense"])
def test_draws_are_those_of_the_cpu(cupy, metric):
    start = np.zeros(3)
    there = hmc(gaussian(cupy), chains=70, key=1, metric=metric, initial=cupy.asarray(start), **FIXED)
    here = hmc(on_cpu, chains=70, key=1, metric=metric, initial=start, **FIXED)
    assert isinstance(there.positions, cupy.ndarray) and there.positions.shape == (70, 40, 3)
    np.testing.assert_array_equal(there.steps, here.steps)
    first = slice(0, 5)  # small errors grow from draw to draw
    np.testing.assert_allclose(there.positions.get()[:, first], here.positions[:, first], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(there.energies.get()[:, first], here.energies[:, first], rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(there.acceptance.get()[:, first], here.acceptance[:, first], rtol=1e-6, atol=1e-9)


def test_draws_of_a_chain_do_not_depend_on_how_many_there_are(cupy):
    """Two numbers of chains that make the same kernels: sums of a row may be added in another order by others."""
    start = cupy.zeros(3)
    few, many = (hmc(gaussian(cupy), chains=chains, key=2, initial=start, **FIXED) for chains in (200, 5000))
    np.testing.assert_array_equal(few.positions.get(), many.positions[:200].get())
    again = hmc(gaussian(cupy), chains=200, key=2, initial=start, **FIXED)
    np.testing.assert_array_equal(few.positions.get(), again.positions.get())


@pytest.mark.parametrize("metric", ["diagonal", "dense"])
def test_moments_of_a_gaussian(cupy, metric):
    draws = chees(gaussian(cupy), chains=512, draws=100, warmup=200, key=3, metric=metric, initial=cupy.zeros(3),
                  progress=False)
    positions = draws.positions.get()
    error = positions.std(axis=(0, 1)) / np.sqrt(draws.ess)
    assert draws.ess.min() > 5000 and draws.rhat.max() < 1.03
    assert (abs(positions.mean(axis=(0, 1)) - MEAN) < 4.5 * error).all()
    np.testing.assert_allclose(np.cov(positions.reshape(-1, 3).T), COVARIANCE, atol=1.0)


def test_eight_schools_from_data_on_the_host(cupy):
    """The moments are those that tests/samplers/test_moments.py finds by a grid, near 4.4 and 3.6."""
    draws = chees(schools(), chains=2048, draws=100, warmup=300, key=4, device="cuda", progress=False)
    assert isinstance(draws.positions, cupy.ndarray)
    found = draws.unpacked
    assert abs(found["mu"].mean() - 4.39) < 0.05 and abs(found["tau"].mean() - 3.60) < 0.08
    assert draws.divergences.mean() < 0.01


def test_a_chain_that_diverges_stops_no_other(cupy):
    def hill(x):
        return np.where(x[0] < 1.5, -0.5 * (x * x).sum(), np.nan)

    start = cupy.asarray([[0.0, 0.0], [1.4, 0.0], [-1.0, 0.5]])
    draws = hmc(hill, chains=3, initial=start, key=5, **FIXED)
    positions, divergent = draws.positions.get(), draws.divergences.get()
    assert divergent[1].any() and np.isfinite(positions).all() and (positions[..., 0] < 1.5).all()
    assert (np.diff(positions, axis=1) == 0.0)[divergent[:, 1:]].all()


def test_an_interruption_returns_what_was_drawn(cupy, monkeypatch):
    draw, calls = Dynamics.draw, []

    def interrupted(self, steps):
        calls.append(steps)
        if len(calls) > 25:
            raise KeyboardInterrupt
        draw(self, steps)

    whole = hmc(gaussian(cupy), chains=8, key=6, initial=cupy.zeros(3), **FIXED)
    monkeypatch.setattr(Dynamics, "draw", interrupted)
    part = hmc(gaussian(cupy), chains=8, key=6, initial=cupy.zeros(3), **FIXED)
    assert part.interrupted and part.positions.shape == (8, 25, 3)
    np.testing.assert_array_equal(part.positions.get(), whole.positions[:, :25].get())


def test_replays_make_what_launches_made(cupy):
    """Each part of a draw is launched as it is the first time, and replayed as a graph from then on."""
    keys = cupy.arange(64, dtype=cupy.uint64)
    with own_stream(True):
        replayed, launched = (Dynamics(Target.of(gaussian(cupy), cupy.zeros(3)), keys, np.ones(3)) for _ in range(2))
        for part in (*launched._starts, launched._single, *launched._strides.values(), *launched._ends.values()):
            part.replayed = False
        for dynamics in (replayed, launched):
            dynamics.step[...] = 0.2
            dynamics.evaluate(cupy.asarray(MEAN))
        for steps in (1, 2, 3, 8, 37, 13, 2, 1, 75, 20):
            replayed.draw(steps)
            launched.draw(steps)
        np.testing.assert_array_equal(
            replayed.state.record.position.get(), launched.state.record.position.get()
        )
        assert replayed._strides[8]._graph is not None and launched._strides[8]._graph is None


def test_modes(cupy):
    mode = find_map(gaussian(cupy), cupy.zeros(3))
    np.testing.assert_allclose(mode.position, MEAN, rtol=1e-6)
    fit = laplace(gaussian(cupy), cupy.zeros(3))
    np.testing.assert_allclose(fit.covariance, COVARIANCE, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("many", [1, 1000], ids=["persistent", "launches"])
@pytest.mark.parametrize("metric", [[1.0, 2.0, 25.0], COVARIANCE], ids=["diagonal", "dense"])
def test_trees_are_those_of_the_cpu(cupy, monkeypatch, metric, many):
    monkeypatch.setattr(run, "MANY", many)
    given = FIXED | {"chains": 37, "key": 3, "metric": metric, "draws": 15}
    there = nuts(gaussian(cupy), initial=cupy.zeros(3), **given)
    here = nuts(on_cpu, initial=np.zeros(3), **given)
    assert isinstance(there.positions, cupy.ndarray)
    np.testing.assert_array_equal(there.steps, here.steps)
    np.testing.assert_allclose(there.positions.get(), here.positions, rtol=1e-6, atol=1e-8)


def test_moments_of_trees(cupy, monkeypatch, capsys):
    monkeypatch.setattr(run, "MANY", 1)
    found = nuts(schools(), chains=256, draws=100, warmup=150, key=4, device="cuda").unpacked
    for name, wanted in (("mu", 4.40), ("tau", 3.60)):  # by a grid, as the tests of samplers on the CPU compute them
        assert abs(found[name].mean() - wanted) < 0.25
    assert "draws" in capsys.readouterr().err
