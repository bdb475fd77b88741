"""Models as users write them, each beside the same log density in NumPy and SciPy."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from vecdist import log_mix, log_softmax, logpdf, logsumexp, mixture, softmax
from vecdist.distributions import Bernoulli, Exponential, HalfCauchy, NegativeBinomial, Normal, Poisson


@dataclass(frozen=True)
class Model:
    """A log density of lazy arrays, the same of NumPy arrays, and what makes arguments for both.

    ``data(rng, n)`` gives the arguments by name, for about ``n`` observations; gradients are in ``parameters``.
    """

    density: Callable
    oracle: Callable
    data: Callable
    parameters: tuple[str, ...]

    def arguments(self, n, dtype="f8"):
        """The arguments for about ``n`` observations, the same at every call."""
        drawn = self.data(np.random.default_rng(n), n)
        return {name: a.astype(dtype) if a.dtype.kind == "f" else a for name, a in drawn.items()}


MODELS = {}


def model(name, data, parameters, oracle):
    """Put a density into the table, beside its oracle and data."""

    def put(density):
        MODELS[name] = Model(density, oracle, data, tuple(parameters.split()))
        return density

    return put


def design(rng, n, columns=3):
    """An intercept, a matrix of covariates, and coefficients for them."""
    x, beta = rng.normal(size=(n, columns)), rng.normal(scale=0.4, size=columns)
    return {"alpha": np.array(0.3), "beta": beta, "x": x}


def linear_data(rng, n):
    weights = rng.uniform(0.5, 2.0, n)
    return {**design(rng, n), "log_sigma": np.array(-0.2), "y": rng.normal(size=n), "weights": weights}


def linear_oracle(alpha, beta, x, log_sigma, y, weights):
    each = stats.norm.logpdf(y, alpha + x @ beta, np.exp(log_sigma))
    return np.sum(weights * each) + stats.norm.logpdf(beta, 0.0, 2.0).sum() + stats.norm.logpdf(log_sigma)


@model("weighted linear regression", linear_data, "alpha beta log_sigma", linear_oracle)
def linear_regression(alpha, beta, x, log_sigma, y, weights):
    each = logpdf(Normal(alpha + x @ beta, np.exp(log_sigma)), y)
    return (weights * each).sum() + logpdf(Normal(0.0, 2.0), beta).sum() + logpdf(Normal(0.0, 1.0), log_sigma)


def logistic_data(rng, n):
    return {**design(rng, n), "y": rng.integers(0, 2, n)}


def logistic_oracle(alpha, beta, x, y):
    likelihood = stats.bernoulli.logpmf(y, special.expit(alpha + x @ beta)).sum()
    return likelihood + stats.norm.logpdf(beta, 0.0, 2.5).sum()


@model("logistic regression", logistic_data, "alpha beta", logistic_oracle)
def logistic_regression(alpha, beta, x, y):
    return logpdf(Bernoulli(logit=alpha + x @ beta), y).sum() + logpdf(Normal(0.0, 2.5), beta).sum()


def count_data(rng, n):
    counts = {"y": rng.poisson(2.0, n), "exposure": rng.uniform(0.5, 3.0, n), "weights": rng.uniform(0.5, 2.0, n)}
    return {**design(rng, n), **counts}


def poisson_oracle(alpha, beta, x, y, exposure, weights):
    return np.sum(weights * stats.poisson.logpmf(y, exposure * np.exp(alpha + x @ beta)))


@model("Poisson regression", count_data, "alpha beta", poisson_oracle)
def poisson_regression(alpha, beta, x, y, exposure, weights):
    return (weights * logpdf(Poisson(log_rate=alpha + x @ beta + np.log(exposure)), y)).sum()


def overdispersed_data(rng, n):
    return {**design(rng, n), "log_size": np.array(0.4), "y": rng.poisson(3.0, n), "offset": rng.normal(size=n)}


def overdispersed_oracle(alpha, beta, x, log_size, y, offset):
    mean, size = np.exp(alpha + x @ beta + offset), np.exp(log_size)
    return stats.nbinom.logpmf(y, size, size / (size + mean)).sum() + stats.norm.logpdf(log_size)


@model("negative-binomial regression", overdispersed_data, "alpha beta log_size", overdispersed_oracle)
def negative_binomial_regression(alpha, beta, x, log_size, y, offset):
    counts = NegativeBinomial(log_mean=alpha + x @ beta + offset, dispersion=np.exp(log_size))
    return logpdf(counts, y).sum() + logpdf(Normal(0.0, 1.0), log_size)


def schools_data(rng, n):
    effects, errors = rng.normal(8.0, 10.0, n), rng.uniform(9.0, 18.0, n)
    return {"mu": np.array(4.0), "log_tau": np.array(1.1), "z": rng.normal(size=n), "y": effects, "se": errors}


def schools_oracle(mu, log_tau, theta, y, se):
    prior = stats.norm.logpdf(mu, 0.0, 5.0) + stats.halfcauchy.logpdf(np.exp(log_tau), scale=5.0) + log_tau
    return prior + stats.norm.logpdf(theta, mu, np.exp(log_tau)).sum() + stats.norm.logpdf(y, theta, se).sum()


@model("eight schools, centred", schools_data, "mu log_tau z", schools_oracle)
def schools(mu, log_tau, z, y, se):
    tau = np.exp(log_tau)
    prior = logpdf(Normal(0.0, 5.0), mu) + logpdf(HalfCauchy(5.0), tau) + log_tau
    return prior + logpdf(Normal(mu, tau), z).sum() + logpdf(Normal(z, se), y).sum()


def standard_schools_oracle(mu, log_tau, z, y, se):
    """The density of the effects, times the volume that a unit of ``z`` has in them."""
    return schools_oracle(mu, log_tau, mu + np.exp(log_tau) * z, y, se) + z.size * log_tau


@model("eight schools, non-centred", schools_data, "mu log_tau z", standard_schools_oracle)
def standard_schools(mu, log_tau, z, y, se):
    tau = np.exp(log_tau)
    prior = logpdf(Normal(0.0, 5.0), mu) + logpdf(HalfCauchy(5.0), tau) + log_tau + logpdf(Normal(0.0, 1.0), z).sum()
    return prior + logpdf(Normal(mu + tau * z, se), y).sum()


def crossed_data(rng, n):
    persons, items = 2 + n // 4, 3 + n // 8
    effects = {"a": rng.normal(size=persons), "b": rng.normal(size=items), "c": rng.normal(0.0, 0.4, persons)}
    groups = {"person": rng.integers(0, persons, n), "item": rng.integers(0, items, n).astype("i4")}
    return {**effects, "log_sd": np.array([-0.3, 0.2, -0.8, 0.1]), "x": rng.normal(size=n), "y": rng.normal(size=n),
            **groups}


def crossed_oracle(a, b, c, log_sd, x, y, person, item):
    sd = np.exp(log_sd)
    mean = np.array([a[p] + b[i] + c[p] * v for p, i, v in zip(person, item, x, strict=True)])
    effects = [stats.norm.logpdf(each, 0.0, scale).sum() for each, scale in zip((a, b, c), sd, strict=False)]
    return stats.norm.logpdf(y, mean, sd[3]).sum() + sum(effects) + stats.expon.logpdf(sd).sum()


@model("crossed intercepts and slopes", crossed_data, "a b c log_sd", crossed_oracle)
def crossed_effects(a, b, c, log_sd, x, y, person, item):
    sd = np.exp(log_sd)
    effects = [logpdf(Normal(0.0, sd[k]), each).sum() for k, each in enumerate((a, b, c))]
    likelihood = logpdf(Normal(a[person] + b[item] + c[person] * x, sd[3]), y).sum()
    return likelihood + sum(effects) + logpdf(Exponential(1.0), sd).sum()


def mixture_data(rng, n, components=3):
    where = {"mu": np.array([-2.0, 0.3, 2.5])[:components], "log_sigma": rng.normal(scale=0.3, size=components)}
    return {"logits": rng.normal(size=components), **where, "y": rng.normal(scale=2.0, size=n)}


def mixture_oracle(logits, mu, log_sigma, y):
    densities = special.softmax(logits) * stats.norm.pdf(y[:, None], mu, np.exp(log_sigma))
    return np.log(densities.sum(axis=1)).sum() + stats.norm.logpdf(mu, 0.0, 3.0).sum()


@model("normal mixture", mixture_data, "logits mu log_sigma", mixture_oracle)
def normal_mixture(logits, mu, log_sigma, y):
    likelihood = logpdf(mixture(softmax(logits), Normal(mu, np.exp(log_sigma))), y).sum()
    return likelihood + logpdf(Normal(0.0, 3.0), mu).sum()


@model("normal mixture by logsumexp", mixture_data, "logits mu log_sigma", mixture_oracle)
def summed_mixture(logits, mu, log_sigma, y):
    each = log_softmax(logits) + logpdf(Normal(mu, np.exp(log_sigma)), y[:, None])
    return logsumexp(each, axis=1).sum() + logpdf(Normal(0.0, 3.0), mu).sum()


def inflated_data(rng, n):
    return {**design(rng, n, 2), "logit": np.array(-0.7), "y": rng.poisson(1.5, n) * rng.integers(0, 2, n)}


def inflated_oracle(alpha, beta, x, logit, y):
    zero, rate = special.expit(logit), np.exp(alpha + x @ beta)
    return np.log(zero * (y == 0) + (1 - zero) * stats.poisson.pmf(y, rate)).sum()


@model("zero-inflated Poisson", inflated_data, "alpha beta logit", inflated_oracle)
def zero_inflated_poisson(alpha, beta, x, logit, y):
    of_zero = np.array([True, False])
    log_weights = -np.logaddexp(0.0, np.where(of_zero, -logit, logit))
    counts = logpdf(Poisson(log_rate=alpha + x @ beta), y)
    point = np.where(y == 0, 0.0, -np.inf).astype(counts.dtype)
    return log_mix(log_weights, np.where(of_zero, point[:, None], counts[:, None])).sum()


def series_data(rng, n):
    return {"level": np.array(0.2), "phi": np.array([0.5, -0.3]), "log_sigma": np.array(0.1), "y": rng.normal(size=n)}


def series_oracle(level, phi, log_sigma, y):
    means = [level + phi[0] * y[t - 1] + phi[1] * y[t - 2] for t in range(2, len(y))]
    return stats.norm.logpdf(y[2:], means, np.exp(log_sigma)).sum()


@model("autoregression of order two", series_data, "level phi log_sigma y", series_oracle)
def autoregression(level, phi, log_sigma, y):
    return logpdf(Normal(level + phi[0] * y[1:-1] + phi[1] * y[:-2], np.exp(log_sigma)), y[2:]).sum()


def response_data(rng, n):
    people, items = n, 17 + n // 5  # more than kernels know the number of
    of_items = {"difficulty": rng.normal(size=items), "log_discrimination": rng.normal(scale=0.3, size=items)}
    return {"ability": rng.normal(size=people), **of_items, "y": rng.integers(0, 2, (people, items))}


def response_oracle(ability, difficulty, log_discrimination, y):
    logits = np.exp(log_discrimination) * np.subtract.outer(ability, difficulty)
    prior = stats.norm.logpdf(ability).sum() + stats.norm.logpdf(difficulty, 0.0, 2.0).sum()
    return stats.bernoulli.logpmf(y, special.expit(logits)).sum() + prior


@model("item response", response_data, "ability difficulty log_discrimination", response_oracle)
def item_response(ability, difficulty, log_discrimination, y):
    logits = np.exp(log_discrimination) * (ability[:, None] - difficulty)
    prior = logpdf(Normal(0.0, 1.0), ability).sum() + logpdf(Normal(0.0, 2.0), difficulty).sum()
    return logpdf(Bernoulli(logit=logits), y).sum() + prior
