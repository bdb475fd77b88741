"""Kernels and calls in turn: a graph cut at its products of matrices, and at functions that no kernel contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from vecdist.graph.node import Node, rewrite, topological
from vecdist.graph.shapes import Shape
from vecdist.primitives.calls import Call, Kinds
from vecdist.primitives.factorisations import MATMUL
from vecdist.primitives.structure import is_reduction, joined, rebuilt

CUT = {"product", "external"}


@final
@dataclass(frozen=True)
class Operand:
    """What is there before a call: the array of a slot, perhaps a matrix that is transposed."""

    slot: int
    transposed: bool


@final
@dataclass(frozen=True)
class Called:
    """A call of operands: the slots of those results that anything reads, and the shapes and dtypes of all.

    ``last`` is the shape of the last operand, whose matrices are as large as those of the others.
    """

    call: Call
    operands: tuple[Operand, ...]
    slots: tuple[int | None, ...]
    kinds: Kinds
    ahead: int = 0
    last: Shape = ()


@final
@dataclass(frozen=True)
class Stage:
    """A kernel that computes ``roots`` into slots or results, then calls of what is there."""

    roots: tuple[Node, ...]
    flags: tuple[Node, ...]
    fills: tuple[int, ...]
    calls: tuple[Called, ...]


@final
@dataclass(frozen=True)
class Stages:
    """``results`` says in which slot each root is found; slots from ``first`` on are filled by the stages in turn."""

    stages: tuple[Stage, ...]
    results: tuple[int, ...]
    first: int
    slots: int


def staged(roots: Sequence[Node], flags: Sequence[Node], first: int) -> Stages | None:
    """The stages of a graph, whose slots begin at ``first``; ``None`` where it has no call."""
    if not any(node.op in CUT for node in topological((*roots, *flags))):
        return None
    cut = _Cut(first, {})
    found = cut.stages(roots, flags)
    later = _later(found)
    return _Cut(first, later).stages(roots, flags) if later else found


def _later(found: Stages) -> dict[int, int]:
    """Stages whose kernel may work with a later one, as no call before that reads what it fills."""
    kept = len(found.stages) - 1
    new: dict[int, int] = {}
    read: set[int] = set()  # by calls up to the kernel that is kept
    for at in reversed(range(kept)):
        stage = found.stages[at]
        read |= {operand.slot for called in stage.calls for operand in called.operands}
        if read.isdisjoint(stage.fills):
            new[at] = kept
        else:
            kept, read = at, set()
    return new


class _Cut:
    """What has been given a slot so far, and at which level it is there: after as many products in a row.

    What kernels would compute at the levels in ``later`` they compute at those that these stand for.
    """

    def __init__(self, first: int, later: Mapping[int, int]) -> None:
        self.first, self.later = first, later
        self.level: dict[int, int] = {}
        self.computed: dict[Node, int] = {}
        self.calls: dict[tuple[Call, tuple[Node, ...]], tuple[int, Called]] = {}

    def stages(self, roots: Sequence[Node], flags: Sequence[Node]) -> Stages:
        """The stages of a graph."""
        new = rewrite((*roots, *flags), self.rule)
        wanted, flags = new[: len(roots)], new[len(roots) :]
        results = tuple([self.result(root) for root in wanted])
        if not self.computed and not flags:  # there is always a kernel, if only to copy the result
            results = (self.filled(wanted[0]), *results[1:])
        last = max([*self.level.values(), *(self.turn_of(root) for root in (*wanted, *flags))], default=0)
        each = tuple([self.stage(at, flags) for at in range(last + 1)])
        return Stages(each, results, self.first, len(self.level))

    def new_slot(self, level: int) -> int:
        number = self.first + len(self.level)
        self.level[number] = level
        return number

    def level_of(self, node: Node) -> int:
        slots = [below.attrs[0] for below in topological((node,)) if below.op == "slot"]
        return max((self.level.get(slot, 0) for slot in slots), default=0)

    def turn_of(self, node: Node) -> int:
        """The level at which a kernel computes a value."""
        level = self.level_of(node)
        return self.later.get(level, level)

    def rule(self, node: Node, args: tuple[Node, ...]) -> Node:
        if node.op not in CUT:
            return rebuilt(node, args)
        whole = (MATMUL, 0, 0, ((node.shape, node.dtype),)) if node.op == "product" else node.attrs
        call, place, ahead, kinds = whole
        if (call, args) not in self.calls:
            operands = tuple([self.operand(arg) if node.op == "product" else self.given(arg) for arg in args])
            before = max((self.level_of(arg) for arg in args), default=0)
            self.calls[call, args] = before, Called(
                call, operands, (None,) * len(kinds), kinds, ahead, args[-1].shape if args else ()
            )
        before, known = self.calls[call, args]
        number = known.slots[place]
        if number is None:
            number = self.new_slot(before + 1)
            slots = (*known.slots[:place], number, *known.slots[place + 1 :])
            self.calls[call, args] = before, replace(known, slots=slots)
        return Node("slot", (), (number, "dense", ()), node.shape, node.dtype)

    def given(self, node: Node) -> Operand:
        """An argument of any shape: the array of a slot that has it, or what a kernel fills."""
        whole = node.op == "slot" and node.attrs[1] == "dense"
        return Operand(node.attrs[0] if whole else self.result(node), False)

    def operand(self, node: Node) -> Operand:
        """A matrix: libraries multiply by what is transposed as fast, and other products may be of it as it is."""
        node = joined(node)
        if node.op == "view" and node.attrs[0] == ((1, 0, 1), (0, 0, 1)):
            (source,) = node.args
            return Operand(source.attrs[0] if source.op == "slot" else self.result(source), True)
        return Operand(self.result(node), False)

    def result(self, node: Node) -> int:
        """The slot of a value: its own, or one that a kernel fills."""
        if node.op == "slot" and node.attrs[0] >= self.first:
            return node.attrs[0]
        if node.op == "slot" and node.ndim == 2 and node.attrs[1] == "dense":
            return node.attrs[0]
        return self.filled(node)

    def filled(self, node: Node) -> int:
        """The slot that a kernel fills with a value."""
        node = self.without_known(node)
        if node not in self.computed:
            self.computed[node] = self.new_slot(self.turn_of(node))
        return self.computed[node]

    def without_known(self, node: Node) -> Node:
        """A value that reads from slots the sums, and what is stored, that are known before its level.

        Kernels of that level share what they are computed of, as the value of a regression and the derivatives in its
        scale share the terms of all rows: another kernel would compute these terms again.
        """
        level = self.turn_of(node)
        new: dict[Node, Node] = {}

        def known(each: Node) -> bool:
            return (is_reduction(each) or each.op == "stored") and self.turn_of(each) < level

        for each in topological((node,), lambda each: () if known(each) else each.args):
            if known(each):
                new[each] = Node("slot", (), (self.filled(each), "dense", ()), each.shape, each.dtype)
            else:
                new[each] = rebuilt(each, tuple(new[arg] for arg in each.args))
        return new[node]

    def stage(self, at: int, flags: Sequence[Node]) -> Stage:
        own = [(node, slot) for node, slot in self.computed.items() if self.level[slot] == at]
        calls = tuple([called for before, called in self.calls.values() if before == at])
        return Stage(
            tuple(node for node, _ in own),
            tuple(flag for flag in flags if self.turn_of(flag) == at),
            tuple(slot for _, slot in own),
            calls,
        )
