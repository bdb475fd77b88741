"""A function for one thread, in the words of a target: what others call from their functions and kernels.

It is called with a pointer, or a number, for each slot and the strides of what is not dense, then a pointer for each
array that it fills, and returns the results that have no axes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from vecdist.codegen import calls
from vecdist.codegen.cpu import spelling as cpu
from vecdist.codegen.cuda import spelling as cuda
from vecdist.codegen.cuda import words
from vecdist.codegen.device.plan import element_count, is_widened, planned, total, wide
from vecdist.codegen.inline import inlined
from vecdist.codegen.source import Source
from vecdist.codegen.statements import Items, stride, type_name
from vecdist.kernel.code import Code, Function, Return, Set, let
from vecdist.kernel.expressions import ZERO, Constant, Expr, Name, Several
from vecdist.kernel.ir import Kernel, Slot
from vecdist.kernel.statements import Statement

SHORT = 8  # turns of loops that a compiler may write out: those of more take a GPU's registers


@final
@dataclass(frozen=True)
class Target:
    """Where its words are, how statements are spelled in them, and what makes an array in a function's memory.

    ``scalar`` spells statements of single numbers, as loops of elements have them.
    """

    language: str
    spelled: Callable[[Items, Kernel, Collection[str]], tuple[Code, ...]]
    scalar: Callable[[Sequence[Statement]], Sequence[Code]]
    memory: Callable[[str, int, np.dtype], Set]


def _on_cpu(items: Items, kernel: Kernel, beside: Collection[str]) -> tuple[Code, ...]:
    arrays: dict[Expr, int] = {Name(name): n for n, name in enumerate((*_outputs(kernel), *beside))}
    return cpu.in_words(items, cpu.Arrays(kernel, arrays))


def _on_cuda(items: Items, kernel: Kernel, beside: Collection[str]) -> tuple[Code, ...]:
    return cuda.spelled(items, kernel)


def _room(name: str, count: int, dtype: np.dtype) -> Set:
    return let(name, Name("room")(count, Name("b1" if dtype.kind == "b" else type_name(dtype))))


def _local(name: str, count: int, dtype: np.dtype) -> Set:
    return words.local_array(name, count, words.memory_type(dtype))


TARGETS = {
    "cpu": Target("vecdist.runtime.cpu.language", _on_cpu, cpu.scalar, _room),
    "cuda": Target("vecdist.runtime.cuda.language", _on_cuda, cuda.scalar, _local),
}


def render(kernel: Kernel, returned: Collection[int], target: str) -> Source:
    """The source of a kernel, all of whose lengths are fixed; the outputs in ``returned`` are its results."""
    functions, tables, routines = inlined((function(kernel, returned, TARGETS[target]),))
    routines = *routines, *calls.routines(kernel.root.walk(), TARGETS[target].scalar)
    return Source(functions, kernel, TARGETS[target].language, tables, routines)


def function(kernel: Kernel, returned: Collection[int], target: Target) -> Function:
    """The function, before routines are put in the place of their calls."""
    own = memory(kernel, returned)
    items: Items = (
        *(let(dim, Constant(length) if length <= SHORT else Name("i8")(length)) for dim, length in kernel.fixed),
        *planned(kernel),
        *(let(f"r{number}", Name(f"o{number}")[ZERO]) for number in returned),
    )
    results = Several(tuple([Name(f"r{number}") for number in returned]))
    known = [name for name, _, _ in own]
    beside = [name for name in known if name not in _outputs(kernel)]
    body = *(target.memory(*each) for each in own), *target.spelled(items, kernel, beside), Return(results)
    parameters = [name for slot in kernel.slots for name in (f"x{slot.index}", *strides(slot))]
    given = [name for name in _outputs(kernel) if name not in known]
    return Function("density", (*parameters, *given), body)


def memory(kernel: Kernel, returned: Collection[int]) -> list[tuple[str, int, np.dtype]]:
    """The arrays in the memory of the function, with their lengths: temporary ones, and where results are made."""
    found = []
    for number, output in enumerate(kernel.outputs):
        count = max(1, element_count(kernel, number))
        if output.temporary or number in returned:
            found.append((f"o{number}", count, output.dtype))
        if is_widened(kernel, number):
            found.append((total(kernel, number).id, count, wide(output.dtype)))
    return found


def strides(slot: Slot) -> list[str]:
    """The names of the strides of a slot, by which its elements are found."""
    return [stride(slot.index, axis).id for axis in slot.axes] if slot.layout == "strided" else []


def _outputs(kernel: Kernel) -> list[str]:
    return [f"o{number}" for number in range(len(kernel.outputs))]
