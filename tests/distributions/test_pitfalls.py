"""Faults that users of other systems reported, and regions where naive formulas lose all digits: none of them here.

The numbers in the names are those of issues and pull requests of the systems named.
"""

from math import inf, log

import numpy as np
import pytest
from family_cases import density
from family_truth import truths

from vecdist import logpdf, logpmf, value_and_grad
from vecdist.distributions import FAMILIES, Bernoulli, Beta, Exponential, Gamma, Normal, Poisson, Uniform

EPS = np.finfo(np.float64).eps

# A family, its parameters, x, and the largest term of the usual formula there, of which the value is the small rest.
HARD = [
    ("StudentT", {"df": 1e16, "loc": 0.3, "scale": 1.7}, 2.1, 40),
    ("StudentT", {"df": 5e7, "loc": 0.3, "scale": 1.7}, 2.1, 20),
    ("StudentT", {"df": 1e-8, "loc": 0.3, "scale": 1.7}, 2.1, 20),
    ("StudentT", {"df": 3.0, "loc": 0.0, "scale": 1e-5}, 1e200, 2000),
    ("Cauchy", {"loc": 0.0, "scale": 1e-5}, 1e200, 1000),
    ("HalfCauchy", {"scale": 1e-3}, 1e250, 1000),
    ("NegativeBinomial", {"mean": 5.5, "dispersion": 1e20}, 7.0, 400),
    ("NegativeBinomial", {"log_mean": 1.7, "dispersion": 1e20}, 7.0, 400),
    ("NegativeBinomial", {"mean": 5.5, "dispersion": 1e-9}, 7.0, 40),
    ("NegativeBinomial", {"mean": 1e100, "dispersion": 1e-100}, 7.0, 400),
    ("NegativeBinomial", {"mean": 1e-100, "dispersion": 1e100}, 1.0, 500),
    ("NegativeBinomial", {"r": 2.5, "p": 1e-9}, 1e9, 100),
    ("Beta", {"alpha": 1e8, "beta": 1e8}, 0.50001, 2e8),
    ("Beta", {"alpha": 3.0, "beta": 1e8}, 1e-9, 60),
    ("Beta", {"alpha": 1e-8, "beta": 1e-8}, 1e-300, 1000),
    ("Beta", {"mean": 1e-12, "concentration": 1e12}, 1e-12, 60),
    ("Binomial", {"n": 1e9, "p": 0.5}, 5.0001e8, 1e9),
    ("Binomial", {"n": 1e9, "p": 1e-9}, 3.0, 100),
    ("Binomial", {"n": 1e9, "logit": -20.0}, 3.0, 100),
    ("Poisson", {"rate": 1e9}, 1.00001e9, 3e10),
    ("Poisson", {"rate": 1e-300}, 1.0, 1000),
    ("Gamma", {"shape": 1e8, "scale": 1.0}, 1.0001e8, 3e9),
    ("Gamma", {"shape": 1e-5, "scale": 1.0}, 1e-300, 1000),
    ("Gamma", {"shape": 2.0, "scale": 1e150}, 1e150, 1000),
    ("InverseGamma", {"shape": 2.0, "scale": 1e-200}, 1e-200, 2000),
    ("Geometric", {"p": 1e-12}, 1e12, 40),
    ("Geometric", {"logit": 36.0}, 3.0, 100),
    ("Weibull", {"shape": 0.5, "scale": 1e-290}, 1e-300, 1000),
    ("LogNormal", {"loc": -600.0, "scale": 2.0}, 1e-260, 3000),
    ("Logistic", {"loc": 0.0, "scale": 1.0}, 800.0, 800),
    ("Logistic", {"loc": 0.0, "scale": 1.0}, -800.0, 800),
    ("Bernoulli", {"logit": -800.0}, 1.0, 800),
    ("Bernoulli", {"logit": -40.0}, 0.0, 1e-16),
    ("Bernoulli", {"p": 1e-20}, 0.0, 1e-19),
    ("Normal", {"loc": 1e10, "scale": 1e-3}, 1e10, 10),
]
HARD_IDS = [f"{name}-{'-'.join(f'{k}={v:g}' for k, v in given.items())}-x={x:g}" for name, given, x, _ in HARD]


@pytest.mark.parametrize(("name", "given", "x", "size"), HARD, ids=HARD_IDS)
def test_hard_regions(interpreter, name, given, x, size):
    """The value to a few units of its largest term, and each derivative to a few of that term over its argument."""
    family, names = FAMILIES[name], tuple(given)
    arguments = np.array([x]), [np.array([value]) for value in given.values()]
    value, partials = density(family, names, *arguments)
    true_value, true_partials = truths(family, names, *arguments)
    assert abs(value - true_value)[0] <= 8 * EPS * size
    places = list(zip(("x", *names), (x, *given.values()), partials, true_partials, strict=True))
    for key, at, partial, true in places[family.discrete :]:
        unit = size if at == 0 else size / abs(at)
        assert abs(partial - true)[0] <= 8 * EPS * max(abs(true)[0], unit), f"d/d{key}"


