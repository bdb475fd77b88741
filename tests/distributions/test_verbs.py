"""The verbs beside ``logpdf``: of every family that states formulas for them, against SciPy and the density itself."""

import math

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
from family_cases import EVERY_FAMILY, integration, parameters_of, points_of, scipys

import vecdist
from vecdist import (
    cdf,
    entropy,
    logcdf,
    logpdf,
    logsf,
    mean,
    median,
    mixture,
    mode,
    ppf,
    sf,
    value_and_partials,
    variance,
)
from vecdist.distributions import (
    FAMILIES,
    Bernoulli,
    BetaBinomial,
    Cauchy,
    Exponential,
    Gamma,
    Geometric,
    Hypergeometric,
    JohnsonSB,
    Laplace,
    Logistic,
    NoncentralChi2,
    Normal,
    Poisson,
    Rice,
    Skellam,
    StudentT,
    Uniform,
    VonMises,
)
from vecdist.verbs.tails_and_moments import FALLBACKS, stated

pytestmark = pytest.mark.usefixtures("interpreter")

TAILS = ["cdf", "sf", "log_cdf", "log_sf"]
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])


def has(family, name):
    return (stated(family, name) or FALLBACKS.get(name, lambda family: None)(family)) is not None


def those_with(*names):
    found = [family for family in EVERY_FAMILY if all(has(family, name) for name in names)]
    return pytest.mark.parametrize("family", found, ids=lambda family: family.__name__)


def case(family, dtype=np.float64):
    """A distribution of random parameters, points of it, and the same in SciPy."""
    names = family.parametrisations[0].names
    parameters = parameters_of(family, names, dtype)
    distribution = family(**dict(zip(names, parameters, strict=True)))
    return distribution, points_of(family, names, parameters), scipys(family, names, parameters)


def reach(distribution, oracle):
    """Where the distribution function rises: over the support, and that of an angle over one turn."""
    if type(distribution) is VonMises:
        loc = distribution.parameters["loc"]
        return loc - np.pi, loc + np.pi
    return oracle.support()


def repeated(distribution, times):
    """The same distributions, again and again: a loop over an expression takes longer than one of more elements."""
    return type(distribution)(**{name: np.tile(values, times) for name, values in distribution.parameters.items()})


def computed(lazy):
    return np.asarray(lazy)


@those_with(*TAILS)
def test_the_tails_are_two_parts_of_one(family):
    distribution, x, _ = case(family)
    lower, upper = computed(cdf(distribution, x)), computed(sf(distribution, x))
    assert ((lower >= 0) & (lower <= 1) & (upper >= 0) & (upper <= 1)).all()
    np.testing.assert_allclose(lower + upper, 1.0, rtol=1e-14)
    for tail, logarithm in ((lower, logcdf), (upper, logsf)):
        with np.errstate(divide="ignore"):
            expected = np.log(tail)
        np.testing.assert_allclose(computed(logarithm(distribution, x)), expected, rtol=1e-11, atol=1e-14)


