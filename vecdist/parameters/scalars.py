"""Parameters whose elements are constrained one by one.

Stan Reference Manual, chapter "Constraint Transforms": lower and upper bounds, lower and upper bounded scalar.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vecdist.graph.shapes import Lengths
from vecdist.parameters.base import Parameter, declared, put
from vecdist.parameters.functions import constant, log_slope_of_sigmoid, off_edge, sigmoid


def real(shape: Lengths = ()) -> Parameter:
    """Any real numbers.

    >>> real(8).inverse(np.ones(8)).shape
    (8,)
    """
    return declared("real", shape)


def positive(shape: Lengths = ()) -> Parameter:
    """Positive numbers, x = exp(y), with log Jacobian y.

    >>> float(positive().inverse(1.0))
    0.0
    """
    return declared("positive", shape)


def lower(bound: ArrayLike, shape: Lengths = ()) -> Parameter:
    """Numbers above ``bound``, a number or an array that broadcasts to the shape: x = bound + exp(y).

    Raises ``ValueError`` for a bound that is not finite or does not broadcast.

    >>> float(lower(2.0).inverse(3.0))
    0.0
    """
    return _bounded("lower", shape, bound)


def upper(bound: ArrayLike, shape: Lengths = ()) -> Parameter:
    """Numbers below ``bound``: x = bound - exp(y).  Raises as ``lower`` does.

    >>> float(upper(2.0).inverse(1.0))
    0.0
    """
    return _bounded("upper", shape, bound)


def interval(lower: ArrayLike, upper: ArrayLike, shape: Lengths = ()) -> Parameter:
    """Numbers between two bounds: x = lower + (upper - lower) / (1 + exp(-y)).

    Raises as the function ``lower`` does, and ``ValueError`` unless ``lower`` is less than ``upper``.

    >>> float(interval(-1.0, 3.0).inverse(1.0))
    0.0
    """
    if not np.all(np.asarray(lower) < np.asarray(upper)):
        raise ValueError(f"interval wants a lower bound less than the upper one, given {lower} and {upper}")
    return _bounded("interval", shape, lower, upper)


def _bounded(constraint: str, shape: Any, *bounds: Any) -> Parameter:
    found = declared(constraint, shape)
    values = tuple(np.array(bound, np.float64) for bound in bounds)
    for value in values:
        if not np.isfinite(value).all():
            raise ValueError(f"{constraint}: a bound is a finite number, given {value}; leave out one at infinity")
        if np.broadcast_shapes(value.shape, found.shape) != found.shape:
            raise ValueError(f"{constraint}: bounds of shape {value.shape} for a parameter of shape {found.shape}")
    return Parameter(constraint, found.batch, (), values)


def _bound(value: np.ndarray, y: Any) -> Any:
    return constant(value, y) if value.ndim else value.item()


def _above(y: Any, bound: np.ndarray) -> tuple[Any, Any]:
    return _bound(bound, y) + np.exp(y), y


def _below(y: Any, bound: np.ndarray) -> tuple[Any, Any]:
    return _bound(bound, y) - np.exp(y), y


def _between(y: Any, low: np.ndarray, high: np.ndarray) -> tuple[Any, Any]:
    first, last, width = _bound(low, y), _bound(high, y), _bound(high - low, y)
    x = first + width * sigmoid(y)
    x = np.minimum(x, last) if np.any(low + (high - low) > high) else x  # rounded upwards
    return x, log_slope_of_sigmoid(y) + _bound(np.log(high - low), y)


put("real", lambda y: (y, None), lambda x: x)
put("positive", lambda y: (np.exp(y), y), np.log)
def _log_above(x: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.log(off_edge(x - bound, bound))


def _log_below(x: np.ndarray, bound: np.ndarray) -> np.ndarray:
    return np.log(off_edge(bound - x, bound))


put("lower", _above, _log_above)
put("upper", _below, _log_below)
put("interval", _between, lambda x, low, high: _log_above(x, low) - _log_below(x, high))
