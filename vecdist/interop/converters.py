"""Distributions by the names, argument orders and parametrisations of Stan, NumPyro, PyMC and SciPy.

Each table has for a name the ways in which that system writes it: functions whose signatures are the system's own,
but that Stan's ``lambda`` is ``lambda_``.
"""

# ruff: noqa: N803, E741, PLW0108 (signatures are as they are elsewhere, and every way is written as one)

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from vecdist import distributions as d
from vecdist.graph.leaves import NUMBERS
from vecdist.wrappers.affine import affine

Way = Callable[..., d.Distribution]


def from_stan(name: str, *arguments: Any, **keywords: Any) -> d.Distribution:
    """A distribution by its name and arguments in Stan, with or without ``_lpdf`` or ``_lpmf``.

    Raises ``ValueError`` for a name that is not known and ``TypeError`` for arguments that do not fit it.
    Stan Functions Reference, parts "Discrete distributions" and "Continuous distributions".

    >>> import vecdist
    >>> vecdist.from_stan("gamma", 2.0, 4.0)
    Gamma(shape=2.0, rate=4.0)
    """
    for ending in ("_lpdf", "_lpmf", "_lupdf", "_lupmf"):
        name = name.removesuffix(ending)
    return _converted("Stan", STAN, name, arguments, keywords)


def from_numpyro(name: str, *arguments: Any, **keywords: Any) -> d.Distribution:
    """A distribution by its class name and arguments in ``numpyro.distributions``; errors as of ``from_stan``.

    >>> import vecdist
    >>> vecdist.from_numpyro("Weibull", 3.0, concentration=1.5)
    Weibull(shape=1.5, scale=3.0)
    """
    return _converted("NumPyro", NUMPYRO, name, arguments, keywords)


def from_pymc(name: str, *arguments: Any, **keywords: Any) -> d.Distribution:
    """A distribution by its class name and arguments in PyMC, the variable's name left out; errors as of ``from_stan``.

    >>> import vecdist
    >>> vecdist.from_pymc("Normal", mu=1.0, tau=4.0)
    Normal(mean=1.0, precision=4.0)
    """
    return _converted("PyMC", PYMC, name, arguments, keywords)


def from_scipy(name: str, *arguments: Any, **keywords: Any) -> d.Distribution:
    """A distribution by its name and arguments in ``scipy.stats``; errors as of ``from_stan``.

    >>> import vecdist
    >>> vecdist.from_scipy("gamma", 2.0, scale=0.5)
    Gamma(shape=2.0, scale=0.5)
    """
    return _converted("SciPy", SCIPY, name, arguments, keywords)


def _converted(
    system: str, table: Mapping[str, Way | Sequence[Way]], name: str, arguments: Sequence[Any], keywords: dict[str, Any]
) -> d.Distribution:
    """The distribution of the first way whose signature the arguments fit."""
    if name not in table:
        near = difflib.get_close_matches(name, table, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(table))}"
        raise ValueError(f"{system} has no distribution {name!r} that is known here; {hint}")
    found = table[name]
    ways = (found,) if callable(found) else found
    for way in ways:
        try:
            bound = inspect.signature(way).bind(*arguments, **keywords)
        except TypeError:
            continue
        return way(*bound.args, **bound.kwargs)
    written = "; ".join(f"{name}{inspect.signature(way)}" for way in ways)
    given = ", ".join([*("..." for _ in arguments), *(f"{key}=..." for key in keywords)])
    raise TypeError(f"{system} writes {written}; given was ({given})")


def _moved(distribution: d.Distribution, loc: Any, scale: Any = 1) -> d.Distribution:
    """The distribution of ``loc + scale * x``, which is the same one for 0 and 1."""
    still = isinstance(loc, NUMBERS) and loc == 0 and isinstance(scale, NUMBERS) and scale == 1
    return distribution if still else affine(distribution, loc, scale)


