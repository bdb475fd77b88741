"""Spelling: statements of loop nests as code in the words of the CUDA language, by a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vecdist.codegen.calls import called, is_call
from vecdist.codegen.cuda import words as cuda
from vecdist.codegen.cuda.grid import SIZE
from vecdist.codegen.cuda.near_sums import near
from vecdist.codegen.cuda.privatisation import SLOTS
from vecdist.codegen.cuda.reductions import combined
from vecdist.codegen.statements import (
    ACCUMULATOR,
    Item,
    computed,
    load_offset,
    store_offset,
    typed_zero,
)
from vecdist.kernel.code import Code, Do, If, Set, let, replaced
from vecdist.kernel.expressions import ONE, ZERO, Choice, Constant, Element, Expr, Name, of_type, word
from vecdist.kernel.ir import SCALAR, Kernel
from vecdist.kernel.statements import Accumulate, Assign, Flag, Load, Scatter, Statement, Store, Temp, Total, array_name

TYPED = {"floor", "fmod", "rint", "sqrt", "bits", "from_bits"}  # functions of libdevice, of one type each


def kept_element(output: int, offset: Expr, kernel: Kernel) -> Element:
    """An element of an array that each block keeps; where it begins is counted in units of eight bytes."""
    dtype = kernel.outputs[output].dtype
    return Name(f"kept_{cuda.memory_type(dtype)}")[Constant(SIZE // dtype.itemsize) * Name(f"keep_o{output}") + offset]


def loaded(item: Load, kernel: Kernel) -> Expr:
    """The element that a load reads."""
    slot, array = kernel.slot_of(item.source), Name(array_name(item.source))
    if slot.layout == "number":
        return array
    found: Expr = array[load_offset(item, kernel)]
    if isinstance(item.source, Temp) and kernel.outputs[item.source.output].kept:
        found = kept_element(item.source.output, load_offset(item, kernel), kernel)
    found = found.differs(0) if slot.dtype.kind == "b" else found
    return found if item.guard is None else Choice(item.guard, found, typed_zero(item.dtype))


def _load(item: Load, kernel: Kernel) -> Code:
    return let(item.name, loaded(item, kernel))


def _assign(item: Assign, kernel: Kernel) -> Code:
    match item:
        case Assign(name) if is_call(item):
            return let(name, called(item, scalar))
        case Assign(name, op, args, dtype) if op in TYPED:
            return let(name, Name(f"{op}_{'i' if op == 'from_bits' else 'f'}{dtype.itemsize}")(*args))
        case Assign(name, "where" | "seldom", (condition, yes, no), dtype) if dtype.itemsize > 1:
            return let(name, word("cuda.selp")(condition, yes, no))
        case Assign(name, "where" | "seldom", (condition, yes, no)):
            return let(name, Choice(condition, yes, no))
    return let(item.name, computed(item))


def _accumulate(item: Accumulate, kernel: Kernel) -> Code:
    wide, before = Name(ACCUMULATOR[item.dtype.kind]), Name(item.name)
    if item.op == "last":
        return let(item.name, item.value)
    if item.factor is not None:
        return let(item.name, wide(item.factor) * before + wide(item.value))
    return let(item.name, combined(item.op, item.dtype.kind, before, wide(item.value)))


def _total(item: Total, kernel: Kernel) -> Code:
    return let(item.name, of_type(item.dtype, Name(item.accumulator)))


def _store(item: Store, kernel: Kernel) -> Code:
    offset = store_offset(item, kernel)
    kept = kernel.outputs[item.output].kept
    return Set(kept_element(item.output, offset, kernel) if kept else Name(f"o{item.output}")[offset], item.value)


def _scatter(item: Scatter, kernel: Kernel) -> Code:
    offset, value = store_offset(item, kernel), cuda.F8(item.value)
    if item.output in kernel.near:
        return Do(cuda.add_in_runs(SLOTS, near(item.output) + offset, value))
    return Do(cuda.atomic_add(cuda.SUMS, Name(f"at_o{item.output}") + offset, value))


def _flag(item: Flag, kernel: Kernel) -> Code:
    return If(item.value, (Set(Name("flag")[ZERO], ONE),))


TABLE: dict[type, Callable[[Any, Kernel], Code]] = {
    Load: _load, Assign: _assign, Accumulate: _accumulate, Total: _total, Store: _store, Scatter: _scatter, Flag: _flag,
}  # fmt: skip


def spelled(items: Sequence[Item], kernel: Kernel) -> tuple[Code, ...]:
    """Statements as code."""

    def rule(item: Item) -> tuple[Code] | None:
        spell = TABLE.get(type(item))
        return None if spell is None else (spell(item, kernel),)

    return replaced(items, rule)


def scalar(items: Sequence[Statement]) -> tuple[Code, ...]:
    """Statements of single numbers, of no kernel, as code."""
    return spelled(items, SCALAR)
