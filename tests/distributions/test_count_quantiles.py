"""Quantiles of counts that are found by bisection, and the distribution function of beta-negative-binomial counts."""

import math

import flint
import numpy as np
import pytest
import scipy.stats
from family_cases import parameters_of, points_of

from vecdist import cdf, logcdf, logsf, ppf, sf, value_and_partials
from vecdist.distributions import (
    FAMILIES,
    BetaBinomial,
    BetaNegativeBinomial,
    Hypergeometric,
    Soliton,
    YuleSimon,
    Zipf,
)
from vecdist.distributions.count_cdfs import FEW, log_series_cdf
from vecdist.verbs.tails_and_moments import stated

pytestmark = pytest.mark.usefixtures("interpreter")

SCIPYS = [
    (BetaBinomial(20, 2.0, 3.0), scipy.stats.betabinom(20, 2.0, 3.0)),
    (BetaBinomial(3000, 0.3, 0.7), scipy.stats.betabinom(3000, 0.3, 0.7)),
    (BetaBinomial(1, 40.0, 1e-3), scipy.stats.betabinom(1, 40.0, 1e-3)),
    (Hypergeometric(30, 50, 20), scipy.stats.hypergeom(80, 30, 20)),
    (Hypergeometric(3000, 20, 400), scipy.stats.hypergeom(3020, 3000, 400)),
    (Hypergeometric(70000, 90000, 80000), scipy.stats.hypergeom(160000, 70000, 80000)),
    (YuleSimon(2.5), scipy.stats.yulesimon(2.5)),
    (YuleSimon(300.0), scipy.stats.yulesimon(300.0)),
    (Zipf(3.0), scipy.stats.zipf(3.0)),
    (Zipf(12.5), scipy.stats.zipf(12.5)),
]


@pytest.mark.parametrize(("distribution", "oracle"), SCIPYS, ids=lambda each: getattr(type(each), "__name__", ""))
def test_quantiles_are_scipys(distribution, oracle):
    q = np.array([1e-12, 1e-5, 0.013, 0.25, 0.5, 0.81, 0.9987])
    np.testing.assert_array_equal(ppf(distribution, q), oracle.ppf(q))


STEPS = [family for family in FAMILIES.values() if family.discrete and stated(family, "quantile")]
STEPS.remove(FAMILIES["Dirac"])  # whose one step is up to 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("family", STEPS, ids=lambda family: family.__name__)
def test_the_quantile_of_a_value_of_the_distribution_function_is_where_it_was(family, dtype):
    names = family.parametrisations[0].names
    parameters = [parameter.astype(dtype) for parameter in parameters_of(family, names)]
    x = points_of(family, names, parameters).astype(dtype)
    distribution = family(**dict(zip(names, parameters, strict=True)))
    q, before = np.asarray(cdf(distribution, x)), np.asarray(cdf(distribution, x - 1))
    told = (before < q) & (q < 1.0)
    found = np.asarray(ppf(distribution, q))
    np.testing.assert_array_equal(found[told], x[told])
    assert told.any()


WIDE = [
    YuleSimon(np.array([0.01, 0.5, 3.0, 1e6])), Zipf(np.array([1.01, 1.5, 4.0, 300.0])),
    BetaBinomial(100_000, np.array([0.01, 1.0, 30.0, 1e5]), np.array([2.0, 0.5, 3e3, 1e-3])),
    Hypergeometric(np.array([10**6, 5, 10**7, 0]), 10**7, np.array([10**5, 10**7, 3, 40])),
    Soliton(np.array([1, 2, 1000, 10**9]), np.array([1, 1, 400, 10**5]), 0.1),
    BetaNegativeBinomial(
        np.array([0.01, 3.0, 1e3, 1e5]), np.array([0.02, 0.5, 30.0, 1e6]), np.array([5.0, 1.0, 2e3, 0.1])
    ),
]


