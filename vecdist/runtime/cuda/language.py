"""What generated CUDA source is written in: typed names for libdevice functions, and stand-ins for the simulator."""

# pyright: reportAssignmentType=false
# the simulator's functions and libdevice's stand for each other, and are declared differently
from __future__ import annotations

import math
import os
from typing import Any

import numba
import numpy as np

from vecdist.runtime.cuda.compiler import cuda
from vecdist.runtime.cuda.runs import add_in_runs
from vecdist.runtime.cuda.vectors import aligned, load_2, load_4, store_2, store_4

SIMULATED = os.environ.get("NUMBA_ENABLE_CUDASIM") == "1"

if SIMULATED:
    f4, f8, b1 = np.float32, np.float64, np.bool_
    i1, i2, i4, i8 = np.int8, np.int16, np.int32, np.int64
    u1, u2, u4, u8 = np.uint8, np.uint16, np.uint32, np.uint64
    memory_f4, memory_f8, memory_u1 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.uint8)
    memory_i1, memory_i2, memory_i4, memory_i8 = (np.dtype(f"i{size}") for size in (1, 2, 4, 8))
    memory_u2, memory_u4, memory_u8 = (np.dtype(f"u{size}") for size in (2, 4, 8))
    floor_f4 = floor_f8 = np.floor
    rint_f4 = rint_f8 = np.rint
    sqrt_f4 = sqrt_f8 = np.sqrt
    fmod_f4 = fmod_f8 = np.fmod

    def bits_f4(value: np.float32) -> np.int32:
        return np.float32(value).view(np.int32)

    def bits_f8(value: np.float64) -> np.int64:
        return np.float64(value).view(np.int64)

    def from_bits_i4(value: np.int32) -> np.float32:
        return np.int32(value).view(np.float32)

    def from_bits_i8(value: np.int64) -> np.float64:
        return np.int64(value).view(np.float64)

else:
    from numba.cuda import libdevice

    f4, f8, b1 = numba.float32, numba.float64, numba.boolean
    i1, i2, i4, i8 = numba.int8, numba.int16, numba.int32, numba.int64
    u1, u2, u4, u8 = numba.uint8, numba.uint16, numba.uint32, numba.uint64
    memory_f4, memory_f8, memory_u1 = numba.float32, numba.float64, numba.uint8
    memory_i1, memory_i2, memory_i4, memory_i8 = numba.int8, numba.int16, numba.int32, numba.int64
    memory_u2, memory_u4, memory_u8 = numba.uint16, numba.uint32, numba.uint64
    floor_f4, floor_f8 = libdevice.floorf, libdevice.floor
    rint_f4, rint_f8 = libdevice.rintf, libdevice.rint
    sqrt_f4, sqrt_f8 = libdevice.sqrtf, libdevice.sqrt
    fmod_f4, fmod_f8 = libdevice.fmodf, libdevice.fmod
    bits_f4, bits_f8 = libdevice.float_as_int, libdevice.double_as_longlong
    from_bits_i4, from_bits_i8 = libdevice.int_as_float, libdevice.longlong_as_double

as_f8, as_i8 = from_bits_i8, bits_f8

__all__ = [
    "add_in_runs",
    "aligned",
    "as_f8",
    "as_i8",
    "b1",
    "bits_f4",
    "bits_f8",
    "cuda",
    "f4",
    "f8",
    "floor_f4",
    "floor_f8",
    "fmod_f4",
    "fmod_f8",
    "from_bits_i4",
    "from_bits_i8",
    "i1",
    "i2",
    "i4",
    "i8",
    "load_2",
    "load_4",
    "memory_f4",
    "memory_f8",
    "memory_i1",
    "memory_i2",
    "memory_i4",
    "memory_i8",
    "memory_u1",
    "memory_u2",
    "memory_u4",
    "memory_u8",
    "np",
    "rint_f4",
    "rint_f8",
    "sqrt_f4",
    "sqrt_f8",
    "store_2",
    "store_4",
    "u1",
    "u2",
    "u4",
    "u8",
]

WORDS: dict[str, Any] = {name: globals()[name] for name in __all__} | {"math": math}
"""What the names of generated code mean."""
