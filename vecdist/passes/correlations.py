"""Sums of products of windows: correlations, which convolutions, layers of them and their derivatives all are.

y_{b g o p} = sum_{c, t} x_{b g c, s p + d t + f} w_{g o c t} is one *across* windows, which moves ``w`` over x;
y_{g o c t} = sum_{b, p} x_{b g c, s p + d t + f} w_{b g o p} one *along* x, for which w is as long.  Where an index is
outside of x, or is no whole number once divided, x is 0.  Each axis of a sum has one part in that; what the axes of x
and w are, and by which numbers they move, is found by following the indices of a product through the views, windows and
zeros around what is multiplied.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from vecdist.graph.node import Node
from vecdist.graph.shapes import Dim

Length = Callable[[Dim], int]


@final
@dataclass(frozen=True)
class Index:
    """The index (sum_a c_a a + offset) / step along an axis, of axes a of a sum; ``bounded`` where all else is 0."""

    terms: tuple[tuple[int, int], ...] = ()
    offset: int = 0
    step: int = 1
    bounded: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is that of one axis of the sum, or always the first."""
        own = not self.terms or (len(self.terms) == 1 and self.terms[0][1] == 1)
        return own and not self.offset and self.step == 1

    def moved(self, start: int, step: int) -> Index | None:
        """The index ``start + step`` times this."""
        if (start, step) == (0, 1):
            return self
        if self.bounded or self.step != 1:
            return None
        return Index(tuple([(axis, step * factor) for axis, factor in self.terms]), start + step * self.offset)

    def plus(self, other: Index, factor: int) -> Index | None:
        """This index and ``factor`` times another."""
        more = other.moved(0, factor)
        if more is None or self.bounded or more.bounded or self.step != 1 or more.step != 1:
            return None
        found = dict(self.terms)
        for axis, each in more.terms:
            found[axis] = found.get(axis, 0) + each
        return Index(tuple([pair for pair in found.items() if pair[1]]), self.offset + more.offset)


@final
@dataclass(frozen=True)
class Move:
    """An axis of x, of this length: how many p and t there are, and s, d, f and e of its index (s p + d t + f) / e."""

    length: int
    steps: int
    places: int
    step: int
    spacing: int
    offset: int
    apart: int

    @property
    def inside(self) -> bool:
        """Whether no index is outside of x."""
        reach = self.spacing * (self.places - 1)
        most = self.step * (self.steps - 1) + self.offset + max(0, reach)
        return self.apart == 1 and self.offset + min(0, reach) >= 0 and most < self.length


@final
@dataclass(frozen=True)
class Correlation:
    """A correlation of known lengths; ``along`` says which kind it is.

    ``x`` and ``w`` say in which order their axes are those of the formula, and ``result`` the same of those of y; what
    has length 1 may stand anywhere.  ``shapes`` are those of the axes of x, w and y, and ``shape`` that which y has.
    """

    along: bool
    dtype: np.dtype
    batch: int
    groups: int
    outputs: int
    inputs: int
    moves: tuple[Move, ...]
    x: tuple[int, ...]
    w: tuple[int, ...]
    result: tuple[int, ...]
    shapes: tuple[tuple[int, ...], ...]
    shape: tuple[int, ...]

    @property
    def work(self) -> int:
        """The number of its products."""
        moves = math.prod(move.steps * move.places for move in self.moves)
        return self.batch * self.groups * self.outputs * self.inputs * moves


@final
@dataclass(frozen=True)
class Found:
    """A correlation in a graph, what it is of, and which move each axis of its result belongs to, if any."""

    kind: Correlation
    args: tuple[Node, Node]
    moved: tuple[int | None, ...]


Indices = tuple[Index, ...]


def followed(
    node: Node, at: Indices, length: Length, whole: Callable[[Node, Indices], bool] | None = None
) -> tuple[Node, Indices]:
    """What an array has its elements from, through all that moves them, and the indices there; ``whole`` ones alone."""
    while True:
        rule = _RULES.get(node.op)
        below = rule(node, at, length) if rule else None
        if below is None or (whole and not whole(node.args[0], below)):
            return node, at
        node, at = node.args[0], below


def _is_whole(index: Index, size: int, sizes: Mapping[int, int]) -> bool:
    """Whether an index takes all of an axis of this size in order."""
    return index.plain and size == (sizes[index.terms[0][0]] if index.terms else 1)


def _through_view(node: Node, at: Indices, length: Length) -> Indices | None:
    found, kept = [], {axis for axis, *_ in node.attrs[0]}
    if any(index.bounded and axis not in kept for axis, index in enumerate(at)):
        return None
    for axis, start, step in node.attrs[0]:
        source = node.args[0].shape[len(found)]
        if step < 0 or (axis is not None and at[axis].bounded and node.shape[axis] != source):
            return None
        found.append(Index(offset=length(start)) if axis is None else at[axis].moved(length(start), step))
    return _all(found)


