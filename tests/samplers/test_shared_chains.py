"""Chains that devices share: the same draws for any number of these, and those of one device beside them."""

import numpy as np
import pytest
from posteriors import COVARIANCE, MEAN, Gaussian
from scipy import stats

import vecdist
from vecdist import LogDensity, devices, logpdf
from vecdist.distributions import Normal
from vecdist.parameters import positive, real
from vecdist.samplers import chees, hmc, nuts, sghmc, sgld
from vecdist.samplers.density import Target
from vecdist.samplers.shared import SharedDynamics

FIXED = {"draws": 12, "warmup": 0, "step_size": 0.3, "progress": False}
ARRAYS = ("positions", "log_densities", "energies", "acceptance", "divergences", "steps", "metric")


def cpus(count, pieces=8):
    return devices(["cpu"] * count, pieces=pieces)


def assert_same(found, wanted):
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)


@pytest.mark.parametrize("chains", [1, 2, 5, 8, 13])
def test_any_number_of_devices_makes_the_same_draws(chains, uncompiled):
    ways = [hmc(Gaussian(), chains=chains, key=3, device=cpus(count), **FIXED) for count in (1, 2, 3, 8)]
    for way in ways[1:]:
        assert_same(way, ways[0])
    alone = hmc(Gaussian(), chains=chains, key=3, **FIXED)
    np.testing.assert_allclose(ways[0].positions, alone.positions, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", range(6))
def test_random_numbers_of_chains_pieces_and_devices(seed, uncompiled):
    rng = np.random.default_rng(seed)
    chains, pieces = int(rng.integers(2, 20)), int(rng.integers(1, 12))
    counts = rng.integers(1, pieces + 1, 2)
    sampler = (hmc, chees)[seed % 2]
    metric = ("diagonal", "dense", "low-rank")[seed // 2]
    asked = {"draws": 3, "warmup": 25, "key": seed, "progress": False, "metric": metric}
    first, second = (sampler(Gaussian(), chains=chains, device=cpus(count, pieces), **asked) for count in counts)
    assert_same(first, second)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [hmc, chees])
def test_adaptation_is_that_of_all_chains_together(sampler):
    asked = {"chains": 24, "draws": 100, "warmup": 120, "key": 5, "progress": False}
    one, three = (sampler(Gaussian(), device=cpus(count), **asked) for count in (1, 3))
    assert_same(three, one)
    alone = sampler(Gaussian(), **asked)
    assert abs(np.log(alone.step_size / one.step_size)) < 0.5
    x = one.positions.reshape(-1, 3)
    errors = np.sqrt(np.diag(COVARIANCE)) / np.sqrt(one.ess)
    assert stats.chi2.sf((((x.mean(axis=0) - MEAN) / errors) ** 2).sum(), 3) > 1e-4


def test_log_densities_of_data_that_never_change(uncompiled):
    y = vecdist.data(np.array([0.5, 1.5, 4.0]))

    def model(mu, sigma):
        return logpdf(Normal(mu, sigma), y).sum() - 0.5 * mu * mu - sigma

    density = LogDensity(model, mu=real(), sigma=positive())
    ways = [hmc(density, chains=6, key=1, device=cpus(count), **FIXED) for count in (1, 4)]
    assert_same(*ways)
    assert set(ways[0].unpacked) == {"mu", "sigma"}


def test_gradients_and_proposals_lie_on_the_first_device(uncompiled):
    keys = np.asarray(vecdist.random.fold_in(1, np.arange(5)))
    made = SharedDynamics(Target.of(Gaussian(), device=cpus(3), shares=True), keys, np.ones(3))
    made.step[...] = 0.1
    starts = MEAN + np.random.default_rng(0).normal(size=(5, 3))
    made.evaluate(starts)
    np.testing.assert_array_equal(made.state.record.position, starts)
    assert np.isfinite(made.state.gradient).all() and made.state.gradient.any(axis=1).all()
    made.draw(3)
    np.testing.assert_array_equal(made.previous.record.position, starts)
    accepted = (made.state.record.position != starts).any(axis=1)
    np.testing.assert_array_equal(made.state.record.position[accepted], made.proposal(3).position[accepted])
    assert float(made.state.record.number) == 1.0


def test_chains_begin_where_the_density_is_finite(uncompiled):
    with pytest.raises(ValueError, match="where chain 4 is to start"):
        hmc(lambda x: np.where(x[0] < 1.0, -0.5 * (x * x).sum(), np.nan), chains=6, device=cpus(2),
            initial=np.array([[0.0], [0.1], [0.2], [0.3], [2.0], [0.4]]), **FIXED)  # fmt: skip


def test_what_is_not_shared():
    y = cpus(2).shard(np.arange(10.0), "y")
    rows = LogDensity(lambda mu: logpdf(Normal(mu, 1.0), y).sum(), mu=real())
    with pytest.raises(ValueError, match="devices share chains, or the rows of y, but not both"):
        hmc(rows, chains=2, device=cpus(2), **FIXED)
    for sampler, asked in ((nuts, {}), (sgld, {"step_size": 0.1}), (sghmc, {"step_size": 0.1})):
        with pytest.raises(ValueError, match="share the chains of hmc and chees"):
            sampler(Gaussian(), device=cpus(2), **asked)
    with pytest.raises(ValueError, match=r"what vecdist\.devices gives, given 'gpu'"):
        hmc(Gaussian(), device="gpu", **FIXED)
