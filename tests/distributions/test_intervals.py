"""Densities, upper quantiles, intervals and the logarithms of their probabilities, of every family that has them."""

import math

import flint
import numpy as np
import pytest
import scipy.stats
from family_cases import EVERY_FAMILY, parameters_of, points_of, scipys

import vecdist
from vecdist import (
    affine,
    cdf,
    interval,
    isf,
    logdiffcdf,
    logpdf,
    mixture,
    pdf,
    pmf,
    ppf,
    sf,
    std,
    transformed,
    truncated,
    value_and_partials,
    variance,
)
from vecdist.distributions import (
    FAMILIES,
    Categorical,
    Exponential,
    Gamma,
    Geometric,
    Laplace,
    LogNormal,
    MvNormal,
    Normal,
    Poisson,
    StudentT,
    VonMises,
)
from vecdist.verbs.tails_and_moments import known

pytestmark = pytest.mark.usefixtures("interpreter")


def those_with(*names):
    found = [family for family in EVERY_FAMILY if all(known(family, name) for name in names)]
    return pytest.mark.parametrize("family", found, ids=lambda family: family.__name__)


def case(family, dtype=np.float64):
    names = family.parametrisations[0].names
    parameters = parameters_of(family, names, dtype)
    return family(**dict(zip(names, parameters, strict=True))), names, parameters


def computed(lazy):
    return np.asarray(lazy)


@pytest.mark.parametrize("family", EVERY_FAMILY, ids=lambda family: family.__name__)
def test_the_density_is_scipys(family):
    distribution, names, parameters = case(family)
    x = points_of(family, names, parameters)
    oracle = scipys(family, names, parameters)
    with np.errstate(under="ignore", over="ignore"):
        expected = np.exp(oracle.logpmf(x) if family.discrete else oracle.logpdf(x))
    np.testing.assert_allclose(computed(pdf(distribution, x)), expected, rtol=1e-9)


def test_slopes_of_the_density():
    x, shape = np.array([0.0, 0.5, 3.0, -1.0]), np.array(2.5)
    value, (of_x, of_shape) = value_and_partials(pdf(Gamma(shape, 1.0), x), (x, shape))
    step = 1e-5
    moved = [scipy.stats.gamma.pdf(x, 2.5 + sign * step) for sign in (1, -1)]
    np.testing.assert_allclose(value, scipy.stats.gamma.pdf(x, 2.5), rtol=1e-13)
    np.testing.assert_allclose(of_shape, (moved[0] - moved[1]) / (2 * step), rtol=1e-8, atol=1e-10)
    inside = np.array([0.5, 3.0])
    np.testing.assert_allclose(of_x, [0.0, *(1.5 / inside - 1.0) * value[1:3], 0.0], rtol=1e-13)
    assert pmf is pdf and pdf(Normal(np.float32(0.0), 1.0), np.zeros(2, np.float32)).dtype == np.float32


@those_with("quantile", "cdf")
def test_the_upper_quantile_inverts_the_upper_tail(family):
    """Where the point tells the tail: next to an end, or at a large density, floats lie too far apart."""
    distribution, names, parameters = case(family)
    lower, upper = scipys(family, names, parameters).support()
    q = np.resize([0.9, 0.5, 0.03, 1e-7], 24)
    x = computed(isf(distribution, q))
    found = computed(sf(distribution, x))
    if family.discrete:
        assert (found <= q * (1 + 1e-9)).all()
        np.testing.assert_array_equal(x, computed(ppf(distribution, 1.0 - q)))
        return
    slope = abs(np.where(np.isinf(x), 0.0, x)) * computed(pdf(distribution, x)) * 4e-15
    settled = (x > lower) & (x < upper) if family is not VonMises else np.isfinite(x)
    known_well = settled & (slope < 1e-3 * q)
    assert (abs(found - q) <= 1e-9 * q + slope + 1e-15)[known_well].all()
    assert known_well.mean() > 0.2 or family.__name__.startswith(("Hurdle", "Arcsine"))


