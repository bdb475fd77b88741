"""The ways in which JAX calls a log density: as a foreign function of the CPU, as a launch, or back in Python.

Each gives the value and the gradient at ``x``, of shape (..., D).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.interop import calls_python, client, xla, xla_cuda
from vecdist.model.logdensity import LogDensity

jax: Any = client("jax")
_kept: list[LogDensity] = []  # compiled programs hold addresses, and nothing tells when the last of them is gone


def foreign(density: LogDensity) -> dict[str, Callable[[Any], Any]]:
    """By platform, the calls that need no Python."""
    ways = {"cuda": functools.partial(_launched, density)}
    return {**ways, "cpu": functools.partial(_called, density)} if _addressed(density) else ways


def _addressed(density: LogDensity) -> bool:
    """Whether XLA can call it on the CPU; if so it is kept, else a warning says why not."""
    try:
        _ = density.c_batch_address, density.c_logp_address, xla.registered()
    except NotImplementedError as error:
        if density.device == "cpu":
            calls_python("JAX", error)
        return False
    _kept.append(density)
    return True


def _shapes(x: Any) -> tuple[Any, Any]:
    return jax.ShapeDtypeStruct(x.shape[:-1], x.dtype), jax.ShapeDtypeStruct(x.shape, x.dtype)


def called_back(density: LogDensity, x: Any) -> Any:
    """Back in Python, which computes on the CPU."""
    return jax.pure_callback(_host(density), _shapes(x), x, vmap_method="broadcast_all")


def _called(density: LogDensity, x: Any) -> Any:
    call = jax.ffi.ffi_call(xla.TARGET, _shapes(x), vmap_method="broadcast_all")
    return tuple(call(x, many=np.int64(density.c_batch_address), one=np.int64(density.c_logp_address)))


def _launched(density: LogDensity, x: Any) -> Any:
    """A launch, which depends on the shape of ``x`` and is made where JAX lowers: after ``vmap``, for a GPU alone."""
    return tuple(launch.bind(x, density=density))


def _lowered(x: Any, density: LogDensity) -> Any:
    try:
        words, scratch = xla_cuda.prepared(density, x.shape)
    except (ImportError, NotImplementedError):
        return called_back(density, x)
    room = jax.ShapeDtypeStruct((max(1, scratch),), np.uint8)
    *results, _ = jax.ffi.ffi_call(xla_cuda.TARGET, (*_shapes(x), room))(x, launch=np.int64(words.ctypes.data))
    return tuple(results)


def _batched(given: Any, axes: Any, density: LogDensity) -> Any:
    return launch.bind(jax.numpy.moveaxis(*given, *axes, 0), density=density), (0, 0)


launch: Any = client("jax.extend.core").Primitive("vecdist_launch")
launch.multiple_results = True
launch.def_impl(jax.jit(lambda x, density: launch.bind(x, density=density), static_argnames="density"))
launch.def_abstract_eval(lambda x, density: [jax.core.ShapedArray(each.shape, each.dtype) for each in _shapes(x)])
client("jax.interpreters.batching").primitive_batchers[launch] = _batched
mlir: Any = client("jax.interpreters.mlir")
mlir.register_lowering(launch, mlir.lower_fun(_lowered, multiple_results=True), platform="cuda")


def _host(density: LogDensity) -> Callable[[Any], Any]:
    def evaluate(x: Any) -> Any:
        value, gradient = density.logdensity_and_gradient(np.asarray(x))
        return np.asarray(value, density.dtype), gradient

    return evaluate
