"""Batches of rows that are out of memory: read before each step, whose kernel takes them as arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from vecdist.graph.leaves import on_host
from vecdist.lazy.array import LazyArray
from vecdist.model.minibatch import Minibatch
from vecdist.samplers.kernels import Run, fused


@final
class Reading:
    """The kernel of a step behind one that says which rows it reads: the former alone depends on what they hold.

    ``batch`` gives their places, one batch for each chain, of all arguments; ``function`` takes the rows behind these.
    What is left is as for ``fused``.
    """

    capturable = False

    def __init__(
        self, rows: Minibatch, batch: Callable[..., LazyArray], size: int, function: Callable[..., Any],
        arrays: Sequence[Any], library: Any, **others: Any,
    ) -> None:  # fmt: skip
        self.rows, self.library = rows, library
        self.places: Any = library.zeros((len(arrays[0]), size), np.int64)
        self._which: Run = fused(lambda *given: (batch(*given),), arrays, [self.places.shape])
        self._step: Run = fused(function, (*arrays, *self._read()), **others)

    def __call__(self, arrays: Sequence[Any], out: Sequence[Any]) -> None:
        self._which(arrays, [self.places])
        self._step((*arrays, *self._read()), out)

    def _read(self) -> list[Any]:
        return [self.library.asarray(each) for each in self.rows.read(on_host(self.places))]
