"""What is done to one chunk, and how the parts of chunks are folded: the same bits in whatever order they come."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import Leaf, array_kind, in_memory
from vecdist.graph.node import Node, topological
from vecdist.graph.shapes import Dim
from vecdist.passes.bind import Bound
from vecdist.passes.derivations import values as the_values
from vecdist.passes.partition import Step
from vecdist.runtime import pipeline
from vecdist.runtime.base import Feed, Runner, length_of
from vecdist.runtime.cache import of_structures
from vecdist.runtime.libraries import LIBRARY

Parts = tuple[Any, ...]
FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "logsumexp": np.logaddexp,
}
ANY = 2**30
"""Rows of a chunk as programs are planned for it: many, so that each chunk, also a short one, has the same program."""

_runs = of_structures()


@final
@dataclass(frozen=True)
class Read:
    """A slot that a step reads: of a chunk, along ``axis`` of the slot, where it has one."""

    slot: int
    layout: str
    shape: tuple[Dim, ...]
    dtype: np.dtype
    axis: int | None


@final
@dataclass(frozen=True)
class Said:
    """What an array in chunks said of them: its name, and their shape before and behind the axis of rows."""

    name: str
    before: tuple[int, ...]
    behind: tuple[int, ...]

    def shape(self, count: int) -> tuple[int, ...]:
        """The shape of a chunk of so many rows."""
        return (*self.before, count, *self.behind)


@final
@dataclass(frozen=True)
class Work:
    """A step at known lengths, as it is sent to whoever runs it: ``first`` is the slot of the first row of a chunk."""

    step: Step
    kind: str
    lengths: tuple[tuple[str, int], ...]
    slots: int
    first: int | None = None

    @functools.cached_property
    def reads(self) -> tuple[Read, ...]:
        """The slots of arrays and numbers that the step reads."""
        found = [node for node in topological(self.step.roots) if node.op == "slot"]
        return tuple(
            Read(node.attrs[0], node.attrs[1], node.shape, node.dtype, _place(node, self.step.rows))
            for node in found if node.attrs[0] != self.first
        )

    def __call__(self, given: Mapping[int, Any], first: int = 0, count: int = 0) -> Parts:
        """The values of all roots, those of ``count`` rows from ``first`` on; in float64 where parts are added."""
        arrays = [given.get(slot) for slot in range(self.slots)]
        if self.first is not None:
            arrays[self.first] = np.int64(first)
        run = _runs((self.step, self.kind, self.lengths, count), lambda: self.prepared(count, arrays))
        found, _ = run(arrays)
        return tuple(map(_widened, found, self.step.joins)) if self.step.rows else tuple(found)

    def prepared(self, count: int, arrays: Sequence[Any]) -> Runner:
        """The launch for so many rows, and arrays laid out as these."""
        lengths = self.at(count)
        shapes = [[length_of(dim, lengths) for dim in root.shape] for root in self.step.roots]
        feeds = [Feed(slot, array) for slot, array in enumerate(arrays)]
        return self.plan().program.prepared(lengths, shapes, feeds, pooled=False)

    def plan(self) -> pipeline.Plan:
        """The plan, which is the same for chunks of any number of rows."""
        nobody = (Leaf(None, np.empty(0), LIBRARY[self.kind]),) * self.slots
        bound = Bound(self.step.roots, nobody, self.at(ANY))
        return pipeline.planned(bound, self.kind, pipeline.structured(bound, the_values, self.kind, "nan"))

    def at(self, count: int) -> dict[str, int]:
        """The lengths of a chunk of so many rows."""
        return dict(self.lengths) | ({self.step.rows: count} if self.step.rows else {})

    def shaped(self, read: Read, array: Any) -> Any:
        """An array that is there, with the axes of its slot."""
        dense = read.layout == "dense"
        return array.reshape([length_of(dim, dict(self.lengths)) for dim in read.shape]) if dense else array

    def fitting(self, read: Read, piece: Any, said: Said, first: int, count: int) -> Any:
        """A chunk, of ``count`` rows from ``first`` on, as kernels read it, of the dtype that its array said.

        ``TypeError`` where it is of another library, or of a dtype that would lose digits, ``ValueError`` where it has
        another shape.
        """
        library, which = LIBRARY[self.kind], f"a chunk of {said.name}, the rows {first} to {first + count - 1},"
        piece = piece if array_kind(piece) == "cupy" else in_memory(piece)
        if array_kind(piece) != library or not np.can_cast(piece.dtype, read.dtype):
            raise TypeError(
                f"{which} is {array_kind(piece)}'s and of dtype {piece.dtype}, but the array said {library} and "
                f"{read.dtype}; convert its chunks, as by x.map_blocks(np.asarray) or x.astype"
            )
        if piece.shape != said.shape(count):
            raise ValueError(f"{which} has shape {piece.shape}, but the array said {said.shape(count)}: it has changed")
        if library == "cupy":
            return importlib.import_module("cupy").ascontiguousarray(piece, read.dtype)
        return np.require(piece, read.dtype, ["C", "ALIGNED"])




def _place(node: Node, rows: str | None) -> int | None:
    """The axis of rows, as the array of a slot has it."""
    if rows not in node.shape:
        return None
    place = node.shape.index(rows)
    return node.attrs[2][place] if node.attrs[1] == "strided" else place


def _widened(value: Any, join: str | int) -> Any:
    return value.astype(np.float64) if value.dtype == np.float32 and join in ("sum", "prod", "logsumexp") else value


@final
class Tree:
    """Parts of chunks, folded in pairs, and pairs of pairs, as they come in the order of chunks.

    What is folded with what depends on their number alone; so a tree may be grown of trees of eight parts each.
    """

    def __init__(self, joins: Sequence[str | int]) -> None:
        self.folds: list[Callable[[Any, Any], Any]] = [FOLDS[join] for join in joins if isinstance(join, str)]
        self.branches: list[tuple[int, Parts]] = []

    def add(self, parts: Parts) -> None:
        """Take the parts of the next chunk."""
        size = 1
        while self.branches and self.branches[-1][0] == size:
            parts = self.folded(self.branches.pop()[1], parts)
            size *= 2
        self.branches.append((size, parts))

    def total(self) -> Parts:
        """What all parts fold to."""
        (_, parts), *rest = reversed(self.branches)
        for _, before in rest:
            parts = self.folded(before, parts)
        return parts

    def folded(self, left: Parts, right: Parts) -> Parts:
        with np.errstate(all="ignore"):  # as in kernels
            return tuple(fold(a, b) for fold, a, b in zip(self.folds, left, right, strict=True))
