"""Entries as Python functions: no more than the call itself stands between an array and its kernel."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from vecdist.backends import cpu, threads
from vecdist.evaluation import Evaluation
from vecdist.native.entries import Entry, for_many, for_one
from vecdist.native.language import evaluator

KEEPS_LOCK_BELOW = 50_000  # statements, some 15 microseconds: threads that take turns would wait longer for the lock


@final
class Native:
    """The entries of an evaluation of vectors of length ``size``, made when they are first wanted, once."""

    def __init__(self, evaluation: Evaluation, size: int) -> None:
        self.evaluation, self.size = evaluation, size
        self._entries: dict[bool, Entry | None] = {}
        self._lock = threading.Lock()

    def entry(self, many: bool) -> Entry | None:
        """The entry for one vector or for many; ``None`` where the launch is not one compiled kernel of the CPU."""
        with self._lock:
            if many not in self._entries:
                self._entries[many] = self._many() if many else self._one()
            return self._entries[many]

    def _one(self) -> Entry | None:
        return for_one(self.evaluation.prepared(np.zeros(self.size)), self.size)

    def _many(self) -> Entry | None:
        two, three = (self.evaluation.prepared(np.zeros((count, self.size))) for count in (2, 3))
        return for_many(two, three, self.size)

    def one(self) -> Callable[[Any], Any] | None:
        """A function of a contiguous vector of float64; ``TypeError`` or ``ValueError`` for others.

        ``None`` where there is no entry, or threads pay.
        """
        entry = self.entry(many=False)
        if entry is None or _pays(entry.work):
            return None
        evaluate, address, empty, size = evaluator(entry.work >= KEEPS_LOCK_BELOW), entry.address, np.empty, self.size
        nothing = empty(0)

        def value(x: Any, held: Entry = entry) -> float:
            return evaluate(address, x, nothing)

        def value_and_gradient(x: Any, held: Entry = entry) -> tuple[float, np.ndarray]:
            gradient = empty(size)
            return evaluate(address, x, gradient), gradient

        return value_and_gradient if self.evaluation.gradient else value

    def many(self, x: np.ndarray) -> Sequence[np.ndarray] | None:
        """The results for vectors in the rows of ``x``, for which nothing is prepared, however many they are.

        ``None`` where there is no entry, or threads pay.
        """
        entry = self.entry(many=True)
        if entry is None or _pays(entry.work * len(x)):
            return None
        rows = np.ascontiguousarray(x)
        values, gradients = np.empty(len(rows)), np.empty(rows.shape if self.evaluation.gradient else 0)
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64, *[ctypes.c_void_p] * 4)
        if kind(entry.address)(len(rows), *(array.ctypes.data for array in (rows, values, gradients)), None) < 0:
            raise MemoryError(f"no memory for a log density of {len(rows)} vectors")
        return [values, gradients] if self.evaluation.gradient else [values]


def _pays(work: float) -> bool:
    """Whether threads pay for so many statements."""
    return work >= cpu.PARALLEL_FROM and threads.thread_count() > 1
