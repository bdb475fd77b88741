"""A line of text on how sampling goes, written over itself on stderr."""

from __future__ import annotations

import sys
import time
from typing import final

PAUSE = 0.2  # seconds between two lines
WIDTH = 24


@final
class Progress:
    """A bar with draws per second, the step size, acceptance and divergences; silent where ``shown`` is false."""

    def __init__(self, total: int, chains: int, shown: bool) -> None:
        self.total: int = total
        self.chains: int = chains
        self.shown: bool = shown
        self._start = time.perf_counter()
        self._last = -PAUSE
        self._longest = 0

    @property
    def due(self) -> bool:
        """Whether the next line would be written."""
        return self.shown and time.perf_counter() - self._start - self._last >= PAUSE

    def show(self, done: int, what: str, step: float, acceptance: float | None, divergences: int) -> None:
        """Write the line for ``done`` draws of every chain."""
        if not self.shown:
            return
        passed = time.perf_counter() - self._start
        self._last = passed
        filled = WIDTH * done // max(self.total, 1)
        rate = done * self.chains / max(passed, 1e-9)
        accepted = "" if acceptance is None else f"acceptance {acceptance:.2f}, "
        line = (
            f"{what} |{'█' * filled}{' ' * (WIDTH - filled)}| {done}/{self.total} of {self.chains} chains, "
            f"step size {step:.3g}, {accepted}{divergences} divergences, {rate:,.0f} draws/s"
        )
        self._longest = max(self._longest, len(line))
        sys.stderr.write("\r" + line.ljust(self._longest))
        sys.stderr.flush()

    def close(self) -> None:
        """End the line."""
        if self.shown and self._longest:
            sys.stderr.write("\n")
            sys.stderr.flush()
