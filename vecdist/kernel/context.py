"""Where in the loops a node is evaluated: one index per axis, and a guard where elements may be missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from vecdist.graph.node import Node
from vecdist.graph.shapes import Shape
from vecdist.kernel.ir import Block


@final
@dataclass(frozen=True)
class Index:
    """An integer expression, known in ``block`` from ``level`` on; ``gathered`` where it is data."""

    text: str
    block: Block
    level: int = 0
    gathered: bool = False


@final
@dataclass(frozen=True)
class Context:
    """An index for each axis of a node (``None`` where the axis has length 1), and the guard of its loads."""

    indices: tuple[Index | None, ...]
    guard: Index | None = None

    def at(self, node: Node) -> Context:
        """The context of an argument of an elementwise node: its last axes, without those it does not vary on."""
        own = self.indices[len(self.indices) - node.ndim :]
        indices = tuple(
            None if dim == 1 else index for index, dim in zip(own, node.shape, strict=True)
        )
        guarded = any(index is not None for index in indices)  # what has no index is there in any case
        return Context(indices, self.guard if guarded else None)

    def blocks(self) -> set[Block]:
        found = {index.block for index in self.indices if index is not None}
        return found | {self.guard.block} if self.guard else found

    def moved(self, block: Block, inner: Block) -> Context:
        """The same place in the loops, with what belongs to ``block`` moved into a block inside it."""
        indices = (replace(i, block=inner) if i is not None and i.block is block else i for i in self.indices)
        return Context(tuple(indices), self.guard)

    def level(self, block: Block) -> int:
        """The level of ``block`` from which the indices are known."""
        known = [index for index in (*self.indices, self.guard) if index is not None and index.block is block]
        return max((index.level for index in known), default=0)

    def place(self, shape: Shape) -> str:
        """The place of an element in row-major order."""
        text = "0"
        for index, dim in zip(self.indices, shape, strict=True):
            if index is not None:
                text = index.text if text == "0" else f"({text}) * {dim} + {index.text}"
        return text

    def gathered(self) -> bool:
        return any(index is not None and index.gathered for index in self.indices)

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
            indices.append(Index(str(start), root))
        else:
            indices.append(replace(index, text=_affine(index.text, start, step)))
    return Context(tuple(indices), context.guard)


def _affine(index: str, start: int | str, step: int) -> str:
    scaled = index if step == 1 else f"{step} * {index}"
    return scaled if start == 0 else f"({start} + {scaled})"


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
        index = known or Index("0", root)  # an axis of length 1, of which the source may have no element
        if (start, step, source.shape[axis]) == (0, 1, dim):
            indices[axis] = index
        elif source.shape[axis] != 1:
            indices[axis] = replace(index, text=_place(index, start, step))
    own = {axis for axis, dim in enumerate(source.shape) if dim != 1} | {None}
    return Context(tuple(indices), _both([guard for axis, guard in _guards(context, node, root) if axis in own], root))


def pad_guard(context: Context, node: Node, root: Block) -> Index | None:
    """Where a pad has an element of its source."""
    return _both([guard for _, guard in _guards(context, node, root)], root)


def _guards(context: Context, node: Node, root: Block) -> Iterator[tuple[int | None, Index]]:
    """When a pad has an element of its source: each condition with the axis of the source, -1 where that has none."""
    (source,) = node.args
    if context.guard:
        yield None, context.guard
    for (axis, start, step), dim, known in zip(node.attrs[0], node.shape, context.indices, strict=True):
        if axis is None:
            if dim != 1 and known is not None:
                yield -1, replace(known, text=f"({known.text} == {start})")
        elif not dim == 1 == source.shape[axis] and (start, step, source.shape[axis]) != (0, 1, dim):
            index = known or Index("0", root)
            place = _place(index, start, step)
            whole = "" if abs(step) == 1 else f" & ({_offset(index, start)} % {abs(step)} == 0)"
            yield axis, replace(index, text=f"(({place} >= 0) & ({place} < {source.shape[axis]}){whole})")


def _place(index: Index, start: int | str, step: int) -> str:
    """The index of the source of a pad at an index of the pad."""
    offset = _offset(index, start)
    return offset if step == 1 else f"({offset} // {step})"


def _offset(index: Index, start: int | str) -> str:
    return index.text if start == 0 else f"({index.text} - {start})"


def _both(guards: list[Index], root: Block) -> Index | None:
    if not guards:
        return None
    block = max((guard.block for guard in guards), key=lambda block: block.depth)
    level = max(guard.level for guard in guards if guard.block is block)
    return Index(" & ".join(guard.text for guard in guards), block, level)


def through_reshape(context: Context, node: Node, root: Block) -> Context:
    """The context of the source of a reshape, by the place in row-major order."""
    (source,) = node.args
    flat = ""
    for index, dim in zip(context.indices, node.shape, strict=True):
        if dim != 1 and index is not None:
            flat = index.text if not flat else f"({flat} * {dim} + {index.text})"
    whole = Context(context.indices)
    block = whole.home(root)
    known = Index("", block, whole.level(block), whole.gathered())
    varying = [axis for axis, dim in enumerate(source.shape) if dim != 1]
    indices: list[Index | None] = [None] * source.ndim
    after = ""
    for axis in reversed(varying):
        dim = source.shape[axis]
        text = f"({flat} // ({after}))" if after else flat
        indices[axis] = replace(known, text=f"({text} % {dim})" if axis != varying[0] else text)
        after = f"{after} * {dim}" if after else str(dim)
    return Context(tuple(indices), context.guard)


THROUGH = {"view": through_view, "pad": through_pad, "reshape": through_reshape}
