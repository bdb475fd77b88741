"""Faults that users of other systems reported, in special functions, mixtures and densities made of them.

The numbers in the names are those of issues and pull requests of the systems named.  Truths are balls (Arb), or exact.
"""

from math import inf, log

import numpy as np
import pytest
from ball_formulas import log_beta
from flint import acb, arb, ctx
from scipy import special

from vecdist import compile as compiled
from vecdist import lazy, logpdf, logpmf, logsumexp, mixture, softmax, value_and_grad, value_and_partials
from vecdist.distributions import FAMILIES, BetaBinomial, Dirichlet, FisherSnedecor, Normal, StudentT, VonMises
from vecdist.lazy.array import LazyArray
from vecdist.special.reflection import digamma_real

pytestmark = pytest.mark.usefixtures("interpreter")
EPS = np.finfo(np.float64).eps


def test_jax_15709_the_entropy_of_nothing_has_a_derivative():
    x = np.array([0.0, 0.5])
    value, (slope,) = value_and_partials(-special.xlogy(lazy(x), lazy(x)), (x,))
    np.testing.assert_allclose(value, [0.0, 0.5 * log(2)], rtol=1e-15)
    np.testing.assert_allclose(slope, [inf, log(2) - 1], rtol=1e-15)


def test_tensorflow_56873_xlog1py_has_a_derivative_where_x_is_zero():
    x, y = np.array([0.0, 0.0]), np.array([0.5, -0.25])
    value, (of_x, of_y) = value_and_partials(special.xlog1py(lazy(x), lazy(y)), (x, y))
    np.testing.assert_array_equal(value, 0.0)
    np.testing.assert_allclose(of_x, np.log1p(y), rtol=1e-15)
    np.testing.assert_array_equal(of_y, 0.0)


@pytest.mark.parametrize("thread", ["jax-23842+jax-17117+jax-22398+jax-37633"])
def test_what_is_masked_has_no_part_in_a_logsumexp_and_no_nan_in_its_gradient(thread):
    x = np.array([[0.5, 1.0, 2.0], [3.0, 1.0, 0.0]])
    mask = np.array([[True, False, True], [False, False, False]])
    masked = np.where(mask, lazy(x), -inf)
    value, slope = value_and_grad(logsumexp(masked, axis=1)[0], x)
    assert float(value) == pytest.approx(np.logaddexp(0.5, 2.0), rel=1e-15)
    part = 1 / (1 + np.exp(1.5))
    np.testing.assert_allclose(slope, [[part, 0.0, 1 - part], [0.0, 0.0, 0.0]], rtol=1e-14)
    nothing, slope = value_and_grad(logsumexp(masked, axis=1)[1], x)
    assert nothing == -inf and (slope == 0.0).all()
    _, slope = value_and_grad(softmax(masked, axis=1)[0, 0], x)
    np.testing.assert_allclose(slope[0], np.array([1.0, 0.0, -1.0]) * part * (1 - part), rtol=1e-14)


@pytest.mark.parametrize("thread", ["jax-23842+jax-37633"])
def test_a_weight_of_zero_has_its_derivative(thread):
    weights, means, x = np.array([0.0, 1.0]), np.array([0.0, 2.0]), np.array([0.25, 1.5, -40.0])
    value, slopes = value_and_grad(logpdf(mixture(weights, Normal(means, 1.0)), x).sum(), (weights, means))
    density = [-0.5 * (x - mean) ** 2 - 0.5 * log(2 * np.pi) for mean in means]
    np.testing.assert_allclose(value, density[1].sum(), rtol=1e-15)
    np.testing.assert_allclose(slopes[0], [np.exp(density[0] - density[1]).sum(), 3.0], rtol=1e-13)
    np.testing.assert_allclose(slopes[1], [0.0, (x - 2.0).sum()], rtol=1e-14)


