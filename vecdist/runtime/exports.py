"""Arguments of functions of machine code for C, which all lie in one array of 64 bit words (``cpu/packing.py``)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np.numpy_support import as_dtype

WORDS = types.CPointer(types.int64)


def places(kinds: Iterable[Any]) -> list[int]:
    """Where arguments of these types begin, and how many words there are."""
    sizes = (1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1 for kind in kinds)
    return list(itertools.accumulate(sizes, initial=0))


def unpacked(target: Any, builder: ir.IRBuilder, kinds: Sequence[Any], words: Any) -> list[Any]:
    """Arguments of these types, which lie at an address."""
    return [argument(target, builder, kind, words, place) for kind, place in zip(kinds, places(kinds), strict=False)]


def argument(target: Any, builder: ir.IRBuilder, kind: Any, words: Any, place: int) -> Any:
    """An argument of the words that it was packed in."""
    if isinstance(kind, types.Array):
        return _array(target, builder, kind, words, place)
    whole = word(builder, words, place)
    if isinstance(kind, types.CPointer):
        return builder.inttoptr(whole, target.get_data_type(kind.dtype).as_pointer())
    if not isinstance(kind, types.Float):
        return target.cast(builder, whole, types.int64, kind)
    return target.cast(builder, builder.bitcast(whole, ir.DoubleType()), types.float64, kind)


def word(builder: ir.IRBuilder, words: Any, place: int) -> Any:
    """The word at a place, which nothing that a function stores changes: loops around need it once."""
    found = builder.load(at(builder, words, place))
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return found


def at(builder: ir.IRBuilder, words: Any, place: int) -> Any:
    """The address of the word at a place."""
    return builder.gep(words, [ir.Constant(ir.IntType(64), place)])


def _array(target: Any, builder: ir.IRBuilder, kind: types.Array, words: Any, place: int) -> Any:
    """An array of its address, shape and strides."""
    address, *others = (word(builder, words, place + number) for number in range(1 + 2 * kind.ndim))
    data = builder.inttoptr(address, target.get_data_type(kind.dtype).as_pointer())
    return array(target, builder, kind, data, others[: kind.ndim], others[kind.ndim :])


def array(
    target: Any, builder: ir.IRBuilder, kind: types.Array, data: Any, shape: Sequence[Any], strides: Sequence[Any],
    parent: Any = None,
) -> Any:  # fmt: skip
    """An array as Numba has it, in no memory; the ``parent`` is memory that its maker lets go of."""
    model = target.data_model_manager[kind]
    count = shape[0] if shape else ir.Constant(ir.IntType(64), 1)
    for length in shape[1:]:
        count = builder.mul(count, length)
    found = ir.Constant(model.get_value_type(), None)
    given = {"nitems": count, "itemsize": item_size(target, kind.dtype), "data": data}
    for name, value in (given | ({} if parent is None else {"parent": parent})).items():
        found = builder.insert_value(found, value, model.get_field_position(name))
    for name, values in (("shape", shape), ("strides", strides)):
        for axis, value in enumerate(values):
            found = builder.insert_value(found, value, [model.get_field_position(name), axis])
    return found


def released(target: Any, builder: ir.IRBuilder, kind: types.Array, value: Any) -> None:
    """Let go of the memory of an array."""
    place = target.data_model_manager[kind].get_field_position("parent")
    target.nrt.free(builder, builder.extract_value(value, place))


def item_size(target: Any, kind: Any) -> Any:
    """The bytes of an element, without asking LLVM, which reads a module of its own for each answer."""
    return target.get_constant(types.intp, as_dtype(kind).itemsize)
