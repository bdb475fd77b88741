# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Add a family and a primitive
#
# vecdist has some eighty families; yours may be the next. A family is one small class of formulas. Where a formula
# needs a function that is not there, a sum without a closed form for example, that is one entry of a table, a
# *primitive*. Both are plain Python, work on the CPU and on a GPU, and are differentiated like all others.
#
# This page adds the fatigue life distribution of Birnbaum and Saunders, then the Poisson distribution of Conway and
# Maxwell, which needs a primitive.

# %%
import numpy as np

import vecdist
from vecdist import logpdf, value_and_grad
from vecdist.constraints import count, positive
from vecdist.distributions import Distribution, parametrisation
from vecdist.primitives.arithmetic import sqrt
from vecdist.primitives.elementary import log
from vecdist.special.normal_tail import log_ndtr, ndtr, ndtri
from vecdist.special.error_functions import lgamma

# %% [markdown]
# ## A family
#
# A part under load cracks a little in every cycle, and breaks when the crack is long enough. The number of cycles, `x`,
# is then such that $z = (\sqrt{x/\beta} - \sqrt{\beta/x}) / \alpha$ is normal: $\beta$ is the median life, $\alpha$ the
# spread. The density is that of $z$ times $dz/dx = (x + \beta) / (2 \alpha \sqrt{\beta}\, x^{3/2})$.
#
# A class says this in a few methods. A *parametrisation* names the parameters, says where they may lie, and gives what
# the formulas use. `p` has these quantities, `x` is one number; arrays, broadcasting and loops are not our business.


# %%
class FatigueLife(Distribution):
    @parametrisation(alpha=positive, median=positive)
    @staticmethod
    def by_median(alpha, median):
        return {"alpha": alpha, "beta": median}

    @staticmethod
    def support(p):
        return positive

    @staticmethod
    def log_density(x, p):
        z = (sqrt(x / p.beta) - sqrt(p.beta / x)) / p.alpha
        slope = log(x + p.beta) - 1.5 * log(x) - 0.5 * log(p.beta) - log(2.0 * p.alpha)
        return slope - 0.5 * (z * z + np.log(2.0 * np.pi))


# %% [markdown]
# That is all: the family has values, gradients, broadcasting, float32, a CUDA kernel, and errors that name what is
# wrong.

# %%
alpha, median = np.array(0.5), np.array([[80.0], [120.0]])
cycles = np.array([60.0, 100.0, 250.0])
lp = logpdf(FatigueLife(alpha, median), cycles)
value, (of_alpha, of_median) = value_and_grad(lp.sum(), wrt=(alpha, median))
lp.shape, of_alpha.shape, of_median.shape

# %%
try:
    np.asarray(logpdf(FatigueLife(-1.0, median), cycles))
except vecdist.InvalidParameter as error:
    message = str(error)
message

# %% [markdown]
# Other verbs are other methods, each on its own and none of them needed. With the upper tail the family can be
# censored, and with the quantile it can be drawn from.


# %%
class WithTails(FatigueLife):
    @staticmethod
    def cdf(x, p):
        return ndtr((sqrt(x / p.beta) - sqrt(p.beta / x)) / p.alpha)

    @staticmethod
    def log_sf(x, p):
        return log_ndtr((sqrt(p.beta / x) - sqrt(x / p.beta)) / p.alpha)

    @staticmethod
    def quantile(q, p):
        half = 0.5 * p.alpha * ndtri(q)
        root = half + sqrt(half * half + 1.0)
        return p.beta * root * root


# %%
lives = np.asarray(vecdist.sample(2024, WithTails(0.5, 100.0), 2000))
still_running = vecdist.censored(WithTails(0.5, 100.0), upper=200.0)
print(f"median of the draws {np.median(lives):.1f} cycles")
print(f"log probability of a life over 200 cycles {float(logpdf(still_running, 200.0)):.4f}")

# %% [markdown]
# Do not trust, check. A density integrates to the distribution function, and a gradient is a limit of differences.

# %%
grid = np.linspace(1e-3, 300.0, 2001)
density = np.exp(np.asarray(logpdf(FatigueLife(0.5, 100.0), grid)))
area = ((density[1:] + density[:-1]) / 2 * np.diff(grid)).sum()
float(area), float(vecdist.cdf(WithTails(0.5, 100.0), 300.0))

# %%
def at(spread):
    return float(logpdf(FatigueLife(spread, median), cycles).sum())


float(of_alpha), (at(0.5 + 1e-5) - at(0.5 - 1e-5)) / 2e-5

# %% [markdown]
# ## A primitive
#
# Counts whose variance is not their mean are common. Conway and Maxwell let the probability of $j$ be in proportion to
# $(\mu^j / j!)^\nu = \lambda^j / (j!)^\nu$ with $\lambda = \mu^\nu$: a dispersion $\nu$ of 1 is Poisson's distribution,
# less is a wider one, more a narrower one. The sum of all terms, $Z(\lambda, \nu)$, has no closed form. But its
# derivatives are means:
#
# $$\frac{\partial \log Z}{\partial \log \lambda} = E[j] \qquad \frac{\partial \log Z}{\partial \nu} = -E[\log j!]$$
#
# A *routine* is a Python function of floats, with loops and branches, and one `return` as its last line. Its statements
# become part of the kernel. One loop finds all three numbers. (Where derivatives of the statements themselves are what
# you want, write `vecdist.function` instead of a primitive: notebook 6. Here the sums that the loop has at hand are
# the derivatives already.)


