"""Runs of several steps that are asked for again and again: captured as CUDA graphs by themselves.

A kernel, a product by cuBLAS and a kernel cost the host some 100 us in turn, and a graph of them 10.  A graph holds
addresses, so small arrays that are given are copied to where it reads them, large ones are those that were captured,
and results are copied to arrays of their own.  The first runs, and those on other large arrays, are as they would be.
"""

from __future__ import annotations

import math
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from vecdist.primitives.captured_products import is_room
from vecdist.runtime.base import Runner
from vecdist.runtime.cuda.copies import Copied, copied
from vecdist.runtime.cuda.graphs import aside, captured

OFTEN = 8  # runs on the same large arrays, from which on they are captured
COPIED = 2**16  # bytes of a small array
MOST = 2**28  # bytes between the steps of a graph: runs of more take longer than asking for them does
KEPT = 16  # graphs, of all runs together
MOST_KEPT = 2**30  # bytes between the steps of all these
CHANGING = 64  # sets of large arrays, from which on a run is not captured

_lock = threading.Lock()
_kept: OrderedDict[Any, _Graph] = OrderedDict()


class _Graph(NamedTuple):
    """A captured run: where it reads small arrays, its results and where they lie in one piece, and its memory.

    So many bytes lie between its steps.
    """

    graph: Any
    inputs: Sequence[Any]
    results: Sequence[Any]
    offsets: Sequence[int]
    size: int
    memory: Any
    held: int


@final
class Repeated:
    """A run that is replayed from when it is asked for often; ``size`` bytes lie between its steps.

    What is captured by others is theirs: it is run as it is.
    """

    def __init__(self, run: Any, size: int) -> None:
        import cupy

        self.run: Runner = run
        self.capturable: bool = run.capturable
        self.refused: tuple[str, ...] = run.refused
        self._size: int = size
        self._still: bool = size <= MOST
        self._asked: Counter[Any] = Counter()
        self._keys: list[Any] = []
        self._graphs = _kept  # which is gone when the interpreter ends
        self._lock = threading.Lock()
        self._device = cupy.cuda.device.get_device_id
        self._stream = cupy.cuda.get_current_stream

    def __call__(self, arrays: Sequence[Any], out: Any = None) -> tuple[Sequence[Any], Any]:
        if out is None and self._still:
            stream = self._stream()
            with self._lock:
                found = self._graph(arrays, stream)
                if found is not None:
                    return _replayed(found, stream, arrays), False
        return self.run(arrays, out)

    def __del__(self) -> None:
        for key in self._keys:
            self._graphs.pop(key, None)

    def _graph(self, arrays: Sequence[Any], stream: Any) -> _Graph | None:
        """The graph for these arrays and the current stream, once there is one."""
        places = tuple(map(_place, arrays))
        if None in places or is_room() or (stream.ptr and stream.is_capturing()):  # by others
            return None
        key = id(self), self._device(), stream.ptr, places
        found = _used(key)
        if found is None:
            self._asked[key] += 1
            self._still = len(self._asked) < CHANGING
            found = self._captured(key, arrays, stream) if self._asked[key] >= OFTEN else None
        return found

    def _captured(self, key: Any, arrays: Sequence[Any], stream: Any) -> _Graph | None:
        """A graph that is kept for the next time."""
        try:
            made = _made(self.run, arrays, stream, self._size)
        except Exception:  # whatever a library refuses: the run itself is as good, and tells of what is wrong
            made = None
        if made is None:
            self._still = False
            return None
        del self._asked[key]
        self._keys.append(key)
        _keep(key, made)
        return made


def _used(key: Any) -> _Graph | None:
    """The graph that is kept under a key: now the last that was used."""
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
        return _kept.get(key)


def _keep(key: Any, made: _Graph) -> None:
    """Keep a graph, in the place of those that were used longest ago."""
    with _lock:
        _kept[key] = made
        while len(_kept) > KEPT or (len(_kept) > 1 and sum(each.held for each in _kept.values()) > MOST_KEPT):
            _kept.popitem(last=False)


def _replayed(found: _Graph, stream: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
    """The results of a replay on arrays, in memory of their own."""
    import cupy

    given = zip(found.inputs, arrays, strict=True)
    copied([Copied(array.data.ptr, own.data.ptr, own.nbytes) for own, array in given if own is not None])
    found.graph.launch(stream)
    whole = cupy.empty(found.size, "u1").data
    places = list(zip(found.results, found.offsets, strict=True))
    copied([Copied(each.data.ptr, whole.ptr + offset, each.nbytes) for each, offset in places])
    return tuple([cupy.ndarray(each.shape, each.dtype, whole + offset) for each, offset in places])


def _place(array: Any) -> Any:
    """What of an argument a graph holds: of a small one its shape alone; ``None`` for a number."""
    if isinstance(array, np.generic):
        return None
    if array is None:  # in the place of what the steps make
        return ()
    return array.shape if _is_small(array) else (array.data.ptr, array.shape, array.strides)


def _is_small(array: Any) -> bool:
    return array is not None and array.nbytes <= COPIED and array.flags.c_contiguous


def _made(run: Runner, arrays: Sequence[Any], stream: Any, held: int) -> _Graph | None:
    """The graph of a run, with what it reads and writes; ``None`` where CuPy refuses to capture a call."""
    import cupy

    inputs = [cupy.empty_like(array) if _is_small(array) else None for array in arrays]
    given = [array if own is None else own for array, own in zip(arrays, inputs, strict=True)]
    for own, array in zip(inputs, arrays, strict=True):
        if own is not None:
            own[...] = array
    results: list[Any] = []

    def launch() -> None:
        results[:] = run(given)[0]

    with aside(stream, run) as (other, memory):
        run(given)  # what a first launch makes cannot be made inside a capture
        other.synchronize()
        graph = captured(other, launch)
    if graph is None or not all(each.flags.c_contiguous for each in results):
        return None
    ends = np.cumsum([0, *(-(-each.nbytes // 512) * 512 for each in results)])
    offsets, size = [int(end) for end in ends[:-1]], max(1, int(ends[-1]))
    return _Graph(graph, inputs, results, offsets, size, (memory, given), held)


def size_of(kinds: Iterable[tuple[Sequence[int], Any]]) -> int:
    """The bytes of arrays of these shapes and dtypes."""
    return sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in kinds)
