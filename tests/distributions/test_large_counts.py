"""Distribution functions of draws from urns of up to 1e15 balls, whose tails no sum of masses reaches."""

import flint
import numpy as np
import pytest
from flint import arb

from vecdist import cdf, logcdf, logpmf, logsf, ppf, sf, value_and_partials
from vecdist.distributions import BetaBinomial, Hypergeometric, tail_sums
from vecdist.distributions.count_cdfs import draws_cdf
from vecdist.primitives.gamma_products import _log_gamma_products

BITS = 300
STEP = arb(2) ** -90
PER_SD = 3  # points of the trapezoidal rule: its error is of the order exp(-2 (3 pi)^2)
UNITS = 2.0**-52

pytestmark = pytest.mark.usefixtures("interpreter")


def tails(x, n, alpha, beta):
    """Both, as means of a beta distribution function over the beta density of shapes x + 1 and n - x."""
    a, c = x + 1, n - x
    middle, sd = (a / c).log(), (1 / a + 1 / c).sqrt()
    constant = a.lgamma() + c.lgamma() - (a + c).lgamma() + (PER_SD / sd).log()
    lower, upper = arb(0), arb(0)
    for place in range(-16 * PER_SD, 16 * PER_SD + 1):
        t = middle + place * sd / PER_SD
        p, q = 1 / (1 + (-t).exp()), 1 / (1 + t.exp())
        weight = (a * p.log() + c * q.log() - constant).exp()
        lower, upper = lower + weight * p.beta_lower(alpha, beta, 1), upper + weight * q.beta_lower(beta, alpha, 1)
    return lower, upper


def logarithm(tail, other):
    """That of a tail, by the other one where that is next to nothing."""
    return (-other).log1p() if other < tail else tail.log()


COUNTS = [  # n, x, alpha, beta
    (1e4, 5e3, 2.0, 3.0), (1e6, 5e5, 2.0, 3.0), (1e7, 5e6, 2.0, 3.0), (1e9, 5e8, 2.0, 3.0), (1e15, 5e14, 2.0, 3.0),
    (1e7, 1e4, 1.0, 1.0), (1e9, 9e8, 0.01, 0.02), (1e12, 1e11, 50.0, 0.3), (1e12, 3e11, 1e-8, 5.0),
    (1e5, 7e4, 20.0, 30.0), (1e10, 1e9, 1e-6, 1e-9),
]


@pytest.mark.parametrize("point", COUNTS, ids=repr)
def test_tails_of_beta_binomial_counts(point):
    """With their slopes in both shapes: to some units of the last place of the logarithm."""
    n, x, *shapes = point
    with flint.ctx.workprec(BITS):
        count, at, *parameters = map(arb, (n, x, *shapes))
        truth = tails(at, count, *parameters)
        logs = [np.array([float(logarithm(*each)) for each in (truth, truth[::-1])])]
        for place, parameter in enumerate(parameters):
            h = parameter * STEP
            ends = [
                tails(at, count, *(p + sign * h * (place == other) for other, p in enumerate(parameters)))
                for sign in (1, -1)
            ]
            logs.append(np.array([float((up.log() - down.log()) / (2 * h)) for up, down in zip(*ends, strict=True)]))
    alpha, beta = map(np.array, shapes)
    distribution = BetaBinomial(n, alpha, beta)
    expected = [float(each) for each in truth]
    loss = UNITS * np.maximum(1.0, -logs[0].min())
    np.testing.assert_allclose([cdf(distribution, x), sf(distribution, x)], expected, rtol=32 * loss)
    found = [value_and_partials(verb(distribution, x), (alpha, beta)) for verb in (logcdf, logsf)]
    values, slopes = [value for value, _ in found], np.array([partials for _, partials in found])
    np.testing.assert_allclose(values, logs[0], rtol=32 * loss)
    np.testing.assert_allclose(slopes, np.array(logs[1:]).T, rtol=256 * loss)


