"""Faults that users of other systems reported, in tails, in truncation, and in derivatives of incomplete functions.

The numbers in the names are those of issues and pull requests of the systems named.  Truths are balls (Arb).
"""

import time
from math import inf, log

import numpy as np
import pytest
from flint import arb, ctx

from vecdist import (
    cdf,
    lazy,
    logcdf,
    logpdf,
    logpmf,
    logsf,
    ppf,
    truncated,
    value_and_grad,
    value_and_partials,
)
from vecdist.distributions import Beta, Cauchy, Gamma, Normal, OrderedLogistic, StudentT, TruncatedNormal
from vecdist.primitives import PRIMITIVES

pytestmark = pytest.mark.usefixtures("interpreter")
BITS = 1600
STEP = arb(2) ** -500


def truth(function, *at):
    """A function of balls and its derivatives, by differences of which a thousand bits are right."""
    with ctx.workprec(BITS):
        at = [arb(float(x)) for x in at]
        slopes = []
        for place, x in enumerate(at):
            h = STEP * (x if x != 0 else 1)
            ends = [function(*at[:place], x + sign * h, *at[place + 1 :]) for sign in (1, -1)]
            slopes.append(float((ends[0] - ends[1]) / (2 * h)))
        return float(function(*at)), slopes


def truths(function, *columns):
    rows = [truth(function, *row) for row in zip(*np.broadcast_arrays(*columns), strict=True)]
    return np.array([value for value, _ in rows]), np.array([slopes for _, slopes in rows]).T


def gamma_upper(a, x):
    return x.gamma_upper(a, 1)


def beta_lower(a, b, x):
    return x.beta_lower(a, b, 1)


def normal_lower(z):
    return (-z / arb(2).sqrt()).erfc() / 2


def assert_true(expr, function, *columns, wrt=None, rtol=1e-12):
    """The value of an expression and its partials in the columns, against balls."""
    arrays = [np.asarray(column, float) for column in columns] if wrt is None else wrt
    value, partials = value_and_partials(expr, tuple(arrays))
    wanted, slopes = truths(function, *columns)
    np.testing.assert_allclose(value, wanted, rtol=rtol)
    for partial, slope in zip(partials, slopes, strict=True):
        np.testing.assert_allclose(partial, slope, rtol=rtol)


SHAPES = np.array([0.05, 0.7, 2.5, 31.0, 300.0])
AT = SHAPES * np.array([0.3, 2.0, 0.9, 1.2, 1.01])


@pytest.mark.parametrize("thread", ["pytorch-67763+pytorch-80025+specialfunctions-317+tensorflow-17995"])
def test_the_incomplete_gamma_function_has_its_derivative_in_the_shape(thread):
    assert_true(cdf(Gamma(SHAPES, 1.0), AT), lambda a, x: 1 - gamma_upper(a, x), SHAPES, AT, wrt=(SHAPES, AT))


@pytest.mark.parametrize("thread", ["jax-15487+jax-38610"])
def test_the_incomplete_beta_function_has_its_derivatives_in_both_shapes(thread):
    a, b, x = np.array([0.4, 2.0, 9.0]), np.array([3.0, 0.6, 40.0]), np.array([0.1, 0.9, 0.2])
    assert_true(cdf(Beta(a, b), x), beta_lower, a, b, x, wrt=(a, b, x))


def test_specialfunctions_452_the_inverse_has_its_derivative_in_the_shape():
    q = np.array([0.01, 0.3, 0.5, 0.9, 0.999])
    x, (slope,) = value_and_partials(ppf(Gamma(SHAPES, 1.0), q), (SHAPES,))
    _, (of_shape, of_x) = truths(lambda a, x: 1 - gamma_upper(a, x), SHAPES, x)
    np.testing.assert_allclose(slope, -of_shape / of_x, rtol=1e-11)


def test_stan_math_3408_derivatives_in_the_shape_are_finite_and_right_on_a_grid():
    shape, ratio = (each.ravel() for each in np.meshgrid(np.geomspace(1e-2, 1e3, 11), np.geomspace(0.05, 4.0, 9)))
    x = shape * ratio
    value, (found,) = value_and_partials(logsf(Gamma(shape, 1.0), x), (shape,))
    kept = value > -700.0
    wanted, slopes = truths(lambda a, x: gamma_upper(a, x).log(), shape[kept], x[kept])
    assert np.isfinite(found).all() and kept.mean() > 0.8
    # Of the logarithm of what is next to 1 the relative error is that of the other tail, to which x is known.
    np.testing.assert_allclose(found[kept], slopes[0], rtol=1e-11)
    np.testing.assert_allclose(value[kept], wanted, rtol=1e-11)


@pytest.mark.parametrize("thread", ["stan-math-3257+stan-math-2767"])
def test_the_upper_tail_of_the_gamma_distribution_with_a_shape_above_30(thread):
    shape, x = np.array([30.5, 35.0, 60.0, 200.0]), np.array([80.0, 36.0, 20.0, 600.0])
    assert_true(logsf(Gamma(shape, 1.0), x), lambda a, x: gamma_upper(a, x).log(), shape, x, wrt=(shape, x), rtol=1e-11)


def test_jax_21352_no_shape_makes_the_derivative_loop_for_ever():
    routine = PRIMITIVES["gammainc_da"].routine
    started = time.perf_counter()
    for shape in (1e-300, 1e-8, 0.3, 1.0, 1e4, 1e16, 1e300):
        for x in (0.0, 1e-300, 1.0, shape, 1e300, inf):
            assert isinstance(routine(shape, x), float)
    assert time.perf_counter() - started < 5.0


