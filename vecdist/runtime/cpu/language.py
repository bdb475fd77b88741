"""What generated CPU source is written in: typed loads and stores, selects, bit patterns, sums.

These are LLVM intrinsics of one or two instructions each, so that a loop body is a straight line which LLVM vectorises.
Loads and stores carry alias scopes: outputs never overlap inputs, and LLVM need not check.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from vecdist.codegen import frontend
from vecdist.runtime import emission, exports
from vecdist.runtime.compiler import CodeCache
from vecdist.runtime.cpu import aliasing, codegen_units, exported, machine_code, tiles
from vecdist.runtime.cpu.aliasing import in_scope
from vecdist.runtime.cpu.tiles import data_of, gemv, gemv_transposed, pack
from vecdist.runtime.exports import item_size
from vecdist.runtime.intrinsics import called_by_numba, emitter
from vecdist.runtime.typed import Written

f4, f8 = numba.float32, numba.float64
i1, i2, i4, i8 = numba.int8, numba.int16, numba.int32, numba.int64
u1, u2, u4, u8 = numba.uint8, numba.uint16, numba.uint32, numba.uint64
b1 = numba.boolean

SHAPING = aliasing, codegen_units, exported, machine_code, tiles
CONTENT = b"".join(Path(file).read_bytes() for file in (__file__, *(str(each.__file__) for each in SHAPING)))
VERSION = hashlib.sha256(CONTENT + emission.VERSION).hexdigest()[:12]


emitted = emitter(intrinsic)
LINE = 64  # bytes of a cache, where arrays begin
MODE: Any = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}, "no_cfunc_wrapper": True}


def compiled(written: Written, version: str = VERSION) -> Any:
    """A function of generated code, compiled when it is first called, and kept on disk."""
    caller = called_by_numba(written, emitted)
    made: Any = numba.njit(**MODE)(caller)
    made._cache, made.written = CodeCache.of(caller, version), written
    return made


def merged(function: Callable[..., Any]) -> Any:
    """A function of Python that such ones call, too: LLVM puts it in the place of its calls."""
    found: Any = function
    found.written = Written(frontend.function(function), function.__globals__, merged=True)
    return found


def _load_at(context, builder, array_type, pointer, output, outputs):  # noqa: ANN001, ANN202
    value = builder.load(pointer)
    in_scope(builder, value, output, outputs)
    return context.data_model_manager[array_type.dtype].from_data(builder, value)


@intrinsic(prefer_literal=True)
def load(typing, array, offset, output, outputs):  # noqa: ANN001, ANN201
    """The element at ``offset`` of a dense array, unchecked."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        data = data_of(context, builder, array, args[0])
        pointer = builder.gep(data, [args[1]], inbounds=True)
        return _load_at(context, builder, array, pointer, output.literal_value, outputs.literal_value)

    return array.dtype(array, types.intp, output, outputs), codegen


@intrinsic(prefer_literal=True)
def load_bytes(typing, array, offset, output, outputs):  # noqa: ANN001, ANN201
    """The element ``offset`` bytes behind the first of a strided array, unchecked."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        data = data_of(context, builder, array, args[0])
        pointer = cgutils.pointer_add(builder, data, args[1])
        return _load_at(context, builder, array, pointer, output.literal_value, outputs.literal_value)

    return array.dtype(array, types.intp, output, outputs), codegen


@intrinsic(prefer_literal=True)
def store(typing, array, offset, value, output, outputs):  # noqa: ANN001, ANN201
    """Put ``value`` at ``offset`` of a dense output, unchecked."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        data = data_of(context, builder, array, args[0])
        pointer = builder.gep(data, [args[1]], inbounds=True)
        converted = context.cast(builder, args[2], value, array.dtype)
        access = builder.store(context.get_value_as_data(builder, array.dtype, converted), pointer)
        in_scope(builder, access, output.literal_value, outputs.literal_value)
        return context.get_dummy_value()

    return types.none(array, types.intp, value, output, outputs), codegen


@intrinsic
def select(typing, condition, yes, no):  # noqa: ANN001, ANN201
    """``yes`` where ``condition`` holds, else ``no``: one instruction, no branch."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return builder.select(*args)

    return yes(types.boolean, yes, yes), codegen


@intrinsic
def bits(typing, value):  # noqa: ANN001, ANN201
    """The bit pattern of a float."""
    integer = {32: types.int32, 64: types.int64}[value.bitwidth]

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return builder.bitcast(args[0], ir.IntType(integer.bitwidth))

    return integer(value), codegen


@intrinsic
def from_bits(typing, value):  # noqa: ANN001, ANN201
    """The float of a bit pattern."""
    floating = {32: types.float32, 64: types.float64}[value.bitwidth]

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return builder.bitcast(args[0], context.get_value_type(floating))

    return floating(value), codegen


@intrinsic
def fmod(typing, x, y):  # noqa: ANN001, ANN201
    """What is left of ``x`` after a division that truncates, exactly."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return builder.frem(*args)

    return x(x, x), codegen


