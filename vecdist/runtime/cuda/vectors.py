"""Vectors of neighbours in memory, which CUDA loads and stores in one instruction, and stand-ins for the simulator."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

BYTES = 16

if os.environ.get("NUMBA_ENABLE_CUDASIM") == "1":

    def _load(count: int) -> Callable[..., Any]:
        def load(array, place):  # noqa: ANN001, ANN202
            _check(place, count)
            return tuple(array[place + number] for number in range(count))

        return load

    def _check(place: int, count: int) -> None:
        if place % count:
            raise AssertionError(f"a vector of {count} at element {place}: a GPU wants it aligned")

    def _store(count: int) -> Callable[..., Any]:
        def store(array, place, *values):  # noqa: ANN001, ANN002, ANN202
            _check(place, count)
            for number, value in enumerate(values):
                array[place + number] = value

        return store

    def _anywhere(array):  # noqa: ANN001, ANN202
        return True

    aligned: Any = _anywhere

else:
    from llvmlite import ir
    from numba import types
    from numba.cuda.extending import intrinsic

    def _vector(context, builder, pointer, place, count: int):  # noqa: ANN001, ANN202
        """The address of a vector, its type, and the bytes that it is aligned to."""
        kind = ir.VectorType(pointer.type.pointee, count)
        address = builder.bitcast(builder.gep(pointer, [place]), kind.as_pointer())
        return address, kind, min(BYTES, count * context.get_abi_sizeof(pointer.type.pointee))

    def _load(count: int) -> Callable[..., Any]:
        def load(typing, pointer, place):  # noqa: ANN001, ANN202
            def codegen(context, builder, signature, given):  # noqa: ANN001, ANN202
                address, _, size = _vector(context, builder, given[0], given[1], count)
                vector = builder.load(address, align=size)
                values = [builder.extract_element(vector, ir.Constant(ir.IntType(32), n)) for n in range(count)]
                return context.make_tuple(builder, signature.return_type, values)

            return types.UniTuple(pointer.dtype, count)(pointer, types.int64), codegen

        return intrinsic(load)

    def _store(count: int) -> Callable[..., Any]:
        def codegen(context, builder, signature, given):  # noqa: ANN001, ANN202
            address, kind, size = _vector(context, builder, given[0], given[1], count)
            vector = ir.Constant(kind, ir.Undefined)
            for n, value in enumerate(given[2:]):
                vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), n))
            builder.store(vector, address, align=size)
            return context.get_dummy_value()

        def two(typing, pointer, place, a, b):  # noqa: ANN001, ANN202
            return types.void(pointer, types.int64, *[pointer.dtype] * 2), codegen

        def four(typing, pointer, place, a, b, c, d):  # noqa: ANN001, ANN202
            return types.void(pointer, types.int64, *[pointer.dtype] * 4), codegen

        return intrinsic({2: two, 4: four}[count])

    def _aligned(typing, pointer):  # noqa: ANN001, ANN202
        """Whether an array begins where a vector may."""

        def codegen(context, builder, signature, given):  # noqa: ANN001, ANN202
            word = ir.IntType(64)
            beyond = builder.and_(builder.ptrtoint(given[0], word), ir.Constant(word, BYTES - 1))
            return builder.icmp_unsigned("==", beyond, ir.Constant(word, 0))

        return types.boolean(pointer), codegen

    aligned = intrinsic(_aligned)

load_2: Callable[..., Any] = _load(2)
load_4: Callable[..., Any] = _load(4)
store_2: Callable[..., Any] = _store(2)
store_4: Callable[..., Any] = _store(4)
