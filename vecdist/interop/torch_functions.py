"""Compiled functions as an operation of PyTorch, whose rules make calls of calls: of cotangents, tangents, and rows.

The operation ``vecdist::call`` is what ``torch.compile`` sees: it knows calls by number.  It has no forward mode, which
PyTorch has for ``autograd.Function`` alone; so that is what runs where nothing is being compiled.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.interop import client
from vecdist.interop.calls import Call, Kind

torch: Any = client("torch")
Way = Callable[[int, Sequence[Any]], Sequence[Any]]
_calls: list[Call] = []  # by number; compiled programs hold numbers, and nothing tells when the last of them is gone


def traced(call: Call) -> Callable[..., Any]:
    """The call of a compiled function as a function of tensors."""
    number = _number(call)

    def function(*tensors: Any) -> Any:
        return _bound(number, [*map(torch.as_tensor, tensors)])[0]

    function.__name__ = call.compiled.__name__
    function.__doc__ = call.compiled.__doc__
    return function


@functools.cache
def _number(call: Call) -> int:
    _calls.append(call)
    return len(_calls) - 1


def _bound(number: int, tensors: Sequence[Any]) -> Sequence[Any]:
    way = operation if torch.compiler.is_compiling() else _applied
    return way(number, list(tensors))


def _applied(number: int, tensors: Sequence[Any]) -> Sequence[Any]:
    return _Called.apply(number, *tensors)


def _kinds(tensors: Sequence[Any]) -> list[Kind]:
    return [Kind(tuple(map(int, each.shape)), _dtype(each)) for each in tensors]


def _dtype(tensor: Any) -> np.dtype[Any]:
    if tensor.dtype in (torch.float16, torch.bfloat16) or tensor.dtype.is_complex:
        raise TypeError(f"known are float32, float64, integers and booleans; given a tensor of {tensor.dtype}")
    return np.dtype(str(tensor.dtype).removeprefix("torch."))


def _pulled(
    way: Way, number: int, tensors: Sequence[Any], cotangents: Sequence[Any], needed: Sequence[bool]
) -> list[Any]:
    """The cotangents of those tensors that need them."""
    active = tuple(place for place, need in enumerate(needed) if need and tensors[place].is_floating_point())
    found = way(_number(_calls[number].pulled(active)), [*tensors, *cotangents])
    places = dict(zip(active, found, strict=True))
    return [places.get(place) for place in range(len(tensors))]


def _mapped(way: Way, count: int, axes: Sequence[Any], number: int, tensors: Sequence[Any]) -> tuple[Any, Any]:
    many, rows = _calls[number].batched([axis is not None for axis in axes])
    given = [
        each.movedim(axis, 0) if axis is not None else each.expand(count, *each.shape) if row else each
        for each, axis, row in zip(tensors, axes, rows, strict=True)
    ]
    results = way(_number(many), given)
    return results, [0] * len(results) if isinstance(results, list) else (0,) * len(results)


def _computed(number: int, tensors: Sequence[Any]) -> list[Any]:
    """The results where the tensors lie: on the CPU, or launched on PyTorch's stream."""
    _kinds(tensors)
    tensors = [each.detach().contiguous() for each in tensors]
    devices = {each.device for each in tensors}
    if len(devices) != 1 or next(iter(devices)).type not in {"cpu", "cuda"}:
        raise TypeError(f"a vecdist function of tensors on the CPU, or on one GPU; given {sorted(map(str, devices))}")
    (device,) = devices
    if device.type == "cpu":
        return [torch.from_numpy(np.asarray(each)) for each in _calls[number]([each.numpy() for each in tensors])]
    cupy = client("cupy")
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream(device).cuda_stream)
    with cupy.cuda.Device(device.index), stream:
        return [torch.from_dlpack(each) for each in _calls[number](list(map(cupy.from_dlpack, tensors)))]


class _Called(torch.autograd.Function):
    @staticmethod
    def forward(number: int, *tensors: Any) -> tuple[Any, ...]:
        return tuple(_computed(number, tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.number = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])
        ctx.differentiable = output[0].is_floating_point()
        ctx.mark_non_differentiable(*[each for each in output if not each.is_floating_point()])

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> tuple[Any, ...]:
        return None, *_pulled(_applied, ctx.number, ctx.saved_tensors, cotangents, ctx.needs_input_grad[1:])

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        active = tuple(place for place, each in enumerate(tangents) if each is not None)
        if not ctx.differentiable:
            return (None,)
        seeds = [tangents[place] for place in active]
        return tuple(_applied(_number(_calls[ctx.number].pushed(active)), [*ctx.saved_tensors, *seeds]))

    @staticmethod
    def vmap(info: Any, axes: Any, number: int, *tensors: Any) -> tuple[Any, Any]:
        return _mapped(_applied, info.batch_size, axes[1:], number, tensors)


_Called.forward.__signature__ = inspect.signature(_Called.forward)  # PyTorch asks for it in each call


def _fake(number: int, tensors: Sequence[Any]) -> list[Any]:
    kinds = _calls[number].kinds(_kinds(tensors))
    return [tensors[0].new_empty(kind.shape, dtype=getattr(torch, kind.dtype.name)) for kind in kinds]


def _saved(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.number, ctx.needed = inputs[0], [each.requires_grad for each in inputs[1]]
    ctx.save_for_backward(*inputs[1])


operation: Any = torch.library.custom_op(
    "vecdist::call", _computed, mutates_args=(), schema="(int number, Tensor[] tensors) -> Tensor[]"
)
operation.register_fake(_fake)
operation.register_autograd(
    lambda ctx, cotangents: (None, _pulled(operation, ctx.number, ctx.saved_tensors, cotangents, ctx.needed)),
    setup_context=_saved,
)
operation.register_vmap(
    lambda info, axes, number, tensors: _mapped(operation, info.batch_size, axes[1], number, tensors)
)
