"""Log densities of series, beside loops written out, enumerated paths, and what was published."""

import itertools

import numpy as np
import pytest
from published import EARTHQUAKES, HORMONE
from scipy import stats
from scipy.special import logsumexp

import vecdist
from vecdist.distributions import Normal, Poisson, StudentT
from vecdist.parameters import real
from vecdist.samplers import chees, ess
from vecdist.timeseries import ar, arma, garch, hmm, hmm_filtered, hmm_smoothed, ma, random_walk

rng = np.random.default_rng(20261123)
SERIES = rng.normal(size=(9, 3))


def shocks_of(x, phi, theta, constant):
    """What is left of each element of one series, by the definition."""
    found = []
    for t in range(len(phi), len(x)):
        before = [*reversed(found[-len(theta) :]), *[0.0] * len(theta)] if len(theta) else []
        past = sum(phi[k] * x[t - 1 - k] for k in range(len(phi)))
        found.append(x[t] - constant - past - sum(theta[j] * before[j] for j in range(len(theta))))
    return np.array(found)


@pytest.mark.usefixtures("execution")
@pytest.mark.parametrize(("p", "q"), [(1, 0), (3, 0), (0, 1), (0, 3), (1, 1), (2, 2)])
def test_autoregressive_moving_averages_are_what_their_definition_says(p, q):
    phi, theta = rng.normal(size=p) * 0.4, rng.normal(size=q) * 0.4
    wanted = [stats.norm.logpdf(shocks_of(x, phi, theta, 0.3), scale=1.2) for x in SERIES.T]
    both, past, shocks = arma(SERIES, phi, theta, 1.2, 0.3) if p and q else None, (phi, 1.2, 0.3), (theta, 1.2, 0.3)
    found = both if p and q else ar(SERIES, *past) if p else ma(SERIES, *shocks)
    np.testing.assert_allclose(np.asarray(found), np.transpose(wanted), rtol=1e-13)


@pytest.mark.usefixtures("execution")
def test_each_series_may_have_coefficients_of_its_own():
    phi, theta, scale = rng.normal(size=(2, 3)) * 0.4, rng.normal(size=(1, 3)) * 0.4, np.array([0.5, 1.0, 2.0])
    wanted = [stats.norm.logpdf(shocks_of(SERIES[:, k], phi[:, k], theta[:, k], 0.0), scale=scale[k]) for k in range(3)]
    np.testing.assert_allclose(np.asarray(arma(SERIES, phi, theta, scale)), np.transpose(wanted), rtol=1e-13)


def test_a_random_walk_has_independent_steps():
    wanted = stats.norm.logpdf(np.diff(SERIES, axis=0), 0.1, 0.7)
    np.testing.assert_allclose(np.asarray(random_walk(SERIES, 0.7, 0.1)), wanted, rtol=1e-13)


@pytest.mark.usefixtures("execution")
def test_likelihoods_of_the_hormone_series_are_those_of_r():
    """``arima(lh, order = c(1, 0, 0))`` and ``arima(lh, order = c(3, 0, 0), method = "CSS")``, from R's own example."""
    phi, mean, variance = 0.5739, 2.4133, 0.1975
    scale = np.sqrt(variance)
    first = stats.norm.logpdf(HORMONE[0], mean, scale / np.sqrt(1.0 - phi**2))
    exact = float(ar(HORMONE, np.array([phi]), scale, mean * (1.0 - phi)).sum()) + first
    assert exact == pytest.approx(-29.38, abs=0.005)
    phi, mean = np.array([0.6578, -0.0658, -0.2348]), 2.3918
    terms = np.asarray(ar(HORMONE, phi, np.sqrt(0.1905), mean * (1.0 - phi.sum())))
    assert terms.sum() * len(HORMONE) / len(terms) == pytest.approx(-28.31, abs=0.2)


