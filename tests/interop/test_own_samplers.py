"""The samplers of vecdist on a posterior whose intercepts make the density steep far out."""

import numpy as np
import pytest
import targets

from vecdist.samplers import chees, hmc, rhat

pytestmark = pytest.mark.slow
RUNS = {"hmc": (hmc, {"chains": 16, "draws": 500, "trajectory": 4.0}), "chees": (chees, {"chains": 32, "draws": 500})}


@pytest.mark.parametrize("name", RUNS)
def test_intercepts_that_vary(name):
    sampler, arguments = RUNS[name]
    target = targets.poisson()
    draws = sampler(target.density, warmup=300, key=5, progress=False, **arguments)
    found = target.quantities(draws.unpacked)
    assert np.max(rhat(found)) < 1.01 and draws.divergences.mean(axis=1).max() < 0.05
    target.check_quantities(found, 2000)
