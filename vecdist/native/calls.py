"""Entries as Python functions: no more than the call itself stands between an array and its kernel."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from vecdist.backends import threads
from vecdist.evaluation import Evaluation
from vecdist.memo import Memo, cached_property
from vecdist.native.entries import Entry, for_each, for_many, for_one
from vecdist.native.language import evaluator, evaluator_of_many

KEEPS_LOCK_BELOW = 15e-6  # seconds: threads that take turns would wait longer for the lock
FEW = 8  # vectors below which a launch of all together gains nothing
SEVERAL_KERNELS = 200_000  # statements from which launches of several kernels, and products between them, pay


@final
class Native:
    """The entries of an evaluation of vectors of length ``size``, made when they are first wanted, once."""

    def __init__(self, evaluation: Evaluation, size: int) -> None:
        self.evaluation, self.size = evaluation, size
        self._entries: Memo[Entry | None] = Memo()
        self._seconds: float | None = None

    def entry(self, many: bool) -> Entry | None:
        """The entry for one vector or for many; ``None`` where the launch is not one compiled kernel of the CPU."""
        if not many:
            return self._made(self._one)
        together = self._one_kernel()
        return together or self._made(self._each)

    def _one_kernel(self) -> Entry | None:
        """The entry for many vectors in one kernel, where that is as good as one for each."""
        one = self._made(self._one)
        return None if one is None or one.has_rows else self._made(self._many)

    def _made(self, make: Callable[[], Entry | None]) -> Entry | None:
        return self._entries(make.__name__, make)

    def _one(self) -> Entry | None:
        return for_one(self.evaluation.prepared(np.zeros(self.size)), self.size)

    def _each(self) -> Entry | None:
        return for_each(self.evaluation.prepared(np.zeros(self.size)), self.size)

    def _many(self) -> Entry | None:
        two, three = (self.evaluation.prepared(np.zeros((count, self.size))) for count in (2, 3))
        return for_many(two, three, self.size)

    def one(self) -> Callable[[Any], Any] | None:
        """A function of a contiguous vector of float64; ``TypeError`` or ``ValueError`` for others.

        ``None`` where there is no entry, or threads may pay.
        """
        entry = self.entry(many=False)
        if entry is None or self._pays(1):
            return None
        evaluate, address, empty, size = self._evaluate(), entry.address, np.empty, self.size
        nothing = empty(0)

        def value(x: Any, held: Entry = entry) -> float:
            return evaluate(address, x, nothing)

        def value_and_gradient(x: Any, held: Entry = entry) -> tuple[float, np.ndarray]:
            gradient = empty(size)
            return evaluate(address, x, gradient), gradient

        return value_and_gradient if self.evaluation.gradient else value

    def few(self) -> Callable[[Any], Any] | None:
        """A function of fewer than ``FEW`` vectors, as ``one``; ``ValueError`` for more."""
        entry = self._made(self._each)
        if entry is None or self._pays(FEW):
            return None
        evaluate, address, empty, size = self._evaluate_many, entry.address, np.empty, self.size
        gradient = self.evaluation.gradient

        def values_and_gradients(x: Any, held: Entry = entry) -> Any:
            count, length = x.shape
            if count >= FEW or length != size:
                raise ValueError
            values, gradients = empty(count), empty((count, size) if gradient else (0, 0))
            evaluate(address, x, values, gradients)
            return (values, gradients) if gradient else values

        return values_and_gradients

    def many(self, x: np.ndarray) -> Sequence[np.ndarray] | None:
        """The results for vectors in the rows of ``x``, for which nothing is prepared, however many they are.

        ``None`` where there is no entry, or one launch of all is better: where that shares work among them, and is
        not a new one for every other call.
        """
        if len(x) >= FEW and self._shares(len(x)):
            known = self.evaluation.batches
            if len(x) in known or sum(count >= FEW for count in known) < 2:
                return None
        entry = self._made(self._each) if len(x) < FEW else self.entry(many=True)
        if entry is None:
            return None
        rows, evaluate, address = np.ascontiguousarray(x), self._evaluate_many, entry.address
        values, gradients = np.empty(len(rows)), np.empty(rows.shape if self.evaluation.gradient else (0, 0))

        def run(first: int, last: int) -> None:
            evaluate(address, rows[first:last], values[first:last], gradients[first:last])

        if self._pays(len(rows)):
            threads.share(run, len(rows))
        else:
            evaluate(address, rows, values, gradients)
        return [values, gradients] if self.evaluation.gradient else [values]

    def _shares(self, count: int) -> bool:
        """Whether so many vectors that are computed together share work, or the processor's vectors: few rows of each.

        A matrix that they share is read once, by a library.  Any other sum inside of rows would be one inside of rows
        inside of vectors, which leaves the processor's vectors unused.
        """
        one = self._made(self._one)
        return one is None or not one.has_rows or (one.work * count >= SEVERAL_KERNELS and self._multiplies)

    @cached_property
    def _multiplies(self) -> bool:
        return self.evaluation.multiplies(FEW, self.size)

    @cached_property
    def _evaluate_many(self) -> Callable[..., None]:
        return evaluator_of_many()

    def _evaluate(self) -> Callable[[int, np.ndarray, np.ndarray], float]:
        return evaluator((self._seconds or 0.0) >= KEEPS_LOCK_BELOW)

    def _pays(self, count: int) -> bool:
        """Whether threads pay for so many vectors, by the time of one: the shortest of three."""
        entry = self._made(self._one)
        assert entry is not None
        if self._seconds is None:
            self._seconds = entry.work * threads.FASTEST
            if not threads.may_pay(self._seconds * count, threads.CERTAIN):
                self._seconds = min(self._timed(entry) for _ in range(threads.TRIES))
        return threads.may_pay(self._seconds * count)

    def _timed(self, entry: Entry) -> float:
        x, gradient = np.zeros(self.size), np.empty(self.size if self.evaluation.gradient else 0)
        evaluate, start = evaluator(False), time.perf_counter()
        evaluate(entry.address, x, gradient)
        return time.perf_counter() - start
