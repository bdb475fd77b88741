"""Where in the loops a node is evaluated: one index per axis, and a guard where elements may be missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import final

from vecdist.graph.node import Node
from vecdist.graph.shapes import Dim, Shape
from vecdist.kernel.expressions import ONE, ZERO, Expr, further, joined, length
from vecdist.kernel.ir import Block


@final
@dataclass(frozen=True)
class Index:
    """An integer expression, known in ``block`` from ``level`` on; ``gathered`` where it is data.

    ``outside`` says that it may be none of the axis: what is loaded by it is guarded; ``split`` that it is one part of
    a place in row-major order, which many places share.
    """

    value: Expr
    block: Block
    level: int = 0
    gathered: bool = False
    outside: bool = False
    split: bool = False


@final
@dataclass(frozen=True)
class Context:
    """An index for each axis of a node (``None`` where the axis has length 1), and the guard of its loads.

    What is computed ``within`` a block belongs there, whatever its indices: to a step of a recurrence.
    """

    indices: tuple[Index | None, ...]
    guard: Index | None = None
    within: Block | None = None

    def at(self, node: Node) -> Context:
        """The context of an argument of an elementwise node: its last axes, without those it does not vary on."""
        own = self.indices[len(self.indices) - node.ndim :]
        indices = tuple(
            None if dim == 1 else index for index, dim in zip(own, node.shape, strict=True)
        )
        guarded = any(index is not None and index.outside for index in indices)  # others are there in any case
        return Context(indices, self.guard if guarded else None, self.within)

    def blocks(self) -> set[Block]:
        found = {index.block for index in self.indices if index is not None}
        found |= set(self.within.chain()) if self.within else set()
        return found | {self.guard.block} if self.guard else found

    def moved(self, block: Block, inner: Block) -> Context:
        """The same place in the loops, with what belongs to ``block`` moved into a block inside it."""
        indices = (replace(i, block=inner) if i is not None and i.block is block else i for i in self.indices)
        return Context(tuple(indices), self.guard, self.within)

    def moving(self, root: Block) -> Context:
        """The same without indices that are fixed: of one element of an axis, which no other place has."""
        kept = tuple([None if i is not None and i.block is root and not i.gathered else i for i in self.indices])
        return replace(self, indices=kept)

    def moves(self, root: Block) -> tuple[Expr | None, ...]:
        """How far along its axes a place is, in whichever loops."""
        return tuple([None if i is None else i.value for i in (*self.moving(root).indices, self.guard)])

    def level(self, block: Block) -> int:
        """The level of ``block`` from which the indices are known."""
        known = [index for index in (*self.indices, self.guard) if index is not None and index.block is block]
        return max((index.level for index in known), default=0)

    def place(self, shape: Shape) -> Expr:
        """The place of an element in row-major order."""
        known = ((index, dim) for index, dim in zip(self.indices, shape, strict=True) if index is not None)
        place: Expr | None = None
        for index, dim in known:
            place = index.value if place is None else place * length(dim) + index.value
        return ZERO if place is None else place

    def gathered(self) -> bool:
        return any(index is not None and index.gathered for index in self.indices)

    def is_split(self) -> bool:
        """Whether many places have the same index of an axis."""
        return any(index is not None and index.split for index in self.indices)

    def home(self, root: Block) -> Block:
        """The innermost block that an index belongs to."""
        return max(self.blocks(), key=lambda block: block.depth, default=root)


def through_view(context: Context, node: Node, root: Block) -> Context:
    """The context of the source of a view."""
    (source,) = node.args
    indices: list[Index | None] = []
    for (axis, start, step), dim in zip(node.attrs[0], source.shape, strict=True):
        index = None if axis is None else context.indices[axis]
        if dim == 1:
            indices.append(None)
        elif index is None:
            indices.append(Index(length(start), root))
        else:
            indices.append(replace(index, value=_affine(index.value, start, step)))
    return replace(context, indices=tuple(indices))


def _affine(index: Expr, start: Dim, step: int) -> Expr:
    return further(index if step == 1 else step * index, length(start))


def through_pad(context: Context, node: Node, root: Block) -> Context:
    """The context of the source of a pad: its indices, guarded where the source has no element.

    Where it stands at one place of an axis, which it has not or is of length 1 along, it is there whatever the index:
    no load is guarded by that, and what it is computed of need not be computed again at every index.
    """
    (source,) = node.args
    indices: list[Index | None] = [None] * source.ndim
    for (axis, start, step), dim, known in zip(node.attrs[0], node.shape, context.indices, strict=True):
        if axis is None or dim == 1 == source.shape[axis]:
            continue
        index = known or Index(ZERO, root)  # an axis of length 1, of which the source may have no element
        if (start, step, source.shape[axis]) == (0, 1, dim):
            indices[axis] = index
        elif source.shape[axis] != 1:
            indices[axis] = replace(index, value=_place(index, start, step), outside=True)
    own = {axis for axis, dim in enumerate(source.shape) if dim != 1} | {None}
    kept = _both([guard for axis, guard in _guards(context, node, root) if axis in own], root)
    return Context(tuple(indices), kept, context.within)


def guard(context: Context, node: Node, root: Block) -> Index | None:
    """Where a pad, or what is shifted, has an element of its source."""
    if node.op == "shifted":
        return through_shift(context, node, root).guard
    if node.op == "overlaps":
        return _both([known for _, known in _overlapping(context, node, root)], root)
    return _both([guard for _, guard in _guards(context, node, root)], root)


def _guards(context: Context, node: Node, root: Block) -> Iterator[tuple[int | None, Index]]:
    """When a pad has an element of its source: each condition with the axis of the source, -1 where that has none."""
    (source,) = node.args
    if context.guard:
        yield None, context.guard
    for (axis, start, step), dim, known in zip(node.attrs[0], node.shape, context.indices, strict=True):
        if axis is None:
            if dim != 1 and known is not None:
                yield -1, replace(known, value=known.value.equals(length(start)))
        elif not dim == 1 == source.shape[axis] and (start, step, source.shape[axis]) != (0, 1, dim):
            index = known or Index(ZERO, root)
            place = _place(index, start, step)
            there = (place >= 0) & (place < length(source.shape[axis]))
            whole = there if abs(step) == 1 else there & (_offset(index, start) % abs(step)).equals(0)
            yield axis, replace(index, value=whole)


def _place(index: Index, start: Dim, step: int) -> Expr:
    """The index of the source of a pad at an index of the pad."""
    if step == -1:
        return _affine(index.value, start, step)
    offset = _offset(index, start)
    return offset if step == 1 else offset // step


def _offset(index: Index, start: Dim) -> Expr:
    return further(index.value, length(start), backwards=True)


def _both(guards: list[Index], root: Block) -> Index | None:
    if not guards:
        return None
    block = max((guard.block for guard in guards), key=lambda block: block.depth)
    level = max(guard.level for guard in guards if guard.block is block)
    return Index(joined("&", [guard.value for guard in guards]), block, level)


def through_shift(context: Context, node: Node, root: Block) -> Context:
    """The context of what is shifted: the place before along its axis, guarded where there is none."""
    (axis,), backwards, _ = node.attrs
    known = context.indices[axis] or Index(ZERO, root)
    place = further(known.value, ONE, not backwards)
    there = place < length(node.shape[axis]) if backwards else known.value > 0
    guards = [*([context.guard] if context.guard else []), replace(known, value=there)]
    indices = list(context.indices)
    indices[axis] = replace(known, value=place, outside=True)
    return Context(tuple(indices), _both(guards, root), context.within)


def through_reshape(context: Context, node: Node, root: Block) -> Context:
    """The context of the source of a reshape, by the place in row-major order among the axes that are others there."""
    (source,) = node.args
    own, before = ([axis for axis, dim in enumerate(each.shape) if dim != 1] for each in (node, source))
    same = dict(_alike(own, before, node, source))
    indices = [context.indices[same[axis]] if axis in same else None for axis in range(source.ndim)]
    kept = {*same.values()}
    rest = Context(tuple([None if axis in kept else index for axis, index in enumerate(context.indices)]))
    flat = rest.place(tuple([1 if axis in kept else dim for axis, dim in enumerate(node.shape)]))
    outside = any(index is not None and index.outside for index in rest.indices)
    varying, block = [axis for axis in before if axis not in same], rest.home(root)
    split = rest.is_split() or len(varying) > 1
    known = Index(flat, block, rest.level(block), rest.gathered(), outside, split)
    after: list[Expr] = []
    for axis in reversed(varying):
        dim = length(source.shape[axis])
        place = flat // joined("*", after) if after else flat
        indices[axis] = replace(known, value=place % dim if axis != varying[0] else place)
        after.append(dim)
    return replace(context, indices=tuple(indices))


def _alike(own: Sequence[int], before: Sequence[int], node: Node, source: Node) -> Iterator[tuple[int, int]]:
    """The first and the last axes of the source of a reshape that are as they were, with those that they are now."""
    count = 0
    for axis, other in zip(before, own, strict=False):
        if source.shape[axis] != node.shape[other]:
            break
        yield axis, other
        count += 1
    for axis, other in zip(reversed(before[count:]), reversed(own[count:]), strict=False):
        if source.shape[axis] != node.shape[other]:
            break
        yield axis, other


def through_windows(context: Context, node: Node, root: Block) -> Context:
    """The context of what windows are taken of."""
    moved = {}
    for axis, places, step, spacing in node.attrs[0]:
        first, inside = (context.indices[each] or Index(ZERO, root) for each in (axis, places))
        moved[axis] = _together(first, inside, _times(step, first.value) + _times(spacing, inside.value))
    return _moved(context, node, moved)


def through_overlaps(context: Context, node: Node, root: Block) -> Context:
    """The context of windows whose elements are put back, guarded where there is none."""
    source, moved = node.args[0], {}
    for axis, places, step, spacing in node.attrs[0]:
        offset = replace(_before(context, axis, places, spacing, root), outside=True)
        moved[axis] = offset if step == 1 else replace(offset, value=offset.value // step)
    known = [each for axis, each in _overlapping(context, node, root) if axis is None or source.shape[axis] != 1]
    return replace(_moved(context, node, moved), guard=_both(known, root))


def _overlapping(context: Context, node: Node, root: Block) -> Iterator[tuple[int | None, Index]]:
    """When windows have an element that is put back here: each condition with the axis that it is of."""
    if context.guard:
        yield None, context.guard
    for axis, places, step, spacing in node.attrs[0]:
        offset = _before(context, axis, places, spacing, root)
        there = (offset.value >= 0) & (offset.value < _times(step, length(node.args[0].shape[axis])))
        yield axis, replace(offset, value=there if step == 1 else there & (offset.value % step).equals(0))


def _before(context: Context, axis: int, places: int, spacing: int, root: Block) -> Index:
    """How far before an element the window begins that has it at a place."""
    place, inside = (context.indices[each] or Index(ZERO, root) for each in (axis, places))
    return _together(place, inside, place.value - _times(spacing, inside.value))


def _times(step: int, value: Expr) -> Expr:
    return value if step == 1 else step * value


def _together(first: Index, second: Index, value: Expr) -> Index:
    """An index computed of two: known where both are."""
    block = max((first.block, second.block), key=lambda block: block.depth)
    level = max(each.level for each in (first, second) if each.block is block)
    gathered, outside = first.gathered or second.gathered, first.outside or second.outside
    return Index(value, block, level, gathered, outside, first.split or second.split)


def _moved(context: Context, node: Node, moved: dict[int, Index]) -> Context:
    """A context with other indices along some axes, for the source of a node of as many."""
    source = node.args[0]
    own = [moved.get(axis, context.indices[axis]) for axis in range(-node.ndim, 0)]
    indices = tuple(None if dim == 1 else index for index, dim in zip(own, source.shape, strict=True))
    return replace(context, indices=indices)


THROUGH = {
    "view": through_view, "pad": through_pad, "shifted": through_shift, "reshape": through_reshape,
    "windows": through_windows, "overlaps": through_overlaps,
}  # fmt: skip
