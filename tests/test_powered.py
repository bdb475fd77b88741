"""Powers of positive variables, against the generalised gamma and Burr distributions of SciPy."""

import numpy as np
import pytest
import scipy.stats as st

from vecdist import cdf, isf, logcdf, logdiffcdf, logpdf, logsf, median, powered, ppf, sample, sf, value_and_partials
from vecdist.distributions import Exponential, Gamma, Lomax, Normal, Pareto, Poisson, Weibull

pytestmark = pytest.mark.usefixtures("uncompiled")


def rows(seed):
    """Shapes of all sizes, and points of them."""
    rng = np.random.default_rng(seed)
    a, c = np.exp(rng.uniform(-1.5, 3.0, 12)), np.exp(rng.uniform(-1.5, 2.0, 12))
    return a, c, rng.uniform(1e-6, 1 - 1e-6, 12)


def pairs():
    a, c, q = rows(3)
    yield powered(Gamma(a, 1.0), 1.0 / c), st.gengamma(a, c), q
    yield powered(Lomax(0.0, 1.0, a), 1.0 / c), st.burr12(c, a), q
    yield powered(Weibull(c, 2.0), 3.0), st.weibull_min(c / 3.0, scale=8.0), q


def test_densities_and_tails():
    for made, oracle, q in pairs():
        x = oracle.ppf(q)
        np.testing.assert_allclose(np.asarray(logpdf(made, x)), oracle.logpdf(x), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(np.asarray(cdf(made, x)), oracle.cdf(x), rtol=1e-9)
        np.testing.assert_allclose(np.asarray(sf(made, x)), oracle.sf(x), rtol=1e-9)
        np.testing.assert_allclose(np.asarray(logcdf(made, x)), oracle.logcdf(x), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(np.asarray(logsf(made, x)), oracle.logsf(x), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(np.asarray(ppf(made, q)), x, rtol=1e-9)
        np.testing.assert_allclose(np.asarray(isf(made, q)), oracle.isf(q), rtol=1e-9)
        np.testing.assert_allclose(np.asarray(median(made)), oracle.median(), rtol=1e-9)


def test_ends():
    made, at = powered(Gamma(2.0, 1.0), np.array(2.0)), np.array([-1.0, 0.0, np.inf, np.nan])
    np.testing.assert_array_equal(np.asarray(logpdf(made, at)), [-np.inf, -np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(np.asarray(cdf(made, at)), [0.0, 0.0, 1.0, np.nan])
    np.testing.assert_array_equal(np.asarray(ppf(made, np.array([0.0, 1.0, 2.0]))), [0.0, np.inf, np.nan])
    begun = powered(Pareto(3.0, 2.0), 2.0)
    np.testing.assert_array_equal(np.asarray(cdf(begun, np.array([3.9, 4.0]))), [0.0, 0.0])
    expected = [-np.inf, st.pareto.logpdf(9, 1.5, scale=4)]
    np.testing.assert_allclose(np.asarray(logpdf(begun, np.array([3.9, 9.0]))), expected, rtol=1e-13)


def test_far_tails():
    made = powered(Exponential(1.0), 0.5)
    np.testing.assert_allclose(float(logsf(made, 1e3)), -1e6, rtol=1e-14)
    np.testing.assert_allclose(float(isf(made, 1e-200)), np.sqrt(200 * np.log(10)), rtol=1e-14)
    np.testing.assert_allclose(float(logdiffcdf(made, 100.0, 101.0)), -1e4, rtol=1e-14)
    tiny = powered(Exponential(1.0), 5.0)
    np.testing.assert_allclose(float(logcdf(tiny, 1e-300)), -60 * np.log(10), rtol=1e-14)


def test_slopes():
    k, x = np.array(0.4), np.array([0.3, 1.7])
    _, (of_k, of_x) = value_and_partials(logpdf(powered(Gamma(1.5, 1.0), k), x), (k, x))
    step = 1e-5
    shapes = [st.gengamma(1.5, 1.0 / (0.4 + sign * step)).logpdf(x) for sign in (1, -1)]
    np.testing.assert_allclose(of_k, (shapes[0] - shapes[1]) / (2 * step), rtol=1e-7)
    places = [st.gengamma(1.5, 2.5).logpdf(x + sign * step) for sign in (1, -1)]
    np.testing.assert_allclose(of_x, (places[0] - places[1]) / (2 * step), rtol=1e-7)


def test_draws_are_powers_of_draws():
    inner = np.asarray(sample(5, Gamma(2.0, 1.0), 50))
    np.testing.assert_allclose(np.asarray(sample(5, powered(Gamma(2.0, 1.0), 3.0), 50)), inner**3, rtol=1e-14)


def test_what_it_does_not_take_is_named():
    with pytest.raises(TypeError, match=r"powered wants a continuous family, given Poisson"):
        powered(Poisson(1.0), 2.0)
    with pytest.raises(ValueError, match=r"takes what is positive, and Normal has"):
        logpdf(powered(Normal(0.0, 1.0), 2.0), 1.0)
