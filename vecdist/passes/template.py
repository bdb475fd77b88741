"""Graphs of formulas that were written once, and are filled with other operands of the same kinds, also longer ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import Any, final

import numpy as np

from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim, Shape, numbered

Step = tuple[str, tuple[int, ...], tuple[Any, ...], Shape, np.dtype]
Formula = Callable[[Sequence[Node]], Node]


@final
class Length:
    """A length that stands for any but 1, and equals itself alone; a formula that asks it for more is told so.

    There is one of each number: nodes of such lengths are looked up by identity, without a call of Python's.
    """

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Length) else other != 1 and bool(self)

    def __bool__(self) -> bool:
        raise TypeError("this length stands for others")


@final
class Template:
    """What a formula makes of operands, once that is learnt: ``known`` nodes beside them, and steps from both.

    ``refused`` is a formula that looks at lengths, of which a template is for these lengths alone.
    """

    __slots__ = ("asked", "known", "refused", "result", "steps")

    def __init__(self) -> None:
        self.asked = self.refused = False
        self.steps: Sequence[Step] | None = None

    def learn(self, operands: Sequence[Node], root: Node) -> None:
        """Take the steps from ``root``, which the formula makes of ``operands``."""
        places = {node: place for place, node in enumerate(operands)}
        nodes = list(topological((root,)))
        above = set(operands)
        above.update(node for node in nodes if _has_length(node.shape) or any(arg in above for arg in node.args))
        known = tuple(node for node in nodes if node not in above)
        places |= {node: len(operands) + place for place, node in enumerate(known)}
        steps: list[Step] = []
        for node in nodes:
            if _has_length(node.attrs):
                raise TypeError("an attribute is a length")
            if node not in places:
                places[node] = len(places)
                steps.append((node.op, tuple([places[arg] for arg in node.args]), node.attrs, node.shape, node.dtype))
        self.known, self.result, self.steps = known, places[root], steps  # the last of which says that it is learnt

    def take(self, other: Template, lengths: Sequence[Dim]) -> None:
        """Become another, of any lengths, for these."""
        steps = [
            (*step, tuple([lengths[dim.number] if isinstance(dim, Length) else dim for dim in shape]), dtype)
            for *step, shape, dtype in other.steps or ()
        ]
        self.known, self.result, self.steps = other.known, other.result, steps  # type: ignore[assignment]

    def filled(self, operands: Sequence[Node]) -> Node:
        """The result for other operands."""
        nodes = [*operands, *self.known]
        at = nodes.__getitem__
        for op, places, attrs, shape, dtype in self.steps or ():
            nodes.append(Node(op, tuple(map(at, places)), attrs, shape, dtype))
        return nodes[self.result]


_length = cache(Length)


def _has_length(value: Any) -> bool:
    return isinstance(value, Length) or (isinstance(value, tuple) and any(map(_has_length, value)))


def templated(memo: Memo[Template], key: Hashable, operands: Sequence[Node], formula: Formula) -> Node:
    """``formula(operands)``, by a template from the second time on that it is asked of such operands.

    What is asked once is not worth one.  ``key`` stands for the formula, which may depend on the shapes and dtypes of
    operands, on which of them are the same, and on constants among them.  One that depends on shapes by which lengths
    are equal and which are 1, as nearly all do, has one template for all others.
    """
    places: dict[Node, int] = {}
    layout = tuple([
        node if node.op == "const" else (places.setdefault(node, len(places)), node.shape, node.dtype)
        for node in operands
    ])
    template = memo((key, layout), Template)
    if template.steps is None:
        _teach(template, memo, key, operands, places, formula)
    return formula(operands) if template.steps is None else template.filled(tuple(places))


def _teach(
    template: Template, memo: Memo[Template], key: Hashable, operands: Sequence[Node], places: Mapping[Node, int],
    formula: Formula,
) -> None:
    """Have a template know its steps, if the formula was asked before: of such operands, or others but for lengths."""
    shapes, lengths = numbered([node.shape for node in places])
    kinds = tuple([(places[node], shapes[places[node]], node.dtype) if node in places else node for node in operands])
    blind = memo((key, kinds, "of any lengths"), Template)
    if blind.asked and blind.steps is None and not blind.refused:
        unknown: Any = [tuple([_length(-1 - dim) if dim < 0 else dim for dim in shape]) for shape in shapes]
        try:
            _learn(blind, operands, places, unknown, formula)
        except (TypeError, ValueError):
            blind.refused = True
    if blind.steps is not None:
        template.take(blind, lengths)
    elif template.asked:
        _learn(template, operands, places, [node.shape for node in places], formula)
    blind.asked = template.asked = True


def _learn(
    template: Template, operands: Sequence[Node], places: Mapping[Node, int], shapes: Sequence[Shape], formula: Formula
) -> None:
    """Have a template know the steps of a formula, of operands of these shapes."""
    given = {node: Node("operand", (), (place,), shapes[place], node.dtype) for node, place in places.items()}
    template.learn(tuple(given.values()), formula([given.get(node, node) for node in operands]))
