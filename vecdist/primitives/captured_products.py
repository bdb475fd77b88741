"""Products of matrices by cuBLAS while a stream captures a CUDA graph, which CuPy refuses.

CuPy's ``setStream`` raises where the stream captures (cupy/cupy, issue 6290), and every call of cuBLAS goes through it.
cuBLAS itself may be captured where scalars are read from the host when it is called, as they are here, and its working
memory is given by ``cublasSetWorkspace``; else it asks for some inside the graph (cuBLAS, section 2.1.9, CUDA Graphs
Support).  So its functions are called by their names in the library that CuPy has loaded, of CuPy's handle, of which
what CuPy calls next sets the stream anew, with the default memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

WORKING_MEMORY = {9: 32, 10: 32, 12: 12}  # MiB, by the first digit of the compute capability: cuBLAS's own
OF_OTHERS = 4  # with as much as where nothing is captured, sums are added in the same order
STARTED = "libcublas.so"


class _Room(threading.local):
    """The working memory of products that a thread captures."""

    memory: Any = None


_room = _Room()


@contextlib.contextmanager
def room(memory: Any = None) -> Iterator[Any]:
    """Inside, products on a stream that captures are captured; what it gives must live as long as their graph.

    That is working memory of the current device, or ``memory`` that it gave before.
    """
    earlier, _room.memory = _room.memory, _working_memory() if memory is None else memory
    try:
        yield _room.memory
    finally:
        _room.memory = earlier


def _working_memory() -> Any:
    """As much as the table of ``cublasSetWorkspace`` says of the current device."""
    import cupy

    major = int(cupy.cuda.Device().compute_capability[:-1])
    return cupy.empty(WORKING_MEMORY.get(major, OF_OTHERS) * 2**20, "u1")


def is_room() -> bool:
    """Whether products are captured, or made ready for that."""
    return _room.memory is not None


def capturing() -> Any:
    """The stream that captures products now, or ``None``."""
    if _room.memory is None:
        return None
    import cupy

    stream = cupy.cuda.get_current_stream()
    return stream if stream.ptr and stream.is_capturing() else None


def multiply(stream: Any, name: str, arguments: Sequence[int]) -> None:
    """Call a function ``gemm`` of cuBLAS, with all its arguments, on a stream."""
    library, handle = _library(), ctypes.c_void_p(arguments[0])
    _asked(library.cublasSetStream_v2, handle, ctypes.c_void_p(stream.ptr))
    memory = ctypes.c_void_p(_room.memory.data.ptr)
    _asked(library.cublasSetWorkspace_v2, handle, memory, ctypes.c_size_t(_room.memory.nbytes))
    batched = name.endswith("StridedBatched")
    kinds = [KINDS[letter] for letter in (BATCHED if batched else PLAIN)]
    function = getattr(library, f"cublas{name[0].upper()}{name[1:]}{'' if batched else '_v2'}")
    _asked(function, *(kind(each) for kind, each in zip(kinds, arguments, strict=True)))


KINDS: dict[str, Any] = {"i": ctypes.c_int, "p": ctypes.c_void_p, "l": ctypes.c_longlong}
PLAIN = "p" + "iiiii" + "ppipippi"  # handle; ways, m, n, k; alpha, A, lda, B, ldb, beta, C, ldc
BATCHED = "p" + "iiiii" + "ppilpilppili"  # likewise, with the step from each matrix to the next, and how many


def _asked(function: Any, *arguments: Any) -> None:
    status = function(*arguments)
    if status:
        raise RuntimeError(f"{function.__name__} of cuBLAS failed with status {status}")


@cache
def _library() -> Any:
    """The library that CuPy has loaded."""
    import cupy

    cupy.cuda.device.get_cublas_handle()
    with open("/proc/self/maps") as maps:
        paths = [line.split(maxsplit=5)[-1].strip() for line in maps if STARTED in line]
    if not paths:
        raise NotImplementedError("cuBLAS is in no library of this process that can be found, so it is not captured")
    return ctypes.CDLL(paths[0])
