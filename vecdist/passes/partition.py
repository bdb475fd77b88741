"""Cut a graph at the rows of chunks: programs that run once for each chunk, and what is computed of their sums.

A length is that of *rows* where an array is cut along it.  A node is *split* where its shape has such a length, and
*whole* where it has none; a reduction of what is split over its rows is *partial*: each chunk has a part of it, and
the parts are folded by the same operation.  Programs of a chunk run in rounds, for what is computed of a whole sum
waits for all chunks; whole values stand between them.  What would need rows of other chunks is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from vecdist.graph.node import Node, cast, rewrite, topological
from vecdist.graph.shapes import Dim
from vecdist.passes.rows import refusal, row_axis
from vecdist.primitives.reductions import reduced
from vecdist.primitives.structure import STRUCTURE, is_along, is_reduction, position, rebuilt

FOLDED = {"sum": "sum", "prod": "prod", "max": "max", "min": "min", "logsumexp": "logsumexp", "scatter": "sum",
          "product": "sum"}  # fmt: skip
KEPT_APART = {"view", "reshape", "neg"}
"""What is done to each part as well as to their sum, but for the sign of an extreme or a product."""
DEAR = {"product", "external", "recurrence"}
"""Whole values that are computed once, not in each chunk; any other is cheap, and stays where it is used."""


@final
@dataclass(frozen=True)
class Step:
    """A program of ``roots``, whose values fill slots; of each chunk where it has ``rows``.

    Of a root of a chunk ``joins`` has the operation that folds it, or the axis (negative) along which it is joined.
    """

    roots: tuple[Node, ...]
    fills: tuple[int, ...]
    rows: str | None = None
    joins: tuple[str | int, ...] = ()

    def only(self, split: bool) -> Step:
        """The program of those roots alone that are joined, or of those that are folded."""
        kept = [place for place, join in enumerate(self.joins) if isinstance(join, int) == split]
        roots, fills = tuple(self.roots[at] for at in kept), tuple(self.fills[at] for at in kept)
        return Step(roots, fills, self.rows, tuple(self.joins[at] for at in kept))


@final
@dataclass(frozen=True)
class Partition:
    """Steps in turn, and in which slots results and flags are found.

    ``lengths`` are slots that are filled with the product of lengths, ``firsts`` those with the first row of a chunk.
    """

    steps: tuple[Step, ...]
    results: tuple[int, ...]
    flags: tuple[int, ...]
    lengths: Mapping[int, tuple[Dim, ...]]
    firsts: Mapping[str, int]
    slots: int

    @property
    def rounds(self) -> int:
        """How often the chunks are read."""
        return len([step for step in self.steps if step.rows])


def partition(roots: Sequence[Node], flags: Sequence[Node], rows: frozenset[str], slots: int) -> Partition:
    """The steps of a graph, whose slots end before ``slots``, for chunks along the lengths ``rows``.

    ``ValueError``, naming the operation, where an operation needs rows of several chunks.
    """
    numbers = _Numbers(rows, slots)
    seen = tuple(reduced("max", cast(flag, np.int8), tuple(range(-flag.ndim, 0))) for flag in flags)
    nodes = rewrite((*roots, *seen), numbers.rule)
    cut = _Cut(nodes, rows, numbers.slots)
    found = tuple(map(cut.slot, nodes[: len(roots)]))
    failed = tuple(map(cut.flag, nodes[len(roots) :]))
    steps = tuple(cut.steps())
    return Partition(steps, found, failed, numbers.lengths, numbers.firsts, cut.slots)


class _Numbers:
    """The rules by which a graph is told what a chunk does not know: how many rows there are, and which are its own."""

    def __init__(self, rows: frozenset[str], slots: int) -> None:
        self.rows, self.slots = rows, slots
        self.lengths: dict[int, tuple[Dim, ...]] = {}
        self.firsts: dict[str, int] = {}

    def rule(self, node: Node, args: tuple[Node, ...]) -> Node:
        if node.op == "extent" and self.rows.intersection(node.attrs[0]):
            return self.count(node.attrs[0])
        if node.op == "position" and self.rows.intersection(node.shape):
            return self.place(node)
        if is_along(node) and self.rows.intersection(node.shape[axis] for axis in node.attrs[0]):
            expand = STRUCTURE[node.op].expand
            assert expand is not None
            return expand(*args, *node.attrs)
        return rebuilt(node, args)

    def count(self, dims: tuple[Dim, ...]) -> Node:
        known = next((slot for slot, each in self.lengths.items() if each == dims), None)
        number = self.new() if known is None else known
        self.lengths[number] = dims
        return Node("slot", (), (number, "number", ()), (), np.dtype(np.float64))

    def place(self, node: Node) -> Node:
        """The places of elements, behind those of the chunks before."""
        row, *others = node.shape
        if row not in self.rows or self.rows.intersection(others):
            raise ValueError(refusal(node, "counts elements in an order in which rows of chunks do not lie together"))
        number = self.firsts.setdefault(str(row), self.slots)
        self.slots = max(self.slots, number + 1)
        first = Node("slot", (), (number, "number", ()), (), np.dtype(np.int64))
        width = Node("extent", (), (tuple(dim for dim in others if dim != 1),), (), np.dtype(np.float64))
        return position(*node.shape) + first * cast(width, np.int64)

    def new(self) -> int:
        self.slots += 1
        return self.slots - 1


class _Cut:
    """What is known of each node: its rows, whether it is partial, and the rounds that it waits for."""

    def __init__(self, roots: Sequence[Node], rows: frozenset[str], slots: int) -> None:
        self.slots = slots
        self.rows: dict[Node, str | None] = {}
        self.partial: dict[Node, tuple[str, str]] = {}
        self.ready: dict[Node, int] = {}
        self.held: set[Node] = set()
        self.known: dict[Node, int] = {}
        self.asked: dict[tuple[int, str | None], dict[Node, int]] = {}
        for node in topological(roots):
            self.learn(node, rows)

    def learn(self, node: Node, rows: frozenset[str]) -> None:
        self.rows[node] = row_axis(node, rows)
        before = [self.rows[arg] for arg in node.args if self.rows[arg] is not None]
        waits = max((self.ready[arg] for arg in node.args), default=0)
        own = self.rows[node]
        part = self.part_of(node)
        if part is not None:
            self.partial[node] = part
        elif before and own is None:
            raise ValueError(refusal(node))
        self.ready[node] = waits + (part is not None and bool(before))
        if own is None and (part or node.op in DEAR or any(arg in self.held for arg in node.args)):
            self.held.add(node)

    def part_of(self, node: Node) -> tuple[str, str] | None:
        """The operation that folds a partial node, and over which rows; ``None`` where it is whole or split."""
        if self.rows[node] is not None or not node.args:
            return None
        before = next((self.rows[arg] for arg in node.args if self.rows[arg] is not None), None)
        if before is not None:
            return (FOLDED[node.op], before) if node.op in FOLDED and self.is_fold(node, before) else None
        parts = [self.partial.get(arg) for arg in node.args]
        together = len({self.ready[arg] for arg in node.args}) == 1 and len(set(parts)) == 1
        if parts[0] is None or not together:
            return None
        moved = node.op in KEPT_APART and (node.op != "neg" or parts[0][0] == "sum")
        return parts[0] if moved or (node.op in {"add", "sub"} and parts[0][0] == "sum") else None

    def is_fold(self, node: Node, rows: str) -> bool:
        """Whether a node without rows of its own takes those of its arguments together, and does nothing else."""
        if is_reduction(node):
            return True
        return all(rows in arg.shape for arg in node.args) if node.op == "product" else rows in node.args[0].shape

    def slot(self, node: Node) -> int:
        """The slot of a value, which a step is asked to fill."""
        if node not in self.known:
            self.known[node] = self.slots
            self.slots += 1
            rows = self.partial[node][1] if node in self.partial else self.rows[node]
            at = self.ready[node] - (node in self.partial)
            self.asked.setdefault((at, rows), {})[node] = self.known[node]
        return self.known[node]

    def flag(self, node: Node) -> int:
        """The slot of a flag; a cheap one of whole values is seen with each chunk, beside what is computed there."""
        there = sorted(rows for at, rows in self.asked if rows and not at)
        if self.rows[node] is None and node not in self.held and there:
            self.partial[node] = ("max", there[0])
            self.ready[node] = 1
        return self.slot(node)

    def steps(self) -> Iterator[Step]:
        """The steps from the first to the last; what later ones ask for is known by asking them first."""
        last = max((at for at, _ in self.asked), default=0)
        found: list[Step] = []
        for at in reversed(range(last + 1)):
            for rows in sorted({rows for level, rows in self.asked if level == at and rows}):
                found.append(self.step(at, rows))
            if (at, None) in self.asked:
                found.append(self.step(at, None))
        return reversed(found)

    def step(self, at: int, rows: str | None) -> Step:
        asked = self.asked[at, rows]
        roots = self.inside(tuple(asked))
        joins = tuple(self.partial[node][0] if node in self.partial else node.shape.index(rows) - node.ndim
                      for node in asked) if rows else ()  # fmt: skip
        return Step(roots, tuple(asked.values()), rows, joins)

    def inside(self, roots: tuple[Node, ...]) -> tuple[Node, ...]:
        """Roots that read from slots what other steps compute."""
        new: dict[Node, Node] = {}
        own = set(roots)

        def inputs(node: Node) -> tuple[Node, ...]:
            return () if node in outer else node.args

        outer = self.outer(own)
        for node in topological(roots, inputs):
            if node in outer:
                new[node] = Node("slot", (), (self.slot(node), "dense", ()), node.shape, node.dtype)
            else:
                new[node] = rebuilt(node, tuple(new[arg] for arg in node.args))
        return tuple(new[root] for root in roots)

    def outer(self, roots: set[Node]) -> set[Node]:
        """The whole values below roots that other steps compute: what waits for a sum, or is dear."""
        found: set[Node] = set()
        for node in topological(roots, lambda node: [arg for arg in node.args if not self.parts(node, arg)]):
            found |= {arg for arg in node.args if self.parts(node, arg)}
        return found - roots

    def parts(self, node: Node, arg: Node) -> bool:
        """Whether an argument is computed by another step."""
        if node in self.partial:
            return arg in self.held and arg not in self.partial
        return arg in self.partial or (self.rows[node] is not None and arg in self.held)
