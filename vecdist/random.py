"""Random numbers as lazy arrays: functions of a key and of the place of each element, fused with what uses them.

The generator is Philox4x32-10 (Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3).  There is no state:
the same key and shape give the same numbers every time, on every device, and whatever else the kernel computes.  For
others take another key, ``fold_in(key, n)``; what two calls give for one key is not independent.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from vecdist.distributions.stream import Stream
from vecdist.graph.leaves import leaf, number
from vecdist.graph.node import Node, cast, const
from vecdist.graph.shapes import BroadcastError, Lengths, broadcast
from vecdist.lazy.array import LazyArray, Operand, where
from vecdist.primitives.philox import WORD, philox_first
from vecdist.primitives.structure import position

FOLDED = 1 << 63  # in the counters of folded keys, and of no number
TURNS = 10  # of lines of a permutation: 200 000 of 16 places or more do not tell pairs of them from independent ones
MIXERS = ((16, 0x7FEB352D), (15, 0x846CA68B))  # Wellons (2018), Prospecting for hash functions: lowbias32


def bits(key: Operand, shape: Lengths = ()) -> LazyArray:
    """64 random bits for each element, as uint64.

    ``key`` is an integer or an array of integers, of which the low 64 bits count; a new one compiles nothing.  Elements
    are counted in row-major order over ``shape``; the result has the shape of ``key`` and ``shape`` broadcast, and
    each element of ``key`` makes a stream of its own.  Raises ``TypeError`` for a key that is no integer and
    ``ValueError`` for shapes that do not broadcast.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.random.bits(7, 3)) >> np.uint64(60)
    array([12, 12,  0], dtype=uint64)
    """
    return LazyArray(stream(key, shape).bits()[0])


def uniform(key: Operand, shape: Lengths = (), dtype: DTypeLike = np.float64) -> LazyArray:
    """Uniform numbers in the open interval (0, 1); ``key`` and ``shape`` as for ``bits``.

    They are (k + 1/2) 2^-52 for whole k, in float32 (k + 1/2) 2^-23.  Raises ``TypeError`` for another ``dtype``.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.random.uniform(7, 3)).round(4)
    array([0.7502, 0.7953, 0.0085])
    >>> vecdist.random.uniform(np.arange(4)[:, None], 3).shape        # a stream for each of four chains
    (4, 3)
    """
    return LazyArray(stream(key, shape, _floating(dtype)).uniform())


def normal(key: Operand, shape: Lengths = (), dtype: DTypeLike = np.float64) -> LazyArray:
    """Standard normal numbers, to 8.5 in either tail, in float32 to 6.6; ``key`` and ``shape`` as for ``bits``.

    Raises ``TypeError`` for a ``dtype`` other than float32 and float64.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.random.normal(7, 3)).round(4)
    array([0.6511, 0.6532, 1.7953])
    """
    return LazyArray(stream(key, shape, _floating(dtype)).normal())


def fold_in(key: Operand, number: Operand) -> LazyArray:
    """The key of another stream, independent of ``key`` and of what other numbers give; both broadcast.

    It is lazy: in a kernel that uses it, it is computed there.

    >>> import numpy as np, vecdist
    >>> keys = vecdist.random.fold_in(7, np.arange(2))
    >>> np.asarray(vecdist.random.uniform(keys[:, None], 2)).round(4)
    array([[0.0123, 0.6531],
           [0.0434, 0.4338]])
    """
    return LazyArray(philox_first(key_node(key), key_node(number), const(FOLDED, np.uint64)))


def minibatch(key: Operand, step: Operand, size: int, rows: int) -> LazyArray:
    """Which ``size`` of so many ``rows`` make the batch of a step: whole numbers, of shape (..., size).

    Steps go through the rows in a random order, a new one in each epoch of ``rows // size`` steps, in which no row
    comes twice and the last ``rows % size`` of the order do not come.  In each batch every row is as likely as any
    other.  ``key`` and ``step`` broadcast to the leading axes; other ones, and other ``rows``, compile nothing.
    Raises ``ValueError`` for a size below 1 or beyond ``rows``, and for more than 2^53 rows.

    >>> import numpy as np, vecdist
    >>> np.asarray(vecdist.random.minibatch(7, np.arange(3), 3, 10))
    array([[4, 0, 7],
           [1, 3, 6],
           [2, 8, 9]])
    """
    size, rows = operator.index(size), operator.index(rows)
    if not 1 <= size <= rows <= 2**53:
        raise ValueError(f"a batch has 1 to all of the rows, given {size} of {rows}")
    number_of, each = LazyArray(key_node(step)), rows // size
    own, first = fold_in(key, number_of // each), number_of % each * size
    return _permuted(own[..., None], first[..., None] + LazyArray(cast(position(size), np.uint64)), rows)


def _permuted(key: LazyArray, place: LazyArray, length: int) -> LazyArray:
    """What stands at a place of a random permutation of ``range(length)``, found without the others.

    A place is a cell of a grid of about as many rows as columns, filled row by row, whose last row may end early.  Each
    row, then each column, and so on, is turned by a random number of its own, as the halves of Feistel's ciphers are
    (Black and Rogaway 2002, Ciphers with arbitrary finite domains, method 3).  All places are turned first, by a
    uniform number, so that every element is equally likely at every place.
    """
    columns = math.isqrt(length - 1) + 1
    total, width, full, rest = (_whole(each) for each in (length, columns, *divmod(length, columns)))
    start = place + (uniform(key) * float(length)).astype(np.uint64)
    start = where(start < total, start, start - total)
    row: Any = np.floor(start.astype(np.float64) / float(columns)).astype(np.uint64)
    column = start - row * width
    for turn in range(0, TURNS, 2):
        word = fold_in(key, 1 + turn)
        column = _turned(column, word & WORD, row, where(row < full, width, rest))
        row = _turned(row, word >> 32, column, where(column < rest, full + 1, full))
    return (row * width + column).astype(np.int64)


def _turned(place: LazyArray, key: LazyArray, line: LazyArray, length: LazyArray) -> LazyArray:
    """A place in a line of cells, turned by a number below its length that depends on the key and the line's number."""
    word = key.astype(np.uint32) ^ line.astype(np.uint32)
    for shift, multiplier in MIXERS:
        word = (word ^ (word >> shift)) * multiplier
    there = place + (((word ^ (word >> 16)).astype(np.uint64) * length) >> 32)
    return where(there < length, there, there - length)


