"""Distributions by the names of other systems: against SciPy, or the densities that those systems document."""

from pathlib import Path

import numpy as np
import pytest
import scipy.stats as st
from converter_rows import COUNTS, LOGIT, REAL, ROWS, P, asymmetric, at, negative_binomial

import vecdist
from vecdist import from_numpyro, from_pymc, from_scipy, from_stan
from vecdist.interop.converters import NUMPYRO, PYMC, SCIPY, STAN

pytestmark = pytest.mark.usefixtures("uncompiled")


def points(oracle):
    """Points of SciPy's distribution, and its log density there."""
    x = oracle.rvs(random_state=1, size=5).astype(float)
    return x, (oracle.logpdf if hasattr(oracle.dist, "pdf") else oracle.logpmf)(x)


def assert_density(distribution, x, wanted):
    np.testing.assert_allclose(np.asarray(vecdist.logpdf(distribution, x)), wanted, rtol=1e-11, atol=1e-12)


# Each row is an argument order or a meaning that systems disagree on: name and arguments, and what they are.
TRAPS = {
    "Gamma's second": [
        (from_stan("gamma", 2.0, 4.0), st.gamma(2, scale=1 / 4)),
        (from_numpyro("Gamma", 2.0, 4.0), st.gamma(2, scale=1 / 4)),
        (from_pymc("Gamma", 2.0, 4.0), st.gamma(2, scale=1 / 4)),
        (from_pymc("Gamma", mu=3.0, sigma=1.5), st.gamma(4, scale=0.75)),
        (from_scipy("gamma", 2.0, scale=4.0), st.gamma(2, scale=4)),
    ],
    "Exponential's only one": [
        (from_stan("exponential", 4.0), st.expon(scale=1 / 4)),
        (from_numpyro("Exponential", 4.0), st.expon(scale=1 / 4)),
        (from_pymc("Exponential", 4.0), st.expon(scale=1 / 4)),
        (from_pymc("Exponential", scale=4.0), st.expon(scale=4)),
        (from_scipy("expon", 0.0, 4.0), st.expon(scale=4)),
    ],
    "InverseGamma": [
        (from_stan("inv_gamma", 3.0, 2.0), st.invgamma(3, scale=2)),
        (from_numpyro("InverseGamma", 3.0, 2.0), st.invgamma(3, scale=2)),
        (from_pymc("InverseGamma", 3.0, 2.0), st.invgamma(3, scale=2)),
        (from_pymc("InverseGamma", mu=2.0, sigma=1.0), st.invgamma(6, scale=10)),
        (from_scipy("invgamma", 3.0, scale=2.0), st.invgamma(3, scale=2)),
    ],
    "Weibull's order": [
        (from_stan("weibull", 1.5, 3.0), st.weibull_min(1.5, scale=3)),
        (from_numpyro("Weibull", 3.0, 1.5), st.weibull_min(1.5, scale=3)),
        (from_pymc("Weibull", 1.5, 3.0), st.weibull_min(1.5, scale=3)),
        (from_scipy("weibull_min", 1.5, scale=3.0), st.weibull_min(1.5, scale=3)),
    ],
    "Pareto's order": [
        (from_stan("pareto", 2.0, 3.5), st.pareto(3.5, scale=2)),
        (from_numpyro("Pareto", 2.0, 3.5), st.pareto(3.5, scale=2)),
        (from_pymc("Pareto", 3.5, 2.0), st.pareto(3.5, scale=2)),
        (from_scipy("pareto", 3.5, scale=2.0), st.pareto(3.5, scale=2)),
    ],
    "NegativeBinomial's p": [
        (from_stan("neg_binomial", 2.5, 1.5), st.nbinom(2.5, 1.5 / 2.5)),
        (from_stan("neg_binomial_2", 3.0, 2.5), at(COUNTS, negative_binomial, 3.0, 2.5)),
        (from_stan("neg_binomial_2_log", 0.5, 2.5), at(COUNTS, negative_binomial, np.exp(0.5), 2.5)),
        (from_numpyro("NegativeBinomial", 2.5, 0.3), st.nbinom(2.5, 0.7)),
        (from_numpyro("NegativeBinomial", 2.5, logits=LOGIT), at(COUNTS, negative_binomial, 2.5 * np.exp(LOGIT), 2.5)),
        (from_numpyro("NegativeBinomialProbs", 2.5, 0.3), st.nbinom(2.5, 0.7)),
        (from_numpyro("NegativeBinomialLogits", 2.5, LOGIT), st.nbinom(2.5, 1 - P)),
        (from_numpyro("NegativeBinomial2", 3.0, 2.5), at(COUNTS, negative_binomial, 3.0, 2.5)),
        (from_numpyro("GammaPoisson", 2.5, 1.5), st.nbinom(2.5, 1.5 / 2.5)),
        (from_pymc("NegativeBinomial", mu=3.0, alpha=2.5), at(COUNTS, negative_binomial, 3.0, 2.5)),
        (from_pymc("NegativeBinomial", p=0.3, n=2.5), st.nbinom(2.5, 0.3)),
        (from_pymc("NegativeBinomial", mu=3.0, n=2.5), at(COUNTS, negative_binomial, 3.0, 2.5)),
        (from_pymc("NegativeBinomial", p=0.3, alpha=2.5), st.nbinom(2.5, 0.3)),
        (from_scipy("nbinom", 2.5, 0.3), st.nbinom(2.5, 0.3)),
    ],
    "Geometric's first": [
        (from_numpyro("Geometric", 0.3), st.geom(0.3, -1)),
        (from_numpyro("GeometricProbs", 0.3), st.geom(0.3, -1)),
        (from_numpyro("Geometric", logits=LOGIT), st.geom(P, -1)),
        (from_numpyro("GeometricLogits", LOGIT), st.geom(P, -1)),
        (from_pymc("Geometric", 0.3), st.geom(0.3)),
        (from_pymc("Geometric", 0.3), (np.zeros(1), [-np.inf])),
        (from_scipy("geom", 0.3), st.geom(0.3)),
    ],
    "StudentT": [
        (from_stan("student_t", 4.0, 1.0, 2.0), st.t(4, 1, 2)),
        (from_numpyro("StudentT", 4.0, 1.0, 2.0), st.t(4, 1, 2)),
        (from_pymc("StudentT", 4.0, 1.0, 2.0), st.t(4, 1, 2)),
        (from_pymc("StudentT", 4.0, mu=1.0, lam=0.25), st.t(4, 1, 2)),
        (from_scipy("t", 4.0, 1.0, 2.0), st.t(4, 1, 2)),
    ],
    "Normal": [
        (from_stan("normal", 1.0, 2.0), st.norm(1, 2)),
        (from_numpyro("Normal", 1.0, 2.0), st.norm(1, 2)),
        (from_pymc("Normal", 1.0, 2.0), st.norm(1, 2)),
        (from_pymc("Normal", 1.0, tau=4.0), st.norm(1, 0.5)),
        (from_scipy("norm", 1.0, 2.0), st.norm(1, 2)),
    ],
    "ExGaussian's third": [
        (from_stan("exp_mod_normal", 1.0, 2.0, 0.5), st.exponnorm(1, 1, 2)),
        (from_pymc("ExGaussian", 1.0, 2.0, 0.5), st.exponnorm(0.25, 1, 2)),
        (from_scipy("exponnorm", 0.25, 1.0, 2.0), st.exponnorm(0.25, 1, 2)),
    ],
    "LogLogistic": [
        (from_stan("loglogistic", 2.0, 3.5), st.fisk(3.5, scale=2)),
        (from_scipy("fisk", 3.5, scale=2.0), st.fisk(3.5, scale=2)),
    ],
    "InverseGaussian": [
        (from_pymc("Wald", 2.0, 3.0), st.invgauss(2 / 3, scale=3)),
        (from_pymc("Wald", mu=2.0, phi=1.5), st.invgauss(2 / 3, scale=3)),
        (from_pymc("Wald", lam=3.0, phi=1.5), st.invgauss(2 / 3, scale=3)),
        (from_pymc("Wald", 2.0, 3.0, alpha=0.5), st.invgauss(2 / 3, 0.5, 3)),
        (from_scipy("invgauss", 2 / 3, scale=3.0), st.invgauss(2 / 3, scale=3)),
    ],
    "Beta": [
        (from_stan("beta", 2.0, 3.5), st.beta(2, 3.5)),
        (from_stan("beta_proportion", 0.4, 5.0), st.beta(2, 3)),
        (from_numpyro("Beta", 2.0, 3.5), st.beta(2, 3.5)),
        (from_numpyro("BetaProportion", 0.4, 5.0), st.beta(2, 3)),
        (from_pymc("Beta", 2.0, 3.5), st.beta(2, 3.5)),
        (from_pymc("Beta", mu=0.4, sigma=0.2), st.beta(2, 3)),
        (from_pymc("Beta", mu=0.4, nu=5.0), st.beta(2, 3)),
        (from_scipy("beta", 2.0, 3.5), st.beta(2, 3.5)),
    ],
    "BetaBinomial's order": [
        (from_stan("beta_binomial", 9, 2.0, 3.5), st.betabinom(9, 2, 3.5)),
        (from_numpyro("BetaBinomial", 2.0, 3.5, 9), st.betabinom(9, 2, 3.5)),
        (from_pymc("BetaBinomial", 2.0, 3.5, 9), st.betabinom(9, 2, 3.5)),
        (from_scipy("betabinom", 9, 2.0, 3.5), st.betabinom(9, 2, 3.5)),
    ],
    "AsymmetricLaplace": [
        (from_stan("skew_double_exponential", 0.5, 2.0, 0.3), at(REAL, asymmetric, 0.5, 2 * 0.7 / 2, 2 * 0.3 / 2)),
        (from_numpyro("AsymmetricLaplace", 0.5, 2.0, 1.5), at(REAL, asymmetric, 0.5, 1 / (2 * 1.5), 1.5 / 2)),
        (from_numpyro("AsymmetricLaplaceQuantile", 0.5, 2.0, 0.3), at(REAL, asymmetric, 0.5, 0.7 / 2, 0.3 / 2)),
        (from_pymc("AsymmetricLaplace", 1.5, 0.5, 2.0), at(REAL, asymmetric, 0.5, 2 / 1.5, 2 * 1.5)),
        (
            from_pymc("AsymmetricLaplace", mu=0.5, b=2.0, q=0.3),
            at(REAL, asymmetric, 0.5, 2 * np.sqrt(7 / 3), 2 * np.sqrt(3 / 7)),
        ),
        (from_scipy("laplace_asymmetric", 1.5, 0.5, 2.0), st.laplace_asymmetric(1.5, 0.5, 2)),
    ],
    "GeneralizedNormal": [(from_scipy("gennorm", 1.5, 0.5, 2.0), st.gennorm(1.5, 0.5, 2))],
    "NormalInverseGaussian": [(from_scipy("norminvgauss", 2.0, 0.7, 0.5, 3.0), st.norminvgauss(2, 0.7, 0.5, 3))],
    "Rice": [
        (from_pymc("Rice", 3.0, 2.0), st.rice(1.5, scale=2)),
        (from_pymc("Rice", b=1.5, sigma=2.0), st.rice(1.5, scale=2)),
        (from_scipy("rice", 1.5, scale=2.0), st.rice(1.5, scale=2)),
    ],
    "Triangular": [
        (from_pymc("Triangular", 1.0, 4.0, 2.0), st.triang(1 / 3, 1, 3)),
        (from_scipy("triang", 1 / 3, 1.0, 3.0), st.triang(1 / 3, 1, 3)),
    ],
    "Cauchy": [
        (from_stan("cauchy", 1.0, 2.0), st.cauchy(1, 2)),
        (from_numpyro("Cauchy", 1.0, 2.0), st.cauchy(1, 2)),
        (from_pymc("Cauchy", 1.0, 2.0), st.cauchy(1, 2)),
        (from_scipy("cauchy", 1.0, 2.0), st.cauchy(1, 2)),
    ],
    "the sign of the extreme value's shape": [
        (from_scipy("genextreme", 0.3, 1.0, 2.0), st.genextreme(0.3, 1, 2)),
        (from_scipy("genextreme", -0.3, 1.0, 2.0), st.genextreme(-0.3, 1, 2)),
        (from_scipy("genpareto", 0.3, 1.0, 2.0), st.genpareto(0.3, 1, 2)),
        (from_scipy("genpareto", -0.3, 1.0, 2.0), st.genpareto(-0.3, 1, 2)),
    ],
}