STAN: dict[str, Way | Sequence[Way]] = {
    "bernoulli": lambda theta: d.Bernoulli(p=theta),
    "bernoulli_logit": lambda alpha: d.Bernoulli(logit=alpha),
    "beta": lambda alpha, beta: d.Beta(alpha, beta),
    "beta_binomial": lambda N, alpha, beta: d.BetaBinomial(N, alpha, beta),
    "beta_neg_binomial": lambda r, alpha, beta: d.BetaNegativeBinomial(r, alpha, beta),
    "beta_proportion": lambda mu, kappa: d.Beta(mean=mu, concentration=kappa),
    "binomial": lambda N, theta: d.Binomial(n=N, p=theta),
    "binomial_logit": lambda N, alpha: d.Binomial(n=N, logit=alpha),
    "cauchy": lambda mu, sigma: d.Cauchy(mu, sigma),
    "chi_square": lambda nu: d.Chi2(nu),
    "discrete_range": lambda l, u: d.DiscreteUniform(l, u),
    "double_exponential": lambda mu, sigma: d.Laplace(mu, sigma),
    "exp_mod_normal": lambda mu, sigma, lambda_: d.ExGaussian(loc=mu, scale=sigma, rate=lambda_),
    "exponential": lambda beta: d.Exponential(rate=beta),
    "frechet": lambda alpha, sigma: d.Frechet(alpha, sigma),
    "gamma": lambda alpha, beta: d.Gamma(shape=alpha, rate=beta),
    "gumbel": lambda mu, beta: d.Gumbel(mu, beta),
    "hypergeometric": lambda N, a, b: d.Hypergeometric(successes=a, failures=b, draws=N),
    "inv_chi_square": lambda nu: d.InverseChi2(nu),
    "inv_gamma": lambda alpha, beta: d.InverseGamma(shape=alpha, scale=beta),
    "logistic": lambda mu, sigma: d.Logistic(mu, sigma),
    "loglogistic": lambda alpha, beta: d.LogLogistic(scale=alpha, shape=beta),
    "lognormal": lambda mu, sigma: d.LogNormal(mu, sigma),
    "neg_binomial": lambda alpha, beta: d.NegativeBinomial(shape=alpha, rate=beta),
    "neg_binomial_2": lambda mu, phi: d.NegativeBinomial(mean=mu, dispersion=phi),
    "neg_binomial_2_log": lambda eta, phi: d.NegativeBinomial(log_mean=eta, dispersion=phi),
    "normal": lambda mu, sigma: d.Normal(mu, sigma),
    "pareto": lambda y_min, alpha: d.Pareto(shape=alpha, scale=y_min),
    "pareto_type_2": lambda mu, lambda_, alpha: d.Lomax(loc=mu, scale=lambda_, shape=alpha),
    "poisson": lambda lambda_: d.Poisson(rate=lambda_),
    "poisson_log": lambda alpha: d.Poisson(log_rate=alpha),
    "rayleigh": lambda sigma: d.Rayleigh(sigma),
    "scaled_inv_chi_square": lambda nu, sigma: d.ScaledInverseChi2(nu, sigma),
    "skew_double_exponential": lambda mu, sigma, tau: d.AsymmetricLaplace(loc=mu, scale=sigma / 2, quantile=tau),
    "skew_normal": lambda xi, omega, alpha: d.SkewNormal(xi, omega, alpha),
    "std_normal": lambda: d.Normal(0.0, 1.0),
    "student_t": lambda nu, mu, sigma: d.StudentT(df=nu, loc=mu, scale=sigma),
    "uniform": lambda alpha, beta: d.Uniform(alpha, beta),
    "von_mises": lambda mu, kappa: d.VonMises(mu, kappa),
    "weibull": lambda alpha, sigma: d.Weibull(shape=alpha, scale=sigma),
    "yule_simon": lambda alpha: d.YuleSimon(alpha),
}

