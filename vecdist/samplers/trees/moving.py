"""Steps of a chain: leapfrog steps, momenta, energies.

These functions are read by ``codegen/frontend.py``: a function returns where it ends.
"""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import math

from vecdist.samplers.trees.draws import normal
from vecdist.samplers.trees.places import (
    DENSE,
    EVENT,
    LOW_RANK,
    METRIC,
    RANK,
    SHIFT,
    SIZE,
    STEP,
    STRIDE,
    USED,
    WAY,
    H,
    R,
    X,
    scales,
)

DIVERGENT = 1000.0  # an error of the energy beyond it is called divergent, as Stan does


def whiten(w, v, n, gradient):
    """The gradient h = A^T grad, where A is a diagonal, lower triangular, or a diagonal times a few stretches."""
    size, start = n[SIZE], scales(n) * n[SIZE]
    if n[METRIC] == DENSE:
        for place in range(size):
            total = 0.0
            for row in range(place, size):
                total += v[(start + row * size + place) * STRIDE] * gradient[row]
            w[H * size + place] = total
    else:
        for place in range(size):
            w[H * size + place] = v[(start + place) * STRIDE] * gradient[place]
        if n[METRIC] == LOW_RANK:
            stretches = start + (n[RANK] + 1) * size
            for one in range(n[USED]):
                row, along = start + (one + 1) * size, 0.0
                for place in range(size):
                    along += v[(row + place) * STRIDE] * w[H * size + place]
                along = along * v[(stretches + one) * STRIDE]
                for place in range(size):
                    w[H * size + place] += v[(row + place) * STRIDE] * along


def kick(w, a, n):
    """Half a step of the momentum."""
    size, half = n[SIZE], 0.5 * a[STEP] * n[WAY]
    for place in range(size):
        w[R * size + place] += half * w[H * size + place]


def go_on(w, v, a, n):
    """Half a step of the momentum, and one of the position, which is the next to be asked for."""
    kick(w, a, n)
    size, start, step = n[SIZE], scales(n) * n[SIZE], a[STEP] * n[WAY]
    if n[METRIC] == DENSE:
        for place in range(size):
            total = 0.0
            for column in range(place + 1):
                total += v[(start + place * size + column) * STRIDE] * w[R * size + column]
            w[X * size + place] += step * total
    else:
        for place in range(size):
            w[X * size + place] += step * v[(start + place) * STRIDE] * w[R * size + place]
        if n[METRIC] == LOW_RANK:
            stretches = start + (n[RANK] + 1) * size
            for one in range(n[USED]):
                row, along = start + (one + 1) * size, 0.0
                for place in range(size):
                    along += v[(row + place) * STRIDE] * w[R * size + place]
                along = along * (step * v[(stretches + one) * STRIDE])
                for place in range(size):
                    w[X * size + place] += v[(start + place) * STRIDE] * v[(row + place) * STRIDE] * along


def fresh_momentum(w, v, n, key):
    """Standard normal momenta, made one after another: what draws them is long."""
    for place in range(n[SIZE]):
        v[(SHIFT * n[SIZE] + place) * STRIDE] = normal(key, place, n[EVENT])
    size = n[SIZE]
    for place in range(size):
        w[R * size + place] = v[(SHIFT * size + place) * STRIDE]
    n[EVENT] += 1


def energy(w, n, value):
    """The energy where the chain is; infinite, where it is not finite."""
    size, total = n[SIZE], 0.0
    for place in range(size):
        total += w[R * size + place] * w[R * size + place]
    found = 0.5 * total - value
    return found if math.isfinite(found) else math.inf


def share(log_weight, log_total):
    """The part that a weight is of a total."""
    return math.exp(min(log_weight - log_total, 0.0))


def added(first, second):
    """The logarithm of the sum of two weights."""
    most = max(first, second)
    return most if most == -math.inf else most + math.log1p(math.exp(min(first, second) - most))


def turned(between, first, last, with_first, with_last):
    """Whether the ends of a path move towards each other, by the products of their momenta with the sum of all.

    Half of the momenta at the ends are no part of the way between them, which leapfrog steps make of the others;
    ``first`` and ``last`` are the squares of these momenta, ``between`` is their product.
    """
    at_first = with_first - 0.5 * (first + between)
    at_last = with_last - 0.5 * (last + between)
    return at_first <= 0.0 or at_last <= 0.0
