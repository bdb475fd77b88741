"""Trees of leapfrog steps that grow until they turn: what a chain does with one gradient after another.

Multinomial No-U-Turn sampling (Hoffman and Gelman 2014; Betancourt 2017, A conceptual introduction to Hamiltonian Monte
Carlo, appendix A): a tree doubles in a random direction until its ends, or those of a part of it, move towards each
other.  Nothing is called again and again: turns inside the part that grows are looked for from the momenta at its
leaves of even numbers, of which as many are kept as the tree is deep.  These functions are read by
``codegen/frontend.py``: a function returns where it ends.
"""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import math

from vecdist.samplers.trees.draws import uniform
from vecdist.samplers.trees.learning import learn, restart
from vecdist.samplers.trees.moving import (
    DIVERGENT,
    added,
    energy,
    fresh_momentum,
    go_on,
    kick,
    share,
    turned,
    whiten,
)
from vecdist.samplers.trees.places import (
    ACCEPTED,
    BEGIN,
    CHECKS,
    CHOSEN_ENERGY,
    CHOSEN_H,
    CHOSEN_VALUE,
    CHOSEN_X,
    DEEPEST,
    DEPTH,
    DONE,
    DOUBLE,
    DRAWS,
    EVENT,
    FINISH,
    GROWING,
    LEAF,
    LEFT_H,
    LEFT_R,
    LEFT_X,
    LOW_RANK,
    METRIC,
    NOTHING,
    NUMBER,
    ON,
    OWN_ENERGY,
    OWN_H,
    OWN_TOTAL,
    OWN_VALUE,
    OWN_WEIGHT,
    OWN_X,
    PHASE,
    RIGHT_H,
    RIGHT_R,
    RIGHT_X,
    SEARCH,
    SEARCHING,
    SIZE,
    START,
    STARTING,
    STEP,
    STEPS,
    STRIDE,
    TOLDS,
    TOTAL,
    TRY,
    WAITING,
    WARMUP,
    WAY,
    WEIGHT,
    H,
    R,
    X,
    sums,
)

LOG_HALF_WAY = math.log(0.8)  # what acceptance of one step tells a step size that is too small from one too large
TRIES = 200  # of step sizes


def advance(w, v, a, n, key, ends, value, gradient, positions, told, seen):
    """Take in the value and the gradient where the chain is, and put it where they are wanted next, unless it is done.

    All are flat arrays; draws after the warm-up are written to the next rows of ``positions`` and ``told``, and those
    that a metric is learnt from elsewhere to ``seen``, with their gradients.  Each thing is done in one place, where
    chains that share the processor of a GPU do it together.
    """
    whiten(w, v, n, gradient)
    task, found = n[PHASE], 0.0
    if task == STARTING:
        task = started(w, v, a, n, value)
    else:
        kick(w, a, n)
        found = energy(w, n, value)
        if task == SEARCHING:
            task = searched(a, n, found)
        else:
            task = grown(w, v, a, n, key, value, found)
            if task >= FINISH:
                task = finished(w, v, a, n, ends, task > FINISH, positions, told, seen)
    if task >= TRY:
        stand(w, v, a, n, key)
        if task == BEGIN:
            root(w, v, a, n)
            task = DOUBLE
        else:
            n[PHASE], n[WAY] = SEARCHING, 1
    if task == DOUBLE:
        double(w, v, a, n, key)
    if task != NOTHING:
        go_on(w, v, a, n)


def started(w, v, a, n, value):
    """The chain is where it is to begin."""
    size = n[SIZE]
    for place in range(size):
        v[(CHOSEN_X * size + place) * STRIDE] = w[X * size + place]
        v[(CHOSEN_H * size + place) * STRIDE] = w[H * size + place]
    a[CHOSEN_VALUE] = value
    task = BEGIN
    if n[SEARCH] != 0:
        n[SEARCH] = 1
        task = TRY
    return task


