"""How threads take turns while one of them makes something new."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import final

from vecdist.graph.memo import in_children

TURN = 2e-5  # seconds; Python's own 5 ms are more than there are between two launches of short kernels


@final
class _Interval:
    """Python's interval between changes of threads, short while some threads want it so."""

    def __init__(self) -> None:
        self.renew()
        self.wanted: list[int] = []
        self.before = 0.0

    def renew(self) -> None:
        """What is left of it in a child: this thread alone."""
        self.lock = threading.Lock()

    def shorten(self) -> None:
        with self.lock:
            if not self.wanted:
                self.before = sys.getswitchinterval()
                sys.setswitchinterval(min(self.before, TURN))
            self.wanted.append(threading.get_ident())

    def restore(self, thread: int) -> None:
        with self.lock:
            self.wanted.remove(thread)
            if not self.wanted:
                sys.setswitchinterval(self.before)


_interval = _Interval()


def _forget_others() -> None:
    _interval.renew()
    for thread in [each for each in _interval.wanted if each != threading.get_ident()]:
        _interval.restore(thread)


in_children(_forget_others)


@contextlib.contextmanager
def short_turns() -> Iterator[None]:
    """Have Python change threads soon, for one that lets go of the GIL often, and wants it again each time.

    Whoever compiles does, at each of thousands of calls of LLVM.  Another thread that launches short kernels lets go of
    it, too, more often than Python looks whether somebody waits, and has it again before they wake: what takes 0.2
    seconds takes 20 beside it.
    """
    _interval.shorten()
    try:
        yield
    finally:
        _interval.restore(threading.get_ident())
