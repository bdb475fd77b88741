"""Distribution functions at the ends of supports: their values, and their partials as limits from inside."""

from math import inf, pi, sqrt

import numpy as np
import pytest

from vecdist import (
    affine,
    cdf,
    censored,
    discretised,
    hessian,
    lazy,
    logcdf,
    logpdf,
    logsf,
    sf,
    truncated,
    value_and_grad,
    value_and_partials,
)
from vecdist.distributions import FAMILIES, Exponential, Gamma, LogNormal, Uniform, Weibull

UP = {"x": inf}
# A distribution function, its family, its parameters, x, and the partial derivatives there by closed forms.
ENDS = [
    (cdf, "Arcsine", {"low": -1.0, "high": 3.0}, -1.0, {"x": inf, "low": -inf, "high": 0.0}),
    (logcdf, "Arcsine", {"low": 0.0, "high": 1.0}, 1.0, {"x": inf, "low": 0.0, "high": -inf}),
    (logsf, "Arcsine", {"low": 0.0, "high": 2.0}, 0.0, {"x": -inf, "low": inf, "high": 0.0}),
    (sf, "Arcsine", {"low": 0.0, "high": 1.0}, -0.0, {"x": -inf, "low": inf, "high": 0.0}),
    (logcdf, "Beta", {"alpha": 2.0, "beta": 3.0}, 0.0, UP | {"alpha": -inf, "beta": 7 / 12}),
    (cdf, "Exponential", {"scale": 2.0}, 0.0, {"x": 0.5, "scale": 0.0}),
    (logcdf, "Exponential", {"scale": 2.0}, 0.0, UP | {"scale": -0.5}),
    (cdf, "Frechet", {"shape": 2.0, "scale": 2.0}, 0.0, {"x": 0.0, "shape": 0.0, "scale": 0.0}),
    (cdf, "Gamma", {"shape": 1.0, "scale": 2.0}, 0.0, {"x": 0.5, "shape": 0.0, "scale": 0.0}),
    (cdf, "Gamma", {"shape": 0.5, "scale": 2.0}, 0.0, UP | {"shape": 0.0, "scale": 0.0}),
    (logsf, "Gamma", {"shape": 2.0, "scale": 1.5}, 0.0, {"x": 0.0, "shape": 0.0, "scale": 0.0}),
    (logcdf, "Gamma", {"shape": 2.0, "scale": 1.5}, 0.0, UP | {"shape": -inf, "scale": -4 / 3}),
    (logcdf, "Gamma", {"shape": 0.5, "scale": 2.0}, 0.0, UP | {"shape": -inf, "scale": -0.25}),
    (sf, "GeneralizedPareto", {"loc": 0.5, "scale": 2.0, "shape": -1.0}, 2.5,
     {"x": -0.5, "loc": 0.5, "scale": 0.5, "shape": 1.0}),
    (logcdf, "Gompertz", {"shape": 2.0, "rate": 4.0}, 0.0, UP | {"shape": 0.5, "rate": 0.25}),
    (logcdf, "HalfCauchy", {"scale": 2.0}, 0.0, UP | {"scale": -0.5}),
    (logsf, "Kumaraswamy", {"a": 3.0, "b": 2.0}, 0.0, {"x": 0.0, "a": 0.0, "b": 0.0}),
    (cdf, "Kumaraswamy", {"a": 1.0, "b": 2.0}, 0.0, {"x": 2.0, "a": 0.0, "b": 0.0}),
    (logcdf, "Kumaraswamy", {"a": 0.5, "b": 2.0}, 0.0, UP | {"a": -inf, "b": 0.5}),
    (logsf, "LogLogistic", {"scale": 2.0, "shape": 1.0}, 0.0, {"x": -0.5, "scale": 0.0, "shape": 0.0}),
    (logcdf, "LogLogistic", {"scale": 2.0, "shape": 3.0}, 0.0, UP | {"scale": -1.5, "shape": -inf}),
    (logcdf, "Lomax", {"loc": 0.5, "scale": 2.0, "shape": 3.0}, 0.5, UP | {"loc": -inf, "scale": -0.5, "shape": 1 / 3}),
    (cdf, "Pareto", {"shape": 2.0, "scale": 1e-300}, 1e-300, {"x": 2e300, "shape": 0.0, "scale": -2e300}),
    (logcdf, "Pareto", {"shape": 2.0, "scale": 3.0}, 3.0, UP | {"shape": 0.5, "scale": -inf}),
    (cdf, "RelaxedBernoulli", {"temperature": 1.0, "p": 0.25}, 1.0, {"x": 1 / 3, "temperature": 0.0, "p": 0.0}),
    (logsf, "RelaxedBernoulli", {"temperature": 0.5, "p": 0.25}, 0.0, {"x": -inf, "temperature": 0.0, "p": 0.0}),
    (logsf, "Semicircle", {"radius": 2.0}, 2.0, {"x": -inf, "radius": inf}),
    (logcdf, "Triangular", {"low": 0.0, "high": 4.0, "peak": 1.0}, 0.0,
     UP | {"low": -inf, "high": -0.25, "peak": -1.0}),
    (cdf, "Triangular", {"low": 0.0, "high": 4.0, "peak": 0.0}, 0.0,
     {"x": 0.5, "low": -0.25, "high": 0.0, "peak": -0.25}),
    (sf, "Triangular", {"low": 0.0, "high": 4.0, "peak": 4.0}, 4.0,
     {"x": -0.5, "low": 0.0, "high": 0.25, "peak": 0.25}),
    (logcdf, "Triangular", {"low": 0.0, "high": 4.0, "peak": 0.0}, 0.0,
     UP | {"low": -inf, "high": -0.25, "peak": -inf}),
    (logsf, "Triangular", {"low": 0.0, "high": 4.0, "peak": 0.0}, 4.0,
     {"x": -inf, "low": 0.25, "high": inf, "peak": 0.25}),
    (logcdf, "TruncatedCauchy", {"loc": 0.0, "scale": 1.0, "low": 0.0, "high": inf}, 0.0,
     UP | {"loc": -2 / pi, "scale": -1.0, "low": -inf, "high": 0.0}),
    (logsf, "Uniform", {"low": -1.0, "high": 3.0}, 3.0, {"x": -inf, "low": 0.25, "high": inf}),
    (logsf, "Weibull", {"shape": 3.0, "scale": 3.0}, 0.0, {"x": 0.0, "shape": 0.0, "scale": 0.0}),
    (sf, "Weibull", {"shape": 0.5, "scale": 3.0}, 0.0, {"x": -inf, "shape": 0.0, "scale": 0.0}),
]
END_IDS = [f"{verb.__name__}-{name}-x={x:g}-{number}" for number, (verb, name, _, x, _) in enumerate(ENDS)]


