"""Compiled functions as a primitive of JAX, whose rules make calls of calls: along tangents, of cotangents, of rows.

So JAX differentiates it in either mode to any order, and maps it; each derivative and each batch is one kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.interop import client, xla_cuda
from vecdist.interop.calls import Call, Kind

jax: Any = client("jax")
ad: Any = client("jax.interpreters.ad")
batching: Any = client("jax.interpreters.batching")
mlir: Any = client("jax.interpreters.mlir")


def traced(call: Call) -> Callable[..., Any]:
    """The call of a compiled function as a function of JAX arrays."""

    def function(*arrays: Any) -> Any:
        operands = [jax.numpy.asarray(array) for array in arrays]
        for place, each in enumerate(operands):
            if each.dtype not in (np.float64, np.float32) and each.dtype.kind not in "biu":
                raise TypeError(f"known are float32, float64, integers and booleans; argument {place} is {each.dtype}")
        (kind,) = call.kinds(_kinds(operands))
        if jax.dtypes.canonicalize_dtype(kind.dtype) != kind.dtype:
            hint = 'jax.config.update("jax_enable_x64", True) lets JAX have it'
            raise TypeError(f"the value of {call.compiled.__name__} is of {kind.dtype}; {hint}")
        return called.bind(*operands, call=call)[0]

    function.__name__ = call.compiled.__name__
    function.__doc__ = call.compiled.__doc__
    return function


def _kinds(operands: Sequence[Any]) -> list[Kind]:
    return [Kind(tuple(each.shape), np.dtype(each.dtype)) for each in operands]


def _shapes(operands: Sequence[Any], call: Call) -> list[Any]:
    return [jax.ShapeDtypeStruct(*kind) for kind in call.kinds(_kinds(operands))]


def _derived(primals: Sequence[Any], tangents: Sequence[Any], call: Call) -> tuple[Any, Any]:
    """The values, and their derivatives along the tangents that there are."""
    values = called.bind(*primals, call=call)
    active = [place for place, each in enumerate(tangents) if type(each) is not ad.Zero]
    if not active or values[0].dtype.kind != "f":
        return values, [ad.Zero(jax.typeof(value).to_tangent_aval()) for value in values]
    seeds = [tangents[place] for place in active]
    return values, called.bind(*primals, *seeds, call=call.pushed(active))


def _transposed(cotangents: Sequence[Any], *operands: Any, call: Call) -> list[Any]:
    """The cotangents of seeds, in which a tower is linear: pushing is what pulling is the transpose of."""
    other, count = call.transposed()
    below, seeds = operands[: len(operands) - count], operands[len(operands) - count :]
    found = called.bind(*below, *map(ad.instantiate_zeros, cotangents), call=other)
    each = zip(seeds, found, strict=True)
    return [*[None] * len(below), *(new if ad.is_undefined_primal(seed) else None for seed, new in each)]


def _batched(operands: Sequence[Any], axes: Sequence[Any], call: Call) -> tuple[Any, Any]:
    count = next(each.shape[axis] for each, axis in zip(operands, axes, strict=True) if axis is not None)
    many, rows = call.batched([axis is not None for axis in axes])
    given = [
        jax.numpy.moveaxis(each, axis, 0) if axis is not None
        else jax.numpy.broadcast_to(each, (count, *each.shape)) if row
        else each
        for each, axis, row in zip(operands, axes, rows, strict=True)
    ]
    results = called.bind(*given, call=many)
    return results, [0] * len(results)


def _called_back(*operands: Any, call: Call) -> list[Any]:
    """Back in Python, which computes on the CPU."""
    return jax.pure_callback(
        lambda *arrays: list(call([*map(np.asarray, arrays)])), _shapes(operands, call), *operands
    )


def _launched(*operands: Any, call: Call) -> list[Any]:
    """A launch on a GPU; back in Python where there is none."""
    try:
        words, scratch = xla_cuda.prepared_call(call, _kinds(operands))
    except (ImportError, NotImplementedError):
        return _called_back(*operands, call=call)
    room = jax.ShapeDtypeStruct((max(1, scratch),), np.uint8)
    ffi = jax.ffi.ffi_call(xla_cuda.TARGET, (*_shapes(operands, call), room))
    return list(ffi(*operands, launch=np.int64(words.ctypes.data))[:-1])


def _on_one_device(way: Callable[..., list[Any]]) -> Callable[..., Any]:
    """The lowering of a call; an error where its operands are spread over several devices."""
    inner = mlir.lower_fun(way, multiple_results=True)

    def lowered(context: Any, *operands: Any, call: Call) -> Any:
        devices = getattr(context.module_context.axis_context, "num_devices", None) or 1
        if devices > 1:
            raise NotImplementedError(
                f"a vecdist function runs on one device; this program is spread over {devices}. Within jax.shard_map "
                "each device calls it with its own part"
            )
        return inner(context, *operands, call=call)

    return lowered


called: Any = client("jax.extend.core").Primitive("vecdist_call")
called.multiple_results = True
called.def_impl(jax.jit(lambda *operands, call: called.bind(*operands, call=call), static_argnames="call"))
called.def_abstract_eval(lambda *operands, call: [jax.core.ShapedArray(*each) for each in call.kinds(_kinds(operands))])
ad.primitive_jvps[called] = _derived
ad.primitive_transposes[called] = _transposed
batching.primitive_batchers[called] = _batched
mlir.register_lowering(called, _on_one_device(_called_back))
mlir.register_lowering(called, _on_one_device(_launched), platform="cuda")