@those_with("cdf")
def test_the_distribution_function_is_scipys(family):
    if family.oracle:
        distribution, x, oracle = case(family)
        np.testing.assert_allclose(computed(cdf(distribution, x)), oracle.cdf(x), rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(computed(sf(distribution, x)), oracle.sf(x), rtol=1e-9, atol=1e-13)


@those_with("cdf")
def test_the_distribution_function_adds_up_the_density(family):
    distribution, x, oracle = case(family)
    if family.discrete:
        lower = oracle.support()[0]
        below = np.where(x > lower, computed(cdf(distribution, np.maximum(x - 1, lower))), 0.0)
        step = computed(cdf(distribution, x)) - below
        np.testing.assert_allclose(step, np.exp(computed(logpdf(distribution, x))), rtol=1e-9, atol=1e-14)
        np.testing.assert_array_equal(cdf(distribution, x + 0.75), cdf(distribution, x))
    else:
        _, (slope,) = value_and_partials(cdf(distribution, x), (x,))
        _, (down,) = value_and_partials(sf(distribution, x), (x,))
        density = np.exp(computed(logpdf(distribution, x)))
        smooth = x != 0 if family.__name__.startswith("Hurdle") else np.full(x.shape, True)  # apart from the mass there
        np.testing.assert_allclose(slope[smooth], density[smooth], rtol=1e-11, atol=1e-14)
        np.testing.assert_allclose(down[smooth], -density[smooth], rtol=1e-11, atol=1e-14)


@those_with("log_cdf", "log_sf")
def test_logarithms_have_the_slope_of_the_density(family):
    """Next to the ends of the support too, where the tails themselves are below all floats."""
    if family.discrete:
        return
    distribution, x, oracle = case(family)
    spread = np.concatenate([x, *(far(oracle, x, step) for step in (-3.0, -1.0, 1.0, 3.0))])
    lower, upper = reach(distribution, oracle)
    tiled = repeated(distribution, 5)
    inside = (spread > np.tile(lower, 5)) & (spread < np.tile(upper, 5))
    density = computed(logpdf(tiled, spread))
    for logarithm, sign in ((logcdf, 1.0), (logsf, -1.0)):
        value, (slope,) = value_and_partials(logarithm(tiled, spread), (spread,))
        with np.errstate(over="ignore", invalid="ignore"):
            expected = sign * np.exp(density - value)
            bound = (1e-10 + 1e-14 * (abs(density) + abs(value))) * abs(expected) + 1e-12
        checked = inside & (abs(value) < 1e9) & np.isfinite(expected)
        assert checked.mean() > 0.2
        assert (abs(slope - expected) <= bound)[checked].all()


def far(oracle, x, step):
    """Points further out by a step in units of the spread of the points."""
    return x + step * np.std(np.clip(x, -1e3, 1e3))


@those_with("cdf", "quantile")
def test_quantiles(family):
    distribution, _, oracle = case(family)
    probabilities = np.array([1e-9, 0.02, 0.3, 0.5, 0.77, 0.999])
    tiled, q = repeated(distribution, 6), np.repeat(probabilities, 24)
    lower, upper = (np.broadcast_to(end, 24) for end in reach(distribution, oracle))
    x, lowest, highest = computed(ppf(tiled, q)), np.tile(lower, 6), np.tile(upper, 6)
    if family.discrete:
        assert (computed(cdf(tiled, x)) >= q).all()
        before = computed(cdf(tiled, np.maximum(x - 1, lowest)))
        assert ((before < q) | (x == lowest)).all()
    else:
        near, beyond = computed(cdf(tiled, x)), computed(sf(tiled, x))
        settled = (x > lowest) & (x < highest)  # elsewhere the quantile is next to an end, or beyond all floats
        slope = abs(np.where(np.isinf(x), 0.0, x)) * np.exp(computed(logpdf(tiled, x))) * 4e-15
        assert (abs(near - q) <= 1e-12 * q + slope)[settled].all()
        assert (abs(beyond - (1 - q)) <= 1e-12 * (1 - q) + slope)[settled].all()
        assert family.__name__.startswith("Hurdle") or settled.reshape(6, 24).any(axis=1)[probabilities >= 0.01].all()
    ends = np.concatenate([np.resize([-0.1, 1.1, np.nan], 24), np.ones(24), np.zeros(24)])
    invalid, last, first = computed(ppf(repeated(distribution, 3), ends)).reshape(3, 24)
    assert np.isnan(invalid).all()
    np.testing.assert_allclose(last, upper, rtol=1e-14, atol=1e-14)
    if not family.discrete:
        np.testing.assert_allclose(first, lower, rtol=1e-14, atol=1e-14)


@those_with("quantile")
def test_the_slope_of_the_quantile_is_one_over_the_density(family):
    if family.discrete:
        return
    distribution, _, _ = case(family)
    q = np.linspace(0.05, 0.95, 24)
    x, (slope,) = value_and_partials(ppf(distribution, q), (q,))
    density = computed(logpdf(distribution, x))
    kept = (abs(density) < 50) & (x != 0)  # where floats tell x from an end, and apart from a mass at 0
    np.testing.assert_allclose(slope[kept], np.exp(-density[kept]), rtol=1e-7)


@those_with("cdf")
def test_partial_derivatives_of_the_distribution_function(family):
    """Against differences of SciPy's, at points where those are accurate."""
    names = family.parametrisations[0].names
    if not family.oracle or {"n", "low"} & set(names) or "successes" in names:
        return
    distribution, x, _ = case(family)
    parameters = [distribution.parameters[name] for name in names]
    value, partials = value_and_partials(cdf(distribution, x), tuple(parameters))
    inner = (value > 0.01) & (value < 0.99)  # not so near an end that a difference would reach beyond it
    for place, (name, partial) in enumerate(zip(names, partials, strict=True)):
        if family.parametrisations[0].constraints[name].whole:
            continue
        step = 1e-4 * np.maximum(abs(parameters[place]), 0.01)

        def moved(times, place=place, step=step):
            at = [p + times * step if i == place else p for i, p in enumerate(parameters)]
            return scipys(family, names, at).cdf(x)

        expected = (8 * (moved(1) - moved(-1)) - (moved(2) - moved(-2))) / (12 * step)
        np.testing.assert_allclose(partial[inner], expected[inner], rtol=1e-5, atol=1e-7, err_msg=f"d/d{name}")


@those_with("mean")
def test_means_and_variances(family):
    """Where they are finite: against SciPy, or the sum over all of the density."""
    if family.oracle and family is not JohnsonSB:  # SciPy integrates its moments, with errors of 2e-7
        distribution, _, oracle = case(family)
        with np.errstate(all="ignore"):
            expected = oracle.stats("mv")  # at once: a variance begins with the mean
    else:
        parameters, x, weights = integration(family)
        distribution = family(**parameters)
        mass = np.exp(computed(logpdf(distribution, x))) * weights
        centre = (mass * x).sum(axis=0)
        expected = centre, (mass * (x - centre) ** 2).sum(axis=0)
    for verb, wanted in zip((mean, variance), expected, strict=True):
        if has(family, verb.__name__):
            found = computed(verb(distribution))
            finite = np.isfinite(found)
            np.testing.assert_allclose(found[finite], wanted[finite], rtol=1e-7, atol=1e-9)


@those_with("entropy")
def test_entropies(family):
    """Against the sum over all of the density; that of the arcsine distribution lies where floats cannot tell x."""
    if family.__name__ == "Arcsine":
        assert float(entropy(family(0.0, 1.0))) == math.log(math.pi / 4)
        return
    parameters, x, weights = integration(family)
    lp = computed(logpdf(family(**parameters), x))
    with np.errstate(invalid="ignore"):
        expected = -np.nansum(np.exp(lp) * lp * weights, axis=0)
    np.testing.assert_allclose(computed(entropy(family(**parameters))), expected, rtol=1e-7, atol=1e-8)


@those_with("mode")
def test_modes(family):
    distribution, x, _ = case(family)
    at = computed(mode(distribution)).astype(float)
    height = computed(logpdf(distribution, at))
    assert (height >= computed(logpdf(distribution, x)) - 1e-12).all()
    step = 1.0 if family.discrete else 1e-4 * np.maximum(abs(at), 1e-3)
    for beside in (at - step, at + step):
        assert (height >= computed(logpdf(distribution, beside)) - 1e-12).all()


@those_with("median")
def test_medians(family):
    distribution, _, oracle = case(family)
    found = computed(median(distribution))
    expected = oracle.median() if family.oracle else computed(ppf(distribution, np.full(24, 0.5)))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)


