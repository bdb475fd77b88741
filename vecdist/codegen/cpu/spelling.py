"""Spelling: statements of loop nests as code in the words of the CPU's language, by a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, final

from vecdist.codegen.calls import called, is_call
from vecdist.codegen.cpu.mixed import Add, Item, Pack, Product
from vecdist.codegen.statements import computed, load_offset, store_offset, typed_zero
from vecdist.kernel.code import Code, Do, Set, let, replaced
from vecdist.kernel.expressions import Call, Choice, Element, Expr, Name, Operand, of_type, rewritten
from vecdist.kernel.ir import SCALAR, Kernel
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Scatter, Statement, Store, Temp, Total, array_name

READ = {"dense": "load", "strided": "load_bytes"}  # the word that reads an element, by the layout of its array


@final
@dataclass(frozen=True)
class Arrays:
    """What statements read and write, by alias scope: inputs have -1, outputs their numbers, buffers those behind."""

    kernel: Kernel
    buffers: Mapping[Expr, int]

    def call(self, word: str, scope: int, *args: Operand) -> Call:
        """A word of the language on an array of this scope, of all there are."""
        return Name(word)(*args, scope, len(self.kernel.outputs) + len(self.buffers))

    def is_buffered(self, item: Expr) -> TypeGuard[Element]:
        return isinstance(item, Element) and item.array in self.buffers

    def of_buffer(self, word: str, at: Element, *args: Operand) -> Call:
        return self.call(word, self.buffers[at.array], at.array, at.index, *args)

    def read(self, value: Expr) -> Expr:
        """A value with loads in the place of elements of buffers."""
        return rewritten(value, lambda part: self.of_buffer("load", part) if self.is_buffered(part) else None)


def _load(item: Load, arrays: Arrays) -> Code:
    layout, array = arrays.kernel.slot_of(item.source).layout, Name(array_name(item.source))
    if layout == "number":
        return let(item.name, array)
    word, scope = READ[layout], item.source.output if isinstance(item.source, Temp) else -1
    found = arrays.call(word, scope, array, load_offset(item, arrays.kernel))
    return let(item.name, found if item.guard is None else Choice(item.guard, found, typed_zero(item.dtype)))


def _accumulate(item: Accumulate, arrays: Arrays) -> Code:
    if item.op == "last":
        return let(item.name, item.value)
    if item.factor is not None:
        return let(item.name, Name("f8")(item.factor) * Name(item.name) + Name("f8")(item.value))
    return let(item.name, Name(f"accumulate_{item.op}")(Name(item.name), item.value))


def _assign(item: Assign, arrays: Arrays) -> Code:
    return let(item.name, called(item, scalar) if is_call(item) else computed(item))


def _store(item: Store, arrays: Arrays) -> Code:
    return Do(arrays.call("store", item.output, Name(f"o{item.output}"), store_offset(item, arrays.kernel), item.value))


def _scatter(item: Scatter, arrays: Arrays) -> Code:
    place = Name(f"row_o{item.output}") + store_offset(item, arrays.kernel)
    return Do(arrays.call("add_at", item.output, Name(f"q_o{item.output}"), place, arrays.read(item.value)))


def _set(item: Set, arrays: Arrays) -> Code:
    value = arrays.read(item.value)
    if arrays.is_buffered(item.target):
        return Do(arrays.of_buffer("store", item.target, value))
    return replace(item, value=value)


def _product(item: Product, arrays: Arrays) -> Code:
    places = [_place(each, arrays) for each in (item.matrix, item.vector, item.target)]
    matrix, vector, target = places
    return Do(Name(item.word)(*matrix, item.step, *vector, item.rows, item.columns, *target))


def _pack(item: Pack, arrays: Arrays) -> Code:
    matrix, target = (_place(each, arrays) for each in (item.matrix, item.target))
    return Do(Name("pack")(*matrix, item.step, item.rows, item.columns, *target, item.width))


def _place(item: Load | Scatter | Element, arrays: Arrays) -> tuple[Expr, Expr]:
    """An array, and where in it something begins."""
    match item:
        case Load(source=source):
            return Name(array_name(source)), load_offset(item, arrays.kernel)
        case Scatter(output):
            return Name(f"q_o{output}"), Name(f"row_o{output}") + store_offset(item, arrays.kernel)
        case Element(array, index):
            return array, index


TABLE: dict[type, Callable[[Any, Arrays], Code]] = {
    Load: _load,
    Assign: _assign,
    Accumulate: _accumulate,
    Total: lambda item, _: let(item.name, of_type(item.dtype, Name(item.accumulator))),
    Store: _store,
    Scatter: _scatter,
    Flag: lambda item, _: let("bad", Name("bad") | item.value),
    Set: _set,
    Product: _product,
    Pack: _pack,
    Add: lambda item, arrays: Do(arrays.of_buffer("add_at", item.target, item.value)),
}


def spelled(items: Sequence[Item], kernel: Kernel, buffers: Iterable[str] = ()) -> tuple[Code, ...]:
    """Statements as code."""
    scopes: dict[Expr, int] = {Name(f"b_{name}"): scope for scope, name in enumerate(buffers, len(kernel.outputs))}
    return in_words(items, Arrays(kernel, scopes))


def in_words(items: Sequence[Item], arrays: Arrays) -> tuple[Code, ...]:
    """Statements on these arrays as code."""
    return replaced(items, lambda item: (TABLE[type(item)](item, arrays),) if type(item) in TABLE else None)


def scalar(items: Sequence[Statement]) -> tuple[Code, ...]:
    """Statements of single numbers, of no kernel, as code."""
    return spelled(items, SCALAR)