@pytest.mark.parametrize("distribution", WIDE, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
def test_quantiles_rise_from_one_end_to_the_other(distribution, dtype):
    """Of huge and of tiny parameters, where they reach what is asked."""
    distribution = type(distribution)(**{name: np.asarray(p, dtype) for name, p in distribution.parameters.items()})
    q = np.array([0.0, 1e-30, 1e-6, 0.1, 0.5, 0.9, 0.99, 1.0], dtype)[:, None]
    found = np.asarray(ppf(distribution, q))
    assert found.dtype == dtype and (found[1:] >= found[:-1]).all()
    lower, upper = np.asarray(ppf(distribution, dtype(0.0))), np.asarray(ppf(distribution, dtype(1.0)))
    np.testing.assert_array_equal(found[0], lower)
    np.testing.assert_array_equal(found[-1], upper)
    assert (np.asarray(cdf(distribution, found)) >= q * (1 - 40 * np.finfo(dtype).eps)).all()
    assert np.isnan(np.asarray(ppf(distribution, np.array([-0.5, 1.5, math.nan, math.inf], dtype)))).all()


def test_far_quantiles():
    """Those of power laws, by their leading term, and beyond all floats."""
    np.testing.assert_allclose(ppf(YuleSimon(0.02), 0.9), (math.gamma(1.02) / 0.1) ** 50, rtol=1e-12)
    np.testing.assert_allclose(ppf(Zipf(1.05), 0.9), (0.1 * scipy.special.zeta(1.05) * 0.05) ** -20, rtol=1e-11)
    assert float(ppf(YuleSimon(1e-3), 0.9)) == math.inf
    r, alpha, beta = 2.0, 0.05, 3.0
    ratios = math.gamma(r + alpha) / math.gamma(r) * (math.gamma(beta + alpha) / math.gamma(beta))
    constant = ratios / math.gamma(alpha + 1)
    np.testing.assert_allclose(ppf(BetaNegativeBinomial(r, alpha, beta), 0.9), (constant / 0.1) ** 20, rtol=1e-11)


def test_tails_of_beta_negative_binomial_counts():
    """Against sums of masses, and differences of them in all parameters."""
    r, alpha, beta = np.array([0.3, 3.0, 40.0, 7.0]), np.array([2.0, 9.0, 0.4, 200.0]), np.array([5.0, 0.2, 7.0, 60.0])
    x = np.array([0.0, 3.0, 25.0, 9.0])
    places = np.arange(26.0)[:, None]

    def lower(*parameters):
        r, alpha, beta = parameters
        log_mass = scipy.special.betaln(alpha + r, beta + places) - scipy.special.betaln(alpha, beta)
        log_mass -= np.log(r + places) + scipy.special.betaln(r, places + 1.0)
        return np.where(places <= x, np.exp(log_mass), 0.0).sum(axis=0)

    distribution, expected = BetaNegativeBinomial(r, alpha, beta), lower(r, alpha, beta)
    np.testing.assert_allclose(cdf(distribution, x), expected, rtol=1e-12)
    np.testing.assert_allclose(sf(distribution, x), 1.0 - expected, rtol=1e-9)
    np.testing.assert_allclose(logcdf(distribution, x), np.log(expected), rtol=1e-9)
    np.testing.assert_allclose(logsf(distribution, x), np.log1p(-expected), rtol=1e-9)
    parameters = (r, alpha, beta)
    _, slopes = value_and_partials(cdf(distribution, x), parameters)
    _, falls = value_and_partials(sf(distribution, x), parameters)
    for place, (slope, fall) in enumerate(zip(slopes, falls, strict=True)):
        step = 1e-4 * parameters[place]
        ends = [lower(*(p + s * step * (i == place) for i, p in enumerate(parameters))) for s in (-2, -1, 1, 2)]
        difference = (ends[0] - 8 * ends[1] + 8 * ends[2] - ends[3]) / (12 * step)
        np.testing.assert_allclose(slope, difference, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(fall, -slope, rtol=1e-11, atol=1e-15)


def test_logarithmic_series_are_summed_up_to_few_counts_and_integrated_beyond():
    rng = np.random.default_rng(3)
    counts = [0, int(FEW), int(FEW) + 1, *rng.integers(1, 3 * int(FEW), 300)]
    for p, k in zip(1.0 - np.exp(-rng.uniform(0.01, 20.0, len(counts))), counts, strict=True):
        log_p = math.log(p)
        with flint.ctx.workprec(200):
            exact = flint.arb(log_p).exp()
            total = -(1 - exact).log()
            expected = float(sum((exact**n / n for n in range(1, int(k) + 1)), flint.arb(0)) / total)
            log_total = float((total / exact).log())
        assert log_series_cdf(float(k), log_p, log_total, 0.0) == pytest.approx(expected, rel=1e-14, abs=0)
