"""Runs of samplers: streams of chains, chains that fail, interruptions, and what cannot be meant."""

import numpy as np
import pytest
from posteriors import Gaussian
from scipy import stats

from vecdist.samplers import chees, hmc
from vecdist.samplers.hamiltonian import Dynamics

FIXED = {"draws": 40, "warmup": 0, "step_size": 0.3, "progress": False}


def hill(x):
    """A standard normal distribution, and not a number beyond 1.5 in the first coordinate."""
    return np.where(x[0] < 1.5, -0.5 * (x * x).sum(), np.nan)


@pytest.mark.slow
def test_a_key_gives_the_same_draws_again():
    first, again, other = (hmc(Gaussian(), chains=4, key=key, **FIXED | {"warmup": 30}) for key in (7, 7, 8))
    for name in ("positions", "log_densities", "energies", "acceptance", "divergences", "steps", "metric"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert not (first.positions == other.positions).any(axis=(0, 2)).any()


@pytest.mark.slow
def test_draws_of_a_chain_do_not_depend_on_how_many_there_are():
    few, many = (hmc(Gaussian(), chains=chains, key=9, **FIXED) for chains in (3, 300))
    np.testing.assert_array_equal(few.positions, many.positions[:3])
    assert len(np.unique(many.positions[:, -1, 0])) > 290


def test_a_chain_that_diverges_stops_no_other():
    start = np.array([[0.0, 0.0], [1.4, 0.0], [-1.0, 0.5]])
    together = hmc(hill, chains=3, initial=start, key=10, **FIXED)
    assert together.divergences[1].any()
    assert np.isfinite(together.positions).all() and (together.positions[..., 0] < 1.5).all()
    stays = np.diff(together.positions, axis=1) == 0.0
    assert stays[together.divergences[:, 1:]].all()
    assert (together.acceptance[together.divergences] == 0.0).all()
    alone = hmc(hill, chains=1, initial=start[:1], key=10, **FIXED)
    np.testing.assert_array_equal(alone.positions[0], together.positions[0])


def test_rejecting_what_is_not_finite_leaves_the_distribution_right():
    draws = hmc(hill, chains=64, initial=np.zeros(2), key=11, **FIXED | {"draws": 300, "step_size": 0.5})
    x = draws.positions[:, 20:, 0]
    wanted = stats.truncnorm(-np.inf, 1.5)
    error = x.std() / np.sqrt(draws.ess[0])
    assert abs(x.mean() - wanted.mean()) < 4.5 * error


def test_a_warm_up_with_diverging_chains_ends_well():
    draws = chees(hill, chains=16, initial=np.zeros(2), key=12, draws=50, warmup=60, progress=False)
    assert 0.05 < draws.step_size < 3.0 and draws.divergences.mean() < 0.5


def test_chains_begin_where_the_density_is_finite():
    draws = hmc(Positive(), chains=32, key=13, **FIXED)
    assert np.isfinite(draws.log_densities).all() and (draws.positions > 0.0).all()


def test_a_density_that_is_finite_nowhere(uncompiled):
    with pytest.raises(ValueError, match="at none of 100 points"):
        hmc(Nowhere(), chains=2, **FIXED)


class Positive:
    ndim = 2

    def trace(self, x):
        return (np.log(x) - x).sum()


class Nowhere:
    ndim = 2

    def trace(self, x):
        return (x * np.nan).sum()


@pytest.mark.parametrize(("warmup", "before"), [(0, 25), (30, 12)])
def test_an_interruption_returns_what_was_drawn(monkeypatch, warmup, before):
    draw, calls = Dynamics.draw, []

    def interrupted(self, steps):
        calls.append(steps)
        if len(calls) > before:
            raise KeyboardInterrupt
        draw(self, steps)

    whole = hmc(Gaussian(), chains=3, key=14, **FIXED)
    monkeypatch.setattr(Dynamics, "draw", interrupted)
    part = hmc(Gaussian(), chains=3, key=14, **FIXED | {"warmup": warmup})
    done = max(before - warmup, 0)
    assert part.interrupted and not whole.interrupted
    assert part.positions.shape == (3, done, 3) and part.acceptance.shape == (3, done) and part.steps.shape == (done,)
    if not warmup:
        np.testing.assert_array_equal(part.positions, whole.positions[:, :done])


def test_progress_is_shown_on_stderr(capsys):
    hmc(Gaussian(), chains=3, **FIXED | {"progress": True})
    out, err = capsys.readouterr()
    assert out == "" and err.endswith("\n")
    last = err.rstrip("\n").rpartition("\r")[2]
    assert "40/40 of 3 chains" in last and "step size 0.3" in last and "0 divergences" in last and "draws/s" in last
    hmc(Gaussian(), chains=3, **FIXED)
    assert capsys.readouterr() == ("", "")


def test_a_metric_that_is_given_stays():
    draws = hmc(Gaussian(), chains=2, key=15, metric=[1.0, 2.0, 25.0], **FIXED | {"warmup": 30})
    np.testing.assert_allclose(draws.metric, [1.0, 2.0, 25.0])


@pytest.mark.parametrize(("arguments", "message"), [
    ({"step_size": None}, "step_size must be given"),
    ({"step_size": -1.0}, "step_size is positive"),
    ({"chains": 0}, "given 0 chains"),
    ({"metric": "full"}, "metric is one of"),
    ({"metric": np.ones(2)}, "has shape"),
    ({"acceptance": 1.0}, "between 0 and 1"),
    ({"trajectory": 0.0}, "trajectory is positive"),
    ({"jitter": 1.0}, "jitter in"),
    ({"initial": np.zeros(2)}, "initial has shape"),
    ({"initial": np.zeros((5, 3))}, "initial has shape"),
    ({"initial": np.array([0.0, np.inf, 0.0])}, "not finite where chain 0"),
])
def test_what_cannot_be_meant(arguments, message):
    with pytest.raises(ValueError, match=message):
        hmc(Gaussian(), **{"chains": 4, **FIXED, **arguments})


def test_densities_that_are_none():
    with pytest.raises(ValueError, match="give initial"):
        hmc(hill, **FIXED)
    with pytest.raises(TypeError, match="a density has a method trace"):
        hmc(3.0, **FIXED)
    with pytest.raises(ValueError, match="lazy scalar; for a vector of 2 numbers it gave shape"):
        hmc(lambda x: x * x, initial=np.zeros(2), **FIXED)
    with pytest.raises(ValueError, match="2 chains or more"):
        chees(Gaussian(), chains=1)
