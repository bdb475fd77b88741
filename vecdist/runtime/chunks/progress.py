"""A line of text on how far a round over pieces is, where a terminal shows it and it takes seconds."""

from __future__ import annotations

import sys
import time
from typing import final

BEGINS, PAUSE = 2.0, 0.2  # seconds until the first line, and between two
WIDTH = 24


@final
class Progress:
    """A bar with rows per second, written over itself on stderr."""

    def __init__(self, total: int) -> None:
        self.total: int = total
        self._start = time.perf_counter()
        self._last = BEGINS - PAUSE
        self._shown = False

    def show(self, done: int) -> None:
        """Write the line for so many rows, if it is time."""
        passed = time.perf_counter() - self._start
        if passed - self._last < PAUSE or not sys.stderr.isatty():
            return
        self._last, self._shown = passed, True
        filled = WIDTH * done // self.total
        bar = f"|{'█' * filled}{' ' * (WIDTH - filled)}|"
        sys.stderr.write(f"\rrows {bar} {done:,} of {self.total:,}, {done / passed:,.0f} rows/s   ")
        sys.stderr.flush()

    def close(self) -> None:
        """End the line."""
        if self._shown:
            sys.stderr.write("\n")