@dtypes
@those_with("cdf")
def test_outside_the_support(family, dtype):
    distribution, x, oracle = case(family, dtype)
    lower, upper = (np.broadcast_to(np.asarray(end, dtype), 24) for end in reach(distribution, oracle))
    infinite, five = np.full(24, np.inf, dtype), repeated(distribution, 5)
    at = np.concatenate([lower - 1, -infinite, upper + 1, infinite, np.full(24, np.nan, dtype)]).astype(dtype)
    value, partials = value_and_partials(cdf(five, at), (at, *five.parameters.values()))
    np.testing.assert_array_equal(value, np.repeat([0.0, 0.0, 1.0, 1.0, np.nan], 24))
    np.testing.assert_array_equal([partial[48:96] for partial in partials], 0.0)
    np.testing.assert_array_equal(computed(logsf(five, at))[:96], np.repeat([0.0, -np.inf], 48))
    assert {verb(distribution, x).dtype for verb in (cdf, sf, logcdf, logsf)} == {np.dtype(dtype)}


@pytest.mark.parametrize("verb", [mean, variance, entropy, mode, median], ids=lambda verb: verb.__name__)
def test_float32_parameters_have_float32_moments(verb):
    for family in EVERY_FAMILY:
        if has(family, verb.__name__):
            distribution, _, _ = case(family, np.float32)
            found = verb(distribution)
            assert (found.dtype, found.shape) == (np.float32, (24,)), family.__name__


