"""The machine of each chain as machine code, kept on disk: one for all log densities."""

# ruff: noqa: ANN001, ANN202

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types

from vecdist.model.native.language import call_entry
from vecdist.runtime import compiler
from vecdist.runtime.compiler import CodeCache
from vecdist.runtime.once import Once
from vecdist.samplers.trees import draws, growing, learning, moving, places
from vecdist.samplers.trees.growing import advance
from vecdist.samplers.trees.places import DONE, PHASE, SIZE, X

MODULES: tuple[ModuleType, ...] = (places, draws, moving, learning, growing)
MODE: Any = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def _alone(address, first, last, most, v, a, n, keys, ends, positions, told):
    """Chains in turn, each by at most so many gradients of the entry at an address, whatever others do."""
    size = n[0, SIZE]
    gradient, value = np.empty(size), np.empty(1)
    for chain in range(first, last):
        vectors, numbers, integers, drawn, noted = v[chain], a[chain], n[chain], positions[chain], told[chain]
        point = vectors[X * size : (X + 1) * size]
        for _ in range(most):
            if integers[PHASE] == DONE:
                break
            if call_entry(address, size, point, gradient, value) < 0:  # type: ignore[call-arg]
                value[0] = -math.inf
            advance(vectors, numbers, integers, keys[chain], ends, value[0], gradient, drawn, noted)


def _each(which, values, gradients, v, a, n, keys, ends, positions, told):
    """A turn of each of some chains, whose values and gradients are known."""
    for place in range(which.size):
        c = which[place]
        advance(v[c], a[c], n[c], keys[c], ends, values[place], gradients[place], positions[c], told[c])


def _points(address, first, last, points, values, gradients):
    """The values and gradients at some points, by the entry at an address."""
    size = points.shape[1]
    for place in range(first, last):
        value = values[place : place + 1]
        if call_entry(address, size, points[place], gradients[place], value) < 0:  # type: ignore[call-arg]
            value[0] = -math.inf


class Machine(NamedTuple):
    """The two ways to run chains, and what looks at points for them."""

    alone: Any
    each: Any
    points: Any


@Once
def machine() -> Machine:
    """The machine, compiled or read; that takes some seconds, once for an installation."""
    texts = [inspect.getsource(each) for each in (*MODULES, _alone, _each, _points)]
    version = hashlib.sha256("".join(texts).encode()).hexdigest()[:12]
    names = meanings(numba.njit(**MODE)) | {"call_entry": call_entry}
    vectors, numbers, integers, keys, ends, told = (_array(*each) for each in _KINDS)
    state = (vectors, numbers, integers, keys, ends, told, told)
    part, some = (types.intp, types.intp, types.intp), (_array(types.float64, 1), _array(types.float64, 2))
    return Machine(
        _ready(_alone, names, version, (*part, types.intp, *state)),
        _ready(_each, names, version, (_array(types.int64, 1), *some, *state)),
        _ready(_points, names, version, (*part, vectors, *some)),
    )


def meanings(decorator: Callable[[Any], Any]) -> dict[str, Any]:
    """What names mean in the functions of a machine, for one compiler of them."""
    names: dict[str, Any] = {"np": np, "math": math, "__name__": __name__}
    for module in MODULES:
        own = {name: found for name, found in vars(module).items() if not name.startswith("_")}
        assert all(names.get(name, found) is found for name, found in own.items()), "a name means one thing in all"
        names |= own
    for name, found in list(names.items()):
        if isinstance(found, FunctionType):
            names[name] = decorated(found, names, decorator)
        elif type(found) is int:  # of a type of its own, a number would be one more function wherever it is passed
            names[name] = np.int64(found)
    return names


def _array(item: Any, axes: int) -> Any:
    return types.Array(item, axes, "C")


_KINDS = (
    (types.float64, 2), (types.float64, 2), (types.int64, 2), (types.uint64, 1), (types.int64, 1), (types.float64, 2),
)  # fmt: skip


def decorated(function: Any, names: dict[str, Any], decorator: Callable[[Any], Any]) -> Any:
    """A function of Python as one that Numba compiles, whose names are the others'."""
    own = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    own.__module__, own.__qualname__ = __name__, function.__name__
    return decorator(own)


def _ready(function: Any, names: dict[str, Any], version: str, signature: tuple[Any, ...]) -> Any:
    made = decorated(function, names, numba.njit(**MODE))
    made._cache = CodeCache(made.py_func, version)
    with compiler.alone():
        made.compile(signature)
        made.disable_compile()
    return made
