"""Steps that are linear in the one carry of each row: h_t = a_t h_{t-1} + b_t, which need not run one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import neg
from typing import final

import numpy as np

from vecdist.graph.node import Node, const, where
from vecdist.graph.shapes import Shape
from vecdist.passes.recurrences import Running, depending, spread
from vecdist.primitives.arithmetic import eq
from vecdist.primitives.recurrences import locals_of, with_axis
from vecdist.primitives.scans import linear_recurrence, running, shifted
from vecdist.primitives.structure import Entry, full, view

Affine = tuple[Node | None, Node | None]  # a factor of the carry and what is added, ``None`` where that is nothing


@final
@dataclass(frozen=True)
class Linear:
    """The results of such a recurrence: the carry behind each step, and what it begins with."""

    behind: Node
    start: Node
    backwards: bool

    def before(self, carry: int) -> Node:
        """The carry before each step."""
        earlier = shifted(self.behind, -self.behind.ndim, self.backwards)
        return where(_is_first(self.behind.shape, self.backwards), with_axis(self.start), earlier)

    def last(self, carry: int) -> Node:
        """The carry behind the last step."""
        steps, *rest = self.behind.shape
        if steps == 0:
            return self.start
        place = 0 if self.backwards else int(steps) - 1
        entries: list[Entry] = [(None, place, 1), *((axis, 0, 1) for axis in range(len(rest)))]
        return view(self.behind, entries, tuple(rest))


def linear(run: Running) -> Linear | None:
    """The recurrence as a linear one, where each of its rows has one carry that its step is linear in."""
    step, args = run.step, run.args
    if step.carries != 1 or args[0].ndim != step.rows or args[0].dtype.kind != "f":
        return None
    token, *others = locals_of(run.before(0))
    found = affine(step.news[0], token, depending(step.news, {token}))
    if found is None or found[0] is None:
        return None
    sequences = dict(zip(others[: step.elements], args[1:], strict=False))
    shared = dict(zip(others[step.elements :], args[1 + step.elements :], strict=True))
    shape = (args[1].shape[0], *args[0].shape)
    parts = [const(0, token.dtype) if part is None else part for part in found]
    factors, terms = (full(each, shape) for each in spread(parts, sequences, shared, step.rows))
    begun = where(_is_first(shape, step.backwards), factors * with_axis(args[0]) + terms, terms)
    if found[0].is_const(1):
        return Linear(running("cumsum", begun, -len(shape), step.backwards), args[0], step.backwards)
    return Linear(linear_recurrence(factors, begun, -len(shape), step.backwards), args[0], step.backwards)


def _is_first(shape: Shape, backwards: bool) -> Node:
    """Whether a step is the first that is run, with the axes of ``shape`` behind that of steps."""
    once = full(const(1, np.int64), (shape[0], *(1,) * (len(shape) - 1)))
    return eq(shifted(once, -len(shape), backwards), 0)


def affine(node: Node, carry: Node, above: set[Node]) -> Affine | None:
    """A node as a factor of the carry, and a rest: neither is ``above`` it; ``None`` where it is no such sum."""
    if node is carry:
        return const(1, node.dtype), None
    if node not in above:
        return None, node
    parts = [affine(arg, carry, above) for arg in node.args]
    match node.op, node.args, parts:
        case "neg", _, [(a, b)]:
            return _each(neg, a), _each(neg, b)
        case "add" | "sub", _, [(a, b), (c, d)]:
            return _sum(node.op, a, c), _sum(node.op, b, d)
        case "mul", (_, other), [(a, b), (None, _)]:
            return _each(lambda part: part * other, a), _each(lambda part: part * other, b)
        case "mul", (other, _), [(None, _), (a, b)]:
            return _each(lambda part: part * other, a), _each(lambda part: part * other, b)
        case "div", (_, other), [(a, b), (None, _)]:
            return _each(lambda part: part / other, a), _each(lambda part: part / other, b)
        case "where", (condition, *_), [(None, _), (a, b), (c, d)]:
            return _chosen(condition, a, c), _chosen(condition, b, d)
    return None


def _each(function: Callable[[Node], Node], part: Node | None) -> Node | None:
    return None if part is None else function(part)


def _sum(op: str, first: Node | None, second: Node | None) -> Node | None:
    if first is None or second is None:
        return first if second is None else second if op == "add" else -second
    return first + second if op == "add" else first - second


def _chosen(condition: Node, yes: Node | None, no: Node | None) -> Node | None:
    if yes is None and no is None:
        return None
    return where(condition, 0 if yes is None else yes, 0 if no is None else no)