NUMPYRO: dict[str, Way | Sequence[Way]] = {
    "AsymmetricLaplace": lambda loc=0.0, scale=1.0, asymmetry=1.0: d.AsymmetricLaplace(loc, scale, asymmetry),
    "AsymmetricLaplaceQuantile": lambda loc=0.0, scale=1.0, quantile=0.5: d.AsymmetricLaplace(
        loc=loc, scale=scale, quantile=quantile
    ),
    "Bernoulli": (lambda probs: d.Bernoulli(p=probs), lambda *, logits: d.Bernoulli(logit=logits)),
    "BernoulliLogits": lambda logits: d.Bernoulli(logit=logits),
    "BernoulliProbs": lambda probs: d.Bernoulli(p=probs),
    "Beta": lambda concentration1, concentration0: d.Beta(concentration1, concentration0),
    "BetaBinomial": lambda concentration1, concentration0, total_count=1: d.BetaBinomial(
        total_count, concentration1, concentration0
    ),
    "BetaNegativeBinomial": lambda concentration1, concentration0, n: d.BetaNegativeBinomial(
        r=n, alpha=concentration0, beta=concentration1
    ),
    "BetaProportion": lambda mean, concentration: d.Beta(mean=mean, concentration=concentration),
    "Binomial": (
        lambda total_count=1, *, logits: d.Binomial(n=total_count, logit=logits),
        lambda total_count=1, probs=None: d.Binomial(n=total_count, p=probs),  # pyright: ignore[reportArgumentType]
    ),
    "BinomialLogits": lambda logits, total_count=1: d.Binomial(n=total_count, logit=logits),
    "BinomialProbs": lambda probs, total_count=1: d.Binomial(n=total_count, p=probs),
    "Cauchy": lambda loc=0.0, scale=1.0: d.Cauchy(loc, scale),
    "Chi2": lambda df: d.Chi2(df),
    "Delta": lambda v=0.0: d.Dirac(v),
    "DiscreteUniform": lambda low=0, high=1: d.DiscreteUniform(low, high),
    "Exponential": lambda rate=1.0: d.Exponential(rate=rate),
    "Gamma": lambda concentration, rate=1.0: d.Gamma(shape=concentration, rate=rate),
    "GammaPoisson": lambda concentration, rate=1.0: d.NegativeBinomial(shape=concentration, rate=rate),
    "Geometric": (lambda probs: d.Geometric(p=probs), lambda *, logits: d.Geometric(logit=logits)),
    "GeometricLogits": lambda logits: d.Geometric(logit=logits),
    "GeometricProbs": lambda probs: d.Geometric(p=probs),
    "Gompertz": lambda concentration, rate=1.0: d.Gompertz(shape=concentration, rate=rate),
    "Gumbel": lambda loc=0.0, scale=1.0: d.Gumbel(loc, scale),
    "HalfCauchy": lambda scale=1.0: d.HalfCauchy(scale),
    "HalfNormal": lambda scale=1.0: d.HalfNormal(scale),
    "HurdleGamma": lambda gate, concentration, rate=1.0: d.HurdleGamma(gate=gate, shape=concentration, rate=rate),
    "HurdleLogNormal": lambda gate, loc=0.0, scale=1.0: d.HurdleLogNormal(gate, loc, scale),
    "HurdleNegativeBinomial2": lambda gate, mean, concentration: d.HurdleNegativeBinomial(
        gate=gate, mean=mean, dispersion=concentration
    ),
    "HurdlePoisson": lambda gate, rate=1.0: d.HurdlePoisson(gate, rate),
    "InverseGamma": lambda concentration, rate=1.0: d.InverseGamma(shape=concentration, scale=rate),
    "Kumaraswamy": lambda concentration1, concentration0: d.Kumaraswamy(concentration1, concentration0),
    "Laplace": lambda loc=0.0, scale=1.0: d.Laplace(loc, scale),
    "Levy": lambda loc, scale: d.Levy(loc, scale),
    "LogNormal": lambda loc=0.0, scale=1.0: d.LogNormal(loc, scale),
    "LogUniform": lambda low, high: d.LogUniform(low, high),
    "Logistic": lambda loc=0.0, scale=1.0: d.Logistic(loc, scale),
    "NegativeBinomial": (
        lambda total_count, probs: d.NegativeBinomial(r=total_count, q=probs),
        lambda total_count, *, logits: d.NegativeBinomial(r=total_count, log_odds=logits),
    ),
    "NegativeBinomial2": lambda mean, concentration: d.NegativeBinomial(mean=mean, dispersion=concentration),
    "NegativeBinomialLogits": lambda total_count, logits: d.NegativeBinomial(r=total_count, log_odds=logits),
    "NegativeBinomialProbs": lambda total_count, probs: d.NegativeBinomial(r=total_count, q=probs),
    "Normal": lambda loc=0.0, scale=1.0: d.Normal(loc, scale),
    "Pareto": lambda scale, alpha: d.Pareto(shape=alpha, scale=scale),
    "Poisson": lambda rate: d.Poisson(rate),
    "RelaxedBernoulli": (
        lambda temperature, probs: d.RelaxedBernoulli(temperature=temperature, p=probs),
        lambda temperature, *, logits: d.RelaxedBernoulli(temperature=temperature, logit=logits),
    ),
    "RelaxedBernoulliLogits": lambda temperature, logits: d.RelaxedBernoulli(temperature=temperature, logit=logits),
    "StudentT": lambda df, loc=0.0, scale=1.0: d.StudentT(df, loc, scale),
    "TruncatedCauchy": lambda loc=0.0, scale=1.0, *, low=-math.inf, high=math.inf: d.TruncatedCauchy(
        loc, scale, low, high
    ),
    "TruncatedNormal": lambda loc=0.0, scale=1.0, *, low=-math.inf, high=math.inf: d.TruncatedNormal(
        loc, scale, low, high
    ),
    "Uniform": lambda low=0.0, high=1.0: d.Uniform(low, high),
    "VonMises": lambda loc, concentration: d.VonMises(loc, concentration),
    "Weibull": lambda scale, concentration: d.Weibull(shape=concentration, scale=scale),
    "ZeroInflatedNegativeBinomial2": lambda mean, concentration, *, gate: d.ZeroInflatedNegativeBinomial(
        gate=gate, mean=mean, dispersion=concentration
    ),
    "ZeroInflatedPoisson": lambda gate, rate=1.0: d.ZeroInflatedPoisson(gate, rate),
}

