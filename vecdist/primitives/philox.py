"""Random bits: Philox4x32-10, a function of a key and a counter, and the numbers that are made of its bits.

Salmon, Moraes, Dror and Shaw (2011), Parallel random numbers: as easy as 1, 2, 3, sections 4.3 and 5.
Every element has its own counter, so that a result depends on neither the device nor who computes it.
"""

from __future__ import annotations

import math

import numpy as np

from vecdist.graph.node import Node, cast
from vecdist.primitives.arithmetic import bit_xor, from_bits, sqrt
from vecdist.primitives.elementary import log
from vecdist.primitives.floating import FORMATS
from vecdist.primitives.table import Primitive, primitive
from vecdist.primitives.trigonometric import near_cos

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)  # table 2 of the paper
WEYL = (0x9E3779B9, 0xBB67AE85)  # the golden ratio and sqrt(3) - 1, section 4.3
WORD = 0xFFFFFFFF


def _words(pair: Node) -> tuple[Node, Node]:
    """The low and the high half of 64 bits."""
    return cast(pair & WORD, np.uint32), cast(pair >> 32, np.uint32)  # a constant is not wrapped by its cast


def _pair(low: Node, high: Node) -> Node:
    return (cast(high, np.uint64) << 32) | cast(low, np.uint64)


def _block(key: Node, low: Node, high: Node) -> tuple[Node, Node]:
    """The 128 bits for a counter of 128 bits, both as two halves."""
    (k0, k1), (c0, c1), (c2, c3) = _words(key), _words(low), _words(high)
    for _ in range(ROUNDS):
        low0, high0 = _words(cast(c0, np.uint64) * MULTIPLIERS[0])
        low1, high1 = _words(cast(c2, np.uint64) * MULTIPLIERS[1])
        c0, c1, c2, c3 = bit_xor(bit_xor(high1, c1), k0), low1, bit_xor(bit_xor(high0, c3), k1), low0
        k0, k1 = k0 + WEYL[0], k1 + WEYL[1]
    return _pair(c0, c1), _pair(c2, c3)


# The first and the last 64 of the bits for a key and a counter, whose low half comes first: integers of 64 bits, all.
philox_first: Primitive = primitive("philox_first", 3, expand=lambda key, low, high: _block(key, low, high)[0])
philox_last: Primitive = primitive("philox_last", 3, expand=lambda key, low, high: _block(key, low, high)[1])


def open_unit(bits: Node, dtype: np.dtype) -> Node:
    """A number in the open interval (0, 1), (k + 1/2) 2^-52 or (k + 1/2) 2^-23 for the first bits k: exact."""
    form = FORMATS[dtype.itemsize]
    fraction = cast(bits >> (64 - form.fraction), f"i{dtype.itemsize}")
    return from_bits(fraction | form.one) - (1.0 - 0.5 ** (form.fraction + 1))


def small_unit(bits: Node, dtype: np.dtype) -> Node:
    """As ``open_unit``, but with more digits near 0 in float32, where 31 bits become a float of 24; it may be 1."""
    if dtype.itemsize == 8:
        return open_unit(bits, dtype)
    return (cast(cast(bits >> 33, np.int32), dtype) + 0.5) * 0.5**31


def standard_normal(first: Node, last: Node, dtype: np.dtype) -> Node:
    """A standard normal number of 128 bits, sqrt(-2 log u) cos(2 pi v): Box and Muller (1958)."""
    return sqrt(-2.0 * log(small_unit(first, dtype))) * near_cos((2.0 * math.pi) * open_unit(last, dtype))
