"""XLA: log densities as typed foreign functions, which compiled programs call without Python; here those of the CPU.

One handler, compiled once, serves all log densities: the addresses of the C functions that it is to call, ``many`` and
``one``, are attributes of the call, which XLA sorts by name.  Its argument is a call frame, read here as 64-bit words.
``xla/ffi/api/c_api.h``, which jaxlib ships, declares the structures; what a major version of it has keeps its place.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import intrinsic

from vecdist.interop import client
from vecdist.runtime.once import Once

TARGET = "vecdist_log_density"
EXTENSION, STAGE, ARGUMENTS, RESULTS, ATTRIBUTES = 1, 4, 9, 14, 20  # words of XLA_FFI_CallFrame
DATA, RANK, DIMENSIONS = 3, 4, 5  # words of XLA_FFI_Buffer
VALUE = 1  # word of XLA_FFI_Scalar
METADATA, EXECUTE = 1, 3  # XLA_FFI_Extension_Type, XLA_FFI_ExecutionStage


def _words(typing, address):  # noqa: ANN001, ANN202
    """What lies at an address, as words."""

    def codegen(context, builder, signature, values):  # noqa: ANN001, ANN202
        return builder.inttoptr(values[0], ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(types.int64), codegen


def _call(result):  # noqa: ANN001, ANN202
    """A call of the C function at an address with a tuple of integers, which gives an integer, or pointer."""

    def call(typing, address, arguments):  # noqa: ANN001, ANN202
        def codegen(context, builder, signature, given):  # noqa: ANN001, ANN202
            values = cgutils.unpack_tuple(builder, given[1], len(arguments))
            kind = ir.FunctionType(context.get_value_type(result), [value.type for value in values])
            return builder.call(builder.inttoptr(given[0], kind.as_pointer()), values)

        return result(types.int64, arguments), codegen

    return call


words: Any = intrinsic(_words)
call: Any = intrinsic(_call(types.int32))
call_for_word: Any = intrinsic(_call(types.int64))


def _evaluate(frame):  # noqa: ANN001, ANN202
    """Fill the results; 0, for no error."""
    x = words(words(frame[ARGUMENTS])[0])
    values, gradients = words(words(frame[RESULTS])[0]), words(words(frame[RESULTS])[1])
    attributes = words(frame[ATTRIBUTES])
    many, one = words(words(attributes[0])[VALUE])[0], words(words(attributes[1])[VALUE])[0]
    rows, length = 1, words(x[DIMENSIONS])[x[RANK] - 1]
    for axis in range(x[RANK] - 1):
        rows *= words(x[DIMENSIONS])[axis]
    if rows == 1:
        status = call(one, (length, x[DATA], gradients[DATA], values[DATA], 0))
    else:
        status = call(many, (rows, x[DATA], values[DATA], gradients[DATA], 0))
    if status < 0:  # short of memory
        for row in range(rows):
            words(values[DATA])[row] = NAN
    return 0


NAN = int(np.array(np.nan).view(np.int64))


@Once
def registered() -> Any:
    """Make the target known to XLA, once; the handler.  ``NotImplementedError`` for another major version."""
    return register(TARGET, _evaluate, 0, "cpu")


def register(target: str, work: Callable[[Any], Any], traits: int, platform: str) -> Any:
    """A handler that answers what it is for, and has its work done by a function of the call frame, known to XLA."""
    jax = client("jax")
    header = (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text(encoding="utf-8")
    major, minor = (int(re.findall(rf"#define XLA_FFI_API_{each} (\d+)", header)[0]) for each in ("MAJOR", "MINOR"))
    if major != 0:
        raise NotImplementedError(f"XLA's foreign functions are of version {major}.{minor}; known is 0")
    version, execute = minor << 32 | major, numba.njit(work)

    @numba.cfunc(types.int64(types.CPointer(types.int64)))
    def handler(frame):  # noqa: ANN001, ANN202
        if frame[EXTENSION] != 0 and words(frame[EXTENSION])[1] & 0xFFFFFFFF == METADATA:
            metadata = words(words(frame[EXTENSION])[3])
            metadata[3], metadata[4] = version, metadata[4] | traits
            return 0
        return execute(frame) if frame[STAGE] & 0xFFFFFFFF == EXECUTE else 0

    jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(ctypes.c_void_p(handler.address)), platform=platform)
    return handler
