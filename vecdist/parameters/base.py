"""A parameter of a model: its shape, where it may lie, and the unconstrained numbers that stand for it."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

Shape = tuple[int, ...]


@final
@dataclass(frozen=True)
class Transform:
    """A smooth map of unconstrained numbers onto a constrained space, of the last axes of an array.

    ``forward(y, *arguments)`` gives x and terms whose sum is the logarithm of the absolute Jacobian determinant, or
    ``None`` where that is 0; it is written in functions that lazy, NumPy and CuPy arrays have in common.
    ``inverse(x, *arguments)`` gives y, of NumPy arrays; where x lies outside it need not be finite.
    ``free(event)`` is the shape of the unconstrained numbers of one event.
    """

    forward: Callable[..., tuple[Any, Any]]
    inverse: Callable[..., np.ndarray]
    free: Callable[[Shape], Shape] = lambda event: event


TRANSFORMS: dict[str, Transform] = {}


@final
@dataclass(frozen=True, eq=False)
class Parameter:
    """What ``real``, ``positive``, ``simplex`` and the like give: events of one constraint, in an array of a shape.

    >>> from vecdist.parameters import simplex
    >>> weights = simplex(4, shape=3)
    >>> weights, weights.shape, weights.size
    (simplex(4, shape=(3,)), (3, 4), 9)
    """

    constraint: str
    batch: Shape = ()
    event: Shape = ()
    arguments: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        said = [*(str(argument) for argument in self.arguments), *(str(self.event[0]) for _ in self.event[:1])]
        said += [f"shape={self.batch}"] if self.batch else []
        return f"{self.constraint}({', '.join(said)})"

    @property
    def transform(self) -> Transform:
        """What the constraint's name stands for."""
        return TRANSFORMS[self.constraint]

    @property
    def shape(self) -> Shape:
        """The shape of the constrained array."""
        return self.batch + self.event

    @property
    def unconstrained_shape(self) -> Shape:
        """The shape of the unconstrained numbers: that of the batch, and of the free numbers of one event."""
        return self.batch + self.transform.free(self.event)

    @property
    def size(self) -> int:
        """How many unconstrained numbers there are."""
        return math.prod(self.unconstrained_shape)

    def forward(self, y: Any) -> tuple[Any, Any]:
        """The constrained array of unconstrained numbers ``y``, and terms of the log Jacobian determinant, or ``None``.

        ``y`` is lazy, or a NumPy or CuPy array, of shape (..., *unconstrained_shape).
        """
        return self.transform.forward(y, *self.arguments)

    def inverse(self, x: Any) -> np.ndarray:
        """The unconstrained numbers of a constrained array, of shape (..., *shape).

        A value that rounding has put on an edge is taken as the next inside.  Raises ``ValueError`` where an element
        does not satisfy the constraint, or lies on an edge at 0, next to which nothing is rounded, or at infinity.
        """
        x = np.asarray(x, np.float64)
        with np.errstate(all="ignore"):
            y = np.asarray(self.transform.inverse(x, *self.arguments))
            again = np.asarray(self.forward(y)[0])
        if not (np.isfinite(y).all() and np.allclose(again, x, rtol=1e-6, atol=1e-8)):
            raise ValueError(f"a value lies outside {self!r}, or on its edge: {_shown(x)}")
        return y


def _shown(x: np.ndarray) -> str:
    return np.array2string(x, threshold=8, edgeitems=3).replace("\n", "")


def put(constraint: str, forward: Callable, inverse: Callable, free: Callable[[Shape], Shape] | None = None) -> None:
    """Add a constraint to the table."""
    TRANSFORMS[constraint] = Transform(forward, inverse, *([] if free is None else [free]))


def declared(
    constraint: str, shape: Any, event: Shape = (), arguments: tuple[Any, ...] = (), least: int = 0
) -> Parameter:
    """A parameter; ``ValueError`` for a negative length, or an event with fewer than ``least`` elements."""
    if event and event[0] < least:
        raise ValueError(f"{constraint} wants {least} or more elements, given {event[0]}")
    return Parameter(constraint, _shape(constraint, shape), event, arguments)


def _shape(constraint: str, shape: Any) -> Shape:
    lengths = tuple(shape) if isinstance(shape, Iterable) else (shape,)
    try:
        found = tuple(operator.index(length) for length in lengths)
    except TypeError:
        raise TypeError(f"{constraint}: a shape is a whole number or a tuple of them, given {shape!r}") from None
    if any(length < 0 for length in found):
        raise ValueError(f"{constraint}: a shape has no negative lengths, given {shape!r}")
    return found


def count(constraint: str, n: Any) -> int:
    """``n`` as a number of elements; ``TypeError`` where it is no whole number."""
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(f"{constraint} wants a number of elements, given {n!r}") from None