def _through_pad(node: Node, at: Indices, length: Length) -> Indices | None:
    found: list[Index | None] = [Index()] * node.args[0].ndim
    for place, (axis, start, step) in enumerate(node.attrs[0]):
        if axis is None and length(node.shape[place]) == 1:
            continue
        if axis is None or at[place].bounded or at[place].step != 1:
            return None
        if (start, step) == (0, 1) and node.shape[place] == node.args[0].shape[axis]:
            found[axis] = at[place]
        else:
            found[axis] = replace(at[place], offset=at[place].offset - length(start), step=step, bounded=True)
    return _all(found)


def _through_windows(node: Node, at: Indices, length: Length) -> Indices | None:
    found: list[Index | None] = list(at)
    for axis, places, step, spacing in node.attrs[0]:
        inner = at[axis].moved(0, step)
        if node.args[0].shape[places] != 1 or inner is None:
            return None
        found[axis], found[places] = inner.plus(at[places], spacing), Index()
    return _all(found)


def _through_overlaps(node: Node, at: Indices, length: Length) -> Indices | None:
    found: list[Index | None] = list(at)
    for axis, places, step, spacing in node.attrs[0]:
        inner = at[axis].plus(at[places], -spacing)
        if inner is None:
            return None
        found[axis] = replace(inner, step=step, bounded=True)
    return _all(found)


def _all(found: Sequence[Index | None]) -> Indices | None:
    every = tuple([each for each in found if each is not None])
    return every if len(every) == len(found) else None


_RULES: Mapping[str, Callable[[Node, Indices, Length], Indices | None]] = {
    "view": _through_view, "pad": _through_pad, "windows": _through_windows, "overlaps": _through_overlaps,
}  # fmt: skip


def correlation(node: Node, length: Length) -> Found | None:
    """The correlation that a sum is, if it is one."""
    if node.op != "sum" or node.dtype not in {np.dtype("f4"), np.dtype("f8")}:
        return None
    start = tuple([Index(((axis, 1),) if dim != 1 else ()) for axis, dim in enumerate(node.args[0].shape)])
    product, at = followed(node.args[0], start, length)
    if product.op != "mul" or any(arg.dtype != node.dtype for arg in product.args):
        return None
    bounded = [axis - product.ndim for axis, index in enumerate(at) if index.bounded]
    sizes = dict(enumerate(map(length, node.args[0].shape)))

    def whole(each: Node, indices: Indices) -> bool:
        return all(_is_whole(index, length(dim), sizes) for index, dim in zip(indices, each.shape, strict=True))

    for first, second in (product.args, product.args[::-1]):
        if any(-axis > first.ndim or first.shape[axis] != product.shape[axis] for axis in bounded):
            continue  # where the product is 0, for it ends there, x does not end
        ending = tuple([index if index.bounded else own for index, own in zip(
            at[len(at) - first.ndim :], _shown(first, at), strict=True)])  # fmt: skip
        x, w = followed(first, ending, length), followed(second, _shown(second, at), length, whole)
        if any(len(index.terms) == 2 for index in x[1]) and whole(*w):
            return _Parts(node, x, w, length, sizes).found()
    return None


def _shown(arg: Node, at: Indices) -> Indices:
    """The indices of an argument of a product."""
    own = at[len(at) - arg.ndim :]
    return tuple([index if dim != 1 else Index() for index, dim in zip(own, arg.shape, strict=True)])


ACROSS = {
    ("plain", False, False): "batch", ("plain", True, False): "group", ("plain", True, True): "input",
    ("", True, False): "output", ("moving", False, False): "step", ("moving", True, True): "place",
}  # fmt: skip
ALONG = ACROSS | {
    ("plain", False, False): "input", ("plain", True, True): "batch",
    ("moving", False, False): "place", ("moving", True, True): "step",
}  # fmt: skip
"""The part of an axis, by what index of x it is in, whether w has it, and whether it is summed over."""