@pytest.mark.parametrize("thread", ["jax-2107+jax-2140"])
def test_the_derivative_of_softplus_is_one_half_at_zero(thread):
    x = np.array([0.0, -0.0, 800.0, -800.0])
    value, (slope,) = value_and_partials(np.logaddexp(lazy(x), 0.0), (x,))
    np.testing.assert_allclose(value, [log(2), log(2), 800.0, 0.0], rtol=1e-15)
    np.testing.assert_allclose(slope, [0.5, 0.5, 1.0, 0.0], rtol=1e-15)
    _, (slope,) = value_and_partials(special.log_expit(lazy(x)), (x,))
    np.testing.assert_allclose(slope, [0.5, 0.5, 0.0, 1.0], rtol=1e-15)


@pytest.mark.parametrize("thread", ["numpyro-2176+pyhf-293"])
def test_a_rate_of_zero_in_a_sum_of_poisson_terms(thread):
    signal = np.array(0.0)
    rates = lazy(signal) * np.array([1.0, 2.0]) + np.array([0.0, 3.0])
    value, slope = value_and_grad(logpmf(FAMILIES["Poisson"](rates), np.array([0, 2])).sum(), signal)
    np.testing.assert_allclose([value, slope], [-3 + 2 * log(3) - log(2), -1 + 2 * (2 / 3 - 1)], rtol=1e-14)


def test_pytorch_28441_a_dirichlet_component_of_1e_39():
    alpha, x = np.array([0.5, 2.0]), np.array([1e-39, 1.0])
    value, (of_alpha, of_x) = value_and_grad(logpdf(Dirichlet(alpha), x), (alpha, x))
    normaliser = special.gammaln(2.5) - special.gammaln(0.5) - special.gammaln(2.0)
    np.testing.assert_allclose(value, normaliser - 0.5 * log(1e-39), rtol=1e-14)
    np.testing.assert_allclose(of_alpha, special.psi(2.5) - special.psi(alpha) + np.log(x), rtol=1e-13)
    np.testing.assert_allclose(of_x, (alpha - 1) / x, rtol=1e-14)
    narrow = x.astype(np.float32)
    _, slope = value_and_grad(logpdf(Dirichlet(alpha.astype(np.float32)), narrow), narrow)
    assert not np.isnan(slope).any()


@pytest.mark.parametrize("thread", ["jax-21284+jax-19010+jax-5418"])
def test_lgamma_of_float32_next_to_its_zeros(thread):
    near = np.geomspace(1e-6, 0.1, 50)
    x = np.concatenate([np.geomspace(0.01, 10.0, 400), 1 + near, 2 - near]).astype(np.float32)
    found = np.asarray(special.gammaln(lazy(x)))
    with ctx.workprec(200):
        wanted = np.array([float(arb(float(each)).lgamma()) for each in x])
    unit = np.spacing(np.abs(wanted).astype(np.float32)).astype(float)
    assert found.dtype == np.float32 and (abs(found - wanted) <= 4 * unit).all()


def test_pytorch_6190_digamma_of_float32_next_to_its_poles():
    poles = np.array([0.0, -1.0, -2.0, -7.0])[:, None]
    x = (poles + np.array([1e-3, -1e-3, 1e-5, 0.01, 0.4])).ravel().astype(np.float32)
    found = np.asarray(LazyArray(digamma_real(lazy(x).node)))
    with ctx.workprec(200):
        wanted = np.array([float(arb(float(each)).digamma()) for each in x])
    np.testing.assert_allclose(found, wanted, rtol=2e-6)


@pytest.mark.parametrize("thread", ["gam-3235+gam-3237"])
def test_the_score_of_the_degrees_of_freedom_where_they_are_many(thread):
    df = np.array([1e3, 5e7, 1e12])
    _, (slope,) = value_and_partials(logpdf(StudentT(df), 2.1), (df,))
    with ctx.workprec(600):
        wanted = [float(_score(arb(each), arb(2.1))) for each in df]
    np.testing.assert_allclose(slope, wanted, rtol=1e-12)


