"""What may be made but once in a process: machine code that others refer to, threads, what another library is told."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar, final

R = TypeVar("R")


@final
class Once(Generic[R]):
    """``functools.cache`` for a function that threads may ask together: the first makes it, the others wait.

    That cache would have each of them make one, keep the last, and let the others die in their users' hands.

    >>> numbers = iter(range(10))
    >>> numbered = Once(lambda name: next(numbers))
    >>> numbered("a"), numbered("b"), numbered("a")
    (0, 1, 0)
    """

    def __init__(self, make: Callable[..., R]) -> None:
        functools.update_wrapper(self, make)
        self._make = make
        self._made: dict[tuple[object, ...], R] = {}
        self._lock = threading.RLock()
        if hasattr(os, "register_at_fork"):  # the lock may be held by a thread that the child does not have
            os.register_at_fork(after_in_child=self._anew)

    def __call__(self, *key: object) -> R:
        if key not in self._made:
            with self._lock:
                if key not in self._made:
                    self._made[key] = self._make(*key)
        return self._made[key]

    def forget(self) -> None:
        """Make all anew when it is asked for again."""
        self._made.clear()

    def _anew(self) -> None:
        self._lock = threading.RLock()
