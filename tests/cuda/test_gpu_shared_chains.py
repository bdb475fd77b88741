"""Chains that GPUs share: one GPU is listed several times, and the draws are the same for any number of them."""

import densities
import numpy as np
import pytest
from scipy import stats

from vecdist import devices
from vecdist.graph.leaves import on_host
from vecdist.samplers import chees, hmc

pytestmark = pytest.mark.cuda
MEAN, SCALES = np.array([1.0, -2.0, 30.0]), np.array([1.0, 0.3, 5.0])
FIXED = {"draws": 12, "warmup": 0, "step_size": 0.3, "progress": False}


class Gaussian:
    ndim = 3

    def trace(self, x):
        return -0.5 * (((x - MEAN) / SCALES) ** 2).sum() - 0.1 * (x[0] - MEAN[0]) * (x[1] - MEAN[1])


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def assert_same(found, wanted):
    for name in ("positions", "log_densities", "energies", "acceptance", "divergences", "steps", "metric"):
        np.testing.assert_array_equal(*(on_host(getattr(each, name)) for each in (found, wanted)), err_msg=name)


@pytest.mark.parametrize("chains", [1, 5, 64, 1000])
def test_any_number_of_gpus_makes_the_same_draws(cupy, chains):
    ways = [hmc(Gaussian(), chains=chains, key=3, device=devices([0] * count), **FIXED) for count in (1, 2, 3, 8)]
    assert isinstance(ways[0].positions, cupy.ndarray)
    for way in ways[1:]:
        assert_same(way, ways[0])
    alone = hmc(Gaussian(), chains=chains, key=3, **FIXED)
    np.testing.assert_allclose(ways[0].positions.get(), alone.positions, rtol=1e-9, atol=1e-10)


def test_data_that_never_change_lie_on_each_gpu(cupy):
    density = densities.schools()
    asked = {"chains": 20, "key": 1, "draws": 10, "warmup": 20, "progress": False}
    ways = [chees(density, device=devices([0] * count), **asked) for count in (1, 3)]
    assert_same(*ways)


def test_adaptation_is_that_of_all_chains_together(cupy):
    asked = {"chains": 256, "draws": 100, "warmup": 150, "key": 5, "progress": False}
    one, two = (chees(Gaussian(), device=devices([0] * count), **asked) for count in (1, 2))
    assert_same(two, one)
    x = on_host(one.positions).reshape(-1, 3)
    errors = x.std(axis=0) / np.sqrt(on_host(one.ess))
    assert stats.chi2.sf((((x.mean(axis=0) - MEAN) / errors) ** 2).sum(), 3) > 1e-4
