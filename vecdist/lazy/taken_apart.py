"""Ufuncs of the bits of floats and integers: exponents, neighbours and shifts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from vecdist.graph.node import Node, cast, const, where
from vecdist.primitives.arithmetic import (
    bit_and,
    bits,
    copysign,
    eq,
    from_bits,
    isfinite,
    maximum,
    minimum,
    shift_left,
    shift_right,
)
from vecdist.primitives.floating import format_of


def _power_of_two(n: Node, like: Node) -> Node:
    """2^n, of exponents of normal numbers."""
    form = format_of(like)
    return from_bits(shift_left(n + form.bias, const(form.fraction, n.dtype)))


def scaled(x: Node, n: Node) -> Node:
    """x 2^n, rounded once: steps below the least exponent leave room for the digits of what is subnormal."""
    form = format_of(x)
    least = 1 - form.bias
    whole = cast(minimum(maximum(cast(n, np.int64), -4 * form.bias), 4 * form.bias), f"i{x.dtype.itemsize}")
    for _ in range(2):
        step = where(whole > form.bias, form.bias, where(whole < least, least + form.fraction + 1, 0 * whole))
        x, whole = x * _power_of_two(step, x), whole - step
    return x * _power_of_two(minimum(maximum(whole, least), form.bias), x)


def parts(x: Node) -> tuple[Node, Node]:
    """A number of at least 1/2 and below 1, and the power of two that it is multiplied by."""
    form = format_of(x)
    least, room = abs(x) < form.smallest_normal, form.fraction + 1
    normal = bits(abs(where(least, x * 2.0**room, x)))
    found = shift_right(normal, const(form.fraction, normal.dtype)) - (form.bias - 1)
    exponent = where(isfinite(x) & ~eq(x, 0.0), where(least, found - room, found), 0)
    return scaled(x, -exponent), cast(exponent, np.int32)


def spacing(x: Node) -> Node:
    size = bits(abs(x))
    gap = from_bits(size + 1) - from_bits(size)
    return where(isfinite(x), where(x < 0.0, -gap, gap), x - x)


def neighbour(x: Node, y: Node) -> Node:
    """The next number towards ``y``; its derivative is that of ``x``."""
    size = bits(abs(x))
    moved = where(where(x < 0.0, y < x, y > x), size + 1, size - 1)
    found = where(eq(x, 0.0), copysign(from_bits(const(1, size.dtype)), y), copysign(from_bits(moved), x))
    found = found - where(isfinite(x), from_bits(bits(x)) - x, 0.0)
    return where(eq(x, y), y, where(eq(x, x) & eq(y, y), found, x + y))


def _shifted(shift: Callable[[Node, Node], Node], beyond: Callable[[Node], Node]) -> Callable[[Node, Node], Node]:
    """A shift by as many digits as there are, or by any other number, which moves all of them out."""

    def shifted(x: Node, count: Node) -> Node:
        inside = (count >= 0) & (count < 8 * x.dtype.itemsize)
        return where(inside, shift(x, where(inside, count, 0)), beyond(x))

    return shifted


left_shift = _shifted(shift_left, lambda x: x * 0)
right_shift = _shifted(shift_right, lambda x: x * 0 if x.dtype.kind == "u" else where(x < 0, -1, 0 * x))


def bit_count(x: Node) -> Node:
    """How many digits of the size of an integer are 1, by sums of neighbouring ones."""
    size = cast(cast(where(x < 0, -x, x), f"u{x.dtype.itemsize}"), np.uint64)
    for width, mask in ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F),
                        (8, 0x00FF00FF00FF00FF), (16, 0x0000FFFF0000FFFF), (32, 0x00000000FFFFFFFF)):  # fmt: skip
        own = const(mask, size.dtype)
        size = bit_and(size, own) + bit_and(shift_right(size, const(width, size.dtype)), own)
    return cast(size, np.uint8)
