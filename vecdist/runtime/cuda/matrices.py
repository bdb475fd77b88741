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
from numba.core import types

from vecdist.codegen import frontend
from vecdist.kernel.code import specialised
from vecdist.kernel.expressions import Constant, Expr, Name
from vecdist.primitives.calls import Call
from vecdist.runtime.cpu import vectors
from vecdist.runtime.cpu.matrices import FLOATS, NAMES
from vecdist.runtime.cuda import matrix_loops
from vecdist.runtime.once import Once
from vecdist.runtime.typed import Written

ROWS = 16  # of a matrix at most: of more, libraries have a block of threads for each
THREADS = 32  # of a block: few matrices are spread over many processors
TOLD = [Path(str(file)).read_bytes() for file in (__file__, matrix_loops.__file__, vectors.__file__)]


def small(call: Call, shape: Sequence[int], dtype: np.dtype) -> Call:
    """What stands for a call that gives matrices of this shape: itself, unless they are small."""
    if call not in NAMES or dtype not in FLOATS or not 0 < shape[-2] <= ROWS or not math.prod(shape):
        return call
    return replace(call, function=_function(NAMES[call], dtype, shape), capturable=True)


def _function(name: str, dtype: np.dtype, shape: Sequence[int]) -> Callable[..., Any]:
    """What computes matrices of a shape from CuPy's arrays."""
    if name == "definite":
        lower, upper = (_function(each, dtype, shape) for each in ("lower", "upper"))
        return lambda a, factor, b: upper(factor, lower(factor, b))
    *lead, rows, columns = shape
    count, shape = math.prod(lead) * (1 if name == "factor" else columns), tuple(shape)
    grid = -(-count // THREADS)

    def function(*given: Any) -> Any:
        import cupy

        found = cupy.empty(shape, dtype)
        a, b = (cupy.ascontiguousarray(each) for each in (given[0], given[-1]))
        _loaded(name, dtype, cupy.cuda.Device().id)((grid,), (THREADS,), (a, b, found, rows, columns, count))
        return found

    return function


@Once
def _loaded(name: str, dtype: np.dtype, device: int) -> Any:
    """The kernel on a device."""
    import cupy

    digits = cupy.cuda.Device(device).compute_capability
    symbol, cubin = code(name, dtype, (int(digits[:-1]), int(digits[-1])))
    module = cupy.cuda.function.Module()
    module.load(cubin)
    return module.get_function(symbol)


def code(name: str, dtype: np.dtype, capability: tuple[int, int]) -> tuple[str, bytes]:
    """The name of a kernel and its machine code, from the folder of kernels where it is there."""
    from vecdist.runtime.cuda import backend

    array = types.CPointer(FLOATS[dtype])
    given = (array, array, array, types.int64, types.int64, types.int64)
    return backend.written_cubin(f"matrices_{name}_{dtype.char}", TOLD, lambda: _written(name), given, capability)


def _written(name: str) -> Written:
    from vecdist.runtime.cuda import compiler, language

    known: dict[Expr, Expr] = {Name("ROWS"): Constant(ROWS), Name("TRIANGLE"): Constant(ROWS * (ROWS + 1) // 2)}
    names = {**language.WORDS, **vectors.words(1, compiler.intrinsic()), "__name__": __name__}
    return Written(specialised(frontend.function(matrix_loops.FUNCTIONS[name]), known), names)
