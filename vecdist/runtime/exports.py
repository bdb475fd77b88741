"""Functions of machine code for C, whose arguments all lie in one array of 64 bit words (``cpu/packing.py``)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np.numpy_support import as_dtype

Call = Callable[[ir.IRBuilder, Sequence[Any]], Any]


def export(target: Any, module: ir.Module, symbol: str, arguments: Sequence[Any], call: Call) -> None:
    """A function of this symbol that calls another with arguments of these types, which lie at an address."""
    word = ir.IntType(64)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [word.as_pointer()]), symbol)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    places = (builder.load(builder.gep(function.args[0], [word(place)])) for place in itertools.count())
    call(builder, [_unpacked(target, builder, kind, places) for kind in arguments])
    builder.ret_void()


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
