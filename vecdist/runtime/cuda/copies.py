"""Copies of several arrays on a GPU in one launch, whose addresses and sizes are among its arguments.

A copy takes the host 3 us and the GPU 2, however small; a call with a dozen parameters would spend more on them than on
what it computes.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

TOGETHER = 32  # copies of a launch, whose arguments then have 768 bytes
THREADS = 256
OF_BLOCK = THREADS * 16  # bytes
BLOCKS = 128  # of a copy: more wait for the memory
TABLE = np.dtype([("all", np.int64, (3, TOGETHER))])  # one value, as what is passed by value has to be
TEXT = f"#define TOGETHER {TOGETHER}\n" + """
struct Copies { const char *from[TOGETHER]; char *to[TOGETHER]; long long size[TOGETHER]; };

extern "C" __global__ void vecdist_copies(Copies all) {
  const char *from = all.from[blockIdx.y];
  char *to = all.to[blockIdx.y];
  long long size = all.size[blockIdx.y];
  long long first = blockIdx.x * (long long)blockDim.x + threadIdx.x, step = gridDim.x * (long long)blockDim.x;
  if (((unsigned long long)from | (unsigned long long)to | size) % 4 == 0) {
    for (long long word = first; word < size / 4; word += step) ((int *)to)[word] = ((const int *)from)[word];
  } else {
    for (long long byte = first; byte < size; byte += step) to[byte] = from[byte];
  }
}
"""


class Copied(NamedTuple):
    """An address, one to copy to, and how many bytes."""

    source: int
    target: int
    size: int


def copied(copies: Iterable[Copied]) -> None:
    """Copy on the current stream of the current device."""
    left = list(copies)
    for at in range(0, len(left), TOGETHER):
        some = left[at : at + TOGETHER]
        table = np.zeros(1, TABLE)
        table["all"][0, :, : len(some)] = list(zip(*some, strict=True))
        blocks = min(BLOCKS, 1 + max(each.size for each in some) // OF_BLOCK)
        _kernel()((blocks, len(some)), (THREADS,), (table,))


@functools.cache
def _kernel() -> Any:
    import cupy

    return cupy.RawKernel(TEXT, "vecdist_copies")