@intrinsic
def widest(typing):  # noqa: ANN001, ANN201
    """Ask LLVM for 512-bit vectors in the calling function: of two widths it takes the narrower by itself, which cost
    a quarter of the time of a log density on Ice Lake.  Those that wait in memory begin where lines of the cache do.
    """

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        for each in ('"prefer-vector-width"="512"', '"stackrealign"'):
            set.add(builder.function.attributes, each)
        return context.get_dummy_value()

    return types.none(), codegen


def _unary(name: str):  # noqa: ANN202
    @intrinsic
    def function(typing, value):  # noqa: ANN001, ANN202
        def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
            callee = builder.module.declare_intrinsic(name, [context.get_value_type(value)])
            return builder.call(callee, args)

        return value(value), codegen

    return function


sqrt = _unary("llvm.sqrt")
floor = _unary("llvm.floor")
rint = _unary("llvm.rint")


@intrinsic(prefer_literal=True)
def add_at(typing, array, offset, value, output, outputs):  # noqa: ANN001, ANN201
    """Add ``value`` to the element at ``offset`` of the sums of a scattered output, unchecked."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        data = data_of(context, builder, array, args[0])
        pointer = builder.gep(data, [args[1]], inbounds=True)
        before = _load_at(context, builder, array, pointer, output.literal_value, outputs.literal_value)
        added = context.cast(builder, args[2], value, array.dtype)
        after = builder.fadd(before, added) if isinstance(array.dtype, types.Float) else builder.add(before, added)
        in_scope(builder, builder.store(after, pointer), output.literal_value, outputs.literal_value)
        return context.get_dummy_value()

    return types.none(array, types.intp, value, output, outputs), codegen


def _accumulate(of_floats, of_integers) -> Any:  # noqa: ANN001
    """``value`` taken into ``total``, in the type of the total; LLVM may keep several partial results of a loop."""

    @intrinsic
    def function(typing, total, value):  # noqa: ANN001, ANN202
        def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
            widened = context.cast(builder, args[1], value, total)
            if isinstance(total, types.Float):
                return of_floats(builder, args[0], widened)
            return of_integers(builder, args[0], widened, total.signed)

        return total(total, value), codegen

    return function


def _extreme(name: str, order: str) -> Any:
    """The larger or the smaller of two numbers; NaN where one is."""

    def of_floats(builder, total, value):  # noqa: ANN001, ANN202
        binary = ir.FunctionType(value.type, (value.type, value.type))
        callee = builder.module.declare_intrinsic(f"llvm.{name}imum", [value.type], binary)
        frozen = ir.Instruction(builder.block, value.type, "freeze", [value])
        builder._insert(frozen)  # LLVM would choose between the larger number and a NaN instead, which vectors do not
        return builder.call(callee, [total, frozen], fastmath=("nsz",))

    def of_integers(builder, total, value, signed):  # noqa: ANN001, ANN202
        compare = builder.icmp_signed if signed else builder.icmp_unsigned
        return builder.select(compare(order, total, value), total, value)

    return _accumulate(of_floats, of_integers)


LOOSE = ("reassoc", "contract")
accumulate_sum = _accumulate(lambda b, x, y: b.fadd(x, y, flags=LOOSE), lambda b, x, y, _: b.add(x, y))
accumulate_prod = _accumulate(lambda b, x, y: b.fmul(x, y, flags=LOOSE), lambda b, x, y, _: b.mul(x, y))
accumulate_max, accumulate_min = _extreme("max", ">"), _extreme("min", "<")


@intrinsic
def empty(typing, count, dtype):  # noqa: ANN001, ANN201
    """An array of so many elements, which a function makes to work in."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return _allocated(context, builder, signature.return_type, args[0])[0]

    return types.Array(dtype.instance_type, 1, "C")(types.int64, dtype), codegen


