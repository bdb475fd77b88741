"""Threads that make something new, and how those beside them that run what is known let them have their turns."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from time import perf_counter as clock
from time import sleep as pause
from typing import ClassVar, final

from vecdist.graph.memo import in_children

PAUSE = 1e-6  # seconds, to which the system adds some 50 microseconds
BETWEEN = 5e-5  # seconds from one pause to the next

making: list[int] = []  # the threads that do


def _forget_others() -> None:
    making[:] = [thread for thread in making if thread == threading.get_ident()]


in_children(_forget_others)


@contextlib.contextmanager
def making_something() -> Iterator[None]:
    """While this thread makes something new, and others let it have the GIL."""
    thread = threading.get_ident()
    making.append(thread)
    try:
        yield
    finally:
        making.remove(thread)


@final
class _Paused:
    """When a thread last gave way."""

    at: ClassVar[float] = 0.0


def give_way() -> None:
    """Pause for threads that make something new; called after a kernel, while there are any.

    A kernel lets go of the GIL, a short one too briefly for whoever waits for it to wake, and so often that they never
    wait long enough to insist.  A compilation lets go of it at each of thousands of calls of LLVM: what takes 0.2
    seconds would take 20 beside a thread that launches short kernels.
    """
    if clock() - _Paused.at >= BETWEEN:
        pause(PAUSE)
        _Paused.at = clock()
