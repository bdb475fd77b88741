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
# # From a model to its posterior
#
# In 1882 Simon Newcomb timed light on its way from Fort Myer to the Washington Monument and back, 66 times. What is the
# time, and does a normal distribution describe how he erred? We write a model, sample from it with NUTS, look at the
# draws with ArviZ, and let the data speak against the first model.
#
# NUTS is that of `nutpie`, which calls vecdist's kernel by its address, without Python in between. You need `pip
# install "vecdist[notebooks]"`.

# %%
import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import nutpie

import vecdist
import vecdist.interop
from vecdist import LogDensity, logpdf
from vecdist.datasets import newcomb
from vecdist.distributions import Gamma, HalfNormal, Normal, StudentT
from vecdist.parameters import positive, real

# %% [markdown]
# ## Data
#
# The numbers are nanoseconds beyond 24 800.

# %% tags=["figure"]
light = newcomb()
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.hist(light, bins=40)
axes.set(xlabel="time (ns beyond 24 800)", ylabel="measurements", title="Newcomb's 66 measurements")
plt.show()

# %% [markdown]
# ## A model is a function
#
# It takes the parameters by name, as lazy arrays, and gives the log density in two parts: the prior, and the likelihood
# of each datum, named after what was observed. `LogDensity` puts the parameters into one flat vector, makes them obey
# their constraints, and adds the Jacobians. Priors are wide: microseconds are out of the question, little else is.

# %%
seen = vecdist.data(light)


def normal(mu, sigma):
    prior = logpdf(Normal(0.0, 100.0), mu), logpdf(HalfNormal(50.0), sigma)
    return {"prior": prior, "likelihood": {"light": logpdf(Normal(mu, sigma), seen)}}


# %% [markdown]
# To ask later what the model expects to see, we also write how it makes data. Random numbers are functions of a key;
# there is no hidden state.


# %%
def another_normal(key, mu, sigma):
    return {"light": vecdist.sample(key, Normal(mu, sigma), len(light))}


axis = {"light": ("measurement",)}
first = LogDensity(normal, mu=real(), sigma=positive(), predict=another_normal, dims=axis)
first

# %% [markdown]
# A log density is a function of two unconstrained numbers now, and so is its gradient. This is all that a sampler sees.

# %%
x = first.pack({"mu": 25.0, "sigma": 10.0})
first.logdensity_and_gradient(x)

# %% [markdown]
# ## Sampling
#
# `interop.nutpie.model` hands the kernel to nutpie. `interop.arviz.data` labels the draws, and adds the log likelihood
# of each measurement and one predicted data set for each draw: one launch for all 4000 of them.


# %%
def fit(density):
    model = vecdist.interop.nutpie.model(density)
    found = nutpie.sample(model, draws=1000, tune=500, chains=4, seed=1, progress_bar=False)["posterior"]
    draws = density.pack({name: found[name].values for name in density.names})
    return vecdist.interop.arviz.data(density, draws, observed={"light": light}, key=2)


of_normal = fit(first)
of_normal

# %%
az.summary(of_normal, var_names=["mu", "sigma"])

# %% [markdown]
# The trace shows every draw of every chain in order, here in nanoseconds. Chains that lie on top of each other, and
# wander nowhere, are what one hopes for.

# %%
az.plot_trace(of_normal, var_names=["mu", "sigma"])
plt.show()

# %% [markdown]
# ## Does the model fit?
#
# The sampler did well; that says nothing of the model. A posterior predictive check does: we compare the smallest of
# the 66 measurements, -44, with the smallest of the 66 in each predicted data set (Gelman and others, Bayesian Data
# Analysis, section 6.3).


# %%
def smallest(tree):
    return tree["posterior_predictive"]["light"].values.min(axis=-1).ravel()


def check(trees):
    figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
    for name, tree in trees.items():
        axes.hist(smallest(tree), bins=np.arange(-120, 25, 3), density=True, alpha=0.6, label=name)
    axes.axvline(light.min(), color="black", label="observed")
    axes.set(xlabel="smallest of 66 measurements (ns beyond 24 800)", ylabel="density", title="Predicted and observed")
    axes.legend()
    plt.show()


# %% tags=["figure"]
check({"normal": of_normal})

# %%
print(f"predicted data sets with a measurement as small: {(smallest(of_normal) <= light.min()).mean():.2%}")

# %% [markdown]
# No predicted data set has a measurement as small: a normal distribution does not make them. And two wild points out of
# 66 have pulled the mean down and blown up the error.
#
# ## A better model
#
# Student's t distribution has heavier tails, the more so the smaller `nu` is. The prior of `nu` is the usual one, Gamma
# with shape 2 and rate 0.1 (Juárez and Steel 2010). Parametrisations go by keyword.


# %%
def student(mu, sigma, nu):
    prior = logpdf(Normal(0.0, 100.0), mu), logpdf(HalfNormal(50.0), sigma), logpdf(Gamma(shape=2.0, rate=0.1), nu)
    return {"prior": prior, "likelihood": {"light": logpdf(StudentT(nu, mu, sigma), seen)}}


def another_student(key, mu, sigma, nu):
    return {"light": vecdist.sample(key, StudentT(nu, mu, sigma), len(light))}


second = LogDensity(student, mu=real(), sigma=positive(), nu=positive(), predict=another_student, dims=axis)
of_student = fit(second)

# %%
az.summary(of_student, var_names=["mu", "sigma", "nu"])

# %%
az.plot_trace(of_student, var_names=["mu", "sigma", "nu"])
plt.show()

# %% tags=["figure"]
check({"normal": of_normal, "Student's t": of_student})

# %% [markdown]
# Now outliers are nothing strange, and they have less to say about `mu`.

# %% tags=["figure"]
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, tree in {"normal": of_normal, "Student's t": of_student}.items():
    axes.hist(tree["posterior"]["mu"].values.ravel(), bins=60, density=True, alpha=0.6, label=name)
axes.axvline(33.02, color="black", label="true value")
axes.set(xlabel="mu (ns beyond 24 800)", ylabel="posterior density", title="The time that light takes")
axes.legend()
plt.show()

# %% [markdown]
# Neither reaches the true value (33.02, Stigler 1977): something other than chance went wrong in 1882, and no choice of
# distribution finds that out. Which of the two models predicts better is a question for cross-validation, from the log
# likelihoods that ArviZ has of each measurement: a higher `elpd` is better. ArviZ warns where the estimate hangs on a
# single measurement, as it does under the normal model.

# %%
comparison = az.compare({"normal": of_normal, "student": of_student})
comparison

# %% [markdown]
# Next: `3_write_your_own_sampler` does what nutpie did, in thirty lines.
