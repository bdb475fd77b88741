"""What entries for C are written in: calls of machine code by its address, and of an entry from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from vecdist.graph.memo import Memo

POINTER = types.CPointer(types.float64)
C_LOGP = types.int32(types.uint64, POINTER, POINTER, POINTER, types.voidptr)
C_BATCH = types.int32(types.int64, POINTER, POINTER, POINTER, types.voidptr)

_evaluators: Memo[Any] = Memo()


def kernel_caller(signature: Sequence[types.Type]) -> Callable[..., Any]:
    """An intrinsic ``call_kernel(address, arguments)``: a call of the kernel of this signature that lies there.

    The arguments are numbers, arrays, or triples of an address (or pointer), a shape and strides, read as an array.
    The result says whether the call went well.
    """

    @intrinsic
    def call_kernel(typing, address, arguments):  # noqa: ANN001, ANN202
        def codegen(context, builder, own, values):  # noqa: ANN001, ANN202
            given = cgutils.unpack_tuple(builder, values[1], len(signature))
            each = zip(signature, own.args[1].types, given, strict=True)
            ready = [_as(context, builder, wanted, kind, value) for wanted, kind, value in each]
            function = context.call_conv.get_function_type(types.none, signature)
            pointer = builder.inttoptr(values[0], function.as_pointer())
            status, _ = context.call_conv.call_function(builder, pointer, types.none, signature, ready)
            return status.is_ok

        return types.boolean(types.intp, arguments), codegen

    return call_kernel


def _as(context: Any, builder: ir.IRBuilder, wanted: types.Type, given: types.Type, value: ir.Value) -> ir.Value:
    """A value as one of the wanted type."""
    if not isinstance(given, types.BaseTuple):
        return context.cast(builder, value, given, wanted)
    address, shape, strides = (builder.extract_value(value, place) for place in range(3))
    item = context.get_data_type(wanted.dtype)  # type: ignore[attr-defined]
    data = address if isinstance(address.type, ir.PointerType) else builder.inttoptr(address, item.as_pointer())
    array = make_array(wanted)(context, builder)
    size = context.get_constant(types.intp, context.get_abi_sizeof(item))
    lengths, steps = (cgutils.unpack_tuple(builder, each) for each in (shape, strides))
    populate_array(array, builder.bitcast(data, item.as_pointer()), lengths, steps, size, meminfo=None)
    return array._getvalue()


def moved_by(typing, pointer, count):  # noqa: ANN001, ANN201
    """A pointer to the element so many behind another's."""

    def codegen(context, builder, signature, values):  # noqa: ANN001, ANN202
        return builder.gep(values[0], [values[1]])

    return pointer(pointer, types.intp), codegen


moved: Any = intrinsic(moved_by)


@numba.njit(error_model="numpy")
def status(done, value, gradient, rows, slopes):  # noqa: ANN001, ANN201
    """What an entry returns."""
    if not done:
        return -1
    for place in range(rows):
        if not np.isfinite(value[place]):
            return 1
    for place in range(slopes):
        if not np.isfinite(gradient[place]):
            return 1
    return 0


def _begin(context: Any, builder: ir.IRBuilder, kind: types.Type, value: ir.Value) -> ir.Value:
    """Where an array begins, or a pointer points."""
    return value if isinstance(kind, types.CPointer) else make_array(kind)(context, builder, value).data


@intrinsic
def call_entry(typing, address, count, first, second, third):  # noqa: ANN001, ANN201
    """A call of the entry that lies at ``address``, with a number and three arrays or pointers, and what it returns."""

    def codegen(context, builder, signature, values):  # noqa: ANN001, ANN202
        double, word = ir.DoubleType().as_pointer(), ir.IntType(64)
        kind = ir.FunctionType(ir.IntType(32), [word, double, double, double, ir.IntType(8).as_pointer()])
        nothing = ir.Constant(ir.IntType(8).as_pointer(), None)
        given = zip(signature.args[2:], values[2:], strict=True)
        pointers = [builder.bitcast(_begin(context, builder, *each), double) for each in given]
        return builder.call(builder.inttoptr(values[0], kind.as_pointer()), [values[1], *pointers, nothing])

    return types.int32(types.intp, types.intp, first, second, third), codegen


def _evaluate(address: int, x: np.ndarray, gradient: np.ndarray) -> float:
    value = np.empty(1)
    if call_entry(address, x.size, x, gradient, value) < 0:  # type: ignore[call-arg]
        raise ValueError
    return value[0]


def _evaluate_many(address: int, x: np.ndarray, values: np.ndarray, gradients: np.ndarray) -> None:
    if call_entry(address, values.size, x, values, gradients) < 0:  # type: ignore[call-arg]
        raise MemoryError


def _compiled(function: Callable[..., Any], nogil: bool, *kinds: types.Type) -> Callable[..., Any]:
    def make() -> Callable[..., Any]:
        compiled = numba.njit(nogil=nogil, error_model="numpy")(function)
        compiled.compile((types.intp, *kinds))
        compiled.disable_compile()
        return compiled

    return _evaluators((function, nogil), make)


def _array(axes: int, readonly: bool = False) -> types.Type:
    return types.Array(types.float64, axes, "C", readonly=readonly)


def evaluator(nogil: bool) -> Callable[[int, np.ndarray, np.ndarray], float]:
    """The function ``evaluate(address, x, gradient)``: the value that the entry there gives, writing the gradient.

    ``TypeError`` where ``x`` is no contiguous vector of float64, ``ValueError`` where it has another length.
    """
    return _compiled(_evaluate, nogil, _array(1, readonly=True), _array(1))


def evaluator_of_many() -> Callable[[int, np.ndarray, np.ndarray, np.ndarray], None]:
    """The function ``evaluate(address, x, values, gradients)`` of the entry for many vectors that lies there.

    ``TypeError`` where ``x`` is no contiguous matrix of float64, ``MemoryError`` where memory is short.
    """
    return _compiled(_evaluate_many, True, _array(2, readonly=True), _array(1), _array(2))