def _score(df, z):
    gap = ((df + 1) / 2).digamma() - (df / 2).digamma()
    square = z * z
    return (gap - 1 / df - (1 + square / df).log() + (df + 1) * square / (df * (df + square))) / 2


def test_statsfuns_225_the_f_distribution_with_many_degrees_of_freedom():
    df1 = np.array([1e8, 1e12, 1e16, 1e16, 3.0, 7.0, 1e12, 1e10, 8.0])
    df2 = np.array([7.0, 7.0, 7.0, 2.0, 1e16, 1e16, 1e16, 1e10, 20.0])
    x = np.array([1.3, 0.2, 30.0, 1.3, 1.3, 1e-3, 1 + 1e-6, 1 - 1e-5, 1e-9])
    value, partials = value_and_partials(logpdf(FisherSnedecor(df1, df2), x), (x, df1, df2))
    with ctx.workprec(900):
        rows = [tuple(map(arb, row)) for row in zip(x, df1, df2, strict=True)]
        np.testing.assert_allclose(value, [float(_f_density(*row)) for row in rows], rtol=1e-12)
        for place, partial in enumerate(partials):
            for found, row in zip(partial, rows, strict=True):
                h = row[place] * arb(2) ** -200
                ends = [_f_density(*row[:place], row[place] + s * h, *row[place + 1 :]) for s in (1, -1)]
                slope = float((ends[0] - ends[1]) / (2 * h))
                assert abs(found - slope) <= 1e-11 * max(abs(slope), 1 / float(row[place])), (place, row)


def _f_density(x, d1, d2):
    r = d1 / d2
    return d1 / 2 * r.log() + (d1 / 2 - 1) * x.log() - (d1 + d2) / 2 * (1 + r * x).log() - log_beta(d1 / 2, d2 / 2)


@pytest.mark.parametrize("thread", [
    "stan-math-428+stan-math-1495+stan-math-2031+tensorflow-12371+gluonts-287+pymc-8390",
])
def test_a_negative_binomial_mass_is_no_more_than_one(thread):
    dispersion = np.array([1e5, 1e10, 1e15, 1e20])
    for counts in (np.array(0), np.array(7), np.array(1_000_000)):
        family = FAMILIES["NegativeBinomial"]
        mean = np.array(5.5 if counts < 100 else 1e6)
        found = np.asarray(logpmf(family(mean=mean, dispersion=dispersion), counts))
        with ctx.workprec(2500):
            wanted = [float(_negative_binomial(int(counts), arb(float(mean)), arb(each))) for each in dispersion]
        assert (found < 0).all()
        np.testing.assert_allclose(found, wanted, rtol=1e-8 if counts > 100 else 1e-13)


def _negative_binomial(x, mean, r):
    rising = sum(((r + k).log() for k in range(min(x, 20))), arb(0)) if x < 100 else (r + x).lgamma() - r.lgamma()
    return rising - arb(x + 1).lgamma() - r * (1 + mean / r).log() + x * (mean / (r + mean)).log()


def test_stan_math_3153_a_beta_binomial_mass_with_large_shapes():
    alpha = np.array([1e8, 1e12, 1e16])
    found = np.asarray(logpmf(BetaBinomial(20, alpha, 2.0 * alpha), 6))
    with ctx.workprec(800):
        wanted = [float(
            log_beta(arb(6) + arb(a), arb(14) + 2 * arb(a)) - log_beta(arb(a), 2 * arb(a))
            + arb(21).lgamma() - arb(7).lgamma() - arb(15).lgamma()
        ) for a in alpha]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


KAPPAS = np.array([0.1, 5.0, 11.9, 12.1, 50.0, 99.0, 101.0, 709.0, 1e5, 1e10])


