"""Complex lazy arrays, as transforms give them: pairs of real ones, of which all results and derivatives are real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from vecdist.lazy.array import LazyArray, as_lazy


@final
class ComplexArray(np.lib.mixins.NDArrayOperatorsMixin):
    """x + i y for two lazy arrays of one shape; ``np.asarray`` computes both.

    Sums, differences, products, quotients, ``abs``, ``np.conj``, ``np.exp``, ``np.square``, ``np.real``, ``np.imag``,
    ``np.angle``, sums over axes, indices and the transforms of ``np.fft`` are there.
    """

    __slots__ = ("imag", "real")
    __of_lazy_arrays__ = True  # so that a lazy array beside one leaves what they make together to it

    def __init__(self, real: LazyArray, imag: LazyArray) -> None:
        self.real, self.imag = real, imag

    @property
    def shape(self) -> tuple[int, ...]:
        return self.real.shape

    @property
    def ndim(self) -> int:
        return self.real.ndim

    @property
    def dtype(self) -> np.dtype:
        return np.result_type(self.real.dtype, np.complex64)

    def __len__(self) -> int:
        return len(self.real)

    def __getitem__(self, key: Any) -> ComplexArray:
        return ComplexArray(self.real[key], self.imag[key])

    def sum(self, axis: Any = None, keepdims: bool = False) -> ComplexArray:
        """The sum over ``axis``."""
        return ComplexArray(self.real.sum(axis, keepdims=keepdims), self.imag.sum(axis, keepdims=keepdims))

    def conj(self) -> ComplexArray:
        """x - i y."""
        return ComplexArray(self.real, -self.imag)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a complex lazy array has no memory to share: it is computed when it is asked for")
        found = np.asarray(np.asarray(self.real) + np.asarray(self.imag) * self.dtype.type(1j))
        return found if dtype is None else found.astype(dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        rule = UFUNCS.get(ufunc)
        if rule is None or method != "__call__" or keywords:
            raise TypeError(f"np.{ufunc.__name__} of a complex lazy array has no lazy form; compute it with np.asarray")
        return rule(*map(as_complex, inputs))

    def __array_function__(self, function: Callable, types: Any, args: Any, keywords: Any) -> Any:
        if function in FUNCTIONS:
            return FUNCTIONS[function](*args, **keywords)
        return LazyArray.__array_function__(self.real, function, types, args, keywords)

    def __repr__(self) -> str:
        return f"ComplexArray(shape={self.shape}, dtype={self.dtype})"


def as_complex(value: Any) -> ComplexArray:
    """A number, an array or a lazy array as a complex one."""
    if isinstance(value, ComplexArray):
        return value
    if not isinstance(value, LazyArray) and np.iscomplexobj(value):
        return ComplexArray(as_lazy(value.real), as_lazy(value.imag))
    real = as_lazy(value)
    return ComplexArray(real, 0.0 * real)


def _multiply(a: ComplexArray, b: ComplexArray) -> ComplexArray:
    return ComplexArray(a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real)


def _divide(a: ComplexArray, b: ComplexArray) -> ComplexArray:
    scale: Any = np.hypot(b.real, b.imag)  # whose square may not be representable where the quotient is
    x, y = b.real / scale, b.imag / scale
    return ComplexArray((a.real * x + a.imag * y) / scale, (a.imag * x - a.real * y) / scale)


def _exp(a: ComplexArray) -> ComplexArray:
    size: Any = np.exp(a.real)
    return ComplexArray(size * np.cos(a.imag), size * np.sin(a.imag))


def _imag(value: Any) -> Any:
    return value.imag if isinstance(value, ComplexArray) else 0.0 * value


UFUNCS: dict[np.ufunc, Callable[..., Any]] = {
    np.absolute: lambda a: np.hypot(a.real, a.imag),
    np.add: lambda a, b: ComplexArray(a.real + b.real, a.imag + b.imag),
    np.conjugate: lambda a: a.conj(),
    np.divide: _divide,
    np.exp: _exp,
    np.multiply: _multiply,
    np.negative: lambda a: ComplexArray(-a.real, -a.imag),
    np.positive: lambda a: a,
    np.square: lambda a: _multiply(a, a),
    np.subtract: lambda a, b: ComplexArray(a.real - b.real, a.imag - b.imag),
}
FUNCTIONS: dict[Callable, Callable[..., Any]] = {
    np.angle: lambda z, deg=False: np.arctan2(z.imag, z.real) * (180.0 / np.pi if deg else 1.0),
    np.imag: _imag,
    np.real: lambda val: val.real,
    np.sum: lambda a, axis=None, keepdims=False: a.sum(axis, keepdims),
}
