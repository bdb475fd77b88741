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
        self.here: dict[Node, Value] = {}  # of what was asked for

    def context_of(self, node: Node) -> Context:
        return self._found(node)[0]

    def of(self, node: Node) -> Value | None:
        """The value of a node where it is known."""
        value = self.here.get(node)
        if value is None:
            value = self._found(node)[1].get(node)
            if value is not None:
                self.here[node] = value
        return value

    def put(self, node: Node, value: Value) -> None:
        """Make a value known."""
        self.here[node] = self._found(node)[1][node] = value

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