@pytest.mark.parametrize("row", TRAPS)
def test_where_systems_disagree(row):
    for distribution, oracle in TRAPS[row]:
        assert_density(distribution, *(oracle if isinstance(oracle, tuple) else points(oracle)))


EVERY_ROW = [(convert, *row) for convert, rows in ROWS.items() for row in rows]


@pytest.mark.parametrize(
    ("convert", "name", "arguments", "keywords", "oracle"),
    EVERY_ROW, ids=[f"{row[0].__name__}-{row[1]}-{'-'.join(row[3])}" for row in EVERY_ROW],
)  # fmt: skip
def test_density(convert, name, arguments, keywords, oracle):
    assert_density(convert(name, *arguments, **keywords), *(oracle if isinstance(oracle, tuple) else points(oracle)))


@pytest.mark.parametrize(
    ("convert", "table"), [(from_stan, STAN), (from_numpyro, NUMPYRO), (from_pymc, PYMC), (from_scipy, SCIPY)]
)
def test_every_name_is_tested(convert, table):
    asked = {name for name, *_ in ROWS[convert]}
    text = Path(__file__).read_text(encoding="utf-8")
    assert {name for name in table if name not in asked and f'{convert.__name__}("{name}"' not in text} == set()


def test_arguments_are_arrays_and_stay_differentiable():
    mu, phi = np.array([1.0, 2.0]), np.array([0.5, 4.0])
    lp = vecdist.logpdf(from_stan("neg_binomial_2", mu, phi), np.array([0.0, 3.0]))
    _, (slope,) = vecdist.value_and_partials(lp, wrt=(mu,))
    np.testing.assert_allclose(slope, np.array([0.0, 3.0]) / mu - (np.array([0.0, 3.0]) + phi) / (mu + phi), rtol=1e-12)


