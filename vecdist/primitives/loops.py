"""Loops of single elements: what is carried from one turn to the next, while a test holds.

A loop is elementwise, however long each element takes.  What a turn does is a *region*: graphs of scalars over leaves
``local``, of which the first are the carries and the others what is the same in all turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.memo import cached_property
from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import broadcast

TURNS = 100_000  # an element that needs more is NaN: no kernel waits for a test that never fails


@final
@dataclass(frozen=True)
class Loop:
    """While ``test`` holds, at most ``limit`` times, the carries become ``news``."""

    test: Node
    news: tuple[Node, ...]
    limit: int | None = TURNS

    def __str__(self) -> str:
        return "loop"

    @property
    def roots(self) -> tuple[Node, ...]:
        """What a turn computes."""
        return (self.test, *self.news)

    @cached_property
    def locals(self) -> list[Node]:
        """The leaves that a turn reads."""
        return [node for node in topological(self.roots) if node.op == "local"]


def local(place: int, dtype: Any) -> Node:
    """What a region reads: a carry, or what comes behind those."""
    return Node("local", (), (place,), (), np.dtype(dtype))


def loop(
    active: Node, inits: Sequence[Node], frees: Sequence[Node], test: Node, news: Sequence[Node],
    limit: int | None = TURNS,
) -> tuple[Node, ...]:
    """The carries, from ``inits`` on, behind the last turn; the ``inits`` where ``active`` does not hold.

    ``test`` and ``news`` are scalars over locals: the carries, and behind them ``frees``.  An element that would take
    more than ``limit`` turns is NaN, if it is a float; one that counts whole numbers up to a bound has no limit.
    """
    args = (active, *inits, *frees)
    made = Loop(test, tuple(news), None if _is_counted(test, news) else limit)
    complaint = complaint_of(made, args)
    if complaint:
        raise ValueError(f"a loop that is none: {complaint}")
    shape = broadcast(arg.shape for arg in args)
    return tuple([Node("loop", args, (made, place), shape, new.dtype) for place, new in enumerate(news)])


def complaint_of(made: Loop, args: Sequence[Node]) -> str | None:
    """What is wrong with a loop of these arguments: whether it is active, the starts of its carries, and the rest."""
    active, *given = args
    if made.test.dtype != np.bool_ or active.dtype != np.bool_:
        return "its test, and whether it is active, are booleans"
    if len(given) < len(made.news) or any(new.dtype != init.dtype for new, init in zip(made.news, given, strict=False)):
        return "a carry has the dtype that it starts with"
    if any(root.shape for root in made.roots):
        return "what a turn computes are scalars"
    for leaf in made.locals:
        (place,) = leaf.attrs
        if place >= len(given) or leaf.dtype != given[place].dtype:
            return f"it reads local {place}, a {leaf.dtype}, which it is not given"
    return None


def _is_counted(test: Node, news: Sequence[Node]) -> bool:
    """Whether a loop ends in any case: a whole number grows by a constant up to what does not change."""
    if test.op == "and":
        return any(_is_counted(each, news) for each in test.args)
    if test.op not in {"lt", "le"} or test.args[0].op != "local" or test.args[0].dtype != np.int64:
        return False
    counter, bound = test.args
    (place,) = counter.attrs
    if place >= len(news) or not (bound.op == "const" or _stays(bound, news)):
        return False
    new = news[place]
    return new.op == "add" and new.args[0] is counter and new.args[1].is_const() and new.args[1].value > 0


def _stays(node: Node, news: Sequence[Node]) -> bool:
    return node.op == "local" and (node.attrs[0] >= len(news) or news[node.attrs[0]] is node)
