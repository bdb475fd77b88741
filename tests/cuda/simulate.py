"""Run in a process of its own, with NUMBA_ENABLE_CUDASIM=1: small kernels in the CUDA simulator.

``launch`` gives a generated kernel plain NumPy arrays for its pointers, and one lane per row, for the simulator has no
shuffles.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from vecdist.backends import store
from vecdist.backends.cuda_compiler import cuda
from vecdist.codegen.cuda import THREADS, render
from vecdist.kernel import Kernel


def launch(
    kernel: Kernel, arrays: Sequence[np.ndarray], lengths: Mapping[str, int], blocks: int = 1
) -> tuple[list[np.ndarray], bool]:
    """The outputs of a kernel, flat, and whether it raised its flag."""
    source = render(kernel)
    function = cuda.jit(store.import_source(source.name, source.text).kernel)
    outputs = [np.full(count(o.shape, lengths), 99, o.dtype) for o in kernel.outputs]
    flag = np.zeros(1, np.int64)
    arguments: list = []
    for slot in kernel.slots:
        array = arrays[slot.index]
        if slot.layout == "number":
            arguments.append(array[()])
            continue
        strided = slot.layout == "strided"
        arguments.append(flat_memory(array) if strided else array.reshape(-1))
        arguments += [array.strides[axis] // array.itemsize for axis in slot.axes] if strided else []
    arguments += [*outputs, *([flag] if kernel.flagged else []), *(lengths[n] for n in kernel.lengths)]
    sums = sum(len(loop.sums(kernel.root)) for _, loop in kernel.nests())
    partials = np.empty(max(1, sums * blocks))
    arrivals = np.zeros(len(kernel.root.levels) + 2, np.int32)
    function[blocks, THREADS](*arguments, partials, arrivals, 1)
    assert not arrivals.any(), "the counters must be left as they were found"
    kept = [a for a, o in zip(outputs, kernel.outputs, strict=True) if not o.temporary]
    return kept, bool(flag[0])


def count(shape: Sequence[int | str], lengths: Mapping[str, int]) -> int:
    return int(np.prod([lengths[d] if isinstance(d, str) else d for d in shape], dtype=int))


def flat_memory(array: np.ndarray) -> np.ndarray:
    """The memory from the first element of a strided array on, as one axis (strides are positive)."""
    span = 1 + sum((n - 1) * s // array.itemsize for n, s in zip(array.shape, array.strides, strict=True))
    return np.lib.stride_tricks.as_strided(array, (span,), (array.itemsize,))
