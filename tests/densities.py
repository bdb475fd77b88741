"""Log densities of whole models, with SciPy's for each: what the tests of LogDensity share."""

import numpy as np
from scipy import special, stats

import vecdist
from vecdist import LogDensity, logpdf
from vecdist.datasets import eight_schools
from vecdist.distributions import Exponential, Gamma, HalfCauchy, Normal
from vecdist.parameters import interval, positive, real

EFFECTS, ERRORS = eight_schools()
RNG = np.random.default_rng(3)
COVARIATE = RNG.normal(size=30)
RESPONSE = RNG.gamma(2.0, np.exp(0.3 + 0.5 * COVARIATE) / 2.0)


def schools_model(eta, mu, tau):
    """Eight schools, the effects as standard ones."""
    effects, errors = vecdist.data(EFFECTS), vecdist.data(ERRORS)
    prior = logpdf(Normal(0.0, 1.0), eta).sum(), logpdf(Normal(0.0, 5.0), mu), logpdf(HalfCauchy(5.0), tau)
    return {"prior": prior, "likelihood": {"effects": logpdf(Normal(mu + tau * eta, errors), effects)}}


def schools(**options):
    """Eight schools: ten numbers, the last of which is log tau."""
    return LogDensity(schools_model, eta=real(8), mu=real(), tau=positive(), **options)


def schools_pointwise(x):
    """SciPy's log likelihood of each school."""
    return stats.norm.logpdf(EFFECTS, x[8] + np.exp(x[9]) * x[:8], ERRORS)


def schools_prior(x):
    """SciPy's log density of the parameters, as unconstrained numbers."""
    of_tau = stats.halfcauchy.logpdf(np.exp(x[9]), scale=5.0) + x[9]
    return stats.norm.logpdf(x[:8]).sum() + stats.norm.logpdf(x[8], 0.0, 5.0) + of_tau


def schools_oracle(x):
    """SciPy's log density."""
    return schools_prior(x) + schools_pointwise(x).sum()


def regression_model(alpha, beta, shape):
    """A regression of Gamma responses on one covariate, with bounded coefficients."""
    mean = np.exp(alpha + beta * COVARIATE)
    likelihood = logpdf(Gamma(shape=shape, rate=shape / mean), RESPONSE).sum()
    return likelihood, logpdf(Normal(0.0, 1.0), alpha), logpdf(Exponential(rate=0.5), shape)


def regression(**options):
    """Gamma regression: three numbers, for alpha, beta between -1 and 2, and shape."""
    return LogDensity(regression_model, alpha=real(), beta=interval(-1.0, 2.0), shape=positive(), **options)


def regression_oracle(x):
    """SciPy's log density."""
    alpha, beta, shape = x[0], -1.0 + 3.0 * special.expit(x[1]), np.exp(x[2])
    volume = np.log(3.0) + np.log(special.expit(x[1])) + np.log(special.expit(-x[1])) + x[2]
    likelihood = stats.gamma.logpdf(RESPONSE, shape, scale=np.exp(alpha + beta * COVARIATE) / shape).sum()
    return likelihood + stats.norm.logpdf(alpha) + stats.expon.logpdf(shape, scale=2.0) + volume


@vecdist.function
def square_root(x):
    """Newton's method: a loop of as many turns as an element needs."""
    y = 0.5 * (1.0 + x)
    while abs(y * y - x) > 1e-14 * x:
        y = 0.5 * (y + x / y)
    return y


def recurrence_model(level, spread, pull):
    """A series whose mean moves by a nonlinear step."""

    def step(mean, x):
        return np.tanh(pull * mean) + 0.3 * x, logpdf(Normal(mean, square_root(spread)), x)

    last, each = vecdist.scan(step, level, COVARIATE)
    prior = logpdf(Normal(0.0, 1.0), last), logpdf(Exponential(1.0), spread), logpdf(Normal(0.5, 0.2), pull)
    return {"prior": prior, "likelihood": each}


def recurrence(**options):
    """Three numbers: where the mean begins, the log of the variance, and how the mean is pulled."""
    return LogDensity(recurrence_model, level=real(), spread=positive(), pull=real(), **options)


def differences(function, x, step=1e-3):
    """The derivative of ``function``, whose values may be arrays, along the last axis: five points, order four."""
    found = []
    for place in range(x.size):
        shift = np.zeros(x.size)
        shift[place] = step
        near, far = (function(x + k * shift) - function(x - k * shift) for k in (1, 2))
        found.append((8.0 * near - far) / (12.0 * step))
    return np.stack(found, axis=-1)
