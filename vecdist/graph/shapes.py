"""Shapes: broadcasting, and the axes on which a value varies.

A dimension is an ``int`` where lengths are known (what a user holds) or a ``str`` that names a length (what is
compiled).  A dimension equal to ``1`` never varies; both kinds obey the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import SupportsIndex, TypeAlias

Dim = int | str
Shape = tuple[Dim, ...]

Lengths: TypeAlias = SupportsIndex | Iterable[SupportsIndex]
"""A shape as it is asked for: the lengths of the axes, or that of the only one."""


class BroadcastError(ValueError):
    """Two shapes have an axis whose lengths differ and neither is 1."""


def broadcast(shapes: Iterable[Shape]) -> Shape:
    """The common shape of ``shapes``, aligned at the last axis."""
    common: Shape = ()
    for shape in shapes:
        if shape and shape != common:
            common = _common(common, shape) if common else shape
    return common


def _common(a: Shape, b: Shape) -> Shape:
    """The common shape of two."""
    if len(a) < len(b):
        a, b = b, a
    beyond = len(a) - len(b)
    return (*a[:beyond], *map(_join, a[beyond:], b))


def _join(a: Dim, b: Dim) -> Dim:
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    raise BroadcastError(f"lengths {a} and {b} do not broadcast")


def length_in(dim: Dim, lengths: Mapping[str, int]) -> int:
    """The number that a dimension stands for."""
    return lengths[dim] if isinstance(dim, str) else dim


def in_turn(shape: Shape, first: Sequence[Dim]) -> list[int]:
    """The axes of a shape (negative) from the outermost loop to the innermost: those of lengths in ``first`` lead."""
    places = {dim: place for place, dim in enumerate(first)}
    return sorted(range(-len(shape), 0), key=lambda axis: places.get(shape[axis], len(first)))


def broadcast_axes(shape: Shape, into: Shape) -> tuple[int, ...]:
    """The axes of ``into`` (negative) along which an array of ``shape`` is repeated."""
    return tuple(
        axis
        for axis in range(-len(into), 0)
        if into[axis] != 1 and (-axis > len(shape) or shape[axis] == 1)
    )


def numbered(shapes: Sequence[Shape]) -> tuple[tuple[tuple[int, ...], ...], list[Dim]]:
    """Shapes with a number below 0 in place of each length but 1, which equal lengths share; and the lengths in order.

    >>> numbered([(5, 1), (3,), (5,)])
    (((-1, 1), (-2,), (-1,)), [5, 3])
    """
    numbers: dict[Dim, int] = {1: 1}
    known = {
        shape: tuple([numbers.setdefault(dim, -len(numbers)) for dim in shape]) for shape in dict.fromkeys(shapes)
    }
    return tuple([known[shape] for shape in shapes]), list(numbers)[1:]


def normalise_axes(axes: int | Iterable[int] | None, ndim: int) -> tuple[int, ...]:
    """``axes`` as sorted negative integers; ``None`` means all of them."""
    if axes is None:
        return tuple(range(-ndim, 0))
    given = (axes,) if isinstance(axes, int) else tuple(axes)
    for axis in given:
        if not -ndim <= axis < ndim:
            raise ValueError(f"axis {axis} does not exist: the array has {ndim} axes")
    result = tuple(sorted(axis if axis < 0 else axis - ndim for axis in given))
    if len(set(result)) != len(result):
        raise ValueError(f"an axis is repeated in {given}")
    return result
