"""The verbs of mixtures, against SciPy's components."""

import numpy as np
import pytest
from interpreting import by_interpreter
from scipy import stats

from vecdist import cdf, logcdf, logpdf, logsf, mean, mixture, ppf, sf, value_and_grad, variance
from vecdist.distributions import Cauchy, Normal, Poisson

WEIGHTS, MU, SIGMA = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]]), np.array([-1.0, 0.5, 2.0]), np.array([0.5, 1.0, 2.0])
X = np.array([-30.0, -1.0, 0.3, 5.0, 60.0])
PARTS = stats.norm(MU, SIGMA)
MIXED = mixture(WEIGHTS, Normal(MU, SIGMA))


@pytest.fixture(autouse=True)
def interpreted():
    with by_interpreter():
        yield


@pytest.mark.parametrize("verb", [cdf, sf, logcdf, logsf], ids=lambda verb: verb.__name__)
def test_tails_are_the_weighted_ones_of_the_components(verb):
    found = np.asarray(verb(MIXED, X[:, None]))
    part = PARTS.cdf(X[:, None, None]) if "cdf" in verb.__name__ else PARTS.sf(X[:, None, None])
    wanted = (WEIGHTS * part).sum(axis=-1)
    if verb.__name__.startswith("log"):
        with np.errstate(divide="ignore"):
            logs = PARTS.logcdf(X[:, None, None]) if "cdf" in verb.__name__ else PARTS.logsf(X[:, None, None])
            wanted = np.logaddexp.reduce(np.log(WEIGHTS) + logs, axis=-1)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-16 if verb.__name__.startswith("log") else 0)


def test_a_logarithm_next_to_zero_is_that_of_the_other_tail():
    np.testing.assert_allclose(np.asarray(logcdf(MIXED, 20.0)), -np.asarray(sf(MIXED, 20.0)), rtol=1e-12)


def test_moments():
    means = WEIGHTS @ MU
    np.testing.assert_allclose(np.asarray(mean(MIXED)), means, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(variance(MIXED)), WEIGHTS @ (SIGMA**2 + MU**2) - means**2, rtol=1e-13)
    assert float(mean(mixture(np.array([1.0, 0.0]), Normal(MU[:2], 1.0)))) == -1.0
    assert np.isnan(float(mean(mixture(np.array([0.5, 0.5]), Cauchy(MU[:2], 1.0)))))


def test_counts():
    weights, rates = np.array([0.25, 0.75]), np.array([1.0, 6.0])
    x = np.array([-1.0, 2.5, 4.0])
    found = np.asarray(cdf(mixture(weights, Poisson(rates)), x))
    np.testing.assert_allclose(found, stats.poisson.cdf(x[:, None], rates) @ weights, rtol=1e-13)


@pytest.mark.parametrize("verb", [logpdf, cdf, logsf], ids=lambda verb: verb.__name__)
def test_derivatives_in_weights_of_zero_too(verb):
    weights, mu = WEIGHTS[1].copy(), MU.copy()

    def total(weights, mu):
        return verb(mixture(weights, Normal(mu, SIGMA)), X[1:3]).sum()

    _, (of_weights, of_mu) = value_and_grad(total(weights, mu), (weights, mu))
    step = 1e-6
    for place, unit in enumerate(np.eye(3)):
        ahead, twice = (float(total(weights + k * step * unit, mu)) for k in (1, 2))
        slope = (4 * ahead - twice - 3 * float(total(weights, mu))) / (2 * step)
        np.testing.assert_allclose(of_weights[place], slope, rtol=1e-4)
        moved = [float(total(weights, mu + k * step * unit)) for k in (1, -1)]
        np.testing.assert_allclose(of_mu[place], (moved[0] - moved[1]) / (2 * step), rtol=1e-6, atol=1e-8)


def test_there_is_no_quantile():
    with pytest.raises(NotImplementedError, match="ppf of Mixture is not there"):
        ppf(MIXED, 0.5)
