"""Work in processes of their own, some at once, until it is done or time is up."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing import connection, get_context
from multiprocessing.process import BaseProcess
from typing import TypeVar

Work = TypeVar("Work")


def each(do: Callable[[Sequence[Work]], object], groups: Sequence[Sequence[Work]], jobs: int, seconds: float) -> None:
    """Do all ``groups`` in their order, each in a fork of this process, so that one that dies takes no other down.

    After ``seconds`` no other is begun, and those under way are ended.
    """
    context, end = get_context("fork"), time.monotonic() + seconds
    waiting, running = [*reversed(groups)], dict[int, tuple[BaseProcess, Sequence[Work]]]()
    while (waiting or running) and time.monotonic() < end:
        while waiting and len(running) < jobs:
            group = waiting.pop()
            process = context.Process(target=do, args=(group,))
            process.start()
            running[process.sentinel] = process, group
        for sentinel in connection.wait([*running], min(end - time.monotonic(), 60.0)):
            process, group = running.pop(sentinel)
            process.join()
            if process.exitcode:
                print(*group, "had a process that ended with", process.exitcode, file=sys.stderr, flush=True)
    for process, _ in running.values():
        process.kill()
        process.join()
