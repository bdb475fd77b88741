"""Sums by groups that never change: rows in the order of their groups, and reductions in place of scattered sums.

Each loop over the rows is computed in an order in which the rows of a group stand together, cut into pieces (see
``vecdist.runtime.segments``).  An axis of rows becomes two: pieces, and places within them.  Constant data are put in
that order once; what varies is picked from its place.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np

from vecdist.graph.node import Node, cast, rewrite, topological, where
from vecdist.graph.shapes import Dim, Shape, broadcast
from vecdist.passes.partial_evaluation import Specialised
from vecdist.primitives.indexing import gather
from vecdist.primitives.reductions import along, reduced
from vecdist.primitives.structure import (
    STRUCTURE,
    drop_axes,
    is_along,
    is_reduction,
    position,
    rebuilt,
    reshape,
    summed,
    view,
)


@final
@dataclass(frozen=True)
class Grouping:
    """Rows along ``dim`` with constant ``indices``, one for each of the indexed axes, whose lengths are ``sizes``."""

    indices: tuple[Node, ...]
    dim: str
    sizes: Shape


@final
@dataclass(frozen=True)
class Sorting:
    """A grouping and the number of its levels; its arrays fill the slots from ``first`` on.

    These are the order of rows and the count of each level, then the owners of the pieces.
    """

    grouping: Grouping
    levels: int
    number: int
    first: int

    @property
    def slots(self) -> int:
        return 2 * self.levels + len(self.grouping.indices)

    def names(self, level: int) -> tuple[str, str]:
        """The symbols for the number of pieces and their width."""
        return f"p{16 * self.number + level}", f"w{16 * self.number + level}"

    def shape(self, level: int) -> tuple[Dim, Dim]:
        """The two axes that rows become; the pieces of the last level are the elements of the indexed axis itself."""
        sizes = self.grouping.sizes
        pieces, width = self.names(level)
        return (sizes[0] if level == self.levels - 1 and len(sizes) == 1 else pieces), width

    @property
    def widths(self) -> tuple[str, ...]:
        """The symbols for the widths of pieces, which are among ``vecdist.runtime.segments.WIDTHS``."""
        return tuple(self.names(level)[1] for level in range(self.levels))

    def lengths(self, shapes: Sequence[tuple[int, int]]) -> dict[str, int]:
        """The numbers that the symbols of its levels, of these shapes, stand for."""
        return {
            name: length
            for level, pieces in enumerate(shapes)
            for name, length in zip(self.names(level), pieces, strict=True)
        }

    def order(self, level: int) -> Node:
        small = Node("slot", (), (self.first + 2 * level, "dense", ()), self.shape(level), np.dtype(np.int32))
        return cast(small, np.int64)

    def inside(self, level: int, rows: Node, axis: int) -> Node:
        """Which places of pieces hold rows, where ``rows`` has these along ``axis``; any of them, where that is 1."""
        pieces, width = self.shape(level)
        count = Node("slot", (), (self.first + 2 * level + 1, "dense", ()), (pieces, 1), np.dtype(np.int32))
        mask = position(width) < count if rows.shape[axis] != 1 else count > 0
        return view(mask, [(0, 0, 1), (1, 0, 1)], mask.shape + (1,) * (-axis - 1))

    def owner(self, place: int) -> Node:
        """The element of an indexed axis that each piece of the first level belongs to."""
        number = self.first + 2 * self.levels + place
        return Node("slot", (), (number, "dense", ()), (self.shape(0)[0], 1), np.dtype(np.int64))


def groupings(roots: Sequence[Node], data: Collection[int]) -> tuple[Grouping, ...]:
    """The groupings of scattered sums whose indices depend on nothing but the slots in ``data``."""
    constant: dict[Node, bool] = {}
    found: dict[Grouping, None] = {}
    for node in topological(roots):
        own = node.op != "slot" or node.attrs[0] in data
        constant[node] = own and all(constant[arg] for arg in node.args)
        if node.op == "scatter" and node.attrs[1] and all(constant[index] for index in node.args[1:]):
            grouping = _grouping(node)
            if grouping is not None:
                found[grouping] = None
    return tuple(found)


def _grouping(node: Node) -> Grouping | None:
    """The grouping of a scatter along one axis of rows."""
    (start, count), (values, *indices) = node.attrs, node.args
    after = node.ndim - start - count
    rows = values.shape[start : values.ndim - after]
    if len(rows) != 1 or not isinstance(rows[0], str) or any(index.shape != rows for index in indices):
        return None
    return Grouping(tuple(indices), rows[0], node.shape[start : start + count])


def sorted_rows(
    special: Specialised, sortings: Sequence[Sorting], data: Collection[int], outputs: int, picks: bool = True
) -> Specialised:
    """The roots with their sums by groups, and whole sums over the same rows, in the order of the groups.

    The first ``outputs`` roots are results, the others flags, which any row may raise.  Rows that may change stay in
    the order that they are in, and all that is computed of them, unless it pays to pick them one by one.
    """
    if not sortings:
        return special
    state = _State(sortings, frozenset(data), list(special.constants), picks)
    roots = rewrite(special.roots, state.rule)
    flags = (state.sorted_flag(root) for root in roots[outputs:])
    return Specialised((*roots[:outputs], *flags), tuple(state.constants), special.conditions)


@final
class _OrderMatters(Exception):
    """Rows cannot be put in another order."""


@final
@dataclass
class _State:
    """The sortings, the constants so far, and what has been put in order."""

    sortings: Sequence[Sorting]
    data: Collection[int]
    constants: list[Node]
    picks: bool
    done: dict[tuple[Sorting, Node], Node] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The slot of the first constant."""
        return self.sortings[-1].first + self.sortings[-1].slots

    def rule(self, node: Node, args: tuple[Node, ...]) -> Node:
        node = rebuilt(node, args)
        try:
            if node.op == "scatter" and node.attrs[1]:
                grouping = _grouping(node)
                found = next((sorting for sorting in self.sortings if sorting.grouping == grouping), None)
                return node if found is None else self.summed_by_group(node, found)
            if node.op == "sum":
                return self.summed_over_rows(node)
        except _OrderMatters:
            return node
        return node

    def sorted_flag(self, root: Node) -> Node:
        """A flag in the order of a grouping."""
        for sorting in self.sortings:
            if sorting.grouping.dim in root.shape:
                try:
                    flag = self.ordered(root, sorting)
                    return flag & sorting.inside(0, flag, _axis(root, sorting))
                except _OrderMatters:
                    continue
        return root

    def summed_by_group(self, node: Node, sorting: Sorting) -> Node:
        """A scatter as sums over the pieces of each level."""
        (start, count), values = node.attrs, node.args[0]
        axis = _axis(values, sorting)
        pieces = _summed_pieces(self.ordered(values, sorting), sorting, 0, axis)
        for level in range(1, sorting.levels):
            rows = gather(pieces, [sorting.order(level)], sorting.shape(level), start)
            pieces = _summed_pieces(rows, sorting, level, axis)
        return reshape(pieces, node.shape) if count > 1 else pieces

    def summed_over_rows(self, node: Node) -> Node:
        """A sum over all rows, in the order of a grouping of them."""
        (source,), (axes,) = node.args, node.attrs
        for sorting in self.sortings:
            if sorting.grouping.dim in source.shape and _axis(source, sorting) in axes:
                axis = _axis(source, sorting)
                rows = _masked(self.ordered(source, sorting), sorting, 0, axis)
                return drop_axes(summed(rows, (*_split(axes, axis), axis - 1)), (axis - 1,))
        return node

    def ordered(self, node: Node, sorting: Sorting) -> Node:
        """``node`` with its axis of rows as pieces and places."""
        dim = sorting.grouping.dim

        def inputs(node: Node) -> list[Node]:
            return [arg for arg in node.args[: 1 if node.op == "gather" else None] if dim in arg.shape]

        for below in topological((node,), inputs):
            if (sorting, below) not in self.done:
                self.done[sorting, below] = self.in_order(below, sorting)
        return self.done[sorting, node]

    def in_order(self, node: Node, sorting: Sorting) -> Node:
        axis = _axis(node, sorting)
        match node.op:
            case "slot":
                return self.picked(node, sorting)
            case "position":
                place = node.ndim + axis
                return gather(node, [sorting.order(0)], (*node.shape[:place], *sorting.shape(0)), place)
            case "view":
                return self.viewed(node, sorting)
            case "gather":
                return self.gathered(node, sorting)
        if node.op not in STRUCTURE:
            args = tuple(self.argument(arg, sorting, axis) for arg in node.args)
            return Node(node.op, args, node.attrs, broadcast(arg.shape for arg in args), node.dtype)
        if not (is_reduction(node) or is_along(node)) or axis in node.attrs[0]:
            raise _OrderMatters
        source, axes = self.done[sorting, node.args[0]], _split(node.attrs[0], axis)
        return reduced(node.op, source, axes) if is_reduction(node) else along(node.op, source, axes)

    def argument(self, node: Node, sorting: Sorting, axis: int) -> Node:
        """An argument of an elementwise node whose rows lie along ``axis``."""
        if sorting.grouping.dim in node.shape:
            if _axis(node, sorting) != axis:
                raise _OrderMatters
            return self.done[sorting, node]
        if node.ndim < -axis:
            return node
        place = node.ndim + axis
        entries = [(at if at <= place else at + 1, 0, 1) for at in range(node.ndim)]
        return view(node, entries, (*node.shape[:place], 1, *node.shape[place:]))

    def picked(self, node: Node, sorting: Sorting) -> Node:
        """The rows of an input or of a constant; those of constant data are a constant of their own."""
        number, place = node.attrs[0], node.ndim + _axis(node, sorting)
        source = self.constants[number - self.first] if number >= self.first else node
        rows = gather(source, [sorting.order(0)], sorting.shape(0), place)
        if number >= self.first or number in self.data:
            return self.constant(rows)
        if not self.picks:
            raise _OrderMatters
        return rows

    def constant(self, node: Node) -> Node:
        """The input that takes the place of an array computed once."""
        if node not in self.constants:
            self.constants.append(node)
        return Node("slot", (), (self.first + self.constants.index(node), "dense", ()), node.shape, node.dtype)

    def viewed(self, node: Node, sorting: Sorting) -> Node:
        """A view that leaves rows in place, or repeats its source for each of them."""
        (source,), (entries,) = node.args, node.attrs
        place = node.ndim + _axis(node, sorting)
        shape = _shape(node, sorting)
        moved = [(at if at is None or at < place else at + 1, begin, step) for at, begin, step in entries]
        if sorting.grouping.dim in source.shape:
            rows = source.ndim + _axis(source, sorting)
            if entries[rows] != (place, 0, 1):
                raise _OrderMatters
            source = self.done[sorting, source]
            once = source.shape[rows + 1] == 1
            moved[rows : rows + 1] = [(place, 0, 1), (None if once else place + 1, 0, 1)]
            shape = (*shape[: place + 1], source.shape[rows + 1], *shape[place + 2 :])
        elif any(at == place for at, _, _ in entries):
            raise _OrderMatters
        return view(source, moved, shape)

    def gathered(self, node: Node, sorting: Sorting) -> Node:
        """Elements picked for each row; for each piece where the indices are those of the grouping itself."""
        (start, count), (source, *indices) = node.attrs, node.args
        dim, pieces = sorting.grouping.dim, sorting.shape(0)
        if dim in source.shape or any(index.shape != (dim,) for index in indices):
            raise _OrderMatters
        if tuple(indices) != sorting.grouping.indices or source.shape[start : start + count] != sorting.grouping.sizes:
            rows = [self.rows_of_index(index, sorting) for index in indices]
            return gather(source, rows, pieces, start)
        if sorting.levels == 1 and count == 1:
            entries = [(at if at <= start else at + 1, 0, 1) for at in range(source.ndim)]
            return view(source, entries, (*source.shape[: start + 1], 1, *source.shape[start + 1 :]))
        owners = [sorting.owner(place) for place in range(count)]
        return gather(source, owners, (pieces[0], 1), start)

    def rows_of_index(self, index: Node, sorting: Sorting) -> Node:
        """An index array in the order of rows: one constant, where it depends on constant data alone."""
        slots = {below.attrs[0] for below in topological((index,)) if below.op == "slot"}
        if slots <= set(self.data):
            return self.constant(gather(index, [sorting.order(0)], sorting.shape(0)))
        return self.ordered(index, sorting)