@pytest.mark.parametrize("thread", ["stan-math-1076+stan-math-3035+pymc-2832+numpyro-776+graphnet-900"])
def test_von_mises_of_any_concentration_has_no_jump(thread):
    kappa, x = KAPPAS.copy(), 0.3 / np.sqrt(KAPPAS + 1)
    value, (slope,) = value_and_partials(logpdf(VonMises(0.0, kappa), x), (kappa,))
    with ctx.workprec(300):
        pairs = [_von_mises(arb(float(k)), arb(float(at))) for k, at in zip(kappa, x, strict=True)]
    np.testing.assert_allclose(value, [float(value) for value, _ in pairs], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(slope, [float(slope) for _, slope in pairs], rtol=1e-9)


def test_von_mises_of_angles_of_any_size():
    """Reduced by as many digits of pi as they need, with what rounding takes from the distance to the location."""
    x = np.array([1e22, 6381956970095103 * 2.0**797, 3e15, -1e300, 123456789.0])
    loc, kappa = np.array([0.3, -7.0, 1e10, 2.0, 0.1]), np.array([2.0, 50.0, 0.5, 1e4, 1.0])
    value, (of_x, of_loc) = value_and_partials(logpdf(VonMises(loc, kappa), x), (x, loc))
    with ctx.workprec(1200):
        balls = [tuple(map(arb, row)) for row in zip(x.tolist(), loc.tolist(), kappa.tolist(), strict=True)]
        wanted = [float(_von_mises(k, at - m)[0]) for at, m, k in balls]
        slopes = [float(-k * (at - m).sin()) for at, m, k in balls]
    np.testing.assert_allclose(value, wanted, rtol=4e-15)
    np.testing.assert_allclose(of_x, slopes, rtol=4e-15)
    np.testing.assert_array_equal(of_loc, -of_x)


def _von_mises(kappa, x):
    """The log density, and its derivative in the concentration, with Bessel functions scaled by exp(-kappa)."""
    i0, i1 = (acb(kappa).bessel_i(order, scaled=True).real for order in (0, 1))
    less = -2 * (x / 2).sin() ** 2
    return kappa * less - i0.log() - (2 * arb.pi()).log(), less + 1 - i1 / i0


def test_numpyro_1203_a_binomial_mass_of_20_million_in_float32():
    p = np.array([0.3], np.float32)
    value, (slope,) = value_and_partials(logpmf(FAMILIES["Binomial"](20_000_000, p), np.array([6_001_000])), (p,))
    assert value.dtype == np.float32
    exact = float(p[0])
    wanted = 6_001_000 / exact - 13_999_000 / (1 - exact)
    n, k = arb(20_000_000), arb(6_001_000)
    with ctx.workprec(300):
        mass = (n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma() + k * arb(exact).log()
        mass = float(mass + (n - k) * (1 - arb(exact)).log())
    condition = (6_001_000 / exact + 13_999_000 / (1 - exact)) * np.finfo(np.float32).eps
    assert abs(slope[0] - wanted) <= 2 * condition
    assert abs(value[0] - mass) <= 4 * np.finfo(np.float32).eps * 6_001_000 * abs(log(exact))


@pytest.mark.parametrize("thread", ["distributions-1677+distributionsad-156+pymc-7608"])
def test_parameters_and_constants_leave_float32_as_it_is(thread):
    x = np.array([0.5], np.float32)
    for name in ("Gumbel", "Logistic", "Gamma", "Beta", "VonMises", "Exponential", "InverseGaussian"):
        family = FAMILIES[name]
        given = [np.array([1.5], np.float32) for _ in family.parametrisations[0].names]
        value, partials = value_and_partials(logpdf(family(*given), x), (x, *given))
        assert {value.dtype, *(partial.dtype for partial in partials)} == {np.dtype(np.float32)}, name


def test_numba_cuda_590_functions_of_one_name_are_not_taken_for_each_other():
    def scaled(factor):
        return compiled(lambda x: lazy(x) * factor)

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal([np.asarray(scaled(k)(x)) for k in (2.0, 3.0)], [[2.0, 4.0], [3.0, 6.0]])
