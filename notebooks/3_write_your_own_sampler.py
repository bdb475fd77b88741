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
# # Write your own sampler
#
# A `LogDensity` is what a sampler needs and no more: one flat vector in, the log density and its gradient out. Names,
# shapes, constraints and Jacobians are its business, not the sampler's. So a sampler is short. This page writes
# Hamiltonian Monte Carlo for many chains in some thirty lines of NumPy, runs it on the eight schools, and asks whether
# it is right.

# %%
import numpy as np

import vecdist
from vecdist import LogDensity, logpdf
from vecdist.datasets import eight_schools
from vecdist.distributions import HalfCauchy, Normal
from vecdist.parameters import positive, real
from vecdist.samplers import ess, rhat

# %% [markdown]
# ## The model
#
# In eight schools pupils were coached for a test (Rubin 1981). Each reports an effect in points, with a standard error.
# The model is a function of named parameters, and takes the data by closure. Effects are written as $\mu + \tau\eta$,
# so that the sampler sees parameters of unit scale.

# %%
effects, errors = map(vecdist.data, eight_schools())


def schools(eta, mu, tau):
    prior = logpdf(Normal(0.0, 1.0), eta).sum(), logpdf(Normal(0.0, 5.0), mu), logpdf(HalfCauchy(5.0), tau)
    return {"prior": prior, "likelihood": logpdf(Normal(mu + tau * eta, errors), effects)}


density = LogDensity(schools, eta=real(8), mu=real(), tau=positive())
density

# %% [markdown]
# To the sampler this is a function of ten unconstrained numbers; `tau` has become its logarithm.

# %%
density.ndim, density.param_unc_names[-3:]

# %% [markdown]
# `logdensity_and_gradient` takes a vector, or an array of vectors with any leading axes: one row for each chain.
# However many chains there are, it is one launch of one kernel.

# %%
rng = np.random.default_rng(3)
start = rng.uniform(-1.0, 1.0, size=(32, density.ndim))
values, gradients = density.logdensity_and_gradient(start)
values.shape, gradients.shape

# %% [markdown]
# ## The sampler
#
# Hamiltonian Monte Carlo gives the position a random momentum, follows the motion for a while, and accepts where it
# ended with the probability that makes up for the error in the energy (Neal 2011). The motion is followed by the
# leapfrog method: half a step of the momentum, a step of the position, half a step of the momentum.


# %%
def leapfrog(density, x, momentum, gradient, step, steps):
    for _ in range(steps):
        momentum = momentum + 0.5 * step * gradient
        x = x + step * momentum
        value, gradient = density.logdensity_and_gradient(x)
        momentum = momentum + 0.5 * step * gradient
    return x, momentum, value, gradient


# %% [markdown]
# Points without a density have the value -inf, never an exception: such a move has the probability 0, and is rejected
# as any other. Each chain decides for itself.


# %%
def transition(density, x, value, gradient, step, steps, rng):
    momentum = rng.normal(size=x.shape)
    ended = leapfrog(density, x, momentum, gradient, step, steps)
    gain = ended[2] - value - 0.5 * (ended[1] ** 2 - momentum**2).sum(axis=1)
    chance = np.exp(np.minimum(np.nan_to_num(gain, nan=-np.inf), 0.0))
    moved = rng.uniform(size=len(x)) < chance
    x, gradient = (np.where(moved[:, None], new, old) for new, old in ((ended[0], x), (ended[3], gradient)))
    return x, np.where(moved, ended[2], value), gradient, chance.mean()


# %% [markdown]
# While it warms up, the step size goes up where more than 80 % of all moves are accepted, and down where fewer are. The
# number of steps is random, so that no motion comes back to where it began.


# %%
def sample(density, x, draws, warmup, rng):
    value, gradient = density.logdensity_and_gradient(x)
    log_step, kept = np.log(0.1), []
    for number in range(warmup + draws):
        steps = rng.integers(3, 12)
        x, value, gradient, chance = transition(density, x, value, gradient, np.exp(log_step), steps, rng)
        if number < warmup:
            log_step += (chance - 0.8) / (1.0 + number) ** 0.6
        else:
            kept.append(x)
    return np.stack(kept, axis=1), np.exp(log_step)


# %%
draws, step = sample(density, start, draws=500, warmup=200, rng=rng)
print(f"draws of shape {draws.shape} (chains, draws, parameters), step size {step:.2f}")

# %% [markdown]
# ## Is it right?
#
# First, do the chains agree? R-hat compares them; the effective sample size says how many independent draws theirs are
# worth. Both take draws of the shape (chains, draws, ...).

# %%
print("largest R-hat", rhat(draws).max().round(3))
print("smallest effective sample size", int(ess(draws).min()), "of", draws.shape[0] * draws.shape[1])

# %% [markdown]
# `unpack` makes the flat vectors named and constrained parameters again, with the leading axes that they came with.

# %%
posterior = density.unpack(draws)
school_effects = posterior["mu"][..., None] + posterior["tau"][..., None] * posterior["eta"]
for name, array in zip("ABCDEFGH", np.moveaxis(school_effects, -1, 0), strict=True):
    print(f"school {name}: {array.mean():4.1f} ± {array.std():4.1f} points")

# %% tags=["figure"]
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.boxplot(school_effects.reshape(-1, 8), whis=(5, 95), showfliers=False, tick_labels=list("ABCDEFGH"))
axes.plot(range(1, 9), np.asarray(effects), "o", label="what the school reports")
axes.set(xlabel="school", ylabel="effect of coaching (points)", title="Posterior: quartiles, and 5 to 95 %")
axes.legend()
plt.show()

# %% [markdown]
# Second, do they agree on the right thing? Given $\mu$ and $\tau$ all else is normal here, so the exact posterior is an
# integral over two numbers, which a grid does. The test of this page compares its means with those above.
#
# ## And faster?
#
# Here only the density was compiled; the sampler ran in NumPy, with an array for each step. `density.trace(x)` gives
# the log density of a lazy vector as an expression, so that the leapfrog step can be part of the same kernel.
# `vecdist.samplers` is written like that: `4_many_chains`.
