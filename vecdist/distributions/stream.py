"""The random numbers that the formulas of draws are made of."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from vecdist.graph.node import Node, cast, const
from vecdist.graph.shapes import Shape
from vecdist.primitives.arithmetic import sqrt
from vecdist.primitives.elementary import expm1, log
from vecdist.primitives.philox import WORD, open_unit, philox_first, philox_last, small_unit, standard_normal
from vecdist.primitives.structure import position, reshape
from vecdist.primitives.table import Primitive
from vecdist.primitives.trigonometric import near_cos
from vecdist.special.draws import gamma_draw, log_gamma_draw

TAG = 32  # where the tag stands in the upper half of a counter; a try stands below it


class Stream:
    """Random numbers for each element of an array of ``shape``, of ``dtype``: each call gives others.

    The counter of an element is its place, in row-major order, and a tag of the call.
    """

    def __init__(self, key: Node, shape: Shape, dtype: np.dtype, tags: Iterator[int] | None = None) -> None:
        self.key: Node = key
        self.shape: Shape = shape
        self.dtype: np.dtype = dtype
        self.place: Node = cast(position(*shape), np.uint64) if shape else const(0, np.uint64)
        self._tags = itertools.count() if tags is None else tags

    def over(self, length: int) -> Stream:
        """The random numbers of an array with one more axis behind."""
        return Stream(reshape(self.key, (*self.key.shape, 1)), (*self.shape, length), self.dtype, self._tags)

    def bits(self) -> tuple[Node, Node]:
        """128 random bits, in two halves."""
        counter = self.place, const(next(self._tags) << TAG, np.uint64)
        return philox_first(self.key, *counter), philox_last(self.key, *counter)

    def uniform(self) -> Node:
        """A number in the open interval (0, 1)."""
        return open_unit(self.bits()[0], self.dtype)

    def uniforms(self) -> tuple[Node, Node]:
        """Two numbers in the open interval (0, 1), at the price of one."""
        first, last = self.bits()
        return open_unit(first, self.dtype), open_unit(last, self.dtype)

    def exponential(self) -> Node:
        """An exponential variable with mean 1."""
        return -log(small_unit(self.bits()[0], self.dtype))

    def normal(self) -> Node:
        """A standard normal variable."""
        return standard_normal(*self.bits(), self.dtype)

    def polar(self) -> tuple[Node, Node]:
        """Twice an exponential variable with mean 1, and the cosine of a uniform angle."""
        first, last = self.bits()
        return -2.0 * log(small_unit(first, self.dtype)), near_cos((2.0 * math.pi) * open_unit(last, self.dtype))

    def coordinate(self, power: float) -> Node:
        """A number between -1 and 1 whose density is as (1 - x^2)^power: Ulrich (1984), Applied Statistics 33."""
        twice, cosine = self.polar()
        return sqrt(-expm1(twice * (-1.0 / (2.0 * power + 1.0)))) * cosine

    def draw(self, primitive: Primitive, *parameters: Node) -> Node:
        """A variable that a routine finds by trying; in float64, which holds words and places."""
        words = cast(self.key & WORD, np.float64), cast(self.key >> 32, np.float64)
        place, tag = cast(self.place, np.float64), const(float(next(self._tags)), np.float64)
        return cast(primitive(*words, place, tag, *(cast(p, np.float64) for p in parameters)), self.dtype)

    def gamma(self, shape: Node) -> Node:
        """A gamma variable of scale 1."""
        return self.draw(gamma_draw, shape)

    def log_gamma(self, shape: Node) -> Node:
        """The logarithm of a gamma variable of scale 1, which may be too small to be a float itself."""
        return self.draw(log_gamma_draw, shape)
