"""Divergences in closed form, against integrals and sums of what they are the means of, by SciPy."""


import math

import numpy as np
import pytest
import scipy.stats as st

import vecdist
from vecdist import cross_entropy, kl_divergence, mixture, truncated, value_and_grad
from vecdist.distributions import (
    FAMILIES,
    Bernoulli,
    Binomial,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Laplace,
    MvNormal,
    Normal,
    Poisson,
    Uniform,
)
from vecdist.verbs.divergences import DIVERGENCES

pytestmark = pytest.mark.usefixtures("interpreter")

SIZES = {  # how parameters are drawn, in the order of the first parametrisation, of both distributions
    "positive": lambda rng: np.exp(rng.normal(0.0, 0.7)),
    "moderate": lambda rng: 0.6 + 2.0 * rng.uniform(),
    "real": lambda rng: rng.normal(),
    "share": lambda rng: rng.uniform(0.02, 0.98),
}
# For each family: how its parameters are drawn, and the same distribution in SciPy.
ORACLES = {
    "Bernoulli": (["share"], lambda p: st.bernoulli(p)),
    "Beta": (["moderate", "moderate"], lambda a, b: st.betaprime(a, b)),  # of x / (1 - x)
    "BetaPrime": (["moderate", "moderate"], lambda a, b: st.betaprime(a, b)),
    "Cauchy": (["real", "positive"], lambda m, s: st.cauchy(m, s)),
    "Chi": (["moderate"], lambda k: st.chi(k)),
    "Exponential": (["positive"], lambda s: st.expon(scale=s)),
    "Frechet": (["moderate", "positive"], lambda k, s: st.weibull_min(k, scale=1 / s)),  # of 1 / x
    "Gamma": (["moderate", "positive"], lambda k, s: st.gamma(k, scale=s)),
    "Geometric": (["share"], lambda p: st.geom(p, -1)),
    "Gumbel": (["real", "moderate"], lambda m, s: st.gumbel_r(m, s)),
    "HalfNormal": (["positive"], lambda s: st.halfnorm(scale=s)),
    "InverseGamma": (["moderate", "positive"], lambda k, s: st.invgamma(k, scale=s)),
    "InverseGaussian": (["positive", "positive"], lambda m, k: st.invgauss(m / k, scale=k)),
    "Laplace": (["real", "positive"], lambda m, s: st.laplace(m, s)),
    "LogNormal": (["real", "moderate"], lambda m, s: st.lognorm(s, scale=np.exp(m))),
    "Normal": (["real", "positive"], lambda m, s: st.norm(m, s)),
    "Poisson": (["positive"], lambda rate: st.poisson(rate)),
    "Rayleigh": (["positive"], lambda s: st.rayleigh(scale=s)),
    "VonMises": (["real", "positive"], lambda m, k: st.vonmises(k, m)),
    "Weibull": (["moderate", "positive"], lambda k, s: st.weibull_min(k, scale=s)),
}
# Those whose bounds, counts or lengths depend on each other have tests of their own.
OTHERS = {
    "Binomial", "Categorical", "Dirichlet", "DiscreteUniform", "LogUniform", "LogitNormal", "MvNormal",
    "NegativeBinomial", "Pareto", "Uniform",
}
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
PLACES = {"half": np.exp, "real": np.sinh, "turn": lambda t: t}  # x by t, of which panels have one width
SLOPES = {"half": np.exp, "real": np.cosh, "turn": np.ones_like}


def integrated(name, first, second, kinks):
    """The mean of the log ratio under the first: a sum over its counts, or Gauss's quadrature on panels."""
    if FAMILIES[name].discrete:
        x, weights = np.arange(3000.0), 1.0
        density = first.pmf(x), first.logpmf(x), second.logpmf(x)
    else:
        kind = "turn" if name == "VonMises" else "half" if first.support()[0] == 0.0 else "real"
        far = np.pi if kind == "turn" else 60.0
        ends = np.unique([*np.linspace(-far, far, 481), *np.arcsinh(kinks)])
        middle, half = (ends[1:] + ends[:-1]) / 2, (ends[1:] - ends[:-1]) / 2
        t = middle[:, None] + half[:, None] * NODES
        x, weights = PLACES[kind](t), half[:, None] * WEIGHTS * SLOPES[kind](t)
        density = first.pdf(x), first.logpdf(x), second.logpdf(x)
    mass, first_log, second_log = density[0] * weights, *density[1:]
    some = mass > 1e-25
    return (mass[some] * (first_log[some] - second_log[some])).sum()


def test_every_row_is_judged():
    assert {name for pair in DIVERGENCES for name in pair} == {*ORACLES, *OTHERS}
    assert list(DIVERGENCES) == sorted(DIVERGENCES)