@intrinsic(prefer_literal=True)
def room(typing, count, dtype):  # noqa: ANN001, ANN201
    """An array of a known number of elements, in the memory of the function that makes it."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        kind = context.get_data_type(dtype.instance_type)
        data = cgutils.alloca_once(builder, kind, size=max(1, count.literal_value))
        length, item = context.get_constant(types.intp, count.literal_value), item_size(context, dtype.instance_type)
        return exports.array(context, builder, signature.return_type, data, [length], [item])

    return types.Array(dtype.instance_type, 1, "C")(count, dtype), codegen


@intrinsic
def zeros(typing, count, dtype):  # noqa: ANN001, ANN201
    """An array of so many zeros."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        made, data, size = _allocated(context, builder, signature.return_type, args[0])
        cgutils.memset(builder, data, size, 0)
        return made

    return types.Array(dtype.instance_type, 1, "C")(types.int64, dtype), codegen


def _allocated(context, builder, array_type, count):  # noqa: ANN001, ANN202
    """A new array, where its elements begin, and how many bytes they are.

    Nothing is raised where memory is short, as for the arrays of a launch.
    """
    item, word = item_size(context, array_type.dtype), ir.IntType(64)
    size = builder.mul(count, item)
    memory = context.nrt.allocate_unchecked(builder, builder.add(size, word(LINE)))
    begin = builder.and_(builder.add(builder.ptrtoint(memory, word), word(LINE - 1)), word(-LINE))
    data = builder.inttoptr(begin, context.get_data_type(array_type.dtype).as_pointer())
    return exports.array(context, builder, array_type, data, [count], [item], memory), data, size


def _as_element(typing, array, value):  # noqa: ANN001, ANN202
    """A number in the type of an array's elements."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        return context.cast(builder, args[1], value, signature.return_type)

    return array.dtype(array, value), codegen


as_element: Any = intrinsic(_as_element)


@merged
def total_sum(partials):  # noqa: ANN001, ANN201
    """The sum of partial sums in order, with the rounding errors carried along (Neumaier 1974)."""
    result = as_element(partials, 0)
    lost = as_element(partials, 0)
    for place in range(partials.size):
        value = partials[place]
        new = result + value
        lost = lost + ((result - new) + value if abs(result) >= abs(value) else (value - new) + result)
        result = new
    return result + lost if math.isfinite(result) else result


@merged
def total_prod(partials):  # noqa: ANN001, ANN201
    """The product of partial products."""
    result = as_element(partials, 1)
    for place in range(partials.size):
        result = result * partials[place]
    return result


@merged
def total_max(partials):  # noqa: ANN001, ANN201
    """The largest of partial results; NaN where one is."""
    result = partials[0]
    for place in range(1, partials.size):
        result = accumulate_max(result, partials[place])
    return result


@merged
def total_min(partials):  # noqa: ANN001, ANN201
    """The smallest of partial results; NaN where one is."""
    result = partials[0]
    for place in range(1, partials.size):
        result = accumulate_min(result, partials[place])
    return result


@merged
def stripe_limit(elements):  # noqa: ANN001, ANN201
    """How many copies of all scattered sums there may be: the same for any number of threads."""
    return max(1, min(16, 4194304 // max(1, elements)))


@merged
def add_rows(sums, output):  # noqa: ANN001, ANN201
    """Fill an output with the sum of the stripes' sums, in order."""
    for element in range(output.size):
        whole = sums[element]
        for place in range(element + output.size, sums.size, output.size):
            whole = whole + sums[place]
        output[element] = whole


rows_added = compiled(add_rows.written)  # for Python, which shares a kernel among threads


@merged
def clear(sums, first, count):  # noqa: ANN001, ANN201
    """Set elements, from the ``first`` on, to zero."""
    for element in range(first, first + count):
        sums[element] = as_element(sums, 0)


@merged
def copy_to(sums, output, first, count):  # noqa: ANN001, ANN201
    """Put sums in an output, from its element ``first`` on."""
    for element in range(count):
        output[first + element] = sums[element]


__all__ = [
    "accumulate_max", "accumulate_min", "accumulate_prod", "accumulate_sum", "add_at", "add_rows", "as_element",
    "b1", "bits", "clear", "compiled", "copy_to", "empty", "f4", "f8", "floor", "fmod", "from_bits", "gemv",
    "gemv_transposed", "i1", "i2", "i4", "i8", "load", "load_bytes", "merged", "np", "pack", "rint", "room", "select",
    "sqrt", "store", "stripe_limit", "total_max", "total_min", "total_prod", "total_sum", "u1", "u2", "u4", "u8",
    "widest", "zeros",
]
WORDS: dict[str, Any] = {name: globals()[name] for name in __all__} | {"math": math}
"""What the names of generated code mean."""
