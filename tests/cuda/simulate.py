"""Small kernels in the CUDA simulator, against the interpreter.

Run in a process of its own, with ``NUMBA_ENABLE_CUDASIM=1``: reads names of cases, one a line, and answers each by a
line of JSON, the complaint about it, or nothing where it is right.
"""

import gc
import json
import sys
import traceback
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from unittest import mock

import few_rows_cases
import layers_cases
import numpy as np
import random_chains
import random_simulated
import row_sums_cases
import simulate_device
import small_blocks
from reference import interpreted
from simulated import flat_memory, imported, launch, prepared
from simulated_cases import CASES, FEW_ROWS, FLAGS

from vecdist.codegen.cuda import grid, wide_rows
from vecdist.codegen.cuda.grid import THREADS, needs_grid_barrier
from vecdist.passes import few_rows
from vecdist.runtime.cuda.backend import Cuda


class RowByRow(Cuda):
    """What gives long rows a block each, however few they are."""

    side_by_side = 0


@contextmanager
def wide_from(rows, width):
    """Inside, so many rows are many, and those of known length from a width on are a block's each."""
    with mock.patch.object(wide_rows, "ROWS", rows), mock.patch.object(grid, "WIDE", width):
        yield


def settings(name):
    """What is long, or many, in a case: as little as has all that there is to see."""
    if name.startswith("wide"):
        return wide_from(4, 70 if name.endswith("a block's") else grid.WIDE)
    if name.startswith("sums of rows"):
        return row_sums_cases.settings()
    if name.startswith("layers"):
        return layers_cases.settings(int(name.split()[-1]))
    if name.startswith("block per chain"):
        return random_chains.settings()
    return mock.patch.object(few_rows, "LONG", few_rows_cases.LONG) if name in FEW_ROWS else nullcontext()


def check(name):
    """Run a case; ``AssertionError`` where it is wrong."""
    if name.startswith("random ") and name not in CASES:
        random_simulated.check(name.removeprefix("random "))
        return
    if name.startswith("many chains: "):
        random_simulated.check_chains(name.removeprefix("many chains: "))
        return
    if name.startswith("device function "):
        simulate_device.check(name.split()[-1], imported, flat_memory)
        return
    if name in FLAGS:
        (results, wrt), raised = FLAGS[name]
        _, _, kernel, arrays, lengths = prepared(results, wrt, "raise")
        assert launch(kernel, arrays, lengths)[1] is raised
        return
    (results, wrt), blocks, lanes = CASES[name]
    by_blocks = name.endswith("by blocks")
    with settings(name):
        roots, derivation, kernel, arrays, lengths = prepared(results, wrt, target=RowByRow if by_blocks else Cuda)
        kernel = replace(kernel, fixed=()) if by_blocks else kernel
        blocks = max(blocks, 2) if needs_grid_barrier(kernel) else blocks
        found, _ = launch(kernel, arrays, lengths, blocks, lanes)
    for mine, wanted in zip(found, interpreted(roots, derivation), strict=True):
        assert mine.dtype == wanted.dtype
        tolerance = 1e-5 if wanted.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(mine.reshape(wanted.shape), wanted, rtol=tolerance, atol=tolerance)


def main():
    from turns import take_turns

    gc.freeze()  # as conftest.py does
    gc.set_threshold(100_000, 20)
    assert small_blocks.THREADS == THREADS
    take_turns()
    for line in sys.stdin:
        complaint = ""
        try:
            check(line.strip())
        except Exception:
            complaint = traceback.format_exc()
        print(json.dumps(complaint), flush=True)


if __name__ == "__main__":
    main()
