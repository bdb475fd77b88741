"""Kernels that are launched in the same order on the same arrays again and again: on a GPU, as one CUDA graph."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, final

Call = tuple[Callable[..., Any], Sequence[Any], Sequence[Any]]
"""A kernel, what it reads and what it writes."""


@final
class Launches:
    """Calling it launches kernels one after the other; on a GPU the first call captures them, the others replay.

    Where one is several kernels with products of matrices between them, which cannot be captured, all calls launch.
    Calls must be made on one stream that can be captured, as inside ``own_stream``.
    """

    def __init__(self, calls: Sequence[Call], on_gpu: bool) -> None:
        self.calls: tuple[Call, ...] = tuple(calls)
        self.replayed: bool = on_gpu and all(getattr(run, "capturable", True) for run, *_ in self.calls)
        self._graph: Any = None
        self._stream: Any = None

    def __call__(self) -> None:
        if self._graph is not None:
            self._graph.launch(self._stream)
            return
        self._launch()  # on a GPU too: what a first launch makes cannot be made inside a capture
        if self.replayed:
            self._capture()

    def _launch(self) -> None:
        for run, arrays, out in self.calls:
            run(arrays, out)

    def _capture(self) -> None:
        import cupy

        self._stream = cupy.cuda.get_current_stream()
        self._stream.begin_capture()
        try:
            self._launch()
        finally:
            self._graph = self._stream.end_capture()


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
