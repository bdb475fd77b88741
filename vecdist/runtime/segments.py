"""Rows in the order of their groups, in pieces of one width: how a sum by groups needs no atomic additions.

The rows of a group are cut into pieces of at most ``width`` rows, and every piece is written out to that width.  The
sums of pieces are rows again, with the same groups; level by level there are fewer, until each group has one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

WIDTHS = tuple(1 << step for step in range(10))  # of pieces: up to 512 rows, enough for a warp of a GPU
PIECE = 32  # rows that could be read in the time that a piece takes beside its rows
LEVEL = 1 << 17  # rows that could be read in the time that one more level takes


@final
@dataclass(frozen=True)
class Level:
    """Pieces of rows: the row at each place of a piece, how many places count, and the width.

    Places beyond the last row of a piece repeat that row; a group without rows has a piece of which no place counts.
    """

    order: Any
    count: Any
    width: int


@final
@dataclass(frozen=True)
class Segments:
    """The levels of a grouping, and for each index array the element that a piece of the first level belongs to."""

    levels: tuple[Level, ...]
    owners: tuple[Any, ...]


def segments(indices: Sequence[Any], sizes: Sequence[int], xp: Any) -> Segments:
    """The pieces of rows with ``indices``, one array for each of the indexed axes, whose lengths are ``sizes``.

    ``xp`` is the library of the arrays, NumPy or CuPy.  There is at least one row and one group.
    """
    key, groups = xp.zeros(indices[0].shape, xp.int64), 1
    for index, size in zip(indices, sizes, strict=True):
        key, groups = key * size + index, groups * size
    levels, first = [], None
    while first is None or levels[-1].order.shape[0] > groups:
        level, key = _level(key, groups, xp)
        levels.append(level)
        first = key if first is None else first
    owners = []
    for size in reversed(sizes):
        first, owner = first // size, first % size
        owners.append(owner[:, None])
    return Segments(tuple(levels), tuple(reversed(owners)))


def _level(key: Any, groups: int, xp: Any) -> tuple[Level, Any]:
    """Pieces of the rows with groups ``key``, and the group of each piece."""
    rows = key.shape[0]
    order = xp.argsort(key, kind="stable")
    sizes = xp.bincount(key, minlength=groups)
    width = _width(sizes, groups, xp)
    pieces = xp.maximum(1, -(-sizes // width))
    after, pieces_after = xp.cumsum(sizes), xp.cumsum(pieces)
    piece = xp.arange(int(pieces_after[-1]))
    group = xp.searchsorted(pieces_after, piece, side="right")
    begin = (after - sizes)[group] + (piece - (pieces_after - pieces)[group]) * width
    count = xp.clip(after[group] - begin, 0, width)
    place = begin[:, None] + xp.minimum(xp.arange(width), xp.maximum(count - 1, 0)[:, None])
    small = xp.int32 if rows < 2**31 else xp.int64
    return Level(order[xp.minimum(place, rows - 1)].astype(small), count[:, None].astype(xp.int32), width), group


def _width(sizes: Any, groups: int, xp: Any) -> int:
    """The width that costs least: in places, and in further levels where a group has several pieces.

    Pieces of one row are as many as the rows: they are for groups of one row alone.
    """
    largest = max(1, int(sizes.max()))
    costs = {}
    for width in WIDTHS[largest > 1 :]:
        pieces = int(xp.maximum(1, -(-sizes // width)).sum())
        further = math.ceil(math.log(largest) / math.log(max(2, width))) - 1
        later = LEVEL + max(groups, pieces // width) * (width + PIECE)
        costs[width] = pieces * (width + PIECE) + max(0, further) * later
        if width >= largest:
            break
    return min(costs, key=lambda width: (costs[width], width))