@pytest.mark.parametrize("thread", ["pymc-8436+stan-math-2923"])
def test_logarithms_of_heavy_lower_tails(thread):
    x = np.array([-1e3, -1e10, -1e100])
    found = np.asarray(logcdf(Cauchy(0.0, 1.0), x))
    np.testing.assert_allclose(found, np.log(-1.0 / x / np.pi), rtol=1e-6)
    df = np.array([1.0, 2.5, 7.0])
    found = np.asarray(logcdf(StudentT(df), x[1:, None]))
    wanted = truths(
        lambda df, x: beta_lower(df / 2, arb(1) / 2, df / (df + x * x)).log() - arb(2).log(),
        np.tile(df, 2), np.repeat(x[1:], 3),
    )[0]
    np.testing.assert_allclose(found.ravel(), wanted, rtol=1e-13)


def test_stan_1424_the_logarithm_of_the_lower_normal_tail():
    z = np.array([-1000.0, -40.0, -37.6, -5.0])
    assert_true(logcdf(Normal(0.0, 1.0), z), lambda z: normal_lower(z).log(), z, wrt=(z,), rtol=1e-14)


def test_tfp_1639_derivatives_of_the_student_distribution_function_near_its_middle():
    df, x = np.array([3.0, 1e6, 1e10]), np.array([1e-10, 1e-3, 1e-4])

    def function(df, x):
        return 1 - beta_lower(df / 2, arb(1) / 2, df / (df + x * x)) / 2

    expr = cdf(StudentT(df), x)
    value, (_, of_x) = value_and_partials(expr, (df, x))
    wanted, (_, slope) = truths(function, df, x)
    np.testing.assert_allclose(value, wanted, rtol=1e-14)
    np.testing.assert_allclose(of_x, slope, rtol=1e-13)


@pytest.mark.parametrize("thread", ["numpyro-1492+tfp-518+brms-1904"])
def test_the_mass_between_bounds_is_taken_in_the_tail_that_is_not_1(thread):
    low, high = np.array([9.0, -12.0, 40.0, -1.0]), np.array([11.0, -10.0, inf, inf])
    x = np.array([9.5, -10.5, 41.0, 3.0])
    wanted = []
    for a, b, at in zip(low, high, x, strict=True):
        with ctx.workprec(BITS):
            sign = -1 if a > 0 else 1
            ends = [arb(0) if not np.isfinite(end) and sign < 0 else arb(1) if not np.isfinite(end)
                    else normal_lower(sign * arb(float(end))) for end in (a, b)]
            density = -arb(float(at)) ** 2 / 2 - (2 * arb.pi()).log() / 2
            wanted.append(float(density - abs(ends[1] - ends[0]).log()))
    for distribution in (truncated(Normal(0.0, 1.0), low, high), TruncatedNormal(0.0, 1.0, low, high)):
        np.testing.assert_allclose(np.asarray(logpdf(distribution, x)), wanted, rtol=1e-13)


def test_tfp_1214_the_mass_between_bounds_in_float32():
    low, high, x = (np.array([value], np.float32) for value in (9.0, 11.0, 9.5))
    found = logpdf(truncated(Normal(np.float32(0.0), np.float32(1.0)), low, high), x)
    wide = logpdf(truncated(Normal(0.0, 1.0), 9.0, 11.0), 9.5)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.asarray(found), float(wide), rtol=1e-5)


@pytest.mark.parametrize("upper", [None, inf, np.array(inf)], ids=["none", "number", "array"])
@pytest.mark.parametrize("thread", ["distributionsad-223+pymc-4417"])
def test_the_gradient_of_a_distribution_with_one_bound(thread, upper):
    scale, x = np.array(2.0), np.array([0.5, 3.0])
    value, slope = value_and_grad(logpdf(truncated(Normal(0.0, scale), 0.0, upper), x).sum(), scale)
    np.testing.assert_allclose(value, (-0.5 * log(2 * np.pi) - x**2 / 8).sum(), rtol=1e-14)
    np.testing.assert_allclose(slope, (-1 / 2 + x**2 / 8).sum(), rtol=1e-14)


def test_brms_1038_categories_between_cutpoints_far_from_the_predictor():
    for eta in (-720.0, -17.0, 17.0, 720.0):
        cutpoints = np.array([-1.0, 1.0])
        slope_at = np.array(eta)
        value, slope = value_and_grad(logpmf(OrderedLogistic(slope_at, cutpoints), np.array(1)).sum(), slope_at)
        wanted, (of_eta,) = truth(
            lambda e: (1 / (1 + (e - 1).exp()) - 1 / (1 + (e + 1).exp())).log()
            if e < 0 else (1 / (1 + (-1 - e).exp()) - 1 / (1 + (1 - e).exp())).log(),
            eta,
        ) if abs(eta) < 100 else (1.0 - abs(eta) + log(1 - np.exp(-2.0)), [-np.sign(eta)])
        np.testing.assert_allclose([value, slope], [wanted, of_eta], rtol=1e-13)


@pytest.mark.parametrize("thread", ["numpyro-92+numpyro-117"])
def test_a_sum_of_float32_densities_is_added_up_in_more_digits(thread):
    x = np.random.default_rng(0).normal(size=500_000).astype(np.float32)
    found = logpdf(Normal(np.float32(0.0), np.float32(1.0)), lazy(x)).sum()
    wanted = (-0.5 * x.astype(float) ** 2 - 0.5 * log(2 * np.pi)).sum()
    assert found.dtype == np.float32
    np.testing.assert_allclose(float(found), wanted, rtol=2e-7)
