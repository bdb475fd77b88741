"""Distributions as other systems write them, and the same in SciPy or as those systems document it."""

import numpy as np
import scipy.stats as st
from scipy.special import expit, gammaln, ive

from vecdist import from_numpyro, from_pymc, from_scipy, from_stan

POSITIVE = np.array([0.05, 0.4, 1.0, 2.5, 7.0])
REAL = np.array([-3.0, -0.4, 0.3, 1.2, 5.0])
UNIT = np.array([0.02, 0.3, 0.5, 0.77, 0.99])
COUNTS = np.array([0.0, 1.0, 2.0, 5.0, 9.0])
LOGIT = 0.8
P = expit(LOGIT)


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
