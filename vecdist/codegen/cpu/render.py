"""Functions for the CPU.

Each outermost loop is a function over fixed blocks of its iterations, so that the same blocks are summed in the same
order whoever runs them: ``kernel`` alone, or many threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from vecdist.codegen import calls
from vecdist.codegen.cpu.blocking import MAX, MIN, block_count, block_size, stripe_count, stripe_limit, striped
from vecdist.codegen.cpu.mixed import Item, Items
from vecdist.codegen.cpu.own_sums import finished, sums_of_all
from vecdist.codegen.cpu.parts import WIDE, Hoisted, part
from vecdist.codegen.cpu.plan import RAISED, Nest, planned
from vecdist.codegen.cpu.spelling import scalar, spelled
from vecdist.codegen.inline import inlined
from vecdist.codegen.parameters import trimmed
from vecdist.codegen.source import Source
from vecdist.codegen.statements import ACCUMULATOR, element_count, stride
from vecdist.kernel.code import Code, Do, For, Function, If, Return, Set, let, mapped, names_in, replaced
from vecdist.kernel.expressions import Call, Constant, Name, evenly, of_type, substituted, word
from vecdist.kernel.ir import Kernel, Loop
from vecdist.kernel.statements import Assign, Flag, Load, Store, Total, reads

MANY = 64  # numbers among the arguments
LEAST = 2  # elements of a short row: LLVM would suppose one, and have vectors for that alone
ENTRIES = {"kernel", "part"}  # the functions that are called from outside


def render(kernel: Kernel) -> Source:
    """The source of ``kernel`` for the CPU."""
    functions, tables, routines = inlined(trimmed(_Module(kernel).functions(), ENTRIES))
    routines = *routines, *calls.routines(kernel.root.walk(), scalar)
    return Source(functions, kernel, "vecdist.runtime.cpu.language", tables, routines, "@compiled")


class _Module:
    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.nests = kernel.nests()
        self.sums = [loop.sums(kernel.root) for _, loop in self.nests]
        self.ops = {item.name: item.op for sums in self.sums for item in sums}
        slots = [f"x{slot.index}" for slot in kernel.slots]
        outputs = [f"o{number}" for number in range(len(kernel.outputs))]
        flag = ["flag"] if kernel.flagged else []
        self.parameters = (*slots, *outputs, *flag, *kernel.lengths)
        self.numbers = numbers(kernel)
        self.hoisted = Hoisted(needed_later(kernel) if self.nests else {}, len(kernel.outputs))

    def functions(self) -> tuple[Function, ...]:
        """What varies along no loop, a function for each outermost loop, what is left after them, and all of it."""
        if not self.nests:
            return self.prelude(tuple(self.left())), self.whole()
        left = self.left()
        return (
            self.prelude(),
            *[self.nest(number, nest) for number, nest in enumerate(planned(self.kernel))],
            self.knowing(self.function("finish", self.signature(*self.partials(len(self.nests))), (*left, Return()))),
            self.whole(bool(left)),
            part(self.kernel, self.parameters),
        )

    def function(self, name: str, parameters: tuple[str, ...], items: Items, buffers: Iterable[str] = ()) -> Function:
        return Function(name, parameters, spelled(items, self.kernel, buffers))

    def whole(self, finishes: bool = False) -> Function:
        return self.function("kernel", self.parameters, tuple(self.entry(finishes)))

    def prelude(self, left: Items = ()) -> Function:
        """A function for what varies along no loop; what loops need is kept; and what is ``left`` after all."""
        known = set(map(id, self.numbers))
        items = [item for item in self.outer(0) if id(item) not in known]
        body = (*self.strides(), *items, *self.hoisted.stored(), *left)
        return self.with_numbers(self.function("prelude", self.signature(), body))

    def partials(self, upto: int) -> list[str]:
        """The arrays of partial sums of the first ``upto`` nests."""
        return [f"p_{item.name}" for sums in self.sums[:upto] for item in sums]

    def signature(self, *names: str) -> tuple[str, ...]:
        return *names, *WIDE, *self.parameters

    def nest(self, number: int, nest: Nest) -> Function:
        """A function that runs blocks ``first`` to ``last`` of an outermost loop; of one that scatters, stripes."""
        level, loop = self.nests[number]
        shared = [*self.partials(number + 1), *(f"q_o{output}" for output in sums_of_all(self.kernel, loop))]
        fixed = [let(dim, Constant(length)) for dim, length in self.kernel.fixed]
        fixed += [let(dim, MAX(Name(dim), LEAST)) for dim, size in self.kernel.sizes if size == "short"]
        items = (Do(Name("widest")()), *fixed, *self.prefix(level), *nest.items)
        parameters = self.signature("first", "last", *shared)
        return self.knowing(self.near(self.function(f"nest{number}", parameters, items, nest.buffers)))

    def near(self, function: Function) -> Function:
        """A function that reads numbers, where these are many, before each of several phases: no register is held."""
        if len(self.numbers) <= MANY:
            return function
        known = {str(item.target): item.value for item in spelled(self.numbers, self.kernel) if isinstance(item, Set)}
        phases = itertools.count()

        def phase(item: Code) -> Sequence[Code]:
            if not isinstance(item, For):
                return [item]
            suffix, read = next(phases), [name for name in names_in((item,)) if name in known]
            own = {name: Name(f"{name}_{suffix}") for name in sorted(read)}
            lets = [Set(new, known[name]) for name, new in own.items()]
            return [*lets, mapped(item, lambda each: substituted(each, own))]

        def rule(item: Code) -> Sequence[Code] | None:
            if not isinstance(item, For) or sum(isinstance(each, For) for each in item.body) < 2:
                return None
            return [replace(item, body=tuple([new for each in item.body for new in phase(each)]))]

        return replace(function, body=replaced(function.body, rule))

    def with_numbers(self, function: Function) -> Function:
        """A function with what it reads of numbers among the arguments."""
        if not self.numbers:
            return function
        read = names_in(function.body)
        known = spelled([item for item in self.numbers if item.name in read], self.kernel)
        return replace(function, body=(*known, *function.body))

    def knowing(self, function: Function) -> Function:
        """A function with what it reads of numbers, and of the prelude's values."""
        read = names_in(function.body)
        known = self.hoisted.loaded([name for name in self.hoisted.values if name in read])
        return self.with_numbers(replace(function, body=(*known, *function.body)))

    def outer(self, level: int) -> list[Item]:
        """What the outermost block computes at a level."""
        items = [item for item in self.kernel.root.statements(level) if not isinstance(item, Store | Flag)]
        return [self.added(item) if isinstance(item, Total) else item for item in items]

    def added(self, item: Total) -> Set:
        """The end of a sum, which is the sum of those of all blocks."""
        sums = word(f"total_{self.ops[item.accumulator]}")(Name(f"p_{item.accumulator}"))
        return let(item.name, of_type(item.dtype, sums))

    def prefix(self, level: int) -> list[Item]:
        """What the outermost block knows of sums at ``level``: cheap, so computed again by everyone who needs it."""
        return [*self.strides(), *(item for at in range(1, level + 1) for item in self.outer(at))]

    def strides(self) -> list[Set]:
        return [
            let(stride(slot.index, axis).id, word(f"x{slot.index}.strides")[axis])
            for slot in self.kernel.slots
            if slot.layout == "strided"
            for axis in slot.axes
        ]

    def left(self) -> list[Item]:
        """The body of the function ``finish``, for what is left when every loop is done, if anything is."""
        root = self.kernel.root
        items = [item for level in root.levels for item in root.statements(level) if isinstance(item, Store | Flag)]
        raised = [item.value for item in items if isinstance(item, Flag)]
        ends = [item for item in items if isinstance(item, Store)]
        flag = [If(evenly("|", raised), (RAISED,))] if raised else []
        return [*self.prefix(root.levels[-1]), *ends, *flag] if items else []

    def entry(self, finishes: bool) -> Iterator[Code]:
        """The whole kernel, by one thread."""
        yield Do(Name("widest")())
        yield from self.hoisted.made()
        yield Do(called("prelude", self.signature()))
        for number in sums_of_all(self.kernel):
            output = self.kernel.outputs[number]
            count = stripe_count(self.kernel, number) * element_count(output.shape)
            yield let(f"q_o{number}", Name("zeros")(count, Name(ACCUMULATOR[output.dtype.kind])))
        for number in range(len(self.nests)):
            yield from self.run(number)
        if finishes:
            yield Do(called("finish", self.signature(*self.partials(len(self.nests)))))

    def run(self, number: int) -> Iterator[Code]:
        """A nest, and the end of the sums that no later nest adds to."""
        level, loop = self.nests[number]
        blocks = Name("blocks")
        yield let("blocks", block_count(loop, block_size(loop)))
        for item in self.sums[number]:
            yield let(f"p_{item.name}", Name("empty")(blocks, Name(ACCUMULATOR[item.dtype.kind])))
        scattered = [f"q_o{output}" for output in sums_of_all(self.kernel, loop)]
        shares = MIN(blocks, stripe_limit(self.kernel)) if striped(self.kernel, loop) else blocks
        rest = self.signature(*self.partials(number + 1), *scattered)
        yield Do(Name(f"nest{number}")(Name("i8")(0), shares, *map(Name, rest)))
        if number + 1 == len(self.nests) or self.nests[number + 1][0] != level:
            for output in finished(self.kernel, level):
                yield Do(called("add_rows", (f"q_o{output}", f"o{output}")))


def called(name: str, arguments: Sequence[str]) -> Call:
    return Name(name)(*map(Name, arguments))


def numbers(kernel: Kernel) -> list[Load]:
    """The arguments that are numbers, as they are read: every function has them at hand."""
    given = {slot.index for slot in kernel.slots if slot.layout == "number"}
    return [item for item in kernel.root.statements(0) if isinstance(item, Load) and item.source in given]


def needed_later(kernel: Kernel) -> dict[str, np.dtype]:
    """The values of the outermost block that are read outside of its first level, with their dtypes; not numbers."""
    first = {item.name: item.dtype for item in kernel.root.statements(0) if isinstance(item, Assign | Load)}
    below = [item for item in kernel.root.walk() if not isinstance(item, Loop)]
    read = {name for item in below if getattr(item, "name", None) not in first for name in reads(item)}
    known = {item.name for item in numbers(kernel)}
    return {name: dtype for name, dtype in first.items() if name in read and name not in known}
