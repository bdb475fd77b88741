"""Arrays of the host that are sent to GPUs again and again: their pages are locked, so that no thread need copy them.

To lock pages takes longer than a pass over them; who goes over them often gets that back, for the link is faster than
the threads that copy rows into pinned memory.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

OFTEN = 16  # passes after which pages are locked: what locking them takes is then about what the copies took
PORTABLE = 1  # cudaHostRegisterPortable: for all GPUs
LEAST = 2**24  # bytes of an array that is worth it, and has pages of its own

_passes: dict[int, int] = {}
_lock = threading.Lock()


def passed(source: Any) -> None:
    """Count a pass over an array; pages of one that is in memory, and that passes are often over, are locked."""
    owner = _owner(source)
    if owner is None:
        return
    with _lock:
        if id(owner) not in _passes:
            weakref.finalize(owner, _passes.pop, id(owner), None).atexit = False
        _passes[id(owner)] = count = _passes.get(id(owner), 0) + 1
        if count == OFTEN:
            _lock_pages(owner)


def _owner(source: Any) -> np.ndarray | None:
    """The array whose memory another one is a part of, where that is memory of a process, and no file's."""
    while type(source) is np.ndarray and source.base is not None:
        source = source.base
    owns = type(source) is np.ndarray and source.flags.owndata and source.nbytes >= LEAST
    return source if owns and source.flags.writeable else None


def _lock_pages(owner: np.ndarray) -> None:
    """Lock the pages of an array until it is gone; where the system has no more of them, they stay as they are."""
    import cupy

    runtime, place = cupy.cuda.runtime, owner.ctypes.data
    if runtime.pointerGetAttributes(place).type == runtime.memoryTypeHost:
        return
    try:
        runtime.hostRegister(place, owner.nbytes, PORTABLE)
    except runtime.CUDARuntimeError:
        return
    weakref.finalize(owner, runtime.hostUnregister, place).atexit = False