FAR = [  # a tail below all floats, or next to 1, and its logarithm: from asymptotic series
    (logcdf, Normal(0.0, 1.0), -40.0, -804.6084420137538),
    (logsf, Normal(1.0, 2.0), 81.0, -804.6084420137538),
    (logsf, Exponential(1.0), 1e6, -1e6),
    (logsf, Logistic(0.0, 1.0), 1e5, -1e5),
    (logcdf, Laplace(0.0, 1.0), -1e5, -1e5 - math.log(2)),
    (sf, Cauchy(0.0, 1.0), 1e200, 1e-200 / math.pi),
    (cdf, Cauchy(0.0, 1.0), -1e200, 1e-200 / math.pi),
    (ppf, Cauchy(0.0, 1.0), 1e-200, -1e200 / math.pi),
    (logsf, Geometric(0.25), 5000, 5001 * math.log(0.75)),
    (logcdf, FAMILIES["Gumbel"](0.0, 1.0), -20.0, -math.exp(20)),
    (logsf, FAMILIES["Gumbel"](0.0, 1.0), 2000.0, -2000.0),
    (ppf, Exponential(2.0), 1e-300, 2e-300),
]


@pytest.mark.parametrize(("verb", "distribution", "x", "expected"), FAR)
def test_far_tails(verb, distribution, x, expected):
    np.testing.assert_allclose(float(verb(distribution, x)), expected, rtol=1e-14)


def test_degenerate_parameters():
    np.testing.assert_array_equal(cdf(Geometric(1.0), np.array([0, 3])), 1.0)
    np.testing.assert_array_equal(ppf(Geometric(1.0), np.array([0.0, 0.5, 1.0])), 0.0)
    np.testing.assert_array_equal(cdf(Bernoulli(np.array([0.0, 1.0])), 0), [1.0, 0.0])
    np.testing.assert_array_equal(entropy(Bernoulli(np.array([0.0, 1.0]))), 0.0)
    np.testing.assert_array_equal(mean(Bernoulli(logit=np.array([-np.inf, np.inf]))), [0.0, 1.0])


def test_moments_that_are_not_there():
    assert math.isnan(float(mean(Cauchy(0.0, 1.0)))) and math.isnan(float(variance(StudentT(1.0))))
    np.testing.assert_array_equal(variance(StudentT(np.array([1.5, 2.0, np.inf]))), [np.inf, np.inf, 1.0])
    np.testing.assert_array_equal(mean(FAMILIES["Pareto"](np.array([0.5, 1.0, 2.0]), 1.0)), [np.inf, np.inf, 2.0])


def test_verbs_broadcast_and_are_lazy():
    loc, x = np.array([[0.0], [1.0]]), np.array([0.0, 1.0, 2.0])
    lazy = cdf(Normal(loc, 2.0), x)
    assert isinstance(lazy, vecdist.LazyArray) and lazy.shape == (2, 3)
    np.testing.assert_allclose(lazy, scipy.stats.norm.cdf(x, loc, 2.0), rtol=1e-14)
    assert mean(Normal(loc, np.ones(4))).shape == (2, 4)
    np.testing.assert_array_equal(mean(Normal(loc, np.ones(4))), np.broadcast_to(loc, (2, 4)))
    assert ppf(Normal(0, 1), 1).dtype == np.float64


def test_a_derivative_in_the_parameters():
    low, high = np.array(1.0), np.array(5.0)
    _, slopes = value_and_partials(variance(Uniform(low, high)), (low, high))
    np.testing.assert_allclose(slopes, [-2 / 3, 2 / 3], rtol=1e-15)


