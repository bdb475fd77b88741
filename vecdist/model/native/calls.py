"""Entries as Python functions: no more than the call itself stands between an array and its kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numpy as np

from vecdist.graph.memo import Memo, cached_property
from vecdist.model.evaluation import Evaluation
from vecdist.model.native.entries import Entry, for_each, for_many, for_one
from vecdist.model.native.language import evaluator, evaluator_of_many
from vecdist.runtime.cpu import calling, threads

KEEPS_LOCK_BELOW = 15e-6  # seconds: threads that take turns would wait longer for the lock
FEW = 8  # vectors below which a launch of all together gains nothing
PIECES = (64, 32, 16, FEW)  # vectors that are multiplied by a matrix together
ONE_THREAD = 2**17  # multiplications of a product, so few that BLAS takes no threads, and that it stays in the cache
SEVERAL_KERNELS = 400_000  # statements from which launches of several kernels, and products between them, pay


def _pieces(count: int, most: int, least: int) -> Iterator[tuple[int, int, bool]]:
    """So many vectors in pieces of few sizes, so that few launches are prepared, and (``False``) what is left over."""
    start, size = 0, max(most, 1 << (least - 1).bit_length())
    while size >= least:
        for first in range(start, count - size + 1, size):
            yield first, first + size, True
            start = first + size
        size //= 2
    if start < count:
        yield start, count, False


@final
class Native:
    """The entries of an evaluation of vectors of length ``size``, made when they are first wanted, once."""

    def __init__(self, evaluation: Evaluation, size: int) -> None:
        self.evaluation: Evaluation = evaluation
        self.size: int = size
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
        evaluate, code, table, empty, size = self._evaluate(), calling.entry(), entry.told, np.empty, self.size
        nothing = empty(0)

        def value(x: Any, held: Entry = entry) -> float:
            return evaluate(code, table, x, nothing)

        def value_and_gradient(x: Any, held: Entry = entry) -> tuple[float, np.ndarray]:
            gradient = empty(size)
            return evaluate(code, table, x, gradient), gradient

        return value_and_gradient if self.evaluation.gradient else value

    def few(self) -> Callable[[Any], Any] | None:
        """A function of a few vectors, as ``one``; ``ValueError`` for more, which threads or a launch may take."""
        entry = self._made(self._each)
        if entry is None or self._pays(2):
            return None
        limit = self._least
        while self._pays(limit - 1):
            limit -= 1
        evaluate, code, table, empty, size = evaluator_of_many(), calling.entry(), entry.told, np.empty, self.size
        gradient = self.evaluation.gradient

        def values_and_gradients(x: Any, held: Entry = entry) -> Any:
            count, length = x.shape
            if count >= limit or length != size:
                raise ValueError
            values, gradients = empty(count), empty((count, size) if gradient else (0, 0))
            evaluate(code, table, x, values, gradients)
            return (values, gradients) if gradient else values

        return values_and_gradients

    def many(self, x: np.ndarray) -> Sequence[np.ndarray] | None:
        """The results for vectors in the rows of ``x``, for which little is prepared, however many they are.

        ``None`` where there is no entry, or one launch of all is better: where their elements fill the processor's
        vectors, and it is not a new one for every other call.
        """
        one, together = self._made(self._one), len(x) >= self._least and self._shares
        if one is None or (together and not self._piece and self._is_usual(len(x))):
            return None
        rows = np.ascontiguousarray(x)
        values, gradients = np.empty(len(rows)), np.empty(rows.shape if self.evaluation.gradient else (0, 0))
        if together and self._piece:
            pieces = list(_pieces(len(rows), self._piece, self._least))
            parts, run = len(pieces), self._together(pieces, rows, values, gradients)
        else:
            parts, run = len(rows), self._in_turn(rows, values, gradients)
        if self._pays(len(rows)):
            threads.share(run, parts)
        else:
            run(0, parts)
        return [values, gradients] if self.evaluation.gradient else [values]

    def _is_usual(self, count: int) -> bool:
        """Whether launches are prepared for so many vectors, or for few other numbers of them."""
        known = self.evaluation.batches
        return count in known or sum(each >= FEW for each in known) < 2

    def _in_turn(self, rows: np.ndarray, values: np.ndarray, gradients: np.ndarray) -> Callable[[int, int], None]:
        """What fills the results of vectors ``first`` to ``last`` by a call of an entry."""
        entry = self._made(self._each) if len(rows) < FEW else self.entry(many=True)
        assert entry is not None
        evaluate, code = evaluator_of_many(), calling.entry()

        def run(first: int, last: int, held: Entry = entry) -> None:
            evaluate(code, held.told, rows[first:last], values[first:last], gradients[first:last])

        return run

    def _together(
        self, pieces: Sequence[tuple[int, int, bool]], rows: np.ndarray, values: np.ndarray, gradients: np.ndarray
    ) -> Callable[[int, int], None]:
        """What fills the results of pieces ``first`` to ``last``: launches, where a matrix is multiplied by vectors."""
        one_by_one = self._in_turn(rows, values, gradients)
        results = (values, gradients) if self.evaluation.gradient else (values,)

        def run(first: int, last: int) -> None:
            for start, stop, whole in pieces[first:last]:
                if not whole:
                    one_by_one(start, stop)
                else:
                    own = rows[start:stop]
                    self.evaluation.prepared(own).run((own,), [each[start:stop] for each in results])

        return run

    @cached_property
    def _shares(self) -> bool:
        """Whether vectors that are computed together share work, or their elements fill the processor's vectors.

        A matrix that they share is read once, by a library.  Any other sum inside of rows would be one inside of rows
        inside of vectors, which leaves the processor's vectors unused.
        """
        one = self._made(self._one)
        return one is not None and (not one.has_rows or self._multiplications > 0)

    @cached_property
    def _multiplications(self) -> float:
        """Those of the largest product of a matrix and each vector."""
        return self.evaluation.multiplications(FEW, self.size) / FEW

    @cached_property
    def _piece(self) -> int:
        """The vectors that are launched together, where there is a product; 0 for all, where BLAS shares it itself."""
        one = self._made(self._one)
        few = (size for size in PIECES if self._multiplications * size <= ONE_THREAD)
        return next(few, 0) if one is not None and one.has_rows else 0

    @cached_property
    def _least(self) -> int:
        """The fewest vectors that are worth a launch of all, or of several kernels."""
        one = self._made(self._one)
        return max(FEW, math.ceil(SEVERAL_KERNELS / max(1.0, one.work)) if one is not None and one.has_rows else FEW)

    def _evaluate(self) -> Callable[[int, int, np.ndarray, np.ndarray], float]:
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
        evaluate(calling.entry(), entry.told, x, gradient)
        return time.perf_counter() - start
