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
# # Many chains at once
#
# A CPU runs four chains for a long time. A GPU is busy only with thousands, and then each of them can be short: the
# price is one warm-up, which all chains share. `vecdist.samplers` runs every chain in the same kernel: a leapfrog step
# of all of them, with the gradient of the model, is one launch.
#
# This page looks for the year in which British coal mines became safer. It runs 4096 chains where there is a GPU, and
# 64 where there is none.

# %%
import time

import numpy as np

import vecdist
from vecdist import LogDensity, logpdf
from vecdist.datasets import coal_disasters
from vecdist.distributions import Gamma, Poisson
from vecdist.parameters import interval, positive
from vecdist.samplers import chees, hmc

# %%
from vecdist.doctor import cuda_problems

device = "cpu" if cuda_problems() else "cuda"
chains = 4096 if device == "cuda" else 64
device, chains

# %% [markdown]
# ## The model
#
# In each of 112 years the number of explosions that killed ten miners or more is Poisson's. Its rate goes over from
# `early` to `late` around the year `change`, within some `width` of years.

# %%
years, counts = coal_disasters()
year, seen = vecdist.data(years.astype(float)), vecdist.data(counts)


def rate(early, late, change, width):
    return early + (late - early) / (1.0 + np.exp((change - year) / width))


def mines(early, late, change, width):
    prior = [logpdf(Gamma(2.0, 1.0), each) for each in (early, late)]
    prior.append(logpdf(Gamma(4.0, 1.0), width))  # and for the change, any year alike
    return {"prior": tuple(prior), "likelihood": logpdf(Poisson(rate(early, late, change, width)), seen)}


# %%
bounds = interval(1851.0, 1962.0)
density = LogDensity(mines, early=positive(), late=positive(), change=bounds, width=positive())
density.param_unc_names

# %% [markdown]
# ## Chains that teach each other
#
# Hamiltonian Monte Carlo has to be told how long to follow a motion. NUTS, as in Stan, finds out in every draw, by a
# tree whose size differs from chain to chain; side by side on a GPU, all would wait for the largest. `chees` (Hoffman,
# Radul and Sountsov 2021) learns *one* length from all chains while they warm up. Then all of them take the same steps.

# %%
draws = chees(density, chains=chains, warmup=200, draws=100, key=1, device=device, progress=False)
draws

# %% [markdown]
# `draws.positions` are the unconstrained vectors, of shape (chains, draws, D), `draws.unpacked` the parameters by name.
# The same key gives the same draws.

# %%
print("largest R-hat", draws.rhat.max().round(3))
print("draws worth", draws.ess.round().astype(int), "independent ones")
print("divergent", int(draws.divergences.sum()), "of", draws.divergences.size)
print("leapfrog steps per draw", draws.steps.mean(), "of size", round(draws.step_size, 2))

# %%
posterior = draws.unpacked
for name, array in posterior.items():
    low, middle, high = np.quantile(array, [0.05, 0.5, 0.95])
    print(f"{name:7} {middle:8.2f}   (5 to 95 %: {low:.2f} to {high:.2f})")

# %% tags=["figure"]
import matplotlib.pyplot as plt

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
left.hist(posterior["change"].ravel(), bins=60, density=True)
left.set(xlabel="year of the change", ylabel="posterior density", title="When mines became safer")
right.hist(posterior["early"].ravel(), bins=40, density=True, alpha=0.7, label="before")
right.hist(posterior["late"].ravel(), bins=40, density=True, alpha=0.7, label="after")
right.set(xlabel="disasters per year", title="How much safer")
right.legend()
plt.show()

# %% [markdown]
# ## Few draws of many chains
#
# With many chains the *last* draw of each is a sample of its own: independent, for no two chains share a random number.
# So one can watch a whole cloud of chains arrive at the posterior, from starting points that know nothing of it. `hmc`
# follows motions of a given length; without a warm-up it must be told the step size, and no chain depends on any other.

# %%
scales = draws.metric
fresh = hmc(
    density, chains=chains, draws=40, warmup=0, metric=scales, step_size=0.25, key=2, device=device, progress=False,
)
path = fresh.unpacked["change"]
for number in (0, 4, 19, 39):
    low, middle, high = np.quantile(path[:, number], [0.1, 0.5, 0.9])
    print(f"draw {number + 1:2}: 80 % of the chains between {low:.1f} and {high:.1f}, median {middle:.1f}")

# %% tags=["figure"]
figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
axes.plot(np.arange(1, 41), path[:48].T, color="tab:blue", alpha=0.3, linewidth=0.8)
axes.set(xlabel="draw", ylabel="year of the change", title="48 chains on their way to the posterior")
plt.show()

# %% [markdown]
# Most arrive within thirty draws; a few that began far off take longer. This is what a warm-up is for.

# %% [markdown]
# ## What it costs
#
# The whole cost of a sampler is its leapfrog steps, each with one gradient. One launch makes one step of all chains; on
# a GPU many launches are recorded as one CUDA graph, so that Python is not asked in between. Everything is compiled by
# now, so that a clock measures the sampler alone.

# %%
begun = time.perf_counter()
again = hmc(
    density, chains=chains, draws=200, warmup=0, metric=scales, step_size=0.25, initial=draws.positions[:, -1], key=3,
    device=device, progress=False,
)
seconds = time.perf_counter() - begun
gradients = int(again.steps.sum()) * chains
print(f"{gradients:,} gradients in {seconds:.2f} s: {1e6 * seconds / gradients:.2f} us each")

# %% [markdown]
# How many chains are worth it? On a GPU a few thousand take little longer than one, until the chip is full; double them
# until the time doubles. On a CPU the time is in proportion from the beginning, and 4 to 64 are plenty.