def test_the_posterior_of_an_autoregression_is_the_known_one():
    """Under flat priors of the coefficients and of the log scale it is a t distribution about least squares.

    R's ``ar(lh, method = "ols")`` gives 0.586, and a variance of residuals of 0.2016.
    """
    design, wanted = np.column_stack([np.ones(47), HORMONE[:-1]]), HORMONE[1:]
    best, (rest,), *_ = np.linalg.lstsq(design, wanted, rcond=None)
    assert best[1] == pytest.approx(0.586, abs=5e-4) and rest / 47 == pytest.approx(0.2016, abs=5e-5)
    spread = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * rest / 43)  # of 45 degrees of freedom

    def model(phi, constant, log_scale):
        return ar(HORMONE, phi[None], np.exp(log_scale), constant).sum()

    density = vecdist.LogDensity(model, phi=real(), constant=real(), log_scale=real())
    draws = chees(density, chains=32, draws=300, warmup=300, key=3, progress=False)
    assert draws.rhat.max() < 1.03
    for place, column in enumerate((1, 0)):
        each = draws.positions[..., place]
        error = each.std() / np.sqrt(ess(each[..., None])[0])
        assert abs(each.mean() - best[column]) < 4.5 * error
        assert each.std() == pytest.approx(spread[column], rel=0.06)


def variances(x, omega, alpha, beta, first):
    found = [first]
    for value in x[:-1]:
        found.append(omega + alpha * value**2 + beta * found[-1])
    return np.array(found)


@pytest.mark.usefixtures("execution")
def test_garch_is_what_its_definition_says():
    omega, alpha, beta = 0.1, 0.2, 0.7
    for x in SERIES.T[:1]:
        wanted = stats.norm.logpdf(x, 0.2, np.sqrt(variances(x - 0.2, omega, alpha, beta, omega / 0.1)))
        np.testing.assert_allclose(np.asarray(garch(x, omega, alpha, beta, 0.2)), wanted, rtol=1e-12)
        heavy = garch(x, omega, alpha, beta, variance=1.5, family=lambda loc, scale: StudentT(5.0, loc, scale))
        wanted = stats.t.logpdf(x, 5.0, 0.0, np.sqrt(variances(x, omega, alpha, beta, 1.5)))
        np.testing.assert_allclose(np.asarray(heavy), wanted, rtol=1e-12)


@pytest.mark.usefixtures("execution")
def test_the_gradient_of_garch_is_that_of_its_definition():
    x = SERIES[:, 0]
    given = [np.array(0.1), np.array(0.2), np.array(0.7)]

    def total(omega, alpha, beta):
        return stats.norm.logpdf(x, 0.0, np.sqrt(variances(x, omega, alpha, beta, 1.3))).sum()

    value, found = vecdist.value_and_grad(garch(x, *given, variance=1.3).sum(), wrt=tuple(given))
    assert value == pytest.approx(total(*given), rel=1e-13)
    for place, slope in enumerate(found):
        step = np.zeros(3)
        step[place] = 1e-6
        wanted = (total(*(given + step)) - total(*(given - step))) / 2e-6
        assert slope == pytest.approx(wanted, rel=1e-7)


def paths(densities, transition, initial):
    """The log weight of every path of states."""
    steps, states = densities.shape
    for path in itertools.product(range(states), repeat=steps):
        moves = sum(transition[a, b] for a, b in itertools.pairwise(path))
        yield path, initial[path[0]] + moves + sum(densities[t, k] for t, k in enumerate(path))


@pytest.mark.usefixtures("execution")
def test_hidden_markov_models_add_up_all_paths():
    densities = rng.normal(size=(5, 3)) * 3.0
    transition, initial = np.log(rng.dirichlet(np.ones(3), 3)), np.log(rng.dirichlet(np.ones(3)))
    every = [[weight for _, weight in paths(densities[: t + 1], transition, initial)] for t in range(5)]
    wanted = np.diff([0.0, *(logsumexp(each) for each in every)])
    np.testing.assert_allclose(np.asarray(hmm(densities, transition, initial)), wanted, rtol=1e-12)
    smoothed, filtered = np.zeros((5, 3)), np.zeros((5, 3))
    for path, weight in paths(densities, transition, initial):
        smoothed[np.arange(5), path] += np.exp(weight - logsumexp(every[-1]))
    for t in range(5):
        for path, weight in paths(densities[: t + 1], transition, initial):
            filtered[t, path[-1]] += np.exp(weight - logsumexp(every[t]))
    np.testing.assert_allclose(np.asarray(hmm_smoothed(densities, transition, initial)), smoothed, rtol=1e-11)
    np.testing.assert_allclose(np.asarray(hmm_filtered(densities, transition, initial)), filtered, rtol=1e-11)


