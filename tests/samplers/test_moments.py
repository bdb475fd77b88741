"""Means of draws against exact ones, within what their effective sample sizes allow."""

import numpy as np
import pytest
from posteriors import (
    COVARIANCE,
    MEAN,
    GammaRegression,
    Gaussian,
    Groups,
    eight_schools_density,
    eight_schools_moments,
    gamma_regression_grid,
)

from vecdist.samplers import chees, ess, hmc

FAR = 4.5  # standard errors


def check_means(draws, wanted, at_least):
    """Means of draws (chains, draws, ...) are near what is wanted, and worth so many independent draws."""
    sizes = ess(draws)
    assert np.min(sizes) > at_least
    error = draws.std(axis=(0, 1)) / np.sqrt(sizes)
    distance = (draws.mean(axis=(0, 1)) - wanted) / error
    assert np.max(np.abs(distance)) < FAR, distance


def check_moments(draws, mean, scale, at_least=500):
    """Means and standard deviations: squares of standardised draws have mean 1."""
    assert draws.rhat.max() < 1.03
    check_means(draws.positions, mean, at_least)
    check_means(((draws.positions - mean) / scale) ** 2, np.ones(len(mean)), at_least / 2)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["diagonal", "unit", "dense"])
def test_hmc_on_a_gaussian(metric):
    length = {"unit": 10.0}.get(metric, np.pi / 2)
    draws = hmc(Gaussian(), chains=16, draws=300, warmup=300, metric=metric, trajectory=length, key=1, progress=False)
    check_moments(draws, MEAN, np.sqrt(np.diag(COVARIANCE)))
    assert abs(draws.acceptance.mean() - 0.8) < 0.1
    assert not draws.divergences.any()
    if metric != "unit":
        learnt = draws.metric if metric == "diagonal" else np.diag(draws.metric)
        np.testing.assert_allclose(learnt, np.diag(COVARIANCE), rtol=0.3)
    if metric == "dense":
        np.testing.assert_allclose(draws.metric, COVARIANCE, atol=3.0)


@pytest.mark.slow
def test_chees_on_a_gaussian():
    draws = chees(Gaussian(), chains=32, draws=200, warmup=300, key=2, progress=False)
    check_moments(draws, MEAN, np.sqrt(np.diag(COVARIANCE)))
    assert 1.0 < draws.trajectory_length < 15.0


@pytest.mark.slow
def test_chees_on_groups():
    mean, scale = Groups().moments()
    draws = chees(Groups(), chains=32, draws=200, warmup=200, key=3, progress=False)
    check_moments(draws, mean, scale)


@pytest.mark.slow
def test_eight_schools():
    wanted = eight_schools_moments()
    np.testing.assert_allclose([wanted["mu"], wanted["tau"]], [4.4, 3.6], atol=0.05)  # as published, by posteriordb
    draws = chees(eight_schools_density(), chains=64, draws=300, warmup=300, key=4, progress=False)
    found = draws.unpacked
    assert {name: array.shape for name, array in found.items()} == {
        "eta": (64, 300, 8), "mu": (64, 300), "tau": (64, 300)
    }
    theta = found["mu"][..., None] + found["tau"][..., None] * found["eta"]
    for mean, values in zip(wanted.values(), (found["mu"], found["tau"], theta), strict=True):
        check_means(values, mean, 2000)


@pytest.mark.slow
def test_a_gamma_regression():
    mean, scale, _ = gamma_regression_grid([0.4, 0.8, 0.9], [0.15, 0.15, 0.25])
    again, _, _ = gamma_regression_grid([0.45, 0.75, 0.85], [0.15, 0.15, 0.25], 49)
    np.testing.assert_allclose(mean, again, atol=1e-6)  # the oracle has converged
    draws = hmc(GammaRegression(), chains=16, draws=300, warmup=200, key=5, progress=False)
    check_moments(draws, mean, scale)
