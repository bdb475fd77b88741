"""NumPy's polynomials of coefficients from the highest power down, and functions that are series or ratios."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.lazy.array import LazyArray, as_lazy, where
from vecdist.lazy.joining import along, concatenate, stack

NEAR = 0.1  # five terms of the series of sin(y) / y leave 3e-18 of it at most
SERIES = (1 / 362880, -1 / 5040, 1 / 120, -1 / 6, 1.0)


def _coefficients(p: Any) -> LazyArray:
    p = as_lazy(p)
    if p.ndim > 1:
        raise ValueError(f"coefficients stand along one axis, given shape {p.shape}")
    return p if p.ndim else p[None]


def _powers(p: LazyArray) -> LazyArray:
    """The powers that coefficients are those of."""
    return len(p) - 1 - LazyArray(along(0, len(p), 1))


def _polyval(p: Any, x: Any) -> LazyArray:
    """By Horner's rule."""
    p, x = _coefficients(p), as_lazy(x)
    found = x * 0
    for each in p:
        found = found * x + each
    return found


def _polyder(p: Any, m: int = 1) -> LazyArray:
    p = _coefficients(p)
    if m < 0:
        raise ValueError(f"np.polyder wants an order of 0 or more, given {m}")
    for _ in range(m):
        p = (p * _powers(p))[:-1]
    return p


def _polyint(p: Any, m: int = 1, k: Any = None) -> LazyArray:
    p, constants = _coefficients(p), as_lazy(0.0 if k is None else k).ravel()
    if m < 0:
        raise ValueError(f"np.polyint wants an order of 0 or more, given {m}")
    if m and len(constants) not in {1, m}:
        raise ValueError(f"np.polyint of order {m} wants a constant or {m}, given {len(constants)}")
    for turn in range(m):
        last = constants[turn if len(constants) == m else 0]
        p = concatenate([p / (_powers(p) + 1.0), last[None]])
    return p


def _sum(sign: int) -> Callable[..., LazyArray]:
    def added(a1: Any, a2: Any) -> LazyArray:
        first, second = _coefficients(a1), _coefficients(a2)
        length = max(len(first), len(second))
        first, second = (np.pad(each, (length - len(each), 0)) for each in (first, second))  # type: ignore[call-overload]
        return first + second if sign > 0 else first - second  # type: ignore[return-value]

    return added


def _polymul(a1: Any, a2: Any) -> LazyArray:
    return as_lazy(np.convolve(_coefficients(a1), _coefficients(a2)))  # type: ignore[call-overload]


def _poly(seq_of_zeros: Any) -> LazyArray:
    """The coefficients of the product of x less each zero."""
    zeros = as_lazy(seq_of_zeros)
    if zeros.ndim > 1:
        raise TypeError(f"np.poly of a lazy array wants zeros along one axis, given shape {zeros.shape}")
    zeros = zeros.ravel().astype(np.result_type(zeros.dtype, np.float64))
    found = as_lazy(1.0)[None]
    for each in zeros:
        found = concatenate([found, found[:1] * 0]) - concatenate([found[:1] * 0, found * each])
    return found


def _polyfit(x: Any, y: Any, deg: int, rcond: float | None = None, *, w: Any = None) -> LazyArray:
    """Least squares of columns of one length."""
    x, y = as_lazy(x) + 0.0, as_lazy(y) + 0.0
    if x.ndim != 1 or y.ndim not in {1, 2} or len(x) != len(y) or deg < 0 or not len(x):
        raise TypeError(f"np.polyfit of degree {deg} does not fit points of shapes {x.shape} and {y.shape}")
    columns = _vander(x, deg + 1)
    if w is not None:
        weights = as_lazy(w)
        columns, y = columns * weights[:, None], y * (weights[:, None] if y.ndim == 2 else weights)
    sizes = np.sqrt((columns * columns).sum(0))
    cut = len(x) * float(np.finfo(x.dtype).eps) if rcond is None else rcond
    found = as_lazy(np.linalg.lstsq(columns / sizes, y, cut)[0])
    return as_lazy((found.T / sizes).T)


def _vander(x: Any, N: int | None = None, increasing: bool = False) -> LazyArray:  # noqa: N803 (NumPy's name)
    x = as_lazy(x)
    if x.ndim != 1:
        raise ValueError(f"np.vander wants numbers along one axis, given shape {x.shape}")
    count, x = len(x) if N is None else int(N), x.astype(np.result_type(x.dtype, int))
    powers = [as_lazy(np.ones_like(x))]
    while len(powers) < count:
        powers.append(powers[-1] * x)
    if not count:
        return x[:, None][:, :0]
    return stack(powers if increasing else powers[::-1], 1)


def _sinc(x: Any) -> LazyArray:
    """sin(pi x) / (pi x), near 0 by its series, whose derivatives are right there too."""
    x = as_lazy(x)
    y = (x if x.dtype.kind == "f" else x.astype(np.float64)) * math.pi
    square, near = y * y, abs(y) < NEAR
    series: Any = 0.0
    for each in SERIES:
        series = series * square + each
    apart = where(near, 1.0, y)
    return where(near, series, np.sin(apart) / apart)


def _i0(x: Any) -> LazyArray:
    from vecdist.special import i0

    x = as_lazy(x)
    return LazyArray(i0((x if x.dtype.kind == "f" else x.astype(np.float64)).node))


POLYNOMIALS: dict[str, Callable[..., Any]] = {
    "i0": _i0,
    "poly": _poly,
    "polyadd": _sum(1),
    "polyder": _polyder,
    "polyfit": _polyfit,
    "polyint": _polyint,
    "polymul": _polymul,
    "polysub": _sum(-1),
    "polyval": _polyval,
    "sinc": _sinc,
    "vander": _vander,
}
