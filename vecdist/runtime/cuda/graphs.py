"""CUDA graphs: a launch captured once, and replayed at less cost than a launch."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numpy as np

from vecdist.primitives.captured_products import room
from vecdist.runtime.outputs import Outputs

GRAPHS = 16  # sets of addresses for which a launch is captured; for more of them, it is launched as it is

MISSING: Any = object()

_lock = threading.Lock()
_streams: dict[tuple[int, int], Any] = {}
_rooms: dict[tuple[int, int], Any] = {}


def is_replayable(run: Any) -> bool:
    """Whether a CUDA graph can hold a run: a kernel, or kernels with calls between them that all are capturable."""
    return is_plain(run) or not getattr(run, "refused", ("what is unknown",))


def is_plain(run: Any) -> bool:
    """Whether a run is a launch, without calls of libraries and memory between kernels."""
    return getattr(run, "capturable", True)


@contextlib.contextmanager
def own_memory(runs: Sequence[Any], again: Any = None) -> Iterator[Any]:
    """Inside, arrays between kernels lie in memory of which nobody else is given any; it lives as what this gives.

    A run before the capture has it ready, inside, or where what it gave then is given ``again``.  Without such arrays
    it is no other memory than before.
    """
    if all(map(is_plain, runs)):
        yield None
        return
    import cupy

    pool, working = again or (cupy.cuda.MemoryPool(), None)
    with cupy.cuda.using_allocator(pool.malloc), room(working) as working:
        yield pool, working


@final
class Replayed:
    """A run whose results lie in the same arrays every time, replayed where it is given the same arrays again.

    A graph holds addresses, and the numbers among the arguments: a run with others is captured as another graph.
    """

    def __init__(self, run: Callable[..., tuple[Sequence[Any], Any]], outputs: Outputs) -> None:
        import cupy

        self.run = run
        self.results: tuple[Any, ...] = tuple(map(cupy.empty, outputs.shapes, outputs.dtypes))
        self._device = cupy.cuda.device.get_device_id
        self._stream = cupy.cuda.get_current_stream
        self._graphs: dict[tuple, Any] = {}  # with their memory; None where one cannot be captured after all

    def __call__(self, arrays: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        stream = self._stream()
        if stream.ptr and stream.is_capturing():  # by the user, who captures the kernel itself
            return self.run(arrays, self.results)
        key = (self._device(), stream.ptr, *[_identity(array) for array in arrays])
        found = self._graphs.get(key, MISSING)
        if found is MISSING and len(self._graphs) < GRAPHS:
            found = self._graphs[key] = self._captured(arrays, stream)
        if found is MISSING or found is None:
            return self.run(arrays, self.results)
        found[0].launch(stream)
        return self.results, False

    def _captured(self, arrays: Sequence[Any], stream: Any) -> Any:
        """The graph of a launch on ``arrays``, and its memory.

        One launch before it makes ready a stream that the user may capture.  ``None`` where CuPy refuses to capture a
        call, as of products of arrays that lie neither by rows nor by columns.
        """
        self.run(arrays, self.results)
        with aside(stream, self.run) as (other, memory):
            self.run(arrays, self.results)  # what a first launch makes cannot be made inside a capture
            other.synchronize()
            graph = captured(other, lambda: self.run(arrays, self.results))
        return None if graph is None else (graph, memory)


def captured(stream: Any, launch: Callable[[], Any]) -> Any:
    """The graph of what is launched on a stream, ``None`` where CuPy refuses to capture a call."""
    refused = False
    stream.begin_capture()
    try:
        launch()
    except NotImplementedError:
        refused = True
    finally:
        graph = stream.end_capture()
    return None if refused else graph


def _identity(array: Any) -> Any:
    """What of an argument a graph holds."""
    return array.tobytes() if isinstance(array, np.generic) else (array.data.ptr, array.strides)


@contextlib.contextmanager
def aside(stream: Any, run: Any) -> Iterator[tuple[Any, Any]]:
    """Inside, one thread has the stream to capture a run on, behind what ``stream`` was asked for, and its memory."""
    import cupy

    key = (cupy.cuda.device.get_device_id(), stream.ptr)
    with _lock, _capture_stream(*key) as other, own_memory([run], (cupy.cuda.MemoryPool(), _rooms.get(key))) as memory:
        if memory is not None:
            _rooms[key] = memory[1]  # graphs that are launched on one stream share it
        other.wait_event(stream.record())  # earlier results may still be read
        yield other, memory


def _capture_stream(device: int, stream: int) -> Any:
    """A stream to capture on what is launched on one of a device.

    The default stream cannot capture.  There is one for each, and it is kept: a kernel's sums belong to the stream that
    it was captured on, and two streams that replay at once must not share them.
    """
    import cupy

    if (device, stream) not in _streams:
        _streams[device, stream] = cupy.cuda.Stream(non_blocking=True)
    return _streams[device, stream]
