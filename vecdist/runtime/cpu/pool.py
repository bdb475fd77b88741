"""Memory for large arrays, used again when nobody refers to it: touching fresh pages costs as much as a kernel."""

from __future__ import annotations

import contextlib
import weakref
from collections import deque
from typing import final

import numpy as np

POOLED_FROM = 2**17  # bytes from which C libraries give memory back to the system: less is not worth keeping account of
SPARE = 2  # buffers of one array that wait for use
POOLS = 8  # arrays whose spare buffers are kept: those that have last needed fresh memory
SMALL = 2**28  # bytes of such buffers up to which there may be more arrays

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
        buffer = self.buffer()
        # every view of an array refers to the first that an array of another kind, as a memoryview is, stands behind:
        # so when this one dies, all of its views are dead
        array = np.frombuffer(memoryview(buffer), self.dtype)  # type: ignore[arg-type]
        weakref.finalize(array, self.give_back, buffer).atexit = False
        return array

    def buffer(self) -> np.ndarray:
        """The same for who gives it back."""
        try:
            return self._spare.pop()
        except IndexError:
            self._keep()
            return np.empty(self.count, self.dtype)

    def give_back(self, buffer: np.ndarray) -> None:
        """Take the memory of an array that nobody uses any more."""
        if self._kept:
            self._spare.append(buffer)

    def _keep(self) -> None:
        """Keep spare buffers from now on; the pools that have gone longest without fresh memory let go of their own."""
        self._kept, held = True, 0
        own: weakref.ref[Pool] = weakref.ref(self)
        _forget(own)
        _recent.append(own)
        for place, each in enumerate(reversed(_recent.copy())):
            pool = each()
            held += pool.bytes if pool else 0
            if pool is None or (place >= POOLS and held > SMALL):
                _forget(each)
                if pool:
                    pool._drop()

    @property
    def bytes(self) -> int:
        """The memory that may wait for use."""
        return SPARE * self.count * self.dtype.itemsize

    def _drop(self) -> None:
        self._kept = False
        self._spare.clear()


def _forget(pool: weakref.ref[Pool]) -> None:
    with contextlib.suppress(ValueError):
        _recent.remove(pool)
