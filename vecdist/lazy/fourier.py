"""NumPy's discrete Fourier transforms of lazy arrays: calls of its own, or of CuPy's, with derivatives of any order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from vecdist.graph.leaves import number
from vecdist.lazy.array import LazyArray, as_lazy, where
from vecdist.lazy.complex_arrays import ComplexArray, as_complex
from vecdist.lazy.joining import along
from vecdist.lazy.rearranging import zeros_around
from vecdist.primitives.calls import Call, called
from vecdist.primitives.transforms import BACKWARD, FORWARD, HALVES, REALS

Pair = tuple[LazyArray, ...]
NORMS = {None: 0, "backward": 0, "ortho": 1, "forward": 2}  # the halves of 1 / n that transforms forwards have


def _scale(norm: str | None, length: int, forwards: bool) -> float:
    """What a transform of ``length`` elements is multiplied by."""
    if norm not in NORMS:
        raise ValueError(f"norm is one of backward, ortho and forward, not {norm!r}")
    halves = NORMS[norm] if forwards else 2 - NORMS[norm]
    return {0: 1.0, 1: 1.0 / math.sqrt(length), 2: 1.0 / length}[halves]


def _fitted(x: LazyArray, n: int | None, axis: int) -> LazyArray:
    """An array of floats cut, or filled up with zeros, to n elements along the last axis, where ``axis`` is put."""
    floats: Any = x if x.dtype.kind == "f" else x.astype(np.float64)
    moved: Any = np.moveaxis(floats, axis, -1)
    length = moved.shape[-1] if n is None else n
    if length < 1:
        raise ValueError(f"a transform of {length} elements, along axis {axis} of an array of shape {x.shape}")
    if length <= moved.shape[-1]:
        return moved[..., :length]
    return zeros_around(moved, [*[(0, 0)] * (moved.ndim - 1), (0, length - moved.shape[-1])])


def _called(call: Call, given: Sequence[LazyArray], length: int, scale: float, axis: int) -> Pair:
    """The results of a transform of the last axis, which is put back to where it was."""
    shape, dtype = (*given[0].shape[:-1], length), given[0].dtype
    kinds = ((shape, dtype),) * (1 if call in HALVES else 2)
    found = [LazyArray(node) for node in called(call, [each.node for each in given], kinds)]
    scaled = found if scale == 1.0 else [each * dtype.type(scale) for each in found]
    return tuple([np.moveaxis(each, -1, axis) for each in scaled])  # type: ignore[misc]


def _whole(call: Call, forwards: bool) -> Callable[..., ComplexArray]:
    def transform(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> ComplexArray:
        z = as_complex(a)
        place = normalize_axis_index(axis, z.ndim)
        real, imag = _fitted(z.real, n, place), _fitted(z.imag, n, place)
        length = real.shape[-1]
        return ComplexArray(*_called(call, (real, imag), length, _scale(norm, length, forwards), place))

    return transform


_fft, _ifft = _whole(FORWARD, True), _whole(BACKWARD, False)


def _real(a: Any, name: str) -> LazyArray:
    if isinstance(a, ComplexArray):
        raise TypeError(f"np.fft.{name} is of real arrays, and was given a complex one")
    return as_lazy(a)


def _rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> ComplexArray:
    x = _real(a, "rfft")
    place = normalize_axis_index(axis, x.ndim)
    fitted = _fitted(x, n, place)
    length = fitted.shape[-1]
    return ComplexArray(*_called(REALS[length % 2], (fitted,), length // 2 + 1, _scale(norm, length, True), place))


def _irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> LazyArray:
    z = as_complex(a)
    place = normalize_axis_index(axis, z.ndim)
    length = 2 * (z.shape[place] - 1) if n is None else n
    if length < 1:
        raise ValueError(f"np.fft.irfft to {length} elements, along axis {axis} of an array of shape {z.shape}")
    half = length // 2 + 1
    real, imag = (_fitted(each, half, place) for each in (z.real, z.imag))
    at, whole = LazyArray(along(z.ndim - 1, half, z.ndim)), LazyArray(number(length, np.dtype(np.int64)))
    weight = where((at == 0) | (2 * at == whole), 1.0, 2.0).astype(real.dtype)
    given = (weight * real, weight * imag)
    return _called(HALVES[length % 2], given, length, _scale(norm, length, False), place)[0]


def _axes(ndim: int, s: Any, axes: Any) -> list[tuple[int, int | None]]:
    """The axes that a transform of several is over, with the lengths to which they are cut or filled up."""
    if axes is None:
        axes = range(ndim) if s is None else range(ndim - len(s), ndim)
    places = normalize_axis_tuple(axes, ndim, allow_duplicate=True)
    lengths = [None] * len(places) if s is None else [None if each == -1 else each for each in s]
    if len(lengths) != len(places):
        raise ValueError(f"{len(lengths)} lengths are given for {len(places)} axes")
    return list(zip(places, lengths, strict=True))


def _of_axes(one: Callable[..., Any], last: Callable[..., Any] | None, default: Any) -> Callable[..., Any]:
    """A transform over several axes: that of real numbers goes over the last one first, and its inverse at the end."""

    def transform(a: Any, s: Any = None, axes: Any = default, norm: str | None = None) -> Any:
        found: Any = a
        (*others, final) = _axes(np.ndim(a) if not isinstance(a, ComplexArray) else a.ndim, s, axes)
        if last is _rfft:
            found = _rfft(found, final[1], final[0], norm)
        for place, length in reversed(others if last else [*others, final]):
            found = one(found, length, place, norm)
        return _irfft(found, final[1], final[0], norm) if last is _irfft else found

    return transform


def _hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> LazyArray:
    other = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
    return _irfft(as_complex(a).conj(), n, axis, other[norm])


def _ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> ComplexArray:
    other = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
    return _rfft(a, n, axis, other[norm]).conj()


def _rolled(forwards: bool) -> Callable[..., Any]:
    def shift(x: Any, axes: Any = None) -> Any:
        if isinstance(x, ComplexArray):
            return ComplexArray(shift(x.real, axes), shift(x.imag, axes))
        places = tuple(range(x.ndim)) if axes is None else normalize_axis_tuple(axes, x.ndim)
        return np.roll(x, [(1 if forwards else -1) * (x.shape[place] // 2) for place in places], places)

    return shift


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "fft": _fft,
    "fft2": _of_axes(_fft, None, (-2, -1)),
    "fftn": _of_axes(_fft, None, None),
    "fftshift": _rolled(True),
    "hfft": _hfft,
    "ifft": _ifft,
    "ifft2": _of_axes(_ifft, None, (-2, -1)),
    "ifftn": _of_axes(_ifft, None, None),
    "ifftshift": _rolled(False),
    "ihfft": _ihfft,
    "irfft": _irfft,
    "irfft2": _of_axes(_ifft, _irfft, (-2, -1)),
    "irfftn": _of_axes(_ifft, _irfft, None),
    "rfft": _rfft,
    "rfft2": _of_axes(_fft, _rfft, (-2, -1)),
    "rfftn": _of_axes(_fft, _rfft, None),
}