def _axis(node: Node, sorting: Sorting) -> int:
    """The axis of rows, negative."""
    axes = [axis for axis in range(-node.ndim, 0) if node.shape[axis] == sorting.grouping.dim]
    if len(axes) != 1:
        raise _OrderMatters
    return axes[0]


def _shape(node: Node, sorting: Sorting) -> Shape:
    """The shape with two axes in place of the rows."""
    place = node.ndim + _axis(node, sorting)
    return (*node.shape[:place], *sorting.shape(0), *node.shape[place + 1 :])


def _split(axes: Sequence[int], split: int) -> tuple[int, ...]:
    """Axes, all of them negative, where the one at ``split`` has become two, of which this is the second."""
    return tuple(axis - 1 if axis < split else axis for axis in axes)


def _summed_pieces(rows: Node, sorting: Sorting, level: int, axis: int) -> Node:
    """The sum of each piece; ``axis`` is that of the places."""
    return drop_axes(summed(_masked(rows, sorting, level, axis), (axis,)), (axis,))


def _masked(rows: Node, sorting: Sorting, level: int, axis: int) -> Node:
    """Zero in the places that hold no rows; ``axis`` is that of the places."""
    places = view(position(sorting.shape(level)[1]), [(0, 0, 1)], (sorting.shape(level)[1],) + (1,) * (-axis - 1))
    return where(sorting.inside(level, places, axis), rows, 0)