FAR = [  # accurate where 1 - q is 1
    (Normal(1.0, 2.0), scipy.stats.norm(1.0, 2.0)),
    (Laplace(1.0, 2.0), scipy.stats.laplace(1.0, 2.0)),
    (StudentT(3.0), scipy.stats.t(3.0)),
    (Gamma(0.5, 2.0), scipy.stats.gamma(0.5, scale=2.0)),
    (LogNormal(0.5, 2.0), scipy.stats.lognorm(2.0, scale=math.exp(0.5))),
    (FAMILIES["Chi2"](3.0), scipy.stats.chi2(3.0)),
    (FAMILIES["Chi"](3.0), scipy.stats.chi(3.0)),
    (FAMILIES["BetaPrime"](2.0, 3.0), scipy.stats.betaprime(2.0, 3.0)),
    (FAMILIES["Frechet"](2.0, 3.0), scipy.stats.invweibull(2.0, scale=3.0)),
    (FAMILIES["GeneralizedExtremeValue"](1.0, 2.0, 0.3), scipy.stats.genextreme(-0.3, 1.0, 2.0)),
    (FAMILIES["GeneralizedPareto"](1.0, 2.0, 0.3), scipy.stats.genpareto(0.3, 1.0, 2.0)),
    (FAMILIES["Gumbel"](1.0, 2.0), scipy.stats.gumbel_r(1.0, 2.0)),
    (FAMILIES["HalfCauchy"](2.0), scipy.stats.halfcauchy(scale=2.0)),
    (FAMILIES["HalfNormal"](2.0), scipy.stats.halfnorm(scale=2.0)),
    (FAMILIES["InverseGamma"](2.0, 3.0), scipy.stats.invgamma(2.0, scale=3.0)),
    (FAMILIES["JohnsonSU"](1.0, 2.0, 3.0, 4.0), scipy.stats.johnsonsu(3.0, 4.0, 1.0, 2.0)),
    (FAMILIES["Levy"](1.0, 2.0), scipy.stats.levy(1.0, 2.0)),
    (FAMILIES["Lomax"](1.0, 2.0, 3.0), scipy.stats.lomax(3.0, 1.0, 2.0)),
    (FAMILIES["Moyal"](1.0, 2.0), scipy.stats.moyal(1.0, 2.0)),
    (FAMILIES["Pareto"](2.0, 3.0), scipy.stats.pareto(2.0, scale=3.0)),
    (FAMILIES["Rayleigh"](2.0), scipy.stats.rayleigh(scale=2.0)),
    (FAMILIES["Weibull"](2.0, 3.0), scipy.stats.weibull_min(2.0, scale=3.0)),
    (affine(Gamma(0.5, 2.0), 3.0, 2.0), scipy.stats.gamma(0.5, 3.0, 4.0)),
    (truncated(Gamma(1.0, 2.0), 3.0), scipy.stats.expon(3.0, 2.0)),
    (transformed(Normal(0.0, 1.0), "exp"), scipy.stats.lognorm(1.0)),
]


@pytest.mark.parametrize(("distribution", "oracle"), FAR, ids=[type(row[0]).__name__ for row in FAR])
def test_far_upper_quantiles(distribution, oracle):
    """Against SciPy's logarithm of the tail; at the ends the support, and NaN for what is no probability."""
    q = np.array([1e-18, 1e-60, 1e-200])
    found = computed(isf(distribution, q))
    with np.errstate(all="ignore"):
        reached = oracle.logsf(found)
        known_well = np.isfinite(reached)
    assert known_well.any()
    np.testing.assert_allclose(reached[known_well], np.log(q)[known_well], rtol=1e-11)
    np.testing.assert_allclose(computed(isf(distribution, 0.3)), oracle.isf(0.3), rtol=1e-12)
    lower, upper = oracle.support()
    ends = computed(isf(distribution, np.array([1.0, 0.0, -0.1, 1.1])))
    np.testing.assert_array_equal(ends, [lower, upper, np.nan, np.nan])


