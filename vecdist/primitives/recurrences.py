"""Recurrences: carries that a step makes of themselves, again and again, along the leading axis of what it is given.

The step is a small graph of its own, over ``local`` leaves: the carries, an element of each sequence, and what all
steps share.  It knows nothing of *rows*, recurrences side by side: those are axes of the arguments alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from vecdist.graph.node import Node
from vecdist.graph.shapes import Dim, Shape
from vecdist.primitives.structure import STRUCTURE, Structural, full, view


@final
@dataclass(frozen=True)
class Recurrence:
    """A step: ``news`` are the carries behind it, over locals that are carries, elements and shared values in turn.

    ``elements`` says how many of the arguments are sequences, ``rows`` how many of their axes are recurrences side by
    side; it begins with the last element where it runs ``backwards``.
    """

    news: tuple[Node, ...]
    elements: int
    rows: int = 0
    backwards: bool = False

    @property
    def carries(self) -> int:
        return len(self.news)

    def leading(self, place: int) -> int:
        """How many axes an argument has before its own: steps, if it is a sequence, and rows."""
        return self.rows + (self.carries <= place < self.carries + self.elements)


def local(place: int, shape: Shape, dtype: np.dtype) -> Node:
    """What stands for an argument in a step."""
    return Node("local", (), (place,), shape, dtype)


def locals_of(node: Node) -> tuple[Node, ...]:
    """What stands for the arguments of a recurrence in its step."""
    (step, *_) = node.attrs
    return tuple([local(n, arg.shape[step.leading(n) :], arg.dtype) for n, arg in enumerate(node.args)])


def recurrence(step: Recurrence, args: Sequence[Node], carry: int, last: bool = False) -> Node:
    """A carry before each step, of shape (steps, rows, its own), or behind the last one, of shape (rows, its own).

    Starts and shared values have shape (rows, their own), sequences (steps, rows, their own); a row axis may have
    length 1 in some of them, where all rows share it, but not in the starts.
    """
    start, sequence = args[carry], args[step.carries]
    shape = start.shape if last else (sequence.shape[0], *start.shape)
    return Node("recurrence", tuple(args), (step, carry, last), shape, start.dtype)


def with_axis(x: Node) -> Node:
    """``x`` with an axis of length 1 in front."""
    return view(x, [(axis + 1, 0, 1) for axis in range(x.ndim)], (1, *x.shape))


def batched(node: Node, args: Sequence[Node], leading: Sequence[bool], length: Dim) -> Node:
    """A recurrence for many arguments: those that are ``leading`` have an axis more in front, which the result has."""
    step, carry, last = node.attrs
    given = []
    for place, (arg, old, has) in enumerate(zip(args, node.args, leading, strict=True)):
        start = place < step.carries
        whole = full(arg, (length, *old.shape)) if start else arg if has else with_axis(arg)
        given.append(_swapped(whole) if step.leading(place) > step.rows else whole)
    found = recurrence(replace(step, rows=step.rows + 1), given, carry, last)
    return found if last else _swapped(found)


def _swapped(x: Node) -> Node:
    """``x`` with its first two axes interchanged."""
    entries = [(1, 0, 1), (0, 0, 1), *((axis, 0, 1) for axis in range(2, x.ndim))]
    return view(x, entries, (x.shape[1], x.shape[0], *x.shape[2:]))


def _meaning(*given: object) -> np.ndarray:
    raise AssertionError("the interpreter runs recurrences")


def _no_rule(*given: object) -> Node:
    raise AssertionError("recurrences have rules of their own, in passes")


_rule: Callable[..., Node] = _no_rule
STRUCTURE["recurrence"] = Structural(_rule, _rule, _meaning)
STEP_LEAVES = {"carry", "element", "shared"}  # what stands for the arguments of a recurrence where its step is lowered
STRUCTURE |= dict.fromkeys(STEP_LEAVES, Structural(_rule, _rule))
STRUCTURE["stored"] = Structural(_rule, _rule, lambda x, node, length: x)
