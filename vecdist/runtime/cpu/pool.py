"""Memory for large results, used again when nobody refers to it: touching fresh pages costs as much as a kernel."""

from __future__ import annotations

import contextlib
import weakref
from collections import deque
from typing import final

import numpy as np

POOLED_FROM = 2**20  # bytes; smaller results cost less than keeping account of them
SPARE = 2  # buffers of one output that wait for use
POOLS = 8  # outputs whose spare buffers are kept: those that have last needed fresh memory

_recent: deque[weakref.ref[Pool]] = deque()


@final
class Pool:
    """A function that gives arrays of one length and dtype, not initialised, whose memory comes back when they die.

    Any number of threads may call it: a buffer is taken and given back by single operations of a deque.  There is no
    lock, for the garbage collector, which may let an array die at any moment, could meet it locked.

    >>> pool = Pool(1000, np.dtype(float))
    >>> array = pool()
    >>> address = array.ctypes.data
    >>> del array
    >>> pool().ctypes.data == address
    True
    """

    def __init__(self, count: int, dtype: np.dtype) -> None:
        self.count: int = count
        self.dtype: np.dtype = dtype
        self._kept = False
        self._spare: deque[np.ndarray] = deque(maxlen=SPARE)

    def __call__(self) -> np.ndarray:
        """An array whose memory no other array has."""
        try:
            buffer = self._spare.pop()
        except IndexError:
            buffer = np.empty(self.count, self.dtype)
            self._keep()
        # every view of an array refers to the first that an array of another kind, as a memoryview is, stands behind:
        # so when this one dies, all of its views are dead
        array = np.frombuffer(memoryview(buffer), self.dtype)  # type: ignore[arg-type]
        weakref.finalize(array, self._give_back, buffer).atexit = False
        return array

    def _give_back(self, buffer: np.ndarray) -> None:
        if self._kept:
            self._spare.append(buffer)

    def _keep(self) -> None:
        """Keep spare buffers from now on; the pool that has gone longest without fresh memory lets go of its own."""
        self._kept = True
        own: weakref.ref[Pool] = weakref.ref(self)
        with contextlib.suppress(ValueError):
            _recent.remove(own)
        _recent.append(own)
        oldest = _recent.popleft()() if len(_recent) > POOLS else None
        if oldest is not None:
            oldest._drop()

    def _drop(self) -> None:
        self._kept = False
        self._spare.clear()
