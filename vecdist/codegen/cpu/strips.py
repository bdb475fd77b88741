"""The lines of loops on the CPU: a stretch of rows at a time, sums of float32 in float32 over short stretches."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from vecdist.codegen.rows import (
    COLUMNS,
    STRETCH,
    Phase,
    beginning,
    from_buffer,
    has_phases,
    is_short,
    is_turned,
    is_written,
    parts_of_turned,
    phases,
    short,
    short_columns,
    to_buffer,
)
from vecdist.codegen.statements import ACCUMULATOR, INDENT
from vecdist.kernel.ir import Accumulate, Assign, Block, Kernel, Load, Loop, Scatter, Statement


class LoopLines(ABC):
    """The loops of a kernel; what a statement in them is, subclasses say."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.fixed: dict[str, int] = dict(kernel.fixed)
        self.short: set[str] = set()  # the sums that the loop being written takes in float32
        self.waiting: dict[str, np.dtype] = {}  # the buffers of the nest being written

    @abstractmethod
    def statement(self, item: Statement) -> str:
        """A statement as text."""

    def elements(self, loop: Loop, pad: str) -> Iterator[str]:
        """The loop over one block, in stretches where it has phases or adds up float32."""
        sums = loop.sums(self.kernel.root)
        if not has_phases(loop, self.fixed) and not any(map(is_short, sums)):
            yield from self.turns(loop, "block * size, end", pad)
            return
        yield f"{pad}for start in range(block * size, end, {STRETCH}):"
        yield f"{pad}    stop = min(start + {STRETCH}, end)"
        pad += INDENT
        if not has_phases(loop, self.fixed):
            yield from self.briefly(sums, pad, self.turns(loop, "start, stop", pad))
            return
        for phase in phases(loop):
            if phase.loop is None:
                body = (pad + INDENT + self.statement(item) for item in phase.items)
                yield from self.briefly(phase.items, pad, self.over_rows(loop, phase, pad, body))
            elif is_turned(phase.loop, loop):
                yield from self.turned(loop, phase, phase.loop, pad)
            elif columns := short_columns(phase.loop, loop, self.kernel.outputs):
                yield from self.by_columns(loop, phase, phase.loop, columns, pad)
            else:
                yield from self.over_rows(loop, phase, pad, self.one_row(phase, phase.loop, loop.body, pad + INDENT))

    def turns(self, loop: Loop, bounds: str, pad: str) -> Iterator[str]:
        yield f"{pad}for {loop.index} in range({bounds}):"
        yield from self.block(loop.body, len(pad) // len(INDENT) + 1)

    def briefly(self, items: Sequence[Statement], pad: str, lines: Iterator[str]) -> Iterator[str]:
        """The lines of a short loop, whose sums of float32 are taken in float32: that keeps its vectors whole."""
        sums = [s for s in items if isinstance(s, Accumulate) and is_short(s) and s.name not in self.short]
        yield from (f"{pad}{short(item)} = f4(0)" for item in sums)
        self.short |= {item.name for item in sums}
        yield from lines
        self.short -= {item.name for item in sums}
        yield from (f"{pad}{item.name} = {item.name} + f8({short(item)})" for item in sums)

    def over_rows(self, loop: Loop, phase: Phase, pad: str, body: Iterator[str]) -> Iterator[str]:
        """A loop over the rows of a stretch, with what the phase takes from buffers and leaves there."""
        yield f"{pad}for {loop.index} in range(start, stop):"
        pad, row = pad + INDENT, f"{loop.index} - start"
        for name, dtype in self.waiting.items():
            if name in phase.reads() and name not in phase.defines():
                yield pad + from_buffer(name, dtype, row, self.scope(name))
        yield from (pad + self.statement(item) for item in phase.again)
        yield from body
        for name, dtype in self.waiting.items():
            if name in phase.defines():
                yield pad + to_buffer(name, dtype, row, self.scope(name))

    def one_row(self, phase: Phase, inner: Loop, home: Block, pad: str) -> Iterator[str]:
        yield from self.inner_loop(inner, home, pad)
        yield from (pad + self.statement(item) for item in phase.items)

    def turned(self, loop: Loop, phase: Phase, inner: Loop, pad: str) -> Iterator[str]:
        """An inner loop with the rows of the stretch innermost; what it adds up for each row waits in buffers."""
        taken = inner.sums(loop.body)
        brief = [item for item in taken if is_short(item)]
        yield from (line for item in taken for line in self.filled(loop, item.name, beginning(item), pad))
        if not brief:
            yield from self.columns(loop, phase, inner, f"range({inner.dim})", pad)
        else:
            yield f"{pad}for first_column in range(0, {inner.dim}, {COLUMNS}):"
            yield from (line for item in brief for line in self.filled(loop, short(item), "f4(0)", pad + INDENT))
            bounds = f"range(first_column, min(first_column + {COLUMNS}, {inner.dim}))"
            self.short |= {item.name for item in brief}
            yield from self.columns(loop, phase, inner, bounds, pad + INDENT)
            self.short -= {item.name for item in brief}
            for item in brief:
                whole = f"{self.buffered(item.name, loop)} + f8({self.buffered(short(item), loop)})"
                yield from self.filled(loop, item.name, whole, pad + INDENT)
        if phase.items:
            ends = (pad + INDENT + self.statement(item) for item in phase.items)
            yield from self.over_rows(loop, Phase(phase.items), pad, ends)

    def filled(self, loop: Loop, name: str, value: str, pad: str) -> Iterator[str]:
        """A loop that fills the buffer of a name."""
        yield f"{pad}for {loop.index} in range(start, stop):"
        yield f"{pad}    store(b_{name}, {loop.index} - start, {value}, {self.scope(name)})"

    def buffered(self, name: str, loop: Loop) -> str:
        return f"load(b_{name}, {loop.index} - start, {self.scope(name)})"

    def columns(self, loop: Loop, phase: Phase, inner: Loop, bounds: str, pad: str) -> Iterator[str]:
        """The turns of a turned loop."""
        own = parts_of_turned(inner)
        items = [item for level in inner.body.levels for item in inner.body.statements(level)]
        yield f"{pad}for {inner.index} in {bounds}:"
        pad += INDENT
        for number, item in enumerate(own):
            narrow = self.kernel.outputs[item.output].dtype == np.float32
            yield f"{pad}t{number} = {'f4' if narrow else ACCUMULATOR[self.kernel.outputs[item.output].dtype.kind]}(0)"
        taken = inner.sums(loop.body)
        elsewhere = [item for item in items if item not in taken]
        body = (pad + INDENT + line for item in items for line in self.in_turned(item, own, taken, loop))
        reads = replace(phase, items=())
        yield from self.briefly(elsewhere, pad, self.over_rows(loop, reads, pad, body))
        for number, item in enumerate(own):
            yield pad + self.statement(replace(item, value=f"t{number}"))

    def in_turned(
        self, item: Statement, own: Sequence[Scatter], taken: Sequence[Accumulate], loop: Loop
    ) -> Iterator[str]:
        """A statement of a turned loop: sums are kept in registers for a column, in buffers for a row."""
        if isinstance(item, Scatter) and item in own:
            yield f"t{own.index(item)} = accumulate_sum(t{own.index(item)}, {item.value})"
        elif isinstance(item, Accumulate) and item in taken:
            name = short(item) if is_short(item) else item.name
            yield f"{name} = {self.buffered(name, loop)}"
            yield self.statement(item)
            yield f"store(b_{name}, {loop.index} - start, {name}, {self.scope(name)})"
        else:
            yield self.statement(item)

    def by_columns(
        self, loop: Loop, phase: Phase, inner: Loop, columns: Sequence[Scatter], pad: str
    ) -> Iterator[str]:
        """Sums of float32 columns: in float32 over the rows of a stretch, for a few columns at a time."""
        yield f"{pad}for first_column in range(0, {inner.dim}, {STRETCH}):"
        pad += INDENT
        head, place = f"for {inner.index} in range(first_column, last_column):", f"{inner.index} - first_column"
        sums = {item: f"b_{short(item)}, {place}" for item in columns}
        scopes = {item: self.scope(short(item)) for item in columns}
        yield f"{pad}last_column = min(first_column + {STRETCH}, {inner.dim})"
        yield pad + head
        yield from (f"{pad}    store({sums[item]}, f4(0), {scopes[item]})" for item in columns)
        items = [item for level in inner.body.levels for item in inner.body.statements(level)]
        lines = (
            f"add_at({sums[item]}, {item.value}, {scopes[item]})"
            if isinstance(item, Scatter) and item in columns
            else self.statement(item)
            for item in items
        )
        deep = pad + INDENT
        body = (line for part in ([deep + head], (deep + INDENT + line for line in lines)) for line in part)
        yield from self.over_rows(loop, phase, pad, self.briefly(items, deep, body))
        yield pad + head
        for item in columns:
            yield f"{pad}    {self.statement(replace(item, value=f'load({sums[item]}, {scopes[item]})'))}"

    def scope(self, name: str) -> str:
        """The alias scope of a buffer: those of the outputs come first."""
        outputs = len(self.kernel.outputs)
        return f"{outputs + list(self.waiting).index(name)}, {outputs + len(self.waiting)}"

    def written(self, loop: Loop, home: Block, pad: str) -> Iterator[str]:
        """The turns of an inner loop one after another; sums of float32 are taken in float32."""
        sums = loop.sums(home)
        items = [item for level in loop.body.levels for item in loop.body.statements(level)]
        brief = {item.name for item in sums if is_short(item)} - self.short
        yield from (f"{pad}{short(s)} = f4(0)" if s.name in brief else f"{pad}{s.name} = {beginning(s)}" for s in sums)
        own = "|".join(item.name for item in items if isinstance(item, Assign | Load)) or "-"
        self.short |= brief
        for turn in range(self.fixed[loop.dim]):
            for item in items:
                line = re.sub(rf"\b({own})\b", rf"\1_{turn}", self.statement(item))
                yield pad + re.sub(rf"\b{loop.index}\b", str(turn), line)
        self.short -= brief
        yield from (f"{pad}{item.name} = f8({short(item)})" for item in sums if item.name in brief)

    def inner_loop(self, loop: Loop, home: Block, pad: str) -> Iterator[str]:
        if is_written(loop, self.fixed):
            yield from self.written(loop, home, pad)
            return
        yield from (f"{pad}{item.name} = {beginning(item)}" for item in loop.sums(home))
        items = [item for _, item in loop.body.items]
        sums = [s for s in items if isinstance(s, Accumulate) and is_short(s) and s.name not in self.short]
        if not sums or loop.body.every_loop():
            yield from self.turns(loop, loop.dim, pad)
            return
        first = f"first_{loop.index}"
        yield f"{pad}for {first} in range(0, {loop.dim}, {STRETCH}):"
        pad += INDENT
        yield from self.briefly(sums, pad, self.turns(loop, f"{first}, min({first} + {STRETCH}, {loop.dim})", pad))

    def block(self, block: Block, depth: int) -> Iterator[str]:
        pad = INDENT * depth
        for level in block.levels:
            for item in block.statements(level):
                yield pad + self.statement(item)
            for loop in block.loops(level):
                yield from self.inner_loop(loop, block, pad)

    def scopes(self) -> int:
        """The number of alias scopes: of outputs, and of the buffers of the nest that is written."""
        return len(self.kernel.outputs) + len(self.waiting)
