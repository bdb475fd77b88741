"""Distributions by the names of other systems: against SciPy, or the densities that those systems document."""

from pathlib import Path

import numpy as np
import pytest
import scipy.stats as st
from scipy.special import expit, gammaln, ive

import vecdist
from vecdist import from_numpyro, from_pymc, from_scipy, from_stan
from vecdist.converters import NUMPYRO, PYMC, SCIPY, STAN

pytestmark = pytest.mark.usefixtures("uncompiled")

POSITIVE = np.array([0.05, 0.4, 1.0, 2.5, 7.0])
REAL = np.array([-3.0, -0.4, 0.3, 1.2, 5.0])
UNIT = np.array([0.02, 0.3, 0.5, 0.77, 0.99])
COUNTS = np.array([0.0, 1.0, 2.0, 5.0, 9.0])
LOGIT = 0.8
P = expit(LOGIT)


def points(oracle):
    """Points of SciPy's distribution, and its log density there."""
    x = oracle.rvs(random_state=1, size=5).astype(float)
    return x, (oracle.logpdf if hasattr(oracle.dist, "pdf") else oracle.logpmf)(x)


def assert_density(distribution, x, wanted):
    np.testing.assert_allclose(np.asarray(vecdist.logpdf(distribution, x)), wanted, rtol=1e-11, atol=1e-12)


def asymmetric(x, loc, below, above):
    """The log density that falls off at one rate below ``loc`` and at another above."""
    return np.log(below * above / (below + above)) - np.where(x < loc, below * (loc - x), above * (x - loc))


def normal(x, loc=0.0, scale=1.0):
    return -(((x - loc) / scale) ** 2) / 2 - np.log(scale) - np.log(2 * np.pi) / 2


def negative_binomial(x, mean, shape):
    """NegBinomial2 of the Stan Functions Reference."""
    p = shape / (mean + shape)
    return gammaln(x + shape) - gammaln(x + 1) - gammaln(shape) + x * np.log1p(-p) + shape * np.log(p)


def gated(density, gate, hurdle):
    """Zeros with the probability ``gate``, apart from those of ``density`` or, as a hurdle, in their place."""
    zero = np.exp(density(np.zeros(1)))
    if hurdle:
        rest = lambda x: np.log((1 - gate) / (1 - zero)) + density(np.maximum(x, 1.0))  # noqa: E731
        return lambda x: np.where(x == 0, np.log(gate), rest(x))
    return lambda x: np.where(x == 0, np.log(gate + (1 - gate) * zero), np.log(1 - gate) + density(x))


def relaxed(x, temperature, logit):
    """Maddison, Mnih and Teh (2017), The Concrete distribution, for two classes."""
    y = np.log(x / (1 - x))
    z = logit - temperature * y
    return np.log(temperature) + z - 2 * np.log1p(np.exp(z)) - np.log(x * (1 - x))


def at(x, formula, *arguments):
    return x, formula(x, *arguments)


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

A, B, C, D = 1.2, 2.5, 0.7, 3.5  # arguments of no meaning