def _whole(value: int) -> LazyArray:
    return LazyArray(number(value, np.dtype(np.uint64)))


def key_node(key: Any) -> Node:
    """A key as 64 bits."""
    if isinstance(key, int) and not isinstance(key, bool):
        return number(key % 2**64, np.dtype(np.uint64))
    found: Any = np.asarray(key) if getattr(key, "dtype", None) is None else key
    if getattr(found.dtype, "kind", "") not in "iu":
        given = type(key).__name__ if found.dtype == object else f"{found.dtype}"
        raise TypeError(
            f"a key is an integer or an array of integers, given {given}; a generator of NumPy's has one, "
            "rng.integers(2**63)"
        )
    return cast(key.node if isinstance(key, LazyArray) else leaf(key), np.uint64)


def lengths(shape: Lengths) -> tuple[int, ...]:
    """A shape as a tuple; the lengths may be those of a lazy array."""
    found = tuple(operator.index(n) for n in (shape if isinstance(shape, Iterable) else (shape,)))
    if any(length < 0 for length in found):
        raise ValueError(f"a shape has no negative lengths, given {found}")
    return found


def stream(key: Operand, shape: Any, dtype: DTypeLike = np.float64) -> Stream:
    """The random numbers of a key for the elements of an array."""
    node, found = key_node(key), lengths(shape)
    try:
        broadcast((node.shape, found))
    except BroadcastError:
        raise ValueError(f"a key of shape {node.shape} and a shape {found} do not broadcast") from None
    return Stream(node, found, np.dtype(dtype))


def _floating(dtype: DTypeLike) -> np.dtype:
    found = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise TypeError(f"random numbers are float32 or float64, not {found}")
    return found


__all__ = ["bits", "fold_in", "minibatch", "normal", "uniform"]
