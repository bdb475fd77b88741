"""JAX: log densities and compiled functions as functions that JAX traces, differentiates, maps and compiles."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from vecdist.interop import client, jax_calls
from vecdist.interop.calls import Call
from vecdist.lazy.compiled import Compiled
from vecdist.model.logdensity import LogDensity

jax: Any = client("jax")


def function(density: LogDensity | Compiled, foreign: bool = True) -> Callable[..., Any]:
    """A log density, or any function that ``vecdist.compile`` gives, as a function of JAX arrays.

    A compiled function takes arrays of the shapes and dtypes that it takes elsewhere, and gives one of its own.  It has
    derivatives of any order, in forward and reverse mode, and ``vmap``; each of these is one kernel, launched on an
    NVIDIA GPU and called through Python on the CPU.  Invalid parameters give NaN.  ``NotImplementedError`` where
    operands are spread over several devices, ``TypeError`` for functions that raise, and for dtypes that JAX lacks.

    A log density is a function of shape (..., D), with its gradient: one kernel call for both.

    Compiled programs call the kernel directly, as an XLA foreign function; ``density`` then lives as long as the
    process.  On the CPU that is the C function of the log density, on an NVIDIA GPU, the current one of CuPy, a launch
    of its kernel.  With ``foreign=False``, and with a warning where there is neither, as in float32 on the CPU, they
    call back into Python, which computes on the CPU.  ``vmap`` makes one call of many vectors.  There are no second
    derivatives and no forward mode.  ``TypeError`` for another dtype, ``ValueError`` for another length, when traced.

    >>> import jax, vecdist, vecdist.interop
    >>> from vecdist.parameters import real
    >>> jax.config.update("jax_enable_x64", True)
    >>> density = vecdist.LogDensity(lambda mu: -0.5 * mu**2, mu=real())
    >>> f = vecdist.interop.jax.function(density)
    >>> float(f(jax.numpy.array([3.0]))), jax.grad(f)(jax.numpy.array([3.0]))
    (-4.5, Array([-3.], dtype=float64))
    >>> square = vecdist.interop.jax.function(vecdist.compile(lambda a, x: a * x**2))
    >>> jax.hessian(square, argnums=1)(2.0, 3.0)
    Array(4., dtype=float64, weak_type=True)
    """
    if isinstance(density, Compiled):
        from vecdist.interop.jax_functions import traced

        return traced(Call.of(density))
    branches = jax_calls.foreign(density) if foreign else {}

    def both(x: Any) -> Any:
        return jax.lax.platform_dependent(x, **branches, default=functools.partial(jax_calls.called_back, density))

    value = jax.custom_vjp(lambda x: both(x)[0])
    value.defvjp(both, lambda gradient, cotangent: (cotangent[..., None] * gradient,))
    return lambda x: value(_checked(density, x))


def expression(f: Callable[..., Any]) -> Callable[..., Any]:
    """A JAX function of arrays as one of lazy arrays: for models that hold what is written in JAX.

    It is called between kernels, compiled by JAX, on the device of the arrays, without copies on a GPU.  It gives an
    array or a tuple of them, and has the derivatives that JAX has for it, to any order.  ``TypeError`` for arguments of
    a dtype that JAX has not.

    >>> import jax, numpy as np, vecdist, vecdist.interop
    >>> softplus, x = vecdist.interop.jax.expression(jax.nn.softplus), np.array([0.0, 1.0], np.float32)
    >>> value, slope = vecdist.value_and_grad((softplus(vecdist.lazy(x)) ** 2).sum(), wrt=x)
    >>> slope.round(4).tolist()
    [0.6930999755859375, 1.9200999736785889]
    """
    from vecdist.interop import jax_expressions, opaque

    return opaque.expression(jax_expressions.LIBRARY, f)


def _checked(density: LogDensity, x: Any) -> Any:
    x = jax.numpy.asarray(x)
    if x.dtype != density.dtype:
        hint = "" if jax.config.jax_enable_x64 else '; jax.config.update("jax_enable_x64", True) lets JAX have float64'
        raise TypeError(f"a log density of {density.dtype} vectors, given {x.dtype}{hint}")
    if x.ndim == 0 or x.shape[-1] != density.ndim:
        raise ValueError(f"a log density of vectors of length {density.ndim}, given an array of shape {x.shape}")
    return x