def searched(a, n, found):
    """Double or halve the step size until acceptance is on the other side (Hoffman and Gelman 2014, algorithm 4)."""
    larger = a[START] - found > LOG_HALF_WAY
    if n[SEARCH] == 1:
        n[SEARCH] = 2 if larger else -2
    else:
        n[SEARCH] += 1 if n[SEARCH] > 0 else -1
    task = TRY
    if larger == (n[SEARCH] > 0) and abs(n[SEARCH]) < TRIES:
        a[STEP] *= 2.0 if larger else 0.5
    else:
        restart(a, n)
        n[SEARCH] = 0
        task = BEGIN
    return task


def stand(w, v, a, n, key):
    """Where the chain stands, with a fresh momentum."""
    size = n[SIZE]
    for place in range(size):
        w[X * size + place] = v[(CHOSEN_X * size + place) * STRIDE]
        w[H * size + place] = v[(CHOSEN_H * size + place) * STRIDE]
    fresh_momentum(w, v, n, key)
    a[START] = energy(w, n, a[CHOSEN_VALUE])


def root(w, v, a, n):
    """A draw begins: a tree of one leaf."""
    size = n[SIZE]
    for place in range(size):
        x, r, h = w[X * size + place], w[R * size + place], w[H * size + place]
        v[(LEFT_X * size + place) * STRIDE] = x
        v[(LEFT_R * size + place) * STRIDE] = r
        v[(LEFT_H * size + place) * STRIDE] = h
        v[(RIGHT_X * size + place) * STRIDE] = x
        v[(RIGHT_R * size + place) * STRIDE] = r
        v[(RIGHT_H * size + place) * STRIDE] = h
        v[(TOTAL * size + place) * STRIDE] = r
    a[CHOSEN_ENERGY] = a[START]
    a[WEIGHT], a[ACCEPTED] = 0.0, 0.0
    n[PHASE], n[DEPTH], n[STEPS] = GROWING, 0, 0


def double(w, v, a, n, key):
    """Grow a part as large as the tree is, in a random direction."""
    n[WAY] = 1 if uniform(key, n[EVENT]) < 0.5 else -1
    n[EVENT] += 1
    size, end = n[SIZE], RIGHT_X if n[WAY] == 1 else LEFT_X
    for place in range(size):
        w[X * size + place] = v[(end * size + place) * STRIDE]
        w[R * size + place] = v[((end + 1) * size + place) * STRIDE]
        w[H * size + place] = v[((end + 2) * size + place) * STRIDE]
        w[OWN_TOTAL * size + place] = 0.0
    a[OWN_WEIGHT], n[LEAF] = -math.inf, 0


def grown(w, v, a, n, key, value, found):
    """A leaf more; what there is to do then, and beyond ``FINISH`` where it diverges."""
    error = found - a[START]
    n[STEPS] += 1
    a[ACCEPTED] += math.exp(min(-error, 0.0))
    task = FINISH + 1
    if error < DIVERGENT:
        task = FINISH
        if taken(w, v, a, n, key, value, found):
            task = ON
            if n[LEAF] >= 1 << n[DEPTH]:
                task = DOUBLE if joined(w, v, a, n, key) else FINISH
    return task


def taken(w, v, a, n, key, value, found):
    """Take a leaf of this energy into the part that grows; whether that has not turned."""
    size, log_weight = n[SIZE], a[START] - found
    for place in range(size):
        w[OWN_TOTAL * size + place] += w[R * size + place]
    a[OWN_WEIGHT] = added(a[OWN_WEIGHT], log_weight)
    if uniform(key, n[EVENT]) < share(log_weight, a[OWN_WEIGHT]):
        for place in range(size):
            v[(OWN_X * size + place) * STRIDE] = w[X * size + place]
            v[(OWN_H * size + place) * STRIDE] = w[H * size + place]
        a[OWN_VALUE], a[OWN_ENERGY] = value, found
    n[EVENT] += 1
    straight = not turned_within(w, v, n)
    n[LEAF] += 1
    return straight


