"""Source for the CPU.

Each outermost loop is a function over fixed blocks of its iterations, so that the same blocks are summed in the same
order whoever runs them: ``kernel`` alone, or many threads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from vecdist.codegen.cpu.strips import LoopLines
from vecdist.codegen.inline import inlined
from vecdist.codegen.rows import beginning, buffers, declared, has_phases, short, texts
from vecdist.codegen.source import Source
from vecdist.codegen.statements import (
    ACCUMULATOR,
    INDENT,
    array_name,
    assignment,
    dense_offset,
    element_count,
    is_seldom,
    slot_of,
    typed_zero,
    varying,
)
from vecdist.kernel.ir import Accumulate, Assign, Flag, Kernel, Load, Loop, Scatter, Statement, Store, Total

BLOCK = 4096  # elements in one block: its values stay in the first-level cache, its partial sums cost nothing


def render(kernel: Kernel) -> Source:
    """The source of ``kernel`` for the CPU."""
    lines, routines = inlined(_Renderer(kernel).module())
    return Source("\n".join(lines) + "\n", kernel, routines)


class _Renderer(LoopLines):
    def __init__(self, kernel: Kernel) -> None:
        super().__init__(kernel)
        self.nests = kernel.nests()
        outermost = [item for _, loop in self.nests for item in loop.sums(kernel.root)]
        self.total = {item.name: f"total_{item.op}(p_{item.name})" for item in outermost}
        slots = [f"x{slot.index}" for slot in kernel.slots]
        outputs = [f"o{number}" for number in range(len(kernel.outputs))]
        flag = ["flag"] if kernel.flagged else []
        self.parameters = ", ".join([*slots, *outputs, *flag, *kernel.lengths])
        self.hoisted = list(needed_later(kernel))
        self.usual = self.trial = False  # whether the loop being written leaves out seldom values, and scatters nothing
        self.left_out: set[str] = set()  # what those alone need

    def module(self) -> Iterator[str]:
        yield "from vecdist.runtime.cpu.language import *"
        yield from self.prelude()
        for number in range(len(self.nests)):
            yield from self.nest(number)
        left = self.left()
        yield f"\n\n@compiled\ndef finish({self.signature(*self.partials(len(self.nests)))}):"
        yield from left
        yield "    return"
        yield from self.entry(bool(left))

    def prelude(self) -> Iterator[str]:
        """A function for what varies along no loop; what the loops need of it is passed on."""
        yield f"\n\n@compiled\ndef prelude({self.parameters}):"
        yield from self.strides()
        for item in self.kernel.root.statements(0):
            if not isinstance(item, Store | Flag):
                yield INDENT + self.statement(item)
        yield f"    return ({''.join(f'{name}, ' for name in self.hoisted)})"

    def partials(self, upto: int) -> list[str]:
        """The arrays of partial sums of the first ``upto`` nests."""
        return [f"p_{s.name}" for _, loop in self.nests[:upto] for s in loop.sums(self.kernel.root)]

    def signature(self, *names: str) -> str:
        return ", ".join(name for name in (*names, *self.hoisted, self.parameters) if name)

    def nest(self, number: int) -> Iterator[str]:
        """A function that runs blocks ``first`` to ``last`` of an outermost loop; of one that scatters, stripes.

        A stripe is a run of blocks that adds to sums of its own, whoever runs it.
        """
        level, loop = self.nests[number]
        scattered = [f"q_o{output}" for output in loop.scatters()]
        shared = [*self.partials(number + 1), *scattered]
        yield f"\n\n@compiled\ndef nest{number}({self.signature('first', 'last', *shared)}):"
        yield "    widest()"
        yield from (f"    {dim} = {length}" for dim, length in self.kernel.fixed)
        yield from self.prefix(level)
        yield f"    size = {self.block_size(loop)}"
        self.waiting = buffers(loop, self.kernel.outputs) if has_phases(loop, self.fixed) else {}
        yield from declared(self.waiting)
        if not scattered:
            yield "    for block in range(first, last):"
            yield from self.one_block(loop, INDENT * 2)
            return
        yield f"    blocks = ({loop.dim} + size - 1) // size"
        yield f"    stripes = min(blocks, {self.rows()})"
        yield "    for stripe in range(first, last):"
        for output in loop.scatters():
            yield f"        row_o{output} = stripe * ({element_count(self.kernel.outputs[output].shape)})"
        yield "        for block in range(blocks * stripe // stripes, blocks * (stripe + 1) // stripes):"
        yield from self.one_block(loop, INDENT * 3)

    def rows(self) -> str:
        """The most stripes: each has sums of its own for every scattered output."""
        summed = [element_count(output.shape) for output in self.kernel.outputs if output.summed]
        return f"stripe_limit({' + '.join(summed)})"

    def one_block(self, loop: Loop, pad: str) -> Iterator[str]:
        """A block of a loop, and what is left when it is done."""
        yield from self.seldom_apart(loop, pad)
        yield from (f"{pad}p_{item.name}[block] = {item.name}" for item in loop.sums(self.kernel.root))
        if self.flags(loop):
            yield f"{pad}if bad:\n{pad}    flag[0] = 1"

    def seldom_apart(self, loop: Loop, pad: str) -> Iterator[str]:
        """A block; one with values that are seldom wanted by a loop of vectors without them, and again if any was.

        What is scattered cannot be taken back: a loop that finds out comes first, in which nothing is.
        """
        if not any(map(is_seldom, loop.body.walk())):
            yield from self.whole_block(loop, pad)
        else:
            yield f"{pad}seldom = False"
            self.left_out = set() if has_phases(loop, self.fixed) else seldom_needed(loop)
            self.usual, self.trial = True, bool(loop.scatters())
            yield from self.whole_block(loop, pad)
            self.usual = False
            scatters, self.trial = self.trial, False
            yield f"{pad}if seldom:"
            yield from self.whole_block(loop, pad + INDENT)
            if scatters:
                self.usual = True
                yield f"{pad}else:"
                yield from self.whole_block(loop, pad + INDENT)
                self.usual = False

    def whole_block(self, loop: Loop, pad: str) -> Iterator[str]:
        yield from (f"{pad}{item.name} = {beginning(item)}" for item in loop.sums(self.kernel.root))
        if self.flags(loop):
            yield f"{pad}bad = False"
        yield f"{pad}end = min(block * size + size, {loop.dim})"
        yield from self.elements(loop, pad)

    def flags(self, loop: Loop) -> bool:
        return any(isinstance(item, Flag) for item in loop.body.walk())

    def block_size(self, loop: Loop) -> str:
        inner = " * ".join(loop.dims()[1:])
        return f"max(1, {BLOCK} // max(1, {inner}))" if inner else str(BLOCK)

    def prefix(self, level: int) -> Iterator[str]:
        """What the outermost block knows of sums at ``level``: cheap, so computed again by everyone who needs it."""
        yield from self.strides()
        for at in range(1, level + 1):
            for item in self.kernel.root.statements(at):
                if not isinstance(item, Store | Flag):
                    yield INDENT + self.statement(item)

    def strides(self) -> Iterator[str]:
        for slot in self.kernel.slots:
            if slot.layout == "strided":
                for axis in slot.axes:
                    yield f"    x{slot.index}_s{axis} = x{slot.index}.strides[{axis}]"

    def statement(self, item: Statement) -> str:
        match item:
            case Assign(name) | Load(name) if self.usual and name in self.left_out:
                return "pass"
            case Assign(name, _, (condition, *_, usual)) if self.usual and is_seldom(item):
                return f"{name} = {usual}; seldom = seldom | {condition}"
            case Assign():
                return assignment(item)
            case Load():
                return self.load(item)
            case Accumulate(name, value, op=op):
                name = short(item) if name in self.short else name
                return f"{name} = accumulate_{op}({name}, {value})"
            case Total(name, accumulator, dtype):
                whole = self.total.get(accumulator, accumulator)
                return f"{name} = {dtype.kind}{dtype.itemsize}({whole})"
            case Store(output, indices, value):
                dims = varying(self.kernel.outputs[output].shape)
                return f"store(o{output}, {dense_offset(indices, dims)}, {value}, {output}, {self.scopes()})"
            case Scatter() if self.trial:
                return "pass"
            case Scatter(output, indices, value):
                place = f"row_o{output} + {dense_offset(indices, varying(self.kernel.outputs[output].shape))}"
                return f"add_at(q_o{output}, {place}, {value}, {output}, {self.scopes()})"
            case Flag(value):
                return f"bad = bad | {value}"

    def load(self, item: Load) -> str:
        slot = slot_of(self.kernel, item.slot)
        array = array_name(item.slot)
        place = f"{max(-1, -1 - item.slot)}, {self.scopes()}"
        if slot.layout == "number":
            return f"{item.name} = {array}"
        if slot.layout == "strided":
            dims = [axis for axis, dim in enumerate(slot.shape) if dim != 1]
            terms = [
                f"({index}) * {array}_s{slot.axes[dim]}"
                for index, dim in zip(item.indices, dims, strict=True)
            ]
            text = f"load_bytes({array}, {' + '.join(terms) or '0'}, {place})"
        else:
            text = f"load({array}, {dense_offset(item.indices, varying(slot.shape))}, {place})"
        if item.guard:
            text = f"{text} if {item.guard} else {typed_zero(item.dtype)}"
        return f"{item.name} = {text}"

    def left(self) -> list[str]:
        """The body of the function ``finish``, for what is left when every loop is done, if anything is."""
        self.waiting = {}
        root = self.kernel.root
        items = [item for level in root.levels for item in root.statements(level) if isinstance(item, Store | Flag)]
        return [*self.prefix(root.levels[-1]), *map(self.ending, items)] if items else []

    def ending(self, item: Statement) -> str:
        return f"    if {item.value}:\n        flag[0] = 1" if isinstance(item, Flag) else INDENT + self.statement(item)

    def entry(self, finishes: bool) -> Iterator[str]:
        """The whole kernel, by one thread."""
        yield f"\n\n@compiled\ndef kernel({self.parameters}):"
        yield "    widest()"
        if self.hoisted:
            yield f"    {', '.join(self.hoisted)}, = prelude({self.parameters})"
        for number, output in enumerate(self.kernel.outputs):
            if output.summed:
                count = f"{self.rows()} * ({element_count(output.shape)})"
                yield f"    q_o{number} = zeros({count}, {ACCUMULATOR[output.dtype.kind]})"
        for number in range(len(self.nests)):
            yield from self.run(number)
        if finishes:
            yield f"    finish({self.signature(*self.partials(len(self.nests)))})"

    def run(self, number: int) -> Iterator[str]:
        """A nest, and the end of the sums that no later nest adds to."""
        level, loop = self.nests[number]
        size = self.block_size(loop)
        yield f"    blocks = ({loop.dim} + {size} - 1) // {size}"
        for item in loop.sums(self.kernel.root):
            yield f"    p_{item.name} = empty(blocks, {ACCUMULATOR[item.dtype.kind]})"
        scattered = [f"q_o{output}" for output in loop.scatters()]
        shares = f"min(blocks, {self.rows()})" if scattered else "blocks"
        yield f"    nest{number}({self.signature('i8(0)', shares, *self.partials(number + 1), *scattered)})"
        if number + 1 == len(self.nests) or self.nests[number + 1][0] != level:
            yield from (f"    add_rows(q_o{output}, o{output})" for output in self.kernel.finished(level))


def seldom_needed(loop: Loop) -> set[str]:
    """The values of a loop that nothing but seldom values need."""
    statements = [item for item in loop.body.walk() if not isinstance(item, Loop)]
    own = {item.name: item for item in statements if isinstance(item, Assign | Load)}
    waiting = [item for item in statements if not isinstance(item, Assign | Load)]
    left = set(own)
    while waiting:
        item = waiting.pop()
        read = (item.args[0], item.args[-1]) if isinstance(item, Assign) and is_seldom(item) else texts(item)
        found = left & set(re.findall(r"\bv\d+\b", " ".join(read)))
        waiting += [own[name] for name in found]
        left -= found
    return left


def needed_later(kernel: Kernel) -> dict[str, np.dtype]:
    """The values of the outermost block that are read outside of its first level, with their dtypes."""
    first = {item.name: item.dtype for item in kernel.root.statements(0) if isinstance(item, Assign | Load)}
    below = [item for item in kernel.root.walk() if not isinstance(item, Loop)]
    later = [item for item in below if getattr(item, "name", None) not in first]
    read = {word for item in later for word in re.findall(r"\bv\d+\b", " ".join(texts(item)))}
    return {name: dtype for name, dtype in first.items() if name in read}
