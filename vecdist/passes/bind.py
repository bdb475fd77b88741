"""Part the structure of an expression from its arrays.

What a user builds knows every length and holds its arrays.  What is compiled knows only which lengths are equal, which
are 1, and how each array is laid out: lengths become symbols, arrays become slots, starts of slices become arguments.
Two expressions of the same structure give the *same* nodes, and so share one compiled program.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from vecdist.graph.leaves import Leaf
from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, rewrite, topological
from vecdist.graph.shapes import Dim, Shape, broadcast, numbered
from vecdist.passes.lengths import Axes, find_axes, merge_axes
from vecdist.passes.outline import Outline
from vecdist.passes.recurrences import once
from vecdist.primitives.calls import called, results_of
from vecdist.primitives.reductions import along, reduced
from vecdist.primitives.scans import IN_ORDER, in_order
from vecdist.primitives.structure import Entry, drop_axes, is_along, is_reduction, position, reshape


@final
@dataclass(frozen=True)
class Bound:
    """A structure, and what fills it: arrays for its slots, numbers for its lengths and starts."""

    roots: tuple[Node, ...]
    leaves: tuple[Leaf, ...]
    lengths: dict[str, int]

    @property
    def constant(self) -> tuple[int, ...]:
        """The slots whose arrays never change."""
        return tuple(place for place, leaf in enumerate(self.leaves) if leaf.constant)

    @property
    def unvarying(self) -> tuple[int, ...]:
        """The slots of data that never change, and of the numbers that the expression was written with."""
        numbers = (place for place, leaf in enumerate(self.leaves) if leaf.kind == "number" and not leaf.traced)
        return (*self.constant, *numbers)

    def with_leaves(self, leaves: Iterable[Leaf]) -> Bound:
        """The same with more leaves, for slots behind all others."""
        return Bound(self.roots, (*self.leaves, *leaves), self.lengths)

    def without(self, last: int) -> Bound:
        """The same without so many of the last leaves."""
        return Bound(self.roots, self.leaves[: len(self.leaves) - last], self.lengths)


def bind(roots: Sequence[Node]) -> Bound:
    """The structure of ``roots``, and its arrays."""
    return _bound(tuple(roots))[0]


def _bound(roots: tuple[Node, ...]) -> tuple[Bound, dict[str, tuple[int, ...]]]:
    """The structure of ``roots``, and of which lengths of theirs its lengths are products."""
    axes = find_axes(roots)
    merge_axes(roots, axes)
    binder = Binder(axes)
    binder.there = {node for node in topological(roots) if node.op == "external"}
    return Bound(rewrite(roots, binder.rule), tuple(binder.leaves), binder.lengths), binder.sizes


@final
@dataclass(frozen=True)
class Binding:
    """The structure of expressions of one outline and of any lengths.

    ``places`` are those of its leaves in the outline.  A length is a product of those that the outline has, by their
    ``numbers``; a start is a number of the structure, and so is a length that steps alone have, which stand in it.
    """

    roots: tuple[Node, ...]
    places: tuple[int, ...]
    numbers: dict[str, tuple[int, ...]]
    starts: dict[str, int]

    def filled(self, leaves: Sequence[Leaf], lengths: Sequence[int]) -> Bound:
        """The structure with other arrays."""
        products = {name: math.prod([lengths[number] for number in each]) for name, each in self.numbers.items()}
        return Bound(self.roots, tuple([leaves[place] for place in self.places]), products | self.starts)


def rebound(memo: Memo[Binding], roots: Sequence[Node], found: Outline) -> Bound:
    """As ``bind``, of ``roots`` with this outline; looked up where they differ from others in lengths alone.

    Nothing depends on lengths but by which of them are equal, and which are 1.
    """
    shapes, lengths = numbered(found.shapes)

    def learnt() -> Binding:
        bound, sizes = _bound(tuple(roots))
        numbers = {length: number for number, length in enumerate(lengths)}
        places = {leaf: place for place, leaf in enumerate(found.leaves)}
        known = {name: each for name, each in sizes.items() if all(size == 1 or size in numbers for size in each)}
        products = {name: tuple([numbers[size] for size in each if size != 1]) for name, each in known.items()}
        starts = {name: start for name, start in bound.lengths.items() if name not in known}
        return Binding(bound.roots, tuple([places[leaf] for leaf in bound.leaves]), products, starts)

    return memo((found.structure, shapes), learnt).filled(found.leaves, [int(length) for length in lengths])


class Binder:
    """The rules by which user nodes become structure."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes
        self.leaves: list[Leaf] = []
        self.lengths: dict[str, int] = {}
        self.sizes: dict[str, tuple[int, ...]] = {}
        self.names: dict[int, str] = {}
        self.starts: dict[int, str] = {}
        self.there: set[Node] = set()  # results of calls, of which others are not asked for

    def rule(self, node: Node, args: tuple[Node, ...]) -> Node:
        kind = "reduction" if is_reduction(node) else "along" if is_along(node) else node.op
        kind = "in_order" if node.op in IN_ORDER else kind
        special = getattr(self, f"_{kind}", None)
        if special is not None:
            return special(node, args)
        args = tuple(self.aligned(node, *pair) for pair in zip(node.args, args, strict=True))
        shape = broadcast(arg.shape for arg in args)
        return Node(node.op, args, node.attrs, shape, node.dtype)

    def aligned(self, node: Node, arg: Node, bound: Node) -> Node:
        """An argument without axes of length 1 where those of ``node`` are one with the axes before them."""
        kept, mine = self.axes.kept(node), self.axes.kept(arg)
        gone = [place - len(mine) for place, axis in enumerate(mine) if axis - arg.ndim + node.ndim not in kept]
        return drop_axes(bound, tuple(gone)) if gone else bound

    def dim(self, node: Node, axis: int) -> Dim:
        length = self.axes.find(node, axis)
        if length is None:
            return 1
        if length not in self.names:
            name = self.names[length] = f"n{len(self.names)}"
            self.sizes[name] = self.axes.sizes(length)
            self.lengths[name] = math.prod(self.sizes[name])
        return self.names[length]

    def shape(self, node: Node) -> Shape:
        return tuple(self.dim(node, axis) for axis in self.axes.kept(node))

    def _const(self, node: Node, args: tuple[Node, ...]) -> Node:
        return node

    def _leaf(self, node: Node, args: tuple[Node, ...]) -> Node:
        (leaf,) = node.attrs
        self.leaves.append(leaf)
        index = len(self.leaves) - 1
        if leaf.kind == "number":
            return Node("slot", (), (index, "number", ()), (), node.dtype)
        if leaf.array.flags.c_contiguous:
            return Node("slot", (), (index, "dense", ()), self.shape(node), node.dtype)
        return Node("slot", (), (index, "strided", self.axes.kept(node)), self.shape(node), node.dtype)

    def _position(self, node: Node, args: tuple[Node, ...]) -> Node:
        return position(*self.shape(node))

    def _extent(self, node: Node, args: tuple[Node, ...]) -> Node:
        (source,) = node.args
        (counted,) = node.attrs
        kept = self.axes.kept(source)
        dims = tuple(self.dim(source, axis) for axis in kept if axis - source.ndim in counted)
        return Node("extent", (), (tuple(d for d in dims if d != 1),), (), node.dtype)

    def _along(self, node: Node, args: tuple[Node, ...]) -> Node:
        kept = self.axes.kept(node)
        axes = tuple(place - len(kept) for place, axis in enumerate(kept) if axis - node.ndim in node.attrs[0])
        return along(node.op, args[0], axes)

    def _reduction(self, node: Node, args: tuple[Node, ...]) -> Node:
        (source,) = node.args
        kept = self.axes.kept(source)
        axes = tuple(
            place - len(kept)
            for place, axis in enumerate(kept)
            if axis - source.ndim in node.attrs[0] and args[0].shape[place] != 1
        )
        total = reduced(node.op, args[0], axes) if axes else args[0]
        return reshape(total, self.shape(node))  # one axis of the source may stand for several of the user's

    def _in_order(self, node: Node, args: tuple[Node, ...]) -> Node:
        kept = self.axes.kept(node)
        (axis,), *rest = node.attrs
        return in_order(node.op, args, ((kept.index(axis + node.ndim) - len(kept),), *rest))

    def _view(self, node: Node, args: tuple[Node, ...]) -> Node:
        (source,) = node.args
        target = {axis: place for place, axis in enumerate(self.axes.kept(node))}
        entries: list[Entry] = []
        for axis in self.axes.kept(source):
            to, start, step = node.attrs[0][axis]
            entries.append((None if to is None else target[to], self.start(start), step))
        return Node("view", args, (tuple(entries),), self.shape(node), node.dtype)

    def _pad(self, node: Node, args: tuple[Node, ...]) -> Node:
        (source,) = node.args
        target = {axis: place for place, axis in enumerate(self.axes.kept(source))}
        entries: list[Entry] = []
        for axis in self.axes.kept(node):
            to, start, step = node.attrs[0][axis]
            entries.append((None if to is None else target[to], self.start(start), step))
        return Node("pad", args, (tuple(entries),), self.shape(node), node.dtype)

    def _windows(self, node: Node, args: tuple[Node, ...]) -> Node:
        return Node(node.op, args, node.attrs, self.shape(node), node.dtype)

    _overlaps = _windows

    def start(self, start: Any) -> Dim:
        if start == 0:
            return 0
        if start not in self.starts:
            self.starts[start] = f"s{len(self.starts)}"
            self.lengths[self.starts[start]] = start
        return self.starts[start]

    def _gather(self, node: Node, args: tuple[Node, ...]) -> Node:
        return Node("gather", args, node.attrs, self.shape(node), node.dtype)

    def _scatter(self, node: Node, args: tuple[Node, ...]) -> Node:
        return Node("scatter", args, node.attrs, self.shape(node), node.dtype)

    def _product(self, node: Node, args: tuple[Node, ...]) -> Node:
        return Node("product", args, (), self.shape(node), node.dtype)

    def _external(self, node: Node, args: tuple[Node, ...]) -> Node:
        call, place, ahead, kinds = node.attrs
        every = [self.shape(each) if call.axes or each in self.there else each.shape for each in results_of(node)]
        kinds = tuple([(shape, dtype) for shape, (_, dtype) in zip(every, kinds, strict=True)])
        return called(call, args, kinds, ahead)[place]

    def _local(self, node: Node, args: tuple[Node, ...]) -> Node:
        return Node("local", (), node.attrs, self.shape(node), node.dtype)

    def _recurrence(self, node: Node, args: tuple[Node, ...]) -> Node:
        step, *rest = node.attrs
        step = replace(step, news=rewrite(step.news, self.rule))
        found = Node("recurrence", args, (step, *rest), self.shape(node), node.dtype)
        return once(found) if args[step.carries].shape[0] == 1 else found

    def _checked(self, node: Node, args: tuple[Node, ...]) -> Node:
        """Its labels are for whoever reads the error, and no part of the structure."""
        return Node("checked", args, (), args[0].shape, node.dtype)

    def _reshape(self, node: Node, args: tuple[Node, ...]) -> Node:
        return Node("reshape", args, (), self.shape(node), node.dtype)


