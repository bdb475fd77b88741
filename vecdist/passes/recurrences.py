"""Recurrences among expressions: their derivatives, which are recurrences again, and what need not stand in a step.

Nothing stays in a step but what depends on a carry.  The rest is an expression of whole sequences, which a loop over
all steps computes in any order; so is what carries lead to, as soon as they are there before each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, final

from vecdist.graph.node import Node, const, rewrite, topological
from vecdist.graph.shapes import Dim, Shape
from vecdist.passes.vmap import vmap
from vecdist.primitives.recurrences import Recurrence, local, locals_of, recurrence, with_axis
from vecdist.primitives.structure import Entry, full, is_reduction, position, rebuilt, summed, view

Pull = Callable[[Mapping[Node, Node], Sequence[Node]], tuple[Node, ...]]
"""From cotangents of roots to those of leaves."""
Push = Callable[[Node, Mapping[Node, Node]], Node]
"""From tangents of leaves to that of a root."""


class Carry(NamedTuple):
    """A carry of a step that is being written: what stands for it, what it begins with, and what it becomes."""

    token: Node
    start: Node
    new: Node


@final
@dataclass(frozen=True)
class Running:
    """A recurrence of arguments."""

    step: Recurrence
    args: tuple[Node, ...]

    def before(self, carry: int) -> Node:
        """A carry before each step."""
        return recurrence(self.step, self.args, carry)

    def last(self, carry: int) -> Node:
        """A carry behind the last step."""
        return recurrence(self.step, self.args, carry, last=True)


def running(
    carries: Sequence[Carry], sequences: Mapping[Node, Node], shared: Mapping[Node, Node], steps: Dim, rows: int = 0,
    backwards: bool = False,
) -> Running:
    """The recurrence of ``carries``, whose news are written with tokens of theirs, of sequences and of shared values.

    What depends on no carry is computed outside; there are ``steps`` steps, also where no sequence is left.
    """
    own = {carry.token for carry in carries}
    news = tuple([full(carry.new, carry.token.shape) for carry in carries])
    above = depending(news, own)
    elements: dict[Node, Node] = {}
    values: dict[Node, Node] = {}
    for node in _outermost(news, above):
        if sequences.keys().isdisjoint(topological((node,))):
            (values[node],) = spread((node,), {}, shared, rows)
        else:
            (elements[node],) = spread((node,), sequences, shared, rows)
    if not elements:
        count = position(steps)
        elements[Node("local", (), ("step",), (), count.dtype)] = view(count, [(0, 0, 1)], (steps, *(1,) * rows))
    tokens = [*(carry.token for carry in carries), *elements, *values]
    places = {token: local(place, token.shape, token.dtype) for place, token in enumerate(tokens)}
    written = rewrite(news, lambda node, args: places[node] if node in places else rebuilt(node, args))
    args = (*[carry.start for carry in carries], *elements.values(), *values.values())
    return Running(Recurrence(written, len(elements), rows, backwards), args)


def depending(roots: Sequence[Node], leaves: set[Node]) -> set[Node]:
    """``leaves``, and what of ``roots`` depends on one of them."""
    found = set(leaves)
    for node in topological(roots):
        if any(arg in found for arg in node.args):
            found.add(node)
    return found


def _outermost(roots: Sequence[Node], above: set[Node]) -> Iterator[Node]:
    """What the roots need that is not ``above``, but for constants, each as large as it can be."""
    found: dict[Node, None] = {root: None for root in roots if root not in above}
    for node in topological(roots, lambda node: node.args if node in above else ()):
        if node in above:
            found |= {arg: None for arg in node.args if arg not in above}
    return (node for node in found if node.op != "const")


def spread(
    roots: Sequence[Node], sequences: Mapping[Node, Node], shared: Mapping[Node, Node], rows: int
) -> tuple[Node, ...]:
    """What is written with tokens, for all steps and rows at once: with an axis of steps, where there are sequences,
    and the axes of rows, which have length 1 where nothing varies along them.
    """
    ahead = bool(sequences)
    given = dict(sequences) | {token: with_axis(node) if ahead else node for token, node in shared.items()}
    current = {token: token for token in given}
    for axis in reversed(range(ahead + rows)):
        longer = {}
        for token, node in given.items():
            if node.shape[axis] != 1:
                inner = current[token]
                current[token] = longer[inner] = _placeholder(token, axis, (node.shape[axis], *inner.shape))
        used = set(topological(roots)) & longer.keys()
        if used:
            roots = vmap(roots, {inner: longer[inner] for inner in longer if inner in used})
        else:
            roots = [with_axis(root) for root in roots]
    whole = {current[token]: _without_ones(node, ahead + rows) for token, node in given.items()}
    return rewrite(roots, lambda node, args: whole[node] if node in whole else rebuilt(node, args))


def _placeholder(token: Node, axis: int, shape: Shape) -> Node:
    return Node("local", (), (token.attrs, axis), shape, token.dtype)


def _without_ones(x: Node, leading: int) -> Node:
    """``x`` without those of its leading axes that have length 1."""
    left = [axis for axis in range(x.ndim) if axis >= leading or x.shape[axis] != 1]
    entries: list[Entry] = [(left.index(axis) if axis in left else None, 0, 1) for axis in range(x.ndim)]
    return view(x, entries, tuple([x.shape[axis] for axis in left]))


def _parted(node: Node) -> tuple[Recurrence, tuple[Node, ...], tuple[Node, ...], range]:
    """A recurrence's step, arguments and locals, and the places of its sequences."""
    step = node.attrs[0]
    return step, node.args, locals_of(node), range(step.carries, step.carries + step.elements)


