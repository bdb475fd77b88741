"""JAX: a log density as a function that JAX traces, differentiates, maps and compiles; so do BlackJAX and NumPyro."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.interop import client
from vecdist.interop.xla import TARGET, registered
from vecdist.logdensity import LogDensity

jax: Any = client("jax")
_kept: list[LogDensity] = []  # compiled programs hold addresses, and nothing tells when the last of them is gone


def function(density: LogDensity, foreign: bool = True) -> Callable[[Any], Any]:
    """The log density as a function of JAX arrays of shape (..., D), with its gradient: one kernel call for both.

    On the CPU compiled programs call the kernel directly, as an XLA foreign function; ``density`` then lives as long as
    the process.  With ``foreign=False``, on other devices, and for log densities without a C function, as in float32,
    they call back into Python, which computes on the CPU.  ``vmap`` makes one call of many vectors.  There are no
    second derivatives and no forward mode.  ``TypeError`` for another dtype, ``ValueError`` for another length, when
    traced.

    >>> import jax, vecdist, vecdist.interop
    >>> from vecdist.parameters import real
    >>> jax.config.update("jax_enable_x64", True)
    >>> density = vecdist.LogDensity(lambda mu: -0.5 * mu**2, mu=real())
    >>> f = vecdist.interop.jax.function(density)
    >>> float(f(jax.numpy.array([3.0]))), jax.grad(f)(jax.numpy.array([3.0]))
    (-4.5, Array([-3.], dtype=float64))
    """
    foreign = foreign and _addressed(density)

    def both(x: Any) -> Any:
        shapes = jax.ShapeDtypeStruct(x.shape[:-1], x.dtype), jax.ShapeDtypeStruct(x.shape, x.dtype)

        def calling_back(x: Any) -> Any:
            return jax.pure_callback(_host(density), shapes, x, vmap_method="broadcast_all")

        def calling(x: Any) -> Any:
            foreign = jax.ffi.ffi_call(TARGET, shapes, vmap_method="broadcast_all")
            return tuple(foreign(x, many=np.int64(density.c_batch_address), one=np.int64(density.c_logp_address)))

        return jax.lax.platform_dependent(x, cpu=calling, default=calling_back) if foreign else calling_back(x)

    value = jax.custom_vjp(lambda x: both(x)[0])
    value.defvjp(both, lambda gradient, cotangent: (cotangent[..., None] * gradient,))
    return lambda x: value(_checked(density, x))


def _addressed(density: LogDensity) -> bool:
    """Whether XLA can call it; if so it is kept."""
    try:
        _ = density.c_batch_address, density.c_logp_address, registered()
    except NotImplementedError:
        return False
    _kept.append(density)
    return True


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
