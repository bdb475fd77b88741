"""What of an expression its launch depends on: all but the arrays, so that one of a known outline is only looked up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

from vecdist.graph.chunked import laid_out
from vecdist.graph.leaves import Leaf
from vecdist.graph.node import Node
from vecdist.graph.shapes import Shape


@final
class Outline(NamedTuple):
    """An expression with places for its arrays: what it is but for lengths, its shapes, these arrays, and all nodes."""

    structure: tuple[Any, ...]
    shapes: tuple[Shape, ...]
    leaves: tuple[Leaf, ...]
    nodes: Sequence[Node]

    def beside(self, roots: Sequence[Node]) -> Outline:
        """The outline of the expression and more ``roots``, which are nodes of it."""
        places = tuple([self.nodes.index(root) for root in roots])
        return Outline((self.structure, places), self.shapes, self.leaves, self.nodes)

    @property
    def key(self) -> tuple[Any, ...]:
        """What a launch depends on."""
        return self.structure, self.shapes

    def arrays(self) -> list[Any]:
        """What fills the places, as launches take it."""
        return [leaf.array[()] if leaf.kind == "number" else leaf.array for leaf in self.leaves]

    def data(self) -> Leaf | None:
        """The first of the data that never change, if there are any."""
        return next((leaf for leaf in self.leaves if leaf.constant), None)


def outline(roots: Sequence[Node]) -> Outline:
    """The outline of ``roots``: equal for expressions that differ in nothing but what arrays hold, or where they lie.

    Data that never change are known by their number.  Nothing in it keeps an array alive but its leaves.
    """
    nodes = list(dict.fromkeys(roots))
    places = {node: place for place, node in enumerate(nodes)}
    key: list[Any] = [places[root] for root in roots]
    leaves: list[Leaf] = []
    for node in nodes:  # which grows meanwhile, by what is met first
        if node.op == "leaf":
            (leaf,) = node.attrs
            leaves.append(leaf)
            key += ("leaf", *_layout(leaf), node.dtype)
            continue
        attrs = None if node.op == "checked" else node.attrs  # whose labels are for the reader of an error
        key += (node.op, attrs, node.dtype)
        for arg in node.args:
            place = places.get(arg)
            if place is None:
                place = places[arg] = len(nodes)
                nodes.append(arg)
            key.append(place)
    return Outline(tuple(key), tuple([node.shape for node in nodes]), tuple(leaves), nodes)


def _layout(leaf: Leaf) -> tuple[Any, ...]:
    """What else of a leaf the structure depends on."""
    if leaf.kind == "number":
        return ("traced number" if leaf.traced else "number",)
    return leaf.kind, laid_out(leaf.array), leaf.traced, leaf.born if leaf.constant else None
