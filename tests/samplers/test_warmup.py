"""Chains that begin far out: the share of a step that each takes, and what the others notice."""

import numpy as np
import pytest
from posteriors import Gaussian

from vecdist import random
from vecdist.samplers import chees, ess, hmc
from vecdist.samplers.density import Target
from vecdist.samplers.hamiltonian import Dynamics
from vecdist.samplers.warmup import LARGER, SMALLER, Report

CHAINS, FAR = 8, 3  # the chain that begins far out


class LogExponential:
    """The logarithms of two independent variates of the exponential distribution: steep to the right."""

    ndim = 2
    mean, scale = -np.euler_gamma, np.pi / np.sqrt(6.0)

    def trace(self, x):
        return (x - np.exp(x)).sum()


def starts(far):
    """Where chains begin: one of them where the gradient is -exp(far) in each coordinate."""
    found = np.random.default_rng(0).uniform(-1.0, 1.0, size=(CHAINS, 2))
    found[FAR] = far
    return found


@pytest.mark.parametrize("sampler", [hmc, pytest.param(chees, marks=pytest.mark.slow)])
def test_a_chain_that_begins_far_out_comes_back_and_stops_no_other(sampler):
    arguments = {"chains": CHAINS, "warmup": 100, "draws": 300, "progress": False}
    near = sampler(LogExponential(), initial=starts(0.5), key=1, **arguments)
    for key, far in ((1, 8.0), (2, 12.0), (3, 16.0)):
        draws = sampler(LogExponential(), initial=starts(far), key=key, **arguments)
        assert abs(np.log(draws.step_size / near.step_size)) < 0.3
        assert draws.divergences.mean() < 0.01 and draws.rhat.max() < 1.05
        standard = (draws.positions - LogExponential.mean) / LogExponential.scale
        for values, wanted in ((standard, 0.0), (standard**2, 1.0)):
            error = values.std(axis=(0, 1)) / np.sqrt(ess(values))
            assert (abs(values.mean(axis=(0, 1)) - wanted) < 4.5 * error).all()
        assert abs(standard[FAR].mean(axis=0)).max() < 0.5


@pytest.fixture
def dynamics(uncompiled):
    made = Dynamics(Target.of(Gaussian()), np.asarray(random.fold_in(1, np.arange(4))), np.ones(3))
    made.evaluate(np.arange(12.0).reshape(4, 3))
    made.draw(1)
    return made


def after(report, acceptance, most=1.0):
    """What the step size is learnt from, and the shares of chains, after a draw of such acceptance."""
    record = report.dynamics.state.record
    record.acceptance[...], record.divergent[...] = acceptance, np.equal(acceptance, 0.0)
    learnt, *_ = report(1)
    report.hand_out(0.5, most)
    np.testing.assert_array_equal(report.dynamics.step, 0.5 * report.share)
    return learnt, report.share.copy()


def test_shares_of_chains_that_fail(dynamics):
    report = Report(dynamics, chees=False)
    learnt, shares = after(report, [0.9, 0.0, 0.6, 0.1])
    assert learnt == pytest.approx(0.4)
    np.testing.assert_allclose(shares, [1, SMALLER, 1, 1])
    learnt, shares = after(report, [0.9, 0.001, 0.6, 0.0])
    assert learnt == pytest.approx(0.375)  # 0.001 was accepted at a smaller step: it is not counted
    np.testing.assert_allclose(shares, [1, SMALLER**2, 1, SMALLER])
    learnt, shares = after(report, [0.8, 1.0, 0.8, 1.0])
    assert learnt == pytest.approx(0.4)
    np.testing.assert_allclose(shares, [1, SMALLER**2 * LARGER, 1, 1])


def test_step_sizes_of_their_own_and_their_middle(dynamics):
    report = Report(dynamics, chees=False)
    after(report, [0.0, 0.9, 0.0, 0.9], np.inf)
    _, shares = after(report, [0.0, 0.9, 0.9, 0.9], np.inf)
    np.testing.assert_allclose(shares, [SMALLER**2, LARGER**2, SMALLER * LARGER, LARGER**2])
    middle = report.median_share()
    assert middle == pytest.approx(np.median(shares))
    report.hand_out(0.5, 1.0)
    np.testing.assert_allclose(report.share, np.minimum(shares / middle, 1.0))


def test_chees_counts_a_chain_of_a_smaller_step_as_one_that_diverged(dynamics):
    report = Report(dynamics, chees=True)
    learnt, _ = after(report, [0.8, 0.5, 0.001, 0.0])
    assert learnt == pytest.approx(0.75 * 3 / (1 / 0.8 + 1 / 0.5 + 1 / 0.01))
    learnt, _ = after(report, [0.8, 0.5, 1.0, 1.0])
    assert learnt == pytest.approx(0.5 * 2 / (1 / 0.8 + 1 / 0.5))


@pytest.mark.parametrize("acceptance", [0.0, 1.0])
def test_shares_stay_finite(dynamics, acceptance):
    report = Report(dynamics, chees=False)
    for _ in range(600):
        _, shares = after(report, [acceptance] * 4, 1e100)
    assert np.isfinite(shares).all() and (shares > 0.0).all()
