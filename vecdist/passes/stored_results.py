"""Results that are stored before they are read: not sums, but what is made of each of them, as a mean or a scale is.

It is then found once, where its sum is, and elements that need it have nothing to load but this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vecdist.graph.node import Node, below, topological
from vecdist.graph.shapes import Dim
from vecdist.primitives.structure import STRUCTURE, is_moved, is_reduction, rebuilt


def stored_late(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` where what is made of stored results, one of each, and is read by others, is stored too, or instead."""
    nodes = list(topological(roots))
    made = _made(nodes)
    read = {arg for node in nodes if node not in made for arg in node.args if arg in made}
    last = {node for node in (*read, *roots) if node in made and node.op != "stored"}
    new: dict[Node, Node] = {}
    for node in nodes:
        found = _found_again(node, made, new) if node in last else rebuilt(node, tuple([new[arg] for arg in node.args]))
        new[node] = Node("stored", (found,), (), found.shape, found.dtype) if node in last else found
    return tuple([new[root] for root in roots])


def _made(nodes: Sequence[Node]) -> dict[Node, frozenset[Node]]:
    """What is made of results that are stored, one of each, and of inputs of no more elements; and of which it is."""
    found: dict[Node, frozenset[Node]] = {}
    inputs: set[Node] = set()

    def is_one(arg: Node, node: Node) -> bool:
        return arg in inputs or (arg in found and _varying(arg) == _varying(node))

    for node in nodes:
        of = [found[arg] for arg in node.args if arg in found]
        if node.op == "stored" and is_reduction(node.args[0]):
            found[node] = frozenset([node])
        elif inputs.issuperset(node.args) and (node.op not in STRUCTURE or is_moved(node)):
            inputs.add(node)
        elif of and (node.op not in STRUCTURE or _has_other_axes(node)) and all(is_one(arg, node) for arg in node.args):
            found[node] = frozenset().union(*of)
    return found


def _varying(node: Node) -> list[Dim]:
    return [dim for dim in node.shape if dim != 1]


def _has_other_axes(node: Node) -> bool:
    """Whether a view has all elements as they are, and other axes of length 1."""
    if node.op != "view":
        return False
    (source,), entries = node.args, node.attrs[0]
    moved = [entry for entry, dim in zip(entries, source.shape, strict=True) if dim != 1]
    places = [to for to, start, step in moved if to is not None and (start, step) == (0, 1)]
    return len(places) == len(moved) and places == sorted(places)


def _found_again(node: Node, made: Mapping[Node, frozenset[Node]], new: Mapping[Node, Node]) -> Node:
    """A value made of results as they are found: of the last ones, which need the others, that are in memory then."""
    every = made[node]
    latest = {each for each in every if not any(each in below(other.args) for other in every if other is not each)}
    own = [each for each in topological((node,), lambda each: () if each in latest else each.args) if each in made]
    again = {each: new[each].args[0] for each in latest}
    for each in own:
        if each not in again and not made[each].isdisjoint(latest):
            again[each] = rebuilt(each, tuple([again.get(arg, new[arg]) for arg in each.args]))
    return again[node]
