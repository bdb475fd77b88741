"""Random sums of products of arrays of several axes, compiled, beside NumPy and the interpreter."""

import numpy as np
import pytest
from interpreting import by_interpreter
from random_tensors import tensors

import vecdist
from vecdist import lazy, value_and_grad


@pytest.mark.parametrize("seed", range(12))
def test_loops_in_loops(seed):
    dtype = "f4" if seed % 4 == 3 else "f8"
    function = tensors(seed, dtype)
    value, slopes = vecdist.compile(function).value_and_grad(*function.arrays)
    wide = [lazy(array.astype("f8")) for array in function.arrays]
    with by_interpreter():
        truth, wanted = value_and_grad(function(*wide), wide)
    rtol = 1e-10 if dtype == "f8" else 1e-4
    np.testing.assert_allclose(truth, function(*[array.astype("f8") for array in function.arrays]), rtol=1e-10)
    scale = max(1.0, abs(float(truth)))
    np.testing.assert_allclose(value, truth, rtol=rtol, atol=rtol * scale)
    for mine, other in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(mine, other, rtol=rtol, atol=rtol * max(1.0, np.abs(other).max()))
