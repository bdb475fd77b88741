"""Outputs in pieces as loop nests: each piece has loops over axes of its own, which store it where it belongs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vecdist.graph.node import Node
from vecdist.graph.shapes import Dim
from vecdist.kernel.context import Context
from vecdist.kernel.expressions import further, length
from vecdist.kernel.statements import Store

if TYPE_CHECKING:
    from vecdist.kernel.lower import _Lowering


def output(lowering: _Lowering, number: int, node: Node) -> int:
    """Fill an output with its pieces, which lie side by side on its last axis; the level is returned."""
    ahead = node.ndim - 1
    each = zip(node.args, node.attrs, strict=True)
    return max([_stored(lowering, number, _source(term, ahead), start, ahead) for term, start in each])


def _source(term: Node, ahead: int) -> Node:
    """What a piece is in row-major order, whose first axes it has: loops over its axes need no quotients."""
    while term.op == "reshape" and term.args[0].shape[:ahead] == term.shape[:ahead]:
        (term,) = term.args
    return term


def _stored(lowering: _Lowering, number: int, node: Node, start: Dim, ahead: int) -> int:
    """Store a piece from a place on the last axis on; the axes ``ahead`` are those of the output."""
    context, level = lowering.over_axes(node.shape, [node])
    value = lowering.value(node, context)
    block = context.home(lowering.root)
    place = further(Context(context.indices[ahead:]).place(node.shape[ahead:]), length(start))
    indices = (*(index.value for index in context.indices[:ahead] if index is not None), place)
    block.put(value.level if value.block is block else 0, Store(number, indices, value.of))
    return level