@pytest.mark.parametrize("pair", [pair for pair in DIVERGENCES if not OTHERS & {*pair}], ids="-".join)
def test_divergences_are_their_integrals(pair):
    rng = np.random.default_rng(sum(map(ord, "".join(pair))))
    drawn = [np.array([[SIZES[size](rng) for size in ORACLES[name][0]] for _ in range(3)]).T for name in pair]
    families = [FAMILIES[name] for name in pair]
    found = np.asarray(kl_divergence(*(family(*each) for family, each in zip(families, drawn, strict=True))))
    for place in range(3):
        first, second = (ORACLES[name][1](*each[:, place]) for name, each in zip(pair, drawn, strict=True))
        kinks = [each[0, place] for each in drawn] if pair[0] == "Laplace" else []
        with np.errstate(all="ignore"):
            expected = integrated(pair[0], first, second, kinks)
        np.testing.assert_allclose(found[place], expected, rtol=1e-9)


@pytest.mark.parametrize("name", ORACLES)
def test_nothing_diverges_from_itself(name):
    """And next to it the divergence is half the information times the square of the step, to the digits left."""
    rng = np.random.default_rng(len(name))
    drawn = [SIZES[size](rng) for size in ORACLES[name][0]]
    family = FAMILIES[name]
    assert abs(float(kl_divergence(family(*drawn), family(*drawn)))) < 1e-15
    beside = [float(kl_divergence(family(*drawn), family(drawn[0] + step, *drawn[1:]))) for step in (1e-4, 2e-4)]
    np.testing.assert_allclose(beside[1] / beside[0], 4.0, rtol=1e-2)


def test_bounds_within_bounds():
    low, high = np.array([0.0, -1.0, 1.0]), np.array([1.0, 2.0, 6.0])
    found = np.asarray(kl_divergence(Uniform(0.5, 1.0), Uniform(low, high)))
    np.testing.assert_allclose(found, [math.log(2.0), math.log(6.0), math.inf], rtol=1e-15)
    counts = np.asarray(kl_divergence(FAMILIES["DiscreteUniform"](1.0, 2.0), FAMILIES["DiscreteUniform"](low, high)))
    np.testing.assert_allclose(counts, [math.inf, math.log(2.0), math.log(3.0)], rtol=1e-15)
    logs = kl_divergence(FAMILIES["LogUniform"](2.0, 4.0), FAMILIES["LogUniform"](np.array([1.0, 3.0]), 16.0))
    np.testing.assert_allclose(np.asarray(logs), [math.log(4.0), math.inf], rtol=1e-15)
    pareto = np.asarray(kl_divergence(FAMILIES["Pareto"](2.0, 3.0), FAMILIES["Pareto"](5.0, np.array([2.0, 3.5]))))
    np.testing.assert_allclose(pareto, [math.log(0.4) + 1.5 + 5.0 * math.log(1.5), math.inf], rtol=1e-14)