PYMC: dict[str, Way | Sequence[Way]] = {
    "AsymmetricLaplace": (
        lambda kappa, mu, b: d.AsymmetricLaplace(loc=mu, rate=b, asymmetry=kappa),
        lambda *, mu, b, q: d.AsymmetricLaplace(loc=mu, rate=b, asymmetry=(q / (1.0 - q)) ** 0.5),
    ),
    "Bernoulli": (lambda p: d.Bernoulli(p=p), lambda *, logit_p: d.Bernoulli(logit=logit_p)),
    "Beta": (
        lambda alpha, beta: d.Beta(alpha, beta),
        lambda *, mu, sigma: d.Beta(mean=mu, sd=sigma),
        lambda *, mu, nu: d.Beta(mean=mu, concentration=nu),
    ),
    "BetaBinomial": lambda alpha, beta, n: d.BetaBinomial(n, alpha, beta),
    "Binomial": (lambda n, p: d.Binomial(n=n, p=p), lambda n, *, logit_p: d.Binomial(n=n, logit=logit_p)),
    "Cauchy": lambda alpha, beta: d.Cauchy(alpha, beta),
    "ChiSquared": lambda nu: d.Chi2(nu),
    "DiracDelta": lambda c: d.Dirac(c),
    "DiscreteUniform": lambda lower, upper: d.DiscreteUniform(lower, upper),
    "DiscreteWeibull": lambda q, beta: d.DiscreteWeibull(q, beta),
    "ExGaussian": lambda mu=0.0, sigma=1.0, nu=1.0: d.ExGaussian(loc=mu, scale=sigma, nu=nu),
    "Exponential": (lambda lam: d.Exponential(rate=lam), lambda *, scale: d.Exponential(scale=scale)),
    "Gamma": (
        lambda alpha, beta: d.Gamma(shape=alpha, rate=beta),
        lambda *, mu, sigma: d.Gamma(mean=mu, sd=sigma),
    ),
    "Geometric": lambda p: _moved(d.Geometric(p=p), 1.0),  # trials up to the first success, not failures before it
    "Gumbel": lambda mu, beta: d.Gumbel(mu, beta),
    "HalfCauchy": lambda beta: d.HalfCauchy(beta),
    "HalfNormal": (lambda sigma=1.0: d.HalfNormal(scale=sigma), lambda *, tau: d.HalfNormal(precision=tau)),
    "HalfStudentT": (
        lambda nu, sigma=1.0: d.HalfStudentT(df=nu, scale=sigma),
        lambda nu, *, lam: d.HalfStudentT(df=nu, precision=lam),
    ),
    "HurdleGamma": (
        lambda psi, alpha, beta: d.HurdleGamma(gate=1.0 - psi, shape=alpha, rate=beta),
        lambda psi, *, mu, sigma: d.HurdleGamma(gate=1.0 - psi, mean=mu, sd=sigma),
    ),
    "HurdleLogNormal": lambda psi, mu=0.0, sigma=1.0: d.HurdleLogNormal(1.0 - psi, mu, sigma),
    "HurdleNegativeBinomial": (
        lambda psi, mu, alpha: d.HurdleNegativeBinomial(gate=1.0 - psi, mean=mu, dispersion=alpha),
        lambda psi, *, p, n: d.HurdleNegativeBinomial(gate=1.0 - psi, r=n, p=p),
    ),
    "HurdlePoisson": lambda psi, mu: d.HurdlePoisson(1.0 - psi, mu),
    "HyperGeometric": lambda N, k, n: d.Hypergeometric(population=N, successes=k, draws=n),
    "InverseGamma": (
        lambda alpha, beta=1.0: d.InverseGamma(shape=alpha, scale=beta),
        lambda *, mu, sigma: d.InverseGamma(mean=mu, sd=sigma),
    ),
    "Kumaraswamy": lambda a, b: d.Kumaraswamy(a, b),
    "Laplace": lambda mu, b: d.Laplace(mu, b),
    "LogNormal": (
        lambda mu=0.0, sigma=1.0: d.LogNormal(loc=mu, scale=sigma),
        lambda mu=0.0, *, tau: d.LogNormal(loc=mu, precision=tau),
    ),
    "Logistic": lambda mu=0.0, s=1.0: d.Logistic(mu, s),
    "LogitNormal": (
        lambda mu=0.0, sigma=1.0: d.LogitNormal(loc=mu, scale=sigma),
        lambda mu=0.0, *, tau: d.LogitNormal(loc=mu, precision=tau),
    ),
    "Moyal": lambda mu=0.0, sigma=1.0: d.Moyal(mu, sigma),
    "NegativeBinomial": (
        lambda mu, alpha: d.NegativeBinomial(mean=mu, dispersion=alpha),
        lambda *, p, n: d.NegativeBinomial(r=n, p=p),
        lambda *, mu, n: d.NegativeBinomial(mean=mu, dispersion=n),
        lambda *, p, alpha: d.NegativeBinomial(r=alpha, p=p),
    ),
    "Normal": (
        lambda mu=0.0, sigma=1.0: d.Normal(mean=mu, sd=sigma),
        lambda mu=0.0, *, tau: d.Normal(mean=mu, precision=tau),
    ),
    "Pareto": lambda alpha, m: d.Pareto(shape=alpha, scale=m),
    "Poisson": lambda mu: d.Poisson(rate=mu),
    "Rice": (lambda nu, sigma=1.0: d.Rice(nu=nu, scale=sigma), lambda *, b, sigma=1.0: d.Rice(b=b, scale=sigma)),
    "SkewNormal": (
        lambda mu=0.0, sigma=1.0, alpha=1.0: d.SkewNormal(loc=mu, scale=sigma, shape=alpha),
        lambda mu=0.0, *, tau, alpha=1.0: d.SkewNormal(loc=mu, precision=tau, shape=alpha),
    ),
    "StudentT": (
        lambda nu, mu=0.0, sigma=1.0: d.StudentT(df=nu, loc=mu, scale=sigma),
        lambda nu, mu=0.0, *, lam: d.StudentT(df=nu, loc=mu, precision=lam),
    ),
    "Triangular": lambda lower=0.0, upper=1.0, c=0.5: d.Triangular(low=lower, high=upper, peak=c),
    "TruncatedNormal": (
        lambda mu=0.0, sigma=1.0, *, lower=-math.inf, upper=math.inf: d.TruncatedNormal(mu, sigma, lower, upper),
        lambda mu=0.0, *, tau, lower=-math.inf, upper=math.inf: d.TruncatedNormal(mu, tau**-0.5, lower, upper),
    ),
    "Uniform": lambda lower=0.0, upper=1.0: d.Uniform(lower, upper),
    "VonMises": lambda mu=0.0, kappa=1.0: d.VonMises(mu, kappa),
    "Wald": (
        lambda mu=1.0, lam=1.0, *, alpha=0.0: _moved(d.InverseGaussian(mean=mu, shape=lam), alpha),
        lambda *, mu, phi, alpha=0.0: _moved(d.InverseGaussian(mean=mu, phi=phi), alpha),
        lambda *, lam, phi, alpha=0.0: _moved(d.InverseGaussian(mean=lam / phi, shape=lam), alpha),
    ),
    "Weibull": lambda alpha, beta: d.Weibull(shape=alpha, scale=beta),
    "ZeroInflatedBinomial": lambda psi, n, p: d.ZeroInflatedBinomial(1.0 - psi, n, p),
    "ZeroInflatedNegativeBinomial": (
        lambda psi, mu, alpha: d.ZeroInflatedNegativeBinomial(gate=1.0 - psi, mean=mu, dispersion=alpha),
        lambda psi, *, p, n: d.ZeroInflatedNegativeBinomial(gate=1.0 - psi, r=n, p=p),
    ),
    "ZeroInflatedPoisson": lambda psi, mu: d.ZeroInflatedPoisson(1.0 - psi, mu),
}