def pulled(nodes: Mapping[Node, Node], active: set[Node], pull: Pull) -> Iterator[tuple[Node, Node]]:
    """The cotangents of arguments, from those of the results of one recurrence.

    l_t, the cotangent of a carry behind step t, is what step t + 1 and its result make of it: a recurrence the other
    way.  Each step gives its elements a cotangent, and all of them those that they share.
    """
    step, args, tokens, sequences = _parted(next(iter(nodes)))
    live = _live(step, tokens, {place for place, arg in enumerate(args) if arg in active})
    behind = {place: Node("local", (), ("behind", place), tokens[place].shape, tokens[place].dtype) for place in live
              if place < step.carries}  # fmt: skip
    run = Running(step, args)
    whole = {tokens[place]: args[place] for place in sequences}
    whole |= {tokens[place]: run.before(place) for place in range(step.carries)}
    common = {tokens[place]: args[place] for place in range(sequences.stop, len(args))}
    wanted = sorted(live)
    found = dict(zip(wanted, pull(_together(step.news, behind), [tokens[place] for place in wanted]), strict=True))
    carries, given = [], {}
    for place, token in behind.items():
        new = found[place]
        results = {node.attrs[2]: cotangent for node, cotangent in nodes.items() if node.attrs[1] == place}
        if False in results:
            result = Node("local", (), ("result", place), token.shape, token.dtype)
            given[result] = full(results[False], (args[sequences.start].shape[0], *args[place].shape))
            new = new + result
        start = full(results.get(True, const(0, token.dtype)), args[place].shape)
        carries.append(Carry(token, start, new))
    steps = args[sequences.start].shape[0]
    back = running(carries, whole | given, common, steps, step.rows, not step.backwards)
    stacked = whole | {carry.token: back.before(place) for place, carry in enumerate(carries)}
    for number, place in enumerate(behind):
        if args[place] in active:
            yield args[place], back.last(number)
    for place in wanted:
        if place >= step.carries:
            (all_steps,) = spread((found[place],), stacked, common, step.rows)
            whole_steps = full(all_steps, (steps, *all_steps.shape[1:]))
            yield args[place], _summed_to(whole_steps, args[place].shape, place in sequences)


def _together(news: Sequence[Node], behind: Mapping[int, Node]) -> dict[Node, Node]:
    """The cotangent of each root, of which two carries may have the same."""
    found: dict[Node, Node] = {}
    for place, token in behind.items():
        found[news[place]] = found[news[place]] + token if news[place] in found else token
    return found


def _summed_to(x: Node, shape: Shape, is_sequence: bool) -> Node:
    """A cotangent of all steps and rows, added up to that of an argument."""
    like = shape if is_sequence else (1, *shape)
    axes = tuple([a - x.ndim for a in range(x.ndim) if like[a] == 1 and x.shape[a] != 1])
    total = full(summed(x, axes) if axes else x, like)
    if is_sequence:
        return total
    return view(total, [(None if axis == 0 else axis - 1, 0, 1) for axis in range(total.ndim)], shape)


def once(node: Node) -> Node:
    """A recurrence of one step, as what it computes."""
    (step, args, tokens, sequences), (_, carry, last) = _parted(node), node.attrs
    if not last:
        return with_axis(args[carry])
    single = [_without_ones(arg, 1) if place in sequences else arg for place, arg in enumerate(args)]
    (found,) = spread((step.news[carry],), {}, dict(zip(tokens, single, strict=True)), step.rows)
    return full(found, node.shape)


