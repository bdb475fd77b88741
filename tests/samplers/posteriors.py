"""Log densities to sample from, and their moments by other means."""

import numpy as np
from scipy import special, stats

import vecdist
from vecdist import logpdf
from vecdist.datasets import eight_schools
from vecdist.distributions import Exponential, Gamma, HalfCauchy, Normal
from vecdist.parameters import positive, real

EFFECTS, ERRORS = eight_schools()

MEAN = np.array([1.0, -2.0, 30.0])
COVARIANCE = np.array([[1.0, 0.8, 0.0], [0.8, 2.0, -3.0], [0.0, -3.0, 25.0]])
PRECISION = np.linalg.inv(COVARIANCE)

_RNG = np.random.default_rng(11)
SLOPES = np.column_stack([np.ones(40), _RNG.normal(size=40)])
COUNTED = _RNG.gamma(2.5, np.exp(SLOPES @ [0.4, 0.8]) / 2.5)
GROUPED = _RNG.normal(_RNG.normal(2.0, 1.5, size=(6, 1)), 1.0, size=(6, 5))


class Gaussian:
    """A normal distribution whose coordinates are of different scales, and correlated."""

    ndim = 3

    def trace(self, x):
        apart = x - MEAN
        return -0.5 * (apart[:, None] * PRECISION * apart).sum()


def eight_schools_model(eta, mu, tau):
    """Rubin's eight schools, non-centred: standardised effects, their mean and scale."""
    prior = logpdf(Normal(0.0, 1.0), eta).sum(), logpdf(Normal(0.0, 5.0), mu), logpdf(HalfCauchy(5.0), tau)
    return {"prior": prior, "likelihood": logpdf(Normal(mu + tau * eta, vecdist.data(ERRORS)), vecdist.data(EFFECTS))}


def eight_schools_density():
    return vecdist.LogDensity(eight_schools_model, eta=real(8), mu=real(), tau=positive())


class GammaRegression:
    """A Gamma regression with logarithmic link: two coefficients, and the logarithm of the shape."""

    ndim = 3

    def trace(self, x):
        shape = np.exp(x[2])
        mean = np.exp((SLOPES * x[:2]).sum(axis=1))
        prior = logpdf(Normal(0.0, 2.0), x[:2]).sum() + logpdf(Exponential(2.0), shape) + x[2]
        return prior + logpdf(Gamma(shape, mean / shape), COUNTED).sum()


class Groups:
    """Means of six groups around a mean of their own, all scales known: normal, and so exact."""

    ndim = 7
    between, within, prior = 1.5, 1.0, 10.0

    def trace(self, x):
        middle, means = x[0], x[1:]
        density = logpdf(Normal(0.0, self.prior), middle) + logpdf(Normal(middle, self.between), means).sum()
        return density + logpdf(Normal(means[:, None], self.within), GROUPED).sum()

    def moments(self):
        precision, linear = np.zeros((7, 7)), np.zeros(7)
        precision[0, 0] = self.prior**-2 + 6 * self.between**-2
        precision[0, 1:] = precision[1:, 0] = -(self.between**-2)
        precision[np.arange(1, 7), np.arange(1, 7)] = self.between**-2 + 5 * self.within**-2
        linear[1:] = GROUPED.sum(axis=1) * self.within**-2
        covariance = np.linalg.inv(precision)
        return covariance @ linear, np.sqrt(np.diag(covariance))


def eight_schools_moments():
    """Means of mu, tau and theta by a grid over mu and log tau, given which the rest is normal."""
    mu, log_tau = np.linspace(-35.0, 45.0, 401)[:, None, None], np.linspace(-12.0, 7.0, 381)[:, None]
    tau = np.exp(log_tau)
    spread = np.sqrt(tau**2 + ERRORS**2)
    log = stats.norm.logpdf(mu[..., 0], 0.0, 5.0) + (stats.halfcauchy.logpdf(tau, 0.0, 5.0) + log_tau)[:, 0]
    for place in range(8):
        log = log + stats.norm.logpdf(EFFECTS[place], mu[..., 0], spread[:, place])
    weights = special.softmax(log)
    shares = tau**2 / spread**2
    theta = [(weights * (mu[..., 0] + shares[:, n] * (EFFECTS[n] - mu[..., 0]))).sum() for n in range(8)]
    return {"mu": (weights * mu[..., 0]).sum(), "tau": (weights * tau[:, 0]).sum(), "theta": np.array(theta)}


def gamma_regression_log_posterior(points):
    """The log posterior at each row of ``points``, by SciPy."""
    coefficients, shape = points[:, :2], np.exp(points[:, 2])
    mean = np.exp(coefficients @ SLOPES.T)
    prior = stats.norm.logpdf(coefficients, 0.0, 2.0).sum(axis=1) + stats.expon.logpdf(shape, scale=2.0) + points[:, 2]
    return prior + stats.gamma.logpdf(COUNTED, shape[:, None], scale=mean / shape[:, None]).sum(axis=1)


def gamma_regression_grid(centre, width, count=41):
    """Means, standard deviations and the log evidence, by a grid of eight widths around a centre."""
    axes = [np.linspace(c - 6.0 * w, c + 6.0 * w, count) for c, w in zip(centre, width, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    log = gamma_regression_log_posterior(points)
    weights = special.softmax(log)
    mean = weights @ points
    evidence = special.logsumexp(log) + sum(np.log(axis[1] - axis[0]) for axis in axes)
    return mean, np.sqrt(weights @ (points - mean) ** 2), evidence
