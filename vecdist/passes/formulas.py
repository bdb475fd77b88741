"""Scalars that are computed alike: where a graph has very many, what occurs again and again is compiled once.

Two scalars are alike where the graphs down to their leaves differ in the leaves alone (value numbering with the leaves
left open).  Of those that occur often the largest become calls of one function, whose arguments are the leaves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

from vecdist.graph.node import Node, rewrite, topological
from vecdist.primitives.formulas import Formula
from vecdist.primitives.loops import local
from vecdist.primitives.structure import rebuilt
from vecdist.primitives.table import PRIMITIVES

SCALARS = 400  # of a graph, from which on it is looked through
OFTEN = 8  # times that a formula is worth a function
LEAST, MOST = 6, 120  # operations of a formula, as a tree
ARGUMENTS = 12
AGAIN = 3  # times as many operations as there were, at most: what several formulas need is computed by each

Passes = Callable[[Sequence[Node]], tuple[Node, ...]]


@final
class Shape(NamedTuple):
    """What a scalar is like: a number that those have which are alike, its size, and the leaves in their order."""

    kind: int
    size: int
    leaves: tuple[Node, ...]


def formulas(roots: Sequence[Node], passes: Passes) -> tuple[Node, ...]:
    """``roots`` with calls of formulas, which have gone through ``passes``, in the place of what occurs often."""
    nodes = list(topological(roots))
    if sum(map(_is_inner, nodes)) < SCALARS:
        return tuple(roots)
    shapes = _shapes(nodes)
    times = Counter(shape.kind for shape in shapes.values() if shape.size >= LEAST)
    chosen = _chosen(roots, {node: shape for node, shape in shapes.items() if times[shape.kind] >= OFTEN})
    if sum(shapes[node].size for node in chosen) > AGAIN * len(nodes):
        return tuple(roots)
    made: dict[int, Formula] = {}
    final: dict[Node, Node] = {}
    for node in topological(roots, lambda node: shapes[node].leaves if node in chosen else node.args):
        if node in chosen:
            kind, _, leaves = shapes[node]
            if kind not in made:
                made[kind] = _formula(node, leaves, passes)
            final[node] = made[kind].of([final[leaf] for leaf in leaves])
        else:
            final[node] = rebuilt(node, tuple([final[arg] for arg in node.args]))
    return tuple(final[root] for root in roots)


def _is_inner(node: Node) -> bool:
    """Whether a node is a scalar that is computed of scalars."""
    return not node.shape and node.op in PRIMITIVES and all(not arg.shape for arg in node.args)


def _shapes(nodes: Sequence[Node]) -> dict[Node, Shape]:
    """What the scalars are like that are no larger than a formula may be; others are leaves of what needs them."""
    kinds: dict[Any, int] = {}
    found: dict[Node, Shape] = {}
    for node in nodes:
        if not _is_inner(node):
            continue
        leaves: dict[Node, int] = {}
        parts, size = [], 1
        for arg in node.args:
            own = found.get(arg)
            size += own.size if own else 0
            if arg.op == "const":
                parts.append(arg)
                continue
            given = own.leaves if own else (arg,)
            places = tuple([leaves.setdefault(leaf, len(leaves)) for leaf in given])
            parts.append((own.kind if own else arg.dtype, places))
        if size <= MOST and len(leaves) <= ARGUMENTS:
            key = node.op, node.attrs, node.dtype, tuple(parts)
            found[node] = Shape(kinds.setdefault(key, len(kinds)), size, tuple(leaves))
    return found


def _chosen(roots: Sequence[Node], often: dict[Node, Shape]) -> set[Node]:
    """The largest scalars of those that occur often, and that are needed."""
    return {
        node for node in topological(roots, lambda node: often[node].leaves if _stands(node, often) else node.args)
        if _stands(node, often)
    }  # fmt: skip


def _stands(node: Node, often: dict[Node, Shape]) -> bool:
    return node in often and often[node].size >= LEAST


def _formula(node: Node, leaves: Sequence[Node], passes: Passes) -> Formula:
    """The formula that a scalar is an example of."""
    places = {leaf: local(place, leaf.dtype) for place, leaf in enumerate(leaves)}

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        return places[node] if node in places else rebuilt(node, args)

    (root,) = passes(rewrite((node,), rule))
    return Formula(root)