def choose(n, k):
    return (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()


URNS = [  # successes, failures, draws, x
    (1e9, 1e9, 1e8, 5e7), (1e9, 1e9, 1e8, 5.001e7), (1e9, 4e9, 1e5, 19900.0), (1e12, 1e12, 1e10, 5e9 + 1e5),
    (1e6, 2e6, 1e6, 332000.0), (5e11, 5e5, 4e11, 4e11 - 2e5 + 700),
]


@pytest.mark.parametrize("point", URNS, ids=repr)
def test_tails_of_hypergeometric_counts(point):
    """Against a mass in balls and the sum of those beyond it in extended precision."""
    successes, failures, draws, x = point
    middle = draws * successes / (successes + failures)
    lower = x < middle
    first = x if lower else x + 1
    with flint.ctx.workprec(BITS):
        k, f, n, at = map(arb, (successes, failures, draws, first))
        log_mass = choose(k, at) + choose(f, n - at) - choose(k + f, n)
        mass = float(log_mass.exp())
    sd = np.sqrt(middle * (failures / (successes + failures)) * (1 - draws / (successes + failures)))
    places = np.longdouble(first) + np.arange(10 * sd + 100) * (-1 if lower else 1)
    taken, left = places * (failures - draws + places), (successes - places) * (draws - places)
    if lower:
        ratio = taken / ((successes - places + 1) * (draws - places + 1))
    else:
        ratio = left / ((places + 1) * (failures - draws + places + 1))
    known = mass * float(1 + np.cumprod(np.maximum(ratio, 0)).sum())
    distribution = Hypergeometric(successes, failures, draws)
    expected = (known, 1 - known) if lower else (1 - known, known)
    np.testing.assert_allclose([cdf(distribution, x), sf(distribution, x)], expected, rtol=1e-13)
    np.testing.assert_allclose(np.exp([logcdf(distribution, x), logsf(distribution, x)]), expected, rtol=1e-13)


def test_short_sums_and_the_integral_agree():
    """Of all that are summed: the tails as they are, and the integral alone."""
    rng = np.random.default_rng(5)
    n = np.rint(10 ** rng.uniform(0.5, 3, 60))
    x = np.floor(rng.uniform(0, n))
    alpha, beta = 10 ** rng.uniform(-8, 3, (2, 60))
    expected = np.vectorize(_log_gamma_products)(x + 1, beta, n - x, alpha)
    found = np.asarray(logcdf(BetaBinomial(n, alpha, beta), x))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=2e-15)
    successes, failures = np.rint(10 ** rng.uniform(0.5, 3, (2, 60)))
    n = np.rint(rng.uniform(1, successes + failures - 1))
    least, most = np.maximum(n - failures, 0), np.minimum(successes, n)
    x = np.floor(rng.uniform(least, most - 1e-9))
    expected = np.vectorize(_log_gamma_products)(x + 1, failures - n + x + 1, successes - x, n - x)
    found = np.asarray(logcdf(Hypergeometric(successes, failures, n), x))
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=2e-15)


@pytest.mark.parametrize("distribution", [
    BetaBinomial(np.array([1e7, 1e9, 1e15]), 2.0, 3.0), Hypergeometric(np.array([1e9, 1e12]), 1e12, 1e9),
], ids=lambda each: type(each).__name__)
def test_quantiles_invert_them(distribution):
    q = np.array([0.01, 0.5, 0.7])[:, None]
    k = np.asarray(ppf(distribution, q))
    assert (np.asarray(cdf(distribution, k)) >= q * (1 - 1e-13)).all()
    assert (np.asarray(cdf(distribution, k - 1)) < q).all()


def test_no_more_masses_are_summed_than_the_integral_costs():
    """Neither by distribution functions nor by quantiles, however many there are."""
    assert tail_sums.TERMS <= 2000
    assert tail_sums.ratio_sum(5e14, 1e15, 2.0, 3.0)[0] == np.inf
    np.testing.assert_allclose(draws_cdf(5e14, 1e15, 2.0, 3.0), 0.6875, rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_masses_of_huge_urns(dtype):
    """To the last digits, where each binomial coefficient has a logarithm of millions; slopes as those of any urn."""
    rows = [*URNS, (1e12, 1e12, 1e9, 5e8 + 100), (1e9, 1e9, 1e8, 0.0), (1e9, 5.0, 1e8, 1e8 - 1)]
    successes, failures, draws, x = (np.array(each, dtype) for each in zip(*rows, strict=True))
    with flint.ctx.workprec(BITS):
        balls = [[arb(float(v)) for v in row] for row in zip(successes, failures, draws, x, strict=True)]
        true = [float(choose(k, at) + choose(f, n - at) - choose(k + f, n)) for k, f, n, at in balls]
        slopes = [float((k + 1).digamma() - (k - at + 1).digamma() - (k + f + 1).digamma() + (k + f - n + 1).digamma())
                  for k, f, n, at in balls]
    mass, (found,) = value_and_partials(logpmf(Hypergeometric(successes, failures, draws), x), (successes,))
    np.testing.assert_allclose(mass, true, rtol=4 * np.finfo(dtype).eps)
    least = np.array([float(n / (k + f)) for k, f, n, _ in balls])  # of what cancels in a slope
    assert (abs(found - slopes) <= 16 * np.finfo(dtype).eps * np.maximum(least, abs(np.array(slopes)))).all()
