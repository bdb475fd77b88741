"""Elements along an axis taken together one after another: logarithms of running sums, and any ufunc of two numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vecdist.lazy.array import LazyArray, Operand, as_lazy, where
from vecdist.lazy.joining import along
from vecdist.lazy.scan import scan
from vecdist.primitives.boundary import held
from vecdist.primitives.scans import linear_recurrence, running, shifted

_MOST = float(np.finfo(np.float64).max)


def logcumsumexp(x: Operand, axis: int = -1) -> LazyArray:
    """The logarithms of running sums of exponentials along ``axis``, y_t = log sum_{i <= t} exp(x_i), without overflow.

    Of the shape of ``x`` and its dtype, float64 for integers; float32 runs in float64.  Sums run the other way of
    ``x[::-1]``.  With the running maxima m_t, y_t = m_t + log s_t, s_t = exp(m_{t-1} - m_t) s_{t-1} + exp(x_t - m_t).
    The derivative of y_t in x_i is exp(x_i - y_t), 0 where y_t is -inf.  From an element that is inf on all are, from
    a NaN on NaN.  Raises ``ValueError`` for an axis that does not exist.  After P. Blanchard, D. J. Higham and N. J.
    Higham, "Accurately computing the log-sum-exp and softmax functions", IMA J. Numer. Anal. 41 (2021), equation (1.3).

    >>> import numpy as np, vecdist
    >>> np.exp(vecdist.logcumsumexp(np.log([1.0, 2.0, 3.0]))).compute().round(12)
    array([1., 3., 6.])
    """
    x = as_lazy(x)
    x, (place,) = x if x.dtype.kind == "f" else x.astype(np.float64), x.axes(axis)
    wide = x.astype(np.float64)
    largest = held(LazyArray(running("cummax", wide.node, place)).clip(-_MOST, _MOST))
    fallen = np.minimum(LazyArray(shifted(largest.node, place)) - largest, 0.0)  # the first is of no sum
    terms = np.exp(wide - largest)
    total = LazyArray(linear_recurrence(np.exp(fallen).node, terms.node, place))
    found = where(total == 0.0, -np.inf, np.log(where(total == 0.0, 1.0, total)) + largest)
    return found.astype(x.dtype)


def folded(function: Callable[[Any, Any], Any], x: LazyArray, axis: int, every: bool) -> LazyArray:
    """``x`` along ``axis``, taken together from the first element on, with ``every`` result on the way, or the last."""
    if every and not x.size:
        return x
    rows: Any = np.moveaxis(x, axis, 0)  # type: ignore[call-overload]
    if not every:
        last, _ = scan(lambda carry, each: (function(carry, each), None), rows[0], rows[1:])
        return last

    def step(carry: LazyArray, given: tuple[LazyArray, LazyArray]) -> tuple[LazyArray, LazyArray]:
        each, place = given
        new = where(place == 0, carry, function(carry, each))
        return new, new

    _, found = scan(step, rows[0], (rows, LazyArray(along(0, len(rows), 1))))
    return np.moveaxis(found, 0, axis)  # type: ignore[return-value]
