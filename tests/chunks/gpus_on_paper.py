"""GPUs on paper: as much of CuPy as rounds over chunks use, where streams do their work as late, or as soon, as may be.

A stream is a queue.  Whenever something is asked of the host, some heads of queues that no event holds back are done,
in a random order, so that what is not ordered by events comes out wrong; a kernel reads arrays of its device alone.
"""

import contextlib
import ctypes
import importlib.machinery
import sys
import threading
from types import ModuleType, SimpleNamespace
from unittest import mock

import numpy as np

from vecdist.runtime import pipeline
from vecdist.runtime.base import length_of
from vecdist.runtime.chunks.work import Work
from vecdist.runtime.interpreter import interpret


class World:
    """All streams, and the memory that they may still use."""

    def __init__(self, seed, limit=None):
        self.rng, self.lock, self.local = np.random.default_rng(seed), threading.RLock(), threading.local()
        self.streams, self.held, self.limit, self.copies, self.launches = [], [], limit, 0, 0
        self.defaults = {number: Stream(self, number) for number in range(4)}

    @property
    def device(self):
        return getattr(self.local, "device", 0)

    @property
    def stream(self):
        return getattr(self.local, "stream", {}).get(self.device) or self.defaults[self.device]

    def ask(self, task):
        """Have the current stream do something, some time."""
        with self.lock:
            self.stream.ask(task)
            self.turn(int(self.rng.integers(0, 4)))

    def turn(self, count):
        for _ in range(count):
            ready = [stream for stream in self.streams if stream.queue and stream.ready]
            if not ready:
                return
            ready[self.rng.integers(len(ready))].step()

    def until(self, done):
        with self.lock:
            while not done():
                assert any(stream.queue and stream.ready for stream in self.streams), "streams wait for each other"
                self.turn(1)

    def empty(self, shape, dtype=float):
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        if self.limit is not None and size > self.limit:
            raise OutOfMemoryError(f"{size} bytes are asked for")
        found = np.full(shape, -99, dtype).view(Array)
        found.number, found.world = self.device, self
        self.held.append(found)
        return found


class OutOfMemoryError(MemoryError):
    pass


class Device:
    compute_capability = "90"

    def __init__(self, world, number):
        self.world, self.id = world, int(number)

    def __enter__(self):
        self.world.local.outside = [*getattr(self.world.local, "outside", []), self.world.device]
        self.world.local.device = self.id

    def __exit__(self, *_):
        *self.world.local.outside, self.world.local.device = self.world.local.outside


class Event:
    """Waits for it are for what it was recorded behind last."""

    def __init__(self, world):
        self.world, self.number, self.mark, self.graph = world, world.device, Mark(done=True), None

    def synchronize(self):
        assert self.graph is None, "an event inside a graph is nothing to wait for"
        mark = self.mark
        self.world.until(lambda: mark.done)


class Mark:
    def __init__(self, done):
        self.done = done


class Graph:
    """What streams were asked for, from one of them on; a launch has marks, and streams but the first, of its own."""

    def __init__(self, world, origin):
        self.world, self.asked = world, {origin: []}

    def check(self):
        _, *others = self.asked.values()
        waited = {id(mark) for asked in self.asked.values() for kind, mark in asked if kind == "wait"}
        for asked in others:
            assert asked[-1][0] == "record" and id(asked[-1][1]) in waited, "a stream did not come back"

    def launch(self, stream):
        marks = {}
        with self.world.lock:
            self.world.launches += 1
            for place, (old, asked) in enumerate(self.asked.items()):
                on = stream if place == 0 else Stream(self.world, old.number)
                for kind, what in asked:
                    mark = marks.setdefault(id(what), Mark(done=False))
                    if kind == "wait":
                        on.queue.append(mark)
                    else:
                        on.queue.append(what if kind == "do" else lambda mark=mark: setattr(mark, "done", True))


class Stream:
    def __init__(self, world, number):
        self.world, self.number, self.queue, self.graph = world, number, [], None
        self.ptr = 1000 + len(world.streams)
        world.streams.append(self)

    @property
    def ready(self):
        return not isinstance(self.queue[0], Mark) or self.queue[0].done

    def step(self):
        task = self.queue.pop(0)
        if not isinstance(task, Mark):
            task()

    def ask(self, task):
        if self.graph is None:
            self.queue.append(task)
        else:
            self.graph.asked[self].append(("do", task))

    def record(self, event):
        assert event.number == self.number, "an event belongs to the device of its stream"
        mark, event.graph = Mark(done=False), self.graph
        event.mark = mark
        with self.world.lock:
            if self.graph is None:
                self.queue.append(lambda: setattr(mark, "done", True))
            else:
                self.graph.asked[self].append(("record", mark))
        return event

    def wait_event(self, event):
        with self.world.lock:
            if event.graph is not None:
                self.graph = event.graph
                self.graph.asked.setdefault(self, [])
            if self.graph is None:
                self.queue.append(event.mark)
            else:
                assert event.graph is self.graph, "what is captured cannot wait for what is not"
                self.graph.asked[self].append(("wait", event.mark))

    def synchronize(self):
        assert self.graph is None, "nothing is waited for while a stream captures"
        self.world.until(lambda: not self.queue)

    def begin_capture(self):
        self.graph = Graph(self.world, self)

    def end_capture(self):
        graph = self.graph
        for stream in graph.asked:
            stream.graph = None
        graph.check()
        return graph

    def __enter__(self):
        assert self.world.device == self.number, "a stream is current on its device"
        local = self.world.local
        local.stream = getattr(local, "stream", {})
        local.outer = [*getattr(local, "outer", []), local.stream.get(self.number)]
        local.stream[self.number] = self
        return self

    def __exit__(self, *_):
        local = self.world.local
        *local.outer, local.stream[self.number] = local.outer