@pytest.mark.usefixtures("execution")
def test_series_side_by_side_are_those_alone():
    densities = rng.normal(size=(6, 4, 2))
    transition, initial = np.log(rng.dirichlet(np.ones(2), (4, 2))), np.log(rng.dirichlet(np.ones(2), 4))
    found = np.asarray(hmm(densities, transition, initial))
    for k in range(4):
        alone = np.asarray(hmm(densities[:, k], transition[k], initial[k]))
        np.testing.assert_allclose(found[:, k], alone, rtol=1e-13)


def test_the_likelihood_of_earthquakes_is_the_published_one():
    """Two states, stationary: Zucchini and MacDonald (2009), section 3.3.2 and table 3.1."""
    rates, stay = np.array([15.472, 26.125]), np.array([[0.9340, 0.0660], [0.1285, 0.8715]])
    initial = np.array([0.1285, 0.0660]) / 0.1945
    densities = vecdist.logpdf(Poisson(rates), EARTHQUAKES[:, None])
    assert float(hmm(densities, np.log(stay), np.log(initial)).sum()) == pytest.approx(-342.3183, abs=2e-3)


@pytest.mark.usefixtures("execution")
def test_what_is_impossible_has_no_likelihood_and_no_nan():
    densities = np.array([[0.0, -1.0], [-np.inf, -np.inf], [0.0, 0.0]])
    half = np.full((2, 2), np.log(0.5))
    assert np.asarray(hmm(densities, half, half[0])).tolist() == [
        pytest.approx(np.logaddexp(0.0, -1.0) - np.log(2.0)), -np.inf, -np.inf,
    ]  # fmt: skip
    forbidden = np.log(np.array([[1.0, 0.0], [0.0, 1.0]]), where=np.eye(2, dtype=bool), out=np.full((2, 2), -np.inf))
    found = np.asarray(hmm_smoothed(np.array([[0.0, -1.0], [-5.0, -np.inf]]), forbidden, half[0]))
    np.testing.assert_allclose(found, [[1.0, 0.0], [1.0, 0.0]])


@pytest.mark.usefixtures("execution")
def test_float32_stays_float32():
    x = SERIES[:, 0].astype("f4")
    f = np.float32
    assert garch(x, f(0.1), f(0.2), f(0.7)).dtype == np.float32
    assert arma(x, np.array([0.5], "f4"), np.array([0.2], "f4"), f(1.0)).dtype == np.float32
    assert hmm(np.zeros((3, 2), "f4"), np.zeros((2, 2), "f4"), np.zeros(2, "f4")).dtype == np.float32


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ar(np.ones(2), np.ones(2), 1.0), "a series of 2 elements has none with 2 before it"),
        (lambda: ar(np.ones(2), np.ones(0), 1.0), "one for each lag"),
        (lambda: hmm(np.ones((3, 2)), np.ones((3, 3)), np.ones(2)), r"want transitions of shape \(..., 2, 2\)"),
        (lambda: hmm(np.ones((3, 2)), np.ones((2, 2)), np.ones(3)), "initial"),
    ],
)
def test_what_does_not_fit_is_told(call, said):
    with pytest.raises(ValueError, match=said):
        call()


def test_a_model_of_a_series_can_be_compiled():
    x = SERIES[:, 0]
    prior = Normal(0.0, 1.0)
    total = vecdist.compile(lambda mean, alpha: garch(x, 0.1, alpha, 0.7, mean).sum() + vecdist.logpdf(prior, mean))
    _, (slope,) = total.value_and_grad(np.array(0.1), np.array(0.15), wrt=(0,))
    by = [float(total(np.array(0.1 + step), np.array(0.15))) for step in (1e-6, -1e-6)]
    assert slope == pytest.approx((by[0] - by[1]) / 2e-6, rel=1e-6)
