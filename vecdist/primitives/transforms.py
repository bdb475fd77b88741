"""Discrete Fourier transforms along the last axis, as calls of NumPy's or CuPy's, of pairs of real and imaginary parts.

None is divided by a length, so that each is the adjoint of another: with w = exp(2 pi i / n), ``FORWARD`` and
``BACKWARD`` are sums of z_t w^(-kt) and of z_k w^(kt), ``REALS`` are the first half of the first for real numbers, and
``HALVES`` the real part of the sum of z_k w^(kt) over the first half alone, each for an even and an odd n.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from vecdist.graph.node import Node, const
from vecdist.primitives.calls import Call, Kinds, called, signature
from vecdist.primitives.structure import full

Nodes = Sequence[Node]


def _fft(array: Any) -> Any:
    """The module of transforms of the library whose array it is."""
    return np.fft if isinstance(array, np.ndarray) else importlib.import_module("cupy").fft


def _joined(real: Any, imaginary: Any) -> Any:
    """Complex numbers of as many digits as their parts."""
    return real + imaginary * np.result_type(real.dtype, np.complex64).type(1j)


def _forward(real: Any, imaginary: Any) -> tuple[Any, Any]:
    found = _fft(real).fft(_joined(real, imaginary))
    return found.real, found.imag


def _backward(real: Any, imaginary: Any) -> tuple[Any, Any]:
    found = _fft(real).ifft(_joined(real, imaginary), norm="forward")
    return found.real, found.imag


def _real(x: Any) -> tuple[Any, Any]:
    found = _fft(x).rfft(x)
    return found.real, found.imag


def _half(odd: int) -> Callable[[Any, Any], Any]:
    def half(real: Any, imaginary: Any) -> Any:
        length = 2 * real.shape[-1] - 2 + odd
        z = _joined(real, imaginary)
        z[..., 1 : (length + 1) // 2] *= 0.5  # which stand for themselves and for the second half
        return _fft(real).irfft(z, length, norm="forward")

    return half


def _kinds(nodes: Nodes) -> Kinds:
    return tuple([(node.shape, node.dtype) for node in nodes])


def _linear(name: str, function: Callable[..., Any], adjoint: Callable[[], Call], axes: str) -> Call:
    """A linear map, by its adjoint."""
    found: list[Call] = []

    def pull(args: Nodes, results: Nodes, cotangents: Nodes, ahead: int) -> Nodes:
        return called(adjoint(), cotangents, _kinds(args), ahead)

    def push(args: Nodes, results: Nodes, dots: Sequence[Node | None], ahead: int) -> Nodes:
        pairs = zip(dots, args, strict=True)
        given = [full(const(0, arg.dtype), arg.shape) if dot is None else dot for dot, arg in pairs]
        return called(found[0], given, _kinds(results), ahead)

    found.append(Call(name, function, pull, push, True, signature(axes)))
    return found[0]


FORWARD = _linear("fft", _forward, lambda: BACKWARD, "n,n->n,n")
BACKWARD = _linear("ifft", _backward, lambda: FORWARD, "n,n->n,n")
HALVES = tuple([_linear("irfft", _half(odd), lambda odd=odd: REALS[odd], "k,k->n") for odd in (0, 1)])
REALS = tuple([_linear("rfft", _real, lambda odd=odd: HALVES[odd], "n->k,k") for odd in (0, 1)])
