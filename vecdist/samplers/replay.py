"""Kernels that are launched in the same order on the same arrays again and again: on a GPU, as one CUDA graph."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, final

from vecdist.runtime.cuda.graphs import captured, is_replayable, own_memory

Call = tuple[Callable[..., Any], Sequence[Any], Sequence[Any]]
"""A kernel, what it reads and what it writes."""


@final
class Launches:
    """Calling it launches kernels one after the other; on a GPU the first call captures them, the others replay.

    Where one has a call between its kernels that cannot be captured, all calls launch.
    Calls must be made on one stream that can be captured, as inside ``own_stream``.
    """

    def __init__(self, calls: Sequence[Call], on_gpu: bool) -> None:
        self.calls: tuple[Call, ...] = tuple(calls)
        self.replayed: bool = on_gpu and all(is_replayable(run) for run, *_ in self.calls)
        self._graph: Any = None
        self._memory: Any = None
        self._stream: Any = None

    def __call__(self) -> None:
        if self._graph is not None:
            self._graph.launch(self._stream)
            return
        if not self.replayed:
            self._launch()
            return
        with own_memory([run for run, *_ in self.calls]) as self._memory:
            self._launch()  # what a first launch makes cannot be made inside a capture
            self._capture()

    def _launch(self) -> None:
        for run, arrays, out in self.calls:
            run(arrays, out)

    def _capture(self) -> None:
        import cupy

        self._stream = cupy.cuda.get_current_stream()
        self._graph = captured(self._stream, self._launch)
        self.replayed = self._graph is not None


@contextlib.contextmanager
def own_stream(on_gpu: bool) -> Any:
    """Inside, a GPU works on a stream of its own, after what it was asked for before; at the end it is waited for."""
    if not on_gpu:
        yield
        return
    import cupy

    earlier = cupy.cuda.get_current_stream().record()
    with _stream() as stream:
        stream.wait_event(earlier)
        yield
        stream.synchronize()


class _Streams(threading.local):
    """The streams of a thread, by device: kept, for kernels keep working memory for every stream that they run on."""

    def __init__(self) -> None:
        self.by_device: dict[int, Any] = {}


_streams = _Streams()


def _stream() -> Any:
    import cupy

    device = cupy.cuda.device.get_device_id()
    if device not in _streams.by_device:
        _streams.by_device[device] = cupy.cuda.Stream(non_blocking=True)
    return _streams.by_device[device]
