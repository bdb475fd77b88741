"""Graphs of formulas that were written once, and are filled with other operands of the same shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, final

import numpy as np

from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Shape

Step = tuple[str, tuple[int, ...], tuple[Any, ...], Shape, np.dtype]


@final
class Template:
    """What a formula makes of operands, once that is learnt: ``known`` nodes beside them, and steps from both."""

    __slots__ = ("asked", "known", "result", "steps")

    def __init__(self) -> None:
        self.asked = False
        self.steps: Sequence[Step] | None = None

    def learn(self, operands: Sequence[Node], root: Node) -> None:
        """Take the steps from ``root``, which the formula makes of ``operands``."""
        places = {node: place for place, node in enumerate(operands)}
        nodes = list(topological((root,)))
        above = set(operands)
        above.update(node for node in nodes if any(arg in above for arg in node.args))
        known = tuple(node for node in nodes if node not in above)
        places |= {node: len(operands) + place for place, node in enumerate(known)}
        steps: list[Step] = []
        for node in nodes:
            if node not in places:
                places[node] = len(places)
                steps.append((node.op, tuple([places[arg] for arg in node.args]), node.attrs, node.shape, node.dtype))
        self.known, self.result, self.steps = known, places[root], steps  # the last of which says that it is learnt

    def filled(self, operands: Sequence[Node]) -> Node:
        """The result for other operands."""
        nodes = [*operands, *self.known]
        for op, places, attrs, shape, dtype in self.steps or ():
            nodes.append(Node(op, tuple([nodes[place] for place in places]), attrs, shape, dtype))
        return nodes[self.result]


def templated(
    memo: Memo[Template], key: Hashable, operands: Sequence[Node], formula: Callable[[Sequence[Node]], Node]
) -> Node:
    """``formula(operands)``, by a template from the second time on that it is asked of such operands.

    What is asked once, as of lengths that never come again, is not worth one.  ``key`` stands for the formula, which
    may depend on the shapes and dtypes of operands, on which of them are the same, and on constants among them.
    """
    places: dict[Node, int] = {}
    layout = tuple([
        node if node.op == "const" else (places.setdefault(node, len(places)), node.shape, node.dtype)
        for node in operands
    ])
    template = memo((key, layout), Template)
    if not template.asked:
        template.asked = True
        return formula(operands)
    if template.steps is None:
        stand_ins = {node: Node("operand", (), (place,), node.shape, node.dtype) for node, place in places.items()}
        template.learn(tuple(stand_ins.values()), formula([stand_ins.get(node, node) for node in operands]))
    return template.filled(tuple(places))
