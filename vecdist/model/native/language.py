"""What calls an entry: Python, by a function of Numba's for all of them, and C, by one that knows its table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.extending import intrinsic
from numba.np.arrayobj import make_array

from vecdist.runtime import compiler
from vecdist.runtime.cpu import calling
from vecdist.runtime.once import Once

POINTER = types.CPointer(types.float64)
C_LOGP = types.int32(types.uint64, POINTER, POINTER, POINTER, types.voidptr)
C_BATCH = types.int32(types.int64, POINTER, POINTER, POINTER, types.voidptr)


def _begin(context: Any, builder: Any, kind: types.Type, value: Any) -> Any:
    """Where an array begins, or a pointer points."""
    found = value if isinstance(kind, types.CPointer) else make_array(kind)(context, builder, value).data
    return builder.ptrtoint(found, ir.IntType(64))


@intrinsic
def call_entry(typing, address, count, x, gradients, values, table):  # noqa: ANN001, ANN201
    """A call of ``call_loops.entry``, which lies at ``address``, with a number and three arrays or pointers."""

    def codegen(context, builder, signature, given):  # noqa: ANN001, ANN202
        word = ir.IntType(64)
        kind = ir.FunctionType(ir.IntType(32), [word] * 5)
        three = [_begin(context, builder, *each) for each in zip(signature.args[2:5], given[2:5], strict=True)]
        return builder.call(builder.inttoptr(given[0], kind.as_pointer()), [given[1], *three, given[5]])

    return types.int32(types.intp, types.intp, x, gradients, values, types.intp), codegen


def moved_by(typing, pointer, count):  # noqa: ANN001, ANN201
    """A pointer to the element so many behind another's."""

    def codegen(context, builder, signature, values):  # noqa: ANN001, ANN202
        return builder.gep(values[0], [values[1]])

    return pointer(pointer, types.intp), codegen


moved: Any = intrinsic(moved_by)


def _evaluate(address: int, table: int, x: np.ndarray, gradient: np.ndarray) -> float:
    value = np.empty(1)
    if call_entry(address, x.size, x, gradient, value, table) < 0:  # type: ignore[call-arg]
        raise ValueError
    return value[0]


def _evaluate_many(address: int, table: int, x: np.ndarray, values: np.ndarray, gradients: np.ndarray) -> None:
    if call_entry(address, values.size, x, gradients, values, table) < 0:  # type: ignore[call-arg]
        raise MemoryError


def _compiled(function: Callable[..., Any], nogil: bool, *kinds: types.Type) -> Callable[..., Any]:
    compiled: Any = numba.njit(nogil=nogil, error_model="numpy")(function)
    compiled._cache = compiler.CodeCache.of(function, f"{calling.VERSION}{'_nogil' * nogil}")
    compiled.compile((types.intp, types.intp, *kinds))
    compiled.disable_compile()
    return compiled


def _array(axes: int, readonly: bool = False) -> types.Type:
    return types.Array(types.float64, axes, "C", readonly=readonly)


@Once
def evaluator(nogil: bool) -> Callable[[int, int, np.ndarray, np.ndarray], float]:
    """The function ``evaluate(address, table, x, gradient)``: the value that an entry gives, writing the gradient.

    ``TypeError`` where ``x`` is no contiguous vector of float64, ``ValueError`` where it has another length.
    """
    return _compiled(_evaluate, nogil, _array(1, readonly=True), _array(1))


@Once
def evaluator_of_many() -> Callable[[int, int, np.ndarray, np.ndarray, np.ndarray], None]:
    """The function ``evaluate(address, table, X, values, gradients)`` of an entry for many vectors, in the rows of X.

    ``MemoryError`` where memory is short.
    """
    return _compiled(_evaluate_many, True, _array(2, readonly=True), _array(1), _array(2))


def c_entry(table: int, one: bool) -> Any:
    """The function for C of one vector, or of many, of what lies in a table."""
    address = calling.entry()

    def of_one(count, x, gradient, value, unused):  # noqa: ANN001, ANN202
        return call_entry(address, count, x, gradient, value, table)  # type: ignore[call-arg]

    def of_many(count, x, values, gradients, unused):  # noqa: ANN001, ANN202
        return call_entry(address, count, x, gradients, values, table)  # type: ignore[call-arg]

    return compiler.c_function(C_LOGP, of_one) if one else compiler.c_function(C_BATCH, of_many)
