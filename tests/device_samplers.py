"""Samplers written by hand around a device function: the same lines for a CPU and for a thread of a GPU.

``jit`` compiles them; ``density`` gives the value at a point of two numbers, and where it is given one more array, the
slopes.  Draws are rows of two normal numbers, and one that is uniform.
"""

import math

import numpy as np

import vecdist
from vecdist import LogDensity, logpdf
from vecdist.distributions import Normal
from vecdist.parameters import real

MEANS, SCALES = np.array([1.0, -2.0]), np.array([0.5, 2.0])


def target():
    """Two independent normal numbers."""
    return LogDensity(lambda x: logpdf(Normal(vecdist.lazy(MEANS), SCALES), x).sum(), x=real(2))


def metropolis(jit, density):
    """A random walk: what ``moments`` gets are the sums of what it visits, and of the squares."""

    @jit
    def walk(x, new, step, draws, moments):
        value = density(x)
        for turn in range(draws.shape[0]):
            for place in range(2):
                new[place] = x[place] + step * draws[turn, place]
            other = density(new)
            if math.log(draws[turn, 2]) < other - value:
                value = other
                for place in range(2):
                    x[place] = new[place]
            for place in range(2):
                moments[0, place] += x[place]
                moments[1, place] += x[place] ** 2

    return walk


def hamiltonian(jit, density):
    """Hamiltonian Monte Carlo by leapfrog steps; ``work`` has rows for the point, its momentum and the slopes."""

    @jit
    def walk(x, work, step, steps, draws, moments):
        for turn in range(draws.shape[0]):
            energy = 0.0
            for place in range(2):
                work[0, place], work[1, place] = x[place], draws[turn, place]
                energy += 0.5 * draws[turn, place] ** 2
            value = density(work[0], work[2])
            energy -= value
            for _ in range(steps):
                for place in range(2):
                    work[1, place] += 0.5 * step * work[2, place]
                    work[0, place] += step * work[1, place]
                value = density(work[0], work[2])
                for place in range(2):
                    work[1, place] += 0.5 * step * work[2, place]
            after = 0.5 * (work[1, 0] ** 2 + work[1, 1] ** 2) - value
            if math.log(draws[turn, 2]) < energy - after:
                x[0], x[1] = work[0, 0], work[0, 1]
            for place in range(2):
                moments[0, place] += x[place]
                moments[1, place] += x[place] ** 2

    return walk


def drawn(count, seed=4):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(size=(count, 2)), rng.random(count)])


def check(moments, count, close):
    """The moments of ``count`` draws are those of the target."""
    mean = moments[0] / count
    np.testing.assert_allclose((mean - MEANS) / SCALES, 0.0, atol=close)
    np.testing.assert_allclose(moments[1] / count - mean**2, SCALES**2, rtol=2 * close)
