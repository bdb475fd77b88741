"""Arguments of functions of machine code for C, which all lie in one array of 64 bit words (``cpu/packing.py``)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np.numpy_support import as_dtype


def unpacked(target: Any, builder: ir.IRBuilder, kinds: Sequence[Any], words: Any) -> list[Any]:
    """Arguments of these types, which lie at an address."""
    word = ir.IntType(64)
    places = (builder.load(builder.gep(words, [word(place)])) for place in itertools.count())
    return [_unpacked(target, builder, kind, places) for kind in kinds]


def _unpacked(target: Any, builder: ir.IRBuilder, kind: Any, words: Iterator[Any]) -> Any:
    """An argument of the words that it was packed in."""
    if isinstance(kind, types.Array):
        return _array(target, builder, kind, words)
    whole = next(words)
    if not isinstance(kind, types.Float):
        return target.cast(builder, whole, types.int64, kind)
    return target.cast(builder, builder.bitcast(whole, ir.DoubleType()), types.float64, kind)


def _array(target: Any, builder: ir.IRBuilder, kind: types.Array, words: Iterator[Any]) -> Any:
    from numba.np.arrayobj import make_array, populate_array  # which only compiling needs, and is long in loading

    made = make_array(kind)(target, builder)
    data = builder.inttoptr(next(words), made.data.type)
    shape, strides = ([next(words) for _ in range(kind.ndim)] for _ in range(2))
    populate_array(made, data, shape, strides, item_size(target, kind.dtype), None)
    return made._getvalue()


def item_size(target: Any, kind: Any) -> Any:
    """The bytes of an element, without asking LLVM, which reads a module of its own for each answer."""
    return target.get_constant(types.intp, as_dtype(kind).itemsize)
