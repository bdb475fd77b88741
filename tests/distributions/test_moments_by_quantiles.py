"""Means and variances that no family states: integrals of quantiles, against families that state them, and in balls."""

import numpy as np
import pytest
from flint import acb, arb, ctx

from vecdist import lazy, mean, powered, transformed, truncated, value_and_grad, variance
from vecdist.distributions import (
    Beta,
    Cauchy,
    Exponential,
    Gamma,
    LogNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    TruncatedNormal,
    VonMises,
    Weibull,
)

pytestmark = pytest.mark.usefixtures("interpreter")

LOC, SCALE = np.array([0.3, -2.0, 0.0, 1e3]), np.array([0.5, 0.1, 1e-3, 1e2])
KNOWN = {
    "truncated": (
        truncated(Normal(LOC, SCALE), LOC - SCALE, LOC + 8.0), TruncatedNormal(LOC, SCALE, LOC - SCALE, LOC + 8.0)
    ),
    "far": (truncated(Normal(0.0, 1.0), [5.0, 8.0], 60.0), TruncatedNormal(0.0, 1.0, [5.0, 8.0], 60.0)),
    "exponential of": (transformed(Normal(LOC[:3], SCALE[:3]), "exp"), LogNormal(LOC[:3], SCALE[:3])),
    "root of": (powered(Exponential(1.0), 1.0 / np.array([0.7, 2.0, 30.0])), Weibull(np.array([0.7, 2.0, 30.0]), 1.0)),
    "heavy": (truncated(StudentT([2.5, 30.0], 1.0, 2.0), -np.inf, np.inf), StudentT([2.5, 30.0], 1.0, 2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", KNOWN)
def test_they_are_what_other_families_state(name):
    made, other = KNOWN[name]
    np.testing.assert_allclose(np.asarray(mean(made)), np.asarray(mean(other)), rtol=1e-13)
    np.testing.assert_allclose(np.asarray(variance(made)), np.asarray(variance(other)), rtol=1e-11)


def in_balls(density, low, high):
    """The mean and the variance between two points of a variable with this density, up to a factor."""

    def total(power, centre=0):
        return acb.integral(lambda x, _: (x - centre) ** power * density(x), acb(low), acb(high)).real

    with ctx.workprec(120):
        mass = total(0)
        centre = total(1) / mass
        return float(centre), float(total(2, centre) / mass)


@pytest.mark.parametrize(
    ("shape", "rate", "low", "high"), [(3.0, 1.0, 1.0, 4.0), (0.3, 2.0, 0.5, 9.0), (80.0, 1.0, 100.0, 400.0)]
)
def test_of_a_part_of_a_gamma_variable(shape, rate, low, high):
    made = truncated(Gamma(shape, 1.0 / rate), low, high)
    expected = in_balls(lambda x: ((arb(shape) - 1) * x.log() - arb(rate) * x).exp(), low, high)
    assert float(mean(made)) == pytest.approx(expected[0], rel=1e-13)
    assert float(variance(made)) == pytest.approx(expected[1], rel=1e-11)


COUNTS = {
    "poisson": (truncated(Poisson(3.0), 2), lambda k: (k * arb(3).log() - (k + 1).lgamma()).exp(), range(2, 80)),
    "negative binomial": (
        truncated(NegativeBinomial(2.0, 0.1), 3, 60),
        lambda k: ((k + 2).lgamma() - (k + 1).lgamma() + k * (1 - arb(0.1)).log()).exp(), range(3, 61),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_of_counts_they_are_sums(name):
    made, weight, places = COUNTS[name]
    masses = [weight(arb(k)) for k in places]
    whole = sum(masses, arb(0))
    centre = sum((k * mass for k, mass in zip(places, masses, strict=True)), arb(0)) / whole
    spread = sum(((k - centre) ** 2 * mass for k, mass in zip(places, masses, strict=True)), arb(0)) / whole
    assert float(mean(made)) == pytest.approx(float(centre), rel=1e-13)
    assert float(variance(made)) == pytest.approx(float(spread), rel=1e-12)


def test_an_angle_has_none():
    with pytest.raises(NotImplementedError, match="mean of VonMises"):
        mean(VonMises(0.3, 2.0))


def test_what_is_infinite_is_no_number():
    assert not np.isfinite(np.asarray(mean(transformed(Cauchy(0.0, 1.0), "exp"))))
    made = truncated(StudentT([0.8, 1.5], 0.0, 1.0), -np.inf, np.inf)
    assert not np.isfinite(np.asarray(variance(made))).any()


def test_without_upper_quantiles():
    """Of a beta variable next to 1, by digits that 1 - u has."""
    made = truncated(Beta(8.0, 0.5), 0.96)
    expected = in_balls(lambda y: ((1 - y * y).log() * 7).exp(), 0.0, 0.2)  # x = 1 - y^2
    assert float(mean(made)) == pytest.approx(1.0 - (expected[1] + expected[0] ** 2), rel=1e-12)
    assert np.isfinite(float(variance(made)))


def test_they_have_derivatives():
    shape, scale = lazy(np.array(1.7)), lazy(np.array(0.8))
    known = value_and_grad(mean(Weibull(shape, scale)), wrt=(shape, scale))
    found = value_and_grad(mean(powered(Exponential(1.0), 1.0 / shape)) * scale, wrt=(shape, scale))
    np.testing.assert_allclose(found[1], known[1], rtol=1e-11)


def test_in_single_precision():
    made = truncated(Gamma(np.float32(3.0), np.float32(1.0)), np.float32(1.0), np.float32(4.0))
    assert np.asarray(mean(made)).dtype == np.float32
    assert float(mean(made)) == pytest.approx(2.40997139, rel=1e-6)
