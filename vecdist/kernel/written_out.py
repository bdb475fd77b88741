"""Steps of recurrences in a straight line: short loops in them are written out, and carries wait in registers.

A carry of several numbers lies in memory as loops leave it: what a step stores the next one has to wait for.  Where all
lengths are known and small, each of its elements is a carry of its own, as one of a single number is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import final

import numpy as np

from vecdist.kernel.copies import Copy
from vecdist.kernel.expressions import ZERO, Constant, Expr, Name, substituted
from vecdist.kernel.ir import Block, Cases, Kernel, Loop
from vecdist.kernel.recurrences import half
from vecdist.kernel.statements import Accumulate, Assign, Load, Made, Scatter, Statement, Store, Temp, Total, renamed

LONGEST = 16  # turns of a loop in a step
MOST = 2048  # statements of a step: compilers take long over more
COMBINED = {"sum": "add", "prod": "mul"}
BOOL = np.dtype(np.bool_)


def written_out(kernel: Kernel) -> Kernel:
    """A kernel with those steps of it in a straight line whose loops have known, small lengths."""
    fixed = dict(kernel.fixed)
    loops = [item for item in kernel.root.walk() if isinstance(item, Loop)] if fixed else []
    if not any(loop.sequential for loop in loops):
        return kernel
    short = {loop for loop in loops if loop.body.every_loop() and _is_short(loop, fixed)}
    return replace(kernel, root=_WrittenOut(kernel, short).block(kernel.root)) if short else kernel


def _is_short(step: Loop, fixed: Mapping[str, int]) -> bool:
    return all(map(_is_plain, step.body.walk())) and _count(step.body, fixed) <= MOST


def _is_plain(item: Statement | Loop) -> bool:
    if isinstance(item, Accumulate):
        return item.dtype.kind in "fi" and item.op != "linear"
    return not (isinstance(item, Scatter) or (isinstance(item, Loop) and item.sequential))


def _count(block: Block, fixed: Mapping[str, int]) -> int:
    """The statements of a block with its loops written out; more than any may have where a loop is long."""
    if any(isinstance(item, Cases) or fixed.get(getattr(item, "dim", ""), 1) > LONGEST for _, item in block.items):
        return MOST + 1
    return sum(
        fixed.get(item.dim, MOST + 1) * _count(item.body, fixed) if isinstance(item, Loop) else 1
        for _, item in block.items
    )


@final
class _WrittenOut(Copy):
    """The loop nests of a kernel again, with ``steps`` in a straight line."""

    def __init__(self, kernel: Kernel, steps: set[Loop]) -> None:
        super().__init__()
        self.kernel, self.steps = kernel, steps

    def put(self, new: Block, level: int, loop: Loop) -> None:
        if loop in self.steps:
            self.step(loop, new, level)
        else:
            super().put(new, level, loop)

    def step(self, loop: Loop, home: Block, level: int) -> None:
        """A loop over steps, in a block: its body in a straight line, and around it where its carries begin and end."""
        lines = _forwarded(_Straight(loop, dict(self.kernel.fixed)).lines, loop)
        if lines is None:
            super().put(home, level, loop)
            return
        body = self.blocks[loop.body] = Block(home, loop.index)
        stored = [item.output for item in lines if isinstance(item, Store)] if loop.sequential else []
        for number in dict.fromkeys(stored):
            carry = _Registers(number, loop, lines)
            if carry.found:
                lines = carry.inside(lines, home, self.kernel)
                carry.begin(home, level, self.kernel)
                if self.is_read(number, loop):
                    carry.end(home, level + 1, self.kernel)
        for item in lines:
            body.put(0, item if isinstance(item, Accumulate) and item.home is home else self.at_home(item))
        home.put(level, replace(loop, body=body))

    def is_read(self, number: int, loop: Loop) -> bool:
        """Whether anything beside a loop reads an output."""
        inside = {id(item) for item in loop.body.walk()}
        loads = (item for item in self.kernel.root.walk() if isinstance(item, Load) and item.source == Temp(number))
        return any(id(item) not in inside for item in loads)


def _forwarded(lines: Sequence[Statement], loop: Loop) -> list[Statement] | None:
    """A straight line in which nothing is stored for what stands behind it; ``None`` where that is read elsewhere."""
    loaded = {item.source.output for item in lines if isinstance(item, Load) and isinstance(item.source, Temp)}
    ahead, known, found = half(loop.index, 1), dict[tuple[int, tuple[Expr, ...]], Expr](), list[Statement]()
    held = {i.output for i in lines if isinstance(i, Store) and i.output in loaded and i.indices[:1] != (ahead,)}
    for item in lines:
        if isinstance(item, Store) and item.output in held:
            known[item.output, item.indices] = item.value
        elif isinstance(item, Load) and isinstance(item.source, Temp) and item.source.output in held:
            value = known.get((item.source.output, item.indices))
            if value is None:
                return None
            found.append(Assign(item.name, "index", (value,), item.dtype))
        else:
            found.append(item)
    return found


@final
class _Straight:
    """The statements of a step, with its loops written out: what turns compute has names that end in their numbers."""

    def __init__(self, step: Loop, fixed: Mapping[str, int]) -> None:
        self.fixed, self.lines = fixed, list[Statement]()
        self.turns: dict[Block, str] = {}  # what names of a block end in, by now
        self.found: dict[str, Expr] = {}  # by the reductions of blocks here
        self.outside: dict[str, Accumulate] = {}
        self.run(step.body, {}, "")
        self.lines += [replace(item, value=self.found[name]) for name, item in self.outside.items()]

    def run(self, block: Block, meanings: Mapping[str, Expr], turn: str) -> None:
        self.turns[block] = turn
        own = {item.name: Name(item.name + turn) for _, item in block.items if isinstance(item, Made)}
        meanings = {**meanings, **own}
        for level in block.levels:
            for item in block.statements(level):
                self.put(item, meanings, turn)
            for loop in block.loops(level):
                for count in range(self.fixed[loop.dim]):
                    self.run(loop.body, {**meanings, loop.index: Constant(count)}, f"{turn}_{count}")

    def put(self, item: Statement, meanings: Mapping[str, Expr], turn: str) -> None:
        if isinstance(item, Accumulate) and (turn or item.home in self.turns):
            if item.home not in self.turns:
                self.outside[item.name] = item
            self.combine(item, item.name + self.turns.get(item.home, ""), substituted(item.value, meanings))
        elif isinstance(item, Total) and item.accumulator + turn in self.found:
            self.lines.append(Assign(item.name + turn, "index", (self.found[item.accumulator + turn],), item.dtype))
        else:
            self.lines.append(renamed(item, meanings))

    def combine(self, item: Accumulate, name: str, value: Expr) -> None:
        """Take a value into a reduction."""
        known = self.found.get(name)
        if known is None or item.op == "last":
            self.found[name] = value
            return
        new, steps = f"{name}_{len(self.lines)}", []
        if item.op in COMBINED:
            steps = [Assign(new, COMBINED[item.op], (known, value), item.dtype)]
        else:
            order = (known, value) if item.op == "max" else (value, known)
            beyond, odd, either = (Name(f"{new}_{part}") for part in ("beyond", "odd", "either"))
            steps = [
                Assign(beyond.id, "lt", order, BOOL), Assign(odd.id, "ne", (value, value), BOOL),
                Assign(either.id, "or", (beyond, odd), BOOL), Assign(new, "where", (either, value, known), item.dtype),
            ]  # fmt: skip
        self.lines += steps
        self.found[name] = Name(new)


@final
class _Registers:
    """A carry in memory, by the places of its elements, each of which may be a carry of its own."""

    def __init__(self, number: int, loop: Loop, lines: Sequence[Statement]) -> None:
        self.number, self.loop = number, loop
        self.before, self.behind = half(loop.index, 0), half(loop.index, 1)
        stored = [item.indices for item in lines if isinstance(item, Store) and item.output == number]
        loaded = [item.indices for item in lines if isinstance(item, Load) and item.source == Temp(number)]
        known = all(isinstance(each, Constant | Name) and each != Name(loop.index) for at in stored for each in at[1:])
        whole = {at[1:] for at in loaded} <= {at[1:] for at in stored}
        halves = {at[0] for at in stored if at} == {self.behind} and {at[0] for at in loaded if at} <= {self.before}
        self.found = [at[1:] for at in stored] if known and whole and halves else []

    def names(self, place: int) -> tuple[Name, Name, Name, Name]:
        """The register of an element, what it starts with, what it is before a step, and behind the last one."""
        register, start, before, end = (Name(f"{kind}_o{self.number}_{place}") for kind in ("a", "vs", "v", "ve"))
        return register, start, before, end

    def begin(self, home: Block, level: int, kernel: Kernel) -> None:
        dtype = kernel.outputs[self.number].dtype
        for place, at in enumerate(self.found):
            home.put(level, Load(self.names(place)[1].id, Temp(self.number), (ZERO, *at), dtype))

    def inside(self, lines: Sequence[Statement], home: Block, kernel: Kernel) -> list[Statement]:
        dtype = kernel.outputs[self.number].dtype
        found: list[Statement] = [
            Total(before.id, register.id, dtype) for register, _, before, _ in map(self.names, range(len(self.found)))
        ]
        for item in lines:
            if isinstance(item, Load) and item.source == Temp(self.number):
                before = self.names(self.found.index(item.indices[1:]))[2]
                found.append(Assign(item.name, "index", (before,), item.dtype))
            elif isinstance(item, Store) and item.output == self.number:
                register, start, *_ = self.names(self.found.index(item.indices[1:]))
                found.append(Accumulate(register.id, item.value, home, dtype, "last", start=start))
            else:
                found.append(item)
        return found

    def end(self, home: Block, level: int, kernel: Kernel) -> None:
        dtype, last = kernel.outputs[self.number].dtype, self.loop.length % 2
        for place, at in enumerate(self.found):
            register, *_, end = self.names(place)
            home.put(level, Total(end.id, register.id, dtype))
            home.put(level, Store(self.number, (last, *at), end))
