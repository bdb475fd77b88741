"""Choices that constant data have made: outside an edge case, a value is itself, and no flag is raised.

Where a number that is not finite stands for an edge case, and its condition depends on constant data alone, the data
are taken to be no edge case.  That holds where every condition does, which whoever computes has to see to.  What masks
alone choose is no edge: they hold for some elements, and not for others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from vecdist.graph.node import Node, const, rewrite, topological
from vecdist.passes.simplify import simplified
from vecdist.primitives.structure import STRUCTURE, full, rebuilt


def guarded_specialisation(
    roots: Sequence[Node], data: Collection[int], outputs: int, refuted: Collection[Node] = ()
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """``roots`` where the slots in ``data`` hold no edge case, and the conditions under which that is so.

    The first ``outputs`` roots are results, the others flags.  Conditions that are ``refuted`` are not taken to hold.
    """
    if not data:
        return tuple(roots), ()
    constant = _constant(roots, frozenset(data))
    known: dict[Node, bool] = {flag: False for flag in roots[outputs:] if constant[flag]}
    for node in topological(roots):
        if node.op == "where" and constant[node.args[0]] and may_be_edge(node.args[0]):
            edges = [side.is_const() and not np.isfinite(side.value) for side in node.args[1:]]
            if edges[0] != edges[1]:
                known[node.args[0]] = edges[1]
    conditions = {node if holds else ~node: (node, holds) for node, holds in known.items()}
    taken = {condition: choice for condition, choice in conditions.items() if condition not in refuted}
    found = _without_choices(roots, dict(taken.values()))
    return (*map(_shaped, found[:outputs], roots[:outputs]), *found[outputs:]), tuple(taken)


def _constant(roots: Sequence[Node], data: Collection[int]) -> dict[Node, bool]:
    """Whether each node depends on some of ``data``, and on no other input."""
    free: dict[Node, bool] = {}
    found: dict[Node, bool] = {}
    for node in topological(roots):
        own = node.op == "slot"
        free[node] = not own and all(free[arg] for arg in node.args)
        stays = node.attrs[0] in data if own else all(free[arg] or found[arg] for arg in node.args)
        found[node] = stays and not free[node]
    return found


def _without_choices(roots: Sequence[Node], known: Mapping[Node, bool]) -> tuple[Node, ...]:
    """``roots`` where conditions are known; what varies less then does so until a structural node needs its shape."""

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node in known:
            return const(known[node], np.bool_)
        if node.op in STRUCTURE:
            return rebuilt(node, tuple(map(_shaped, args, node.args)))
        return simplified(node, args)

    return rewrite(roots, rule) if known else tuple(roots)


def _shaped(node: Node, like: Node) -> Node:
    return node if node.shape == like.shape else full(node, like.shape)


def may_be_edge(condition: Node) -> bool:
    """Whether a condition may say what an edge case is: of several elements, by numbers."""
    numbers = (below.op == "slot" and below.dtype.kind != "b" for below in topological((condition,)))
    return any(dim != 1 for dim in condition.shape) and any(numbers)
