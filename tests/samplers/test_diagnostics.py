"""Effective sample sizes of series whose autocorrelation is known, and R-hat by SciPy's ranks."""

import numpy as np
import pytest
from scipy import signal, stats

from vecdist.samplers import ess, rhat


def autoregressive(rng, correlation, chains=8, draws=4000):
    """Stationary series whose autocorrelation at lag t is correlation^t."""
    noise = rng.normal(size=(chains, draws)) * np.sqrt(1.0 - correlation**2)
    noise[:, 0] = rng.normal(size=chains)
    return signal.lfilter([1.0], [1.0, -correlation], noise, axis=1)


def rhat_by_scipy(draws):
    half = draws.shape[1] // 2
    chains = np.concatenate([draws[:, :half], draws[:, -half:]])

    def reduction(values):
        ranks = stats.rankdata(values).reshape(values.shape)
        scores = stats.norm.ppf((ranks - 0.375) / (values.size + 0.25))
        within, between = scores.var(axis=1, ddof=1).mean(), half * scores.mean(axis=1).var(ddof=1)
        return np.sqrt(((half - 1) / half * within + between / half) / within)

    return max(reduction(chains), reduction(abs(chains - np.median(chains))))


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, -0.4])
def test_ess_of_an_autoregressive_series(correlation):
    draws = autoregressive(np.random.default_rng(3), correlation)
    wanted = draws.size * (1.0 - correlation) / (1.0 + correlation)
    assert abs(ess(draws) / wanted - 1.0) < 0.12
    assert abs(ess(draws, rank_normalised=True) / wanted - 1.0) < 0.12


def test_ess_of_ranks_needs_no_moments():
    draws = np.tan(np.pi * (np.random.default_rng(4).uniform(size=(4, 2000)) - 0.5))
    assert abs(ess(draws, rank_normalised=True) / draws.size - 1.0) < 0.15


def test_rhat_against_scipy():
    rng = np.random.default_rng(5)
    draws = rng.normal(size=(4, 201, 3)) + np.linspace(0.0, 0.5, 4)[:, None, None]
    draws[..., 1] = draws[..., 1].round(1)  # ties
    draws[0, :, 2] *= 4.0
    wanted = [rhat_by_scipy(draws[..., place]) for place in range(3)]
    np.testing.assert_allclose(rhat(draws), wanted, rtol=1e-12)
    assert wanted[2] > 1.1


def test_shapes_and_degenerate_draws():
    draws = np.random.default_rng(6).normal(size=(3, 50, 2, 4))
    assert ess(draws).shape == rhat(draws).shape == (2, 4)
    draws[0, 0, 0, 0], draws[..., 1, 1] = np.inf, 7.0
    for measure in (ess, rhat):
        assert np.flatnonzero(np.isnan(measure(draws))).tolist() == [0, 5]
        with pytest.raises(ValueError, match="at least 4 draws"):
            measure(draws[:, :3])
