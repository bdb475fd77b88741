"""Machine code is found by everything that shapes it: kernels of one text, but other dtypes, are not the same."""

import numpy as np
import pytest

from vecdist import lazy
from vecdist.passes.bind import bind
from vecdist.pipeline import lower, values


def copies(dtype):
    """A kernel that only copies, whose text names no dtype."""
    pytest.importorskip("cuda.core", reason="cuda-core, which links CUDA kernels, is not installed")
    from vecdist.backends.cuda import Cuda, cubin

    rows = np.ones((9, 70), dtype)[::-1]
    source, name, _ = cubin(lower(bind((lazy(rows).node,)), values, "nan", Cuda)[1], (9, 0))
    return source.name, name


def test_equal_text_of_other_dtypes_is_other_machine_code():
    (text, single), (other, double) = copies("f4"), copies("f8")
    assert text == other and single != double