def test_far_upper_quantiles_of_the_log_logistic():
    """Whose tail SciPy has from one minus the other."""
    q = np.array([0.3, 1e-18, 1e-200])
    expected = 2.0 * (q / (1.0 - q)) ** (-1.0 / 3.0)
    np.testing.assert_allclose(computed(isf(FAMILIES["LogLogistic"](2.0, 3.0), q)), expected, rtol=1e-13)


@those_with("quantile", "cdf")
def test_the_slope_of_the_upper_quantile_is_minus_one_over_the_density(family):
    if family.discrete:
        return
    distribution, _, _ = case(family)
    q = np.linspace(0.05, 0.95, 24)
    x, (slope,) = value_and_partials(isf(distribution, q), (q,))
    density = computed(logpdf(distribution, x))
    kept = (abs(density) < 50) & (x != 0)
    np.testing.assert_allclose(slope[kept], -np.exp(-density[kept]), rtol=1e-7)


@those_with("cdf", "sf", "log_cdf", "log_sf")
def test_the_probability_between_two_points(family):
    distribution, names, parameters = case(family)
    x = points_of(family, names, parameters)
    lower, upper = np.minimum(x, x[::-1]), np.maximum(x, x[::-1]) + 0.5
    three = type(distribution)(**{name: np.tile(value, 3) for name, value in distribution.parameters.items()})
    at = np.concatenate([lower, x, upper]), np.concatenate([upper, x, lower])
    found, none, wrong = np.exp(computed(logdiffcdf(three, *at))).reshape(3, 24)
    low, high = computed(cdf(distribution, lower)), computed(cdf(distribution, upper))
    above = computed(sf(distribution, lower)) - computed(sf(distribution, upper))
    np.testing.assert_allclose(found, np.where(low > 0.5, above, high - low), rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(none, 0.0)
    np.testing.assert_array_equal(wrong, np.nan)


def true_normal_difference(lower, upper):
    """log(Φ(upper) - Φ(lower)) by balls, from both complementary error functions of the same sign."""
    with flint.ctx.workprec(4000):
        root = flint.arb(2).sqrt()
        low, high = flint.arb(lower) / root, flint.arb(min(upper, 1e3)) / root
        return float(((low.erfc() - high.erfc()) / 2).log())


def test_probabilities_of_intervals_in_either_tail():
    rng = np.random.default_rng(5)
    lower = np.concatenate([rng.normal(0.0, 15.0, 20), [-38.0, 37.0, 8.0, -9.0]])
    upper = lower + np.concatenate([10.0 ** rng.uniform(-6, 2, 20), [0.5, 0.5, np.inf, 1e-9]])
    expected = [true_normal_difference(*pair) for pair in zip(lower, upper, strict=True)]
    np.testing.assert_allclose(computed(logdiffcdf(Normal(0.0, 1.0), lower, upper)), expected, rtol=1e-13)
    moved = affine(Normal(1.0, 2.0), 3.0, 0.5)
    np.testing.assert_allclose(computed(logdiffcdf(moved, 3.5 + lower, 3.5 + upper)), expected, rtol=1e-8)


def test_probabilities_of_far_counts():
    """P(500 < X <= 501) is the mass at 501, however small."""
    np.testing.assert_allclose(
        float(logdiffcdf(Poisson(3.0), 500, 501)), scipy.stats.poisson.logpmf(501, 3.0), rtol=1e-13
    )
    np.testing.assert_allclose(float(logdiffcdf(Geometric(0.25), 4000, 4001)), 4001 * math.log(0.75) + math.log(0.25))


def test_slopes_of_the_probability_between_two_points():
    lower, upper, scale = np.array([0.5, 30.0]), np.array([1.5, 31.0]), np.array(1.0)
    value, (down, up, of_scale) = value_and_partials(
        logdiffcdf(Exponential(scale), lower, upper), (lower, upper, scale)
    )
    below, beyond = np.exp(-lower), np.exp(-upper)
    np.testing.assert_allclose(value, -lower + np.log(-np.expm1(lower - upper)), rtol=1e-13)
    np.testing.assert_allclose(down, -below / (below - beyond), rtol=1e-12)
    np.testing.assert_allclose(up, beyond / (below - beyond), rtol=1e-12)
    np.testing.assert_allclose(of_scale, (lower * below - upper * beyond) / (below - beyond), rtol=1e-12)


def test_the_probability_between_two_points_of_a_mixture():
    weights, means = np.array([0.25, 0.75]), np.array([-1.0, 30.0])
    two = mixture(weights, Normal(means, 1.0))
    tiny = float(logdiffcdf(two, 8.0, 9.0))
    parts = math.log(0.25) + true_normal_difference(9.0, 10.0), math.log(0.75) + true_normal_difference(-22.0, -21.0)
    np.testing.assert_allclose(tiny, np.logaddexp(*parts), rtol=1e-13)
    np.testing.assert_allclose(float(std(two)), math.sqrt(float(variance(two))))
    np.testing.assert_allclose(float(pdf(two, 0.0)), math.exp(float(logpdf(two, 0.0))))
    with pytest.raises(NotImplementedError, match="isf of Mixture"):
        isf(two, 0.5)


def test_intervals():
    level = np.array([[0.5], [0.99]])
    low, high = interval(Gamma(np.array([0.5, 3.0]), 2.0), level)
    expected = scipy.stats.gamma([0.5, 3.0], scale=2.0).interval(level)
    np.testing.assert_allclose([computed(low), computed(high)], expected, rtol=1e-12)
    none = (np.nan, np.nan)
    for edge, wanted in ((1.0, (-np.inf, np.inf)), (0.0, (0.0, 0.0)), (-0.1, none), (1.1, none)):
        np.testing.assert_array_equal([float(end) for end in interval(Normal(0.0, 1.0), edge)], wanted)
    assert interval(Normal(np.float32(0.0), np.float32(1.0)), 0.9)[0].dtype == np.float32
    whole = [float(end) for end in interval(Poisson(3.0), 0.9)]
    np.testing.assert_array_equal(whole, scipy.stats.poisson(3.0).interval(0.9))


def test_standard_deviations():
    scale = np.array([0.5, 3.0])
    value, (slope,) = value_and_partials(std(Exponential(scale)), (scale,))
    np.testing.assert_allclose([value, slope], [scale, [1.0, 1.0]], rtol=1e-15)


def test_what_is_not_there_is_named():
    class Unknown(vecdist.distributions.Distribution):
        parametrisations = Normal.parametrisations
        support, log_density = Normal.support, Normal.log_density

    Unknown.parametrisations = Normal.parametrisations
    unknown = Unknown(0.0, 1.0)
    with pytest.raises(NotImplementedError, match=r"^logcdf of Unknown is not there, and logdiffcdf needs it"):
        logdiffcdf(unknown, 0.0, 1.0)
    with pytest.raises(NotImplementedError, match=r"^ppf of Unknown is not there, and isf needs it"):
        isf(unknown, 0.5)
    with pytest.raises(NotImplementedError, match=r"^variance of Unknown is not there"):
        std(unknown)
    with pytest.raises(NotImplementedError, match=r"^isf of MvNormal is not there"):
        isf(MvNormal(np.zeros(2), covariance=np.eye(2)), 0.5)
    with pytest.raises(TypeError, match=r"^pdf wants|^logpdf wants"):
        pdf(Normal, 0.5)
    np.testing.assert_allclose(float(pmf(Categorical([0.25, 0.75]), 1)), 0.75)
