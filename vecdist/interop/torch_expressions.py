"""Functions of PyTorch within expressions: called between kernels, and differentiated by ``torch.func``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.interop import client
from vecdist.interop.calls import Kind
from vecdist.interop.opaque import Function, Library

torch: Any = client("torch")


def _kinds(f: Function, kinds: Sequence[Kind]) -> list[Kind]:
    """By tensors that hold nothing; what the function holds, as the weights of a module, is there."""
    fake = client("torch._subclasses.fake_tensor").FakeTensorMode(allow_non_fake_inputs=True)
    with fake, torch.no_grad():
        given = [torch.empty(kind.shape, dtype=getattr(torch, kind.dtype.name)) for kind in kinds]
        return [Kind(tuple(each.shape), np.dtype(str(each.dtype).removeprefix("torch."))) for each in f(*given)]


def _runs(f: Function) -> Function:
    def run(*arrays: Any) -> tuple[Any, ...]:
        if all(isinstance(array, np.ndarray | np.generic) for array in arrays):
            with torch.no_grad():  # of weights, which are constants; torch.func does not heed it
                found = f(*[torch.from_numpy(np.require(array, requirements="W")) for array in arrays])
            return tuple(each.numpy() for each in found)
        cupy = client("cupy")
        device = cupy.cuda.runtime.getDevice()
        stream = torch.cuda.ExternalStream(cupy.cuda.get_current_stream().ptr, device)
        with torch.cuda.stream(stream), torch.no_grad():
            return tuple(map(cupy.from_dlpack, f(*map(torch.from_dlpack, arrays))))

    return run


def _split(f: Function, arrays: Sequence[Any], active: Sequence[int]) -> Callable[..., tuple[Any, ...]]:
    """The floating-point results, as a function of the arguments in ``active`` alone."""

    def of_active(*given: Any) -> tuple[Any, ...]:
        places = dict(zip(active, given, strict=True))
        found = f(*(places.get(place, array) for place, array in enumerate(arrays)))
        return tuple(each for each in found if each.is_floating_point())

    return of_active


def _pulled(f: Function, count: int, active: tuple[int, ...]) -> Function:
    def pulled(*given: Any) -> tuple[Any, ...]:
        arrays, cotangents = given[:count], given[count:]
        _, pull = torch.func.vjp(_split(f, arrays, active), *(arrays[place] for place in active))
        return pull(tuple(cotangents))

    return pulled


def _pushed(f: Function, count: int, active: tuple[int, ...]) -> Function:
    def pushed(*given: Any) -> tuple[Any, ...]:
        arrays, tangents = given[:count], given[count:]
        return torch.func.jvp(_split(f, arrays, active), tuple(arrays[place] for place in active), tuple(tangents))[1]

    return pushed


LIBRARY = Library(_kinds, _runs, _pulled, _pushed)