def at(verb, family, given, x):
    """The value of a distribution function and its partials in x and the parameters, at one point."""
    arrays = {"x": np.array([x])} | {name: np.array([value]) for name, value in given.items()}
    x, *parameters = arrays.values()
    value, partials = value_and_partials(verb(family(*parameters), x), (x, *parameters))
    return value[0], {name: partial[0] for name, partial in zip(arrays, partials, strict=True)}


@pytest.mark.parametrize(("verb", "name", "given", "x", "expected"), ENDS, ids=END_IDS)
def test_partials_at_an_end(interpreter, verb, name, given, x, expected):
    value, found = at(verb, FAMILIES[name], given, x)
    assert value in {0.0, 1.0, -inf} and not (np.signbit(value) and value == 0)
    for key, partial in expected.items():
        np.testing.assert_allclose(found[key], partial, rtol=1e-13, atol=1e-15, err_msg=f"d/d{key}")


KINKS = [
    (logcdf, "Laplace", {"loc": 2.0, "scale": 2.0}, {"x": 0.5, "loc": -0.5, "scale": 0.0}),
    (logsf, "Laplace", {"loc": 2.0, "scale": 2.0}, {"x": -0.5, "loc": 0.5, "scale": 0.0}),
    (cdf, "Laplace", {"loc": 0.5, "scale": 2.0}, {"x": 0.25, "loc": -0.25, "scale": 0.0}),
    (logcdf, "SkewedExponentialPower", {"loc": 0.5, "scale": 2.0, "power": 1.0, "skew": 0.75},
     {"x": 1 / 3, "loc": -1 / 3, "scale": 0.0, "power": 0.0, "skew": 4 / 3}),
    (logsf, "SkewedExponentialPower", {"loc": 0.5, "scale": 2.0, "power": 2.0, "skew": 0.75},
     {"x": -2 / sqrt(2 * pi), "loc": 2 / sqrt(2 * pi), "scale": 0.0, "power": 0.0, "skew": -4.0}),
]


@pytest.mark.parametrize(("verb", "name", "given", "expected"), KINKS)
def test_tails_are_smooth_where_the_density_has_a_kink(interpreter, verb, name, given, expected):
    _, found = at(verb, FAMILIES[name], given, given["loc"])
    for key, partial in expected.items():
        np.testing.assert_allclose(found[key], partial, rtol=1e-14, atol=1e-16, err_msg=f"d/d{key}")


def test_a_place_that_stays_at_the_end_has_no_infinite_slope(interpreter):
    scale = np.array(2.0)
    _, slope = value_and_grad(logcdf(Exponential(scale), 0.0 * lazy(scale)).sum(), scale)
    np.testing.assert_allclose(slope, -0.5)
    _, slope = value_and_grad(cdf(Weibull(0.5, 1.0), 0.0 * lazy(scale)).sum(), scale)
    assert slope == 0.0


