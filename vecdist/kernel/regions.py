"""Which nodes are computed together, and where: elementwise regions, and the indices of imagined loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim, Shape, in_turn
from vecdist.kernel.context import Context, Index
from vecdist.kernel.expressions import ZERO, Constant, Expr, of_type
from vecdist.kernel.ir import Block
from vecdist.primitives.structure import STRUCTURE


def raise_to(levels: dict[Block, int], others: dict[Block, int]) -> None:
    for block, level in others.items():
        levels[block] = max(levels.get(block, 0), level)


def picked_axes(node: Node, context: Context) -> Context:
    """The context of the indices of a gather: without the axes of its source that come after the indexed ones."""
    start, count = node.attrs
    after = node.args[0].ndim - start - count
    return replace(context, indices=context.indices[: node.ndim - after])


def through_gather(node: Node, context: Context, picked: Sequence[Index]) -> Context:
    """The context of the source of a gather."""
    start, count = node.attrs
    source = node.args[0]
    behind = context.indices[node.ndim - (source.ndim - start - count) :] if source.ndim > start + count else ()
    inside = (None if dim == 1 else i for dim, i in zip(source.shape[start : start + count], picked, strict=False))
    return replace(context, indices=(*context.indices[:start], *inside, *behind))


def imagined(parent: Block, shape: Shape, leading: Sequence[Dim] = ()) -> Context:
    """Indices of imagined loops over the varying axes of ``shape``, in ``parent``, the ``leading`` ones outermost."""
    indices: list[Index | None] = [None] * len(shape)
    for axis in in_turn(shape, leading):
        if shape[axis] != 1:
            parent = Block(parent)
            indices[axis] = Index(ZERO, parent)
    return Context(tuple(indices))


def inside(context: Context, node: Node, home: Block, leading: Sequence[Dim] = ()) -> Context:
    """The context of the argument of a sum, with imagined loops over the axes that are summed."""
    shape = tuple([1 if dim == kept else dim for dim, kept in zip(node.args[0].shape, node.shape, strict=True)])
    loops = imagined(home, shape, leading).indices
    indices = tuple(
        kept if loop is None else loop
        for kept, loop in zip(context.indices, loops, strict=True)
    )
    return replace(context, indices=indices)


def structure_below(root: Node, bare: set[Node]) -> list[Node]:
    """The structural nodes that ``root`` reaches through elementwise nodes alone; ``bare`` ones reach none."""
    found = []
    for node in region(root, lambda arg: arg not in bare):
        if node.op in STRUCTURE:
            found.append(node)
        elif node.op == "cases" or bare.issuperset(node.args):
            bare.add(node)
    return found


def region(root: Node, wanted: Callable[[Node], bool] | None = None) -> Iterator[Node]:
    """The elementwise nodes from ``root`` down to leaves and structural nodes, arguments first: the ``wanted`` ones."""

    def inputs(node: Node) -> Sequence[Node]:
        if node.op in STRUCTURE or node.op == "cases":
            return ()
        return [arg for arg in node.args if wanted(arg)] if wanted else node.args

    return topological((root,), inputs)


def literal(node: Node) -> Expr:
    """A constant of its own type; what Python's own numbers are not, they would widen."""
    value = Constant(node.value)
    if node.dtype.kind == "b" or (node.dtype == np.float64 and abs(node.value) < float("inf")):
        return value
    return of_type(node.dtype, value)
