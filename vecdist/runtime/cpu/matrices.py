"""Small matrices on the CPU: factors, solutions and inverses by machine code of their own, once an installation.

LAPACK is called for each of many matrices, and wakes threads for a few columns.  Here a vector has an element of each
of ``LANES`` matrices (``matrix_loops.py``), and threads share them where they are many.  Of 4096 matrices of 16 rows a
factor took 0.8 ms on two cores, where LAPACK took 3.7, and a solution with 16 columns 2 ms of 20.
"""

from __future__ import annotations

import hashlib
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
from vecdist.primitives.factorisations import (
    CHOLESKY,
    DETERMINANT,
    INVERSE,
    INVERT_DEFINITE,
    SOLVE,
    SOLVE_DEFINITE,
    SOLVE_LOWER,
    SOLVE_TRANSPOSED,
    SOLVE_UPPER,
)
from vecdist.runtime import compiler
from vecdist.runtime.cpu import exported, language, matrix_loops, vectors
from vecdist.runtime.cpu.crew import Job
from vecdist.runtime.cpu.matrix_loops import CODE, FUNCTIONS
from vecdist.runtime.cpu.packing import Packed
from vecdist.runtime.cpu.processors import thread_count
from vecdist.runtime.cpu.threads import SHARES, Pace, Trial, crew
from vecdist.runtime.once import Once
from vecdist.runtime.typed import Exports, Written, forget

ROWS = 32  # of a matrix at most: of one with more, the library's blocks are faster
LANES = 16  # matrices side by side: two vectors of doubles of 512 bits, so that a sum need not wait for another
FLOATS: dict[np.dtype, Any] = {np.dtype(np.float32): types.float32, np.dtype(np.float64): types.float64}
NAMES: dict[Call, str] = {
    CHOLESKY: "factor", SOLVE_LOWER: "lower", SOLVE_UPPER: "upper", SOLVE_DEFINITE: "definite",
    INVERT_DEFINITE: "inverse", SOLVE: "solution", INVERSE: "inversion",
    SOLVE_TRANSPOSED: "transposed", DETERMINANT: "pivots",
}  # fmt: skip
TEXT = b"".join(Path(str(file)).read_bytes() for file in (__file__, matrix_loops.__file__, vectors.__file__))
VERSION = hashlib.sha256(TEXT + language.VERSION.encode()).hexdigest()[:12]


def small(call: Call, shape: Sequence[int], dtype: np.dtype) -> Call:
    """What stands for a call whose last operand has this shape: itself, unless its matrices are small."""
    if call not in NAMES or dtype not in FLOATS or not 0 < shape[-2] <= ROWS or not math.prod(shape):
        return call
    function = _function(NAMES[call], dtype, shape)
    if call is DETERMINANT:
        return replace(call, function=_determinants(function))
    return replace(call, function=function, writes=True)


def _determinants(pivots: Callable[..., np.ndarray]) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The signs of determinants, and the logarithms of their sizes."""

    def function(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = pivots(a)
        return np.sign(found).prod(-1), np.log(np.abs(found)).sum(-1)

    return function


def _function(name: str, dtype: np.dtype, shape: Sequence[int]) -> Callable[..., np.ndarray]:
    """What computes of matrices of a shape what is as large, or pivots, or writes it to other memory."""
    if name == "definite":
        lower, upper = (_function(each, dtype, shape) for each in ("lower", "upper"))
        return lambda a, factor, b, out=None: upper(factor, lower(factor, b), out=out)
    *lead, rows, columns = shape
    many, which = math.prod(lead), FUNCTIONS.index(name)
    shape = (*lead, rows) if name == "pivots" else tuple(shape)
    lanes = LANES if many >= LANES else 1  # fewer are done one after another, as soon as they would be side by side
    code, tiles = Packed(*_code(dtype, lanes)), -(-many // lanes)
    run = code.at((which, 0, tiles, rows, many, columns))

    def alone(*arrays: np.ndarray) -> None:
        run(which, 0, tiles, *arrays, rows, many, columns)

    def together(*arrays: np.ndarray) -> None:
        threads, lengths = thread_count(), (rows, many, columns)
        words = np.array((which, 0, tiles, *[each.ctypes.data for each in arrays], *lengths), np.int64)
        if not crew(threads).share(code.address, words, which, Job(tiles, threads, SHARES)):
            alone(*arrays)

    work = tiles * rows * rows * (rows + columns) if tiles > 1 else 0
    launch = Trial(alone, lambda: together, work, Pace())

    def function(*given: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        found = np.empty(shape, dtype) if out is None else out
        launch.run(given[0].reshape(-1), given[-1].reshape(-1), found.reshape(-1))
        return found

    return function


@Once
def _code(dtype: np.dtype, lanes: int) -> tuple[int, Sequence[Any]]:
    """Where machine code of all functions lies, for so many matrices side by side, and the types of its arguments."""
    known: dict[Expr, Expr] = {Name(each): Constant(number) for each, number in (
        ("LANES", lanes), ("ROWS", ROWS), ("TRIANGLE", ROWS * (ROWS + 1) // 2), ("SQUARE", ROWS**2),
    )}  # fmt: skip
    names: dict[str, Any] = {"__name__": __name__, **vectors.words(lanes)}
    for each in (*CODE, "run"):
        written = specialised(frontend.function(getattr(matrix_loops, each)), known)
        names[each] = Written(written, names, merged=each == "taken")
    array, parameters = types.CPointer(FLOATS[dtype]), names["run"].function.parameters
    kinds = [array if each in {"a", "b", "found"} else types.int64 for each in parameters]
    symbol = f"matrices_{dtype.char}_{lanes}"
    with compiler.alone():
        cache = compiler.CodeCache(symbol, VERSION)
        (address,) = exported.addresses(Exports({symbol: (names["run"], kinds)}, names), cache)
    forget(names)
    return address, kinds
