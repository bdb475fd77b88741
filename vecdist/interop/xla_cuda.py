"""XLA on NVIDIA GPUs: log densities and compiled functions as foreign functions, which launch kernels on XLA's stream.

The attribute ``launch`` of a call is the address of words that describe it.  A call does the same whatever the numbers
in its buffers, and has working memory of its own, a last result that nobody reads: so it may run beside others, and be
part of XLA's command buffers, which are CUDA graphs.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from vecdist.codegen.cuda.grid import THREADS
from vecdist.interop import client
from vecdist.interop.calls import Call, Kind
from vecdist.interop.xla import ARGUMENTS, ATTRIBUTES, DATA, RESULTS, VALUE, call, call_for_word, register, words
from vecdist.model.evaluation import Evaluation, Prepared
from vecdist.model.logdensity import LogDensity
from vecdist.runtime.cuda.launch import GIVEN, SCRATCH, Launch, launches
from vecdist.runtime.once import Once

TARGET = "vecdist_log_density_cuda"
API, CONTEXT, COUNTED = 2, 3, 2  # words of XLA_FFI_CallFrame; so far before buffers is their number
ERROR_CREATE, STREAM_GET = 6, 10  # words of XLA_FFI_Api
COMMAND_BUFFERS, INTERNAL = 1, 13  # XLA_FFI_Handler_TraitsBits, XLA_FFI_Error_Code
HEAD = 7  # words of a launch before its parameters
FAILED = "a vecdist function was not launched: CUDA error {}; it runs on the GPU that it was compiled for, and no other"
MESSAGES = np.array([FAILED.format(number).encode() for number in range(1000)], "S128")
FIRST, LENGTH = MESSAGES.ctypes.data, MESSAGES.itemsize
_kept: list[tuple[np.ndarray, list[Launch]]] = []  # compiled programs hold addresses, as those of the CPU do


def _launch(frame):  # noqa: ANN001, ANN202
    """Launch a kernel, once or for one batch after another; 0, or the address of an error."""
    results, attributes = words(frame[RESULTS]), words(frame[ATTRIBUTES])
    told = words(words(words(attributes[0])[VALUE])[0])
    own = np.zeros(4 + 2 * told[1], np.int64)  # XLA_FFI_Stream_Get_Args, parameters, and their addresses
    own[0], own[2] = 32, frame[CONTEXT]
    error = call_for_word(words(frame[API])[STREAM_GET], (own.ctypes.data,))
    if error != 0:
        return error
    stream, given, made = own[3], frame[ARGUMENTS - COUNTED], frame[RESULTS - COUNTED] - 1
    buffers = np.zeros(GIVEN + given + made, np.int64)
    scratch = buffers[SCRATCH] = words(results[made])[DATA]
    for place in range(given):
        buffers[GIVEN + place] = words(words(frame[ARGUMENTS])[place])[DATA]
    for place in range(made):
        buffers[GIVEN + given + place] = words(results[place])[DATA]
    status, one, at = np.int32(0), np.uint32(1), 2
    for _ in range(told[0]):
        function, blocks, memory, zeroed, count = told[at + 2], told[at + 3], told[at + 4], told[at + 5], told[at + 6]
        for place in range(count):
            own[4 + place] = told[at + HEAD + 2 * place] + buffers[told[at + HEAD + 2 * place + 1]]
            own[4 + count + place] = own.ctypes.data + 8 * (4 + place)
        if zeroed and status == 0:
            status = call(told[at + 1], (scratch, np.uint32(0), zeroed, stream))
        if status == 0:
            grid, shared = (np.uint32(blocks), one, one, np.uint32(THREADS), one, one), np.uint32(memory)
            status = call(told[at], (function, *grid, shared, stream, own.ctypes.data + 8 * (4 + count), 0))
        at += HEAD + 2 * count
    own[0], own[2], own[3] = 28, FIRST + LENGTH * min(status, 999), INTERNAL  # XLA_FFI_Error_Create_Args
    return call_for_word(words(frame[API])[ERROR_CREATE], (own.ctypes.data,)) if status else 0


def described(launches: Sequence[Launch], driver: Any) -> np.ndarray:
    """The words that describe launches to the handler; ``driver`` has the functions of the CUDA driver.

    Before them stand their number and that of the parameters of one.
    """
    found = [len(launches), max(len(each.parameters) for each in launches)]
    for each in launches:
        # both take the same arguments, but for the last one, which the one for cooperative launches does not look at
        start = driver.cuLaunchCooperativeKernel if each.cooperative else driver.cuLaunchKernel
        found += [ctypes.cast(function, ctypes.c_void_p).value for function in (start, driver.cuMemsetD8Async)]
        found += [each.function, each.blocks, each.memory, each.zeroed, len(each.parameters)]
        found += itertools.chain.from_iterable(each.parameters)
    return np.array(found, np.int64)


def prepared(density: LogDensity, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """The words for vectors of this shape, and the bytes of their scratch memory.

    Raises ``ImportError`` where there is no CuPy or numba-cuda, ``NotImplementedError`` where there is no vector, or
    more than one kernel.
    """
    cupy = client("cupy")
    registered()
    rows = math.prod(shape[:-1])
    if rows == 0:
        raise NotImplementedError("there is nothing to launch")
    x = cupy.empty((rows, shape[-1]) if rows != 1 else shape[-1:], density.dtype)
    of_one_dtype = Evaluation(lambda x: [density.joint.terms(x).total().astype(x.dtype)], True, density.unnormalised)
    return _kept_words(of_one_dtype.prepared(x), 1)


def prepared_call(call: Call, kinds: Sequence[Kind]) -> tuple[np.ndarray, int]:
    """As ``prepared``, of a call with arrays of these shapes and dtypes."""
    cupy = client("cupy")
    registered()
    if any(0 in each.shape for each in (*kinds, *call.kinds(kinds))):
        raise NotImplementedError("there is nothing to launch")
    return _kept_words(call.prepared([cupy.empty(*kind) for kind in kinds]), len(kinds))


def _kept_words(found: Prepared, arguments: int) -> tuple[np.ndarray, int]:
    made = launches(found.program, found.lengths, found.feeds, arguments)
    client("cupy").cuda.Device().synchronize()  # data may be on their way there, on another stream
    _kept.append((described(made, ctypes.CDLL("libcuda.so.1")), made))
    return _kept[-1][0], max(each.scratch for each in made)


@Once
def registered() -> Any:
    """Make the target known to XLA, once; the handler.  ``NotImplementedError`` for another major version."""
    return register(TARGET, _launch, COMMAND_BUFFERS, "CUDA")
