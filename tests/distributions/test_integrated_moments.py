"""Means and variances that are integrals, against integrals in ball arithmetic."""

from itertools import pairwise

import numpy as np
import pytest
from flint import acb, arb, ctx

from vecdist import logpdf, mean, value_and_partials, variance
from vecdist.distributions import (
    DiscreteWeibull,
    Gompertz,
    JohnsonSB,
    LogitNormal,
    RelaxedBernoulli,
    Soliton,
    TruncatedNormal,
)

pytestmark = pytest.mark.usefixtures("uncompiled")
LINE = [-300.0, -100.0, -40.0, -10.0, 0.0, 10.0, 40.0, 100.0, 300.0]


def moments(density, x, ends):
    """The mean and the variance of x of a variable with this density."""

    def total(term):
        return sum((acb.integral(lambda z, _: term(z), acb(a), acb(b)) for a, b in pairwise(ends)), acb(0)).real

    centre = total(lambda z: density(z) * x(z))
    return centre, total(lambda z: density(z) * (x(z) - centre) ** 2)


def logit_normal(loc, scale):
    root = (2 * arb.pi()).sqrt()
    return moments(lambda z: (-z * z / 2).exp() / root, lambda z: 1 / (1 + (-(loc + scale * z)).exp()), LINE[2:-2])


def johnson_sb(gamma, delta, low, high):
    centre, spread = logit_normal(-gamma / delta, 1 / delta)
    return low + (high - low) * centre, (high - low) ** 2 * spread


def relaxed_bernoulli(temperature, p):
    log_odds = (p / (1 - p)).log()
    return moments(
        lambda y: 1 / ((y / 2).exp() + (-y / 2).exp()) ** 2,
        lambda y: 1 / (1 + (-(y + log_odds) / temperature).exp()), LINE,
    )


def gompertz(shape, rate):
    ends = [0.0, *10.0 ** np.arange(-12, 3, 2), 400.0]
    return moments(lambda v: (-v).exp(), lambda v: (1 + v / shape).log() / rate, ends)


CASES = [
    (LogitNormal, logit_normal, [(0.0, 1.0), (2.0, 4.1), (5.0, 20.0), (-50.0, 3.9), (30.0, 0.01)]),
    (JohnsonSB, johnson_sb, [
        (0.0, 1.0, 0.0, 1.0), (0.8, 2.2, -0.8, 3.3), (5.0, 0.5, 1.0, 2.0), (-30.0, 9.0, -1.0, 1.0),
    ]),
    (RelaxedBernoulli, relaxed_bernoulli, [(1.0, 0.5), (0.5, 0.3), (0.9, 1e-9), (1.1, 1e-9), (30.0, 0.9)]),
    (Gompertz, gompertz, [(1e-8, 2.0), (0.01, 0.5), (1.0, 1.0), (1e6, 3.0)]),
]


@pytest.mark.parametrize(("family", "truth", "given"), CASES, ids=[row[0].__name__ for row in CASES])
def test_moments_are_their_integrals(family, truth, given):
    made = family(*np.transpose(given))
    with ctx.workprec(170):
        expected = np.array([[float(value) for value in truth(*map(arb, pair))] for pair in given]).T
    np.testing.assert_allclose(np.asarray(mean(made)), expected[0], rtol=1e-13)
    np.testing.assert_allclose(np.asarray(variance(made)), expected[1], rtol=1e-12)


@pytest.mark.parametrize(("family", "truth", "given"), CASES, ids=[row[0].__name__ for row in CASES])
def test_slopes_of_moments(family, truth, given):
    """Against differences of 20 digits; at the middle of a symmetric one too."""
    parameters = [np.array(value) for value in given[0 if family is not Gompertz else 2]]
    found = [value_and_partials(verb(family(*parameters)), tuple(parameters))[1] for verb in (mean, variance)]
    with ctx.workprec(170):
        step = arb(10) ** -20
        for place in range(2):
            moved = [
                truth(*(arb(float(p)) + (sign * step if i == place else 0) for i, p in enumerate(parameters)))
                for sign in (1, -1)
            ]
            expected = [float((up - down) / (2 * step)) for up, down in zip(*moved, strict=True)]
            np.testing.assert_allclose([each[place] for each in found], expected, rtol=1e-11, atol=1e-15)