@final
class _Parts:
    """The parts that the axes of a sum have."""

    def __init__(
        self, node: Node, x: tuple[Node, Indices], w: tuple[Node, Indices], length: Length, sizes: Mapping[int, int]
    ) -> None:
        self.node, self.x, self.w, self.length, self.sizes = node, x, w, length, sizes
        pairs = zip(x[1], map(length, x[0].shape), strict=True)
        self.moving = [place for place, each in enumerate(pairs) if not _is_whole(*each, sizes)]
        self.summed = {axis + node.ndim for axis in node.attrs[0]}

    def found(self) -> Found | None:
        """The correlation, where each axis has a part."""
        (_, at), (_, there) = self.x, self.w
        places = [axis for index in (*at, *there) for axis, _ in index.terms]
        own, other = ([axis for index in each for axis, _ in index.terms] for each in (at, there))
        whole = {axis for axis, dim in enumerate(self.node.args[0].shape) if dim != 1}
        if len(set(own)) < len(own) or len(set(other)) < len(other) or set(places) != whole:
            return None
        if not all(self.sizes.values()) or any(not at[place].terms for place in self.moving):
            return None
        moving = {axis for place in self.moving for axis, _ in at[place].terms}
        told = {
            axis: ("moving" if axis in moving else "plain" if axis in own else "", axis in other, axis in self.summed)
            for axis in whole
        }
        few, many = (math.prod(self.sizes[axis] for axis, each in told.items() if each == ("moving", kind, kind))
                     for kind in (False, True))  # fmt: skip
        table = ALONG if many > few else ACROSS
        if not table.keys() >= set(told.values()):
            return None
        return self._classified(table is ALONG, {axis: table[each] for axis, each in told.items()})

    def _classified(self, along: bool, parts: Mapping[int, str]) -> Found | None:
        (x, at), (w, there) = self.x, self.w
        moving = self.moving
        moves = [self._move(at[place], x.shape[place], parts) for place in moving]
        if None in moves:
            return None
        number = {axis: n for n, place in enumerate(moving) for axis, _ in at[place].terms}

        def rank(axis: int, order: Sequence[str]) -> tuple[int, int]:
            return order.index(parts[axis]), number.get(axis, axis)

        def ordered(indices: Indices, order: Sequence[str]) -> tuple[int, ...]:
            own = {place: index.terms[0][0] for place, index in enumerate(indices) if index.terms}
            ones = [place for place in range(len(indices)) if place not in own]
            return (*ones, *sorted(own, key=lambda place: rank(own[place], order)))

        inner = [place for place in range(x.ndim) if place not in moving]
        plain = ordered(tuple([at[place] for place in inner]), ("batch", "group", "input"))
        after = ("group", "output", "input", "place") if along else ("batch", "group", "output", "step")
        with_w = ("batch", "group", "output", "step") if along else ("group", "output", "input", "place")
        left = {axis: Index(((axis, 1),)) for axis in parts if axis not in self.summed}
        result = ordered(tuple([left.get(axis, Index()) for axis in range(self.node.ndim)]), after)
        batch, groups, outputs, inputs = (
            math.prod(self.sizes[axis] for axis, own in parts.items() if own == part)
            for part in ("batch", "group", "output", "input")
        )
        shapes = tuple([tuple(map(self.length, each.shape)) for each in (x, w, self.node)])
        kind = Correlation(
            along, self.node.dtype, batch, groups, outputs, inputs, tuple([move for move in moves if move]),
            (*[inner[place] for place in plain], *moving), ordered(there, with_w), result, shapes, shapes[2],
        )  # fmt: skip
        moved = ("place",) if along else ("step",)
        shown = [number[axis] if parts.get(axis) in moved and axis in left else None for axis in range(self.node.ndim)]
        return Found(kind, (_unshaped(x), _unshaped(w)), tuple(shown))

    def _move(self, index: Index, dim: Dim, parts: Mapping[int, str]) -> Move | None:
        """The move along an axis of x; none where its steps go back, or are both long and apart."""
        axes = {parts[axis]: (self.sizes[axis], factor) for axis, factor in index.terms}
        if len(axes) < len(index.terms) or not axes.keys() <= {"step", "place"}:
            return None
        (steps, step), (places, spacing) = axes.get("step", (1, 1)), axes.get("place", (1, 1))
        if step < 0 or (step > 1 and index.step > 1):
            return None
        return Move(self.length(dim), steps, places, step, spacing, index.offset, index.step)


def _unshaped(node: Node) -> Node:
    """What an array in row-major order has its elements from."""
    return node.args[0] if node.op == "reshape" else node


def reshaped(found: Found, node: Node, length: Length) -> Found:
    """A correlation whose elements in row-major order are those of another shape."""
    return Found(replace(found.kind, shape=tuple(map(length, node.shape))), found.args, ())


def cropped(found: Found, node: Node, length: Length) -> Found | None:
    """A correlation of which a view takes the part that it wants, with axes of length 1 elsewhere."""
    kind, axes, moves = found.kind, [], list(found.kind.moves)
    if len(found.moved) != len(node.attrs[0]):
        return None
    for (axis, start, step), move, size in zip(node.attrs[0], found.moved, kind.shapes[2], strict=True):
        begin, count = length(start), 1 if axis is None else length(node.shape[axis])
        if step != 1 or (axis is None and size != 1):
            return None
        if (begin, count) != (0, size):
            if move is None:
                return None
            old = moves[move]
            if kind.along:
                moves[move] = replace(old, places=count, offset=old.offset + old.spacing * begin)
            else:
                moves[move] = replace(old, steps=count, offset=old.offset + old.step * begin)
        axes.append(axis)
    kept = [axis for axis in axes if axis is not None]
    if kept != sorted(kept) or any(length(dim) != 1 for axis, dim in enumerate(node.shape) if axis not in kept):
        return None
    place = {axis: n for n, axis in enumerate(axes) if axis is not None}
    order = [axes[each] for each in kind.result if axes[each] is not None]
    ones = [axis for axis in range(node.ndim) if axis not in place]
    shape = tuple(map(length, node.shape))
    result, shapes = (*ones, *[each for each in order if each is not None]), (*kind.shapes[:2], shape)
    new = replace(kind, moves=tuple(moves), result=result, shapes=shapes, shape=shape)
    moved = tuple([found.moved[place[axis]] if axis in place else None for axis in range(node.ndim)])
    return Found(new, found.args, moved)
