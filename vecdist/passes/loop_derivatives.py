"""Derivatives of loops: loops that carry tangents beside their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, final

from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, cast, const, rewrite
from vecdist.graph.shapes import broadcast
from vecdist.passes.simplify import simplify
from vecdist.primitives.loops import Loop, local
from vecdist.primitives.structure import rebuilt

Push = Callable[[Node, Mapping[Node, Node]], Node]
"""The tangent of a scalar along tangents of locals."""

LOOPS = 256  # whose derivatives are remembered


@final
class _Derived(NamedTuple):
    """A loop with tangents behind its carries: where that of each carry is, if it has one, and what they start with."""

    loop: Loop
    places: dict[int, int]
    seeds: tuple[Node, ...]


_known: Memo[_Derived] = Memo(LOOPS)


def loop_partials(node: Node, wanted: Sequence[Node | None], push: Push) -> list[Node | None]:
    """The partial derivatives of a carry of a loop in those of its arguments that are ``wanted``; ``None`` for zero."""
    found = [None if each is None else _partial(node, place, push) for place, each in enumerate(wanted[1:])]
    return [None, *found]


def _partial(node: Node, place: int, push: Push) -> Node | None:
    """The derivative in the argument at ``place`` behind the first: another loop's carry."""
    loop, carry = node.attrs
    count, dtype = len(loop.news), node.args[1 + place].dtype
    if dtype.kind != "f":
        return None
    made = _known((loop, place, dtype), lambda: _derived(loop, local(place, dtype), push))
    if carry not in made.places:
        return None
    args = (*node.args[: 1 + count], *made.seeds, *node.args[1 + count :])
    shape = broadcast(arg.shape for arg in args)
    return Node("loop", args, (made.loop, made.places[carry]), shape, node.dtype)


def _derived(loop: Loop, leaf: Node, push: Push) -> _Derived:
    """A loop with the tangents of its carries along ``leaf``: of those that depend on it, in some turn."""
    count, (place,) = len(loop.news), leaf.attrs
    carries = [local(at, new.dtype) for at, new in enumerate(loop.news)]
    marks = {carry: Node("dot", (), carry.attrs, (), carry.dtype) for carry in carries}
    dots = {leaf: const(1, leaf.dtype) if place >= count else marks[leaf]}
    found: dict[Node, Node] = {}
    while True:
        for carry, new in zip(carries, loop.news, strict=True):
            if carry.dtype.kind == "f":
                (found[carry],) = simplify((cast(push(new, dots), carry.dtype),))
        more = {carry: marks[carry] for carry, dot in found.items() if not dot.is_const(0)}
        if more.keys() <= dots.keys():
            break
        dots |= more
    active = [carry for carry in carries if carry in dots]
    places = {carry.attrs[0]: count + at for at, carry in enumerate(active)}

    def moved(node: Node, args: tuple[Node, ...]) -> Node:
        if node.op == "dot":
            return local(places[node.attrs[0]], node.dtype)
        behind = node.op == "local" and node.attrs[0] >= count
        return local(node.attrs[0] + len(active), node.dtype) if behind else rebuilt(node, args)

    test, *news = rewrite((*loop.roots, *(found[carry] for carry in active)), moved)
    seeds = tuple([const(carry is leaf, carry.dtype) for carry in active])
    return _Derived(Loop(test, tuple(news), loop.limit), places, seeds)
