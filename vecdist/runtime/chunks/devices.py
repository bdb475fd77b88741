"""Devices of this host that share work: each has a thread and a stream of its own."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, final

from vecdist.graph.leaves import array_kind
from vecdist.graph.memo import in_children

T = TypeVar("T")
BY_ADDRESS = 4  # cudaMemcpyDefault: addresses say which memories a copy is from and to


@final
class Group:
    """Devices by their numbers, ``None`` for the processor; one may be there several times.

    A task of a device runs in its thread, on its stream; that of the first in the thread that asks.
    """

    def __init__(self, numbers: Sequence[int | None]) -> None:
        self.numbers: tuple[int | None, ...] = tuple(numbers)
        self.kind: str = "cpu" if self.numbers[0] is None else "cuda"
        self._streams: dict[tuple[int, str], Any] = {}
        self._events: dict[tuple[int, str], Any] = {}
        self._last: int | None = None  # the stream that asked for the last round
        self._renew()
        _groups.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Group, (self.numbers,)

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return ", ".join("cpu" if number is None else f"cuda:{number}" for number in self.numbers)

    def _renew(self) -> None:
        """Begin without threads."""
        self._threads: dict[int, ThreadPoolExecutor] = {}
        self._lock: Any = threading.RLock()

    def each(self, task: Callable[[int], T]) -> list[T]:
        """What ``task`` gives for the place of each device, all at once; the error of the first that raises one."""
        others = [self.submit(place, task, place) for place in range(1, len(self))]
        try:
            first = self._on(0, task, 0)
        finally:
            for other in others:
                other.exception()
        return [first, *(other.result() for other in others)]

    def in_turn(self, task: Callable[[int], T]) -> list[T]:
        """As ``each``, in the thread that asks: to wake another takes longer than to launch a few kernels."""
        return [self._on(place, task, place) for place in range(len(self))]

    def submit(self, place: int, task: Callable[..., T], *given: Any) -> Future[T]:
        """What a task of the device at ``place`` will give."""
        if place not in self._threads:
            self._threads[place] = ThreadPoolExecutor(1, thread_name_prefix=f"vecdist-device-{place}")
        return self._threads[place].submit(self._on, place, task, *given)

    def _on(self, place: int, task: Callable[..., T], *given: Any) -> T:
        with self.on(place):
            return task(*given)

    @contextlib.contextmanager
    def on(self, place: int) -> Iterator[Any]:
        """Inside, the device at ``place`` is the current one, and its stream, which is given, the current stream."""
        if self.kind == "cpu":
            yield None
            return
        import cupy

        with cupy.cuda.Device(self.numbers[place]), self.stream(place) as stream:
            yield stream

    def there(self, place: int) -> Any:
        """Inside, the device at ``place`` is the current one."""
        import cupy

        return cupy.cuda.Device(self.numbers[place])

    def stream(self, place: int, purpose: str = "computes") -> Any:
        """The stream of a device that computes, or one of its own for another purpose."""
        if (place, purpose) not in self._streams:
            import cupy

            connect(self.numbers[0], self.numbers[place])
            with cupy.cuda.Device(self.numbers[place]):
                self._streams.setdefault((place, purpose), cupy.cuda.Stream(non_blocking=True))
        return self._streams[place, purpose]

    @contextlib.contextmanager
    def leading(self) -> Iterator[Callable[[Any], Any] | None]:
        """Inside, the first device is the current one: what is whole lies there, moved by what is given."""
        if self.kind == "cpu":
            yield None
            return
        import cupy

        with cupy.cuda.Device(self.numbers[0]):
            yield here

    @contextlib.contextmanager
    def in_line(self) -> Iterator[Any]:
        """Inside, what is asked of the current stream of the first device, which is given, is one round."""
        with self._lock, self.leading():
            import cupy

            current = cupy.cuda.get_current_stream()
            ended = self._event(0, "ended")
            if self._last not in (None, current.ptr):  # another stream may still read what the last round gave
                current.wait_event(ended)
            try:
                yield current
            finally:
                current.record(ended)
                self._last = current.ptr

    @contextlib.contextmanager
    def in_order(self) -> Iterator[Callable[[], None]]:
        """Inside, the streams of all devices follow what was asked of the first before, on its current stream.

        Given is a function that makes that stream follow them.  Rounds follow each other, whoever asks for them.
        """
        with self._lock, self.leading():
            if self.kind == "cpu":
                yield _nothing
                return
            import cupy

            current = cupy.cuda.get_current_stream()
            begun, ended = self._event(0, "begun"), self._event(0, "ended")
            current.record(begun)
            streams = [self.stream(place) for place in range(len(self))]
            for stream in streams:
                stream.wait_event(begun)
                if self._last not in (None, current.ptr):  # another stream may still read what the last round gave
                    stream.wait_event(ended)
            try:
                yield self._joined
            finally:
                self._joined()
                current.record(ended)
                self._last = current.ptr

    def _joined(self) -> None:
        """Have the current stream of the first device follow the streams of all."""
        import cupy

        current = cupy.cuda.get_current_stream()
        for place in range(len(self)):
            done = self._event(place, "done")
            self.stream(place).record(done)
            current.wait_event(done)

    def _event(self, place: int, name: str) -> Any:
        """An event of a device; it is recorded again and again, and waits for it are for the last time before."""
        if (place, name) not in self._events:
            import cupy

            with cupy.cuda.Device(self.numbers[place]):
                self._events[place, name] = cupy.cuda.Event(disable_timing=True)
        return self._events[place, name]


def recorded(stream: Any) -> Any:
    """An event of a stream of the current device, where it is now."""
    import cupy

    return stream.record(cupy.cuda.Event(disable_timing=True))


def here(array: Any) -> Any:
    """An array on the current device: itself, or a copy that the current stream makes; anything else as it is."""
    if array_kind(array) != "cupy":
        return array
    import cupy

    if array.device.id == cupy.cuda.device.get_device_id():
        return array
    with array.device:
        array = cupy.ascontiguousarray(array)
        there = recorded(cupy.cuda.get_current_stream())
    cupy.cuda.get_current_stream().wait_event(there)
    found = cupy.empty(array.shape, array.dtype)
    copy_to(found, array)
    return found


def connect(first: int | None, second: int | None) -> None:
    """Have copies between two GPUs take the link between them, where there is one; else they go through the host."""
    import cupy

    runtime = cupy.cuda.runtime
    for here_, there in ((first, second), (second, first)):
        with cupy.cuda.Device(here_):
            if here_ != there and runtime.deviceCanAccessPeer(here_, there):
                with contextlib.suppress(runtime.CUDARuntimeError):  # who did so before is no error
                    runtime.deviceEnablePeerAccess(there)


def copy_to(target: Any, source: Any, stream: Any = None) -> None:
    """Copy an array to another, of any device; both lie in one piece, and a stream copies, or the current one."""
    import cupy

    stream = (stream or cupy.cuda.get_current_stream()).ptr
    cupy.cuda.runtime.memcpyAsync(target.data.ptr, source.data.ptr, source.nbytes, BY_ADDRESS, stream)


def _nothing() -> None:
    pass


def _renew_all() -> None:
    for group in _groups:
        group._renew()


_groups: weakref.WeakSet[Group] = weakref.WeakSet()
in_children(_renew_all)
