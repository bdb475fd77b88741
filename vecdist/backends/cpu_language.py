"""What generated CPU source is written in: typed loads and stores, selects, bit patterns, sums.

These are LLVM intrinsics of one or two instructions each, so that a loop body is a straight line which LLVM vectorises.
Loads and stores carry alias scopes: outputs never overlap inputs, and LLVM need not check.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic
from numba.np.arrayobj import make_array

f4, f8 = numba.float32, numba.float64
i1, i2, i4, i8 = numba.int8, numba.int16, numba.int32, numba.int64
u1, u2, u4, u8 = numba.uint8, numba.uint16, numba.uint32, numba.uint64
b1 = numba.boolean

compiled = numba.njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")


def _scopes(builder: ir.IRBuilder, output: int, outputs: int) -> tuple[ir.MDValue, ir.MDValue]:
    """The alias scopes of an array, and of those that never overlap it; ``output`` is -1 for an input.

    No output overlaps an input or another output.  Without these LLVM compares addresses at run time, and takes a loop
    of another rounding where two small arrays happen to lie close together.
    """
    module = builder.module
    domain = module.add_metadata([ir.MetaDataString(module, "vecdist")])
    names = ["inputs", *(f"output {number}" for number in range(outputs))]
    scopes = [module.add_metadata([ir.MetaDataString(module, f"vecdist {name}"), domain]) for name in names]
    own = scopes.pop(output + 1)
    return module.add_metadata([own]), module.add_metadata(scopes)


def _in_scope(builder: ir.IRBuilder, access: ir.Instruction, output: int, outputs: int) -> None:
    own, others = _scopes(builder, output, outputs)
    access.set_metadata("alias.scope", own)
    access.set_metadata("noalias", others)


def _load_at(context, builder, array_type, pointer, output, outputs):  # noqa: ANN001, ANN202
    value = context.unpack_value(builder, array_type.dtype, pointer)
    if isinstance(value, ir.LoadInstr):
        _in_scope(builder, value, output, outputs)
    return value


@intrinsic(prefer_literal=True)
def load(typing, array, offset, output, outputs):  # noqa: ANN001, ANN201
    """The element at ``offset`` of a dense array, unchecked."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        data = make_array(array)(context, builder, args[0]).data
        pointer = builder.gep(data, [args[1]], inbounds=True)
        return _load_at(context, builder, array, pointer, output.literal_value, outputs.literal_value)

    return array.dtype(array, types.intp, output, outputs), codegen


@intrinsic(prefer_literal=True)
def load_bytes(typing, array, offset, output, outputs):  # noqa: ANN001, ANN201
    """The element ``offset`` bytes behind the first of a strided array, unchecked."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        data = make_array(array)(context, builder, args[0]).data
        pointer = cgutils.pointer_add(builder, data, args[1])
        return _load_at(context, builder, array, pointer, output.literal_value, outputs.literal_value)

    return array.dtype(array, types.intp, output, outputs), codegen


@intrinsic(prefer_literal=True)
def store(typing, array, offset, value, output, outputs):  # noqa: ANN001, ANN201
    """Put ``value`` at ``offset`` of a dense output, unchecked."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        data = make_array(array)(context, builder, args[0]).data
        pointer = builder.gep(data, [args[1]], inbounds=True)
        converted = context.cast(builder, args[2], value, array.dtype)
        access = builder.store(context.get_value_as_data(builder, array.dtype, converted), pointer)
        _in_scope(builder, access, output.literal_value, outputs.literal_value)
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
    a quarter of the time of a log density on Ice Lake.
    """

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
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


@intrinsic
def accumulate(typing, total, value):  # noqa: ANN001, ANN201
    """``total + value`` in the type of the total; LLVM may keep several partial sums of a loop."""

    def codegen(context, builder, signature, args):  # noqa: ANN001, ANN202
        widened = context.cast(builder, args[1], value, total)
        if isinstance(total, types.Float):
            return builder.fadd(args[0], widened, flags=("reassoc", "contract"))
        return builder.add(args[0], widened)

    return total(total, value), codegen


@numba.njit(cache=True, nogil=True, error_model="numpy")
def total(partials):  # noqa: ANN001, ANN201
    """The sum of partial sums in order, with the rounding errors carried along (Neumaier 1974)."""
    result = partials.dtype.type(0)
    lost = partials.dtype.type(0)
    for value in partials:
        new = result + value
        lost += (result - new) + value if abs(result) >= abs(value) else (value - new) + result
        result = new
    return result + lost if math.isfinite(result) else result


__all__ = [
    "accumulate", "b1", "bits", "compiled", "f4", "f8", "floor", "fmod", "from_bits", "i1", "i2", "i4", "i8",
    "load", "load_bytes", "np", "rint", "select", "sqrt", "store", "total", "widest", "u1", "u2", "u4", "u8",
]