def value_and_slopes(distribution, x, *wrt):
    """The log density at one point as a float, with its derivatives."""
    value, slopes = value_and_grad(logpdf(distribution, x).sum(), wrt)
    return float(value), [float(slope) for slope in slopes]


def test_jax_15598_beta_derivatives_at_shapes_of_one_are_not_zeroed(interpreter):
    alpha, beta, x = np.array(1.0), np.array(1.0), np.array(0.25)
    value, slopes = value_and_slopes(Beta(alpha, beta), x, alpha, beta, x)
    np.testing.assert_allclose([value, *slopes], [0.0, 1 + log(0.25), 1 + log(0.75), 0.0], rtol=1e-15, atol=1e-15)


def test_jax_40152_gamma_derivative_in_the_shape_at_a_shape_of_one(interpreter):
    shape, x = np.array(1.0), np.array(0.5)
    value, (slope,) = value_and_slopes(Gamma(shape, 2.0), x, shape)
    np.testing.assert_allclose([value, slope], [-0.25 - log(2), log(0.25) + np.euler_gamma], rtol=1e-15)


def test_numpyro_2088_beta_at_its_edges_has_a_value_and_derivatives(interpreter):
    beta = np.array(3.0)
    value, (slope,) = value_and_slopes(Beta(1.0, beta), np.array(0.0), beta)
    np.testing.assert_allclose([value, slope], [log(3), 1 / 3], rtol=1e-15)


@pytest.mark.parametrize("distribution", [Exponential(2.0), Gamma(1.0, 2.0), FAMILIES["Weibull"](1.0, 2.0)], ids=str)
def test_jax_7256_densities_at_the_edge_of_the_support(interpreter, distribution):
    x = np.array([-0.0, 0.0, -5e-324])
    np.testing.assert_allclose(np.asarray(logpdf(distribution, x)), [-log(2), -log(2), -inf], rtol=1e-15)


def test_pytorch_53485_poisson_of_rate_zero(interpreter):
    rates, counts = np.array([0.0, 0.0, 2.0]), np.array([0, 3, 0])
    value, slope = value_and_grad(logpmf(Poisson(rates), counts).sum(), rates)
    assert value == -inf
    np.testing.assert_array_equal(slope, [-1.0, inf, -1.0])


def test_stan_3347_poisson_of_log_rate_minus_infinity(interpreter):
    found = np.asarray(logpmf(Poisson(log_rate=np.array([-inf, -inf])), np.array([0, 1])))
    np.testing.assert_array_equal(found, [0.0, -inf])


def test_distributionsad_223_no_gradient_is_nan_at_infinity(interpreter):
    scale, x = np.array(2.0), np.array([inf, -inf])
    _, slope = value_and_grad(logpdf(FAMILIES["HalfNormal"](scale), x).sum(), scale)
    assert slope == 0.0


def test_scipy_18386_student_t_becomes_normal(interpreter):
    df = np.array([1e10, 1e16, 1e300, inf])
    found = np.asarray(logpdf(FAMILIES["StudentT"](df, 0.5, 2.0), 3.0))
    np.testing.assert_allclose(found, np.asarray(logpdf(Normal(0.5, 2.0), 3.0)), rtol=1e-9)
    np.testing.assert_allclose(found[1:], found[-1], rtol=1e-13)


def test_stan_math_1495_negative_binomial_becomes_poisson(interpreter):
    counts = np.array([0, 1, 7, 40])
    poisson = np.asarray(logpmf(Poisson(5.5), counts))
    by_mean = FAMILIES["NegativeBinomial"](mean=5.5, dispersion=1e20)
    by_log_mean = FAMILIES["NegativeBinomial"](log_mean=log(5.5), dispersion=1e20)
    np.testing.assert_allclose(np.asarray(logpmf(by_mean, counts)), poisson, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(logpmf(by_log_mean, counts)), poisson, rtol=1e-13)
    assert (poisson < 0).all()


def test_stan_math_1611_log_beta_function_of_1e20(interpreter):
    assert float(logpdf(Beta(1e20, 3.0), 1.0 - 1e-16)) < 200.0


def test_distributions_1014_constants_do_not_widen_float32(interpreter):
    x = np.array([0.5], np.float32)
    for name in ("Normal", "Cauchy", "StudentT", "HalfCauchy", "LogNormal", "Laplace"):
        family = FAMILIES[name]
        given = [np.array([1.5], np.float32) for _ in family.parametrisations[0].names]
        assert logpdf(family(*given), x).dtype == np.float32


def test_turing_1890_bernoulli_by_logit_is_a_closed_form_in_both_tails(interpreter):
    logit = np.array([-1000.0, -40.0, 0.0, 40.0, 1000.0])
    value, slope = value_and_grad(logpmf(Bernoulli(logit=logit), np.ones(5)).sum(), logit)
    np.testing.assert_allclose(slope, 1 / (1 + np.exp(np.minimum(logit, 700.0))), rtol=1e-14, atol=1e-300)
    assert np.isfinite(value)


def test_uniform_at_nan_is_nan(interpreter):
    found = np.asarray(logpdf(Uniform(-1.0, 3.0), np.array([np.nan, 0.0])))
    np.testing.assert_allclose(found, [np.nan, -log(4)], rtol=1e-15)