# %%
from math import exp as exp_of
from math import log as log_of


def series(log_rate, dispersion):
    j, weight, log_factorial = 0.0, 1.0, 0.0
    total, mean, mean_log_factorial = 1.0, 0.0, 0.0
    while j < 1000.0 and weight > 1e-17 * total:
        j += 1.0
        weight *= exp_of(min(log_rate - dispersion * log_of(j), 50.0))
        log_factorial += log_of(j)
        total += weight
        mean += weight * j
        mean_log_factorial += weight * log_factorial
    return log_of(total), mean / total, mean_log_factorial / total


# %% [markdown]
# Each primitive is a routine that picks one of them. `partials` gives a derivative for each argument, as an expression;
# it may use other primitives, and `out`, the value itself. Nobody has to write down second derivatives: the means have
# no `partials`, and asking for their derivatives is an error.


# %%
def log_total(log_rate, dispersion):
    value, _, _ = series(log_rate, dispersion)
    return value


def mean_count(log_rate, dispersion):
    _, value, _ = series(log_rate, dispersion)
    return value


def mean_log_factorial(log_rate, dispersion):
    _, _, value = series(log_rate, dispersion)
    return value


# %%
from vecdist.primitives import primitive

of_count = primitive("com_mean", 2, routine=mean_count, floating=True)
of_log_factorial = primitive("com_mean_log_factorial", 2, routine=mean_log_factorial, floating=True)
log_series = primitive(
    "com_log_z", 2, routine=log_total, floating=True,
    partials=lambda a, b, out: (of_count(a, b), -of_log_factorial(a, b)),
)


# %%
class ConwayMaxwellPoisson(Distribution):
    discrete = True

    @parametrisation(centre=positive, dispersion=positive)
    @staticmethod
    def by_centre(centre, dispersion):
        return {"log_rate": dispersion * log(centre), "dispersion": dispersion}

    @staticmethod
    def support(p):
        return count

    @staticmethod
    def log_density(x, p):
        return x * p.log_rate - p.dispersion * lgamma(x + 1.0) - log_series(p.log_rate, p.dispersion)


# %% [markdown]
# With a dispersion of 1 it must be Poisson's distribution, and the probabilities must add up to 1.

# %%
from vecdist.distributions import Poisson

numbers = np.arange(60)
one = np.asarray(logpdf(ConwayMaxwellPoisson(3.0, 1.0), numbers))
wide = np.exp(np.asarray(logpdf(ConwayMaxwellPoisson(3.0, 0.6), numbers)))
float(abs(one - np.asarray(logpdf(Poisson(3.0), numbers))).max()), float(wide.sum())

# %% [markdown]
# ## What it says about coal mines
#
# Explosions in British coal mines, year by year from 1851 to 1962: are they Poisson's? We compute the posterior of
# centre and dispersion on a grid, under a flat prior, for all years and for each side of 1891.

# %%
from vecdist.datasets import coal_disasters

years, counts = coal_disasters()
centre, dispersion = np.linspace(0.05, 4.5, 40)[:, None], np.linspace(0.05, 3.0, 30)


def posterior_of_dispersion(observed):
    each = logpdf(ConwayMaxwellPoisson(centre[..., None], dispersion[:, None]), vecdist.data(observed))
    log_posterior = np.asarray(each.sum(axis=-1))
    weights = np.exp(log_posterior - log_posterior.max()).sum(axis=0)
    return weights / weights.sum()


# %%
eras = {"all years": years > 0, "until 1890": years <= 1890, "from 1891": years > 1890}
posteriors = {era: posterior_of_dispersion(counts[inside]) for era, inside in eras.items()}
means = {era: float(weights @ dispersion) for era, weights in posteriors.items()}
means

# %% tags=["figure"]
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
for era, weights in posteriors.items():
    axes.plot(dispersion, weights / (dispersion[1] - dispersion[0]), label=era)
axes.axvline(1.0, color="grey", linestyle="--", label="Poisson")
axes.set(xlabel="dispersion ν", ylabel="posterior density", title="Coal mine disasters per year")
axes.legend()
plt.show()

# %% [markdown]
# Taken together the years are wider than Poisson's distribution, for their rate fell in the middle. On each side of
# 1891 a dispersion of 1 is quite credible.
#
# ## In the package
#
# A family that is of use to others is a file in `vecdist/distributions/`, and a primitive an entry in
# `vecdist/primitives/`; no list has to be changed by hand, for a command writes the imports. Each names an `oracle`, an
# independent function (for `FatigueLife` it would be `"scipy.stats.fatiguelife(alpha, scale=median)"`); the tests find
# new entries by themselves, and compare values, gradients, edges, dtypes and backends with it.
