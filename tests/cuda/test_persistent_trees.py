"""Kernels that run chains of NUTS in threads of their own compile, without a GPU, for models that hold data."""

import numpy as np
from numba import types
from test_device_functions import cubin, cuda, registers  # noqa: F401

from vecdist import logpdf
from vecdist.distributions import Normal
from vecdist.samplers.density import Target
from vecdist.samplers.trees import persistent


class Model:
    ndim = 10

    def trace(self, x):
        likelihood = logpdf(Normal(x[8] + np.exp(x[9]) * x[:8], np.arange(1.0, 9.0)), 3.0)
        return likelihood.sum() + logpdf(Normal(0.0, 1.0), x).sum()


def test_a_kernel_of_chains_compiles(cuda):  # noqa: F811
    kernel = persistent.kernel_of(Target.of(Model()), 1000)
    rows, numbers = types.Array(types.float64, 2, "C"), types.Array(types.int64, 2, "C")
    keys, ends = types.Array(types.uint64, 1, "C"), types.Array(types.int64, 1, "C")
    code = cubin(cuda, kernel.py_func, types.int64, rows, rows, numbers, keys, ends, rows, rows)
    assert registers(code) <= 255
    assert persistent.kernel_of(Target.of(Model()), 7) is None