def test_invalid_parameters_are_named():
    with pytest.raises(vecdist.InvalidParameter, match=r"^Gamma: scale\[1\] = -3\.0 is invalid"):
        computed(mean(Gamma(2.0, np.array([1.0, -3.0]))))
    with pytest.raises(vecdist.InvalidParameter, match=r"^Normal: scale = 0\.0 is invalid"):
        computed(cdf(Normal(0.0, 0.0), 1.0))


def test_what_is_not_there_is_named():
    class Unknown(vecdist.distributions.Distribution):
        parametrisations = Normal.parametrisations
        support, log_density = Normal.support, Normal.log_density

    Unknown.parametrisations = Normal.parametrisations
    for verb in (cdf, logsf, ppf):
        with pytest.raises(NotImplementedError, match=f"^{verb.__name__} of Unknown"):
            verb(Unknown(0.0, 1.0), 0.5)
    for verb in (mean, median, mode):
        with pytest.raises(NotImplementedError, match=f"^{verb.__name__} of Unknown"):
            verb(Unknown(0.0, 1.0))


def test_what_is_no_distribution_is_named():
    with pytest.raises(TypeError, match=r"cdf wants a distribution, given the family Normal; give it parameters: N"):
        cdf(Normal, 0.0)
    with pytest.raises(TypeError, match="mean wants a distribution, given float"):
        mean(1.0)
    with pytest.raises(NotImplementedError, match="ppf of Mixture"):
        ppf(mixture(np.array([0.5, 0.5]), Normal(np.zeros(2), 1.0)), 0.5)
    with pytest.raises(ValueError, match=r"Poisson: the shapes of rate \(2,\), x \(3,\) do not broadcast"):
        cdf(Poisson(np.ones(2)), np.arange(3))


@pytest.mark.parametrize(("distribution", "oracle", "x"), [
    (BetaBinomial(2000, 3.0, 900.0), scipy.stats.betabinom(2000, 3.0, 900.0), [0, 1, 6, 7, 30, 60]),
    (BetaBinomial(50, 0.2, 0.3), scipy.stats.betabinom(50, 0.2, 0.3), [0, 10, 25, 40, 49]),
    (Hypergeometric(400, 3000, 900), scipy.stats.hypergeom(3400, 400, 900), [30, 70, 105, 106, 140, 200]),
    (Skellam(30.0, 4.0), scipy.stats.skellam(30.0, 4.0), [-20, -1, 0, 25, 26, 70]),
    (Rice(4.0, 1.5), scipy.stats.rice(4.0 / 1.5, scale=1.5), [0.01, 1.0, 4.3, 9.0, 14.0]),
    (NoncentralChi2(3.0, 25.0), scipy.stats.ncx2(3.0, 25.0), [0.05, 4.0, 28.0, 70.0, 160.0]),
], ids=lambda value: repr(value) if isinstance(value, vecdist.distributions.Distribution) else "")
def test_far_tails_of_sums_and_of_marcum_functions(distribution, oracle, x):
    """Against sums of SciPy's masses, or integrals of its density, which are right where its own tails are not."""
    x = np.array(x, float)
    family = type(distribution)
    if family.discrete:
        low, high = oracle.support()
        k = np.arange(max(low, -400), min(high, 4000) + 1)
        masses = oracle.pmf(k)
        lower, upper = (np.array([masses[(k <= at) == side].sum() for at in x]) for side in (True, False))
    else:
        lower, upper = (
            np.array([scipy.integrate.quad(oracle.pdf, *ends, epsabs=0, epsrel=1e-11, limit=200)[0] for ends in pairs])
            for pairs in ([(0.0, at) for at in x], [(at, 2.0 * at + 25.0 * oracle.std()) for at in x])
        )
    np.testing.assert_allclose(computed(cdf(distribution, x)), lower, rtol=1e-9)
    np.testing.assert_allclose(computed(sf(distribution, x)), upper, rtol=2e-9)
    np.testing.assert_allclose(np.exp(computed(logsf(distribution, x))), upper, rtol=2e-9)
