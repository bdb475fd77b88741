"""Convolutions: sums over windows, as NumPy and SciPy have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from vecdist.lazy.array import LazyArray, as_lazy
from vecdist.primitives.windows import windows


def moving(
    x: LazyArray, axes: Sequence[int], widths: Sequence[int], steps: Sequence[int] = (), spacings: Sequence[int] = ()
) -> LazyArray:
    """Windows along ``axes`` (negative), whose places are as many new axes at the end."""
    count = len(axes)
    steps, spacings = tuple(steps) or (1,) * count, tuple(spacings) or (1,) * count
    x = x[(..., *[None] * count)]
    moves = [
        (axis - count, place - count, step, spacing)
        for place, (axis, step, spacing) in enumerate(zip(axes, steps, spacings, strict=True))
    ]
    counts = [
        (x.shape[move[0]] - move[3] * (width - 1) - 1) // move[2] + 1
        for move, width in zip(moves, widths, strict=True)
    ]
    return LazyArray(windows(x.node, moves, counts, widths))


def correlated(x: LazyArray, filters: LazyArray, steps: Sequence[int], spacings: Sequence[int]) -> LazyArray:
    """Sums of filters (outputs, inputs, *widths) times the windows of x (..., inputs, *lengths): (..., outputs, *)."""
    count = len(steps)
    x = x[(..., None, *[slice(None)] * (count + 1))]
    x = moving(x, range(-count, 0), filters.shape[2:], steps, spacings)
    wide = filters[(slice(None), slice(None), *[None] * count)]
    return (x * wide).sum(tuple([-2 * count - 1, *range(-count, 0)]))
