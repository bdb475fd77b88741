"""Steps of a chain: rows copied and added up, leapfrog steps, momenta, energies."""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import math

from vecdist.samplers.trees.draws import normal
from vecdist.samplers.trees.places import DENSE, EVENT, SIZE, STEP, WAY, H, R, X, scales

DIVERGENT = 1000.0  # an error of the energy beyond it is called divergent, as Stan does


def copy(v, n, source, target):
    """One row to another."""
    size = n[SIZE]
    for place in range(size):
        v[target * size + place] = v[source * size + place]


def copy_point(v, n, source, target):
    """Three rows: a position, a momentum and a gradient."""
    for row in range(3):
        copy(v, n, source + row, target + row)


def dot(v, n, first, second):
    """The product of two rows."""
    size, total = n[SIZE], 0.0
    for place in range(size):
        total += v[first * size + place] * v[second * size + place]
    return total


def add(v, n, source, target):
    """Add a row to another."""
    size = n[SIZE]
    for place in range(size):
        v[target * size + place] += v[source * size + place]


def whiten(v, n, gradient):
    """The gradient h = A^T grad, where A is a diagonal or lower triangular."""
    size, start = n[SIZE], scales(n) * n[SIZE]
    for place in range(size):
        if n[DENSE]:
            total = 0.0
            for row in range(place, size):
                total += v[start + row * size + place] * gradient[row]
            v[H * size + place] = total
        else:
            v[H * size + place] = v[start + place] * gradient[place]


def kick(v, a, n):
    """Half a step of the momentum."""
    size, half = n[SIZE], 0.5 * a[STEP] * n[WAY]
    for place in range(size):
        v[R * size + place] += half * v[H * size + place]


def go_on(v, a, n):
    """Half a step of the momentum, and one of the position, which is the next to be asked for."""
    kick(v, a, n)
    size, start, step = n[SIZE], scales(n) * n[SIZE], a[STEP] * n[WAY]
    for place in range(size):
        if n[DENSE]:
            total = 0.0
            for column in range(place + 1):
                total += v[start + place * size + column] * v[R * size + column]
            v[X * size + place] += step * total
        else:
            v[X * size + place] += step * v[start + place] * v[R * size + place]


def fresh_momentum(v, n, key):
    """Standard normal momenta."""
    size = n[SIZE]
    for place in range(size):
        v[R * size + place] = normal(key, place, n[EVENT])
    n[EVENT] += 1


def energy(v, n, value):
    """The energy where the chain is; infinite, where it is not finite."""
    found = 0.5 * dot(v, n, R, R) - value
    return found if math.isfinite(found) else math.inf


def share(log_weight, log_total):
    """The part that a weight is of a total."""
    return math.exp(min(log_weight - log_total, 0.0))


def added(first, second):
    """The logarithm of the sum of two weights."""
    most = max(first, second)
    return most if most == -math.inf else most + math.log1p(math.exp(min(first, second) - most))
