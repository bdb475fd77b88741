"""Graphs of scalars cut out of others: what depends on some leaves, with locals in the place of all that does not."""

from __future__ import annotations

from collections.abc import Sequence

from vecdist.graph.node import Node, topological
from vecdist.primitives.loops import local
from vecdist.primitives.structure import rebuilt


def closed(roots: Sequence[Node], marks: Sequence[Node]) -> tuple[list[Node], list[Node]]:
    """``roots`` over locals: ``marks``, and behind them what does not depend on these, which is the second result.

    Constants stay where they are.
    """
    known: dict[Node, bool | None] = dict.fromkeys(marks, True)  # whether it depends on marks; None for constants
    order = list(topological(roots))
    for node in order:
        of_args = {known[arg] for arg in node.args}
        constant = of_args == {None} or node.op == "const"
        known.setdefault(node, None if constant and node.op != "gather" else True in of_args)
    read = [arg for node in order if known[node] for arg in node.args]
    frees = list(dict.fromkeys(node for node in (*read, *roots) if known[node] is False))
    new = {node: local(place, node.dtype) for place, node in enumerate([*marks, *frees])}
    for node in order:
        if node not in new and known[node] is not False:
            new[node] = rebuilt(node, tuple([new[arg] for arg in node.args]))
    return [new[root] for root in roots], frees
