"""The grids have converged, and the log densities are those that the grids integrate."""

import numpy as np
import pytest
import targets

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["gamma", "logistic", "mixture"])
def test_grids_converge(name):
    of = getattr(targets, f"{name}_grid")
    for coarse, fine in zip(of(), of(51), strict=True):
        np.testing.assert_allclose(coarse, fine, atol=1e-5)


@pytest.mark.parametrize("name", ["gamma", "logistic", "mixture"])
def test_log_densities_are_those_of_the_grids(name):
    density, log_posterior = targets.TARGETS[name]().density, getattr(targets, f"{name}_log_posterior")
    x = np.random.default_rng(1).normal(scale=0.5, size=(20, density.ndim))
    np.testing.assert_allclose(density(x), log_posterior(x), rtol=1e-11)
