"""Posteriors that clients sample from, and their moments by quadrature in NumPy and SciPy."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special, stats

import vecdist
from vecdist import LogDensity, logpdf
from vecdist.datasets import eight_schools
from vecdist.distributions import Bernoulli, Exponential, Gamma, HalfCauchy, HalfNormal, Normal, Poisson
from vecdist.parameters import interval, ordered, positive, real
from vecdist.samplers import ess, rhat

FAR = 4.5  # standard errors
_RNG = np.random.default_rng(2024)


@dataclass(frozen=True)
class Target:
    """A log density, the quantities of its parameters that are compared, and their exact means and deviations."""

    density: LogDensity
    quantities: Callable[[Mapping[str, np.ndarray]], np.ndarray]  # in the last axis
    mean: np.ndarray
    scale: np.ndarray

    def check(self, draws, at_least=400):
        """Means and deviations of flat draws (chains, draws, D) are as near to the exact ones as their sizes allow."""
        self.check_quantities(self.quantities(self.density.unpack(draws)), at_least)

    def check_quantities(self, found, at_least=400):
        assert np.max(rhat(found)) < 1.05
        squares = ((found - self.mean) / self.scale) ** 2
        for values, wanted, enough in ((found, self.mean, at_least), (squares, 1.0, at_least / 2)):
            sizes = ess(values)
            assert np.min(sizes) > enough, sizes
            distance = (values.mean(axis=(0, 1)) - wanted) / (values.std(axis=(0, 1)) / np.sqrt(sizes))
            assert np.max(np.abs(distance)) < FAR, distance


def moments(log, quantities):
    """The means and deviations of quantities (points, n) under weights in proportion to exp(log)."""
    weights = special.softmax(log)
    mean = weights @ quantities
    return mean, np.sqrt(weights @ (quantities - mean) ** 2)


def grid(log_posterior, start, count=41, reach=7.0):
    """Points that cover a posterior, by its curvature at the mode, the log posterior there, and a cell's log volume."""
    found = optimize.minimize(lambda x: -log_posterior(x[None])[0], start, method="BFGS")
    widths = reach * np.sqrt(np.diag(found.hess_inv))
    axes = [np.linspace(m - w, m + w, count) for m, w in zip(found.x, widths, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    parts = np.array_split(points, 64)
    return points, np.concatenate([log_posterior(part) for part in parts]), np.log(2 * widths / (count - 1)).sum()


# Eight schools, non-centred.

EFFECTS, ERRORS = eight_schools()


def schools_model(eta, mu, tau):
    prior = logpdf(Normal(0.0, 1.0), eta), logpdf(Normal(0.0, 5.0), mu), logpdf(HalfCauchy(5.0), tau)
    likelihood = logpdf(Normal(mu + tau * eta, vecdist.data(ERRORS)), vecdist.data(EFFECTS))
    return {"prior": (prior[0].sum(), *prior[1:]), "likelihood": {"effects": likelihood}}


def schools_density():
    axes = {"eta": ("school",), "effects": ("school",)}
    return LogDensity(
        schools_model, eta=real(8), mu=real(), tau=positive(), dims=axes, coords={"school": list("ABCDEFGH")}
    )


@functools.cache
def schools():
    """Given mu and tau all else is normal: a grid over these two."""
    mu, log_tau = np.linspace(-30.0, 40.0, 701)[:, None, None], np.linspace(-12.0, 6.0, 1201)[:, None]
    tau = np.exp(log_tau)
    log = stats.norm.logpdf(mu[..., 0], 0.0, 5.0) + (stats.halfcauchy.logpdf(tau, 0.0, 5.0) + log_tau)[:, 0]
    log = log + stats.norm.logpdf(EFFECTS, mu, np.sqrt(tau**2 + ERRORS**2)).sum(axis=-1)
    weights = special.softmax(log)
    variance = 1.0 / (1.0 + tau**2 / ERRORS**2)
    centre = variance * tau / ERRORS**2 * (EFFECTS - mu)
    first = np.einsum("mt,mtn->n", weights, centre)
    second = np.einsum("mt,mtn->n", weights, centre**2 + variance)
    rest = np.stack(np.broadcast_arrays(mu[..., 0], log_tau[:, 0]), axis=-1).reshape(-1, 2)
    mean, scale = moments(log.ravel(), rest)
    mean, scale = np.concatenate([first, mean]), np.concatenate([np.sqrt(second - first**2), scale])
    return Target(schools_density(), schools_quantities, mean, scale)


def schools_quantities(p):
    return np.concatenate([p["eta"], p["mu"][..., None], np.log(p["tau"])[..., None]], axis=-1)


# A regression of Gamma responses.

SLOPES = np.column_stack([np.ones(50), _RNG.normal(size=50)])
TIMES = _RNG.gamma(2.5, np.exp(SLOPES @ [0.4, 0.8]) / 2.5)


def gamma_model(beta, shape):
    mean = np.exp((vecdist.data(SLOPES) * beta).sum(axis=1))
    prior = logpdf(Normal(0.0, 2.0), beta).sum(), logpdf(Exponential(2.0), shape)
    return {"prior": prior, "likelihood": {"times": logpdf(Gamma(shape, mean / shape), vecdist.data(TIMES))}}


def gamma_log_posterior(x):
    beta, shape = x[:, :2], np.exp(x[:, 2])
    mean = np.exp(beta @ SLOPES.T)
    prior = stats.norm.logpdf(beta, 0.0, 2.0).sum(axis=1) + stats.expon.logpdf(shape, scale=2.0) + x[:, 2]
    return prior + stats.gamma.logpdf(TIMES, shape[:, None], scale=mean / shape[:, None]).sum(axis=1)


def gamma_quantities(p):
    return np.concatenate([p["beta"], np.log(p["shape"])[..., None]], axis=-1)


@functools.cache
def gamma_grid(count=41):
    """Means, deviations and the log evidence."""
    points, log, volume = grid(gamma_log_posterior, np.array([0.4, 0.8, 0.9]), count)
    return *moments(log, points), special.logsumexp(log) + volume


@functools.cache
def gamma():
    mean, scale, _ = gamma_grid()
    return Target(LogDensity(gamma_model, beta=real(2), shape=positive()), gamma_quantities, mean, scale)


# A logistic regression.

DOSES = np.column_stack([np.ones(60), _RNG.normal(size=(60, 2))])
DEATHS = _RNG.binomial(1, special.expit(DOSES @ [-0.3, 1.0, -0.7]))


def logistic_model(beta):
    logit = (vecdist.data(DOSES) * beta).sum(axis=1)
    return logpdf(Normal(0.0, 2.0), beta).sum(), logpdf(Bernoulli(logit=logit), vecdist.data(DEATHS)).sum()


def logistic_log_posterior(x):
    sign = 2 * DEATHS - 1
    return stats.norm.logpdf(x, 0.0, 2.0).sum(axis=1) + special.log_expit(sign * (x @ DOSES.T)).sum(axis=1)


@functools.cache
def logistic_grid(count=41):
    points, log, volume = grid(logistic_log_posterior, np.zeros(3), count)
    return *moments(log, points), special.logsumexp(log) + volume


@functools.cache
def logistic():
    mean, scale, _ = logistic_grid()
    return Target(LogDensity(logistic_model, beta=real(3)), lambda p: p["beta"], mean, scale)


# A Poisson regression whose intercepts vary by group, non-centred.

GROUP = np.repeat(np.arange(12), 4)
EXPOSED = _RNG.normal(size=48)
COUNTS = _RNG.poisson(np.exp(_RNG.normal(1.0, 0.7, size=12)[GROUP] + 0.4 * EXPOSED))


def poisson_model(z, mu, tau, slope):
    prior = logpdf(Normal(0.0, 1.0), z).sum(), logpdf(Normal(0.0, 2.0), mu), logpdf(HalfNormal(1.0), tau)
    log_rate = (mu + tau * z)[vecdist.data(GROUP)] + slope * vecdist.data(EXPOSED)
    counted = logpdf(Poisson(log_rate=log_rate), vecdist.data(COUNTS))
    return {"prior": (*prior, logpdf(Normal(0.0, 1.0), slope)), "likelihood": {"counts": counted}}


def poisson_quantities(p):
    return np.stack([p["mu"], np.log(p["tau"]), p["slope"]], axis=-1)


@functools.cache
def poisson_grid(fine=1):
    """Given mu, tau and the slope groups are independent: the intercept of each is integrated over by a sum."""
    mu, log_tau = np.linspace(-2.0, 3.5, 36 * fine + 1), np.linspace(-13.0, 2.5, 104 * fine + 1)
    slope, z = np.linspace(-0.6, 1.2, 24 * fine + 1), np.linspace(-8.0, 8.0, 64 * fine + 1)
    log = np.zeros((len(slope), len(mu), len(log_tau)))
    intercept = mu[:, None, None] + np.exp(log_tau)[:, None] * z
    rate = np.exp(intercept)
    for place, b in enumerate(slope):
        for group in range(12):
            own = group == GROUP
            exposed, counts = np.exp(b * EXPOSED[own]).sum(), COUNTS[own].sum()
            terms = counts * intercept - exposed * rate - 0.5 * z**2
            most = terms.max(axis=-1)
            log[place] += most + np.log(np.exp(terms - most[..., None]).sum(axis=-1))
        log[place] += b * (COUNTS * EXPOSED).sum()
    log += stats.norm.logpdf(mu, 0.0, 2.0)[:, None] + stats.halfnorm.logpdf(np.exp(log_tau)) + log_tau
    log += stats.norm.logpdf(slope)[:, None, None]
    of_slope, of_mu, of_log_tau = np.meshgrid(slope, mu, log_tau, indexing="ij")
    return moments(log.ravel(), np.stack([of_mu, of_log_tau, of_slope], axis=-1).reshape(-1, 3))


@functools.cache
def poisson():
    density = LogDensity(poisson_model, z=real(12), mu=real(), tau=positive(), slope=real())
    return Target(density, poisson_quantities, *poisson_grid())


# A mixture of two normal distributions, whose means are in order.

SEEN = np.concatenate([_RNG.normal(-1.5, 1.0, size=30), _RNG.normal(2.0, 1.0, size=50)])


def mixture_model(means, weight):
    logs = np.log(weight), np.log1p(-weight)
    terms = [log + logpdf(Normal(means[place], 1.0), vecdist.data(SEEN)) for place, log in enumerate(logs)]
    return logpdf(Normal(0.0, 5.0), means).sum(), np.logaddexp(*terms).sum()


def mixture_log_posterior(x):
    """Over the lower mean, the logarithm of the distance to the upper one, and the logit of the weight."""
    lower, upper, weight = x[:, 0], x[:, 0] + np.exp(x[:, 1]), special.expit(x[:, 2])
    prior = stats.norm.logpdf(lower, 0.0, 5.0) + stats.norm.logpdf(upper, 0.0, 5.0)
    volume = x[:, 1] + np.log(weight) + np.log1p(-weight)
    terms = [
        np.log(share)[:, None] + stats.norm.logpdf(SEEN, mean[:, None])
        for share, mean in ((weight, lower), (1 - weight, upper))
    ]
    return prior + volume + np.logaddexp(*terms).sum(axis=1)


def mixture_quantities(p):
    return np.concatenate([p["means"], p["weight"][..., None]], axis=-1)


@functools.cache
def mixture_grid(count=41):
    points, log, _ = grid(mixture_log_posterior, np.array([-1.5, 1.2, 0.0]), count)
    lower, apart, weight = points.T
    return moments(log, np.stack([lower, lower + np.exp(apart), special.expit(weight)], axis=-1))


@functools.cache
def mixture():
    density = LogDensity(mixture_model, means=ordered(2), weight=interval(0.0, 1.0))
    return Target(density, mixture_quantities, *mixture_grid())


TARGETS = {"schools": schools, "gamma": gamma, "logistic": logistic, "poisson": poisson, "mixture": mixture}