def test_counts_of_as_many():
    n, p, other = 7.0, np.array([0.0, 0.3, 1.0]), 0.45
    x = np.arange(8)
    first, second = st.binom(n, p[:, None]), st.binom(n, other)
    with np.errstate(all="ignore"):
        expected = np.nansum(first.pmf(x) * (first.logpmf(x) - second.logpmf(x)), axis=1)
    np.testing.assert_allclose(np.asarray(kl_divergence(Binomial(n, p), Binomial(n, other))), expected, rtol=1e-12)
    assert math.isnan(float(kl_divergence(Binomial(6.0, 0.3), Binomial(n, 0.3))))
    x = np.arange(2000)
    first, second = st.nbinom(2.5, 0.2), st.nbinom(2.5, 0.6)
    expected = np.sum(first.pmf(x) * (first.logpmf(x) - second.logpmf(x)))
    family = FAMILIES["NegativeBinomial"]
    np.testing.assert_allclose(float(kl_divergence(family(2.5, 0.2), family(2.5, 0.6))), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_random_ones_whose_parameters_depend_on_each_other(seed):
    rng, panels = np.random.default_rng(seed), np.linspace(-1.0, 1.0, 401)
    nodes = ((panels[1:, None] + panels[:-1, None]) + (panels[1:, None] - panels[:-1, None]) * NODES) / 2
    weights = (panels[1:, None] - panels[:-1, None]) / 2 * WEIGHTS
    (m, other), (s, t) = rng.normal(size=2), rng.uniform(0.3, 2.0, 2)
    z = m + 12.0 * s * nodes  # of x = 1 / (1 + exp(-z)), whose densities have dz / dx both
    masses = 12.0 * s * weights * st.norm(m, s).pdf(z)
    expected = (masses * (st.norm(m, s).logpdf(z) - st.norm(other, t).logpdf(z))).sum()
    family = FAMILIES["LogitNormal"]
    x = 1.0 / (1.0 + np.exp(-np.clip(z, -30.0, 30.0)))
    ratio = np.asarray(vecdist.logpdf(family(m, s), x)) - np.asarray(vecdist.logpdf(family(other, t), x))
    np.testing.assert_allclose((masses * ratio).sum(), expected, rtol=1e-6)
    np.testing.assert_allclose(float(kl_divergence(family(m, s), family(other, t))), expected, rtol=1e-11)
    (k, other), low = rng.uniform(0.5, 4.0, 2), rng.uniform(0.5, 3.0)
    lower, u = low * rng.uniform(0.2, 1.0), 25.0 * (1.0 + nodes)
    places = low * np.exp(u / k)
    ratio = st.pareto(k, scale=low).logpdf(places) - st.pareto(other, scale=lower).logpdf(places)
    found = kl_divergence(FAMILIES["Pareto"](k, low), FAMILIES["Pareto"](other, lower))
    np.testing.assert_allclose(float(found), (25.0 * weights * np.exp(-u) * ratio).sum(), rtol=1e-10)
    (p, q), r, x = rng.uniform(0.1, 0.9, 2), rng.uniform(0.3, 9.0), np.arange(5000)
    first, second = st.nbinom(r, p), st.nbinom(r, q)
    found = kl_divergence(FAMILIES["NegativeBinomial"](r, p), FAMILIES["NegativeBinomial"](r, q))
    np.testing.assert_allclose(float(found), (first.pmf(x) * (first.logpmf(x) - second.logpmf(x))).sum(), rtol=1e-10)


def test_ends_of_probabilities_and_rates():
    """What never occurs has no part; what occurs where the other has nothing is infinitely far."""
    p, q = np.array([0.0, 0.0, 1.0, 1.0, 0.5]), np.array([0.0, 0.25, 1.0, 0.25, 0.0])
    expected = [0.0, -math.log(0.75), 0.0, math.log(4.0), math.inf]
    np.testing.assert_allclose(np.asarray(kl_divergence(Bernoulli(p), Bernoulli(q))), expected, rtol=1e-15)
    rates = np.asarray(kl_divergence(Poisson(np.array([0.0, 0.0, 2.0])), Poisson(np.array([0.0, 2.0, 0.0]))))
    np.testing.assert_array_equal(rates, [0.0, 2.0, math.inf])
    wide = kl_divergence(Normal(0.0, np.array([1e-160, 1e160])), Normal(0.0, 1.0))
    np.testing.assert_allclose(np.asarray(wide), [160 * math.log(10) - 0.5, math.inf], rtol=1e-14)


def test_nearly_equal_distributions():
    """Where the difference of the terms has no digits left: by the series, of higher precision than needed."""
    step = 1e-9
    found = float(kl_divergence(Exponential(1.0), Exponential(1.0 + step)))
    np.testing.assert_allclose(found, 0.5 * ((1.0 + step) - 1.0) ** 2, rtol=1e-8)
    probability = float(kl_divergence(Bernoulli(0.25), Bernoulli(0.25 + 2.0**-30)))
    np.testing.assert_allclose(probability, 0.5 * 4.0**-30 / (0.25 * 0.75), rtol=1e-8)


def test_tables_and_vectors():
    rng = np.random.default_rng(3)
    p, q = rng.dirichlet(np.ones(4), 3), rng.dirichlet(np.ones(4))
    expected = (p * np.log(p / q)).sum(axis=1)
    np.testing.assert_allclose(np.asarray(kl_divergence(Categorical(p), Categorical(q))), expected, rtol=1e-12)
    assert float(kl_divergence(Categorical([0.0, 1.0]), Categorical([0.5, 0.5]))) == math.log(2.0)
    two = np.array([1.5, 2.5]), np.array([0.7, 4.0])  # of two, the distribution of the first is a beta distribution
    beta = FAMILIES["Beta"]
    found = float(kl_divergence(*map(Dirichlet, two)))
    np.testing.assert_allclose(found, float(kl_divergence(beta(*two[0]), beta(*two[1]))), rtol=1e-12)


def of_moments(mean, covariance, other_mean, other):
    """The divergence of normal distributions, as Penny (2001) has it, by NumPy."""
    away, inverse = other_mean - mean, np.linalg.inv(other)
    volumes = np.linalg.slogdet(other)[1] - np.linalg.slogdet(covariance)[1]
    return 0.5 * (np.trace(inverse @ covariance) + away @ inverse @ away - len(mean) + volumes)


def test_normal_vectors_of_every_parametrisation():
    rng = np.random.default_rng(8)
    loc, factor, low = rng.normal(size=3), np.tril(rng.normal(size=(3, 3))) + 3 * np.eye(3), rng.normal(size=(3, 1))
    diagonal, matrix = rng.uniform(0.5, 2.0, 3), factor @ factor.T
    ways = [
        ({"covariance": matrix}, matrix),
        ({"scale_tril": factor}, matrix),
        ({"precision": np.linalg.inv(matrix)}, matrix),
        ({"scale_diag": diagonal}, np.diag(diagonal**2)),
        ({"cov_factor": low, "cov_diag": diagonal}, low @ low.T + np.diag(diagonal)),
    ]
    for given, covariance in ways:
        for place in (0, 4):
            other, wanted = ways[place]
            found = float(kl_divergence(MvNormal(loc=loc, **given), MvNormal(loc=np.zeros(3), **other)))
            np.testing.assert_allclose(found, of_moments(loc, covariance, np.zeros(3), wanted), rtol=1e-11)


def test_slopes_of_divergences():
    """Against the formula's own derivative: of the normal distributions, and of a gamma by differences of SciPy's."""
    loc, scale, other = np.array(0.3), np.array(1.7), np.array(0.9)
    value, slopes = value_and_grad(kl_divergence(Normal(loc, scale), Normal(0.0, other)), wrt=(loc, scale, other))
    expected = [loc / other**2, scale / other**2 - 1 / scale, 1 / other - (scale**2 + loc**2) / other**3]
    np.testing.assert_allclose(slopes, expected, rtol=1e-13)
    assert float(value) > 0.0
    shape, step = np.array(2.0), 1e-5
    _, slope = value_and_grad(kl_divergence(Gamma(shape, 1.0), Gamma(3.0, 2.0)), wrt=shape)
    moved = [integrated("Gamma", st.gamma(2.0 + each), st.gamma(3.0, scale=2.0), []) for each in (step, -step)]
    np.testing.assert_allclose(slope, (moved[0] - moved[1]) / (2 * step), rtol=1e-7)


def test_cross_entropies():
    scale = np.array([0.5, 2.0])
    first, second = Normal(1.0, scale), Normal(0.0, 1.0)
    expected = 0.5 * math.log(2 * math.pi) + 0.5 * (scale**2 + 1.0)
    np.testing.assert_allclose(np.asarray(cross_entropy(first, second)), expected, rtol=1e-14)
    with pytest.raises(NotImplementedError, match=r"^entropy of Poisson is not there"):
        cross_entropy(Poisson(1.0), Poisson(2.0))


def test_shapes_and_dtypes():
    found = kl_divergence(Normal(np.zeros((2, 1), np.float32), 1.0), Normal(np.zeros(3, np.float32), 2.0))
    assert (found.shape, found.dtype) == ((2, 3), np.float32)
    np.testing.assert_allclose(float(kl_divergence(FAMILIES["Chi2"](3.0), Gamma(1.5, 2.0))), 0.0, atol=1e-15)
    many = [MvNormal(np.zeros(shape), np.eye(2)) for shape in ((4, 1, 2), (3, 2))]
    assert kl_divergence(*many).shape == (4, 3)


def test_what_has_no_closed_form_is_named():
    with pytest.raises(TypeError, match=r"^kl_divergence of Normal and Laplace is not there"):
        kl_divergence(Normal(0.0, 1.0), Laplace(0.0, 1.0))
    with pytest.raises(TypeError, match=r"^kl_divergence of truncated\(Normal\) and Normal"):
        kl_divergence(truncated(Normal(0.0, 1.0), 0.0), Normal(0.0, 1.0))
    with pytest.raises(TypeError, match=r"^kl_divergence of Mixture and Normal"):
        kl_divergence(mixture([0.5, 0.5], Normal(np.zeros(2), 1.0)), Normal(0.0, 1.0))
    with pytest.raises(TypeError, match=r"^kl_divergence wants two distributions, given the family Normal"):
        kl_divergence(Normal(0.0, 1.0), Normal)
    with pytest.raises(ValueError, match=r"do not broadcast"):
        kl_divergence(Normal(np.zeros(2), 1.0), Normal(np.zeros(3), 1.0))


def test_a_family_of_ones_own_is_another():
    class Own(Normal):
        @staticmethod
        def log_density(x, p):
            return Normal.log_density(x, p)

    with pytest.raises(TypeError, match=r"^kl_divergence of Own and Normal"):
        kl_divergence(Own(0.0, 1.0), Normal(0.0, 1.0))


@pytest.mark.usefixtures("uncompiled")
def test_invalid_parameters_of_either_are_named():
    with pytest.raises(vecdist.InvalidParameter, match=r"^Gamma: scale\[1\] = -3.0 is invalid"):
        np.asarray(kl_divergence(Exponential(1.0), Gamma(2.0, np.array([1.0, -3.0]))))
