"""Random numbers of a chain: Philox4x32-10 (Salmon et al. 2011), of the chain's key, an event's number, and a place."""

# ruff: noqa: ANN001, ANN201

from __future__ import annotations

import math

import numpy as np

from vecdist.primitives.philox import MULTIPLIERS, ROUNDS, WEYL

FACTOR0, FACTOR1 = np.uint64(MULTIPLIERS[0]), np.uint64(MULTIPLIERS[1])
NEXT0, NEXT1 = np.uint64(WEYL[0]), np.uint64(WEYL[1])
HALF, WORD, FRACTION = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(12)


def bits(key, place, event):
    """128 random bits, in two halves."""
    k0, k1 = key & WORD, key >> HALF
    c0, c1 = place & WORD, place >> HALF
    c2, c3 = event & WORD, event >> HALF
    for _ in range(ROUNDS):
        one, two = c0 * FACTOR0, c2 * FACTOR1
        c0, c1, c2, c3 = (two >> HALF) ^ c1 ^ k0, two & WORD, (one >> HALF) ^ c3 ^ k1, one & WORD
        k0, k1 = (k0 + NEXT0) & WORD, (k1 + NEXT1) & WORD
    return c0 | (c1 << HALF), c2 | (c3 << HALF)


def unit(word):
    """A number in the open interval (0, 1)."""
    return (float(word >> FRACTION) + 0.5) * 2.0**-52


def uniform(key, event):
    """A uniform number in the open interval (0, 1)."""
    word, _ = bits(key, np.uint64(0), np.uint64(event))
    return unit(word)


def normal(key, place, event):
    """A standard normal number: Box and Muller (1958)."""
    first, last = bits(key, np.uint64(place), np.uint64(event))
    return math.sqrt(-2.0 * math.log(unit(first))) * math.cos(2.0 * math.pi * unit(last))