class Array(np.ndarray):
    """An array of a GPU; what is computed of it is done by the stream that is current now."""

    number, world = None, None

    def __array_finalize__(self, other):
        self.number, self.world = getattr(other, "number", None), getattr(other, "world", None)

    @property
    def data(self):
        return SimpleNamespace(ptr=self.ctypes.data)

    @property
    def device(self):
        return Device(self.world, self.number)

    @property
    def host(self):
        return self.view(np.ndarray)

    def get(self):
        self.world.until(lambda: not any(stream.queue for stream in self.world.streams))
        return self.host.copy()

    def _later(self, make, *given):
        """What ``make`` gives of arrays, some time."""
        self.world.local.device = getattr(self.world.local, "device", 0)
        assert all(each.number == self.world.device for each in (self, *given) if isinstance(each, Array))
        plain = [each.host if isinstance(each, Array) else each for each in (self, *given)]
        shown = make(*[np.ones_like(each) for each in plain])
        found = self.world.empty(np.shape(shown), shown.dtype)
        self.world.ask(lambda: np.copyto(found.host, make(*plain)))
        return found

    def __array_ufunc__(self, ufunc, method, *given, **_):
        if method == "reduce":  # np.any of a flag, which the host waits for
            return ufunc.reduce(given[0].get(), axis=None)
        owner = next(each for each in given if isinstance(each, Array))
        if owner is given[0]:
            return owner._later(ufunc, *given[1:])
        return owner._later(lambda second, first: ufunc(first, second), given[0])

    def astype(self, dtype, copy=True):
        return self._later(lambda array: array.astype(dtype))

    def copy(self, order="C"):
        return self._later(np.copy)

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        return super().__getitem__(key if Ellipsis in key else (*key, ...))

    def __setitem__(self, key, value):
        assert self.number == value.number == self.world.device
        self.world.ask(lambda: self.host.__setitem__(key, value.host))


Array.__module__ = "cupy"


def prepared(world):
    """What stands for launches: the interpreter of graphs, some time."""

    def of_work(work, count, arrays):
        lengths = work.at(count)
        shapes = [[length_of(dim, lengths) for dim in root.shape] for root in work.step.roots]

        def run(given, out=None):
            there = [each for each in given if isinstance(each, Array)]
            device = world.device
            assert all(each.number == device for each in there), "a kernel reads memory of another GPU"
            plain = [each.host if isinstance(each, Array) else _plain(each) for each in given]
            found = out or [world.empty(shape, root.dtype) for shape, root in zip(shapes, work.step.roots, strict=True)]
            assert all(each.number == device for each in found), "a kernel writes memory of another GPU"

            def task():
                for target, value in zip(found, interpret(work.step.roots, plain, lengths), strict=True):
                    target.host[...] = value.reshape(target.shape)

            world.ask(task)
            return found, False

        return run

    return of_work


def _plain(value):
    return np.empty(0) if value is None else np.asarray(value)


def libraries(world):
    """Modules that stand for CuPy."""
    cupy, cupyx = ModuleType("cupy"), ModuleType("cupyx")
    cupy.__spec__ = importlib.machinery.ModuleSpec("cupy", None)

    def copied(target, source, size, kind, pointer):
        stream = next(each for each in world.streams if each.ptr == pointer)
        with world.lock:
            world.copies += 1
            stream.ask(lambda: ctypes.memmove(target, source, size))

    def asarray(array, dtype=None):
        found = world.empty(np.shape(array), dtype or np.asarray(array).dtype)
        value = np.array(array, found.dtype)
        world.ask(lambda: np.copyto(found.host, value))
        return found

    runtime = SimpleNamespace(
        getDeviceCount=lambda: len(world.defaults), memcpyAsync=copied, memoryTypeHost=1,
        pointerGetAttributes=lambda pointer: SimpleNamespace(type=pointer % 3 == 0),
        deviceCanAccessPeer=lambda first, second: False,
    )  # fmt: skip
    cupy.cuda = SimpleNamespace(
        Device=lambda number: Device(world, number), Stream=lambda non_blocking=True: Stream(world, world.device),
        Event=lambda disable_timing: Event(world), runtime=runtime, get_current_stream=lambda: world.stream,
        device=SimpleNamespace(get_device_id=lambda: world.device),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
    )  # fmt: skip
    cupy.ndarray, cupy.empty, cupy.asarray = Array, world.empty, asarray
    cupy.empty_like = lambda like: world.empty(like.shape, like.dtype)
    cupy.ascontiguousarray = lambda array: array if array.flags.c_contiguous else array.copy()
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None)
    cupyx.empty_pinned = np.empty
    return {"cupy": cupy, "cupyx": cupyx}


@contextlib.contextmanager
def gpus(seed=0, limit=None):
    """Inside, there are four GPUs; an array of more bytes than ``limit`` does not fit."""
    world = World(seed, limit)
    plan = SimpleNamespace(program=SimpleNamespace(source=None), kernel=None, primitives=(), lowered=None)
    memo = type(pipeline._launches)
    with (
        mock.patch.dict(sys.modules, libraries(world)), mock.patch.object(Work, "prepared", prepared(world)),
        mock.patch.object(Work, "plan", return_value=plan), mock.patch.object(pipeline, "_launches", memo(100)),
        mock.patch("vecdist.runtime.chunks.work._runs", memo(100)),
        mock.patch("vecdist.runtime.chunks.streaming._fitting", memo(64)),
        mock.patch("vecdist.lazy.devices._groups", memo(64)),
    ):
        yield world

