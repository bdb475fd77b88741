"""Windows that move, and what is summed over them: NumPy's convolutions, those of any number of axes, and layers'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from vecdist.lazy.array import LazyArray, as_lazy, operands
from vecdist.lazy.rearranging import zeros_around
from vecdist.primitives.windows import windows

MODES = ("full", "same", "valid")


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
        (x.shape[axis] - spacing * (width - 1) - 1) // step + 1
        for (axis, _, step, spacing), width in zip(moves, widths, strict=True)
    ]
    return LazyArray(windows(x.node, moves, counts, widths))


def _sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> LazyArray:
    x = as_lazy(x)
    widths = tuple(window_shape) if isinstance(window_shape, Sequence) else (int(window_shape),)
    axes = range(x.ndim) if axis is None else normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    if writeable:
        raise TypeError("windows of a lazy array cannot be written to")
    if len(widths) != len(axes):
        raise ValueError(f"a window of shape {widths} does not fit {len(axes)} axes of an array of shape {x.shape}")
    ndim = x.ndim
    for made, (place, width) in enumerate(zip(axes, widths, strict=True)):
        if not 0 < width <= x.shape[place]:
            raise ValueError(f"windows of {width} elements do not fit axis {place} of length {x.shape[place]}")
        x = moving(x, (place - ndim - made,), (width,))
    return x


def weighted(x: LazyArray, weights: LazyArray) -> LazyArray:
    """The sums of the windows of x times weights of as many axes, at every place where a window fits."""
    axes = range(-x.ndim, 0)
    return (moving(x, axes, weights.shape) * weights).sum(tuple(axes))


def correlated(x: LazyArray, weights: LazyArray, mode: str) -> LazyArray:
    """What ``weighted`` gives, also where windows stand over the ends of x: for ``same``, as many as x has elements."""
    if mode == "valid":
        return weighted(x, weights)
    before = [width - 1 if mode == "full" else width // 2 for width in weights.shape]
    return weighted(zeros_around(x, [(each, width - 1 - each if mode == "same" else each)
                                     for each, width in zip(before, weights.shape, strict=True)]), weights)  # fmt: skip


def of_one_axis(name: str, a: Any, v: Any, mode: str) -> tuple[LazyArray, LazyArray]:
    """Two arrays of one axis and one dtype."""
    if mode not in MODES:
        raise ValueError(f"np.{name} has the modes {', '.join(MODES)}, not {mode!r}")
    nodes = operands(a, v)
    kind = np.result_type(*(node.dtype for node in nodes))
    first, second = (LazyArray(node).astype(kind) for node in nodes)
    for each in (first, second):
        if each.ndim > 1 or not each.size:
            shapes = f"{first.shape} and {second.shape}"
            raise ValueError(f"np.{name} wants arrays of one axis that have elements, given shapes {shapes}")
    return first.ravel(), second.ravel()


def _correlate(a: Any, v: Any, mode: str = "valid") -> LazyArray:
    first, second = of_one_axis("correlate", a, v, mode)
    swapped = len(first) < len(second)
    found = correlated(second, first, mode) if swapped else correlated(first, second, mode)
    return (found[::-1] if swapped else found).astype(first.dtype)


def _convolve(a: Any, v: Any, mode: str = "full") -> LazyArray:
    first, second = of_one_axis("convolve", a, v, mode)
    if len(first) < len(second):
        first, second = second, first
    return correlated(first, second[::-1], mode).astype(first.dtype)


def layer(
    x: LazyArray, filters: LazyArray, steps: Sequence[int], spacings: Sequence[int], groups: int,
    around: Sequence[tuple[int, int]],
) -> LazyArray:
    """Windows of x (batch, inputs, *lengths) times filters (outputs, inputs / groups, *widths), summed over inputs.

    There are so many zeros ``around`` each length.
    """
    count, (outputs, inputs) = len(steps), filters.shape[:2]
    parted = zeros_around(x.reshape(x.shape[0], groups, 1, inputs, *x.shape[2:]), [*[(0, 0)] * 4, *around])
    wide = filters.reshape(groups, outputs // groups, inputs, *[1] * count, *filters.shape[2:])
    found = moving(parted, range(-count, 0), filters.shape[2:], steps, spacings) * wide
    total = found.sum((3, *range(-count, 0)))
    return total.reshape(x.shape[0], outputs, *total.shape[3:])


CONVOLUTIONS: dict[str, Callable[..., Any]] = {"convolve": _convolve, "correlate": _correlate}
FUNCTIONS: dict[str, Callable[..., Any]] = {"sliding_window_view": _sliding_window_view}
