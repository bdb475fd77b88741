"""Functions of JAX within expressions: compiled by JAX, called between kernels, and differentiated by JAX."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.interop import client
from vecdist.interop.calls import Kind
from vecdist.interop.opaque import Function, Library

jax: Any = client("jax")


def _kinds(f: Function, kinds: Sequence[Kind]) -> list[Kind]:
    wrong = next((kind for kind in kinds if jax.dtypes.canonicalize_dtype(kind.dtype) != kind.dtype), None)
    if wrong is not None:
        hint = 'jax.config.update("jax_enable_x64", True) lets it have them'
        raise TypeError(f"an argument of a function of JAX is of {wrong.dtype}; {hint}")
    found = jax.eval_shape(f, *(jax.ShapeDtypeStruct(*kind) for kind in kinds))
    return [Kind(each.shape, np.dtype(each.dtype)) for each in found]


def _runs(f: Function) -> Function:
    jitted = jax.jit(f)

    def run(*arrays: Any) -> tuple[Any, ...]:
        if all(isinstance(array, np.ndarray | np.generic) for array in arrays):
            with jax.default_device(jax.devices("cpu")[0]):
                return tuple(map(np.asarray, jitted(*arrays)))
        return tuple(map(client("cupy").from_dlpack, jitted(*map(jax.dlpack.from_dlpack, arrays))))

    return run


def _split(f: Function, arrays: Sequence[Any], active: Sequence[int]) -> Callable[..., tuple[Any, ...]]:
    """The floating-point results, as a function of the arguments in ``active`` alone."""

    def of_active(*given: Any) -> tuple[Any, ...]:
        places = dict(zip(active, given, strict=True))
        found = f(*(places.get(place, array) for place, array in enumerate(arrays)))
        return tuple(each for each in found if jax.numpy.issubdtype(each.dtype, jax.numpy.floating))

    return of_active


def _pulled(f: Function, count: int, active: tuple[int, ...]) -> Function:
    def pulled(*given: Any) -> tuple[Any, ...]:
        arrays, cotangents = given[:count], given[count:]
        _, pull = jax.vjp(_split(f, arrays, active), *(arrays[place] for place in active))
        return pull(cotangents)

    return pulled


def _pushed(f: Function, count: int, active: tuple[int, ...]) -> Function:
    def pushed(*given: Any) -> tuple[Any, ...]:
        arrays, tangents = given[:count], given[count:]
        return jax.jvp(_split(f, arrays, active), tuple(arrays[place] for place in active), tangents)[1]

    return pushed


LIBRARY = Library(_kinds, _runs, _pulled, _pushed)
