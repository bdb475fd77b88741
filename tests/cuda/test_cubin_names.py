"""Machine code is found by everything that shapes it: kernels of one text, but other dtypes, are not the same."""

from dataclasses import replace

import numpy as np
import pytest

from vecdist import lazy
from vecdist.codegen.cuda.render import render
from vecdist.passes.bind import bind
from vecdist.runtime.pipeline import lower, values


def test_equal_text_of_other_dtypes_is_other_machine_code():
    """A kernel that only copies rows names no dtype."""
    pytest.importorskip("cuda.core", reason="cuda-core, which links CUDA kernels, is not installed")
    from vecdist.runtime.cuda.backend import Cuda, cubin

    _, kernel = lower(bind((lazy(np.ones((9, 70), "f4"))[::-1].node,)), values, "nan", Cuda)
    integers = np.dtype(np.int32)  # as wide as float32
    other = replace(
        kernel,
        slots=tuple(replace(slot, dtype=integers) for slot in kernel.slots),
        outputs=tuple(replace(output, dtype=integers) for output in kernel.outputs),
    )
    assert render(kernel).name == render(other).name
    assert cubin(kernel, (9, 0))[1] != cubin(other, (9, 0))[1]
