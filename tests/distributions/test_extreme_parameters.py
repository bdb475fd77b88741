"""Distribution functions at parameters next to the ends of the floats: no probability falls, or leaves its interval."""

import itertools
from math import log

import numpy as np
import pytest

import vecdist
from vecdist import cdf, logcdf, logsf, ppf
from vecdist.distributions import (
    FAMILIES,
    AsymmetricLaplace,
    GeneralizedNormal,
    GeneralizedPareto,
    Gompertz,
    Lindley,
    Lomax,
    SkewedExponentialPower,
    SkewNormal,
    TruncatedCauchy,
)

SIZES = (1e-300, 1e-100, 1.0, 1e300)
POINTS = (-1e300, -1.0, -1e-300, 0.0, 1e-300, 1e-10, 0.5, 1.0, 1e10, 1e300)
NAMES = (
    "AsymmetricLaplace", "Cauchy", "Exponential", "Frechet", "GeneralizedPareto", "Gompertz", "Gumbel", "HalfCauchy",
    "HalfNormal", "Kumaraswamy", "Laplace", "Levy", "Lindley", "LogLogistic", "LogNormal", "Logistic", "LogitNormal",
    "Lomax", "Moyal", "Normal", "Pareto", "Rayleigh", "RelaxedBernoulli", "SkewNormal", "SkewedExponentialPower",
    "Weibull",
)
RANGES = {"cdf": (0.0, 1.0), "logcdf": (-np.inf, 0.0)}
HAVE_NAN = {"AsymmetricLaplace", "GeneralizedPareto"}  # where a quotient of two parameters is 0 / 0


def rows_of(family):
    """Parameters of the first parametrisation, each of them of every size."""
    values = []
    for constraint in family.parametrisations[0].constraints.values():
        if constraint.upper == 1:
            values.append((1e-300, 0.5, 1 - 1e-16))
        else:
            values.append(SIZES if constraint.lower == 0 else (-1e300, 0.0, 1.0))
    return np.array([*itertools.product(*values)])


@pytest.mark.parametrize("verb", RANGES)
@pytest.mark.parametrize("name", NAMES)
def test_no_probability_falls(interpreter, name, verb):
    rows = rows_of(FAMILIES[name])
    found = np.asarray(getattr(vecdist, verb)(FAMILIES[name](*rows[:, :, None].swapaxes(0, 1)), np.array(POINTS)))
    assert name in HAVE_NAN or not np.isnan(found).any()
    least, most = RANGES[verb]
    inside = np.isnan(found) | ((found >= least) & (found <= most))
    assert inside.all(), rows[~inside.all(-1)]
    before, after = found[:, :-1], found[:, 1:]
    falls = after < before - 1e-12 * abs(before)
    assert not falls.any(), rows[falls.any(-1)]


def value(lazy):
    return float(np.asarray(lazy))


def test_a_tail_that_underflows_has_a_logarithm(interpreter):
    assert value(logcdf(Lomax(0.0, 1e100, 1e-300), 1e-10)) == pytest.approx(-410 * log(10))
    assert value(logcdf(Gompertz(1e-300, 1e-300), 1e-10)) == pytest.approx(-610 * log(10))
    assert value(logcdf(Lindley(1e-300), 1e-10)) == pytest.approx(-610 * log(10))
    assert value(logcdf(FAMILIES["Rayleigh"](1.0), 1e-170)) == pytest.approx(-340 * log(10) - log(2))


def test_a_place_beyond_the_floats_is_at_the_far_end(interpreter):
    assert value(cdf(GeneralizedPareto(-1e300, 1e-300, 1.0), -1e10)) == 1.0
    assert value(cdf(TruncatedCauchy(0.0, 1.0, 8.0, np.inf), 1e300)) == 1.0
    assert value(cdf(SkewNormal(0.0, 1.0, 1e300), -1e300)) == 0.0
    assert value(cdf(SkewNormal(0.0, 1.0, -1e300), 1e300)) == 1.0


def test_powers_at_their_ends(interpreter):
    x = np.array([-2.0, -1.0, 0.0, 0.5, 1.0, 2.0])
    uniform = np.asarray(cdf(GeneralizedNormal(0.0, 1.0, 1e300), x))
    np.testing.assert_allclose(uniform, [0.0, 0.0, 0.5, 0.75, 1.0, 1.0], atol=1e-300)
    spread = np.asarray(cdf(SkewedExponentialPower(0.0, 1.0, 1e-300, 0.5), x))
    assert not np.isnan(spread).any() and (np.diff(spread) >= 0).all() and spread[2] == 0.5


def test_quantiles_of_an_extreme_asymmetry_rise(interpreter):
    q = np.array([1e-8, 0.001, 0.25, 0.5, 0.75, 0.999])
    found = np.asarray(ppf(AsymmetricLaplace(0.0, 1.0, 1e300), q))
    np.testing.assert_allclose(found, 1e300 * np.log(q), rtol=1e-12)


@pytest.mark.parametrize(("z", "shape", "expected"), [  # -h^2 (1 + shape^2) / 2 - log(pi (1 + shape^2) h^2 shape)
    (-1e-8, 1e18, -4.9999999999999999781e19), (-2.0, 1e10, -2.00000000000000000073e20), (-1.5, 3e9, -1.0125e19),
])
def test_skewness_far_out(interpreter, z, shape, expected):
    assert value(logcdf(SkewNormal(0.0, 1.0, shape), z)) == pytest.approx(expected, rel=1e-15)
    assert value(logsf(SkewNormal(0.0, 1.0, -shape), -z)) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("power", [1.0, 2.0])
def test_densities_next_to_a_peak_have_slopes(interpreter, power):
    x, loc = np.array([-1e-296, -1e-200, 1e-200, 1e-296]), np.zeros(4)
    _, found = vecdist.value_and_partials(vecdist.logpdf(GeneralizedNormal(loc, 1.0, power), x), (x, loc))
    slope = -np.sign(x) if power == 1.0 else -2.0 * x
    np.testing.assert_allclose(found, [slope, -slope], rtol=1e-12, atol=1e-150)  # z² is 0 there