def test_stans_endings_are_dropped():
    assert repr(from_stan("normal_lpdf", 0.0, 1.0)) == "Normal(loc=0.0, scale=1.0)"
    assert repr(from_stan("poisson_lupmf", 2.0)) == "Poisson(rate=2.0)"


def test_defaults_are_those_of_the_system():
    assert repr(from_pymc("Normal", tau=4.0)) == "Normal(mean=0.0, precision=4.0)"
    assert repr(from_numpyro("Gamma", 2.0)) == "Gamma(shape=2.0, rate=1.0)"


def test_an_unknown_name_is_answered_by_those_near_it():
    with pytest.raises(ValueError, match=r"Stan has no distribution 'inv_gama' that is known here; did you mean inv_g"):
        from_stan("inv_gama", 1.0, 1.0)
    with pytest.raises(ValueError, match=r"SciPy has no distribution 'qqq' .*; there are arcsine, .*, zipf"):
        from_scipy("qqq")


def test_arguments_that_do_not_fit_are_answered_by_the_ways_there_are():
    with pytest.raises(TypeError, match=r"PyMC writes Gamma\(alpha, beta\); Gamma\(\*, mu, sigma\); given was \(mu="):
        from_pymc("Gamma", mu=1.0)
    with pytest.raises(TypeError, match=r"NumPyro writes Weibull\(scale, concentration\)"):
        from_numpyro("Weibull", 1.0)
