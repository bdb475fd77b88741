"""Convolutions, correlations and filters of lazy arrays, as ``scipy.signal`` has them, and layers of convolutions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from vecdist.graph.leaves import number
from vecdist.lazy.array import LazyArray, Operand, as_lazy, operands
from vecdist.lazy.convolution import MODES, layer, moving
from vecdist.lazy.convolution import correlated as sliding
from vecdist.lazy.rearranging import zeros_around
from vecdist.lazy.scan import scan
from vecdist.lazy.views import broadcast_view

__all__ = ["conv", "convolve", "correlate", "fftconvolve", "lfilter"]

Mode = Literal["full", "same", "valid"]
Method = Literal["auto", "direct", "fft"]
Sizes = int | Sequence[int]
DIRECT = 1000
"""Elements of the smaller array up to which sums over windows are sooner done than transforms, on 4 cores."""


def convolve(in1: Operand, in2: Operand, mode: Mode = "full", method: Method = "auto") -> Any:
    """The convolution of two arrays of as many axes.

    z_k = sum_i a_i b_{k - i}.  ``full`` has all elements that have a term, n + m - 1 along each axis, ``same`` the
    middle n of them, ``valid`` those with all terms, |n - m| + 1.  ``direct`` adds up in one kernel, over windows of
    the larger array; ``fft`` multiplies transforms, with errors relative to the largest element; ``auto`` chooses by
    size.  The result has the dtype of the operands.  Raises ``ValueError`` where axes differ in number, and where in
    ``valid`` neither array is as long as the other along all axes.  As ``scipy.signal.convolve``.

    >>> import numpy as np
    >>> from vecdist.signal import convolve
    >>> np.asarray(convolve(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]))).tolist()
    [0.0, 1.0, 2.5, 4.0, 1.5]
    """
    a, b = _pair("convolve", in1, in2, mode)
    if method not in {"auto", "direct", "fft"}:
        raise ValueError(f"method is one of auto, direct and fft, not {method!r}")
    smaller = min(a.size, b.size)
    if method == "fft" or (method == "auto" and smaller > DIRECT and a.dtype.kind == "f"):
        return fftconvolve(a, b, mode)
    large, small = _ordered(a, b, mode)
    found = sliding(large, _turned(small), "valid" if mode == "valid" else "full")
    return (_centred(found, a.shape) if mode == "same" else found).astype(a.dtype)


def correlate(in1: Operand, in2: Operand, mode: Mode = "full", method: Method = "auto") -> Any:
    """The correlation of two arrays of as many axes: the convolution of the first and the second, turned around.

    z_k = sum_i a_{i + k - m + 1} b_i.  Modes, methods, dtypes and errors are those of ``convolve``.  As
    ``scipy.signal.correlate``.

    >>> import numpy as np
    >>> from vecdist.signal import correlate
    >>> np.asarray(correlate(np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0, 0.5]), mode="valid")).tolist()
    [3.5]
    """
    a, b = _pair("correlate", in1, in2, mode)
    if mode == "valid" and not _fits(a, b):
        return _turned(convolve(b, _turned(a), mode, method))
    return convolve(a, _turned(b), mode, method)


def fftconvolve(in1: Operand, in2: Operand, mode: Mode = "full") -> Any:
    """``convolve`` by real Fourier transforms, for long arrays; its error is relative to the largest element.

    Shapes, modes and errors are those of ``convolve``; whole numbers become float64.  Derivatives are by transforms,
    too.

    >>> import numpy as np
    >>> from vecdist.signal import fftconvolve
    >>> np.asarray(fftconvolve(np.array([1.0, 2.0, 3.0]), np.array([4.0, 1.0, 0.5]))).round(12).tolist()
    [4.0, 9.0, 14.5, 4.0, 1.5]
    """
    a, b = _pair("fftconvolve", in1, in2, mode)
    a, b = (x if x.dtype.kind == "f" else x.astype(np.float64) for x in (a, b))
    whole = [n + m - 1 for n, m in zip(a.shape, b.shape, strict=True)]
    sizes, axes = [_smooth(length) for length in whole], tuple(range(a.ndim))
    product: Any = np.fft.rfftn(a, sizes, axes) * np.fft.rfftn(b, sizes, axes)  # type: ignore[call-overload]
    found = np.fft.irfftn(product, sizes, axes)[tuple(slice(length) for length in whole)]
    if mode == "full":
        return found
    if mode == "same":
        return _centred(found, a.shape)
    large, small = _ordered(a, b, mode)
    return _centred(found, tuple(n - m + 1 for n, m in zip(large.shape, small.shape, strict=True)))


def lfilter(b: Operand, a: Operand, x: Operand, axis: int = -1, zi: Operand | None = None) -> Any:
    """A linear filter of one axis, with finite or infinite response.

    a_0 y_t = sum_j b_j x_{t-j} - sum_{k > 0} a_k y_{t-k}, with x and y zero before the series.  ``b`` and ``a`` have
    one axis; ``x`` has shape (..., T, ...), with T along ``axis``, as the result has.  ``zi`` is the state to begin
    with, of the transposed direct form II, with max(len(a), len(b)) - 1 elements along ``axis``; with it, the result is
    a pair of y and the state behind the end.  A filter without a_k is one sum over windows, any other a recurrence.
    Raises ``ValueError`` for coefficients that are not of one axis, and for a ``zi`` of another shape.  As
    ``scipy.signal.lfilter``; A. V. Oppenheim and R. W. Schafer, *Discrete-Time Signal Processing* (1989), section 6.3.

    >>> import numpy as np
    >>> from vecdist.signal import lfilter
    >>> np.asarray(lfilter(np.array([1.0]), np.array([1.0, -0.5]), np.array([1.0, 0.0, 0.0]))).tolist()
    [1.0, 0.5, 0.25]
    """
    nodes = operands(b, a, x)
    kind = np.result_type(*(node.dtype for node in nodes), np.float32)
    above, below, series = (LazyArray(node).astype(kind) for node in nodes)
    moved: Any = series
    if above.ndim != 1 or below.ndim != 1 or not len(above) or not len(below):
        raise ValueError(f"lfilter wants coefficients of one axis, given shapes {above.shape} and {below.shape}")
    place = normalize_axis_index(axis, series.ndim)
    forth: Any = np.moveaxis(moved, place, 0)
    order, zero = max(len(above), len(below)) - 1, LazyArray(number(0, kind))
    over, under = ([*(x / below[0]), *[zero] * (order + 1 - len(x))] for x in (above, below))
    if zi is None and len(below) == 1:
        around = zeros_around(forth, [(order, 0), *[(0, 0)] * (forth.ndim - 1)])
        found: Any = (moving(around, (-forth.ndim,), (order + 1,)) * (above[::-1] / below[0])).sum(-1)
        return np.moveaxis(found, 0, place)
    last, found = scan(_step(over, under), tuple(_states(zi, order, forth, place, kind)), forth)
    y = np.moveaxis(found, 0, place)
    return y if zi is None else (y, np.stack(last, place) if order else as_lazy(zi))


def _step(over: Sequence[Any], under: Sequence[Any]) -> Any:
    """One step of the transposed direct form II."""

    def step(state: Sequence[Any], x: Any) -> tuple[Any, Any]:
        y = over[0] * x + state[0] if state else over[0] * x
        behind = [*state[1:], None]
        new = [b * x - a * y for b, a in zip(over[1:], under[1:], strict=True)]
        return tuple(each if old is None else each + old for each, old in zip(new, behind, strict=False)), y

    return step


def _states(zi: Operand | None, order: int, forth: LazyArray, place: int, kind: np.dtype) -> list[LazyArray]:
    """The state before the first step, an array for each delay."""
    if zi is None:
        return [LazyArray(broadcast_view(number(0, kind), forth.shape[1:]))] * order
    given: Any = as_lazy(zi).astype(kind)
    wanted = (*forth.shape[1 : place + 1], order, *forth.shape[place + 1 :])
    if given.shape != wanted:
        raise ValueError(f"lfilter wants a state of shape {wanted}, given one of shape {given.shape}")
    return [*np.moveaxis(given, place, 0)]


def conv(
    x: Operand, filters: Operand, *, stride: Sizes = 1, padding: Sizes | Literal["same", "valid"] = 0,
    dilation: Sizes = 1, groups: int = 1,
) -> LazyArray:
    """A layer of convolutions over the last axes, as neural networks have it: no filter is turned around.

    y_{n o k} = sum_{c, j} x_{n, c, stride k + dilation j - padding} w_{o c j}, over the inputs c of the group of o,
    with x zero outside.  ``x`` has shape (batch, inputs, *lengths), ``filters`` (outputs, inputs / groups, *widths),
    for any number of lengths; ``stride``, ``padding`` and ``dilation`` are numbers, or one for each length, and
    ``"same"`` keeps lengths, with the larger half of the padding behind.  Raises ``ValueError`` where axes, inputs or
    groups do not fit, or a filter is longer than what it moves over.  As ``torch.nn.functional.conv2d``.

    >>> import numpy as np
    >>> from vecdist.signal import conv
    >>> x, w = np.arange(5.0).reshape(1, 1, 5), np.array([[[1.0, 0.0, -1.0]]])
    >>> np.asarray(conv(x, w, padding=1)).tolist()
    [[[-1.0, -2.0, -2.0, -2.0, 3.0]]]
    """
    nodes = operands(x, filters)
    kind = np.result_type(*(node.dtype for node in nodes))
    array, weights = (LazyArray(node).astype(kind) for node in nodes)
    count = weights.ndim - 2
    if count < 1 or array.ndim != count + 2:
        raise ValueError(f"conv wants arrays of as many axes, 3 or more, given shapes {array.shape}, {weights.shape}")
    outputs, inputs = weights.shape[:2]
    if array.shape[1] != inputs * groups or outputs % groups:
        raise ValueError(f"conv in {groups} groups: shapes {array.shape} and {weights.shape} do not fit")
    steps, spacings = _each("stride", stride, count, 1), _each("dilation", dilation, count, 1)
    reach = [spacing * (width - 1) + 1 for spacing, width in zip(spacings, weights.shape[2:], strict=True)]
    around = _padding(padding, steps, reach)
    lengths = [length + sum(each) for length, each in zip(array.shape[2:], around, strict=True)]
    if any(length < most or not most for length, most in zip(lengths, reach, strict=True)):
        shape = (*array.shape[:2], *lengths)
        raise ValueError(f"conv: filters of shape {weights.shape} do not fit into an array of shape {shape}")
    return layer(array, weights, steps, spacings, groups, around)


def _padding(padding: Any, steps: Sequence[int], reach: Sequence[int]) -> list[tuple[int, int]]:
    """The zeros before and behind along each axis."""
    if padding == "valid":
        padding = 0
    if padding != "same":
        return [(each, each) for each in _each("padding", padding, len(reach), 0)]
    if any(step != 1 for step in steps):
        raise ValueError("conv with padding='same' keeps lengths, and has no stride")
    return [((each - 1) // 2, each // 2) for each in reach]


def _each(name: str, given: Sizes, count: int, least: int) -> tuple[int, ...]:
    """A number for each axis."""
    every = (given,) * count if isinstance(given, int | np.integer) else tuple(given)
    if len(every) != count or any(each < least for each in every):
        raise ValueError(f"conv: {name} is {given}, and wants {least} or more for each of {count} axes")
    return tuple(int(each) for each in every)


def _pair(name: str, in1: Operand, in2: Operand, mode: str) -> tuple[LazyArray, LazyArray]:
    """Two arrays of as many axes and one dtype."""
    nodes = operands(in1, in2)
    if mode not in MODES:
        raise ValueError(f"{name} has the modes {', '.join(MODES)}, not {mode!r}")
    if nodes[0].ndim != nodes[1].ndim or not nodes[0].ndim:
        raise ValueError(f"{name} wants arrays of as many axes, given shapes {nodes[0].shape} and {nodes[1].shape}")
    kind = np.result_type(*(node.dtype for node in nodes))
    a, b = (LazyArray(node).astype(kind) for node in nodes)
    if not a.size or not b.size:
        raise ValueError(f"{name} wants arrays that have elements, given shapes {a.shape} and {b.shape}")
    return a, b


def _fits(large: LazyArray, small: LazyArray) -> bool:
    return all(n >= m for n, m in zip(large.shape, small.shape, strict=True))


def _ordered(a: LazyArray, b: LazyArray, mode: str) -> tuple[LazyArray, LazyArray]:
    """The array that windows move over, and that of their weights."""
    if mode == "valid" and not _fits(a, b) and not _fits(b, a):
        raise ValueError(f"in mode valid one array is as long as the other along all axes; given {a.shape}, {b.shape}")
    if mode == "valid":
        return (a, b) if _fits(a, b) else (b, a)
    return (a, b) if a.size >= b.size else (b, a)


def _turned(x: LazyArray) -> LazyArray:
    return x[(slice(None, None, -1),) * x.ndim]


def _centred(x: Any, shape: Sequence[int]) -> LazyArray:
    """The middle of an array."""
    starts = [(n - m) // 2 for n, m in zip(x.shape, shape, strict=True)]
    return x[tuple(slice(start, start + length) for start, length in zip(starts, shape, strict=True))]


def _smooth(length: int) -> int:
    """The least number from ``length`` on without prime factors but 2, 3 and 5."""
    best = 2 ** math.ceil(math.log2(length)) if length > 1 else 1
    for fives in range(math.ceil(math.log(best, 5)) + 1):
        for threes in range(math.ceil(math.log(best, 3)) + 1):
            odd = 5**fives * 3**threes
            if odd <= best:
                best = min(best, odd * 2 ** max(0, math.ceil(math.log2(length / odd))))
    return best