def test_second_derivatives_at_an_end_are_those_of_the_formula(interpreter):
    x, scale = np.array(0.0), np.array(2.0)
    rows = hessian(cdf(Exponential(scale), x).sum(), (x, scale))
    np.testing.assert_allclose(np.array(rows), [[-0.25, -0.25], [-0.25, 0.0]], atol=1e-15)
    low = np.array(-1.0)
    rows = hessian(sf(Uniform(low, 3.0), np.array(-1.0)).sum(), low)
    np.testing.assert_allclose(rows, 1 / 8)


def test_wrappers_at_the_ends_of_what_they_wrap(interpreter):
    x, scale, loc = np.array([1.0]), np.array([2.0]), np.array([1.0])
    _, partials = value_and_partials(logcdf(affine(Weibull(3.0, scale), loc, 1.0), x), (x, scale, loc))
    np.testing.assert_allclose(np.ravel(partials), [inf, -1.5, -inf])
    _, partials = value_and_partials(cdf(truncated(Exponential(scale), 0.0, 2.0), 0.0 * x), (scale,))
    np.testing.assert_array_equal(partials, [[0.0]])
    at_zero = np.array([0.0])
    _, (of_x, of_scale) = value_and_partials(logsf(affine(Gamma(1.0, scale), 0.0, 1.0), at_zero), (at_zero, scale))
    np.testing.assert_allclose([of_x[0], of_scale[0]], [-0.5, 0.0])
    _, (slope,) = value_and_partials(logpdf(censored(Exponential(scale), 0.0, 4.0), np.array([4.0])), (scale,))
    np.testing.assert_allclose(slope, 1.0)


def test_mass_at_an_end_is_none_of_the_density(interpreter):
    gate = np.array([0.25])
    value, (slope,) = value_and_partials(cdf(FAMILIES["HurdleLogNormal"](gate, 0.0, 1.0), np.array([0.0])), (gate,))
    assert value == 0.25 and slope == 1.0
    steps = discretised(Exponential(1.0))
    np.testing.assert_allclose(np.asarray(cdf(steps, np.array([0.0, 1.0]))), -np.expm1([-1.0, -2.0]))
    with pytest.raises(TypeError, match="no mass at single points"):
        truncated(steps, 1.0)
    assert np.asarray(cdf(LogNormal(0.0, 1.0), 0.0)) == 0.0


OWN_ENDS = [  # families with bounds that are the ends of their supports already
    ("Uniform", (0.0, 2.0)), ("Exponential", (1.5,)), ("Gamma", (1.0, 2.0)), ("Gamma", (3.0, 2.0)),
    ("Beta", (1.0, 1.0)), ("Beta", (2.0, 1.0)), ("Triangular", (0.0, 2.0, 0.0)), ("Triangular", (0.0, 2.0, 2.0)),
    ("Triangular", (0.0, 2.0, 0.5)), ("TruncatedNormal", (0.0, 1.0, 0.0, 2.0)),
    ("TruncatedCauchy", (2.0, 1.0, 0.0, 2.0)),
]


@pytest.mark.parametrize(("name", "parameters"), OWN_ENDS)
@pytest.mark.parametrize("verb", [cdf, sf])
def test_slopes_at_ends_are_those_next_to_them(interpreter, verb, name, parameters):
    """Of the family, and of what is truncated at its own ends: there the bounds are the ends."""
    high = 1.0 if name == "Beta" else 2.0
    x = np.array([0.0, 1e-11, high - 1e-11, high])
    given = [np.full(4, value) for value in parameters]
    bounds = [np.zeros(4), np.full(4, high)]
    for law, wrt in (
        (FAMILIES[name](*given), [x, *given]), (truncated(FAMILIES[name](*given), *bounds), [x, *given, *bounds])
    ):
        _, partials = value_and_partials(verb(law, x), wrt)
        at_low, by_low, by_high, at_high = np.array(partials).T
        np.testing.assert_allclose(at_low, by_low, atol=1e-9)
        np.testing.assert_allclose(at_high, by_high, atol=1e-9)


@pytest.mark.parametrize(("name", "parameters"), [
    ("Gamma", (0.5, 2.0)), ("Weibull", (0.25, 1.0)), ("Beta", (0.5, 0.5)),
    ("Arcsine", (0.0, 1.0)),
])
def test_bounds_where_the_density_is_infinite_have_infinite_slopes(interpreter, name, parameters):
    """Those of a bound next to it grow beyond all, of one sign: more is left out of the part than of the whole."""
    x = np.array([0.01, 0.3, 0.5, 0.7, 0.99])
    for verb, sign in ((cdf, -1), (sf, 1), (logcdf, -1), (logsf, 1)):
        for lower, upper in ((0.0, None), (0.0, 1.0)):
            bounds = [np.full(5, bound) for bound in (lower, upper) if bound is not None]
            _, slopes = value_and_partials(verb(truncated(FAMILIES[name](*parameters), *bounds), x), bounds)
            np.testing.assert_array_equal(slopes[0], sign * inf)
            if upper is not None and name in {"Beta", "Arcsine"}:
                np.testing.assert_array_equal(slopes[1], sign * inf)
