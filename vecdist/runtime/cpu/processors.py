"""How many processors a process has for its work."""

from __future__ import annotations

import os


def thread_count() -> int:
    """The threads to use: the processors this process may run on, or ``NUMBA_NUM_THREADS`` where that is set."""
    given = os.environ.get("NUMBA_NUM_THREADS")
    if given:
        return max(1, int(given))
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
