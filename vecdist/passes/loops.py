"""Loops of elements: one for all that is asked of it, and its turns as far through the passes as what is around it.

The derivatives of a loop are loops that do all that it does, and more.  Those that start from the same values become
one; carries are the same where they start from the same, and become the same of the same: the coarsest partition of
which that holds (Moore 1956).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, final

from vecdist.graph.memo import Memo
from vecdist.graph.node import Node, rewrite, topological
from vecdist.graph.shapes import broadcast
from vecdist.primitives.loops import Loop, local
from vecdist.primitives.structure import full, rebuilt

Call = tuple[Loop, tuple[Node, ...]]
Carry = tuple[Call, int]
Regions = Callable[[Sequence[Node]], tuple[Node, ...]]

LOOPS = 256  # whose turns are remembered after the passes

_passed: Memo[tuple[Node, ...]] = Memo(LOOPS)


@final
class _Result(NamedTuple):
    """Where a carry is found: at a place of a loop, which is called with these arguments."""

    loop: Loop
    place: int
    args: tuple[Node, ...]


def merged(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` with one loop in the place of those that take the same turns, without carries that nobody reads."""
    nodes = [node for node in topological(roots) if node.op == "loop"]
    groups: dict[tuple, list[Node]] = {}
    for node in nodes:
        varying = tuple([arg for arg in node.args if not arg.is_const()])
        groups.setdefault((node.args[0], node.attrs[0].limit, varying), []).append(node)
    results = {node: result for group in groups.values() for node, result in _together(group).items()}

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node not in results:
            return rebuilt(node, args)
        loop, place, wanted = results[node]
        new = dict(zip(node.args, args, strict=True))
        given = tuple([new.get(arg, arg) for arg in wanted])  # constants alone are none of its own
        found = Node("loop", given, (loop, place), broadcast(arg.shape for arg in given), node.dtype)
        return full(found, node.shape) if found.shape != node.shape else found

    return rewrite(roots, rule) if nodes else tuple(roots)


def with_turns(roots: Sequence[Node], passes: Regions) -> tuple[Node, ...]:
    """``roots`` with what each turn computes after passes."""

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node.op != "loop":
            return rebuilt(node, args)
        loop, place = node.attrs
        test, *news = _passed(loop.roots, lambda: passes(loop.roots))
        return Node("loop", args, (Loop(test, tuple(news), loop.limit), place), node.shape, node.dtype)

    return rewrite(roots, rule) if any(node.op == "loop" for node in topological(roots)) else tuple(roots)


def _together(nodes: Sequence[Node]) -> dict[Node, _Result]:
    """What becomes of loops of the same varying arguments."""
    classes, regions = _partition(list(dict.fromkeys((node.attrs[0], node.args) for node in nodes)))
    found: dict[Node, _Result] = {}
    for test in dict.fromkeys(region[0] for region in regions.values()):
        same = [node for node in nodes if regions[node.attrs[0], node.args][0] is test]
        every: dict[Node, Carry] = {}
        for node in same:
            call = node.attrs[0], node.args
            for at in range(len(call[0].news)):
                every.setdefault(classes[call, at], (call, at))
        wanted = [classes[(node.attrs[0], node.args), node.attrs[1]] for node in same]
        needed = _needed(test, wanted, {leaf: regions[call][1 + at] for leaf, (call, at) in every.items()})
        carries = {leaf: carry for leaf, carry in every.items() if leaf in needed}
        loop, args = _written(test, carries, regions)
        places = {leaf: place for place, leaf in enumerate(carries)}
        found |= {node: _Result(loop, places[leaf], args) for node, leaf in zip(same, wanted, strict=True)}
    return found


def _partition(calls: Sequence[Call]) -> tuple[dict[Carry, Node], dict[Call, tuple[Node, ...]]]:
    """The class of each carry, as a leaf, and what turns compute, of these leaves and of arguments of the loops."""
    carries = [(call, at) for call in calls for at in range(len(call[0].news))]
    keys: dict[Carry, tuple[Node, ...]] = {(call, at): (call[1][1 + at],) for call, at in carries}
    classes: dict[Carry, Node] = {}
    while True:
        before, numbers = len(set(classes.values())), {}
        for carry in carries:
            numbers.setdefault(keys[carry], len(numbers))
        classes = {carry: Node("class", (), (numbers[keys[carry]],), (), keys[carry][0].dtype) for carry in carries}
        regions = {call: _of_classes(call, classes) for call in calls}
        if len(numbers) == before:
            return classes, regions
        keys = {(call, at): (classes[call, at], regions[call][1 + at]) for call, at in carries}


def _of_classes(call: Call, classes: dict[Carry, Node]) -> tuple[Node, ...]:
    """What a turn computes, with classes in the place of carries, and what else it reads by what it is."""
    loop, (_, *given) = call

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node.op != "local":
            return rebuilt(node, args)
        (place,) = node.attrs
        if place < len(loop.news):
            return classes[call, place]
        return given[place] if given[place].is_const() else Node("given", (), (given[place],), (), node.dtype)

    return rewrite(loop.roots, rule)


def _needed(test: Node, wanted: Sequence[Node], news: dict[Node, Node]) -> set[Node]:
    """The classes that the test reads, or that are wanted, and those that these are made of."""
    found = {node for node in topological((test,)) if node.op == "class"} | set(wanted)
    waiting = list(found)
    for leaf in waiting:  # which grows meanwhile
        more = [node for node in topological((news[leaf],)) if node.op == "class" and node not in found]
        found.update(more)
        waiting += more
    return found


def _written(
    test: Node, carries: dict[Node, Carry], regions: dict[Call, tuple[Node, ...]]
) -> tuple[Loop, tuple[Node, ...]]:
    """A loop of these carries, and its arguments."""
    roots = (test, *(regions[call][1 + at] for call, at in carries.values()))
    free = [node for node in topological(roots) if node.op == "given"]
    new = {leaf: local(place, leaf.dtype) for place, leaf in enumerate([*carries, *free])}
    first, *news = rewrite(roots, lambda node, args: new[node] if node in new else rebuilt(node, args))
    inits = [args[1 + at] for (_, args), at in carries.values()]
    ((loop, args), _) = next(iter(carries.values()))
    return Loop(first, tuple(news), loop.limit), (args[0], *inits, *(node.attrs[0] for node in free))