def test_the_variance_of_the_soliton_distribution():
    k, m = np.array([12.0, 12.0, 5.0]), np.array([5.0, 1.0, 5.0])
    x = np.arange(1.0, 13.0)[:, None]
    mass = np.exp(np.asarray(logpdf(Soliton(k, m, 0.3), x)))
    centre = (mass * x).sum(axis=0)
    expected = (mass * (x - centre) ** 2).sum(axis=0)
    np.testing.assert_allclose(np.asarray(variance(Soliton(k, m, 0.3))), expected, rtol=1e-13)


def truncated_normal(low, high):
    """The variance between bounds; where they are far apart, of what is within 40 of the densest point."""
    with ctx.workprec(200):
        dense = min(max(0.0, low), high)
        ends = [arb(max(low, dense - 40.0)), arb(min(high, dense + 40.0))]
        ends = [ends[0] + (ends[1] - ends[0]) * each / 16 for each in range(17)]

        def total(term):
            return sum((acb.integral(lambda z, _: term(z), acb(a), acb(b)) for a, b in pairwise(ends)), acb(0)).real

        def weight(z):
            return ((arb(dense) ** 2 - z * z) / 2).exp()

        mass = total(weight)
        centre = total(lambda z: z * weight(z)) / mass
        return float(total(lambda z: (z - centre) ** 2 * weight(z)) / mass)


@pytest.mark.usefixtures("interpreter")
def test_the_variance_of_the_truncated_normal_distribution():
    """Far in a tail, between bounds next to each other, and between those that are none."""
    bounds = [(-1.0, 2.0), (10.0, np.inf), (1e4, np.inf), (-np.inf, -50.0), (1.0, 1.0 + 2.0**-20), (-np.inf, np.inf)]
    bounds += [(-30.0, 40.0), (5.0, 5.5), (-(2.0**-30), 2.0**-30), (-2.0, 45.0), (-np.inf, 0.0)]
    low, high = np.transpose(bounds)
    expected = [truncated_normal(*each) for each in bounds]
    np.testing.assert_allclose(np.asarray(variance(TruncatedNormal(0.0, 1.0, low, high))), expected, rtol=1e-14)
    moved = variance(TruncatedNormal(1.0, 2.0, 1.0 + 2.0 * low, 1.0 + 2.0 * high))
    np.testing.assert_allclose(np.asarray(moved), 4.0 * np.array(expected), rtol=1e-12)


def test_the_slope_of_the_variance_of_the_truncated_normal_distribution():
    loc, step = np.array(0.3), 2.0**-20
    _, slope = value_and_partials(variance(TruncatedNormal(loc, 1.0, 0.0, np.inf)), loc)
    moved = [truncated_normal(-float(loc) - sign * step, np.inf) for sign in (1, -1)]
    np.testing.assert_allclose(slope, (moved[0] - moved[1]) / (2 * step), rtol=1e-9)


def test_moments_of_the_discrete_weibull_distribution():
    """Against sums, and closed forms of the geometric distribution, whose sums are too long."""
    q, beta = np.array([0.5, 0.9, 0.999, 0.3, 1e-10]), np.array([1.0, 0.6, 2.0, 10.0, 0.3])
    k = np.arange(1.0, 30_000.0)
    tails = q[:, None] ** (k ** beta[:, None])
    expected = tails.sum(axis=1)
    made = DiscreteWeibull(q, beta)
    np.testing.assert_allclose(np.asarray(mean(made)), expected, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(variance(made)), ((2 * k - 1) * tails).sum(axis=1) - expected**2, rtol=1e-12)
    q = 1.0 - 2.0 ** np.array([-14.0, -20.0, -40.0])
    np.testing.assert_allclose(np.asarray(variance(DiscreteWeibull(q, 1.0))), q / (1.0 - q) ** 2, rtol=1e-12)


def test_slopes_of_moments_of_the_discrete_weibull_distribution():
    q, beta = np.array([0.7, 1.0 - 2.0**-20]), np.array(1.0)
    _, of_q = value_and_partials(mean(DiscreteWeibull(q, beta)), q)
    _, of_beta = value_and_partials(mean(DiscreteWeibull(q[:1], beta)), beta)
    np.testing.assert_allclose(of_q, 1.0 / (1.0 - q) ** 2, rtol=1e-11)
    k = np.arange(1.0, 500.0)
    expected = (0.7**k * np.log(0.7) * k * np.log(k)).sum()
    np.testing.assert_allclose(of_beta[0], expected, rtol=1e-12)