# Every other name, in every way that it is written: arguments, and the same distribution in SciPy or as documented.
STAN_ROWS = [
    ("bernoulli", (0.3,), {}, st.bernoulli(0.3)),
    ("bernoulli_logit", (LOGIT,), {}, st.bernoulli(P)),
    ("beta_neg_binomial", (3, B, D), {}, st.betanbinom(3, B, D)),
    ("binomial", (9, 0.3), {}, st.binom(9, 0.3)),
    ("binomial_logit", (9, LOGIT), {}, st.binom(9, P)),
    ("chi_square", (B,), {}, st.chi2(B)),
    ("discrete_range", (-2, 5), {}, st.randint(-2, 6)),
    ("double_exponential", (A, B), {}, st.laplace(A, B)),
    ("frechet", (A, B), {}, st.invweibull(A, scale=B)),
    ("gumbel", (A, B), {}, st.gumbel_r(A, B)),
    ("hypergeometric", (6, 9, 5), {}, st.hypergeom(14, 9, 6)),
    ("inv_chi_square", (B,), {}, st.invgamma(B / 2, scale=1 / 2)),
    ("logistic", (A, B), {}, st.logistic(A, B)),
    ("lognormal", (A, C), {}, st.lognorm(C, scale=np.exp(A))),
    ("pareto_type_2", (A, B, D), {}, st.lomax(D, A, B)),
    ("poisson", (B,), {}, st.poisson(B)),
    ("poisson_log", (C,), {}, st.poisson(np.exp(C))),
    ("rayleigh", (B,), {}, st.rayleigh(scale=B)),
    ("scaled_inv_chi_square", (B, A), {}, st.invgamma(B / 2, scale=B / 2 * A**2)),
    ("skew_normal", (A, B, C), {}, st.skewnorm(C, A, B)),
    ("std_normal", (), {}, st.norm()),
    ("uniform", (A, D), {}, st.uniform(A, D - A)),
    ("von_mises", (A, B), {}, at(REAL, lambda x: B * (np.cos(x - A) - 1) - np.log(2 * np.pi * ive(0, B)))),
    ("yule_simon", (B,), {}, st.yulesimon(B)),
]
NUMPYRO_ROWS = [
    ("Bernoulli", (0.3,), {}, st.bernoulli(0.3)),
    ("Bernoulli", (), {"logits": LOGIT}, st.bernoulli(P)),
    ("BernoulliLogits", (LOGIT,), {}, st.bernoulli(P)),
    ("BernoulliProbs", (0.3,), {}, st.bernoulli(0.3)),
    ("BetaNegativeBinomial", (D, B, 3), {}, st.betanbinom(3, B, D)),
    ("Binomial", (9, 0.3), {}, st.binom(9, 0.3)),
    ("Binomial", (9,), {"probs": 0.3}, st.binom(9, 0.3)),
    ("Binomial", (9,), {"logits": LOGIT}, st.binom(9, P)),
    ("BinomialLogits", (LOGIT, 9), {}, st.binom(9, P)),
    ("BinomialProbs", (0.3, 9), {}, st.binom(9, 0.3)),
    ("Chi2", (B,), {}, st.chi2(B)),
    ("Delta", (B,), {}, (np.array([B, 1.0]), [0.0, -np.inf])),
    ("DiscreteUniform", (-2, 5), {}, st.randint(-2, 6)),
    ("Gompertz", (A, B), {}, at(POSITIVE, lambda x: np.log(A * B) + B * x - A * np.expm1(B * x))),
    ("Gumbel", (A, B), {}, st.gumbel_r(A, B)),
    ("HalfCauchy", (B,), {}, st.halfcauchy(scale=B)),
    ("HalfNormal", (B,), {}, st.halfnorm(scale=B)),
    ("HurdleGamma", (0.3, A, B), {}, at(POSITIVE, lambda x: np.log(0.7) + st.gamma.logpdf(x, A, scale=1 / B))),
    ("HurdleLogNormal", (0.3, A, B), {}, at(POSITIVE, lambda x: np.log(0.7) + normal(np.log(x), A, B) - np.log(x))),
    (
        "HurdleNegativeBinomial2", (0.3, A, B), {},
        at(COUNTS, gated(lambda x: negative_binomial(x, A, B), 0.3, hurdle=True)),
    ),
    ("HurdlePoisson", (0.3, B), {}, at(COUNTS, gated(lambda x: st.poisson.logpmf(x, B), 0.3, hurdle=True))),
    ("Kumaraswamy", (A, B), {}, at(UNIT, lambda x: np.log(A * B) + (A - 1) * np.log(x) + (B - 1) * np.log1p(-(x**A)))),
    ("Laplace", (A, B), {}, st.laplace(A, B)),
    ("Levy", (A, B), {}, st.levy(A, B)),
    ("LogNormal", (A, C), {}, st.lognorm(C, scale=np.exp(A))),
    ("LogUniform", (A, D), {}, st.loguniform(A, D)),
    ("Logistic", (A, B), {}, st.logistic(A, B)),
    ("Poisson", (B,), {}, st.poisson(B)),
    ("RelaxedBernoulli", (B, P), {}, at(UNIT, lambda x: relaxed(x, B, LOGIT))),
    ("RelaxedBernoulli", (B,), {"logits": LOGIT}, at(UNIT, lambda x: relaxed(x, B, LOGIT))),
    ("RelaxedBernoulliLogits", (B, LOGIT), {}, at(UNIT, lambda x: relaxed(x, B, LOGIT))),
    (
        "TruncatedCauchy", (A, B), {"low": 0.5},
        at(POSITIVE + 0.5, lambda x: st.cauchy.logpdf(x, A, B) - st.cauchy.logsf(0.5, A, B)),
    ),
    ("TruncatedNormal", (A, B), {"low": 0.5, "high": 4.0}, st.truncnorm((0.5 - A) / B, (4 - A) / B, A, B)),
    ("TruncatedNormal", (A, B), {}, st.norm(A, B)),
    ("Uniform", (A, D), {}, st.uniform(A, D - A)),
    ("VonMises", (A, B), {}, at(REAL, lambda x: B * (np.cos(x - A) - 1) - np.log(2 * np.pi * ive(0, B)))),
    (
        "ZeroInflatedNegativeBinomial2", (A, B), {"gate": 0.3},
        at(COUNTS, gated(lambda x: negative_binomial(x, A, B), 0.3, hurdle=False)),
    ),
    ("ZeroInflatedPoisson", (0.3, B), {}, at(COUNTS, gated(lambda x: st.poisson.logpmf(x, B), 0.3, hurdle=False))),
]
PYMC_ROWS = [
    ("Bernoulli", (0.3,), {}, st.bernoulli(0.3)),
    ("Bernoulli", (), {"logit_p": LOGIT}, st.bernoulli(P)),
    ("Binomial", (9, 0.3), {}, st.binom(9, 0.3)),
    ("Binomial", (9,), {"logit_p": LOGIT}, st.binom(9, P)),
    ("ChiSquared", (B,), {}, st.chi2(B)),
    ("DiracDelta", (B,), {}, (np.array([B, 1.0]), [0.0, -np.inf])),
    ("DiscreteUniform", (-2, 5), {}, st.randint(-2, 6)),
    ("DiscreteWeibull", (0.6, A), {}, at(COUNTS, lambda x: np.log(0.6 ** (x**A) - 0.6 ** ((x + 1) ** A)))),
    ("Gumbel", (A, B), {}, st.gumbel_r(A, B)),
    ("HalfCauchy", (B,), {}, st.halfcauchy(scale=B)),
    ("HalfNormal", (B,), {}, st.halfnorm(scale=B)),
    ("HalfNormal", (), {"tau": 4.0}, st.halfnorm(scale=0.5)),
    ("HalfStudentT", (B, A), {}, at(POSITIVE, lambda x: np.log(2) + st.t.logpdf(x, B, scale=A))),
    ("HalfStudentT", (B,), {"lam": 4.0}, at(POSITIVE, lambda x: np.log(2) + st.t.logpdf(x, B, scale=0.5))),
    ("HurdleGamma", (0.7, A, B), {}, at(POSITIVE, lambda x: np.log(0.7) + st.gamma.logpdf(x, A, scale=1 / B))),
    (
        "HurdleGamma", (0.7,), {"mu": 3.0, "sigma": 1.5},
        at(POSITIVE, lambda x: np.log(0.7) + st.gamma.logpdf(x, 4, scale=0.75)),
    ),
    ("HurdleLogNormal", (0.7, A, B), {}, at(POSITIVE, lambda x: np.log(0.7) + normal(np.log(x), A, B) - np.log(x))),
    (
        "HurdleNegativeBinomial", (0.7, A, B), {},
        at(COUNTS, gated(lambda x: negative_binomial(x, A, B), 0.3, hurdle=True)),
    ),
    (
        "HurdleNegativeBinomial", (0.7,), {"p": 0.4, "n": B},
        at(COUNTS, gated(lambda x: st.nbinom.logpmf(x, B, 0.4), 0.3, hurdle=True)),
    ),
    ("HurdlePoisson", (0.7, B), {}, at(COUNTS, gated(lambda x: st.poisson.logpmf(x, B), 0.3, hurdle=True))),
    ("HyperGeometric", (14, 9, 6), {}, st.hypergeom(14, 9, 6)),
    ("Kumaraswamy", (A, B), {}, at(UNIT, lambda x: np.log(A * B) + (A - 1) * np.log(x) + (B - 1) * np.log1p(-(x**A)))),
    ("Laplace", (A, B), {}, st.laplace(A, B)),
    ("LogNormal", (A, C), {}, st.lognorm(C, scale=np.exp(A))),
    ("LogNormal", (A,), {"tau": 4.0}, st.lognorm(0.5, scale=np.exp(A))),
    ("Logistic", (A, B), {}, st.logistic(A, B)),
    ("LogitNormal", (A, B), {}, at(UNIT, lambda x: normal(np.log(x / (1 - x)), A, B) - np.log(x * (1 - x)))),
    ("LogitNormal", (A,), {"tau": 4.0}, at(UNIT, lambda x: normal(np.log(x / (1 - x)), A, 0.5) - np.log(x * (1 - x)))),
    ("Moyal", (A, B), {}, st.moyal(A, B)),
    ("Poisson", (B,), {}, st.poisson(B)),
    ("SkewNormal", (A, B, C), {}, st.skewnorm(C, A, B)),
    ("SkewNormal", (A,), {"tau": 4.0, "alpha": C}, st.skewnorm(C, A, 0.5)),
    ("TruncatedNormal", (A, B), {"lower": 0.5, "upper": 4.0}, st.truncnorm((0.5 - A) / B, (4 - A) / B, A, B)),
    ("TruncatedNormal", (A,), {"tau": 4.0, "lower": 0.5}, st.truncnorm((0.5 - A) * 2, np.inf, A, 0.5)),
    ("Uniform", (A, D), {}, st.uniform(A, D - A)),
    ("VonMises", (A, B), {}, at(REAL, lambda x: B * (np.cos(x - A) - 1) - np.log(2 * np.pi * ive(0, B)))),
    (
        "ZeroInflatedBinomial", (0.7, 9, 0.4), {},
        at(COUNTS, gated(lambda x: st.binom.logpmf(x, 9, 0.4), 0.3, hurdle=False)),
    ),
    (
        "ZeroInflatedNegativeBinomial", (0.7, A, B), {},
        at(COUNTS, gated(lambda x: negative_binomial(x, A, B), 0.3, hurdle=False)),
    ),
    (
        "ZeroInflatedNegativeBinomial", (0.7,), {"p": 0.4, "n": B},
        at(COUNTS, gated(lambda x: st.nbinom.logpmf(x, B, 0.4), 0.3, hurdle=False)),
    ),
    ("ZeroInflatedPoisson", (0.7, B), {}, at(COUNTS, gated(lambda x: st.poisson.logpmf(x, B), 0.3, hurdle=False))),
]
# The shapes of SciPy's distributions; those of whole numbers take no scale.
SHAPES = {
    "arcsine": (), "beta": (A, B), "betaprime": (A, B), "cauchy": (), "chi": (B,), "chi2": (B,), "cosine": (),
    "erlang": (3,), "expon": (), "exponnorm": (A,), "f": (A, B), "fisk": (B,), "gamma": (B,), "genextreme": (0.2,),
    "gennorm": (B,), "genpareto": (0.2,), "gompertz": (A,), "gumbel_r": (), "halfcauchy": (), "halfnorm": (),
    "invgamma": (B,), "invgauss": (A,), "invweibull": (B,), "johnsonsu": (C, A), "laplace": (),
    "laplace_asymmetric": (A,), "levy": (), "logistic": (), "lognorm": (C,), "loguniform": (A, D), "lomax": (B,),
    "moyal": (), "ncx2": (A, B), "norm": (), "norminvgauss": (B, A), "pareto": (B,), "rayleigh": (), "rice": (B,),
    "semicircular": (), "skewnorm": (B,), "t": (B,), "triang": (0.3,), "truncnorm": (-A, B), "uniform": (),
    "weibull_min": (B,),
}  # fmt: skip
COUNTING = {
    "bernoulli": (0.3,), "betabinom": (9, A, B), "betanbinom": (3, A, B), "binom": (9, 0.3), "geom": (0.3,),
    "hypergeom": (14, 9, 6), "nbinom": (B, 0.3), "poisson": (B,), "randint": (-2, 5), "skellam": (A, B),
    "yulesimon": (B,), "zipf": (B,), "vonmises": (B,),
}  # fmt: skip
ROWS = {
    from_stan: STAN_ROWS, from_numpyro: NUMPYRO_ROWS, from_pymc: PYMC_ROWS,
    from_scipy: [
        *((name, shapes, {"loc": 0.5, "scale": 2.0}, getattr(st, name)(*shapes, loc=0.5, scale=2.0))
          for name, shapes in SHAPES.items()),
        *((name, shapes, {"loc": 3}, getattr(st, name)(*shapes, loc=3)) for name, shapes in COUNTING.items()),
    ],
}  # fmt: skip
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
