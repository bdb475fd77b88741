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
# # Quick start
#
# vecdist writes down log densities of arrays first, and computes them later: the log density, and its derivatives where
# you want them, in **one** compiled loop over the data. You write NumPy; nothing else needs to be learnt but five or
# six verbs. This page takes ten minutes: a density, a grid of densities, gradients, and a look at the loop itself.
#
# The data are made up: the lengths of 400 calls to a help desk, in minutes.

# %%
import numpy as np

import vecdist
from vecdist import Vectorize, explain, lazy, logpdf, value_and_grad
from vecdist.distributions import Gamma

minutes = np.random.default_rng(1).gamma(2.0, 3.0, size=400)

# %% [markdown]
# ## A density is an array that waits
#
# `logpdf(distribution, x)` broadcasts the parameters against `x`, as NumPy does, and gives a lazy array. It knows its
# shape and its dtype; no number has been computed. In Jupyter it draws the graph of what it would compute.

# %%
lp = logpdf(Gamma(2.0, 3.0), minutes)
lp

# %% [markdown]
# It goes on like an array: it can be added, indexed, put into NumPy's functions, and summed. Asking for a number
# computes it. The 400 log densities are not stored on the way; the sum is kept in a register of the processor.
#
# An expression that vecdist has not met before is compiled, which takes a few seconds here and there on this page. From
# then on the program is in a cache on disk, also for other processes and other numbers.

# %%
total = lp.sum()
float(total)

# %% [markdown]
# ## A grid of densities
#
# A statistician wants to see the likelihood. `Vectorize(Gamma, (shapes, scales))` is a distribution with *arrays* for
# parameters (`Gamma(shapes, scales)` is the same thing, spelled shorter). Here they have the shapes (20, 1, 1) and (20,
# 1), so against 400 calls there are 20 × 20 × 400 log densities, summed over the calls.
#
# `vecdist.data` promises that an array will not change. What depends on it alone, such as the logarithms of the calls,
# is then computed once.

# %%
shapes = np.linspace(1.5, 3.2, 20)[:, None, None]
scales = np.linspace(1.6, 4.0, 20)[:, None]
calls = vecdist.data(minutes, "calls")
log_likelihood = np.asarray(logpdf(Vectorize(Gamma, (shapes, scales)), calls).sum(axis=-1))
log_likelihood.shape

# %% tags=["figure"]
import matplotlib.pyplot as plt

relative = log_likelihood - log_likelihood.max()
figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
lines = axes.contour(scales.ravel(), shapes.ravel(), relative, levels=[-12, -6, -3, -1])
axes.clabel(lines)
axes.set(xlabel="scale (minutes)", ylabel="shape", title="Log likelihood, relative to its maximum")
plt.show()

# %% [markdown]
# The contours are a long slanted ridge: the mean, shape times scale, is known well, the two parameters are not. Other
# parametrisations go by keyword, as in Stan or NumPyro; each is accurate by itself, none is a positional surprise.

# %%
same = logpdf(Gamma(shape=2.0, rate=1 / 3), minutes), logpdf(Gamma(mean=6.0, sd=18**0.5), minutes)
[round(float(each.sum()), 6) for each in same]

# %% [markdown]
# ## Gradients come along
#
# `value_and_grad(scalar, wrt)` gives the value and the gradient in each array of `wrt`, from the same loop. `hessian`
# gives second derivatives. So Newton's method for the maximum of the likelihood is a few lines. We work with the
# logarithms of both parameters, and start from the moments.
#
# One rule to remember: a NumPy function of a plain array is computed at once, and is a constant. `np.exp(theta)` of a
# *lazy* `theta` stays in the graph, and has a derivative.


# %%
def log_lik(theta, y):
    shape, scale = np.exp(theta)
    return logpdf(Gamma(shape, scale), y).sum()


mean, variance = minutes.mean(), minutes.var()
theta = np.log([mean**2 / variance, variance / mean])
for _ in range(5):
    at_theta = log_lik(lazy(theta), calls)
    value, gradient = value_and_grad(at_theta, wrt=theta)
    curvature = vecdist.hessian(at_theta, wrt=theta)
    print(f"log likelihood {value:.6f}, steepest slope {abs(gradient).max():.1e}")
    theta = theta - np.linalg.solve(curvature, gradient)

# %% [markdown]
# Newton's steps double the number of right digits, which is a fair test of first and second derivatives. The inverse of
# the negative Hessian is the usual estimate of the covariance.

# %%
best = np.exp(theta)
errors = best * np.sqrt(np.diag(np.linalg.inv(-curvature)))
print(f"shape {best[0]:.2f} ± {errors[0]:.2f}, scale {best[1]:.2f} ± {errors[1]:.2f} minutes")

# %% [markdown]
# ## What one kernel means
#
# `explain` tells what an expression becomes. In Jupyter it shows the graph, the loops, and the source of the compiled
# function; here are the facts. Value and gradient are one launch, and all that is read are the data and two parameters,
# 402 numbers of 8 bytes. In an array library every step, the logarithm, the product, the sum, would be a trip to
# memory.

# %%
kernel, = explain(log_lik(lazy(theta), minutes), wrt=theta).kernels
print(kernel.launches, "launch,", kernel.bytes_read, "bytes read,", kernel.bytes_written, "bytes written")

# %% [markdown]
# `kernel.outline` has the loops themselves. In short: what depends on the parameters alone, `lgamma(shape)` and its
# derivative among it, stands outside of the loop over the calls, and is computed once.

# %%
for place, operations in kernel.placement.items():
    print(f"{place}: {', '.join(operations)}")

# %% [markdown]
# ## The same function, many times
#
# Building the graph takes Python about a millisecond. Who calls a density a million times leaves that out with
# `compile`: the function is traced at the first call, and from then on called with arrays. New numbers, and new
# lengths, use the same compiled program.

# %%
fast = vecdist.compile(log_lik)
value, slope = fast.value_and_grad(theta, minutes, wrt=0)
of_half, _ = fast.value_and_grad(theta, minutes[:200], wrt=0)
float(value), float(of_half)

# %% [markdown]
# ## More than densities
#
# Distribution functions, both of their tails, and quantiles have derivatives as well. How many calls last longer than a
# quarter of an hour, and how fast would that share grow with the scale?

# %%
scale = np.array(best[1])
share, growth = value_and_grad(vecdist.sf(Gamma(best[0], scale), 15.0), wrt=scale)
print(f"{share:.1%} of all calls, and {growth / 10:.1%} more for 0.1 minutes of scale")
print(f"one call in a hundred lasts longer than {float(vecdist.ppf(Gamma(*best), 0.99)):.0f} minutes")

# %% [markdown]
# ## On a GPU
#
# There is no switch. Give the same functions CuPy arrays (`cupy.asarray(minutes)`), and the kernel is one for CUDA;
# what comes back are CuPy arrays.
#
# Next: `2_model_to_posterior` makes a model and samples from it.
