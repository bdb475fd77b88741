"""JAX: a log density as a function that JAX traces, differentiates, maps and compiles; so do BlackJAX and NumPyro."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.interop import client, xla, xla_cuda
from vecdist.logdensity import LogDensity

jax: Any = client("jax")
_kept: list[LogDensity] = []  # compiled programs hold addresses, and nothing tells when the last of them is gone


def function(density: LogDensity, foreign: bool = True) -> Callable[[Any], Any]:
    """The log density as a function of JAX arrays of shape (..., D), with its gradient: one kernel call for both.

    Compiled programs call the kernel directly, as an XLA foreign function; ``density`` then lives as long as the
    process.  On the CPU that is the C function of the log density, on an NVIDIA GPU, the current one of CuPy, a launch
    of its kernel.  With ``foreign=False``, and where there is neither, as in float32 on the CPU, they call back into
    Python, which computes on the CPU.  ``vmap`` makes one call of many vectors.  There are no second derivatives and no
    forward mode.  ``TypeError`` for another dtype, ``ValueError`` for another length, when traced.

    >>> import jax, vecdist, vecdist.interop
    >>> from vecdist.parameters import real
    >>> jax.config.update("jax_enable_x64", True)
    >>> density = vecdist.LogDensity(lambda mu: -0.5 * mu**2, mu=real())
    >>> f = vecdist.interop.jax.function(density)
    >>> float(f(jax.numpy.array([3.0]))), jax.grad(f)(jax.numpy.array([3.0]))
    (-4.5, Array([-3.], dtype=float64))
    """
    branches: dict[str, Callable[[Any], Any]] = {"cuda": functools.partial(_launched, density)} if foreign else {}
    if foreign and _addressed(density):
        branches["cpu"] = functools.partial(_called, density)

    def both(x: Any) -> Any:
        return jax.lax.platform_dependent(x, **branches, default=functools.partial(_called_back, density))

    value = jax.custom_vjp(lambda x: both(x)[0])
    value.defvjp(both, lambda gradient, cotangent: (cotangent[..., None] * gradient,))
    return lambda x: value(_checked(density, x))


def _addressed(density: LogDensity) -> bool:
    """Whether XLA can call it on the CPU; if so it is kept."""
    try:
        _ = density.c_batch_address, density.c_logp_address, xla.registered()
    except NotImplementedError:
        return False
    _kept.append(density)
    return True


def _shapes(x: Any) -> tuple[Any, Any]:
    return jax.ShapeDtypeStruct(x.shape[:-1], x.dtype), jax.ShapeDtypeStruct(x.shape, x.dtype)


def _called_back(density: LogDensity, x: Any) -> Any:
    return jax.pure_callback(_host(density), _shapes(x), x, vmap_method="broadcast_all")


def _called(density: LogDensity, x: Any) -> Any:
    foreign = jax.ffi.ffi_call(xla.TARGET, _shapes(x), vmap_method="broadcast_all")
    return tuple(foreign(x, many=np.int64(density.c_batch_address), one=np.int64(density.c_logp_address)))


def _launched(density: LogDensity, x: Any) -> Any:
    """The launch, which depends on the shape of ``x``, is made where JAX lowers: after ``vmap``, for a GPU alone."""
    return tuple(launch.bind(x, density=density))


def _lowered(x: Any, density: LogDensity) -> Any:
    try:
        words, scratch = xla_cuda.prepared(density, x.shape)
    except (ImportError, NotImplementedError):
        return _called_back(density, x)
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


def _checked(density: LogDensity, x: Any) -> Any:
    x = jax.numpy.asarray(x)
    if x.dtype != density.dtype:
        hint = "" if jax.config.jax_enable_x64 else '; jax.config.update("jax_enable_x64", True) lets JAX have float64'
        raise TypeError(f"a log density of {density.dtype} vectors, given {x.dtype}{hint}")
    if x.ndim == 0 or x.shape[-1] != density.ndim:
        raise ValueError(f"a log density of vectors of length {density.ndim}, given an array of shape {x.shape}")
    return x
