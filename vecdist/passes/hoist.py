"""Values that vary along inner loops alone, kept from one turn of the outer loop to the next.

In ``x[:, None] / np.exp(s)`` the exponential does not vary along the rows: computed where it stands, it would be
computed again for every row.  It is computed once for each column before the loop over rows, and kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vecdist.graph.node import Node, rewrite, topological
from vecdist.graph.shapes import Dim, in_turn, length_in
from vecdist.primitives.structure import STRUCTURE, rebuilt

KEPT = 1024  # elements that each block of a grid may keep
DEAR = 5  # operations from which a value is better read than computed again


def hoistable(roots: Sequence[Node], first: Sequence[Dim] = ()) -> tuple[Node, ...]:
    """The largest such values that depend on inputs alone, where the loops over the lengths in ``first`` come first."""
    repeated = dict.fromkeys(arg for node in topological(roots) for arg in _repeated(node, first))
    costs = _costs(roots) if repeated else {}
    return tuple(arg for arg in repeated if costs.get(arg, 0) >= DEAR)


def _repeated(node: Node, first: Sequence[Dim]) -> list[Node]:
    """The arguments that a loop around ``node`` computes again and again: it is outside of one that they vary along."""
    if node.op == "gather":
        return [node.args[0]] if _varies(node.args[0]) else []
    if node.op in STRUCTURE or node.op == "cases" or node.ndim < 2:
        return []
    loops = [axis for axis in in_turn(node.shape, first) if node.shape[axis] != 1]
    return [arg for arg in node.args if _is_inside(arg, loops)]


def _is_inside(arg: Node, loops: Sequence[int]) -> bool:
    """Whether an argument varies along a loop, but not along one that is around it."""
    own = [axis for axis in loops if -axis <= arg.ndim and arg.shape[axis] != 1]
    return bool(own) and own != loops[: len(own)]


def _varies(node: Node) -> bool:
    return any(dim != 1 for dim in node.shape)


def _costs(roots: Sequence[Node]) -> dict[Node, int]:
    """The operations of each elementwise node that depends on nothing but inputs, as a tree, up to ``DEAR``."""
    costs: dict[Node, int] = {}
    for node in topological(roots):
        if node.op in {"const", "slot", "extent", "position"}:
            costs[node] = 0
        elif node.op in {"view", "pad"} and node.args[0] in costs:
            costs[node] = costs[node.args[0]]
        elif node.op not in STRUCTURE and node.op != "cases" and all(arg in costs for arg in node.args):
            varying = [arg for arg in node.args if _varies(arg)]
            own = DEAR if node.op == "loop" else 1
            costs[node] = min(DEAR, sum(costs[arg] for arg in varying) + own) if varying else 0
    return costs


def narrow(nodes: Sequence[Node], lengths: Mapping[str, int], widest: int | None) -> tuple[Node, ...]:
    """Those of ``nodes`` that have, together, at most ``widest`` elements; all of them where there is no limit."""
    if widest is None:
        return tuple(nodes)
    found, left = [], widest
    for node in nodes:
        size = 1
        for dim in node.shape:
            size *= length_in(dim, lengths)
        if size <= left:
            found.append(node)
            left -= size
    return tuple(found)


def kept(roots: Sequence[Node], nodes: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` where each of ``nodes`` is computed before all other loops, and kept."""
    chosen = set(nodes)
    if not chosen:
        return tuple(roots)

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        return Node("kept", (node,), (), node.shape, node.dtype) if node in chosen else rebuilt(node, args)

    return rewrite(roots, rule)
