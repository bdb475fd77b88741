"""The loop nests of a kernel: what runs where, before it is decided how.

A kernel is a block of statements and loops.  Each statement stands in the outermost block where its inputs are known,
so work that does not vary along a loop is done once outside it.  Within a block, *levels* order the work: statements of
level k, then the loops of level k, whose sums are known from level k + 1 on.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, final

import numpy as np

from vecdist.graph.memo import cached_property
from vecdist.graph.shapes import Shape
from vecdist.kernel.expressions import ZERO, Constant, Expr, Name, joined, names
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Scatter, Statement, Store, Temp, Total  # noqa: F401

Size = Literal["", "long", "short"]
Piece = tuple[Expr, int]  # of a length: the first value of an index, and how far it is to the next one
WHOLE: Piece = (ZERO, 1)


@final
@dataclass(eq=False)
class Block:
    """The body of a kernel or of a loop."""

    parent: Block | None = None
    index: str = ""
    items: list[tuple[int, Statement | Loop | Cases]] = field(default_factory=list)
    _ordered: list[tuple[int, Statement | Loop | Cases]] = field(default_factory=list, init=False, repr=False)

    def put(self, level: int, item: Statement | Loop | Cases) -> None:
        self.items.append((level, item))

    @property
    def levels(self) -> range:
        return range(1 + max((level for level, _ in self.items), default=0))

    def statements(self, level: int) -> list[Statement]:
        return [item for at, item in self.items if at == level and not isinstance(item, Loop | Cases)]

    def loops(self, level: int) -> list[Loop]:
        return [item for at, item in self.items if at == level and isinstance(item, Loop)]

    def cases(self, level: int) -> list[Cases]:
        return [item for at, item in self.items if at == level and isinstance(item, Cases)]

    def every_loop(self) -> list[Loop]:
        return [item for _, item in self.items if isinstance(item, Loop)]

    def walk(self) -> Iterator[Statement | Loop]:
        """Everything in this block and below, in order of execution."""
        if len(self._ordered) != len(self.items):  # which are only added to, and gone through again and again
            self._ordered = sorted(self.items, key=_turn)
        for _, item in self._ordered:
            if isinstance(item, Cases):
                yield from item.short.walk()
                yield from item.long.walk()
                continue
            yield item
            if isinstance(item, Loop):
                yield from item.body.walk()

    @property
    def loop_body(self) -> Block:
        """The body of the loop that this block belongs to: itself, unless it is one of two cases."""
        return self.parent if self.parent and self.parent.index == self.index else self

    @property
    def depth(self) -> int:
        """How many blocks there are from the outermost to this one."""
        return 1 + self.parent.depth if self.parent else 1

    def chain(self) -> list[Block]:
        """The blocks from the outermost to this one."""
        return [*self.parent.chain(), self] if self.parent else [self]


def _turn(placed: tuple[int, Statement | Loop | Cases]) -> int:
    """When an item of a block is run: at its level, statements first, and loops last."""
    level, item = placed
    return 3 * level + (2 if isinstance(item, Loop) else 1 if isinstance(item, Cases) else 0)


@final
@dataclass(eq=False)
class Loop:
    """``body`` for each value of its index below the length ``dim``; in order, by one thread, where ``sequential``.

    Rows of several axes are as many as the product of their lengths: ``dim`` is these, with ``*`` between them.  The
    ``size`` is what is known of the length where that decides how it is planned.  Where a length is in ``step`` pieces,
    a loop goes through that of number ``start``: every so manieth value on a GPU, neighbours on a CPU.
    """

    dim: str
    body: Block
    sequential: bool = False
    size: Size = ""
    start: Expr = ZERO
    step: int = 1

    @property
    def index(self) -> str:
        return self.body.index

    @property
    def length(self) -> Expr:
        return _length(self.dim.split("*"))

    @property
    def first_dim(self) -> str:
        """The length of the first of its axes."""
        return self.dim.split("*")[0]

    @property
    def length_behind(self) -> Expr:
        """The number of its turns for each element of the first of its axes."""
        return _length(self.dim.split("*")[1:] or ["1"])

    def turns(self, lengths: Mapping[str, int]) -> int:
        """How often the body runs, by the numbers that symbols stand for."""
        return -(-math.prod(int(lengths.get(dim, dim)) for dim in self.dim.split("*")) // self.step)

    def sums(self, home: Block) -> list[Accumulate]:
        """The sums of block ``home`` that this loop adds to."""
        return [s for s in self.body.walk() if isinstance(s, Accumulate) and s.home is home]

    def scatters(self) -> list[int]:
        """The summed outputs that this loop adds to."""
        return sorted({item.output for item in self.body.walk() if isinstance(item, Scatter)})

    def scatters_across_rows(self) -> set[int]:
        """Those of which a row adds to elements that do not lie at its own index of the first axis."""
        added = (item for item in self.body.walk() if isinstance(item, Scatter))
        return {item.output for item in added if item.indices[:1] != (Name(self.index),)}

    def dims(self) -> list[str]:
        """The lengths of the longest chain of loops from this one inwards."""
        inner = [item.dims() for _, item in self.body.items if isinstance(item, Loop)]
        return [self.dim, *max(inner, key=len, default=[])]


def _length(dims: Sequence[str]) -> Expr:
    return joined("*", [Constant(int(dim)) if dim.isdigit() else Name(dim) for dim in dims])


@final
@dataclass(eq=False)
class Cases:
    """Two blocks that compute the same values: ``short`` may run where ``condition`` holds, ``long`` always."""

    condition: Name
    short: Block
    long: Block


@final
@dataclass(frozen=True)
class Slot:
    """An input: where its elements lie.

    ``layout`` is ``"number"`` (a scalar argument), ``"dense"`` (row-major) or ``"strided"``; ``axes`` are the axes of
    the array whose strides the varying dimensions use.
    """

    index: int
    layout: str
    axes: tuple[int, ...]
    shape: Shape
    dtype: np.dtype


@final
@dataclass(frozen=True)
class Output:
    """An array that the kernel fills; a temporary one is read again by later loops.

    A ``kept`` one is filled before all other loops, from inputs alone: cheap enough for every block of a grid to do.
    Each element is stored once, or, where the output is ``summed``, is the sum of what loops scatter to it.  What is
    ``common`` to several loops the first of them leaves to the others, which would compute it again.
    """

    shape: Shape
    dtype: np.dtype
    temporary: bool = False
    summed: bool = False
    kept: bool = False
    common: bool = False


@final
@dataclass(frozen=True)
class Kernel:
    """Loop nests with their inputs, outputs and symbolic lengths."""

    root: Block
    slots: tuple[Slot, ...]
    outputs: tuple[Output, ...]
    lengths: tuple[str, ...]
    flagged: bool
    fixed: tuple[tuple[str, int], ...] = ()
    """Lengths of inner loops that are part of the program, which then has these loops written out."""
    sizes: tuple[tuple[str, Size], ...] = ()
    """Lengths of which is known whether they are long or short."""
    near: tuple[int, ...] = ()
    """Summed outputs of few elements for many rows: each block of a grid adds them up for itself."""
    far: tuple[int, ...] = ()
    """Summed outputs that no thread has room for: all add to one array."""
    strips: tuple[tuple[str, int], ...] = ()
    """Lengths of inner loops that blocks of a grid cut into strips of so many elements."""
    scarce: tuple[str, ...] = ()
    """Lengths of outermost loops that have fewer turns than a grid has threads."""
    ample: tuple[str, ...] = ()
    """Lengths, joined by ``*``, of short rows that are enough for each thread of a grid to have one alone."""
    brief: tuple[str, ...] = ()
    """The indices of loops in rows of which each lane has few turns."""
    flat: tuple[tuple[str, tuple[tuple[str, int], ...], bool], ...] = ()
    """The indices of loops that are one with those inside, the lengths by which indices of these are found, and whether
    that is in 32 bits."""
    spread: tuple[str, ...] = ()
    """The indices of loops that are one with others, as rows are too few for a grid."""
    deep: tuple[str, ...] = ()
    """The indices of loops that all lanes go through together, to share those inside: of rows, or in them."""
    by_block: str = ""
    """The length of the first axis of the last outermost loops, of which a block takes each row through all of them."""
    block_level: int = 0
    """The level of the first of these."""
    block_lanes: tuple[tuple[str, int], ...] = ()
    """The lanes of a block that share what such a loop has inside, by its index."""

    def __str__(self) -> str:
        return "\n".join(_lines(self.root, 0))

    @property
    def known(self) -> tuple[object, ...]:
        """What its program knows of lengths, and has arrays for where these say so."""
        decided = self.near, self.far, self.strips, self.scarce, self.ample, self.brief, self.spread, self.deep
        by_block = self.by_block, self.block_level, self.block_lanes
        return self.fixed, self.sizes, *decided, self.flat, *by_block, len(self.outputs)

    def slot_of(self, source: int | Temp) -> Slot:
        """Where the elements of what a load reads lie."""
        if isinstance(source, Temp):
            output = self.outputs[source.output]
            return Slot(-1, "dense", (), output.shape, output.dtype)
        return next(slot for slot in self.slots if slot.index == source)

    def finished(self, level: int) -> list[int]:
        """The summed outputs to which the outermost loops of ``level`` are the last to add."""
        last = {output: at for at, loop in self.nests() for output in loop.scatters()}
        return sorted(output for output, at in last.items() if at == level)

    @cached_property
    def shared_sums(self) -> tuple[int, ...]:
        """The summed outputs to whose elements several rows of an outermost loop may add, and not each to its own."""
        return tuple(sorted({output for _, loop in self.nests() for output in loop.scatters_across_rows()}))

    @cached_property
    def own_sums(self) -> tuple[int, ...]:
        """The summed outputs that one outermost loop alone adds to, and each of its rows to the elements of its own."""
        nests = [(loop, loop.scatters()) for _, loop in self.nests()]
        found = []
        for number in {output for _, outputs in nests for output in outputs} - {*self.shared_sums}:
            first, *others = (loop for loop, outputs in nests if number in outputs)
            if not others and str(self.outputs[number].shape[0]) == first.dim:
                found.append(number)
        return tuple(sorted(found))

    def inner_dims(self) -> set[str]:
        """The lengths of the loops inside others."""
        inner = [item.dim for _, loop in self.shared_nests() for item in loop.body.walk() if isinstance(item, Loop)]
        return set(inner)

    @cached_property
    def _dims(self) -> tuple[list[list[str]], list[str]]:
        """The lengths of the longest chain of loops in each nest, and those of all loops inside others, in order."""
        return [loop.dims() for _, loop in self.shared_nests()], sorted(self.inner_dims())

    def with_fixed(
        self, lengths: Mapping[str, int], longest: int, few: Collection[str] = (), least: int = 0, behind: int = 0
    ) -> Kernel:
        """The kernel for inner loops of these lengths, as far as they are at most ``longest``, or one of ``few``.

        Where its loops have fewer than ``least`` elements, only lengths of loops in steps are, which run one by one,
        and those of axes behind others that are at most ``behind``.  What their indices are compared with is known
        with them, if it is no more: where parts of rows begin, and end.
        """
        whole, inner = self._dims
        small = max((math.prod(lengths.get(dim, 1) for dim in dims) for dims in whole), default=0) < least
        steps, others = {*self._step_dims} if small else {*inner}, self._behind
        known = [(dim, lengths[dim]) for dim in inner if lengths.get(dim, 0) > 0]
        fixed = tuple(
            (dim, n) for dim, n in known
            if ((n <= longest or (longest and dim in few)) if dim in steps else n <= behind and dim in others)
        )  # fmt: skip
        beside = {name for dim, _ in fixed for name in self._beside.get(dim, ())} - dict(fixed).keys()
        parts = [(name, lengths[name]) for name in sorted(beside) if lengths[name] <= longest]
        return replace(self, fixed=(*fixed, *parts)) if fixed else self

    @cached_property
    def _behind(self) -> set[str]:
        """The lengths of axes of arguments behind a first one: of rows, chains and draws there may soon be others."""
        return {dim for slot in self.slots for dim in slot.shape[1:] if isinstance(dim, str)}

    @cached_property
    def _beside(self) -> dict[str, set[str]]:
        """The lengths, and starts of slices, in conditions of the indices of inner loops of each length."""
        inner = [each for _, loop in self.shared_nests() for each in loop.body.walk()]
        dims = {each.index: each.dim for each in inner if isinstance(each, Loop)}
        found = {dim: set[str]() for dim in dims.values()}
        guards = {each.guard for each in inner if isinstance(each, Load) and each.guard is not None}
        for expr in guards | {each.args[0] for each in inner if isinstance(each, Assign) and each.op == "index"}:
            used = set(names(expr))
            for index in used & dims.keys():
                found[dims[index]] |= used & {*self.lengths}
        return found

    @cached_property
    def _step_dims(self) -> list[str]:
        """The lengths of loops inside those that run in order."""
        loops = [each for _, loop in self.shared_nests() for each in loop.body.walk() if isinstance(each, Loop)]
        steps = [each for loop in loops if loop.sequential for each in loop.body.walk()]
        return sorted({each.dim for each in steps if isinstance(each, Loop)})

    def is_kept(self, loop: Loop) -> bool:
        """Whether an outermost loop fills what is kept."""
        return any(isinstance(item, Store) and self.outputs[item.output].kept for item in loop.body.walk())

    def block_nests(self) -> list[Loop]:
        """The outermost loops over chains that blocks take, each through all of them."""
        return [loop for level, loop in self.shared_nests() if self.by_block and level >= self.block_level]

    def shared_nests(self) -> list[tuple[int, Loop]]:
        """The outermost loops that do the work of the kernel: those that fill what is kept come before."""
        return [(level, loop) for level, loop in self.nests() if not self.is_kept(loop)]

    def nests(self) -> list[tuple[int, Loop]]:
        """The outermost loops with their levels, in order of execution."""
        return [(level, loop) for level in self.root.levels for loop in self.root.loops(level)]


SCALAR = Kernel(Block(), (), (), (), False)  # of nothing: what single numbers are computed in


def _lines(block: Block, depth: int) -> Iterator[str]:
    pad = "    " * depth
    for level in block.levels:
        yield from (pad + str(item) for item in block.statements(level))
        for case in block.cases(level):
            yield f"{pad}if {case.condition}:"
            yield from _lines(case.short, depth + 1)
            yield f"{pad}else:"
            yield from _lines(case.long, depth + 1)
        for loop in block.loops(level):
            piece = f" from {loop.start} by {loop.step}" if loop.step > 1 else ""
            yield f"{pad}for {loop.index} < {loop.dim}{piece}{' in order' if loop.sequential else ''}:"
            yield from _lines(loop.body, depth + 1)