def _live(step: Recurrence, tokens: Sequence[Node], places: set[int]) -> set[int]:
    """The places of arguments that derivatives run through: ``places``, and the carries that depend on them."""
    live = {place for place in places if tokens[place].dtype.kind == "f"}
    while True:
        above = depending(step.news, {tokens[place] for place in live})
        more = {n for n, new in enumerate(step.news) if new in above and new.dtype.kind == "f"}
        if more <= live:
            return live
        live |= more


def pushed(node: Node, dots: Sequence[Node | None], push: Push) -> Node | None:
    """The tangent of a result from those of the arguments: a recurrence of tangents along the carries that are."""
    (step, args, tokens, sequences), (_, carry, last) = _parted(node), node.attrs
    live = _live(step, tokens, {place for place, dot in enumerate(dots) if dot is not None})
    if carry not in live:
        return None
    moved = {place: Node("local", (), ("tangent", place), tokens[place].shape, tokens[place].dtype) for place in live}
    tangents = {tokens[place]: token for place, token in moved.items()}
    run = Running(step, args)
    whole = {tokens[place]: args[place] for place in sequences}
    whole |= {tokens[place]: run.before(place) for place in range(step.carries)}
    common = {tokens[place]: args[place] for place in range(sequences.stop, len(args))}
    carries = []
    for place, token in moved.items():
        dot = full(const(0, token.dtype) if dots[place] is None else dots[place], args[place].shape)  # type: ignore[arg-type]
        if place < step.carries:
            carries.append(Carry(token, dot, push(step.news[place], tangents)))
        elif place in sequences:
            whole[token] = dot
        else:
            common[token] = dot
    found = running(carries, whole, common, args[sequences.start].shape[0], step.rows, step.backwards)
    number = [carry.token for carry in carries].index(moved[carry])
    return found.last(number) if last else found.before(number)


def in_steps(change: Callable[[Sequence[Node]], tuple[Node, ...]]) -> Callable[[Sequence[Node]], tuple[Node, ...]]:
    """A pass that makes of each step what ``change`` makes of a graph."""

    @lru_cache(maxsize=256)
    def changed(step: Recurrence) -> Recurrence:
        return replace(step, news=change(step.news))

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        if node.op != "recurrence":
            return rebuilt(node, args)
        return Node(node.op, args, (changed(node.attrs[0]), *node.attrs[1:]), node.shape, node.dtype)

    def steps_changed(roots: Sequence[Node]) -> tuple[Node, ...]:
        if not any(node.op == "recurrence" for node in topological(roots)):
            return tuple(roots)
        return rewrite(roots, rule)

    return steps_changed


def stored(roots: Sequence[Node]) -> tuple[Node, ...]:
    """``roots`` where arrays that steps read are there before the first one: they would be computed in each again.

    Of a single number a step computes what it needs, as it needs it once.  Reductions of carries that lead to another
    recurrence, as those of a gradient, are there for all that read them, too.
    """
    nodes = list(topological(roots))
    if not any(node.op == "recurrence" for node in nodes):
        return tuple(roots)
    read = {arg for node in nodes if node.op == "recurrence" for arg in _read(node)}
    return in_memory(roots, {node for node in read | _between(nodes) if any(dim != 1 for dim in node.shape)})


def in_memory(roots: Sequence[Node], held: set[Node]) -> tuple[Node, ...]:
    """``roots`` where what is ``held`` is there before it is read; what was kept before all else waits for it."""
    behind = depending(roots, held)

    def rule(node: Node, args: tuple[Node, ...]) -> Node:
        waits = node.op == "kept" and node in behind
        found = Node("stored", args, (), node.shape, node.dtype) if waits else rebuilt(node, args)
        return Node("stored", (found,), (), node.shape, node.dtype) if node in held else found

    return rewrite(roots, rule)


def _read(node: Node) -> Iterator[Node]:
    """The arguments that a recurrence reads again and again, or in another order."""
    step = node.attrs[0]
    for place, arg in enumerate(node.args):
        if place >= step.carries and arg.ndim != step.leading(place) and not _is_array(arg):
            yield arg


def _between(nodes: Sequence[Node]) -> set[Node]:
    """Reductions between two recurrences."""
    after = depending(nodes, {node for node in nodes if node.op == "recurrence"})
    before: set[Node] = set()
    for node in reversed(nodes):
        if node.op == "recurrence" or node in before:
            before.update(node.args)
    return {node for node in nodes if is_reduction(node) and node in after and node in before}


def _is_array(node: Node) -> bool:
    """Whether a node is nothing but elements of an array."""
    while node.op == "view":
        (node,) = node.args
    return node.op in {"slot", "const", "recurrence"}