def turned_within(w, v, n):
    """Whether a balanced part of what grows, which ends with the last leaf, has turned.

    Leaf number l, if it is even, is kept in row b, the number of 1s in l without its last bit; if it is odd, as many
    parts end with it as it has 1s at the end, which begin at the leaves in the rows up to b.
    """
    leaf, size, ones, found = n[LEAF], n[SIZE], 0, False
    rest = leaf >> 1
    while rest > 0:
        ones += rest & 1
        rest >>= 1
    momenta, before = (CHECKS + ones) * size, (sums(n) + ones) * size
    if leaf & 1 == 0:
        for place in range(size):
            v[(momenta + place) * STRIDE] = w[R * size + place]
            v[(before + place) * STRIDE] = w[OWN_TOTAL * size + place]
    else:
        while leaf & 1 == 1 and not found:
            with_first, with_last, between, first, last = 0.0, 0.0, 0.0, 0.0, 0.0
            for place in range(size):
                start, end = v[(momenta + place) * STRIDE], w[R * size + place]
                way = w[OWN_TOTAL * size + place] - v[(before + place) * STRIDE] + start
                with_first += way * start
                with_last += way * end
                between += start * end
                first += start * start
                last += end * end
            found = turned(between, first, last, with_first, with_last)
            momenta, before, leaf = momenta - size, before - size, leaf >> 1
    return found


def joined(w, v, a, n, key):
    """Take the part that has grown into the tree; whether the tree goes on growing."""
    size, end = n[SIZE], RIGHT_X if n[WAY] == 1 else LEFT_X
    if uniform(key, n[EVENT]) < share(a[OWN_WEIGHT], a[WEIGHT]):
        for place in range(size):
            v[(CHOSEN_X * size + place) * STRIDE] = v[(OWN_X * size + place) * STRIDE]
            v[(CHOSEN_H * size + place) * STRIDE] = v[(OWN_H * size + place) * STRIDE]
        a[CHOSEN_VALUE], a[CHOSEN_ENERGY] = a[OWN_VALUE], a[OWN_ENERGY]
    n[EVENT] += 1
    a[WEIGHT] = added(a[WEIGHT], a[OWN_WEIGHT])
    n[DEPTH] += 1
    with_left, with_right, between, left, right = 0.0, 0.0, 0.0, 0.0, 0.0
    for place in range(size):
        v[(end * size + place) * STRIDE] = w[X * size + place]
        v[((end + 1) * size + place) * STRIDE] = w[R * size + place]
        v[((end + 2) * size + place) * STRIDE] = w[H * size + place]
        total = v[(TOTAL * size + place) * STRIDE] + w[OWN_TOTAL * size + place]
        v[(TOTAL * size + place) * STRIDE] = total
        at_left, at_right = v[(LEFT_R * size + place) * STRIDE], v[(RIGHT_R * size + place) * STRIDE]
        with_left += total * at_left
        with_right += total * at_right
        between += at_left * at_right
        left += at_left * at_left
        right += at_right * at_right
    return n[DEPTH] < n[DEEPEST] and not turned(between, left, right, with_left, with_right)


def finished(w, v, a, n, ends, divergent, positions, told, seen):
    """A draw is made: note it, or learn from it; what there is to do then."""
    acceptance, changed, kept, size = a[ACCEPTED] / n[STEPS], False, n[NUMBER] - n[WARMUP], n[SIZE]
    if kept < 0:
        changed = learn(v, a, n, ends, acceptance, seen)
    else:
        for place in range(size):
            positions[kept * size + place] = v[(CHOSEN_X * size + place) * STRIDE]
        row = kept * TOLDS
        told[row], told[row + 1], told[row + 2] = a[CHOSEN_VALUE], a[CHOSEN_ENERGY], acceptance
        told[row + 3], told[row + 4] = 1.0 if divergent else 0.0, float(n[STEPS])
    n[NUMBER] += 1
    task = BEGIN
    if n[NUMBER] == n[WARMUP] + n[DRAWS]:
        n[PHASE] = DONE
        task = NOTHING
    elif changed:  # the gradient where the chain stands has another scale
        for place in range(size):
            w[X * size + place] = v[(CHOSEN_X * size + place) * STRIDE]
        n[PHASE] = WAITING if n[METRIC] == LOW_RANK else STARTING
        n[SEARCH] = 1
        task = NOTHING
    return task
