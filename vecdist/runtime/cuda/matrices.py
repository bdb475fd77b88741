"""Small matrices on a GPU: a launch for each call, which waits for nothing and may be captured in a CUDA graph.

Nothing of cuSOLVER's may be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from vecdist.codegen import frontend
from vecdist.kernel.code import specialised
from vecdist.kernel.expressions import Constant, Expr, Name
from vecdist.primitives.calls import Call
from vecdist.primitives.factorisations import DETERMINANT
from vecdist.runtime.cpu import vectors
from vecdist.runtime.cpu.matrices import FLOATS, NAMES
from vecdist.runtime.cuda import matrix_loops
from vecdist.runtime.once import Once
from vecdist.runtime.typed import Written

STRIP = 4  # columns that a group solves for at once
ROWS = 64  # of a matrix at most: a triangle and its inverse lie in memory of a block
THREADS = 32  # of a block at least, a warp: few matrices are spread over many processors
SHARED = 3  # the address space of memory of a block
WHOLE = {"factor", "inverse", "pivots"}  # what a group computes at once; of others, a strip of columns
TOLD = [Path(str(file)).read_bytes() for file in (__file__, matrix_loops.__file__, vectors.__file__)]


def small(call: Call, shape: Sequence[int], dtype: np.dtype) -> Call:
    """What stands for a call whose last operand has this shape: itself, unless its matrices are small."""
    if call not in NAMES or dtype not in FLOATS or not 0 < shape[-2] <= ROWS or not math.prod(shape):
        return call
    function = _function(NAMES[call], dtype, shape)
    return replace(call, function=_determinants(function) if call is DETERMINANT else function, capturable=True)


def _determinants(pivots: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, Any]]:
    """The signs of determinants, and the logarithms of their sizes."""

    def function(a: Any) -> tuple[Any, Any]:
        import cupy

        found = pivots(a)
        return cupy.sign(found).prod(-1), cupy.log(cupy.abs(found)).sum(-1)

    return function


def _function(name: str, dtype: np.dtype, shape: Sequence[int]) -> Callable[..., Any]:
    """What computes of matrices of a shape what is as large, or pivots, from CuPy's arrays."""
    if name == "definite":
        lower, upper = (_function(each, dtype, shape) for each in ("lower", "upper"))
        return lambda a, factor, b: upper(factor, lower(factor, b))
    rows, columns = shape[-2:]
    lanes, threads, count, grid = blocks(name, shape)
    shape = tuple(shape[:-1] if name == "pivots" else shape)

    def function(*given: Any) -> Any:
        import cupy

        found = cupy.empty(shape, dtype)
        a, b = (cupy.ascontiguousarray(each) for each in (given[0], given[-1]))
        kernel = _loaded(name, dtype, threads, cupy.cuda.Device().id)
        kernel((grid,), (threads,), (a, b, found, rows, columns, lanes, count))
        return found

    return function


def blocks(name: str, shape: Sequence[int]) -> tuple[int, int, int, int]:
    """How many threads a group and a block have, how many groups have work, and in how many blocks they are."""
    *lead, rows, columns = shape
    lanes = next(each for each in (16, 32, 64) if rows <= each)
    count = math.prod(lead) * (1 if name in WHOLE else -(-columns // STRIP))
    threads = max(lanes, THREADS)
    return lanes, threads, count, -(-count * lanes // threads)


@Once
def _loaded(name: str, dtype: np.dtype, threads: int, device: int) -> Any:
    """The kernel on a device."""
    import cupy

    digits = cupy.cuda.Device(device).compute_capability
    symbol, cubin = code(name, dtype, threads, (int(digits[:-1]), int(digits[-1])))
    module = cupy.cuda.function.Module()
    module.load(cubin)
    return module.get_function(symbol)


def code(name: str, dtype: np.dtype, threads: int, capability: tuple[int, int]) -> tuple[str, bytes]:
    """The name of a kernel for blocks of so many threads, and its machine code, from the folder of kernels if there."""
    from vecdist.runtime.cuda import backend

    array = types.CPointer(FLOATS[dtype])
    given = (array, array, array, *[types.int64] * 4)
    symbol = f"matrices_{name}_{dtype.char}{threads}"
    return backend.written_cubin(symbol, TOLD, lambda: _written(name, threads), given, capability, threads)


def _written(name: str, threads: int) -> Written:
    """A kernel of matrices in blocks of so many threads, which have as many rows at most."""
    from vecdist.runtime.cuda import compiler, language

    constants = {"ROOM": room(threads), "WARP": matrix_loops.WARP, "BITS": matrix_loops.BITS}
    known: dict[Expr, Expr] = {Name(word): Constant(number) for word, number in constants.items()}
    intrinsic = compiler.intrinsic()
    names = {**language.WORDS, **vectors.words(1, intrinsic), "shared": intrinsic(_shared), "__name__": __name__}
    own = matrix_loops.IN_WARP if threads == THREADS else {}
    for word, each in {**matrix_loops.SHARED, **own, **matrix_loops.MEANINGS.get(name, {})}.items():
        names[word] = Written(specialised(frontend.function(each), known), names, merged=True)
    return Written(specialised(frontend.function(matrix_loops.FUNCTIONS[name]), known), names)


def room(rows: int) -> int:
    """How many elements a block holds: triangles of so many rows together, and what is known of four columns."""
    return rows * (rows + 1) + STRIP * rows


def _shared(typing: Any, array: Any, elements: Any) -> Any:
    """Memory of a block for so many elements of an array's type."""
    if not isinstance(elements, types.IntegerLiteral):
        return None  # Numba asks again, with the number

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(array.dtype)
        whole = ir.ArrayType(kind, elements.literal_value)
        name = builder.module.get_unique_name("matrices")
        memory: Any = ir.GlobalVariable(builder.module, whole, name, SHARED)  # llvmlite's stubs know no initializers
        memory.linkage, memory.initializer = "internal", ir.Constant(whole, ir.Undefined)
        return builder.bitcast(builder.addrspacecast(memory, ir.PointerType(whole)), ir.PointerType(kind))

    return array(array, elements), codegen
