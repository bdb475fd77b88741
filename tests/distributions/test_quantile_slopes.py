"""Slopes of quantiles in the probability: one over the density, at ends, medians and other round numbers too."""

import numpy as np
import pytest
from family_cases import EVERY_FAMILY
from test_equal_numbers import values_of

from vecdist import logpdf, ppf, truncated, value_and_partials
from vecdist.distributions import FAMILIES
from vecdist.verbs.tails_and_moments import known

SHARES = np.array([0.5, 0.25, 0.0, 1.0, 0.75])
SINGULAR = {"Dirac", "HurdleGamma", "HurdleLogNormal"}  # some or all of the probability is at a point
CONTINUOUS = [
    f for f in EVERY_FAMILY if not f.discrete and f.__name__ not in SINGULAR and known(f, "quantile") is not None
]


def parameters_in_rows(family):
    """Equal numbers as parameters, and others, for each of the probabilities."""
    constraints = family.parametrisations[0].constraints
    found = {}
    for name, constraint in constraints.items():
        chosen = values_of(name, constraint)
        found[name] = np.repeat([chosen[1], chosen[0], chosen[2]], len(SHARES)).astype(float)
    if "low" in found:
        found["high"] = found["low"] + 1.0
    for name, less in {"beta": "alpha", "peak": "high"}.items():
        if name in found and less in found and family.__name__ in {"NormalInverseGaussian", "Triangular"}:
            found[name] = found[less] - 0.25
    return found


def assert_slopes(distribution, q):
    x, slope = value_and_partials(ppf(distribution, q), q)
    with np.errstate(divide="ignore", over="ignore"):
        wanted = 1.0 / np.exp(np.asarray(logpdf(distribution, x)))
    told = np.isfinite(x)
    assert told.any()
    np.testing.assert_allclose(slope[told], wanted[told], rtol=1e-8)


@pytest.mark.parametrize("family", CONTINUOUS, ids=lambda family: family.__name__)
def test_slopes_of_quantiles(interpreter, family):
    assert_slopes(family(**parameters_in_rows(family)), np.tile(SHARES, 3))


def test_slopes_of_quantiles_between_bounds(interpreter):
    for lower, upper in ((0.5, 2.0), (1.0, 3.0)):
        assert_slopes(truncated(FAMILIES["Gamma"](2.0, 1.0), lower, upper), SHARES.copy())


def test_an_end_that_is_a_parameter_keeps_its_slope(interpreter):
    low, high, q = np.zeros(5), np.ones(5), SHARES.copy()
    _, (of_low, of_high) = value_and_partials(ppf(FAMILIES["Uniform"](low, high), q), (low, high))
    np.testing.assert_array_equal(of_low, 1.0 - q)
    np.testing.assert_array_equal(of_high, q)


@pytest.mark.parametrize("b", [0.5, 3.0, 1e100])
@pytest.mark.parametrize("a", [0.5, 2.0, 30.0])
def test_quantiles_of_the_least_shares(interpreter, a, b):
    """Of a Kumaraswamy variable (q / b)^(1 / a), whose logarithm has slopes though it be 0 itself."""
    q = np.array([5e-324, 1e-320, 1e-300])
    given = np.full(3, a), np.full(3, b)
    value, (of_q, of_a, of_b) = value_and_partials(ppf(FAMILIES["Kumaraswamy"](*given), q), (q, *given))
    log_x = (np.log(q) - np.log(b)) / a
    expected = np.exp(log_x)
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-323)
    np.testing.assert_allclose(of_a, -expected * log_x / a, rtol=1e-12, atol=1e-320)
    np.testing.assert_allclose(of_b, -expected / a / b, rtol=1e-12, atol=1e-320)
    assert (of_q >= 0.0).all()


@pytest.mark.parametrize("df", [0.5, 1.0, 3.0])
def test_chi_quantiles_of_the_least_shares_have_slopes(interpreter, df):
    q, given = np.array([5e-324, 1e-320, 1e-300]), np.full(3, df)
    _, (of_q, of_df) = value_and_partials(ppf(FAMILIES["Chi"](given), q), (q, given))
    assert (of_q >= 0.0).all() and (of_df >= 0.0).all()


LEAST = np.array([5e-324, 1e-316, 4e-309])  # of which 1 / q overflows
UNKNOWN = {"Epanechnikov", "Pert"}  # slopes that are products of 0 and infinity, or quotients of subnormal numbers


@pytest.mark.parametrize("family", CONTINUOUS, ids=lambda family: family.__name__)
def test_slopes_at_the_least_probabilities_are_numbers(interpreter, family):
    """Of a quantile that is a number: in q one over the density, or infinite on the way; in parameters none is NaN."""
    given = {name: np.repeat(values[:: len(SHARES)], len(LEAST)) for name, values in parameters_in_rows(family).items()}
    q = np.tile(LEAST, 3)
    distribution = family(**given)
    x, of_q = value_and_partials(ppf(distribution, q), q)
    assert not np.isnan(x).any()
    if family.__name__ not in UNKNOWN:
        density, of_x = value_and_partials(logpdf(distribution, x), x)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            wanted = 1.0 / np.exp(density)
            told = np.isfinite(x) & (abs(x) > 1e-300) & (wanted > 0.0) & np.isfinite(wanted) & np.isfinite(of_q)
            told &= abs(of_x) * np.spacing(abs(x)) < 1e-8  # else the density is one of another number, that rounds to x
        assert not np.isnan(of_q).any()
        np.testing.assert_allclose(of_q[told], wanted[told], rtol=1e-7)
    _, slopes = value_and_partials(ppf(distribution, q), tuple(given.values()))
    assert not np.isnan(slopes).any()
