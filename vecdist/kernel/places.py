"""What is known where: the values of nodes, by the loops and indices that they are computed at."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import final

from vecdist.graph.node import Node
from vecdist.graph.shapes import Shape
from vecdist.kernel.context import Context
from vecdist.kernel.expressions import Expr
from vecdist.kernel.ir import Block


@final
@dataclass(frozen=True)
class Value:
    """A computed value, by its name or as a constant; the block that knows it, and the level from which it does."""

    of: Expr
    block: Block
    level: int


@final
class Places:
    """Where the nodes of an elementwise region are computed, and what is known there: the same for all of a shape."""

    def __init__(self, context: Context, values: defaultdict[Context, dict[Node, Value]]) -> None:
        self.context, self.values = context, values
        self.of_shape: dict[Shape, tuple[Context, dict[Node, Value]]] = {}
        self.homes: dict[Shape, Block] = {}

    def context_of(self, node: Node) -> Context:
        return self._found(node)[0]

    def known(self, node: Node) -> dict[Node, Value]:
        return self._found(node)[1]

    def home(self, node: Node, root: Block) -> Block:
        """The innermost block that an index of the node belongs to."""
        found = self.homes.get(node.shape)
        if found is None:
            found = self.homes[node.shape] = self.context_of(node).home(root)
        return found

    def _found(self, node: Node) -> tuple[Context, dict[Node, Value]]:
        found = self.of_shape.get(node.shape)
        if found is None:
            at = self.context.at(node)
            found = self.of_shape[node.shape] = at, self.values[at]
        return found
