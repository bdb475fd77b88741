"""Random sums of products of arrays of several axes on a GPU, beside the interpreter; integers that wrap."""

import numpy as np
import pytest
from interpreting import by_interpreter
from random_tensors import tensors
from wrapping_integers import CASES, ENDS

import vecdist
from vecdist import lazy, value_and_grad

pytestmark = pytest.mark.cuda


@pytest.mark.parametrize("seed", range(100, 140))
def test_loops_in_loops(seed):
    import cupy

    dtype = "f4" if seed % 4 == 3 else "f8"
    function = tensors(seed, dtype)
    value, slopes = vecdist.compile(function).value_and_grad(*map(cupy.asarray, function.arrays))
    wide = [lazy(array.astype("f8")) for array in function.arrays]
    with by_interpreter():
        truth, wanted = value_and_grad(function(*wide), wide)
    rtol = 1e-10 if dtype == "f8" else 1e-4
    np.testing.assert_allclose(float(value), truth, rtol=rtol, atol=rtol * max(1.0, abs(float(truth))))
    for mine, other in zip(slopes, wanted, strict=True):
        np.testing.assert_allclose(mine.get(), other, rtol=rtol, atol=rtol * max(1.0, np.abs(other).max()))


def test_integers_wrap_wherever_they_are_compared():
    import cupy

    for number, case in enumerate(CASES):
        with np.errstate(over="ignore"):
            wanted = case(ENDS)
        assert case(lazy(cupy.asarray(ENDS))).compute().get().tolist() == wanted.tolist(), number
