"""Spelling: statements of loop nests as code in the words of the CPU's language, by a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, final

from vecdist.codegen.cpu.mixed import Add, Item
from vecdist.codegen.statements import computed, dense_offset, slot_of, typed_zero, varying
from vecdist.kernel.code import Code, Do, Set, let, replaced
from vecdist.kernel.expressions import ZERO, Call, Choice, Element, Expr, Name, Operand, joined, of_type, rewritten
from vecdist.kernel.ir import Kernel
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Scatter, Store, Temp, Total, array_name


@final
@dataclass(frozen=True)
class Arrays:
    """What statements read and write, by alias scope: inputs have -1, outputs their numbers, buffers those behind."""

    kernel: Kernel
    buffers: Mapping[Expr, int]

    def call(self, word: str, scope: int, *args: Operand) -> Call:
        """A word of the language on an array of this scope, of all there are."""
        return Name(word)(*args, scope, len(self.kernel.outputs) + len(self.buffers))

    def offset(self, item: Store | Scatter) -> Expr:
        return dense_offset(item.indices, varying(self.kernel.outputs[item.output].shape))

    def is_buffered(self, item: Expr) -> TypeGuard[Element]:
        return isinstance(item, Element) and item.array in self.buffers

    def of_buffer(self, word: str, at: Element, *args: Operand) -> Call:
        return self.call(word, self.buffers[at.array], at.array, at.index, *args)

    def read(self, value: Expr) -> Expr:
        """A value with loads in the place of elements of buffers."""
        return rewritten(value, lambda part: self.of_buffer("load", part) if self.is_buffered(part) else None)


def _load(item: Load, arrays: Arrays) -> Code:
    slot, array = slot_of(arrays.kernel, item.source), Name(array_name(item.source))
    if slot.layout == "number":
        return let(item.name, array)
    word, place = "load", dense_offset(item.indices, varying(slot.shape))
    if slot.layout == "strided":
        axes = [slot.axes[axis] for axis, dim in enumerate(slot.shape) if dim != 1]
        terms = [index * stride(item.source, axis) for index, axis in zip(item.indices, axes, strict=True)]
        word, place = "load_bytes", joined("+", [*terms] or [ZERO])
    found = arrays.call(word, item.source.output if isinstance(item.source, Temp) else -1, array, place)
    return let(item.name, found if item.guard is None else Choice(item.guard, found, typed_zero(item.dtype)))


def stride(source: object, axis: int) -> Name:
    return Name(f"x{source}_s{axis}")


def _store(item: Store, arrays: Arrays) -> Code:
    return Do(arrays.call("store", item.output, Name(f"o{item.output}"), arrays.offset(item), item.value))


def _scatter(item: Scatter, arrays: Arrays) -> Code:
    sums, row = Name(f"q_o{item.output}"), Name(f"row_o{item.output}")
    return Do(arrays.call("add_at", item.output, sums, row + arrays.offset(item), arrays.read(item.value)))


def _set(item: Set, arrays: Arrays) -> Code:
    value = arrays.read(item.value)
    if arrays.is_buffered(item.target):
        return Do(arrays.of_buffer("store", item.target, value))
    return replace(item, value=value)


TABLE: dict[type, Callable[[Any, Arrays], Code]] = {
    Load: _load,
    Assign: lambda item, _: let(item.name, computed(item)),
    Accumulate: lambda item, _: let(item.name, Name(f"accumulate_{item.op}")(Name(item.name), item.value)),
    Total: lambda item, _: let(item.name, of_type(item.dtype, Name(item.accumulator))),
    Store: _store,
    Scatter: _scatter,
    Flag: lambda item, _: let("bad", Name("bad") | item.value),
    Set: _set,
    Add: lambda item, arrays: Do(arrays.of_buffer("add_at", item.target, item.value)),
}


def spelled(items: Sequence[Item], kernel: Kernel, buffers: Iterable[str] = ()) -> tuple[Code, ...]:
    """Statements as code."""
    arrays = Arrays(kernel, {Name(f"b_{name}"): at for at, name in enumerate(buffers, len(kernel.outputs))})

    def rule(item: Item) -> tuple[Code] | None:
        spell = TABLE.get(type(item))
        return None if spell is None else (spell(item, arrays),)

    return replaced(items, rule)
