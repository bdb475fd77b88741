"""Trees of leapfrog steps that grow until they turn: what a chain does with one gradient after another.

Multinomial No-U-Turn sampling (Hoffman and Gelman 2014; Betancourt 2017, A conceptual introduction to Hamiltonian Monte
Carlo, appendix A): a tree doubles in a random direction until its ends, or those of a part of it, move towards each
other.  Nothing is called again and again: turns inside the part that grows are looked for from the momenta at its
leaves of even numbers, of which as many are kept as the tree is deep.
"""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import math

from vecdist.samplers.trees.draws import uniform
from vecdist.samplers.trees.learning import learn, restart
from vecdist.samplers.trees.moving import (
    DIVERGENT,
    add,
    added,
    copy,
    copy_point,
    dot,
    energy,
    fresh_momentum,
    go_on,
    kick,
    share,
    whiten,
)
from vecdist.samplers.trees.places import (
    ACCEPTED,
    CHECKS,
    CHOSEN_ENERGY,
    CHOSEN_H,
    CHOSEN_VALUE,
    CHOSEN_X,
    DEEPEST,
    DEPTH,
    DONE,
    DRAWS,
    EVENT,
    GROWING,
    LEAF,
    LEFT_R,
    LEFT_X,
    NUMBER,
    OWN_ENERGY,
    OWN_H,
    OWN_TOTAL,
    OWN_VALUE,
    OWN_WEIGHT,
    OWN_X,
    PHASE,
    RIGHT_R,
    RIGHT_X,
    SEARCH,
    SEARCHING,
    SIZE,
    START,
    STARTING,
    STEP,
    STEPS,
    TOLD,
    TOTAL,
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


def advance(v, a, n, key, ends, value, gradient, positions, told):
    """Take in the value and the gradient where the chain is, and put it where they are wanted next, unless it is done.

    All are flat arrays; draws after the warm-up are written to the next rows of ``positions`` and ``told``.
    """
    whiten(v, n, gradient)
    if n[PHASE] == GROWING:
        grow(v, a, n, key, ends, value, positions, told)
    elif n[PHASE] == SEARCHING:
        search(v, a, n, key, value)
    elif n[PHASE] == STARTING:
        copy(v, n, X, CHOSEN_X)
        copy(v, n, H, CHOSEN_H)
        a[CHOSEN_VALUE] = value
        if n[SEARCH]:
            n[SEARCH] = 1
            try_step(v, a, n, key)
        else:
            begin(v, a, n, key)


def try_step(v, a, n, key):
    """One step from where the chain stands."""
    copy(v, n, CHOSEN_X, X)
    copy(v, n, CHOSEN_H, H)
    fresh_momentum(v, n, key)
    a[START] = energy(v, n, a[CHOSEN_VALUE])
    n[PHASE], n[WAY] = SEARCHING, 1
    go_on(v, a, n)


def search(v, a, n, key, value):
    """Double or halve the step size until acceptance is on the other side (Hoffman and Gelman 2014, algorithm 4)."""
    kick(v, a, n)
    larger = a[START] - energy(v, n, value) > LOG_HALF_WAY
    if n[SEARCH] == 1:
        n[SEARCH] = 2 if larger else -2
    else:
        n[SEARCH] += 1 if n[SEARCH] > 0 else -1
    if larger == (n[SEARCH] > 0) and abs(n[SEARCH]) < TRIES:
        a[STEP] *= 2.0 if larger else 0.5
        try_step(v, a, n, key)
    else:
        restart(a, n)
        n[SEARCH] = 0
        begin(v, a, n, key)


def begin(v, a, n, key):
    """A draw: a tree of one leaf, with a fresh momentum."""
    copy(v, n, CHOSEN_X, X)
    copy(v, n, CHOSEN_H, H)
    fresh_momentum(v, n, key)
    copy_point(v, n, X, LEFT_X)
    copy_point(v, n, X, RIGHT_X)
    copy(v, n, R, TOTAL)
    a[START] = a[CHOSEN_ENERGY] = energy(v, n, a[CHOSEN_VALUE])
    a[WEIGHT] = a[ACCEPTED] = 0.0
    n[PHASE], n[DEPTH], n[STEPS] = GROWING, 0, 0
    double(v, a, n, key)


def double(v, a, n, key):
    """Grow a part as large as the tree is, in a random direction."""
    n[WAY] = 1 if uniform(key, n[EVENT]) < 0.5 else -1
    n[EVENT] += 1
    copy_point(v, n, RIGHT_X if n[WAY] == 1 else LEFT_X, X)
    size = n[SIZE]
    for place in range(size):
        v[OWN_TOTAL * size + place] = 0.0
    a[OWN_WEIGHT], n[LEAF] = -math.inf, 0
    go_on(v, a, n)


def grow(v, a, n, key, ends, value, positions, told):
    """A leaf more."""
    kick(v, a, n)
    found = energy(v, n, value)
    error = found - a[START]
    n[STEPS] += 1
    a[ACCEPTED] += math.exp(min(-error, 0.0))
    divergent = not error < DIVERGENT
    if divergent or not taken(v, a, n, key, value, found):
        finish(v, a, n, key, ends, divergent, positions, told)
    elif n[LEAF] < 1 << n[DEPTH]:
        go_on(v, a, n)
    elif joined(v, a, n, key):
        double(v, a, n, key)
    else:
        finish(v, a, n, key, ends, divergent, positions, told)


def taken(v, a, n, key, value, found):
    """Take a leaf of this energy into the part that grows; whether that has not turned."""
    log_weight = a[START] - found
    add(v, n, R, OWN_TOTAL)
    a[OWN_WEIGHT] = added(a[OWN_WEIGHT], log_weight)
    if uniform(key, n[EVENT]) < share(log_weight, a[OWN_WEIGHT]):
        copy(v, n, X, OWN_X)
        copy(v, n, H, OWN_H)
        a[OWN_VALUE], a[OWN_ENERGY] = value, found
    n[EVENT] += 1
    straight = not turned_within(v, n)
    n[LEAF] += 1
    return straight


def joined(v, a, n, key):
    """Take the part that has grown into the tree; whether the tree goes on growing."""
    copy_point(v, n, X, RIGHT_X if n[WAY] == 1 else LEFT_X)
    if uniform(key, n[EVENT]) < share(a[OWN_WEIGHT], a[WEIGHT]):
        copy(v, n, OWN_X, CHOSEN_X)
        copy(v, n, OWN_H, CHOSEN_H)
        a[CHOSEN_VALUE], a[CHOSEN_ENERGY] = a[OWN_VALUE], a[OWN_ENERGY]
    n[EVENT] += 1
    a[WEIGHT] = added(a[WEIGHT], a[OWN_WEIGHT])
    add(v, n, OWN_TOTAL, TOTAL)
    n[DEPTH] += 1
    at_left, at_right = dot(v, n, TOTAL, LEFT_R), dot(v, n, TOTAL, RIGHT_R)
    return n[DEPTH] < n[DEEPEST] and not turned(v, n, LEFT_R, RIGHT_R, at_left, at_right)


def turned(v, n, first, last, with_first, with_last):
    """Whether the ends of a path move towards each other, by the products of their momenta with the sum of all.

    Half of the momenta at the ends are no part of the way between them, which leapfrog steps make of the others.
    """
    between = dot(v, n, first, last)
    at_first = with_first - 0.5 * (dot(v, n, first, first) + between)
    at_last = with_last - 0.5 * (dot(v, n, last, last) + between)
    return at_first <= 0.0 or at_last <= 0.0


def turned_within(v, n):
    """Whether a balanced part of what grows, which ends with the last leaf, has turned.

    Leaf number l, if it is even, is kept in row b, the number of 1s in l without its last bit; if it is odd, as many
    parts end with it as it has 1s at the end, which begin at the leaves in the rows up to b.
    """
    leaf, size, ones = n[LEAF], n[SIZE], 0
    rest = leaf >> 1
    while rest > 0:
        ones += rest & 1
        rest >>= 1
    if leaf % 2 == 0:
        copy(v, n, R, CHECKS + ones)
        copy(v, n, OWN_TOTAL, sums(n) + ones)
        return False
    row = ones
    while leaf & 1:
        first, before = CHECKS + row, sums(n) + row
        with_first = with_last = 0.0
        for place in range(size):
            start = v[first * size + place]
            way = v[OWN_TOTAL * size + place] - v[before * size + place] + start
            with_first += way * start
            with_last += way * v[R * size + place]
        if turned(v, n, first, R, with_first, with_last):
            return True
        row, leaf = row - 1, leaf >> 1
    return False


def finish(v, a, n, key, ends, divergent, positions, told):
    """A draw is made: note it, or learn from it, and begin the next."""
    acceptance, changed, kept = a[ACCEPTED] / n[STEPS], False, n[NUMBER] - n[WARMUP]
    if kept < 0:
        changed = learn(v, a, n, ends, acceptance)
    else:
        size = n[SIZE]
        for place in range(size):
            positions[kept * size + place] = v[CHOSEN_X * size + place]
        row = kept * len(TOLD)
        told[row], told[row + 1], told[row + 2] = a[CHOSEN_VALUE], a[CHOSEN_ENERGY], acceptance
        told[row + 3], told[row + 4] = 1.0 if divergent else 0.0, float(n[STEPS])
    n[NUMBER] += 1
    if n[NUMBER] == n[WARMUP] + n[DRAWS]:
        n[PHASE] = DONE
    elif changed:  # the gradient where the chain stands has another scale
        copy(v, n, CHOSEN_X, X)
        n[PHASE], n[SEARCH] = STARTING, 1
    else:
        begin(v, a, n, key)
