"""Spelling: statements of loop nests as code in the words of the CPU's language, by a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard, final

from vecdist.codegen.cpu.mixed import Add, Item
from vecdist.codegen.statements import computed, dense_offset, slot_of, typed_zero, varying
from vecdist.kernel.code import Code, Do, Set, let, replaced
from vecdist.kernel.expressions import ZERO, Choice, Element, Expr, Name, Operand, joined, of_type, rewritten, word
from vecdist.kernel.ir import Kernel
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Scatter, Store, Temp, Total, array_name


@final
@dataclass(frozen=True)
class Arrays:
    """What statements read and write, by alias scope: inputs have -1, outputs their numbers, buffers those behind."""

    kernel: Kernel
    buffers: Mapping[Expr, int]

    def scope(self, number: int) -> tuple[Operand, Operand]:
        return number, len(self.kernel.outputs) + len(self.buffers)

    def place(self, element: Element) -> tuple[Operand, ...]:
        """An element of a buffer, as arguments."""
        return element.array, element.index, *self.scope(self.buffers[element.array])

    def is_buffered(self, item: Expr) -> TypeGuard[Element]:
        return isinstance(item, Element) and item.array in self.buffers

    def read(self, value: Expr) -> Expr:
        """A value with loads in the place of elements of buffers."""
        return rewritten(value, lambda part: word("load")(*self.place(part)) if self.is_buffered(part) else None)

    def offset(self, item: Store | Scatter) -> Expr:
        return dense_offset(item.indices, varying(self.kernel.outputs[item.output].shape))


def _load(item: Load, arrays: Arrays) -> Code:
    slot, array = slot_of(arrays.kernel, item.source), Name(array_name(item.source))
    if slot.layout == "number":
        return let(item.name, array)
    scope = arrays.scope(item.source.output if isinstance(item.source, Temp) else -1)
    if slot.layout == "strided":
        axes = [slot.axes[axis] for axis, dim in enumerate(slot.shape) if dim != 1]
        terms = [index * stride(item.source, axis) for index, axis in zip(item.indices, axes, strict=True)]
        found = word("load_bytes")(array, joined("+", [*terms] or [ZERO]), *scope)
    else:
        found = word("load")(array, dense_offset(item.indices, varying(slot.shape)), *scope)
    return let(item.name, found if item.guard is None else Choice(item.guard, found, typed_zero(item.dtype)))


def stride(source: object, axis: int) -> Name:
    return Name(f"x{source}_s{axis}")


def _assign(item: Assign, arrays: Arrays) -> Code:
    return let(item.name, computed(item))


def _accumulate(item: Accumulate, arrays: Arrays) -> Code:
    return let(item.name, word(f"accumulate_{item.op}")(Name(item.name), item.value))


def _total(item: Total, arrays: Arrays) -> Code:
    return let(item.name, of_type(item.dtype, Name(item.accumulator)))


def _store(item: Store, arrays: Arrays) -> Code:
    place = Name(f"o{item.output}"), arrays.offset(item)
    return Do(word("store")(*place, item.value, *arrays.scope(item.output)))


def _scatter(item: Scatter, arrays: Arrays) -> Code:
    place = Name(f"q_o{item.output}"), Name(f"row_o{item.output}") + arrays.offset(item)
    return Do(word("add_at")(*place, arrays.read(item.value), *arrays.scope(item.output)))


def _flag(item: Flag, arrays: Arrays) -> Code:
    return let("bad", Name("bad") | item.value)


def _add(item: Add, arrays: Arrays) -> Code:
    array, index, *scope = arrays.place(item.target)
    return Do(word("add_at")(array, index, item.value, *scope))


def _set(item: Set, arrays: Arrays) -> Code:
    value = arrays.read(item.value)
    if not arrays.is_buffered(item.target):
        return Set(item.target, value)
    array, index, *scope = arrays.place(item.target)
    return Do(word("store")(array, index, value, *scope))


TABLE: dict[type, Callable[[Any, Arrays], Code]] = {
    Load: _load, Assign: _assign, Accumulate: _accumulate, Total: _total, Store: _store, Scatter: _scatter,
    Flag: _flag, Add: _add, Set: _set,
}  # fmt: skip


def spelled(items: Sequence[Item], kernel: Kernel, buffers: Iterable[str] = ()) -> tuple[Code, ...]:
    """Statements as code."""
    arrays = Arrays(kernel, {Name(f"b_{name}"): at for at, name in enumerate(buffers, len(kernel.outputs))})

    def rule(item: Item) -> tuple[Code] | None:
        spell = TABLE.get(type(item))
        return None if spell is None else (spell(item, arrays),)

    return replaced(items, rule)
