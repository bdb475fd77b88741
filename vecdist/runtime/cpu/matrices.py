"""Many small matrices on the CPU: factors, solutions and products by machine code of their own, once an installation.

LAPACK is called for each of many matrices, and knows no vectors of several; here a vector has an element of each of
``LANES`` matrices (``matrix_loops.py``), and threads share them.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, final

import numpy as np
from numba.core import types
from numba.core.extending import intrinsic

from vecdist.codegen import frontend
from vecdist.kernel import expressions
from vecdist.kernel.code import Do, Function, specialised
from vecdist.kernel.expressions import Constant, Expr, Name
from vecdist.primitives.calls import Call
from vecdist.primitives.factorisations import (
    CHOLESKY_OR_NAN,
    INVERT_DEFINITE,
    SOLVE_DEFINITE,
    SOLVE_LOWER,
    SOLVE_UPPER,
)
from vecdist.runtime import compiler
from vecdist.runtime.cpu import language, matrix_loops, vectors
from vecdist.runtime.cpu.crew import Job
from vecdist.runtime.cpu.threads import SHARES, crew, thread_count
from vecdist.runtime.device import pointer_to
from vecdist.runtime.once import Once
from vecdist.runtime.typed import Written, forget

ROWS = 32  # of a matrix at most: of one with more, the library's blocks are faster
LANES = 16  # matrices side by side: two vectors of doubles of 512 bits, so that a sum need not wait for another
SHARED = 2**16  # multiplications, from which threads share them
FLOATS: dict[np.dtype, Any] = {np.dtype(np.float32): types.float32, np.dtype(np.float64): types.float64}
ARRAYS = {"a", "b", "factors", "found"}
NAMES: dict[Call, str] = {
    CHOLESKY_OR_NAN: "factor", SOLVE_LOWER: "lower", SOLVE_UPPER: "upper", SOLVE_DEFINITE: "definite",
    INVERT_DEFINITE: "inverse",
}  # fmt: skip
OUTER = {"factor", "lower", "upper", "inverse"}
LOOPS: dict[str, Any] = {name: each for name, each in vars(matrix_loops).items() if inspect.isfunction(each)}
TEXT = inspect.getsource(matrix_loops) + inspect.getsource(vectors)
pointer: Any = intrinsic(pointer_to)
VERSION = hashlib.sha256(TEXT.encode() + language.VERSION.encode()).hexdigest()[:12]


def small(call: Call, shape: Sequence[int], dtype: np.dtype) -> Call:
    """What stands for a call that gives matrices of this shape: itself, unless they are small."""
    if call not in NAMES or dtype not in FLOATS or not 0 < shape[-2] <= ROWS or not math.prod(shape):
        return call
    return replace(call, function=_function(NAMES[call], dtype, shape), writes=True)


def _function(name: str, dtype: np.dtype, shape: Sequence[int]) -> Callable[..., np.ndarray]:
    """What computes matrices of a shape, by their own machine code, or writes them to other memory."""
    if name == "definite":
        lower, upper = (_function(each, dtype, shape) for each in ("lower", "upper"))
        return lambda a, factor, b, out=None: upper(factor, lower(factor, b), out=out)
    *lead, rows, columns = shape
    many, shape = math.prod(lead), tuple(shape)
    lanes = LANES if many >= LANES else 1  # fewer are done one after another, as soon as they would be side by side
    code, tiles = _code(name, dtype, lanes), -(-many // lanes)
    threads = thread_count() if tiles > 1 and many * rows * rows * (rows + columns) >= SHARED else 1
    last = (len(frontend.function(LOOPS[name]).parameters) - 7) * -1  # arrays that are read: of A and its factor one

    def function(*given: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        found = np.empty(shape, dtype) if out is None else out
        flat = [each.reshape(-1) for each in given[last:]]
        if threads == 1 or not code.shared(threads, tiles, (*flat, found), rows, many, columns):
            code.alone(0, 0, tiles, *flat, found.reshape(-1), rows, many, columns)
        return found

    return function


@final
class Code(NamedTuple):
    """The machine code of a function: called with arrays, and where it lies for threads."""

    alone: Any
    address: int

    def shared(self, threads: int, tiles: int, arrays: Sequence[np.ndarray], *lengths: int) -> bool:
        """Run all tiles by a crew, unless it is busy: whether they have been run."""
        words = (0, 0, tiles, *[each.ctypes.data for each in arrays], *lengths)
        return crew(threads).share(self.address, np.array(words, np.int64), 0, Job(tiles, threads, SHARES))


@Once
def _code(name: str, dtype: np.dtype, lanes: int) -> Code:
    """The machine code of a function, for so many matrices side by side."""
    known: dict[Expr, Expr] = {Name(each): Constant(number) for each, number in (
        ("LANES", lanes), ("ROWS", ROWS), ("TRIANGLE", ROWS * (ROWS + 1) // 2),
    )}  # fmt: skip
    names: dict[str, Any] = {"__name__": __name__, "pointer": pointer, **vectors.words(lanes)}
    for each, function in LOOPS.items():
        names[each] = Written(specialised(frontend.function(function), known), names, merged=each not in OUTER)
    own, symbol = names[name], f"{name}_{dtype.char}_{lanes}"
    parameters = own.function.parameters
    arrays, floats = [each in ARRAYS for each in parameters], FLOATS[dtype]
    of_pointers = [types.CPointer(floats) if each else types.int64 for each in arrays]
    of_arrays = tuple([types.Array(floats, 1, "C") if each else types.int64 for each in arrays])
    given = [expressions.Call(Name("pointer"), (Name(each),)) if array else Name(each)
             for each, array in zip(parameters, arrays, strict=True)]  # fmt: skip
    body = (Do(expressions.Call(Name(name), tuple(given))),)
    host = Written(Function(symbol, parameters, body), names, exports={symbol: (own, of_pointers)})
    made = language.compiled(host, VERSION)
    with compiler.alone():
        made.compile(of_arrays)
        made.disable_compile()
        address = made.overloads[of_arrays].library.get_pointer_to_function(symbol)
        compiler.release(made)
    forget({**names, "": host})
    return Code(made, address)
