"""nutpie's private way to call C functions: the class of the models that it compiles for PyMC."""

from __future__ import annotations

import ctypes
import dataclasses
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from vecdist.interop import client
from vecdist.model.logdensity import LogDensity

KNOWN = "0.16."  # versions whose C functions have these signatures; 0.16.8 and 0.16.11 were tried
EXPAND = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, *[ctypes.c_void_p] * 3)


def by_address(density: LogDensity, dims: Any, coords: Any, start: Callable[[Any], Any]) -> Any:
    """A model whose gradients are calls of ``density.c_logp_address``; draws are unpacked by Python.

    Raises ``NotImplementedError`` where the log density has no address, ``AttributeError`` or ``TypeError`` where the
    class is not there or wants something else.
    """
    kind = client("nutpie.compile_pymc").CompiledPyMCModel
    logp, expand = SimpleNamespace(address=density.c_logp_address), _expansion(density)
    sizes = sum(map(math.prod, density.shapes.values()))
    given = {
        "dims": dims, "_coords": coords, "_n_dim": density.ndim, "_shapes": density.shapes, "n_expanded": sizes,
        "shape_info": (list(density.names), None, list(density.shapes.values())), "initial_point_func": start,
        "compiled_logp_func": logp, "compiled_expand_func": expand, "logp_func": density, "expand_func": expand,
        "shared_data": {}, "shared_var_keys": {}, "user_data": np.zeros(1),
    }  # fmt: skip
    wanted = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in given.items() if name in wanted})


def _expansion(density: LogDensity) -> Any:
    """A C function that writes the constrained parameters of a vector, one after another."""

    def expand(size: int, count: int, x: Any, out: Any, _: Any) -> int:
        vector = np.ctypeslib.as_array((ctypes.c_double * size).from_address(x))
        flat = np.ctypeslib.as_array((ctypes.c_double * count).from_address(out))
        with np.errstate(all="ignore"):
            arrays, _ = density.joint.constrained(vector)  # views will do: unpack would copy each of them first
        np.concatenate([array.ravel() for array in arrays.values()], out=flat)
        return 0

    function = EXPAND(expand)
    return SimpleNamespace(address=ctypes.cast(function, ctypes.c_void_p).value, function=function)
