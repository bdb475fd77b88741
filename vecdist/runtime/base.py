"""What every backend is: something that makes programs of kernels, and programs that run."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from vecdist.codegen.source import Source
from vecdist.graph.leaves import Leaf
from vecdist.graph.node import Node
from vecdist.graph.shapes import Dim, Shape
from vecdist.kernel.apart import Batches, all_at_once
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.written_out import written_out
from vecdist.passes.few_rows import Beside, few_rows
from vecdist.passes.order import Chosen, Derived
from vecdist.passes.split_reductions import InSteps

Runner = Callable[..., tuple[Sequence[Any], Any]]


@final
@dataclass(frozen=True)
class Feed:
    """What fills a slot: the array at a place among those given to a run, or the same array (or number) every time.

    Beside a place, ``array`` is one that is laid out as those that will be given.
    """

    place: int | None
    array: Any

    @staticmethod
    def of(leaf: Leaf, place: int | None = None) -> Feed:
        return Feed(place, leaf.array[()] if leaf.kind == "number" else leaf.array)

    @staticmethod
    def each(leaves: Sequence[Leaf], places: Mapping[Leaf, int]) -> list[Feed]:
        """What fills each slot of an expression, where those leaves are given to a run that have ``places``."""
        return [Feed.of(leaf, places.get(leaf)) for leaf in leaves]


def length_of(dim: Dim, lengths: Mapping[str, int]) -> int:
    """The number that a dimension stands for, or that of a loop over the rows of several."""
    if isinstance(dim, str):
        return lengths[dim] if dim in lengths else math.prod(int(lengths.get(each, each)) for each in dim.split("*"))
    return int(dim)


def element_count(shape: Shape, lengths: Mapping[str, int]) -> int:
    """The number of elements of a symbolic shape."""
    return math.prod(length_of(dim, lengths) for dim in shape)


class Program(ABC):
    """A compiled kernel.  Copies of what holds it share it; what it is pickled as compiles it, or finds it kept."""

    source: Source

    def __deepcopy__(self, memo: Any) -> Program:
        return self

    @abstractmethod
    def prepared(
        self, lengths: Mapping[str, int], shapes: Sequence[Sequence[int]], feeds: Sequence[Feed], pooled: bool = True
    ) -> Runner:
        """A function that runs the kernel at these lengths on a sequence of arrays, filling the slots by ``feeds``.

        It keeps those arrays alive that fill a slot every time; of the others only the layout counts.

        It returns the outputs, with ``shapes``, and whether the flag was raised; temporary outputs are left out.  Its
        second argument ``out``, which may be left out, has the arrays to write the outputs to, in the same order.  The
        memory of large outputs comes back to be used again where ``pooled``.
        """

    def lanes(self, loop: Loop, lengths: Mapping[str, int]) -> int:
        """The threads that share a row of an outermost loop with inner loops."""
        return 1

    def launches(self, lengths: Mapping[str, int]) -> int:
        """How many launches of one kernel a run is."""
        return 1

    @abstractmethod
    def resources(self) -> dict[str, Any]:
        """What the compiler says of the kernel: registers, or vector instructions."""


class Backend(ABC):
    """A target: compiles kernels, and knows its arrays."""

    name: str
    nests: tuple[Callable[[Kernel], Kernel], ...] = (written_out,)
    """What is made of the loop nests of a kernel."""
    passes: tuple[Callable[[Sequence[Node]], tuple[Node, ...]], ...] = ()
    """Passes that pay on this target alone, run last."""
    fixed: int = 0
    """The longest inner loop whose length is part of the program, so that the compiler may write it out."""
    fixed_from: int = 0
    """The elements of all rows from which that pays: below it few lengths ask for a program of their own."""
    fixed_behind: int = 0
    """The longest inner loop along an axis behind others of which that is so however few elements there are."""
    picks: bool = False
    """Whether it pays to pick rows that change, in the order of groups that do not, instead of adding up by index."""
    widest: int | None = None
    """The most columns whose sums are kept at hand while rows are read; no length is too long where this is None."""

    in_steps: InSteps | None = None
    """Which reductions of very many elements to few results are done in steps."""
    side_by_side: int = 0
    """The most long rows that are better done side by side, as elements are read, than one by one."""
    beside: Beside = staticmethod(few_rows)
    """Which of them are."""
    batch: Batches = staticmethod(all_at_once)
    """How much of an axis that all results have first a program takes at a time."""

    @classmethod
    def chosen(cls, part: Derived, lengths: Mapping[str, int]) -> Chosen:
        """What depends on lengths, chosen for this target."""
        return part.chosen(lengths, cls.widest, cls.side_by_side, cls.beside, in_steps=cls.in_steps)

    @classmethod
    def sized(cls, kernel: Kernel, lengths: Mapping[str, int], few: Collection[str] = ()) -> Kernel:
        """A kernel with what the program should know of its lengths; those of ``few`` rows are written out, too."""
        return kernel.with_fixed(lengths, cls.fixed, few, cls.fixed_from, cls.fixed_behind)

    @classmethod
    def called(cls, found: Derived, _lengths: Mapping[str, int]) -> Derived:
        """A graph with calls in the place of what, at these lengths, a target has better code for than kernels."""
        return found

    @abstractmethod
    def compile(self, kernel: Kernel) -> Program:
        """A program for ``kernel``, from the cache where it is there."""
