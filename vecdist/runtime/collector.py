"""Python's garbage collector, which waits while a structure is planned and compiled.

Planning makes hundreds of thousands of objects that all stay, and the collector walks through them again and again: a
third of the time that a graph of a thousand log densities takes.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar, final

from vecdist.graph.memo import in_children

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

def uncollected(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """A function during whose calls, in any thread, nothing is collected; afterwards all is as it was."""

    @wraps(function)
    def called(*args: Parameters.args, **keywords: Parameters.kwargs) -> Result:
        _pause.enter()
        try:
            return function(*args, **keywords)
        finally:
            _pause.leave()

    return called


@final
class _Pause:
    """How many calls, of all threads, are under way, and whether the first of them stopped a running collector."""

    def __init__(self) -> None:
        self.lock, self.inside, self.stopped = threading.Lock(), 0, False

    def enter(self) -> None:
        with self.lock:
            if not self.inside and gc.isenabled():
                gc.disable()
                self.stopped = True
            self.inside += 1

    def leave(self) -> None:
        with self.lock:
            self.inside = max(0, self.inside - 1)
            self.resume()

    def resume(self) -> None:
        if self.stopped and not self.inside:
            gc.enable()
            self.stopped = False

    def forked(self) -> None:
        """In a child, where the threads of other calls are not."""
        self.lock, self.inside = threading.Lock(), 0
        self.resume()


_pause = _Pause()
in_children(_pause.forked)
