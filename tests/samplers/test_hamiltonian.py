"""The kernels of a draw, each alone, against the same in plain NumPy."""

import numpy as np
import pytest
from posteriors import COVARIANCE, MEAN, PRECISION, Gaussian

from vecdist import random
from vecdist.samplers.density import Target
from vecdist.samplers.hamiltonian import Dynamics

CHAINS = 5
STARTS = MEAN + np.random.default_rng(0).normal(size=(CHAINS, 3))
STEP = 0.1


@pytest.fixture(params=["diagonal", "dense"])
def dynamics(request, execution):
    keys = np.asarray(random.fold_in(1, np.arange(CHAINS)))
    made = Dynamics(Target.of(Gaussian()), keys, np.eye(3) if request.param == "dense" else np.ones(3))
    made.step[...] = STEP
    scale = np.linalg.cholesky(COVARIANCE + np.eye(3))
    made.rescale(scale if request.param == "dense" else np.diag(scale))
    made.evaluate(STARTS)
    return made


def factor(dynamics):
    return dynamics.scale if dynamics.scale.ndim == 2 else np.diag(dynamics.scale)


def log_density(x):
    return -0.5 * np.einsum("ci,ij,cj->c", x - MEAN, PRECISION, x - MEAN)


def gradient(x):
    return -(x - MEAN) @ PRECISION


def leapfrog(x, p, mass_inverse, steps):
    """In positions and momenta as textbooks have them."""
    for _ in range(steps):
        p = p + 0.5 * STEP * gradient(x)
        x = x + STEP * p @ mass_inverse
        p = p + 0.5 * STEP * gradient(x)
    return x, p


def test_where_chains_stand(dynamics):
    record, a = dynamics.state.record, factor(dynamics)
    np.testing.assert_array_equal(record.position, STARTS)
    np.testing.assert_allclose(record.log_density, log_density(STARTS), rtol=1e-12)
    np.testing.assert_allclose(dynamics.state.gradient, gradient(STARTS) @ a, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 7, 19])
def test_a_draw_is_that_of_the_textbook(dynamics, steps):
    a, keys = factor(dynamics), dynamics.keys
    r = np.asarray(random.normal(random.fold_in(keys, np.uint64(0))[:, None], 3))
    u = np.asarray(random.uniform(random.fold_in(keys, np.uint64(1))))
    dynamics.draw(steps)
    x, p = leapfrog(STARTS, r @ np.linalg.inv(a), a @ a.T, steps)
    energy = 0.5 * np.einsum("ci,ij,cj->c", p, a @ a.T, p) - log_density(x)
    before = 0.5 * (r * r).sum(axis=1) - log_density(STARTS)
    acceptance = np.minimum(1.0, np.exp(before - energy))
    taken, record = u < acceptance, dynamics.state.record
    np.testing.assert_allclose(dynamics.proposal(steps).position, x, rtol=1e-9)
    np.testing.assert_allclose(record.acceptance, acceptance, rtol=1e-9)
    np.testing.assert_allclose(record.position, np.where(taken[:, None], x, STARTS), rtol=1e-9)
    np.testing.assert_allclose(record.energy, np.where(taken, energy, before), rtol=1e-9)
    np.testing.assert_allclose(record.log_density, log_density(record.position), rtol=1e-9)
    assert record.number == 1.0 and not record.divergent.any()


def test_other_momenta_for_each_draw(dynamics):
    momenta = []
    for _ in range(3):
        dynamics.draw(1)
        momenta.append(dynamics.phases[0].momentum.copy())
    assert len(np.unique(momenta)) == 3 * CHAINS * 3


def test_energies_that_are_not_finite_reject(dynamics):
    dynamics.state.gradient[2] = np.nan
    dynamics.draw(2)
    record = dynamics.state.record
    np.testing.assert_array_equal(record.divergent, [0, 0, 1, 0, 0])
    assert record.acceptance[2] == 0.0 and np.isfinite(record.memory).all()
    np.testing.assert_array_equal(record.position[2], STARTS[2])
