"""Values that vary along inner loops alone, or are picked by index, computed once and kept.

In ``x[:, None] / np.exp(s)`` the exponential does not vary along the rows: computed where it stands, it would be
computed again for every row.  It is computed once for each column before the loop over rows, and kept: where it depends
on inputs alone before all other loops, and else, as what sums normalise, behind those that it needs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

from vecdist.graph.node import Node, rewrite, topological
from vecdist.graph.shapes import Dim, Shape, in_turn, length_in
from vecdist.primitives.recurrences import STEP_LEAVES
from vecdist.primitives.structure import STRUCTURE, is_moved, rebuilt

KEPT = 1024  # elements that each block of a grid may keep
DEAR = 5  # operations from which a value is better read than computed again
DEAR_BEHIND = 8  # the same where all others have to wait for it


@final
@dataclass(frozen=True)
class Repeated:
    """A value that is read again and again; ``behind`` others that are in memory.

    ``picked`` are the shapes of what is picked of it, unless something reads all of it.
    """

    node: Node
    picked: tuple[Shape, ...]
    behind: bool


def hoistable(roots: Sequence[Node], first: Sequence[Dim] = ()) -> tuple[Repeated, ...]:
    """The largest such values, where the loops over the lengths in ``first`` come first."""
    picked: dict[Node, dict[Shape, None]] = {}
    whole: set[Node] = set()
    for node in topological(roots):
        for arg in _repeated(node, first):
            picked.setdefault(arg, {})[node.shape] = None
            whole |= set() if node.op == "gather" else {arg}
    costs, behind = _costs(roots) if picked else ({}, set())
    dear = [arg for arg in picked if _is_dear(costs.get(arg, 0), arg in behind)]
    return tuple([Repeated(arg, () if arg in whole else tuple(picked[arg]), arg in behind) for arg in dear])


def _is_dear(cost: int, behind: bool) -> bool:
    return cost >= (DEAR_BEHIND if behind else DEAR)


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


def _costs(roots: Sequence[Node]) -> tuple[dict[Node, int], set[Node]]:
    """The operations of each elementwise node behind what is in memory, as a tree, and which need more than inputs."""
    costs: dict[Node, int] = {}
    behind: set[Node] = set()
    for node in topological(roots):
        if node.op in {"const", "slot", "extent", "position"}:
            costs[node] = 0
        elif is_moved(node) and node.args[0] in costs:
            costs[node] = costs[node.args[0]]
        elif node.op in STRUCTURE and node.op not in STEP_LEAVES:
            costs[node] = 0
            behind.add(node)
        elif node.op not in STRUCTURE and node.op != "cases" and all(arg in costs for arg in node.args):
            late = not behind.isdisjoint(node.args)
            again = [arg for arg in node.args if (_is_with(arg, node) if late else _varies(arg))]
            own = DEAR if node.op == "loop" else 1
            costs[node] = min(DEAR_BEHIND, sum(costs[arg] for arg in again) + own) if _varies(node) else 0
        behind |= set() if behind.isdisjoint(node.args) else {node}
    return costs, behind


def _is_with(arg: Node, node: Node) -> bool:
    """Whether an argument is computed wherever the node is: loops around others keep what they have found."""
    loops = [axis for axis in range(-node.ndim, 0) if node.shape[axis] != 1]
    own = [axis for axis in loops if -axis <= arg.ndim and arg.shape[axis] != 1]
    return own == loops or _is_inside(arg, loops)


def narrow(
    found: Sequence[Repeated], lengths: Mapping[str, int], room: int | None, widest: int | None
) -> tuple[Repeated, ...]:
    """Those values that fit together, in ``room``, or behind others ``widest``, and of which not few elements are read.

    There is no limit where that is none.
    """
    chosen, left = [], {False: room, True: widest}
    for each in found:
        size, rest = _size(each.node.shape, lengths), left[each.behind]
        most = max((_size(shape, lengths) for shape in each.picked), default=size)
        if size > most or (rest is not None and size > rest):
            continue
        chosen.append(each)
        left[each.behind] = None if rest is None else rest - size
    return tuple(chosen)


def _size(shape: Shape, lengths: Mapping[str, int]) -> int:
    return math.prod(length_in(dim, lengths) for dim in shape)


def kept(roots: Sequence[Node], found: Sequence[Repeated]) -> tuple[Node, ...]:
    """``roots`` where each of these values is computed once, and kept."""
    chosen = {each.node: "stored" if each.behind else "kept" for each in found}
    if not chosen:
        return tuple(roots)

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node not in chosen:
            return rebuilt(node, args)
        op = chosen[node]
        return Node(op, (rebuilt(node, args) if op == "stored" else node,), (), node.shape, node.dtype)

    return rewrite(roots, rule)
