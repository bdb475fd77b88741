"""Arrays of the host on their way to a GPU: as they lie where they are pinned, else through pinned blocks."""

from __future__ import annotations

import math
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, final

import numpy as np

from vecdist.runtime.chunks.devices import BY_ADDRESS, recorded

THREADS = 8  # that fill blocks; one copies slower than a link does
BLOCK = 2**23  # bytes: threads that send smaller ones wait for each other in the driver


@final
class Senders:
    """Threads that fill blocks of pinned memory and send them, two blocks for each; who reads holds ``reading``."""

    def __init__(self) -> None:
        self.reading: Any = threading.Lock()
        count = max(1, min(THREADS, os.cpu_count() or 1))
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="vecdist-sender")
        self._blocks: queue.SimpleQueue[Block] = queue.SimpleQueue()
        for _ in range(2 * count):
            self._blocks.put(Block())

    def send(self, target: Any, rows: np.ndarray, stream: Any, on: Callable[[], Any]) -> None:
        """Have a stream of the current device copy rows to the first of ``target``; ``on`` gives what makes it current.

        Rows that are pinned must not change before they are sent; of others nothing is read when this has returned.
        """
        if not rows.nbytes:
            return
        if is_pinned(rows):
            _copy(target.data.ptr, rows, stream)
            return
        row = math.prod(rows.shape[1:]) * rows.itemsize
        each = max(1, BLOCK // row)

        def share(first: int) -> None:
            with on():
                part = rows[first : first + each]
                block = self._blocks.get()
                try:
                    block.send(target.data.ptr + first * row, part, stream)
                finally:
                    self._blocks.put(block)

        list(self._threads.map(share, range(0, len(rows), each)))

    def close(self) -> None:
        """Wait until all is sent, and give back the blocks."""
        self._threads.shutdown()
        while not self._blocks.empty():
            self._blocks.get().wait()


@final
class Block:
    """Pinned memory that rows are sent from."""

    def __init__(self) -> None:
        self.memory: np.ndarray = np.empty(0, np.uint8)
        self.sent: Any = None

    def wait(self) -> None:
        """Wait until what was in it is sent."""
        if self.sent is not None:
            self.sent.synchronize()

    def send(self, address: int, rows: np.ndarray, stream: Any) -> None:
        """Fill the block with rows, and have them sent to an address."""
        import cupyx

        self.wait()
        if len(self.memory) < rows.nbytes:
            self.memory = cupyx.empty_pinned(max(BLOCK, rows.nbytes), np.uint8)
        copied = self.memory[: rows.nbytes].view(rows.dtype).reshape(rows.shape)
        np.copyto(copied, rows)
        _copy(address, copied, stream)
        self.sent = recorded(stream)


def _copy(address: int, rows: np.ndarray, stream: Any) -> None:
    import cupy

    cupy.cuda.runtime.memcpyAsync(address, rows.ctypes.data, rows.nbytes, BY_ADDRESS, stream.ptr)


def is_pinned(array: np.ndarray) -> bool:
    """Whether an array lies in pinned memory, in one piece."""
    import cupy

    runtime = cupy.cuda.runtime
    if not array.nbytes or not array.flags.c_contiguous:
        return False
    return runtime.pointerGetAttributes(array.ctypes.data).type == runtime.memoryTypeHost
