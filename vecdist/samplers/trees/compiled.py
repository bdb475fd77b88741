"""The machine of each chain as machine code, kept on disk: one for all log densities.

Its functions are plain Python, which the project's own front end reads and ``runtime/emission.py`` writes as LLVM IR:
Numba's takes ten times as long.  They are one function, with pointers for arrays.
"""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.core.extending import intrinsic

from vecdist.codegen import frontend
from vecdist.kernel.code import specialised
from vecdist.kernel.expressions import Expr
from vecdist.model.native.language import call_entry, moved
from vecdist.runtime import compiler, emission
from vecdist.runtime.compiler import CodeCache
from vecdist.runtime.cpu.language import emitted
from vecdist.runtime.device import pointer_to
from vecdist.runtime.intrinsics import called_by_numba
from vecdist.runtime.once import Once
from vecdist.runtime.typed import Written, forget
from vecdist.samplers.trees import draws, growing, learning, moving, places
from vecdist.samplers.trees.growing import advance
from vecdist.samplers.trees.places import DONE, PHASE, SIZE, X

MODULES: tuple[ModuleType, ...] = (places, draws, moving, learning, growing)
MODE: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
pointer: Any = intrinsic(pointer_to)


def _turns(
    code, table, first, last, most, which, values, slopes, vectors, numbers, integers, keys, ends, positions, told, seen
):
    """Chains in turn, each by at most so many gradients, of the entry of a table or as they are given."""
    for index in range(first, last):
        chain = which[index]
        v, a = moved(pointer(vectors), chain * vectors.shape[1]), moved(pointer(numbers), chain * numbers.shape[1])
        n, value = moved(pointer(integers), chain * integers.shape[1]), moved(pointer(values), index)
        gradient, key = moved(pointer(slopes), index * slopes.shape[1]), pointer(keys)[chain]
        drawn, left = moved(pointer(positions), chain * positions.shape[1]), most
        noted, size = moved(pointer(told), chain * told.shape[1]), n[SIZE]
        history = moved(pointer(seen), chain * seen.shape[1])
        while left > 0 and n[PHASE] < DONE:
            if table != 0 and call_entry(code, size, moved(v, X * size), gradient, value, table) < 0:  # type: ignore[call-arg]
                value[0] = -math.inf
            advance(v, v, a, n, key, pointer(ends), value[0], gradient, drawn, noted, history)
            left -= 1


def _points(code, table, first, last, points, values, slopes):
    """The values and gradients at some points, by the entry of a table."""
    size = points.shape[1]
    for place in range(first, last):
        value, at = moved(pointer(values), place), moved(pointer(points), place * size)
        gradient = moved(pointer(slopes), place * size)
        if call_entry(code, size, at, gradient, value, table) < 0:  # type: ignore[call-arg]
            value[0] = -math.inf


class Machine(NamedTuple):
    """What runs chains, and what looks at points for them."""

    turns: Any
    points: Any


@Once
def machine() -> Machine:
    """The machine, compiled or read; that takes a second or two, once for an installation."""
    version = hashlib.sha256(repr(text(_turns, _points)).encode() + emission.VERSION).hexdigest()[:12]
    names = meanings({"moved": moved, "pointer": pointer, "call_entry": call_entry, "__name__": __name__})
    counts, vector, matrix = (types.intp,) * 4, _array(1), _array(2)
    whole, some = _array(2, types.int64), _array(1, types.int64)
    state = matrix, matrix, whole, _array(1, types.uint64), some, matrix, matrix, matrix
    return Machine(
        _ready(_turns, names, version, (*counts, types.intp, some, vector, matrix, *state)),
        _ready(_points, names, version, (*counts, matrix, vector, matrix)),
    )


def text(*functions: Callable[..., Any]) -> list[str]:
    """All that the machine is written in, and such functions around it."""
    return [inspect.getsource(each) for each in (*MODULES, *functions)]


def meanings(words: Mapping[str, Any], known: Mapping[Expr, Expr] | None = None) -> dict[str, Any]:
    """What names mean in the functions of a machine, in the words of a target; what is known stands for expressions."""
    names: dict[str, Any] = {"np": np, "math": math, "float": numba.float64}
    for module in MODULES:
        own = {name: found for name, found in vars(module).items() if not name.startswith("_")}
        assert all(names.get(name, found) is found for name, found in own.items()), "a name means one thing in all"
        names |= own
    names |= words
    for name, found in list(names.items()):
        if isinstance(found, FunctionType) and found.__module__.startswith(__package__ or ""):
            names[name] = Written(specialised(frontend.function(found), known or {}), names, merged=True)
    return names


def _array(axes: int, item: Any = types.float64) -> Any:
    return types.Array(item, axes, "C")


def _ready(function: Any, names: Mapping[str, Any], version: str, signature: tuple[Any, ...]) -> Any:
    written = Written(frontend.function(function), names)
    caller = called_by_numba(written, emitted)
    made: Any = numba.njit(**MODE)(caller)
    made._cache = CodeCache.of(caller, version)
    with compiler.alone():
        made.compile(signature)
        made.disable_compile()
    forget({**names, "": written})
    made.written = written
    return made


