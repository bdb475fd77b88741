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
# # Your own code
#
# Not everything is a distribution. This page brings code of its own: a function with branches and a loop, a
# recurrence, and a sampler that calls a density from inside compiled code. Each is plain Python, and each has
# derivatives. The last part measures the two experiments of Revels and others, *Dynamic Automatic Differentiation of
# GPU Broadcast Kernels* (2018), [arXiv 1810.08297](https://arxiv.org/abs/1810.08297).

# %%
import functools
import math
import operator
import time

import numba
import numpy as np
from scipy.special import expit

import vecdist
from vecdist import lazy, logpdf, value_and_grad, value_and_partials
from vecdist.distributions import Normal

# %% [markdown]
# ## A function with branches and a loop
#
# Where is a planet, a time after it was nearest to its sun? Kepler's equation $E - e \sin E = M$ says it, and has no
# closed form. Newton's method solves it, in more turns for some orbits than for others. `vecdist.function` reads the
# function: branches become choices, the loop one that each element leaves when it is done.


# %%
@vecdist.function
def anomaly(mean, eccentricity):
    if eccentricity == 0.0:
        return mean
    found = math.pi if eccentricity > 0.8 else mean
    while True:
        step = (found - eccentricity * math.sin(found) - mean) / (1.0 - eccentricity * math.cos(found))
        found -= step
        if abs(step) < 1e-12:
            return found


# %% [markdown]
# It takes arrays, broadcasts them, and has derivatives. That of the equation in the mean anomaly is known,
# $1 / (1 - e \cos E)$, so they can be compared. Called on numbers it is the function that it was.

# %%
means, eccentricity = np.linspace(0.1, 3.0, 8), np.array(0.6)
angles, (slopes, _) = value_and_partials(anomaly(lazy(means), eccentricity), wrt=(means, eccentricity))
print(np.abs(slopes - 1.0 / (1.0 - 0.6 * np.cos(angles))).max(), anomaly(means[0], 0.6) - angles[0])

# %% [markdown]
# ## A recurrence
#
# A volatility that remembers: the variance of each return is made of the last return and the last variance.
# `vecdist.scan` takes one step, written for one day, over all days, as JAX's does. The gradient is another recurrence,
# which runs backwards.

# %%
returns = np.random.default_rng(3).normal(size=400) * 0.1
omega, alpha, beta = (lazy(np.array(each)) for each in (0.002, 0.1, 0.7))


def day(variance, seen):
    return omega + alpha * seen * seen + beta * variance, variance


_, variances = vecdist.scan(day, 0.01, returns)
log_likelihood = logpdf(Normal(0.0, np.sqrt(variances)), returns).sum()
value, gradient = value_and_grad(log_likelihood, wrt=(omega, alpha, beta))
print(value, np.array(gradient))

# %% [markdown]
# ## A kernel of your own
#
# What one thread does may stay yours. `vecdist.device_function` makes of a density, with its gradient if that is asked
# for, a function that Numba's compiled functions call, and so do kernels under `@cuda.jit`. Here is a walk that
# follows the gradient, all of it machine code.

# %%
slope_of = vecdist.device_function(lambda x, mu, sd: logpdf(Normal(mu, sd), x), gradient=("x",))


@numba.njit
def langevin(x, noise, step):
    kept = np.empty(len(noise))
    for turn in range(len(noise)):
        _, (slope,) = slope_of(x, 3.0, 0.5)
        x += 0.5 * step * slope + np.sqrt(step) * noise[turn]
        kept[turn] = x
    return kept


walked = langevin(3.0, np.random.default_rng(4).normal(size=20000), 0.02)
print(walked.mean(), walked.std())

# %% [markdown]
# ## What branches cost
#
# The cell of a network with several clocks is flushed, copied or updated, as two controls say. Sides as short as these
# are both computed, by vectors of the CPU and by the threads of a GPU, as no branch pays there; a side of some hundred
# operations, or with a loop, has a true branch on a GPU, which a warp whose threads agree need not take.
# `vecdist.explain` says which. Either way all of it is one kernel with four partial derivatives.


# %%
@vecdist.function
def cell(c, f, i, g, flushed, updated):
    if flushed:
        return expit(i) * math.tanh(g)
    if not updated:
        return c
    return expit(f) * c + expit(i) * math.tanh(g)


# %% [markdown]
# `seconds` is the best of a few calls of a compiled function. The first experiment compares controls in runs of
# columns with the same controls in random order.


# %%
def seconds(function, arrays, count):
    fast = vecdist.compile(function)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        result = fast.value_and_partials(*arrays, wrt=tuple(range(count)))
        times.append(time.perf_counter() - start)
    return min(times), result


# %%
rng, size = np.random.default_rng(5), 256
matrices = [rng.random((size, size), dtype=np.float32) for _ in range(4)]
runs = np.arange(size) // 32 % 4
cells = {}
for name, order in {"uniform": runs, "random": rng.permutation(runs)}.items():
    controls = [order % 2 == 0, order == 3]
    took, cells[name] = seconds(cell, [*matrices, *controls], 4)
    print(f"{name} control: {1e6 * took:.0f} us")

# %% [markdown]
# The second experiment multiplies factors of either sign, and takes all of their derivatives: the time should grow
# with the memory that is read and written, and no faster.


# %%
@vecdist.function
def factor(x):
    if x > 0.5:
        return math.tanh(x)
    return math.tanh(-x)


# %%
def product(*given):
    return functools.reduce(operator.mul, map(factor, given))


products = {}
for count in (1, 4, 10):
    given = [rng.random((size, size), dtype=np.float32) + np.float32(0.01) for _ in range(count)]
    took, products[count] = seconds(product, given, count)
    each = 1e9 * took / size**2 / (2 * count + 1)
    print(f"{count} factors: {1e6 * took:.0f} us, {each:.2f} ns for an element of a matrix")

# %% [markdown]
# On a GPU arrays are CuPy's, `cupy.asarray(matrix)`, and nothing else changes but the clock, which must wait:
# `cupy.cuda.get_current_stream().synchronize()`. `python benchmarks/branches.py --device cuda` measures both
# experiments in the sizes of the paper, beside JAX, torch and kernels written by hand for Numba.
