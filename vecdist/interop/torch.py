"""PyTorch: log densities and compiled functions as functions of tensors that autograd and torch.func differentiate."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.interop import client
from vecdist.interop.calls import Call
from vecdist.lazy.compiled import Compiled
from vecdist.model.logdensity import LogDensity

torch: Any = client("torch")


def function(density: LogDensity | Compiled) -> Callable[..., Any]:
    """A log density, or any function that ``vecdist.compile`` gives, as a function of tensors.

    A compiled function takes tensors of the shapes and dtypes that it takes elsewhere, and gives one tensor.  It has
    derivatives of any order, in forward and reverse mode, and ``torch.func.vmap``; each of these is one kernel.
    ``torch.compile(fullgraph=True)`` takes it as the operation ``vecdist::call``, with its gradient, but
    without what is of ``torch.func`` inside of what it compiles.  Invalid parameters give NaN.  ``TypeError`` for
    functions that raise, for other dtypes, and for tensors on several devices.

    A log density is a function of shape (..., D), with its gradient: one kernel call for both.
    The kernel reads and writes tensors where they lie, without a copy: on the CPU, or on an NVIDIA GPU, where it is
    launched on PyTorch's stream.  ``torch.func.vmap`` makes one call of many vectors.  ``TypeError`` for another dtype
    or device, ``ValueError`` for another length, ``NotImplementedError`` for second derivatives.

    >>> import torch, vecdist, vecdist.interop
    >>> from vecdist.parameters import real
    >>> density = vecdist.LogDensity(lambda mu: -0.5 * mu**2, mu=real())
    >>> f = vecdist.interop.torch.function(density)
    >>> x = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    >>> f(x).backward()
    >>> x.grad
    tensor([-3.], dtype=torch.float64)
    >>> cube = vecdist.interop.torch.function(vecdist.compile(lambda x: x**3))
    >>> torch.func.hessian(cube)(torch.tensor(2.0))
    tensor(12.)
    """
    if isinstance(density, Compiled):
        from vecdist.interop.torch_functions import traced

        return traced(Call.of(density))
    return lambda x: _Evaluate.apply(x, density)[0]


def expression(f: Callable[..., Any]) -> Callable[..., Any]:
    """A PyTorch function of tensors, or a module, as a function of lazy arrays: for models that hold such parts.

    It is called between kernels, on tensors that share memory with the arrays, on the CPU or on a GPU and the current
    stream.  It gives a tensor or a tuple of them, and has the derivatives that ``torch.func`` has for it, to any order;
    the weights of a module are constants.

    >>> import numpy as np, torch, vecdist, vecdist.interop
    >>> softplus, x = vecdist.interop.torch.expression(torch.nn.Softplus()), np.array([0.0, 1.0])
    >>> value, slope = vecdist.value_and_grad((softplus(vecdist.lazy(x)) ** 2).sum(), wrt=x)
    >>> slope.round(4).tolist()
    [0.6931, 1.9201]
    """
    from vecdist.interop import opaque, torch_expressions

    return opaque.expression(torch_expressions.LIBRARY, f)


def _on_gpu(x: Any, density: LogDensity) -> tuple[Any, ...]:
    """The value and the gradient, launched on PyTorch's stream."""
    cupy = client("cupy")
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream(x.device).cuda_stream)
    with cupy.cuda.Device(x.device.index), stream:
        value, gradient = density.logdensity_and_gradient(cupy.from_dlpack(x))
        return torch.from_dlpack(value.astype(density.dtype, copy=False)), torch.from_dlpack(gradient)


class _Gradient(torch.autograd.Function):
    """The gradient, which cannot be differentiated once more; without this it would be taken for a constant."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, gradient: Any) -> Any:
        return gradient.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        raise NotImplementedError("this log density has no second derivatives in PyTorch; its method hessian has")


class _Evaluate(torch.autograd.Function):
    @staticmethod
    def forward(x: Any, density: LogDensity) -> tuple[Any, Any]:
        if x.device.type not in {"cpu", "cuda"} or x.dtype != getattr(torch, density.dtype.name):
            raise TypeError(f"a log density of {density.dtype} vectors, given {x.dtype} on {x.device}")
        if x.device.type == "cuda":
            return _on_gpu(x.detach(), density)
        value, gradient = density.logdensity_and_gradient(x.detach().numpy())
        return torch.from_numpy(np.asarray(value, density.dtype)), torch.from_numpy(gradient)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(inputs[0], output[1])

    @staticmethod
    def backward(ctx: Any, cotangent: Any, _: Any) -> tuple[Any, None]:
        x, gradient = ctx.saved_tensors
        if torch.is_grad_enabled():  # someone may differentiate it
            gradient = _Gradient.apply(x, gradient)
        return cotangent[..., None] * gradient, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, x: Any, density: LogDensity) -> tuple[Any, Any]:
        return _Evaluate.apply(x.movedim(in_dims[0], 0), density), (0, 0)


for _kind in (_Evaluate, _Gradient):  # PyTorch asks for it in each call, which takes longer than the kernel
    _kind.forward.__signature__ = inspect.signature(_kind.forward)
