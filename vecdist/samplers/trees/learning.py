"""What a chain learns in its warm-up: the step size and the metric, each chain from its own draws alone.

These functions are read by ``codegen/frontend.py``: a function returns where it ends.
"""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import math

from vecdist.samplers.trees.places import (
    ACCEPTANCE,
    CENTRE,
    CHOSEN_H,
    CHOSEN_X,
    DENSE,
    FIRST,
    LAG,
    LEARNT,
    LOG_AVERAGE,
    LOW_RANK,
    MEAN,
    METRIC,
    NUMBER,
    SEEN,
    SHIFT,
    SIZE,
    STEP,
    STRIDE,
    WARMUP,
    WINDOW,
    WINDOWS,
    scales,
    squares,
)

GAMMA, LATE, KAPPA = 0.05, 10.0, 0.75  # Hoffman and Gelman (2014), section 3.2.1
FARTHEST = 300.0  # the logarithm of no step size is farther from 0
PRIOR, LEAST = 5.0, 1e-3  # draws, and a variance, that variances are drawn to, as Stan does (reference manual, HMC)


def restart(a, n):
    """Learn the step size anew, with the one at hand to begin with."""
    a[CENTRE] = math.log(10.0 * a[STEP])
    a[LAG], a[LOG_AVERAGE], n[LEARNT] = 0.0, math.log(a[STEP]), 0


def learn_step(a, n, acceptance):
    """Dual averaging (Hoffman and Gelman 2014, equation 6), by the mean acceptance of a draw's steps."""
    n[LEARNT] += 1
    count = float(n[LEARNT])
    a[LAG] += (a[ACCEPTANCE] - acceptance - a[LAG]) / (count + LATE)
    log_step = a[CENTRE] - math.sqrt(count) / GAMMA * a[LAG]
    log_step = min(max(log_step, -FARTHEST), FARTHEST)
    a[LOG_AVERAGE] += count**-KAPPA * (log_step - a[LOG_AVERAGE])
    a[STEP] = math.exp(log_step)


def learn(v, a, n, ends, acceptance, seen):
    """Learn from a draw of the warm-up; whether the metric is another one now."""
    learn_step(a, n, acceptance)
    number, changed = n[NUMBER], False
    if number >= n[FIRST] and n[WINDOW] < n[WINDOWS]:
        if n[METRIC] == LOW_RANK:
            note(v, n, seen)
        else:
            remember(v, n)
        if number + 1 == ends[n[WINDOW]]:
            n[WINDOW] += 1
            if n[METRIC] != LOW_RANK:
                rescale(v, n)
            changed = True
    if number + 1 == n[WARMUP]:
        a[STEP] = math.exp(a[LOG_AVERAGE])
    return changed


def note(v, n, seen):
    """Note a position and its gradient, which a metric is learnt from elsewhere (``low_rank.py``)."""
    size = n[SIZE]
    start = 2 * size * n[SEEN]
    for place in range(size):
        seen[start + place] = v[(CHOSEN_X * size + place) * STRIDE]
        seen[start + size + place] = v[(CHOSEN_H * size + place) * STRIDE]
    n[SEEN] += 1


def remember(v, n):
    """Take a position in: sums of squares about the mean (Welford 1962)."""
    size, start = n[SIZE], squares(n) * n[SIZE]
    n[SEEN] += 1
    for place in range(size):
        shift = v[(CHOSEN_X * size + place) * STRIDE] - v[(MEAN * size + place) * STRIDE]
        v[(SHIFT * size + place) * STRIDE] = shift
        v[(MEAN * size + place) * STRIDE] += shift / n[SEEN]
    for place in range(size):
        apart = v[(CHOSEN_X * size + place) * STRIDE] - v[(MEAN * size + place) * STRIDE]
        if n[METRIC] == DENSE:
            for column in range(place + 1):
                v[(start + place * size + column) * STRIDE] += apart * v[(SHIFT * size + column) * STRIDE]
        else:
            v[(start + place) * STRIDE] += apart * v[(SHIFT * size + place) * STRIDE]


def rescale(v, n):
    """A new factor A of the covariance, drawn a little to a small multiple of one; then begin to remember anew."""
    size, source, target = n[SIZE], squares(n) * n[SIZE], scales(n) * n[SIZE]
    weight = n[SEEN] / (n[SEEN] + PRIOR)
    scale, least = weight / max(n[SEEN] - 1, 1), LEAST * (1.0 - weight)
    for place in range(size):
        if n[METRIC] == DENSE:
            for column in range(place + 1):
                v[(source + place * size + column) * STRIDE] *= scale
            v[(source + place * size + place) * STRIDE] += least
        else:
            v[(target + place) * STRIDE] = math.sqrt(scale * v[(source + place) * STRIDE] + least)
    if n[METRIC] == DENSE:
        factor(v, size, source, target)
    for place in range(size * (size if n[METRIC] == DENSE else 1)):
        v[(source + place) * STRIDE] = 0.0
    for place in range(size):
        v[(MEAN * size + place) * STRIDE] = 0.0
    n[SEEN] = 0


def factor(v, size, source, target):
    """Cholesky's factor of the matrix that begins at ``source``, of which the lower half is read."""
    for row in range(size):
        for column in range(row + 1):
            total = v[(source + row * size + column) * STRIDE]
            for place in range(column):
                first, last = target + row * size + place, target + column * size + place
                total -= v[first * STRIDE] * v[last * STRIDE]
            diagonal = v[(source + row * size + row) * STRIDE]
            if row == column:
                v[(target + row * size + row) * STRIDE] = math.sqrt(max(total, LEAST * diagonal))
            else:
                v[(target + row * size + column) * STRIDE] = total / v[(target + column * size + column) * STRIDE]