SCIPY: dict[str, Way | Sequence[Way]] = {
    "arcsine": lambda loc=0, scale=1: d.Arcsine(loc, loc + scale),
    "bernoulli": lambda p, loc=0: _moved(d.Bernoulli(p=p), loc),
    "beta": lambda a, b, loc=0, scale=1: _moved(d.Beta(a, b), loc, scale),
    "betabinom": lambda n, a, b, loc=0: _moved(d.BetaBinomial(n, a, b), loc),
    "betanbinom": lambda n, a, b, loc=0: _moved(d.BetaNegativeBinomial(n, a, b), loc),
    "betaprime": lambda a, b, loc=0, scale=1: _moved(d.BetaPrime(a, b), loc, scale),
    "binom": lambda n, p, loc=0: _moved(d.Binomial(n=n, p=p), loc),
    "cauchy": lambda loc=0, scale=1: d.Cauchy(loc, scale),
    "chi": lambda df, loc=0, scale=1: _moved(d.Chi(df), loc, scale),
    "chi2": lambda df, loc=0, scale=1: _moved(d.Chi2(df), loc, scale),
    "cosine": lambda loc=0, scale=1: d.Cosine(loc, math.pi * scale),
    "erlang": lambda a, loc=0, scale=1: _moved(d.Erlang(a, scale), loc),
    "expon": lambda loc=0, scale=1: _moved(d.Exponential(scale=scale), loc),
    "exponnorm": lambda K, loc=0, scale=1: d.ExGaussian(loc=loc, scale=scale, nu=K * scale),
    "f": lambda dfn, dfd, loc=0, scale=1: _moved(d.FisherSnedecor(dfn, dfd), loc, scale),
    "fisk": lambda c, loc=0, scale=1: _moved(d.LogLogistic(scale=scale, shape=c), loc),
    "gamma": lambda a, loc=0, scale=1: _moved(d.Gamma(a, scale), loc),
    "genextreme": lambda c, loc=0, scale=1: d.GeneralizedExtremeValue(loc=loc, scale=scale, shape=-c),
    "gennorm": lambda beta, loc=0, scale=1: d.GeneralizedNormal(loc=loc, scale=scale, power=beta),
    "genpareto": lambda c, loc=0, scale=1: d.GeneralizedPareto(loc=loc, scale=scale, shape=c),
    "geom": lambda p, loc=0: _moved(d.Geometric(p=p), loc + 1.0),
    "gompertz": lambda c, loc=0, scale=1: _moved(d.Gompertz(shape=c, scale=scale), loc),
    "gumbel_r": lambda loc=0, scale=1: d.Gumbel(loc, scale),
    "halfcauchy": lambda loc=0, scale=1: _moved(d.HalfCauchy(scale), loc),
    "halfnorm": lambda loc=0, scale=1: _moved(d.HalfNormal(scale=scale), loc),
    "hypergeom": lambda M, n, N, loc=0: _moved(d.Hypergeometric(population=M, successes=n, draws=N), loc),
    "invgamma": lambda a, loc=0, scale=1: _moved(d.InverseGamma(a, scale), loc),
    "invgauss": lambda mu, loc=0, scale=1: _moved(d.InverseGaussian(mean=mu * scale, shape=scale), loc),
    "invweibull": lambda c, loc=0, scale=1: _moved(d.Frechet(c, scale), loc),
    "johnsonsu": lambda a, b, loc=0, scale=1: d.JohnsonSU(loc=loc, scale=scale, gamma=a, delta=b),
    "laplace": lambda loc=0, scale=1: d.Laplace(loc, scale),
    "laplace_asymmetric": lambda kappa, loc=0, scale=1: d.AsymmetricLaplace(loc, scale, kappa),
    "levy": lambda loc=0, scale=1: d.Levy(loc, scale),
    "logistic": lambda loc=0, scale=1: d.Logistic(loc, scale),
    "lognorm": lambda s, loc=0, scale=1: _moved(d.LogNormal(np.log(scale), s), loc),
    "loguniform": lambda a, b, loc=0, scale=1: _moved(d.LogUniform(a * scale, b * scale), loc),
    "lomax": lambda c, loc=0, scale=1: d.Lomax(loc=loc, scale=scale, shape=c),
    "moyal": lambda loc=0, scale=1: d.Moyal(loc, scale),
    "nbinom": lambda n, p, loc=0: _moved(d.NegativeBinomial(r=n, p=p), loc),
    "ncx2": lambda df, nc, loc=0, scale=1: _moved(d.NoncentralChi2(df, nc), loc, scale),
    "norm": lambda loc=0, scale=1: d.Normal(loc, scale),
    "norminvgauss": lambda a, b, loc=0, scale=1: d.NormalInverseGaussian(loc, a / scale, b / scale, scale),
    "pareto": lambda b, loc=0, scale=1: _moved(d.Pareto(b, scale), loc),
    "poisson": lambda mu, loc=0: _moved(d.Poisson(rate=mu), loc),
    "randint": lambda low, high, loc=0: d.DiscreteUniform(low + loc, high + loc - 1),
    "rayleigh": lambda loc=0, scale=1: _moved(d.Rayleigh(scale), loc),
    "rice": lambda b, loc=0, scale=1: _moved(d.Rice(b=b, scale=scale), loc),
    "semicircular": lambda loc=0, scale=1: _moved(d.Semicircle(scale), loc),
    "skellam": lambda mu1, mu2, loc=0: _moved(d.Skellam(mu1, mu2), loc),
    "skewnorm": lambda a, loc=0, scale=1: d.SkewNormal(loc=loc, scale=scale, shape=a),
    "t": lambda df, loc=0, scale=1: d.StudentT(df, loc, scale),
    "triang": lambda c, loc=0, scale=1: d.Triangular(loc, loc + scale, loc + c * scale),
    "truncnorm": lambda a, b, loc=0, scale=1: d.TruncatedNormal(loc, scale, loc + a * scale, loc + b * scale),
    "uniform": lambda loc=0, scale=1: d.Uniform(loc, loc + scale),
    "vonmises": lambda kappa, loc=0: d.VonMises(loc, kappa),
    "weibull_min": lambda c, loc=0, scale=1: _moved(d.Weibull(shape=c, scale=scale), loc),
    "yulesimon": lambda alpha, loc=0: _moved(d.YuleSimon(alpha), loc),
    "zipf": lambda a, loc=0: _moved(d.Zipf(a), loc),
}
