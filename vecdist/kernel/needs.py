"""The level that blocks must have reached before a node can be computed: behind the sums and memory that it reads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, final

from vecdist.graph.node import Node
from vecdist.kernel.context import THROUGH, Context, Index
from vecdist.kernel.expressions import ZERO, Expr
from vecdist.kernel.ir import Block
from vecdist.kernel.regions import inside, picked_axes, raise_to, structure_below, through_gather
from vecdist.passes.hoist import DEAR
from vecdist.primitives.recurrences import STEP_LEAVES
from vecdist.primitives.structure import STRUCTURE, is_moved, is_reduction

if TYPE_CHECKING:
    from vecdist.kernel.lower import _Lowering

Levels = dict[Block, int]
IN_STEPS = 2  # places of a turn
OFTEN, STORED = 32, 8  # places of all loops: of kernels that keep nothing in memory, and of those that do
MOST = 4  # moves along axes by which a value is computed again for one element; views of views ask for very many
SHIFTED = 3  # places of one loop, as the terms of a sum of shifted slices are in its gradient


class Crowded(Exception):
    """Some values are wanted at so many places for each element that they should be in memory."""

    def __init__(self, nodes: set[Node]) -> None:
        super().__init__(nodes)
        self.nodes = nodes


@final
class Needs:
    """What one lookup found out: views of views come to a node in one place by very many ways."""

    def __init__(self, lowering: _Lowering) -> None:
        self.lowering = lowering
        self.known: dict[tuple[Node, Context], Levels] = {}
        self.moves: defaultdict[Node, set[Context | tuple[Expr | None, ...]]] = defaultdict(set)
        self.crowded: set[Node] = set()

    def levels(self, node: Node, context: Context) -> Levels:
        """The level that each block must have reached before ``node`` can be computed in ``context``."""
        found = self.of(node, context)
        if self.crowded:
            raise Crowded(self.crowded)
        return found

    def of(self, node: Node, context: Context) -> Levels:
        levels: Levels = {}
        if self.is_crowded(node, context):
            return levels
        for source in self.below(node):
            at = context.at(source)
            if (source, at) not in self.known:
                self.known[source, at] = self.of_source(source, at)
            raise_to(levels, self.known[source, at])
        return levels

    def is_crowded(self, node: Node, context: Context) -> bool:
        """Whether this move is one too many; places that are fixed along an axis are of other elements, and none."""
        if node in self.lowering.dear:
            root, moves = self.lowering.root, self.moves[node]
            moves.add(context.moving(root) if context.within else context.moves(root))
            if len(moves) > (IN_STEPS if context.within else MOST):
                self.crowded.add(node)
        return node in self.crowded

    def below(self, node: Node) -> tuple[Node, ...]:
        """What a node needs that is no function of elements; views of arrays need nothing."""
        lowering = self.lowering
        if node not in lowering.below:
            found = structure_below(node, lowering.bare)
            lowering.below[node] = tuple(each for each in found if each.op != "view" or each.args[0].op != "slot")
        return lowering.below[node]

    def of_source(self, source: Node, at: Context) -> Levels:
        """What has a structure, in its own place."""
        lowering = self.lowering
        if source.op == "gather":
            return self.of_gather(source, at)
        if source.op in THROUGH:
            return self.of(source.args[0], THROUGH[source.op](at, source, lowering.root))
        if source.op in STEP_LEAVES:
            if not source.args:
                return {}
            return self.of(source.args[0], lowering.known[source][0].source(source, at))
        if at.within and source.op == "stored":
            return {at.within: lowering.held(source)[1] + 1} if source in lowering.turning else {}
        if lowering.is_temporary(source, at):
            return {lowering.root: lowering.temporary(source)[1] + 1}
        return self.of_sum(source, at)

    def of_gather(self, source: Node, at: Context) -> Levels:
        places, levels = picked_axes(source, at), {}
        for pick in source.args[1:]:
            raise_to(levels, self.of(pick, places))
        known = Index(ZERO, places.home(self.lowering.root), gathered=True)
        raise_to(levels, self.of(source.args[0], through_gather(source, at, [known] * len(source.args))))
        return levels

    def of_sum(self, node: Node, context: Context) -> Levels:
        lowering = self.lowering
        home = context.home(lowering.root)
        inner = self.of(node.args[0], inside(context, node, home, lowering.leading))
        outside = {block: level for block, level in inner.items() if block in home.chain()}
        return {**outside, home: inner.get(home, lowering.first if home is lowering.root else 0) + 1}


def often_computed(lowering: _Lowering, most: int) -> set[Node]:
    """What was computed at more than so many places of all loops, or at many of one; of what is together, the last."""
    places: Counter[Node] = Counter()
    moves: Counter[tuple[Node, Block]] = Counter()
    known: defaultdict[Context, set[Node]] = defaultdict(set)
    for context, found in lowering.values.items():
        if context.within is None:
            known[context.moving(lowering.root)] |= lowering.dear.intersection(found)
    for context, found in known.items():
        places.update(found)
        home = context.home(lowering.root)
        moves.update([(node, home) for node in found] if home is not lowering.root else [])
    often = {node for node, count in places.items() if count > most}
    often |= {node for (node, _), count in moves.items() if count > SHIFTED}
    inner = {arg for node in often for arg in node.args if places[arg] <= places[node]}
    return often - inner


def dear(nodes: Sequence[Node], reductions: bool = False) -> set[Node]:
    """Those of ``nodes``, which stand behind their arguments, that are better read than computed again and again.

    ``reductions`` are in memory anyway, but in steps.
    """
    costs: dict[Node, int] = {}
    for node in nodes:
        if is_moved(node):
            costs[node] = costs[node.args[0]]
        elif node.op in STRUCTURE or not node.args or node.op in STEP_LEAVES:
            costs[node] = DEAR if reductions and is_reduction(node) else 0
        else:
            costs[node] = min(DEAR, 1 + sum(costs[arg] for arg in node.args))
    return {node for node in nodes if costs[node] == DEAR and any(dim != 1 for dim in node.shape)}
